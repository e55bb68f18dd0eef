//! Batches: forward pass, loss, backpropagation and optimiser step.
//!
//! A batch is cut into groups of blocks of positions, independent of the number of threads. A group passes through four
//! phases, in each of which threads share out blocks, tiles of neurons, or both:
//!
//! 1. by block: the active features, also inverted: by feature, the accumulators that it is active in;
//! 2. by tile and block: the accumulators, and their part of the head's first sums;
//! 3. by block: the rest of the head, forward and backward;
//! 4. by tile, block after block: the gradients of the head's first layer and of the accumulators, and from these the
//!    gradient of each active feature's weights, which is summed in registers and written once.
//!
//! So no sum depends on the number of threads, no two threads write the same weight, and no thread needs its own copy
//! of the gradient. A tile's weights stay in the cache for a whole group, the gradients of its accumulators for a
//! block.

use crate::data::bound;
use crate::network::{
    FeatureSet, Features, Forward, INPUT, Network, OptimiserStep, PAIRS, Row, SCALE, TILE, Tensor, Tile, add,
};
use bulletformat::{BulletFormat, ChessBoard};
use kiln::types::Bound;
use kiln_gen::network::{Activations, Head, Header};
use rayon::prelude::*;
use std::ops::Range;

/// Positions in a block: the gradients of their accumulators in a tile take half a megabyte.
const BLOCK: usize = 2048;
/// Blocks in a group.
const GROUP: usize = 16;

/// The magnitude of an error, in expected points, that has the same gradient with all powers.
const USUAL_ERROR: f32 = 0.1;

/// What training minimises.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// WDL proportion λ, 0 to 1: weight of the game result. The search score has weight 1 − λ.
    pub wdl: f32,
    /// Centipawns per unit of the logistic function σ that turns scores and outputs into expected points.
    pub scale: f32,
    /// The power of the error in the loss, at least 2.
    pub power: f32,
    /// What the mean of the inputs of the first of several layers adds to a position's loss.
    pub sparsity: f32,
}

impl Default for Objective {
    /// Returns the squared error of scores alone, with the scale [`SCALE`].
    fn default() -> Self {
        Self { wdl: 0.0, scale: SCALE.into(), power: 2.0, sparsity: 0.0 }
    }
}

impl Objective {
    /// Returns the target λ · result + (1 − λ) · σ(score / scale) for the side to move, which is a bound if the score
    /// is one.
    pub fn target(self, board: &ChessBoard) -> Target {
        let score = sigmoid(f32::from(board.score()) / self.scale);
        Target { points: self.wdl * board.result() + (1.0 - self.wdl) * score, bound: bound(board) }
    }

    /// Adds the loss of an output to `loss`. Returns its derivative with respect to the output.
    fn add_loss(self, loss: &mut f64, output: f32, target: Target) -> f32 {
        let unit = self.scale / f32::from(SCALE);
        let predicted = sigmoid(output / unit);
        let error = target.error(predicted);
        let derivative = 2.0 * error * (error.abs() / USUAL_ERROR).powf(self.power - 2.0);
        *loss += f64::from(unit * unit * derivative * error / self.power);
        unit * derivative * predicted * (1.0 - predicted)
    }
}

/// What the expected points of a position should be.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// From 0 to 1.
    pub points: f32,
    /// Whether fewer or more points are as good.
    pub bound: Option<Bound>,
}

impl Target {
    /// Returns the error of predicted points, which is 0 where the bound allows them.
    fn error(self, predicted: f32) -> f32 {
        let error = predicted - self.points;
        match self.bound {
            Some(Bound::Upper) => error.max(0.0),
            Some(Bound::Lower) => error.min(0.0),
            Some(Bound::Exact) | None => error,
        }
    }
}

pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Runs batches through a network. Owns the buffers for activations and gradients.
///
/// The methods take positions as a function from index to position, for the indices below `count`. The loss of a
/// position is (σ(output) − target)² · (scale / [`SCALE`])², with the usual [power](Objective::power) of the error,
/// nothing where the target is a bound that allows the output, and the penalty of [`Objective::sparsity`]. So near
/// equality all scales have the same gradients.
pub struct BatchProcessor {
    feature_set: FeatureSet,
    blocks: Vec<Block>,
    /// [`GROUP`] for each tile.
    tile_blocks: Vec<TileBlock>,
}

/// Buffers for up to [`BLOCK`] positions.
struct Block {
    features: Features,
    inverse: Inverse,
    /// Targets by position.
    targets: Vec<Target>,
    /// Derivatives of the loss by (position, sum of the head's first layer).
    deltas: Vec<f32>,
    /// Network outputs by position, in units of [`SCALE`] centipawns.
    outputs: Vec<f32>,
    /// Gradients of [`Network::tail`].
    tail: Vec<Vec<f32>>,
    /// Sum of the losses.
    loss: f64,
}

/// Buffers of a tile for up to [`BLOCK`] positions.
struct TileBlock {
    /// By (position, perspective): accumulators, in the backward pass their gradients.
    accumulators: Vec<[Row; 2]>,
    /// The tile's part of the head's first sums, by (position, neuron of the first layer).
    head_sums: Vec<f32>,
    /// Sum of all inputs of the first of several layers.
    inputs: f64,
}

impl Block {
    fn new(network: &Network) -> Self {
        Self {
            features: Features::default(),
            inverse: Inverse::default(),
            targets: Vec::with_capacity(BLOCK),
            deltas: vec![0.0; BLOCK * first_width(network)],
            outputs: vec![0.0; BLOCK],
            tail: network.tail.iter().map(|tensor| vec![0.0; tensor.values.len()]).collect(),
            loss: 0.0,
        }
    }

    fn fill(&mut self, feature_set: &FeatureSet, positions: impl Iterator<Item = ChessBoard>, objective: Objective) {
        self.features.clear();
        self.targets.clear();
        for board in positions {
            feature_set.push(&board, &mut self.features);
            self.targets.push(objective.target(&board));
        }
    }
}

impl TileBlock {
    fn new(network: &Network) -> Self {
        let head_sums = vec![0.0; BLOCK * first_width(network)];
        Self { accumulators: vec![[[0.0; TILE]; 2]; BLOCK], head_sums, inputs: 0.0 }
    }
}

/// The features of a block, inverted: by feature, the lists of [`Features`] that have it.
#[derive(Default)]
struct Inverse {
    /// The features in any list, ascending, each with the end of its part of `lists`.
    features: Vec<(u32, u32)>,
    /// Numbers of lists.
    lists: Vec<u16>,
    /// By feature: where its next list goes.
    places: Vec<u32>,
}

/// A block's lists must have numbers of 16 bits.
const _: () = assert!(2 * BLOCK <= 1 << 16);

impl Inverse {
    /// Inverts the features of a block, which are below `count`, by counting.
    fn fill(&mut self, features: &Features, count: usize) {
        self.places.clear();
        self.places.resize(count, 0);
        features.indices.iter().for_each(|&feature| self.places[feature as usize] += 1);
        self.features.clear();
        let mut end = 0;
        for (feature, place) in self.places.iter_mut().enumerate().filter(|(_, place)| **place > 0) {
            let start = end;
            end += *place;
            *place = start;
            self.features.push((feature as u32, end));
        }
        self.lists.resize(features.indices.len(), 0);
        for (number, list) in features.lists().enumerate() {
            for &feature in list {
                let place = &mut self.places[feature as usize];
                self.lists[*place as usize] = number as u16;
                *place += 1;
            }
        }
    }
}

/// Returns the number of neurons in the head's first layer.
fn first_width(network: &Network) -> usize {
    match network.header().head {
        Head::Single => 1,
        Head::Layers { first, .. } => first as usize,
    }
}

/// Returns the number of inputs of the first of several layers.
fn input_count(network: &Network) -> usize {
    let Header { hidden, head, .. } = *network.header();
    match head {
        Head::Single => 1,
        Head::Layers { inputs, .. } => 2 * inputs.count(hidden as usize),
    }
}

/// Cuts the positions of a batch into groups of at most [`GROUP`] blocks.
fn groups(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK * GROUP).map(move |start| start..count.min(start + BLOCK * GROUP))
}

impl BatchProcessor {
    /// Allocates the buffers for networks of this architecture.
    pub fn new(network: &Network) -> Self {
        Self {
            feature_set: FeatureSet::new(network.header()),
            blocks: (0..GROUP).map(|_| Block::new(network)).collect(),
            tile_blocks: (0..GROUP * network.tiles.len()).map(|_| TileBlock::new(network)).collect(),
        }
    }

    /// Trains on one batch of `count` positions. Returns the sum of their losses before the update.
    pub fn train_batch<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &mut Network,
        count: usize,
        position: F,
        objective: Objective,
        step: OptimiserStep,
    ) -> f64 {
        let loss = self.gradient(network, count, position, objective);
        network.update(step);
        loss
    }

    /// Adds the gradient of the mean loss of `count` positions to the network's tensors. Returns the sum of the losses.
    pub fn gradient<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &mut Network,
        count: usize,
        position: F,
        objective: Objective,
    ) -> f64 {
        let mut loss = 0.0;
        for range in groups(count) {
            let weight = 1.0 / count as f32;
            self.run_blocks(network, range.clone(), &position, objective, weight);
            let Self { blocks, tile_blocks, .. } = self;
            let used = &mut blocks[..range.len().div_ceil(BLOCK)];
            let features = network.touched.len();
            used.par_iter_mut().for_each(|block| block.inverse.fill(&block.features, features));
            for block in used.iter() {
                loss += block.loss;
                block.inverse.features.iter().for_each(|&(feature, _)| network.touched[feature as usize] = true);
                for (tensor, gradient) in network.tail.iter_mut().zip(&block.tail) {
                    tensor.gradient.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient);
                }
            }
            let head = network.header().head;
            let penalty = objective.sparsity * weight / input_count(network) as f32;
            network.tiles.par_iter_mut().zip(tile_blocks.par_chunks_mut(GROUP)).for_each(|(tile, tile_blocks)| {
                for (block, tile_block) in used.iter().zip(tile_blocks) {
                    match head {
                        Head::Single => single_backward(tile, tile_block, block),
                        Head::Layers { inputs: Activations::Squares, .. } => {
                            layers_backward::<2>(tile, tile_block, block, penalty);
                        }
                        Head::Layers { inputs: Activations::Products, .. } => {
                            layers_backward::<1>(tile, tile_block, block, penalty);
                        }
                    }
                    gather(tile, tile_block, &block.inverse);
                }
            });
        }
        loss
    }

    /// Returns the sum of the losses of `count` positions.
    pub fn loss<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &Network,
        count: usize,
        position: F,
        objective: Objective,
    ) -> f64 {
        groups(count)
            .map(|range| {
                let used = self.run_blocks(network, range, &position, objective, 0.0);
                used.iter().map(|block| block.loss).sum::<f64>()
            })
            .sum()
    }

    /// Returns the evaluations of `count` positions, in centipawns for the side to move.
    pub fn evaluate<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &Network,
        count: usize,
        position: F,
    ) -> Vec<f32> {
        let mut scores = Vec::with_capacity(count);
        for range in groups(count) {
            for block in self.run_blocks(network, range, &position, Objective::default(), 0.0) {
                scores.extend(block.outputs[..block.features.count()].iter().map(|output| output * f32::from(SCALE)));
            }
        }
        scores
    }

    /// Runs a group of positions forward, and backward through the head: fills outputs, losses, `deltas` and the
    /// gradients of the tail, the latter two multiplied by `weight`. Returns the blocks used.
    fn run_blocks<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &Network,
        range: Range<usize>,
        position: &F,
        objective: Objective,
        weight: f32,
    ) -> &[Block] {
        let Self { feature_set, blocks, tile_blocks } = self;
        let used = &mut blocks[..range.len().div_ceil(BLOCK)];
        used.par_iter_mut().enumerate().for_each(|(number, block)| {
            let start = range.start + number * BLOCK;
            let end = range.end.min(start + BLOCK);
            block.fill(feature_set, (start..end).map(position), objective);
        });
        let head = network.header().head;
        network.tiles.par_iter().zip(tile_blocks.par_chunks_mut(GROUP)).for_each(|(tile, tile_blocks)| {
            used.par_iter().zip(tile_blocks).for_each(|(block, tile_block)| match head {
                Head::Single => single_forward(tile, tile_block, block),
                Head::Layers { inputs, first, .. } => match (inputs, first) {
                    (Activations::Squares, 16) => layers_forward::<16, 2>(tile, tile_block, block),
                    (Activations::Squares, _) => layers_forward::<32, 2>(tile, tile_block, block),
                    (Activations::Products, 16) => layers_forward::<16, 1>(tile, tile_block, block),
                    (Activations::Products, _) => layers_forward::<32, 1>(tile, tile_block, block),
                },
            });
        });
        used.par_iter_mut().enumerate().for_each(|(number, block)| {
            let tile_blocks = tile_blocks[number..].iter().step_by(GROUP);
            block.tail.iter_mut().for_each(|gradient| gradient.fill(0.0));
            let inputs: f64 = tile_blocks.clone().map(|tile_block| tile_block.inputs).sum();
            block.loss = f64::from(objective.sparsity) * inputs / input_count(network) as f64;
            match head {
                Head::Single => single_output(&network.tail, tile_blocks, block, objective, weight),
                Head::Layers { first: 16, second, .. } => {
                    layers::<16>(&network.tail, second as usize, tile_blocks, block, objective, weight)
                }
                Head::Layers { second, .. } => {
                    layers::<32>(&network.tail, second as usize, tile_blocks, block, objective, weight)
                }
            }
        });
        used
    }
}

/// Adds a list of rows to a tile's accumulator.
#[inline]
fn accumulate(mut sum: Row, weights: &[Row], list: impl Iterator<Item = usize>) -> Row {
    list.for_each(|row| add(&mut sum, &weights[row]));
    sum
}

/// Fills a tile's accumulators and calls `visit` with the number, output bucket and accumulators of each position.
#[inline]
fn accumulators(
    tile: &Tile,
    accumulators: &mut [[Row; 2]],
    features: &Features,
    mut visit: impl FnMut(usize, usize, &[Row; 2]),
) {
    let Forward { features: weights, pairs, bias, .. } = &tile.forward;
    let accumulate = |list: &[u32]| {
        let (list, of_pairs) = list.split_at(list.partition_point(|&feature| (feature as usize) < weights.len()));
        let sum = accumulate(*bias, weights, list.iter().map(|&feature| feature as usize));
        accumulate(sum, pairs, of_pairs.iter().map(|&feature| feature as usize - weights.len()))
    };
    let mut lists = features.lists();
    let positions = features.output_buckets.iter().zip(accumulators).enumerate();
    for (i, (&bucket, accumulators)) in positions {
        *accumulators = [(); 2].map(|()| accumulate(lists.next().expect("two lists a position")));
        visit(i, bucket.into(), accumulators);
    }
}

/// Adds the gradients of the features' weights, from those of the accumulators.
fn gather(tile: &mut Tile, tile_block: &TileBlock, inverse: &Inverse) {
    let accumulators = tile_block.accumulators.as_flattened();
    let (rows, pairs) = (tile.features.gradient_rows(), tile.pairs.gradient_rows());
    let mut start = 0;
    for &(feature, end) in &inverse.features {
        let feature = feature as usize;
        let row = if feature < rows.len() { &mut rows[feature] } else { &mut pairs[feature - rows.len()] };
        let mut sum = *row;
        for &list in &inverse.lists[start as usize..end as usize] {
            add(&mut sum, &accumulators[usize::from(list)]);
        }
        *row = sum;
        start = end;
    }
}

/// Forward pass of a tile with a single layer.
fn single_forward(tile: &Tile, tile_block: &mut TileBlock, block: &Block) {
    let head = &tile.forward.head;
    let TileBlock { accumulators: sums, head_sums, .. } = tile_block;
    accumulators(tile, sums, &block.features, |i, bucket, accumulators| {
        let mut parts = [0.0; TILE];
        for (accumulator, head) in accumulators.iter().zip(&head[2 * bucket..]) {
            for i in 0..TILE {
                parts[i] += screlu(accumulator[i]) * head[i];
            }
        }
        head_sums[i] = sum(&parts);
    });
}

/// Computes the outputs of a single layer, their losses, and the derivatives with respect to the outputs.
fn single_output<'a>(
    tail: &[Tensor],
    tile_blocks: impl Iterator<Item = &'a TileBlock> + Clone,
    block: &mut Block,
    objective: Objective,
    weight: f32,
) {
    for (i, &bucket) in block.features.output_buckets.iter().enumerate() {
        let bucket = usize::from(bucket);
        let output = tile_blocks.clone().fold(tail[0].values[bucket], |sum, tile_block| sum + tile_block.head_sums[i]);
        let delta = objective.add_loss(&mut block.loss, output, block.targets[i]) * weight;
        block.outputs[i] = output;
        block.deltas[i] = delta;
        block.tail[0][bucket] += delta;
    }
}

/// Returns the sum of a row, always added in the same order.
fn sum(row: &Row) -> f32 {
    let mut parts = *row;
    let mut width = TILE / 2;
    while width > 0 {
        for i in 0..width {
            parts[i] += parts[i + width];
        }
        width /= 2;
    }
    parts[0]
}

/// Backward pass of a tile with a single layer: adds the gradients of one block to the tile's tensors, except those of
/// the feature weights, and replaces the accumulators by their gradients.
fn single_backward(tile: &mut Tile, tile_block: &mut TileBlock, block: &Block) {
    let Tile { bias, head, forward, .. } = tile;
    let weights = &forward.head;
    let head: &mut [Row] = head.gradient.as_chunks_mut().0;
    let bias: &mut Row = bias.gradient.first_chunk_mut().expect("a tile's biases are one row");
    let positions = block.features.output_buckets.iter().zip(&mut tile_block.accumulators);
    for ((&bucket, accumulators), &delta) in positions.zip(&block.deltas) {
        for (perspective, accumulator) in accumulators.iter_mut().enumerate() {
            let row = 2 * usize::from(bucket) + perspective;
            let (weights, head) = (&weights[row], &mut head[row]);
            for i in 0..TILE {
                let clipped = accumulator[i].clamp(0.0, 1.0);
                head[i] += delta * (clipped * clipped);
                // A clipped activation has derivative zero.
                let derivative = if clipped == accumulator[i] { clipped + clipped } else { 0.0 };
                accumulator[i] = delta * weights[i] * derivative;
                bias[i] += accumulator[i];
            }
        }
    }
}

/// Returns a tile's part of the inputs of the first of several layers: with two rows the squares of each side's clipped
/// activations, with one row their pairwise products, those of the side to move first. If `rounded` they are rounded
/// down as in the engine.
#[inline]
fn inputs<const ROWS: usize>(accumulators: &[Row; 2], rounded: bool) -> [Row; ROWS] {
    let mut inputs = [[0.0; TILE]; ROWS];
    let sides = inputs.as_flattened_mut().chunks_exact_mut(ROWS * PAIRS);
    for (inputs, accumulator) in sides.zip(accumulators) {
        for i in 0..ROWS * PAIRS {
            inputs[i] = accumulator[i].clamp(0.0, 1.0) * accumulator[partner::<ROWS>(i)].clamp(0.0, 1.0);
        }
    }
    if rounded {
        // An input that is a whole number of units may be computed as slightly less.
        inputs.as_flattened_mut().iter_mut().for_each(|input| *input = (*input * INPUT + 1e-3).floor() / INPUT);
    }
    inputs
}

/// Returns the neuron that is multiplied by neuron `i`: itself, or with one row of inputs that of the other half.
#[inline(always)]
const fn partner<const ROWS: usize>(i: usize) -> usize {
    TILE - ROWS * PAIRS + i
}

/// Forward pass of a tile with a first layer of `N` neurons.
fn layers_forward<const N: usize, const ROWS: usize>(tile: &Tile, tile_block: &mut TileBlock, block: &Block) {
    let transposed = transpose::<N, ROWS>(&tile.forward.head);
    let TileBlock { accumulators: sums, head_sums, inputs: input_sum } = tile_block;
    *input_sum = 0.0;
    let head_sums: &mut [[f32; N]] = head_sums.as_chunks_mut().0;
    accumulators(tile, sums, &block.features, |i, bucket, accumulators| {
        let inputs = inputs::<ROWS>(accumulators, tile.forward.rounded);
        *input_sum += inputs.iter().map(|row| f64::from(sum(row))).sum::<f64>();
        // Two sums, because an addition must wait for the one before.
        let mut neurons = [[0.0; N]; 2];
        let weights = transposed[ROWS * TILE * bucket..].as_chunks::<2>().0;
        for (inputs, weights) in inputs.as_flattened().as_chunks::<2>().0.iter().zip(weights) {
            for half in 0..2 {
                for n in 0..N {
                    neurons[half][n] += inputs[half] * weights[half][n];
                }
            }
        }
        head_sums[i] = std::array::from_fn(|n| neurons[0][n] + neurons[1][n]);
    });
}

/// Runs a block through several layers, the first of `N` and the second of `second` neurons: forward, and backward to
/// the sums of the first layer.
fn layers<'a, const N: usize>(
    tail: &[Tensor],
    second: usize,
    tile_blocks: impl Iterator<Item = &'a TileBlock> + Clone,
    block: &mut Block,
    objective: Objective,
    weight: f32,
) {
    let [bias1, weights2, bias2, weights3, bias3] = tail else { unreachable!("there are five") };
    for (i, &bucket) in block.features.output_buckets.iter().enumerate() {
        let bucket = usize::from(bucket);
        let mut sums1: [f32; N] = std::array::from_fn(|n| bias1.values[bucket * N + n]);
        for tile_block in tile_blocks.clone() {
            let head_sums = &tile_block.head_sums.as_chunks::<N>().0[i];
            for n in 0..N {
                sums1[n] += head_sums[n];
            }
        }
        let signed = sums1.map(|sum| sum.clamp(-1.0, 1.0));
        let layer1 = [sums1.map(|sum| sum.clamp(0.0, 1.0)), signed.map(|sum| sum * sum)];
        let weights2 = &weights2.values.as_chunks::<N>().0.as_chunks::<2>().0[bucket * second..][..second];
        let bias2 = &bias2.values[bucket * second..][..second];
        let (weights3, skip) = weights3.values[bucket * (second + N)..][..second + N].split_at(second);
        let sum2 = |(row, bias): (&[[f32; N]; 2], &f32)| dot(&row[0], &layer1[0]) + dot(&row[1], &layer1[1]) + bias;
        let sums2: Vec<f32> = weights2.iter().zip(bias2).map(sum2).collect();
        let mut output = bias3.values[bucket];
        for (&sum, weight) in sums2.iter().zip(weights3) {
            output += screlu(sum) * weight;
        }
        for (sum, weight) in sums1.iter().zip(skip) {
            output += sum * weight;
        }
        let delta = objective.add_loss(&mut block.loss, output, block.targets[i]) * weight;
        block.outputs[i] = output;

        let [grad_bias1, grad2, grad_bias2, grad3, grad_bias3] = &mut block.tail[..] else { unreachable!() };
        grad_bias3[bucket] += delta;
        let grad2 = &mut grad2.as_chunks_mut::<N>().0.as_chunks_mut::<2>().0[bucket * second..][..second];
        let (grad3, grad_skip) = grad3[bucket * (second + N)..][..second + N].split_at_mut(second);
        let mut grad_layer1 = [[0.0; N]; 2];
        for k in 0..second {
            grad3[k] += delta * screlu(sums2[k]);
            let delta2 = delta * weights3[k] * screlu_derivative(sums2[k]);
            grad_bias2[bucket * second + k] += delta2;
            for part in 0..2 {
                for n in 0..N {
                    grad2[k][part][n] += delta2 * layer1[part][n];
                    grad_layer1[part][n] += delta2 * weights2[k][part][n];
                }
            }
        }
        for n in 0..N {
            grad_skip[n] += delta * sums1[n];
            let clipped = if (0.0..=1.0).contains(&sums1[n]) { grad_layer1[0][n] } else { 0.0 };
            let squared = if signed[n] == sums1[n] { 2.0 * signed[n] * grad_layer1[1][n] } else { 0.0 };
            let delta1 = delta * skip[n] + clipped + squared;
            grad_bias1[bucket * N + n] += delta1;
            block.deltas[i * N + n] = delta1;
        }
    }
}

/// Transposes the head's rows, `ROWS` by (output bucket, neuron), into rows of `N` neurons by (output bucket, input).
fn transpose<const N: usize, const ROWS: usize>(rows: &[Row]) -> Vec<[f32; N]> {
    let buckets = rows.as_chunks::<ROWS>().0.as_chunks::<N>().0.iter();
    let input = |bucket: &[[Row; ROWS]; N], i| std::array::from_fn(|n| bucket[n].as_flattened()[i]);
    buckets.flat_map(|bucket| (0..ROWS * TILE).map(|i| input(bucket, i))).collect()
}

fn dot<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f32 {
    let mut parts = [0.0; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for i in 0..8 {
            parts[i] += a[i] * b[i];
        }
    }
    parts.iter().sum()
}

/// Squared clipped ReLU.
fn screlu(sum: f32) -> f32 {
    let clipped = sum.clamp(0.0, 1.0);
    clipped * clipped
}

fn screlu_derivative(sum: f32) -> f32 {
    if (0.0..=1.0).contains(&sum) { 2.0 * sum } else { 0.0 }
}

/// Backward pass of a tile with several layers: adds the gradients of one block to the tile's tensors, except those of
/// the feature weights, and replaces the accumulators by their gradients. `penalty` is the derivative of the loss by
/// each input of the first layer, besides what comes from the head.
fn layers_backward<const ROWS: usize>(tile: &mut Tile, tile_block: &mut TileBlock, block: &Block, penalty: f32) {
    let Tile { bias, head, forward, .. } = tile;
    let weights = forward.head.as_chunks::<ROWS>().0;
    let head: &mut [[Row; ROWS]] = head.gradient.as_chunks_mut().0.as_chunks_mut().0;
    let bias: &mut Row = bias.gradient.first_chunk_mut().expect("a tile's biases are one row");
    let positions = block.features.output_buckets.iter().zip(&mut tile_block.accumulators);
    let width = block.deltas.len() / BLOCK;
    for ((&bucket, accumulators), deltas) in positions.zip(block.deltas.chunks_exact(width)) {
        let inputs = inputs::<ROWS>(accumulators, forward.rounded);
        let mut input_gradient = [[penalty; TILE]; ROWS];
        let bucket = width * usize::from(bucket)..width * (usize::from(bucket) + 1);
        // With four neurons at once, the compiler makes vectors of a row's numbers; with one, of those of several rows.
        let weights = weights[bucket.clone()].as_chunks::<4>().0.iter();
        let head = head[bucket].as_chunks_mut::<4>().0;
        for ((weights, head), deltas) in weights.zip(head).zip(deltas.as_chunks::<4>().0) {
            for row in 0..ROWS {
                for i in 0..TILE {
                    for n in 0..4 {
                        head[n][row][i] += deltas[n] * inputs[row][i];
                    }
                }
                for i in 0..TILE {
                    for n in 0..4 {
                        input_gradient[row][i] += deltas[n] * weights[n][row][i];
                    }
                }
            }
        }
        let sides = input_gradient.as_flattened().chunks_exact(ROWS * PAIRS);
        for (accumulator, input_gradient) in accumulators.iter_mut().zip(sides) {
            let mut gradient = [0.0; TILE];
            for i in 0..ROWS * PAIRS {
                let partner = partner::<ROWS>(i);
                let (left, right) = (accumulator[i], accumulator[partner]);
                let (clipped_left, clipped_right) = (left.clamp(0.0, 1.0), right.clamp(0.0, 1.0));
                gradient[i] += if left == clipped_left { input_gradient[i] * clipped_right } else { 0.0 };
                gradient[partner] += if right == clipped_right { input_gradient[i] * clipped_left } else { 0.0 };
            }
            *accumulator = gradient;
            for i in 0..TILE {
                bias[i] += accumulator[i];
            }
        }
    }
}
