#![no_main]
//! A damaged file, or any other, where an arranged network is cached.

use kiln_fuzz::properties::Cache;
use kiln_fuzz::scratch;
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;

static CACHE: LazyLock<Cache> = LazyLock::new(|| {
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/kiln.nnue.zst");
    Cache::new(&network, &scratch("cache"))
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
