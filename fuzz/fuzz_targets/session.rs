#![no_main]
//! Runs any bytes as a UCI session.

use kiln_fuzz::properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| properties::session(input));
