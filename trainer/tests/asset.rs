//! The trainer's evaluation agrees with the reference evaluation of the asset: perspectives, mirroring, buckets, units.

use kiln::board::Position;
use kiln::tools::net::reference;
use kiln_gen::network::{Activations, Asset, Head, Header, Inputs, Threats, equal_output_buckets, material};
use kiln_trainer::batch::BatchProcessor;
use kiln_trainer::data::pack;
use kiln_trainer::grow::grow;
use kiln_trainer::network::{Network, with_quantisation};

/// Returns positions of random games.
fn engine_positions() -> Vec<Position> {
    let mut number = 7_u64;
    let mut all = Vec::new();
    for _ in 0..6 {
        let mut position = Position::startpos();
        for _ in 0..60 {
            let moves = position.moves();
            if moves.is_empty() {
                break;
            }
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            position = position.make(moves[(number >> 33) as usize % moves.len()]);
            all.push(position.clone());
        }
    }
    all
}

fn shapes() -> Vec<Header> {
    let by_file_and_rank: [u8; 64] =
        std::array::from_fn(|square| ((square % 8).min(7 - square % 8) + 4 * (square / 16)) as u8);
    let by_file: [u8; 64] = std::array::from_fn(|square| (square % 8) as u8);
    let by_side: [u8; 64] = std::array::from_fn(|square| (square / 32) as u8);
    let single = Header { hidden: 64, output_buckets: equal_output_buckets(8), ..material().header };
    let inputs = [
        single.inputs.clone(),
        Inputs { mirrored: true, merged_kings: false, king_buckets: by_file_and_rank, threats: Threats::None },
        Inputs { mirrored: true, merged_kings: true, king_buckets: by_file_and_rank, threats: Threats::None },
        Inputs { mirrored: false, merged_kings: false, king_buckets: by_file, threats: Threats::None },
        Inputs { threats: Threats::States, ..single.inputs.clone() },
        Inputs { mirrored: true, merged_kings: true, king_buckets: by_side, threats: Threats::States },
        Inputs { threats: Threats::Pairs, ..single.inputs.clone() },
        Inputs { mirrored: true, merged_kings: true, king_buckets: by_side, threats: Threats::Pairs },
    ];
    let layers = |inputs, first| Head::Layers { inputs, first, second: 32 };
    let heads = [
        Head::Single,
        layers(Activations::Squares, 16),
        layers(Activations::Squares, 32),
        layers(Activations::Products, 16),
        layers(Activations::Products, 32),
    ];
    let with = |head| inputs.iter().map(move |inputs| (head, inputs.clone()));
    heads.into_iter().flat_map(with).map(|(head, inputs)| Header { head, inputs, ..single.clone() }).collect()
}

#[test]
fn evaluates_as_the_reference_does() {
    let positions = engine_positions();
    let boards: Vec<_> = positions.iter().map(|position| pack(position, 0, 0.5)).collect();
    for header in shapes() {
        // A single layer is read in any unit, but rounded in the trainer's.
        let layers = header.head != Head::Single;
        let asset = Asset::random(if layers { with_quantisation(header) } else { header }, 3);
        for factoriser in [false, true] {
            let mut network = Network::from_asset(&asset, factoriser).unwrap();
            if layers {
                network.round();
            }
            let scores = BatchProcessor::new(&network).evaluate(&network, boards.len(), |i| boards[i]);
            let (mut largest, mut mean, mut spread) = (0.0_f64, 0.0, 0.0_f64);
            for (position, &score) in positions.iter().zip(&scores) {
                let wanted = reference(&asset, position) as f64;
                spread = spread.max(wanted.abs());
                let difference = (f64::from(score) - wanted).abs();
                largest = largest.max(difference);
                mean += difference / positions.len() as f64;
            }
            assert!(spread > 100.0, "{}: scores only up to {spread}", asset.header.shape());
            assert!(largest <= 2.1 && mean <= 1.1, "{}: {largest}, {mean} of {spread}", asset.header.shape());
        }
    }
}

#[test]
fn an_asset_survives_the_round_trip() {
    for header in shapes() {
        // In the trainer's unit; it reads others too.
        let asset = Asset::random(with_quantisation(header), 4);
        let back = Network::from_asset(&asset, true).unwrap().to_asset();
        assert_eq!(back.features, asset.features, "{}", asset.header.shape());
        assert_eq!((back.feature_bias, back.weights), (asset.feature_bias, asset.weights));
        assert_eq!(back.pairs, asset.pairs, "{}", asset.header.shape());
    }
}

#[test]
fn a_rounded_network_evaluates_as_its_asset() {
    let boards: Vec<_> = engine_positions().iter().map(|position| pack(position, 0, 0.5)).collect();
    let scores = |network: &Network| BatchProcessor::new(network).evaluate(network, boards.len(), |i| boards[i]);
    for header in shapes() {
        let mut network = Network::from_asset(&Asset::random(with_quantisation(header), 6), true).unwrap();
        // Between the steps of quantised weights.
        for tensor in network.tensors_mut() {
            tensor.values.iter_mut().enumerate().for_each(|(i, value)| *value += [0.0011, -0.0014][i % 2]);
        }
        network.refresh();
        let exact = scores(&network);
        let asset = network.to_asset();
        network.round();
        assert_eq!(network.to_asset().to_bytes(), asset.to_bytes());
        let mut written = Network::from_asset(&asset, true).unwrap();
        written.round();
        let written = scores(&written);
        let farthest = |scores: Vec<f32>| scores.iter().zip(&written).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let (rounded, exact) = (farthest(scores(&network)), farthest(exact));
        assert!(rounded < 0.01 && exact > 0.1, "{}: {rounded} {exact}", asset.header.shape());
    }
}

#[test]
fn a_network_grows_without_another_evaluation() {
    let boards: Vec<_> = engine_positions().iter().map(|position| pack(position, 0, 0.5)).collect();
    let scores = |asset: &Asset| {
        let network = Network::from_asset(asset, true).unwrap();
        BatchProcessor::new(&network).evaluate(&network, boards.len(), |i| boards[i])
    };
    for header in shapes() {
        let asset = Asset::random(Header { output_buckets: equal_output_buckets(2), ..header.clone() }, 5);
        let mut wanted = Header { hidden: 128, output_buckets: equal_output_buckets(4), ..header };
        // With threat states, a header has room for 14 king buckets only.
        let files = match (&wanted.inputs.threats, wanted.inputs.mirrored) {
            (Threats::States, _) => 1,
            (_, true) => 4,
            (_, false) => 8,
        };
        let file = |square: usize| (square % 8).min(if files == 4 { 7 - square % 8 } else { 7 }) % files;
        wanted.inputs.king_buckets = std::array::from_fn(|square| (square / 16 * files + file(square)) as u8);
        let grown = grow(asset.clone(), &wanted, 1).unwrap();
        assert_eq!((grown.header.hidden, grown.header.output_bucket_count()), (128, 4));
        assert!(grown.header.inputs.king_bucket_count() >= 4 && grown.header.check().is_ok());
        for (before, after) in scores(&asset).into_iter().zip(scores(&grown)) {
            assert!((before - after).abs() < 0.05, "{}: {before} {after}", grown.header.shape());
        }
        if asset.header.head == Head::Single {
            let head = Head::Layers { inputs: Activations::Squares, first: 16, second: 32 };
            let deep = grow(asset.clone(), &Header { head, ..wanted.clone() }, 1).unwrap();
            assert_eq!((deep.header.hidden, deep.header.head), (128, head));
            for (before, after) in scores(&asset).into_iter().zip(scores(&deep)) {
                assert!((before - after).abs() < 0.05, "{}: {before} {after}", deep.header.shape());
            }
        }
        let products = Head::Layers { inputs: Activations::Products, first: 16, second: 32 };
        let other_layers = if asset.header.head == products { Head::Single } else { products };
        for (refused, reason) in [
            (Header { head: other_layers, ..wanted.clone() }, "only neurons, buckets and layers that read squares"),
            (Header { hidden: 32, ..wanted.clone() }, "cannot shrink"),
            (
                Header { output_buckets: equal_output_buckets(1), ..wanted.clone() },
                "output bucket 0 would be a part of",
            ),
            (
                Header {
                    inputs: Inputs { merged_kings: !wanted.inputs.merged_kings, ..wanted.inputs.clone() },
                    ..wanted.clone()
                },
                "inputs",
            ),
        ] {
            let error = grow(asset.clone(), &refused, 1).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
