//! One batch: what the network makes of the positions, how wrong it is, and a step that makes it less so.
//!
//! A batch is cut into blocks of positions, whatever the number of threads. First each thread takes blocks and computes outputs and their errors;
//! then each takes tiles of neurons, and adds up what all blocks say of them, in the order of the blocks. So no sum depends on the threads,
//! no weight is written by two of them, and there is no copy of the gradient for each thread.

use crate::network::{Eyes, Network, PAIRS, Row, SCALE, Seen, Step, TILE, Tensor, Tile};
use bulletformat::{BulletFormat, ChessBoard};
use kiln_gen::network::Head;
use rayon::prelude::*;

/// Positions in a block.
const BLOCK: usize = 128;
/// Blocks between two changes from blocks to tiles: enough for many threads, few enough that the sums of all stay in the cache.
const GROUP: usize = 16;

/// What the outputs are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Share of the game's result; the rest is the score's.
    pub result: f32,
}

impl Target {
    /// The wanted chance to win for the side to move, a draw counting half.
    pub fn of(self, board: &ChessBoard) -> f32 {
        let score = sigmoid(f32::from(board.score()) / f32::from(SCALE));
        self.result * board.result() + (1.0 - self.result) * score
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes batches. It keeps the memory they need.
pub struct Worker {
    eyes: Eyes,
    blocks: Vec<Block>,
}

/// A few positions on their way through the network.
struct Block {
    seen: Vec<Seen>,
    targets: Vec<f32>,
    /// Accumulators by (tile, position, side to move or other side).
    sums: Vec<[Row; 2]>,
    /// What the activations add up to, by position: rows still to be summed with a single layer, neurons of the first of several layers.
    first: Vec<Row>,
    /// By (position, neuron of the first layer): how the loss changes with it.
    errors: Vec<f32>,
    outputs: Vec<f32>,
    /// Gradients of [`Network::tail`].
    tail: Vec<Vec<f32>>,
    loss: f64,
}

impl Block {
    fn new(network: &Network) -> Self {
        Self {
            seen: Vec::with_capacity(BLOCK),
            targets: Vec::with_capacity(BLOCK),
            sums: vec![[[0.0; TILE]; 2]; network.tiles.len() * BLOCK],
            first: vec![[0.0; TILE]; BLOCK],
            errors: vec![0.0; BLOCK * first_width(network)],
            outputs: vec![0.0; BLOCK],
            tail: network.tail.iter().map(|tensor| vec![0.0; tensor.values.len()]).collect(),
            loss: 0.0,
        }
    }

    fn fill(&mut self, eyes: &Eyes, positions: impl Iterator<Item = ChessBoard>, target: Target) {
        self.seen.clear();
        self.targets.clear();
        for board in positions {
            self.seen.push(eyes.see(&board));
            self.targets.push(target.of(&board));
        }
    }

    fn sums(&self, tile: usize) -> &[[Row; 2]] {
        &self.sums[tile * BLOCK..][..self.seen.len()]
    }
}

/// Neurons behind the activations.
fn first_width(network: &Network) -> usize {
    match network.header().head {
        Head::Single => 1,
        Head::Layers { first, .. } => first as usize,
    }
}

impl Worker {
    /// For networks of the shape of this one.
    pub fn new(network: &Network) -> Self {
        Self { eyes: Eyes::new(network.header()), blocks: (0..GROUP).map(|_| Block::new(network)).collect() }
    }

    /// Learns from `count` positions, told by their number. Returns the sum of the losses, before the step.
    pub fn train_batch<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &mut Network,
        count: usize,
        position: F,
        target: Target,
        step: Step,
    ) -> f64 {
        let loss = self.gradient(network, count, position, target);
        network.tiles.par_iter_mut().for_each(|tile| tile.step(step));
        network.tail.iter_mut().for_each(|tensor| tensor.step(step));
        loss
    }

    /// Adds the gradient of the mean loss over `count` positions to those of the network's tensors. Returns the sum of the losses.
    pub fn gradient<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &mut Network,
        count: usize,
        position: F,
        target: Target,
    ) -> f64 {
        let mut loss = 0.0;
        for start in (0..count).step_by(BLOCK * GROUP) {
            let end = count.min(start + BLOCK * GROUP);
            let used = self.forward(network, start..end, &position, target, 1.0 / count as f32);
            loss += used.iter().map(|block| block.loss).sum::<f64>();
            for block in used.iter() {
                for (tensor, gradient) in network.tail.iter_mut().zip(&block.tail) {
                    tensor.gradient.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient);
                }
            }
            let head = network.header().head;
            network.tiles.par_iter_mut().enumerate().for_each(|(number, tile)| match head {
                Head::Single => used.iter().for_each(|block| single_backward(tile, number, block)),
                Head::Layers { .. } => used.iter().for_each(|block| pairs_backward(tile, number, block)),
            });
        }
        loss
    }

    /// Sum of the losses of `count` positions.
    pub fn loss<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &Network,
        count: usize,
        position: F,
        target: Target,
    ) -> f64 {
        let groups = (0..count).step_by(BLOCK * GROUP);
        groups
            .map(|start| {
                let end = count.min(start + BLOCK * GROUP);
                let used = self.forward(network, start..end, &position, target, 0.0);
                used.iter().map(|block| block.loss).sum::<f64>()
            })
            .sum()
    }

    /// What the network says of `count` positions: centipawns for the side to move.
    pub fn evaluate<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &Network,
        count: usize,
        position: F,
    ) -> Vec<f32> {
        let mut scores = Vec::with_capacity(count);
        for start in (0..count).step_by(BLOCK * GROUP) {
            let end = count.min(start + BLOCK * GROUP);
            for block in self.forward(network, start..end, &position, Target { result: 0.0 }, 0.0) {
                scores.extend(block.outputs[..block.seen.len()].iter().map(|output| output * f32::from(SCALE)));
            }
        }
        scores
    }

    /// Fills as many blocks as these positions need, with outputs, losses and errors; the latter are multiplied by `weight`.
    fn forward<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &Network,
        range: std::ops::Range<usize>,
        position: &F,
        target: Target,
        weight: f32,
    ) -> &[Block] {
        let eyes = &self.eyes;
        let used = &mut self.blocks[..range.len().div_ceil(BLOCK)];
        used.par_iter_mut().enumerate().for_each(|(number, block)| {
            let start = range.start + number * BLOCK;
            let end = range.end.min(start + BLOCK);
            block.fill(eyes, (start..end).map(position), target);
            block.first.fill([0.0; TILE]);
            block.tail.iter_mut().for_each(|gradient| gradient.fill(0.0));
            block.loss = 0.0;
            match network.header().head {
                Head::Single => {
                    network.tiles.iter().enumerate().for_each(|(tile, weights)| single_forward(weights, tile, block));
                    single_output(&network.tail, block, weight);
                }
                Head::Layers { first: 16, second } => layers::<16>(network, second as usize, block, weight),
                Head::Layers { second, .. } => layers::<32>(network, second as usize, block, weight),
            }
        });
        used
    }
}

/// Both sides' accumulators of a tile.
#[inline]
fn accumulate(weights: &[Row], bias: &Row, seen: &Seen) -> [Row; 2] {
    let mut sums = [*bias; 2];
    let [own, other] = &seen.inputs;
    for (&own, &other) in own.iter().zip(other).take(seen.count) {
        let (own, other) = (&weights[usize::from(own)], &weights[usize::from(other)]);
        for i in 0..TILE {
            sums[0][i] += own[i];
            sums[1][i] += other[i];
        }
    }
    sums
}

/// Adds the gradients of both sides' accumulators to the rows of the inputs.
#[inline]
fn scatter(gradient: &mut [Row], bias: &mut Row, seen: &Seen, errors: &[Row; 2]) {
    let [own, other] = &seen.inputs;
    for (&own, &other) in own.iter().zip(other).take(seen.count) {
        let row = &mut gradient[usize::from(own)];
        for i in 0..TILE {
            row[i] += errors[0][i];
        }
        let row = &mut gradient[usize::from(other)];
        for i in 0..TILE {
            row[i] += errors[1][i];
        }
    }
    for i in 0..TILE {
        bias[i] += errors[0][i] + errors[1][i];
    }
}

fn one_row(tensor: &[f32]) -> &Row {
    tensor.first_chunk().expect("a tile's biases are one row")
}

/// Squared clipped activations, weighted; the rows are left to be summed.
fn single_forward(tile: &Tile, number: usize, block: &mut Block) {
    let (weights, bias, output) = (tile.inputs(), one_row(&tile.bias.values), tile.output.rows());
    let sums = &mut block.sums[number * BLOCK..][..block.seen.len()];
    for ((seen, sums), first) in block.seen.iter().zip(sums).zip(&mut block.first) {
        *sums = accumulate(weights, bias, seen);
        for (side, sums) in sums.iter().enumerate() {
            let output = &output[2 * seen.bucket + side];
            for i in 0..TILE {
                let clipped = sums[i].clamp(0.0, 1.0);
                first[i] += clipped * clipped * output[i];
            }
        }
    }
}

/// The outputs of a single layer, their losses and errors.
fn single_output(tail: &[Tensor], block: &mut Block, weight: f32) {
    for (i, seen) in block.seen.iter().enumerate() {
        let output = sum(&block.first[i]) + tail[0].values[seen.bucket];
        let error = judge(&mut block.loss, output, block.targets[i]) * weight;
        block.outputs[i] = output;
        block.errors[i] = error;
        block.tail[0][seen.bucket] += error;
    }
}

/// Adds the loss of an output; returns its derivative.
fn judge(loss: &mut f64, output: f32, target: f32) -> f32 {
    let chance = sigmoid(output);
    let error = chance - target;
    *loss += f64::from(error * error);
    2.0 * error * chance * (1.0 - chance)
}

/// The sum of a row, always in the same order.
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

fn single_backward(tile: &mut Tile, number: usize, block: &Block) {
    let Tile { features, bias, output, .. } = tile;
    let weights: &[Row] = output.values.as_chunks().0;
    let output: &mut [Row] = output.gradient.as_chunks_mut().0;
    let features: &mut [Row] = features.gradient.as_chunks_mut().0;
    let bias: &mut Row = bias.gradient.first_chunk_mut().expect("a tile's biases are one row");
    for ((seen, sums), &error) in block.seen.iter().zip(block.sums(number)).zip(&block.errors) {
        let mut errors = [[0.0; TILE]; 2];
        for side in 0..2 {
            let (sums, errors) = (&sums[side], &mut errors[side]);
            let (weights, output) = (&weights[2 * seen.bucket + side], &mut output[2 * seen.bucket + side]);
            for i in 0..TILE {
                let clipped = sums[i].clamp(0.0, 1.0);
                output[i] += error * (clipped * clipped);
                // Outside of the range that is not clipped, the two differ, and the derivative is zero.
                let slope = if clipped == sums[i] { clipped + clipped } else { 0.0 };
                errors[i] = error * weights[i] * slope;
            }
        }
        scatter(features, bias, seen, &errors);
    }
}

/// Products of both sides' clipped activations: those of the side to move, then those of the other side.
#[inline]
fn products(sums: &[Row; 2]) -> Row {
    std::array::from_fn(|i| {
        let sums = &sums[i / PAIRS];
        sums[i % PAIRS].clamp(0.0, 1.0) * sums[PAIRS + i % PAIRS].clamp(0.0, 1.0)
    })
}

/// Pairwise products and three layers, the first of `N` neurons, forward and, up to the sums of the first layer, backward.
fn layers<const N: usize>(network: &Network, second: usize, block: &mut Block, weight: f32) {
    for (number, tile) in network.tiles.iter().enumerate() {
        let (weights, bias) = (tile.inputs(), one_row(&tile.bias.values));
        let transposed = transpose::<N>(tile.output.rows());
        let sums = &mut block.sums[number * BLOCK..][..block.seen.len()];
        for ((seen, sums), first) in block.seen.iter().zip(sums).zip(&mut block.first) {
            *sums = accumulate(weights, bias, seen);
            let products = products(sums);
            let mut neurons = [0.0; N];
            for (product, weights) in products.iter().zip(&transposed[TILE * seen.bucket..]) {
                for n in 0..N {
                    neurons[n] += product * weights[n];
                }
            }
            for n in 0..N {
                first[n] += neurons[n];
            }
        }
    }
    let [first_bias, weights2, bias2, weights3, bias3] = &network.tail[..] else { unreachable!("there are five") };
    for (i, seen) in block.seen.iter().enumerate() {
        let bucket = seen.bucket;
        let sums: [f32; N] = std::array::from_fn(|n| block.first[i][n] + first_bias.values[bucket * N + n]);
        let layer1 = sums.map(squared);
        let weights2 = &weights2.values.as_chunks::<N>().0[bucket * second..][..second];
        let bias2 = &bias2.values[bucket * second..][..second];
        let weights3 = &weights3.values[bucket * second..][..second];
        let sums2: Vec<f32> = weights2.iter().zip(bias2).map(|(row, bias)| dot(row, &layer1) + bias).collect();
        let mut output = bias3.values[bucket];
        for (&sum, weight) in sums2.iter().zip(weights3) {
            output += squared(sum) * weight;
        }
        let error = judge(&mut block.loss, output, block.targets[i]) * weight;
        block.outputs[i] = output;

        let [first_bias, grad2, grad_bias2, grad3, grad_bias3] = &mut block.tail[..] else { unreachable!() };
        grad_bias3[bucket] += error;
        let grad2 = &mut grad2.as_chunks_mut::<N>().0[bucket * second..][..second];
        let mut errors1 = [0.0; N];
        for k in 0..second {
            grad3[bucket * second + k] += error * squared(sums2[k]);
            let error = error * weights3[k] * slope(sums2[k]);
            grad_bias2[bucket * second + k] += error;
            for n in 0..N {
                grad2[k][n] += error * layer1[n];
                errors1[n] += error * weights2[k][n];
            }
        }
        for n in 0..N {
            let error = errors1[n] * slope(sums[n]);
            first_bias[bucket * N + n] += error;
            block.errors[i * N + n] = error;
        }
    }
}

/// Rows of `N` neurons for each input from rows of inputs for each neuron.
fn transpose<const N: usize>(rows: &[Row]) -> Vec<[f32; N]> {
    let buckets = rows.as_chunks::<N>().0.iter();
    buckets.flat_map(|bucket| (0..TILE).map(|i| std::array::from_fn(|n| bucket[n][i]))).collect()
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

fn squared(sum: f32) -> f32 {
    let clipped = sum.clamp(0.0, 1.0);
    clipped * clipped
}

/// Derivative of [`squared`].
fn slope(sum: f32) -> f32 {
    if (0.0..=1.0).contains(&sum) { 2.0 * sum } else { 0.0 }
}

fn pairs_backward(tile: &mut Tile, number: usize, block: &Block) {
    let Tile { features, bias, output, .. } = tile;
    let weights: &[Row] = output.values.as_chunks().0;
    let output: &mut [Row] = output.gradient.as_chunks_mut().0;
    let features: &mut [Row] = features.gradient.as_chunks_mut().0;
    let bias: &mut Row = bias.gradient.first_chunk_mut().expect("a tile's biases are one row");
    let width = block.errors.len() / BLOCK;
    for ((seen, sums), first) in block.seen.iter().zip(block.sums(number)).zip(block.errors.chunks_exact(width)) {
        let products = products(sums);
        let mut towards = [0.0; TILE];
        let rows = width * seen.bucket..width * (seen.bucket + 1);
        for ((weights, output), &error) in weights[rows.clone()].iter().zip(&mut output[rows]).zip(first) {
            for i in 0..TILE {
                output[i] += error * products[i];
                towards[i] += error * weights[i];
            }
        }
        let mut errors = [[0.0; TILE]; 2];
        for side in 0..2 {
            let (sums, errors) = (&sums[side], &mut errors[side]);
            for i in 0..PAIRS {
                let towards = towards[side * PAIRS + i];
                let (left, right) = (sums[i], sums[PAIRS + i]);
                let (clipped_left, clipped_right) = (left.clamp(0.0, 1.0), right.clamp(0.0, 1.0));
                errors[i] = if left == clipped_left { towards * clipped_right } else { 0.0 };
                errors[PAIRS + i] = if right == clipped_right { towards * clipped_left } else { 0.0 };
            }
        }
        scatter(features, bias, seen, &errors);
    }
}
