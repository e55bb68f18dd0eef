#![no_main]
//! Loads a network whose cache file is damaged or replaced.

use kiln_fuzz::properties::Cache;
use kiln_fuzz::scratch;
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;

/// Caches the network that the engine was built with: only networks of its shape can be loaded.
static CACHE: LazyLock<Cache> = LazyLock::new(|| {
    let network = option_env!("EVALFILE").unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/kiln.nnue.zst"));
    Cache::new(Path::new(network), &scratch("cache"))
});

#[derive(Debug, arbitrary::Arbitrary)]
enum Input<'a> {
    Damaged(Vec<(u32, u8)>, Option<u32>),
    Replaced(&'a [u8]),
}

fuzz_target!(|input: Input| match input {
    Input::Damaged(edits, length) => {
        let edits: Vec<_> = edits.into_iter().map(|(index, byte)| (index as usize, byte)).collect();
        CACHE.damaged(&edits, length.map(|length| length as usize));
    }
    Input::Replaced(bytes) => CACHE.replaced(bytes),
});
