//! Network assets are written and read back, arranged and evaluated, and refused with a reason if they are invalid.
#![cfg(feature = "network")]

use kiln_gen::geometry::threat_pairs;
use kiln_gen::layout::{Features, LayersHead, Packing, SingleHead, ThreatPairs};
use kiln_gen::network::{
    Activations, Asset, AssetError, Expected, Head, Header, Inputs, MAGIC, Provenance, Threats, Weights,
    equal_king_buckets, equal_output_buckets, material,
};

/// A valid asset of 32 neurons, changed before it is written.
fn changed(change: impl FnOnce(&mut Asset)) -> Vec<u8> {
    let mut asset = material();
    change(&mut asset);
    asset.to_bytes()
}

/// The weights of a single layer and its biases.
fn single(asset: &mut Asset) -> (&mut Vec<i16>, &mut Vec<i32>) {
    let Weights::Single { output, output_bias } = &mut asset.weights else { panic!("the network has layers") };
    (output, output_bias)
}

fn header(hidden: u32, head: Head) -> Header {
    Header { name: "test".into(), hidden, head, expected: Vec::new(), ..material().header }
}

const LAYERS: Head = Head::Layers { inputs: Activations::Products, first: 16, second: 32 };
const SQUARES: Head = Head::Layers { inputs: Activations::Squares, first: 16, second: 32 };

/// Returns the pieces of a FEN and whether Black is to move.
fn read(fen: &str) -> (Vec<(usize, usize, usize)>, bool) {
    let (placement, rest) = fen.split_once(' ').unwrap();
    let mut pieces = Vec::new();
    for (rank, row) in placement.split('/').rev().enumerate() {
        let mut square = 8 * rank;
        for letter in row.chars() {
            if let Some(skipped) = letter.to_digit(10) {
                square += skipped as usize;
            } else {
                let kind = "pnbrqk".find(letter.to_ascii_lowercase()).unwrap();
                pieces.push((usize::from(letter.is_ascii_lowercase()), kind, square));
                square += 1;
            }
        }
    }
    (pieces, rest.starts_with('b'))
}

fn score(asset: &Asset, fen: &str) -> i64 {
    let (pieces, black_to_move) = read(fen);
    asset.evaluate(&pieces, black_to_move)
}

fn refusal(bytes: &[u8]) -> String {
    Asset::from_bytes(bytes).expect_err("a fault").to_string()
}

#[test]
fn written_and_read_back() {
    let asset = Asset::from_bytes(&material().to_bytes()).unwrap();
    let written = Asset { header: Header { sha256: asset.header.sha256, ..material().header }, ..material() };
    assert_eq!(asset, written);
    assert_eq!(asset.to_bytes(), material().to_bytes());
}

#[test]
#[cfg(feature = "generate")]
fn all_shapes_are_written_and_read_back() {
    let by_file: [u8; 64] = std::array::from_fn(|square| (square % 8) as u8);
    let mirrored = |king_buckets| Inputs { mirrored: true, merged_kings: false, king_buckets, threats: Threats::None };
    let merged =
        Inputs { mirrored: true, merged_kings: true, king_buckets: equal_king_buckets(16), threats: Threats::None };
    let plain = Inputs { mirrored: false, merged_kings: false, king_buckets: by_file, threats: Threats::None };
    let threats = Inputs { threats: Threats::States, king_buckets: equal_king_buckets(4), ..merged.clone() };
    let pairs = Inputs { threats: Threats::Pairs, ..mirrored(equal_king_buckets(4)) };
    let wide = Head::Layers { inputs: Activations::Squares, first: 32, second: 32 };
    for (hidden, head, inputs, output_buckets, shape) in [
        (64, Head::Single, mirrored([0; 64]), 1, "(768hm -> 64)x2 -> 1"),
        (96, Head::Single, plain.clone(), 8, "(768x8 -> 96)x2 -> 1, 8 output buckets"),
        (64, LAYERS, merged, 4, "(704x16hm -> 64 pairwise)x2 -> 16 -> 32 -> 1, 4 output buckets"),
        (64, Head::Single, threats, 1, "(6x704x4hm -> 64)x2 -> 1"),
        (32, Head::Single, pairs.clone(), 1, "(768x4hm + 59808 -> 32)x2 -> 1"),
        (64, LAYERS, pairs.clone(), 1, "(768x4hm + 59808 -> 64 pairwise)x2 -> 16 -> 32 -> 1"),
        (64, SQUARES, pairs, 1, "(768x4hm + 59808 -> 64)x2 -> 16 -> 32 -> 1"),
        (32, wide, mirrored(equal_king_buckets(32)), 7, "(768x32hm -> 32)x2 -> 32 -> 32 -> 1, 7 output buckets"),
    ] {
        let output_buckets = equal_output_buckets(output_buckets);
        let random = Asset::random(Header { inputs, output_buckets, ..header(hidden, head) }, 1);
        assert_eq!(random.header.shape().to_string(), shape);
        let asset = Asset::from_bytes(&random.to_bytes()).unwrap();
        assert_eq!(asset.header.shape(), random.header.shape());
        assert_eq!((&asset.features, &asset.pairs, &asset.weights), (&random.features, &random.pairs, &random.weights));
        // The scores are large enough to be compared.
        let scores = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/2KR3R b kq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        ]
        .map(|fen| score(&asset, fen));
        assert!(scores.iter().all(|score| score.abs() < 3000), "{shape}: {scores:?}");
        let size = scores.iter().map(|score| score.abs()).sum::<i64>() / 4;
        assert!(size > 20, "{shape}: {scores:?}");
    }
}

/// A single feature with a weight is active or not.
#[test]
fn features_follow_the_header() {
    let active = |inputs: Inputs, fen: &str, input: usize| {
        let mut asset = material();
        asset.header.inputs = inputs;
        asset.features = vec![0; asset.header.inputs.feature_set_count() * asset.header.inputs.planes() * 64 * 32];
        asset.features[32 * input] = 255;
        asset.feature_bias = vec![0; 32];
        let (output, _) = single(&mut asset);
        output.fill(0);
        // 1 for the side to move, 2 for the other side.
        (output[0], output[32]) = (16, 32);
        score(&asset, fen) / 100
    };
    let plain =
        |king_buckets, mirrored, merged_kings| Inputs { mirrored, merged_kings, king_buckets, threats: Threats::None };
    let input = |bucket: usize, planes: usize, plane: usize, square: usize| (bucket * planes + plane) * 64 + square;
    let fen = "4k3/8/8/8/8/8/P7/6K1 w - - 0 1";
    // White's pawn is on a2 for White, h2 if mirrored; for Black it is the other side's pawn on a7, h7 if mirrored.
    assert_eq!(active(plain([0; 64], false, false), fen, input(0, 12, 0, 8)), 1);
    assert_eq!(active(plain([0; 64], true, false), fen, input(0, 12, 0, 8)), 0);
    assert_eq!(active(plain([0; 64], true, false), fen, input(0, 12, 0, 15)), 1);
    assert_eq!(active(plain([0; 64], false, false), fen, input(0, 12, 6, 48)), 2);
    assert_eq!(active(plain([0; 64], true, false), fen, input(0, 12, 6, 55)), 2);
    // Mirrored, White's king is on b1, in the first bucket, and Black's on d1, in the second.
    let buckets = equal_king_buckets(16);
    assert_eq!(active(plain(buckets, true, false), fen, input(0, 12, 0, 15)), 1);
    assert_eq!(active(plain(buckets, true, false), fen, input(1, 12, 0, 15)), 0);
    assert_eq!(active(plain(buckets, true, false), fen, input(1, 12, 6, 55)), 2);
    // Merged kings share a plane: the other king is on d8 for White, b8 for Black.
    assert_eq!(active(plain([0; 64], true, false), fen, input(0, 12, 11, 59)), 1);
    assert_eq!(active(plain([0; 64], true, true), fen, input(0, 11, 5, 59)), 1);
    assert_eq!(active(plain([0; 64], true, true), fen, input(0, 11, 5, 57)), 2);
    assert_eq!(active(plain(buckets, true, true), fen, input(1, 11, 5, 57)), 2);
    // White's knight is attacked by Black's pawn and defended by its own pawn. Neither pawn is attacked or defended.
    let fen = "4k3/8/8/5p2/4N3/3P4/8/4K3 w - - 0 1";
    let threats = |king_buckets| Inputs { threats: Threats::States, ..plain(king_buckets, false, false) };
    let first = |state: usize| active(threats([0; 64]), fen, input(state, 12, 1, 28));
    assert_eq!([0, 1, 2, 3, 4, 5].map(first), [0, 0, 0, 0, 0, 1]);
    let own_pawn = |state: usize| active(threats([0; 64]), fen, input(state, 12, 0, 19));
    assert_eq!([0, 1, 2, 3, 4, 5].map(own_pawn), [1, 0, 0, 0, 0, 0]);
    let pawn_of_the_other = |state: usize| active(threats([0; 64]), fen, input(state, 12, 6, 37));
    assert_eq!([0, 1, 2, 3, 4, 5].map(pawn_of_the_other), [1, 0, 0, 0, 0, 0]);
    // The sets of the second king bucket come after all of the first.
    let by_half = std::array::from_fn(|square| (square % 8 / 4) as u8);
    let rook = |set: usize| active(threats(by_half), "4k3/8/8/8/8/8/4r3/7K b - - 0 1", input(set, 12, 3, 52));
    assert_eq!([0, 1, 5, 6, 7].map(rook), [0, 0, 0, 1, 0]);
    // The knight attacks a pawn, which attacks it; the other pawn defends it. Black sees the ranks from its side.
    let table = threat_pairs();
    let pair = |attacker: usize, from: usize, victim: usize, to: usize| {
        let mut asset = material();
        asset.header.inputs = Inputs { threats: Threats::Pairs, ..plain([0; 64], false, false) };
        asset.features.fill(0);
        asset.feature_bias = vec![0; 32];
        asset.pairs = vec![0; 32 * ThreatPairs::FEATURES];
        asset.pairs[32 * table.feature(attacker, from, victim, to).unwrap()] = 127;
        let (output, _) = single(&mut asset);
        output.fill(0);
        (output[0], output[32]) = (65, 130);
        score(&asset, "4k3/8/8/5pp1/4N3/3P4/8/4K3 w - - 0 1") / 100
    };
    let [by_own, by_other] = [pair(0, 19, 1, 28), pair(6, 37, 1, 28)];
    assert_eq!([by_own, by_other, pair(1, 28, 6, 38)], [1; 3]);
    // There is no pawn on d6, and none that attacks a knight on f4.
    assert_eq!([pair(1, 28, 6, 43), pair(6, 38, 1, 29)], [0; 2]);
    assert_eq!([pair(6, 43, 7, 36), pair(0, 29, 7, 36), pair(7, 36, 0, 30)], [2; 3]);
    let fen = "4k3/8/8/8/8/8/P7/6K1 w - - 0 1";
    // With Black to move the two sides are exchanged.
    assert_eq!(active(plain([0; 64], true, false), &fen.replace(" w ", " b "), input(0, 12, 6, 55)), 1);
}

/// Layers by hand: three products of activations, two neurons of the first layer and one of the second.
#[test]
fn layers_by_hand() {
    let mut feature_bias = vec![0; 64];
    // The products are 127 (two ones), 25 (102 · 127 / 512) and 0, for both sides.
    (feature_bias[0], feature_bias[32]) = (300, 255);
    (feature_bias[1], feature_bias[33]) = (102, 127);
    (feature_bias[2], feature_bias[34]) = (-5, 255);
    let buckets = 2;
    let mut first = vec![0; buckets * 16 * 64];
    let (mut first_bias, mut second) = (vec![0.0; buckets * 16], vec![0.0; buckets * 32 * 32]);
    let (mut second_bias, mut third) = (vec![0.0; buckets * 32], vec![0.0; buckets * (32 + 16)]);
    // In the second bucket, neuron 3 of the first layer has weights for the side to move's first and the other side's
    // second and third product.
    let row = (16 + 3) * 64;
    (first[row], first[row + 32 + 1], first[row + 32 + 2]) = (32, -20, 127);
    first_bias[16 + 3] = 0.125;
    // Neuron 4 has only a bias, whose square is clipped to one.
    first_bias[16 + 4] = -1.5;
    // The weights of neuron 3 clipped, of its square, and those of neuron 4.
    let row = (32 + 7) * 32;
    (second[row + 3], second[row + 16 + 3], second[row + 4], second[row + 16 + 4]) = (0.5, 0.75, 1.5, 0.125);
    second_bias[32 + 7] = 0.25;
    // The weights of the second layer's neuron, and of both of the first.
    let row = 32 + 16;
    (third[row + 7], third[row + 32 + 3], third[row + 32 + 4]) = (-2.0, 0.25, 0.125);
    let third_bias = vec![9.0, 0.5];
    let mut header = header(64, LAYERS);
    header.output_buckets = equal_output_buckets(2);
    let weights = Weights::Layers { first, first_bias, second, second_bias, third, third_bias };
    let asset = Asset { header, features: vec![0; 768 * 64], feature_bias, pairs: Vec::new(), weights };
    let asset = Asset::from_bytes(&asset.to_bytes()).unwrap();

    let x = (127.0 * 32.0 - 25.0 * 20.0) * 512.0 / (65025.0 * 64.0) + 0.125;
    let y = f64::powi(x * 0.5 + x * x * 0.75 + 0.125 + 0.25, 2);
    let expected = ((0.5 - 2.0 * y + x * 0.25 - 1.5 * 0.125) * 400.0) as i64;
    assert!((-500..-400).contains(&expected), "{expected}");
    assert_eq!(score(&asset, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), expected);
    assert_eq!(score(&asset, "4k3/8/8/8/8/8/P7/6K1 w - - 0 1"), 3600);
}

#[test]
fn expected_scores_of_the_material_network() {
    let asset = material();
    let found = |expected: &Expected| (expected.fen.clone(), score(&asset, &expected.fen));
    let stated = |expected: &Expected| (expected.fen.clone(), i64::from(expected.score));
    let expected = &asset.header.expected;
    assert_eq!(expected.iter().map(found).collect::<Vec<_>>(), expected.iter().map(stated).collect::<Vec<_>>());
    assert_eq!(expected.len(), 4);
}

/// The notation of two shapes may be equal, their keys are not.
#[test]
fn shapes_differ_in_every_field_that_the_engine_is_compiled_for() {
    let header = || material().header;
    let inputs = |change: fn(&mut Inputs)| {
        let mut header = header();
        change(&mut header.inputs);
        header
    };
    let others = [
        inputs(|inputs| inputs.mirrored = false),
        inputs(|inputs| inputs.merged_kings = true),
        inputs(|inputs| inputs.king_buckets[63] = 1),
        inputs(|inputs| inputs.threats = Threats::States),
        Header { hidden: 64, ..header() },
        Header { head: LAYERS, ..header() },
        Header { head: SQUARES, ..header() },
        Header { output_buckets: equal_output_buckets(2), ..header() },
        Header { qa: 254, ..header() },
        Header { qb: 63, ..header() },
        Header { scale: 399, ..header() },
    ];
    for other in others.map(|header| header.shape()) {
        assert_ne!(other, header().shape());
        assert_ne!(other.key(), header().shape().key());
    }
    let same = Header { name: "another".into(), win_draw_loss: [1; 4], expected: Vec::new(), ..header() };
    assert_eq!((same.shape(), same.shape().key()), (header().shape(), header().shape().key()));
    let king_buckets = "0, ".repeat(63) + "0";
    let output_buckets = "0, ".repeat(32) + "0";
    let key = format!(
        "Inputs {{ mirrored: true, merged_kings: false, king_buckets: [{king_buckets}], threats: None }} 32 Single \
         [{output_buckets}] 255 64 400"
    );
    assert_eq!(header().shape().key(), key, "checkpoints of the trainer hash this text");
}

#[test]
fn output_buckets_of_equal_width() {
    for count in 1..=8 {
        let buckets = equal_output_buckets(count);
        assert!(buckets.is_sorted() && buckets[..3] == [0; 3], "{buckets:?}");
        let changed = material().header;
        assert_eq!(Header { output_buckets: buckets, ..changed }.output_bucket_count(), usize::from(count));
    }
    assert_eq!(equal_output_buckets(8)[29..], [6, 7, 7, 7]);
}

#[test]
fn exchanged_with_bullet() {
    let description = || Header { output_buckets: equal_output_buckets(2), ..header(32, Head::Single) };
    let mut asset = material();
    asset.header = description();
    let (output, output_bias) = single(&mut asset);
    *output = (0..128).map(|weight| weight - 64).collect();
    *output_bias = vec![-3, 700];
    let file = asset.export().unwrap();
    let length: usize = 2 * (768 * 32 + 32 + 2 * 64 + 2);
    assert_eq!(file.len(), length.next_multiple_of(64));
    assert_eq!(file[..2], asset.features[0].to_le_bytes());
    assert_eq!(file[length - 4..length], [253, 255, 188, 2]);
    assert!(file[length..].starts_with(b"bulletbulletbullet"));
    assert_eq!(Asset::import(description(), &file).unwrap(), asset);
    assert_eq!(Asset::import(description(), &file[..length]).unwrap(), asset);

    let refused = |header, bytes: &[u8]| Asset::import(header, bytes).expect_err("a fault").to_string();
    let lengths = "expected 49476 for this shape, or 49536 with padding";
    for found in [0, length - 2, length + 1, file.len() - 1] {
        assert_eq!(refused(description(), &file[..found]), format!("the file has {found} bytes, {lengths}"));
    }
    let longer = [&file[..], &[0]].concat();
    assert_eq!(refused(description(), &longer), format!("the file has 49537 bytes, {lengths}"));
    assert!(refused(Header { hidden: 33, ..description() }, &file).starts_with("hidden is 33, "));
    let mut large = file.clone();
    large[1] = 0x7f;
    assert!(refused(description(), &large).starts_with("the feature weights can overflow: "));
    single(&mut asset).1[1] = 32768;
    let refused = asset.export().expect_err("a fault").to_string();
    assert_eq!(refused, "output_bias is 32768, expected -32768 to 32767 for bullet's file");
}

/// Layers number by number, as bullet writes them.
#[test]
fn layers_exchanged_with_bullet() {
    let description = || {
        let inputs =
            Inputs { mirrored: true, merged_kings: true, king_buckets: equal_king_buckets(2), threats: Threats::None };
        Header { inputs, output_buckets: equal_output_buckets(2), ..header(32, LAYERS) }
    };
    let mut file = Vec::new();
    (0..2 * 704 * 32 + 32).for_each(|i| file.extend((i as i16 % 100).to_le_bytes()));
    (0..2 * 16 * 32).for_each(|i| file.push(i as u8));
    let floats = [2 * 16, 2 * 32 * 32, 2 * 32, 2 * (32 + 16), 2];
    (0..floats.iter().sum()).for_each(|i: usize| file.extend((i as f32 / 8.0).to_le_bytes()));
    let length = file.len();
    file.extend(b"bulletbulletbulletbulletbulletbulletbulletbulletbulletbulletbulletbul".iter().take(64 - length % 64));

    let asset = Asset::import(description(), &file).unwrap();
    assert_eq!(Asset::import(description(), &file[..length]).unwrap(), asset);
    assert_eq!((asset.features.len(), asset.feature_bias[3]), (2 * 704 * 32, (2 * 704 * 32 + 3) as i16 % 100));
    let Weights::Layers { first, first_bias, second, second_bias, third, third_bias } = &asset.weights else {
        panic!("the head has layers")
    };
    assert_eq!((first.len(), first[200]), (2 * 16 * 32, 200_u8 as i8));
    assert_eq!([first_bias, second, second_bias, third, third_bias].map(Vec::len), floats);
    assert_eq!(
        (first_bias[31], second[0], third_bias[1]),
        (31.0 / 8.0, 4.0, (floats.iter().sum::<usize>() - 1) as f32 / 8.0)
    );
    assert_eq!(asset.export().unwrap(), file);
    let refused = Asset::import(description(), &file[..length - 1]).expect_err("a fault").to_string();
    assert!(
        refused.starts_with(&format!("the file has {} bytes, expected {length} for this shape, ", length - 1)),
        "{refused}"
    );
}

#[test]
fn arranged_as_the_type_says() {
    let blobs = |asset: &Asset| asset.arrange(Packing::PLAIN).map(|blob| (blob.name, blob.element, blob.bytes.len()));
    let expected = [
        ("network_features", "Features<32, 1>".into(), size_of::<Features<32, 1>>()),
        ("network_pairs", "[[u8; 32]; 0]".into(), 0),
        ("network_head", "SingleHead<32, 1>".into(), size_of::<SingleHead<32, 1>>()),
    ];
    assert_eq!(blobs(&material()), expected);
    assert!(material().constants(Packing::PLAIN).contains(" hidden: 32, head: Single, "));

    // The plane of merged kings is there twice, and four inputs of a neuron are side by side.
    let inputs =
        Inputs { mirrored: true, merged_kings: true, king_buckets: equal_king_buckets(16), threats: Threats::None };
    let output_buckets = equal_output_buckets(2);
    let asset = Asset::random(Header { inputs, output_buckets, ..header(64, LAYERS) }, 1);
    let (hidden, kings) = (64, 16);
    let [features, _, head] = asset.arrange(Packing::PLAIN);
    assert_eq!(features.bytes.len(), 2 * hidden * (768 * kings + 1));
    let row = |plane: usize, square: usize| &features.bytes[2 * hidden * (64 * plane + square)..][..2 * hidden];
    assert_eq!(row(5, 10), row(11, 10));
    assert_ne!(row(4, 10), row(11, 10));
    assert_eq!(head.bytes.len(), size_of::<LayersHead<16, 16, 32, 2>>());
    let Weights::Layers { first, .. } = &asset.weights else { panic!("the head has layers") };
    let (bucket, neuron) = (1, 5);
    // The whole row of a neuron, group by group, has the same weights, each as often as before.
    let quad = |quad: usize| &head.bytes[((bucket * hidden / 4 + quad) * 16 + neuron) * 4..][..4];
    let mut found: Vec<u8> = (0..hidden / 4).flat_map(|i| quad(i).iter().copied()).collect();
    let mut expected: Vec<u8> = first[(bucket * 16 + neuron) * hidden..][..hidden].iter().map(|&w| w as u8).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn neurons_by_activation_frequency() {
    check_order(LAYERS, 128);
    check_order(SQUARES, 256);
}

/// Inputs that are never active come last. With 128 products of 256 neurons both halves of the rows move together.
fn check_order(head: Head, half: usize) {
    let hidden = 256;
    let never_active = |pair: usize| !pair.is_multiple_of(3);
    let mut asset = Asset::random(header(hidden as u32, head), 1);
    asset.header.inputs.threats = Threats::Pairs;
    // The weights tell the number of a pair.
    asset.pairs = (0..ThreatPairs::FEATURES * hidden).map(|i| (i % hidden % half / 8) as i8).collect();
    asset.features = (0..768 * hidden).map(|i| (i % hidden % half) as i16 / 8).collect();
    asset.feature_bias =
        (0..hidden).map(|i| if never_active(i % half) { -20_000 } else { 300 } + (i % half) as i16).collect();
    let Weights::Layers { first, .. } = &mut asset.weights else { panic!("the head has layers") };
    *first = (0..16 * 2 * half).map(|i| (i % half / 2) as i8).collect();

    for (vector, start) in
        [(16, [0, 1, 2, 3, 4, 5, 6, 7]), (32, [0, 2, 1, 3, 4, 6, 5, 7]), (64, [0, 2, 4, 6, 1, 3, 5, 7])]
    {
        let packing = Packing { vector };
        let eights: Vec<usize> = (0..half).step_by(8).map(|place| packing.number_at(place) / 8).collect();
        assert_eq!(eights[..8], start);
        let [features, pairs, head] = asset.arrange(packing);
        let numbers: Vec<i16> = features.bytes.as_chunks().0.iter().map(|&bytes| i16::from_le_bytes(bytes)).collect();
        let (rows, bias) = numbers.split_at(768 * hidden);
        let pair_of = |bias: i16| (if bias < 0 { bias + 20_000 } else { bias - 300 }) as usize;
        assert_eq!(bias[..half], bias[hidden - half..]);
        for row in rows.chunks(hidden) {
            assert!(row.iter().zip(bias).all(|(&weight, &bias)| weight as usize == pair_of(bias) / 8));
        }
        assert_eq!(pairs.bytes.len(), ThreatPairs::FEATURES * hidden);
        for row in pairs.bytes.chunks(hidden) {
            let weight = |place| usize::from(row[packing.number_at(place)] - 128);
            assert!((0..hidden).all(|place| weight(place) == pair_of(bias[place]) / 8));
        }
        // Back in the order of the products.
        let mut products = vec![0; half];
        (0..half).for_each(|place| products[packing.number_at(place)] = pair_of(bias[place]));
        assert!(products.is_sorted_by_key(|&pair| never_active(pair)), "{products:?}");
        let quads = head.bytes.chunks(16 * 4).take(2 * half / 4).map(|neurons| &neurons[..4]);
        let weights: Vec<usize> = quads.flatten().map(|&weight| usize::from(weight)).collect();
        let expected: Vec<usize> = products.iter().chain(&products).map(|product| product / 2).collect();
        assert_eq!(weights, expected);
    }
    // Halves that do not fill pairs of vectors stay in natural order.
    assert_eq!(Packing { vector: 64 }.for_row(48), Packing::PLAIN);
    assert_eq!([32, 64].map(|vector| Packing { vector }.for_row(96).vector), [32, Packing::PLAIN.vector]);
}

/// The example that writes the material network does not replace a file, which may be the network of the engine.
#[test]
fn the_material_network_replaces_no_file() {
    // The examples are beside the folder of this test program.
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples/material-network");
    let example = example.with_extension(std::env::consts::EXE_EXTENSION);
    if !example.exists() {
        eprintln!("skipped: {} is not built", example.display());
        return;
    }
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("material");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("kiln.nnue.zst");
    let run = || std::process::Command::new(&example).arg(&file).output().unwrap();
    assert!(run().status.success());
    assert!(std::fs::read(&file).unwrap() == material().to_bytes());
    std::fs::write(&file, "another network").unwrap();
    let output = run();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && message.starts_with("cannot write ") && message.contains("exists"),
        "{message}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"another network");
}

#[test]
fn damaged_files() {
    let good = material().to_bytes();
    assert!(refusal(b"").contains("does not begin with KILNNNUE"));
    assert!(refusal(b"something else entirely").contains("does not begin with KILNNNUE"));
    for length in [8, 9, 13, 20, 40] {
        assert!(refusal(&good[..length]).contains("ends within its header"), "{length}");
    }
    assert_eq!(
        refusal(&good[..10]),
        "the file ends within its header: it has 10 bytes, and at least 4 are missing up to the payload"
    );
    let header = good.windows(4).position(|bytes| bytes == [0x28, 0xb5, 0x2f, 0xfd]).expect("zstd's first bytes");
    for length in (header..good.len()).step_by(7) {
        let message = refusal(&good[..length]);
        let start = format!("the file is cut off after {length} bytes, within its payload: they hold ");
        let numbers = message.strip_prefix(&start).unwrap_or_else(|| panic!("{length}: {message}"));
        let numbers: Vec<usize> = numbers.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [found, expected, missing] = numbers[..] else { panic!("{message}") };
        assert_eq!((found + missing, expected), (expected, 49_348), "{message}");
    }
    let mut damaged = good.clone();
    damaged[header] ^= 1;
    let expected = "the file is damaged near byte ";
    assert!(refusal(&damaged).contains(expected), "{}", refusal(&damaged));
    let mut version = good.clone();
    for other in [3, 5] {
        version[MAGIC.len()] = other;
        assert_eq!(refusal(&version), format!("the format version is {other}, expected 4"));
    }
    let mut longer_header = good.clone();
    longer_header[MAGIC.len() + 2] += 1;
    assert!(refusal(&longer_header).starts_with("the header has "));
    for padding in [&[0][..], &[0; 100], b"KILNNNUE"] {
        let expected =
            format!("{} more bytes follow the payload, which ends at byte {} of the file", padding.len(), good.len());
        assert_eq!(refusal(&[&good, padding].concat()), expected);
    }
    // With any bit flipped, the file is refused or, where the bit has no meaning, read as before.
    let original = Asset::from_bytes(&good).unwrap();
    let mut refused = 0;
    for bit in 0..good.len() * 8 {
        let mut flipped = good.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match Asset::from_bytes(&flipped) {
            Ok(read) => assert_eq!(read, original, "bit {bit}"),
            Err(error) => {
                assert!(!error.to_string().contains("stripped"), "bit {bit}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > good.len() * 79 / 10, "only {refused} of {} flips were refused", good.len() * 8);
}

#[test]
fn impossible_dimensions() {
    let refused = |change: fn(&mut Asset)| refusal(&changed(change));
    assert_eq!(refused(|a| a.header.hidden = 33), "hidden is 33, expected 32 to 2048 in steps of 32");
    assert_eq!(refused(|a| a.header.hidden = u32::MAX), "hidden is 4294967295, expected 32 to 2048 in steps of 32");
    assert_eq!(refused(|a| a.header.qa = 0), "qa is 0, expected 1 to 255");
    assert_eq!(refused(|a| a.header.qb = 0), "qb is 0, expected 1 to 1024");
    assert_eq!(refused(|a| a.header.scale = 5000), "scale is 5000, expected 1 to 4096");
    assert_eq!(
        refused(|a| a.header.hidden = 64),
        "the payload has 49348 bytes, expected 98692 for the shape in the header"
    );
    let more = "the payload has more than the 49348 bytes expected for the shape in the header";
    assert_eq!(refusal(&changed(|a| a.features.extend([0; 32]))), more);

    let layers = |first, second| Head::Layers { inputs: Activations::Squares, first, second };
    assert_eq!(refusal(&changed(|a| a.header.head = layers(8, 32))), "first is 8, expected 16 or 32");
    assert_eq!(refusal(&changed(|a| a.header.head = layers(32, u32::MAX))), "second is 4294967295, expected 32");
    let other_unit = |a: &mut Asset| (a.header.head, a.header.qa) = (LAYERS, 181);
    assert_eq!(refused(other_unit), "qa is 181, expected 255 with several layers");

    let last = "king_buckets is 255, expected 0 to 63";
    assert_eq!(refused(|a| a.header.inputs.king_buckets[9] = 255), last);
    let with_threats = |a: &mut Asset| {
        a.header.inputs.threats = Threats::States;
        a.header.inputs.king_buckets = std::array::from_fn(|square| (square / 4).min(14) as u8);
    };
    assert_eq!(refused(with_threats), "king_buckets is 14, expected 0 to 13 with threat states");
    let gap = "king_buckets leaves out 1, expected numbers from 0 without gaps";
    assert_eq!(refused(|a| a.header.inputs.king_buckets[9] = 2), gap);
    let mirror = "a king bucket on files e to h is 0, expected 1 as in its mirror image";
    assert_eq!(refused(|a| a.header.inputs.king_buckets[9] = 1), mirror);
    assert_eq!(refused(|a| a.header.output_buckets[32] = 8), "output_buckets is 8, expected 0 to 7");
    let gap = "output_buckets leaves out 0, expected numbers from 0 without gaps";
    assert_eq!(refused(|a| a.header.output_buckets = [1; 33]), gap);
    let more = "the payload has 49348 bytes, expected 49480 for the shape in the header";
    assert_eq!(refused(|a| a.header.output_buckets[32] = 1), more);
    assert!(matches!(
        Asset::from_bytes(&changed(|a| a.header.inputs.merged_kings = true)),
        Err(AssetError::TooMuch { .. })
    ));

    let long = "name has 101 bytes, expected at most 100";
    assert_eq!(refused(|a| a.header.name = "n".repeat(101)), long);
    let control = "commit holds '\\n', expected no control characters";
    assert_eq!(refused(|a| a.header.provenance.commit = "a\nb".into()), control);
    let long = "description has 1001 bytes, expected at most 1000";
    assert_eq!(refused(|a| a.header.provenance.description = "d".repeat(1001)), long);
    let position = || Expected { fen: "f".repeat(101), score: 0 };
    let changed = refusal(&changed(|a| a.header.expected.push(position())));
    assert_eq!(changed, "fen has 101 bytes, expected at most 100");
    let many = "number of scored positions is 17, expected 0 to 16";
    assert_eq!(refused(|a| a.header.expected = vec![Expected { fen: "8/8".into(), score: 0 }; 17]), many);
    assert!(refused(|a| a.header.name = "n".repeat(70_000)).starts_with("length of the header is 7"));
}

/// No more is decompressed than the header implies, however much a stream holds.
#[test]
fn streams_that_swell() {
    let bomb = changed(|a| a.features = vec![0; 1 << 24]);
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    assert!(refusal(&bomb).starts_with("the payload has more than the "));
}

/// The hash covers the header: a network with another provenance or score has another hash.
#[test]
fn the_hash_covers_the_header() {
    let good = material().to_bytes();
    let place = good.windows(8).position(|bytes| bytes == b"material").unwrap();
    let mut renamed = good.clone();
    renamed[place] = b'M';
    assert!(refusal(&renamed).contains("the file is damaged"));
    let hash = |change: fn(&mut Asset)| Asset::from_bytes(&changed(change)).unwrap().header.sha256;
    let provenance = Provenance { positions: 1, ..material().header.provenance };
    assert_ne!(provenance, material().header.provenance);
    assert_ne!(hash(|_| ()), hash(|a| a.header.provenance.positions = 1));
    assert_ne!(hash(|_| ()), hash(|a| a.header.expected[0].score = 1));
    assert_ne!(hash(|_| ()), hash(|a| a.header.win_draw_loss[3] = 1));
}

#[test]
fn weights_that_could_overflow() {
    assert!(refusal(&changed(|a| a.features[5] = 2000)).starts_with("the feature weights can overflow: "));
    assert!(refusal(&changed(|a| a.feature_bias[5] = i16::MIN)).starts_with("the feature weights can overflow: "));
    assert!(refusal(&changed(|a| single(a).0[5] = -129)).starts_with("the output weights can overflow: 129 "));
    let wide = changed(|a| {
        a.header.hidden = 512;
        (a.features, a.feature_bias) = (vec![0; 768 * 512], vec![0; 512]);
        *single(a).0 = vec![100; 1024];
    });
    assert!(refusal(&wide).starts_with("the output sum can overflow: 3329280000 "));
    // In one of several buckets.
    let second_bucket = changed(|a| {
        a.header.inputs.king_buckets = std::array::from_fn(|square| (square / 32) as u8);
        a.features.extend_from_within(..);
        a.features[768 * 32 + 5] = 2000;
    });
    assert!(refusal(&second_bucket).starts_with("the feature weights can overflow: "));
}

#[test]
fn floats_out_of_range() {
    let layers = |change: fn(&mut [Vec<f32>; 5])| {
        let mut floats = [16, 1024, 32, 48, 1].map(|length| vec![0.0_f32; length]);
        change(&mut floats);
        let [first_bias, second, second_bias, third, third_bias] = floats;
        let weights =
            Weights::Layers { first: vec![-128; 16 * 64], first_bias, second, second_bias, third, third_bias };
        let (features, feature_bias) = (vec![0; 768 * 64], vec![255; 64]);
        Asset::from_bytes(
            &Asset { header: header(64, LAYERS), features, feature_bias, pairs: Vec::new(), weights }.to_bytes(),
        )
    };
    assert!(layers(|_| ()).is_ok());
    let refused = |change| layers(change).expect_err("a fault").to_string();
    assert_eq!(refused(|f| f[0][15] = f32::NAN), "the first biases hold NaN, expected numbers from -65536 to 65536");
    assert!(refused(|f| f[1][1023] = f32::INFINITY).starts_with("the second weights hold inf, "));
    assert!(refused(|f| f[2][0] = f32::NEG_INFINITY).starts_with("the second biases hold -inf, "));
    assert!(refused(|f| f[3][0] = 65537.0).starts_with("the third weights hold 65537, "));
    assert!(refused(|f| f[4][0] = -1e30).starts_with("the third biases hold -1000000000000000000000000000000, "));
}
