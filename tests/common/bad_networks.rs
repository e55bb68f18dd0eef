//! Files that are no sound networks. Whoever reads networks is tried on all of them: the build, the option `EvalFile`, and `kiln net`.

use kiln_gen::network::{Asset, Header};

/// A network of the default one's shape, so that the shape is no reason to refuse it, with a change.
fn changed(change: impl FnOnce(&mut Asset)) -> Vec<u8> {
    let mut asset = Asset::random(Header { name: "to be spoilt".into(), ..super::default_header() }, 1);
    change(&mut asset);
    asset.to_bytes()
}

/// The contents of each file, and what the sentence that refuses it begins with.
pub fn bad_networks() -> Vec<(Vec<u8>, &'static str)> {
    let good = changed(|_| ());
    let with_byte = |place: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[place] = byte;
        bytes
    };
    let name = good.windows(12).position(|bytes| bytes == b"to be spoilt").expect("the header holds the name");
    vec![
        (Vec::new(), "not a network asset: it does not begin with KILNNNUE"),
        (good[..7].into(), "not a network asset: it does not begin with KILNNNUE"),
        (b"\x28\xb5\x2f\xfd something else".into(), "not a network asset: it does not begin with KILNNNUE"),
        (good[..9].into(), "the file ends within its header"),
        (good[..50].into(), "the file ends within its header"),
        (good[..good.len() - 1].into(), "the payload cannot be decompressed: "),
        ([&good[..], &[0]].concat(), "the payload cannot be decompressed: "),
        (with_byte(8, 5), "format version 5, only version 4 is known"),
        // A flipped bit in the header, which still can be read.
        (with_byte(name, b'T'), "the contents do not have the SHA-256 that the header states: the file is damaged"),
        (changed(|asset| asset.header.hidden = 33), "hidden is 33, allowed is 32 to 2048 in steps of 32"),
        (changed(|asset| asset.header.output_buckets[32] = 8), "output_buckets is 8, allowed is 0 to 7"),
        (changed(|asset| asset.features[5] = 2000), "the feature weights can overflow: "),
        // A zip bomb: 32 MiB of zeros in a few hundred bytes.
        (changed(|asset| asset.features = vec![0; 1 << 24]), "the payload cannot be decompressed: "),
    ]
}
