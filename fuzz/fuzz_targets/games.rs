#![no_main]
//! Any bytes as games, plain and compressed, and as what stands beside a shard.

use kiln_fuzz::{properties, scratch};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| scratch("games").join("shard.viri.zst"));

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((b'{', _)) => properties::sidecar(input, &FILE),
        // As zstd begins.
        Some((0x28, _)) => properties::shard(input, &FILE),
        _ => properties::games(input),
    }
});
