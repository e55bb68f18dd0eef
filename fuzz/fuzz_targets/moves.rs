#![no_main]
//! Parses any words as moves in positions from random games.

use kiln_fuzz::properties::{self, FENS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>, Vec<&str>)| {
    let (start, choices, mut words) = input;
    words.truncate(9);
    let start = FENS[usize::from(start) % FENS.len()];
    properties::moves(&properties::walk(start, choices.into_iter().map(usize::from)), &words);
});
