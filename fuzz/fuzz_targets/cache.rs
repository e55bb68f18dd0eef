#![no_main]
//! A damaged file, or any other, where an arranged network is cached.

use kiln_fuzz::properties::Cache;
use kiln_fuzz::scratch;
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;

/// With the network that the engine was built with, since only its shape is loaded.
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
        let edits: Vec<_> = edits.into_iter().map(|(place, byte)| (place as usize, byte)).collect();
        CACHE.damaged(&edits, length.map(|length| length as usize));
    }
    Input::Replaced(bytes) => CACHE.replaced(bytes),
});
