//! Network assets: written and read back, and refused with a reason when they are not what they should be.
#![cfg(feature = "network")]

use kiln_gen::layout::Network;
use kiln_gen::network::{Asset, Fault, MAGIC, material};

/// A valid asset of 32 neurons, changed before it is written.
fn changed(change: impl FnOnce(&mut Asset)) -> Vec<u8> {
    let mut asset = material();
    change(&mut asset);
    asset.to_bytes()
}

fn refusal(bytes: &[u8]) -> String {
    Asset::from_bytes(bytes).expect_err("a fault").to_string()
}

#[test]
fn written_and_read_back() {
    let asset = Asset::from_bytes(&material().to_bytes()).unwrap();
    let written =
        Asset { header: kiln_gen::network::Header { sha256: asset.header.sha256, ..material().header }, ..material() };
    assert_eq!(asset, written);
    assert_eq!(asset.to_bytes(), material().to_bytes());
}

#[test]
fn arranged_as_the_type_says() {
    let (name, bytes) = material().arrange();
    assert_eq!((name.as_str(), bytes.len()), ("Network<32>", size_of::<Network<32>>()));
    assert!(material().dimensions().contains("pub const HIDDEN: usize = 32;"));
}

#[test]
fn damaged_files() {
    let good = material().to_bytes();
    assert!(refusal(b"").contains("does not begin with KILNNNUE"));
    assert!(refusal(b"something else entirely").contains("does not begin with KILNNNUE"));
    for length in [8, 9, 13, 20, 40] {
        assert!(refusal(&good[..length]).contains("ends within its header"), "{length}");
    }
    let payload_only_cut = &good[..good.len() - 5];
    assert!(refusal(payload_only_cut).contains("cannot be decompressed"));
    let mut version = good.clone();
    version[MAGIC.len()] = 9;
    assert_eq!(refusal(&version), "format version 9, only version 2 is known");
    let mut longer_header = good.clone();
    longer_header[MAGIC.len() + 2] += 1;
    assert!(refusal(&longer_header).starts_with("the header has "));
    for padding in [&[0][..], &[0; 100], b"KILNNNUE"] {
        assert!(refusal(&[&good, padding].concat()).contains("cannot be decompressed"));
    }
    // Whatever bit is flipped, the file is refused or, where the bit carries no meaning, read as what it was.
    let original = Asset::from_bytes(&good).unwrap();
    let mut refused = 0;
    for bit in 0..good.len() * 8 {
        let mut flipped = good.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match Asset::from_bytes(&flipped) {
            Ok(read) => assert_eq!(read, original, "bit {bit}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > good.len() * 79 / 10, "only {refused} of {} flips were refused", good.len() * 8);
}

#[test]
fn impossible_dimensions() {
    let refused = |change: fn(&mut Asset)| refusal(&changed(change));
    assert_eq!(refused(|a| a.header.hidden = 33), "hidden is 33, allowed is 32 to 2048 in steps of 32");
    assert_eq!(refused(|a| a.header.hidden = u32::MAX), "hidden is 4294967295, allowed is 32 to 2048 in steps of 32");
    assert_eq!(refused(|a| a.header.mirrored = false), "mirrored is 0, allowed is 1");
    assert_eq!(refused(|a| a.header.qa = 0), "qa is 0, allowed is 1 to 255");
    assert_eq!(refused(|a| a.header.qb = 0), "qb is 0, allowed is 1 to 1024");
    assert_eq!(refused(|a| a.header.scale = 5000), "scale is 5000, allowed is 1 to 4096");
    assert_eq!(
        refused(|a| a.header.hidden = 64),
        "the payload has 49348 bytes, the dimensions in the header ask for 98692"
    );
    assert!(matches!(Asset::from_bytes(&changed(|a| a.features.extend([0; 32]))), Err(Fault::Payload(_))));
}

#[test]
fn weights_that_could_overflow() {
    assert!(refusal(&changed(|a| a.features[5] = 2000)).starts_with("the feature weights can overflow: "));
    assert!(refusal(&changed(|a| a.feature_bias[5] = i16::MIN)).starts_with("the feature weights can overflow: "));
    assert!(refusal(&changed(|a| a.output[5] = -129)).starts_with("the output weights can overflow: 129 "));
    let wide = changed(|a| {
        a.header.hidden = 512;
        (a.features, a.feature_bias, a.output) = (vec![0; 768 * 512], vec![0; 512], vec![100; 1024]);
    });
    assert!(refusal(&wide).starts_with("the output sum can overflow: 3329280000 "));
}
