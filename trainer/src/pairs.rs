//! From threat states to pairs of pieces: a network whose features tell how a piece is attacked and defended gets a
//! feature for each piece that attacks or defends another instead, and evaluates nearly as before.
//!
//! An accumulator is a sum of weights, so this is a linear regression for each neuron, which needs positions but no
//! scores. Each position moves the weights of its features by a part of the error of their sum (normalised least mean
//! squares, Widrow and Hoff 1960).

use crate::checkpoint;
use crate::config::read_asset;
use crate::data::{Dataset, EpochOrder, Filter};
use crate::network::{FeatureSet, Features, Network, Row, Tensor, Tile, add};
use crate::run::EXPECTED;
use anyhow::{Result, ensure};
use bulletformat::ChessBoard;
use kiln::tools::net::expected;
use kiln_gen::network::{Asset, Header, Inputs, THREAT_STATES, Threats};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Positions whose features are listed at once, and by one thread.
const GROUP: usize = 1 << 14;
const BLOCK: usize = 1 << 11;
/// The part of an error that a position corrects, in the first and in the last group.
const STEPS: [f32; 2] = [0.5, 0.02];

/// Reads a network with threat states and game shards, and writes the network with pairs. `count` positions are drawn;
/// some millions are enough. `print` gets the progress in lines of text.
///
/// # Errors
/// If a file cannot be read or written, the new one exists, or the network has no threat states.
pub fn convert(states: &Path, new: &Path, shards: &[PathBuf], count: usize, mut print: impl FnMut(&str)) -> Result<()> {
    ensure!(!new.exists(), "{} exists; it is not replaced", new.display());
    let states = read_asset(states)?;
    let data = Dataset::read(shards, &[], Filter::default())?;
    ensure!(!data.training.is_empty(), "the shards have no training positions");
    let asset = with_pairs(&states, &data.training, count, &mut print)?;
    checkpoint::write(new, &asset.to_bytes())
}

/// Returns a network with pairs whose accumulators are nearly those of a network with threat states. The result does
/// not depend on the number of threads.
///
/// # Errors
/// If the network has no threat states, or a quantisation that the trainer does not support.
pub fn with_pairs(
    states: &Asset,
    positions: &[ChessBoard],
    count: usize,
    mut print: impl FnMut(&str),
) -> Result<Asset> {
    let old = &states.header;
    ensure!(
        old.inputs.threats == Threats::States,
        "the network has the shape {}, without threat states; only such a network gets pairs",
        old.shape()
    );
    let header = Header { inputs: Inputs { threats: Threats::Pairs, ..old.inputs.clone() }, ..old.clone() };
    let mut network = Network::from_asset(&start(states, header), false)?;
    let wanted = Network::from_asset(states, false)?;
    let sets = [&wanted, &network].map(|network| FeatureSet::new(network.header()));
    let order = EpochOrder::new(positions.len(), 0);
    let groups = count.div_ceil(GROUP);
    for group in 0..groups {
        let done = group as f32 / groups as f32;
        let step = STEPS[0] * (STEPS[1] / STEPS[0]).powf(done);
        let position = order.starting_at((group * GROUP) as u64);
        let blocks: Vec<[Features; 2]> = (0..GROUP / BLOCK)
            .into_par_iter()
            .map(|block| {
                let mut features = [Features::default(), Features::default()];
                for number in block * BLOCK..(block + 1) * BLOCK {
                    let board = &positions[position(number)];
                    sets.iter().zip(&mut features).for_each(|(set, features)| set.push(board, features));
                }
                features
            })
            .collect();
        let tiles = network.tiles.par_iter_mut().zip(&wanted.tiles);
        let errors: Vec<f64> = tiles.map(|(tile, wanted)| approach(tile, wanted, &blocks, step)).collect();
        if (group + 1).is_multiple_of(32) || group + 1 == groups {
            let error = errors.iter().sum::<f64>() / (2 * GROUP * old.hidden as usize) as f64;
            print(&format!(
                "{} of {} positions: squared error of a neuron {error:.6}",
                (group + 1) * GROUP,
                groups * GROUP
            ));
        }
    }
    network.tensors_mut().into_iter().for_each(Tensor::clamp);
    network.refresh();
    let mut asset = network.to_asset();
    asset.header.expected = expected(&asset, &EXPECTED);
    Ok(asset)
}

/// Returns the network in which a piece has the mean of its weights in all threat states, and pairs count nothing.
fn start(states: &Asset, header: Header) -> Asset {
    let size = header.inputs.planes() * 64 * header.hidden as usize;
    let mean = |bucket: &[i16]| -> Vec<i16> {
        let sum = |i| (0..THREAT_STATES).map(|state| i32::from(bucket[state * size + i])).sum::<i32>();
        (0..size).map(|i| (sum(i) / THREAT_STATES as i32) as i16).collect()
    };
    let features = states.features.chunks_exact(THREAT_STATES * size).flat_map(mean).collect();
    let pairs = vec![0; header.inputs.threats.pairs() * header.hidden as usize];
    Asset { header, features, pairs, ..states.clone() }
}

/// Moves a tile's weights toward the accumulators of `wanted`, position by position. Returns the sum of squared errors.
fn approach(tile: &mut Tile, wanted: &Tile, blocks: &[[Features; 2]], step: f32) -> f64 {
    let Tile { features, pairs, bias, .. } = tile;
    let (features, of_pairs) = (features.rows_mut(), pairs.rows_mut());
    let count = features.len();
    let mut error_sum = 0.0;
    for (states, pairs) in blocks.iter().flat_map(|[states, pairs]| states.lists().zip(pairs.lists())) {
        let mut goal = wanted.forward.bias;
        states.iter().for_each(|&feature| add(&mut goal, &wanted.forward.features[feature as usize]));
        let mut found = bias.rows()[0];
        for &feature in pairs {
            let feature = feature as usize;
            add(&mut found, if feature < count { &features[feature] } else { &of_pairs[feature - count] });
        }
        let error: Row = std::array::from_fn(|i| error(goal[i], found[i]));
        error_sum += f64::from(error.iter().map(|error| error * error).sum::<f32>());
        let change = error.map(|error| error * step / pairs.len() as f32);
        for &feature in pairs {
            let feature = feature as usize;
            add(if feature < count { &mut features[feature] } else { &mut of_pairs[feature - count] }, &change);
        }
    }
    error_sum
}

/// Returns by how much a neuron's sum misses another with the same activation, which is clipped to 0 to 1.
fn error(goal: f32, found: f32) -> f32 {
    if goal <= 0.0 {
        -found.max(0.0)
    } else if goal >= 1.0 {
        (1.0 - found).max(0.0)
    } else {
        goal - found
    }
}
