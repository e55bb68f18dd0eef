#![no_main]
//! Any bytes as a session of UCI.

use kiln_fuzz::properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| properties::session(input));
