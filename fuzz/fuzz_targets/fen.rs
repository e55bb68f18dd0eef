#![no_main]
//! Parses any text as a FEN.

use kiln_fuzz::properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| properties::fen(text));
