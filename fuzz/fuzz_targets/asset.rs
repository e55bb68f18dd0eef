#![no_main]
//! Any bytes as a network's file; and, since hardly any have the hash they state, as a header with weights, around which a file is made.

use kiln_fuzz::properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    properties::asset(input);
    // The first two bytes say how many of the others are the header.
    if let Some((length, rest)) = input.split_first_chunk()
        && let Some((header, weights)) = rest.split_at_checked(u16::from_le_bytes(*length).into())
    {
        properties::header(header, weights);
    }
});
