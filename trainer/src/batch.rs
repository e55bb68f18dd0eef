//! Batches: forward pass, loss, backpropagation and optimiser step.
//!
//! A batch is cut into blocks of positions, independent of the number of threads. In the first phase, each thread takes
//! whole blocks, runs them forward and backpropagates through the head. In the second, each thread takes whole tiles of
//! neurons and adds up their gradients over the blocks, in the order of the blocks. So no sum depends on the number of
//! threads, no two threads write the same weight, and no thread needs its own copy of the gradient.

use crate::network::{FeatureSet, Features, Network, OptimiserStep, PAIRS, Row, SCALE, TILE, Tensor, Tile};
use bulletformat::{BulletFormat, ChessBoard};
use kiln_gen::network::Head;
use rayon::prelude::*;
use std::ops::Range;

/// Positions in a block.
const BLOCK: usize = 128;
/// Blocks per phase: enough for many threads, few enough that their accumulators stay in the cache.
const GROUP: usize = 16;

/// How search score and game result are blended into the training target.
#[derive(Clone, Copy, Debug)]
pub struct TargetBlend {
    /// WDL proportion λ, 0 to 1: weight of the game result. The search score has weight 1 − λ.
    pub wdl: f32,
}

impl TargetBlend {
    /// Returns the target λ · result + (1 − λ) · σ(score / [`SCALE`]), from 0 to 1, for the side to move.
    pub fn target(self, board: &ChessBoard) -> f32 {
        let score = sigmoid(f32::from(board.score()) / f32::from(SCALE));
        self.wdl * board.result() + (1.0 - self.wdl) * score
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Runs batches through a network. Owns the buffers for activations and gradients.
///
/// The methods take positions as a function from index to position, for the indices below `count`. The loss of a
/// position is (σ(output) − target)².
pub struct BatchProcessor {
    feature_set: FeatureSet,
    blocks: Vec<Block>,
}

/// Buffers for up to [`BLOCK`] positions.
struct Block {
    /// Active features by position.
    features: Vec<Features>,
    /// Targets by position.
    targets: Vec<f32>,
    /// Accumulators by (tile, position, perspective).
    accumulators: Vec<[Row; 2]>,
    /// Weighted sums of the activations by position: with a single layer, [`TILE`] partial sums of the output; with
    /// several, one sum per neuron of the first layer.
    head_sums: Vec<Row>,
    /// Derivatives of the loss by (position, sum of the head's first layer).
    deltas: Vec<f32>,
    /// Network outputs by position, in units of [`SCALE`] centipawns.
    outputs: Vec<f32>,
    /// Gradients of [`Network::tail`].
    tail: Vec<Vec<f32>>,
    /// Sum of the losses.
    loss: f64,
}

impl Block {
    fn new(network: &Network) -> Self {
        Self {
            features: Vec::with_capacity(BLOCK),
            targets: Vec::with_capacity(BLOCK),
            accumulators: vec![[[0.0; TILE]; 2]; network.tiles.len() * BLOCK],
            head_sums: vec![[0.0; TILE]; BLOCK],
            deltas: vec![0.0; BLOCK * first_width(network)],
            outputs: vec![0.0; BLOCK],
            tail: network.tail.iter().map(|tensor| vec![0.0; tensor.values.len()]).collect(),
            loss: 0.0,
        }
    }

    fn fill(&mut self, feature_set: &FeatureSet, positions: impl Iterator<Item = ChessBoard>, blend: TargetBlend) {
        self.features.clear();
        self.targets.clear();
        for board in positions {
            self.features.push(feature_set.features(&board));
            self.targets.push(blend.target(&board));
        }
    }

    fn accumulators(&self, tile: usize) -> &[[Row; 2]] {
        &self.accumulators[tile * BLOCK..][..self.features.len()]
    }
}

/// Returns the number of neurons in the head's first layer.
fn first_width(network: &Network) -> usize {
    match network.header().head {
        Head::Single => 1,
        Head::Layers { first, .. } => first as usize,
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
        }
    }

    /// Trains on one batch of `count` positions. Returns the sum of their losses before the update.
    pub fn train_batch<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &mut Network,
        count: usize,
        position: F,
        blend: TargetBlend,
        step: OptimiserStep,
    ) -> f64 {
        let loss = self.gradient(network, count, position, blend);
        network.tiles.par_iter_mut().for_each(|tile| tile.update(step));
        network.tail.iter_mut().for_each(|tensor| tensor.update(step));
        loss
    }

    /// Adds the gradient of the mean loss of `count` positions to the network's tensors. Returns the sum of the losses.
    pub fn gradient<F: Fn(usize) -> ChessBoard + Sync>(
        &mut self,
        network: &mut Network,
        count: usize,
        position: F,
        blend: TargetBlend,
    ) -> f64 {
        let mut loss = 0.0;
        for range in groups(count) {
            let used = self.run_blocks(network, range, &position, blend, 1.0 / count as f32);
            loss += used.iter().map(|block| block.loss).sum::<f64>();
            for block in used.iter() {
                for (tensor, gradient) in network.tail.iter_mut().zip(&block.tail) {
                    tensor.gradient.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient);
                }
            }
            let head = network.header().head;
            network.tiles.par_iter_mut().enumerate().for_each(|(number, tile)| match head {
                Head::Single => used.iter().for_each(|block| single_backward(tile, number, block)),
                Head::Layers { .. } => used.iter().for_each(|block| pairwise_backward(tile, number, block)),
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
        blend: TargetBlend,
    ) -> f64 {
        groups(count)
            .map(|range| {
                let used = self.run_blocks(network, range, &position, blend, 0.0);
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
            for block in self.run_blocks(network, range, &position, TargetBlend { wdl: 0.0 }, 0.0) {
                scores.extend(block.outputs[..block.features.len()].iter().map(|output| output * f32::from(SCALE)));
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
        blend: TargetBlend,
        weight: f32,
    ) -> &[Block] {
        let feature_set = &self.feature_set;
        let used = &mut self.blocks[..range.len().div_ceil(BLOCK)];
        used.par_iter_mut().enumerate().for_each(|(number, block)| {
            let start = range.start + number * BLOCK;
            let end = range.end.min(start + BLOCK);
            block.fill(feature_set, (start..end).map(position), blend);
            block.head_sums.fill([0.0; TILE]);
            block.tail.iter_mut().for_each(|gradient| gradient.fill(0.0));
            block.loss = 0.0;
            match network.header().head {
                Head::Single => {
                    network.tiles.iter().enumerate().for_each(|(number, tile)| single_forward(tile, number, block));
                    single_output(&network.tail, block, weight);
                }
                Head::Layers { first: 16, second } => layers::<16>(network, second as usize, block, weight),
                Head::Layers { second, .. } => layers::<32>(network, second as usize, block, weight),
            }
        });
        used
    }
}

/// Returns a tile's accumulators of both perspectives.
#[inline]
fn accumulate(weights: &[Row], bias: &Row, features: &Features) -> [Row; 2] {
    let mut sums = [*bias; 2];
    let [own, other] = &features.indices;
    for (&own, &other) in own.iter().zip(other).take(features.count) {
        let (own, other) = (&weights[usize::from(own)], &weights[usize::from(other)]);
        for i in 0..TILE {
            sums[0][i] += own[i];
            sums[1][i] += other[i];
        }
    }
    sums
}

/// Adds the gradient of both perspectives' accumulators to the active features' gradient rows and to that of the bias.
#[inline]
fn scatter(gradient: &mut [Row], bias: &mut Row, features: &Features, accumulators: &[Row; 2]) {
    let [own, other] = &features.indices;
    for (&own, &other) in own.iter().zip(other).take(features.count) {
        let row = &mut gradient[usize::from(own)];
        for i in 0..TILE {
            row[i] += accumulators[0][i];
        }
        let row = &mut gradient[usize::from(other)];
        for i in 0..TILE {
            row[i] += accumulators[1][i];
        }
    }
    for i in 0..TILE {
        bias[i] += accumulators[0][i] + accumulators[1][i];
    }
}

fn one_row(values: &[f32]) -> &Row {
    values.first_chunk().expect("a tile's biases are one row")
}

/// Forward pass of a tile with a single layer: adds the weighted SCReLU activations to `head_sums`, which
/// [`single_output`] sums up.
fn single_forward(tile: &Tile, number: usize, block: &mut Block) {
    let (weights, bias, head) = (tile.feature_weights(), one_row(&tile.bias.values), tile.head.rows());
    let accumulators = &mut block.accumulators[number * BLOCK..][..block.features.len()];
    for ((features, accumulators), head_sums) in block.features.iter().zip(accumulators).zip(&mut block.head_sums) {
        *accumulators = accumulate(weights, bias, features);
        for (perspective, accumulator) in accumulators.iter().enumerate() {
            let head = &head[2 * features.output_bucket + perspective];
            for i in 0..TILE {
                head_sums[i] += screlu(accumulator[i]) * head[i];
            }
        }
    }
}

/// Computes the outputs of a single layer, their losses, and the derivatives with respect to the outputs.
fn single_output(tail: &[Tensor], block: &mut Block, weight: f32) {
    for (i, features) in block.features.iter().enumerate() {
        let bucket = features.output_bucket;
        let output = sum(&block.head_sums[i]) + tail[0].values[bucket];
        let delta = add_loss(&mut block.loss, output, block.targets[i]) * weight;
        block.outputs[i] = output;
        block.deltas[i] = delta;
        block.tail[0][bucket] += delta;
    }
}

/// Adds the loss of an output to `loss`. Returns its derivative with respect to the output.
fn add_loss(loss: &mut f64, output: f32, target: f32) -> f32 {
    let predicted = sigmoid(output);
    let error = predicted - target;
    *loss += f64::from(error * error);
    2.0 * error * predicted * (1.0 - predicted)
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

/// Backward pass of a tile with a single layer: adds the gradients of one block to the tile's tensors.
fn single_backward(tile: &mut Tile, number: usize, block: &Block) {
    let Tile { features: feature_tensor, bias, head, .. } = tile;
    let weights: &[Row] = head.values.as_chunks().0;
    let head: &mut [Row] = head.gradient.as_chunks_mut().0;
    let rows: &mut [Row] = feature_tensor.gradient.as_chunks_mut().0;
    let bias: &mut Row = bias.gradient.first_chunk_mut().expect("a tile's biases are one row");
    for ((features, accumulators), &delta) in block.features.iter().zip(block.accumulators(number)).zip(&block.deltas) {
        let mut gradients = [[0.0; TILE]; 2];
        for perspective in 0..2 {
            let (accumulator, gradient) = (&accumulators[perspective], &mut gradients[perspective]);
            let row = 2 * features.output_bucket + perspective;
            let (weights, head) = (&weights[row], &mut head[row]);
            for i in 0..TILE {
                let clipped = accumulator[i].clamp(0.0, 1.0);
                head[i] += delta * (clipped * clipped);
                // A clipped activation has derivative zero.
                let derivative = if clipped == accumulator[i] { clipped + clipped } else { 0.0 };
                gradient[i] = delta * weights[i] * derivative;
            }
        }
        scatter(rows, bias, features, &gradients);
    }
}

/// Returns a tile's pairwise products of clipped activations: those of the side to move, then those of the other side.
#[inline]
fn products(accumulators: &[Row; 2]) -> Row {
    std::array::from_fn(|i| {
        let accumulator = &accumulators[i / PAIRS];
        accumulator[i % PAIRS].clamp(0.0, 1.0) * accumulator[PAIRS + i % PAIRS].clamp(0.0, 1.0)
    })
}

/// Runs a block through pairwise products and three layers, the first of `N` and the second of `second` neurons:
/// forward, and backward to the sums of the first layer.
fn layers<const N: usize>(network: &Network, second: usize, block: &mut Block, weight: f32) {
    for (number, tile) in network.tiles.iter().enumerate() {
        let (weights, bias) = (tile.feature_weights(), one_row(&tile.bias.values));
        let transposed = transpose::<N>(tile.head.rows());
        let accumulators = &mut block.accumulators[number * BLOCK..][..block.features.len()];
        for ((features, accumulators), head_sums) in block.features.iter().zip(accumulators).zip(&mut block.head_sums) {
            *accumulators = accumulate(weights, bias, features);
            let products = products(accumulators);
            let mut neurons = [0.0; N];
            for (product, weights) in products.iter().zip(&transposed[TILE * features.output_bucket..]) {
                for n in 0..N {
                    neurons[n] += product * weights[n];
                }
            }
            for n in 0..N {
                head_sums[n] += neurons[n];
            }
        }
    }
    let [bias1, weights2, bias2, weights3, bias3] = &network.tail[..] else { unreachable!("there are five") };
    for (i, features) in block.features.iter().enumerate() {
        let bucket = features.output_bucket;
        let sums1: [f32; N] = std::array::from_fn(|n| block.head_sums[i][n] + bias1.values[bucket * N + n]);
        let layer1 = sums1.map(screlu);
        let weights2 = &weights2.values.as_chunks::<N>().0[bucket * second..][..second];
        let bias2 = &bias2.values[bucket * second..][..second];
        let weights3 = &weights3.values[bucket * second..][..second];
        let sums2: Vec<f32> = weights2.iter().zip(bias2).map(|(row, bias)| dot(row, &layer1) + bias).collect();
        let mut output = bias3.values[bucket];
        for (&sum, weight) in sums2.iter().zip(weights3) {
            output += screlu(sum) * weight;
        }
        let delta = add_loss(&mut block.loss, output, block.targets[i]) * weight;
        block.outputs[i] = output;

        let [grad_bias1, grad2, grad_bias2, grad3, grad_bias3] = &mut block.tail[..] else { unreachable!() };
        grad_bias3[bucket] += delta;
        let grad2 = &mut grad2.as_chunks_mut::<N>().0[bucket * second..][..second];
        let mut grad_layer1 = [0.0; N];
        for k in 0..second {
            grad3[bucket * second + k] += delta * screlu(sums2[k]);
            let delta2 = delta * weights3[k] * screlu_derivative(sums2[k]);
            grad_bias2[bucket * second + k] += delta2;
            for n in 0..N {
                grad2[k][n] += delta2 * layer1[n];
                grad_layer1[n] += delta2 * weights2[k][n];
            }
        }
        for n in 0..N {
            let delta1 = grad_layer1[n] * screlu_derivative(sums1[n]);
            grad_bias1[bucket * N + n] += delta1;
            block.deltas[i * N + n] = delta1;
        }
    }
}

/// Transposes the head's rows by (output bucket, neuron) into rows of `N` neurons by (output bucket, product).
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

/// Squared clipped ReLU.
fn screlu(sum: f32) -> f32 {
    let clipped = sum.clamp(0.0, 1.0);
    clipped * clipped
}

fn screlu_derivative(sum: f32) -> f32 {
    if (0.0..=1.0).contains(&sum) { 2.0 * sum } else { 0.0 }
}

/// Backward pass of a tile with pairwise products: adds the gradients of one block to the tile's tensors.
fn pairwise_backward(tile: &mut Tile, number: usize, block: &Block) {
    let Tile { features: feature_tensor, bias, head, .. } = tile;
    let weights: &[Row] = head.values.as_chunks().0;
    let head: &mut [Row] = head.gradient.as_chunks_mut().0;
    let rows: &mut [Row] = feature_tensor.gradient.as_chunks_mut().0;
    let bias: &mut Row = bias.gradient.first_chunk_mut().expect("a tile's biases are one row");
    let width = block.deltas.len() / BLOCK;
    let deltas = block.deltas.chunks_exact(width);
    for ((features, accumulators), deltas) in block.features.iter().zip(block.accumulators(number)).zip(deltas) {
        let products = products(accumulators);
        let mut product_gradient = [0.0; TILE];
        let bucket = width * features.output_bucket..width * (features.output_bucket + 1);
        for ((weights, head), &delta) in weights[bucket.clone()].iter().zip(&mut head[bucket]).zip(deltas) {
            for i in 0..TILE {
                head[i] += delta * products[i];
                product_gradient[i] += delta * weights[i];
            }
        }
        let mut gradients = [[0.0; TILE]; 2];
        for perspective in 0..2 {
            let (accumulator, gradient) = (&accumulators[perspective], &mut gradients[perspective]);
            for i in 0..PAIRS {
                let product_gradient = product_gradient[perspective * PAIRS + i];
                let (left, right) = (accumulator[i], accumulator[PAIRS + i]);
                let (clipped_left, clipped_right) = (left.clamp(0.0, 1.0), right.clamp(0.0, 1.0));
                gradient[i] = if left == clipped_left { product_gradient * clipped_right } else { 0.0 };
                gradient[PAIRS + i] = if right == clipped_right { product_gradient * clipped_left } else { 0.0 };
            }
        }
        scatter(rows, bias, features, &gradients);
    }
}
