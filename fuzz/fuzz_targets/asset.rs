#![no_main]
//! Parses any bytes as a network file. Because the hash in them is almost never right, also builds a file from them as
//! a header and weights.

use kiln_fuzz::properties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    properties::asset(input);
    // The first two bytes are the length of the header.
    if let Some((length, rest)) = input.split_first_chunk()
        && let Some((header, weights)) = rest.split_at_checked(u16::from_le_bytes(*length).into())
    {
        properties::header(header, weights);
    }
});
