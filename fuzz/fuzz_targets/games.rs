#![no_main]
//! Reads any bytes as games, uncompressed and compressed, and as a sidecar.

use kiln_fuzz::{properties, scratch};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| scratch("games").join("shard.viri.zst"));

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((b'{', _)) => properties::sidecar(input, &FILE),
        // The first byte of a zstd frame.
        Some((0x28, _)) => properties::shard(input, &FILE),
        _ => properties::games(input),
    }
});
