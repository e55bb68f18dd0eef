//! Files that are not valid networks. All readers are tested with them: the build, the option `EvalFile`, and `kiln
//! net`.

use kiln_gen::network::{Asset, Header};

/// Returns a changed network of the default network's shape, so that the shape is not a reason to refuse it.
fn changed(change: impl FnOnce(&mut Asset)) -> Vec<u8> {
    let mut asset = Asset::random(Header { name: "to be broken".into(), ..super::default_header() }, 1);
    // Random weights of a large network take seconds to compress.
    asset.features.fill(0);
    change(&mut asset);
    asset.to_bytes()
}

/// Returns the contents of a good file, from which the others are made.
pub fn good_network() -> Vec<u8> {
    changed(|_| ())
}

/// Returns the contents of each file and the start of the error message.
pub fn bad_networks() -> Vec<(Vec<u8>, &'static str)> {
    let good = good_network();
    let with_byte = |place: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[place] = byte;
        bytes
    };
    let name = good.windows(12).position(|bytes| bytes == b"to be broken").expect("the header holds the name");
    let mut damaged = good.clone();
    let payload = damaged.windows(4).position(|bytes| bytes == [0x28, 0xb5, 0x2f, 0xfd]).expect("zstd's first bytes");
    damaged[payload] ^= 1;
    vec![
        (Vec::new(), "not a network asset: it does not begin with KILNNNUE"),
        (good[..7].into(), "not a network asset: it does not begin with KILNNNUE"),
        (b"\x28\xb5\x2f\xfd something else".into(), "not a network asset: it does not begin with KILNNNUE"),
        (good[..9].into(), "the file ends within its header"),
        (good[..50].into(), "the file ends within its header"),
        (good[..good.len() - 1].into(), "the file is cut off after "),
        ([&good[..], &[0]].concat(), "1 more bytes follow the payload, "),
        (damaged, "the payload cannot be decompressed: the file is damaged near byte "),
        (with_byte(8, 5), "the format version is 5, expected 4"),
        // A flipped bit in a header that still can be decoded.
        (with_byte(name, b'T'), "the contents do not have the SHA-256 that the header states: the file is damaged"),
        (changed(|asset| asset.header.hidden = 33), "hidden is 33, expected 32 to 2048 in steps of 32"),
        (changed(|asset| asset.header.output_buckets[32] = 8), "output_buckets is 8, expected 0 to 7"),
        (changed(|asset| asset.features[5] = 2000), "the feature weights can overflow: "),
        // A zip bomb: 32 MiB of zeros in a few hundred bytes.
        (changed(|asset| asset.features = vec![0; 1 << 24]), "the payload has more than the "),
    ]
}
