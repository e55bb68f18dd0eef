//! The floating-point network: its tensors in tiles of neurons, its feature set, and conversion from and to an asset.
//!
//! A tile is a group of accumulator neurons with all their parameters: one row of weights per feature, the biases, and
//! the weights of the head's first layer that read these neurons. A tile's rows stay in the cache while many positions
//! pass. Tiles share nothing, so each can be trained by another thread without locks and without sums whose order
//! depends on the threads. If the head has pairwise products, a tile holds both neurons of each of its pairs.

use crate::factoriser::Family;
use crate::floats::Floats;
use anyhow::{Context, Result, ensure};
use bulletformat::ChessBoard;
use kiln::tables::{attacks, threat_pairs};
use kiln::types::{Bitboard, Color, Piece, PieceType, Square};
use kiln_gen::network::{Activations, Asset, Head, Header, THREAT_STATES, Threats, Weights, is_less, threat_state};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use std::ops::Range;
use std::{mem, slice};

/// Neurons in a tile. The width of an accumulator is a multiple of it.
pub const TILE: usize = 32;
/// Pairs of neurons in a tile whose activations are multiplied (pairwise products).
pub const PAIRS: usize = TILE / 2;
/// One number per neuron of a tile.
pub type Row = [f32; TILE];

/// Adds a row to a sum of rows.
#[inline]
pub(crate) fn add(sum: &mut Row, row: &Row) {
    for i in 0..TILE {
        sum[i] += row[i];
    }
}

/// Maximum magnitude of a weight: 505 steps of 1/255, as in the trainer bullet. It keeps accumulators of the quantised
/// network from overflowing.
const WEIGHT_LIMIT: f32 = 1.98;
/// Maximum magnitude of a weight of the head's first layer, which is quantised to a byte or multiplied by an activation
/// in 16 bits.
const HEAD_LIMIT: f32 = 127.0 / QB as f32;
/// Maximum magnitude of the weight of a pair of pieces, whose quantised weights are bytes.
const PAIR_LIMIT: f32 = 127.0 / QA as f32;
/// Quantisation of feature weights and activations: integer units per 1.0.
pub(crate) const QA: u16 = 255;
/// Quantisation of the weights of the head's first layer: integer units per 1.0. Networks of one layer have few weights
/// above 0.5, and most are below 0.1.
const QB: u16 = 90;
/// Maximum magnitude of a new feature weight: about 25 active features sum to a spread of a fifth of the unclipped
/// range.
pub(crate) const NEW_WEIGHT: f32 = 0.07;
/// Quantisation of the inputs of the first of several layers: integer units per 1.0.
pub(crate) const INPUT: f32 = QA as f32 * QA as f32 / 512.0;
/// Biases of the second of several layers at first.
pub(crate) const SECOND_BIAS: f32 = 0.3;
/// Centipawns per unit of output.
pub const SCALE: u16 = 400;

/// Returns the maximum magnitude of a new weight of the second of several layers, by the width of the first.
pub(crate) fn second_range(first: usize) -> f32 {
    (1.5 / first as f32).sqrt()
}

/// Returns `header` with the quantisation that [`Network`] uses.
pub fn with_quantisation(header: Header) -> Header {
    Header { qa: QA, qb: QB, scale: SCALE, ..header }
}

/// Trainable parameters with their gradient and AdamW state. All arrays have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensor {
    /// Parameter values.
    pub values: Floats,
    /// Gradient accumulated since the last update.
    pub gradient: Floats,
    /// Moving average of the gradient (first moment).
    pub first_moment: Floats,
    /// Moving average of the squared gradient (second moment).
    pub second_moment: Floats,
    /// The values toward which weight decay pulls; empty for zero.
    anchor: Floats,
    /// Maximum magnitude of a value after an update.
    limit: f32,
}

/// Hyperparameters of one AdamW step.
#[derive(Clone, Copy, Debug)]
pub struct OptimiserStep {
    /// Learning rate.
    pub learning_rate: f32,
    /// Number of this step, from 1, for bias correction.
    pub number: u64,
    /// Weight decay per unit of learning rate.
    pub weight_decay: f32,
    /// What is added to the root of the second moment.
    pub epsilon: f32,
}

/// The factors of an AdamW step (Loshchilov and Hutter 2019), after some number of steps in which the gradient was zero
/// and the values were left alone.
#[derive(Clone, Copy)]
struct Factors {
    /// What remains of the first moment, of the second, and of the values by weight decay.
    keep: [f32; 3],
    rate: f32,
    epsilon: f32,
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
/// The usual [`OptimiserStep::epsilon`].
pub const EPSILON: f32 = 1e-8;

impl OptimiserStep {
    /// Returns the factors for values that were last updated in the step before.
    fn factors(self) -> Factors {
        let correction = |beta: f32| 1.0 - f64::from(beta).powf(self.number as f64);
        // Bias correction: the moments start at zero.
        let root = correction(BETA2).sqrt() as f32;
        let rate = self.learning_rate * root / correction(BETA1) as f32;
        let keep = [BETA1, BETA2, 1.0 - self.learning_rate * self.weight_decay];
        Factors { keep, rate, epsilon: self.epsilon * root }
    }
}

impl Factors {
    /// Returns the factors for values that were last updated `steps` steps ago, given those for one step: moments and
    /// values decay once for each.
    fn after(self, steps: u64) -> Self {
        let steps = i32::try_from(steps).unwrap_or(i32::MAX);
        Self { keep: self.keep.map(|keep| keep.powi(steps)), ..self }
    }

    /// Updates values, whose decay is toward `anchor`, and moments, clamps the values to `limit` in magnitude, and
    /// zeroes the gradient.
    #[inline(always)]
    fn update(self, [values, gradient, first, second]: [&mut [f32]; 4], anchor: impl Iterator<Item = f32>, limit: f32) {
        let Self { keep: [keep1, keep2, keep], rate, epsilon } = self;
        let moments = first.iter_mut().zip(second);
        for (((value, gradient), (first, second)), anchor) in values.iter_mut().zip(gradient).zip(moments).zip(anchor) {
            *first = keep1 * *first + (1.0 - BETA1) * *gradient;
            *second = keep2 * *second + (1.0 - BETA2) * *gradient * *gradient;
            let updated = anchor + (*value - anchor) * keep - rate * *first / (second.sqrt() + epsilon);
            *value = updated.clamp(-limit, limit);
            *gradient = 0.0;
        }
    }
}

impl Tensor {
    /// Creates a tensor whose values stay within `limit` in magnitude.
    pub(crate) fn new(values: &[f32], limit: f32) -> Self {
        let zeros = || Floats::zeros(values.len());
        Self {
            values: values.into(),
            gradient: zeros(),
            first_moment: zeros(),
            second_moment: zeros(),
            anchor: Floats::zeros(0),
            limit,
        }
    }

    /// Lets weight decay pull toward the present values instead of zero (L2-SP, Li, Grandvalet and Davoine 2018).
    fn anchor(&mut self) {
        self.anchor = self.values.clone();
    }

    /// Updates the values by one AdamW step, clamps them, and zeroes the gradient.
    pub fn update(&mut self, step: OptimiserStep) {
        self.update_range(0..self.values.len(), step.factors());
    }

    /// Updates some rows of [`TILE`] values like [`Self::update`]. The number of the first row is `first`.
    fn update_rows(&mut self, updates: &[RowUpdate], first: usize) {
        for &RowUpdate { row, factors } in updates {
            let start = (row - first) * TILE;
            self.update_range(start..start + TILE, factors);
        }
    }

    #[inline]
    fn update_range(&mut self, range: Range<usize>, factors: Factors) {
        let Self { values, gradient, first_moment, second_moment, anchor, limit } = self;
        let parts = [values, gradient, first_moment, second_moment].map(|floats| &mut floats[range.clone()]);
        match anchor.get(range.clone()) {
            Some(anchor) => factors.update(parts, anchor.iter().copied(), *limit),
            None => factors.update(parts, range.map(|_| 0.0), *limit),
        }
    }

    /// Returns the values as rows of [`TILE`] numbers.
    pub fn rows(&self) -> &[Row] {
        self.values.as_chunks().0
    }

    /// Returns the values as rows of [`TILE`] numbers, to change them.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        self.values.as_chunks_mut().0
    }

    /// Clamps the values to the limit, as each update does.
    pub(crate) fn clamp(&mut self) {
        let limit = self.limit;
        self.values.iter_mut().for_each(|value| *value = value.clamp(-limit, limit));
    }

    /// Returns the gradient as rows of [`TILE`] numbers.
    pub(crate) fn gradient_rows(&mut self) -> &mut [Row] {
        self.gradient.as_chunks_mut().0
    }
}

/// A row of feature weights to update.
#[derive(Clone, Copy)]
struct RowUpdate {
    /// Feature, those of pairs of pieces after all others.
    row: usize,
    factors: Factors,
}

/// The parameters of [`TILE`] accumulator neurons. All tensors consist of rows of [`TILE`] numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Feature weights, one row per feature: (king bucket, threat state, plane, square). With a factoriser, what is
    /// added to the shared weights.
    pub features: Tensor,
    /// Weights of the features of pairs of pieces, one row per feature. Empty without them.
    pub pairs: Tensor,
    /// Factoriser: the weights that features share. Empty without one.
    pub factoriser: Vec<Family>,
    /// Biases of the accumulator, one row.
    pub bias: Tensor,
    /// Weights of the head's first layer. With a single layer, one row per (output bucket, perspective). With several
    /// layers, one row per (output bucket, neuron of the first layer, perspective), or, with pairwise products, per
    /// (output bucket, neuron): [`PAIRS`] weights for the products of the side to move, then as many for those of the
    /// other side.
    pub head: Tensor,
    /// What the forward pass reads.
    pub(crate) forward: Forward,
}

/// Weights of a tile that follow from its tensors and have the same rows, except that what features share is added to
/// each, and that they may be [rounded](Network::round).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Forward {
    pub features: Vec<Row>,
    pub pairs: Vec<Row>,
    pub bias: Row,
    pub head: Vec<Row>,
    /// Whether they, and the inputs of the first of several layers, are rounded.
    pub rounded: bool,
}

impl Tile {
    /// Recomputes [`Self::forward`], of the pairs only these rows.
    fn refresh(&mut self, pairs: impl Iterator<Item = usize>) {
        let Forward { features, pairs: of_pairs, bias, head, rounded } = &mut self.forward;
        features.clear();
        features.extend_from_slice(self.features.rows());
        self.factoriser.iter().for_each(|family| family.add_to(features));
        features.as_flattened_mut().iter_mut().for_each(|weight| *weight = weight.clamp(-WEIGHT_LIMIT, WEIGHT_LIMIT));
        of_pairs.resize(self.pairs.rows().len(), [0.0; TILE]);
        *bias = self.bias.rows()[0];
        head.clear();
        head.extend_from_slice(self.head.rows());
        if *rounded {
            round(features, QA);
            round(slice::from_mut(bias), QA);
            round(head, QB);
        }
        for row in pairs {
            of_pairs[row] = self.pairs.rows()[row];
            if *rounded {
                round(slice::from_mut(&mut of_pairs[row]), QA);
            }
        }
    }

    /// Sums the features' gradients for the factoriser.
    pub fn sum_factoriser_gradient(&mut self) {
        let Self { features, factoriser, .. } = self;
        factoriser.iter_mut().for_each(|family| family.sum_gradients(features.gradient_rows()));
    }

    /// Updates all tensors of the tile by one optimiser step, but only these rows of the feature weights.
    fn update(&mut self, step: OptimiserStep, rows: &[RowUpdate]) {
        self.sum_factoriser_gradient();
        let count = self.features.rows().len();
        let (features, pairs) = rows.split_at(rows.partition_point(|update| update.row < count));
        self.features.update_rows(features, 0);
        self.pairs.update_rows(pairs, count);
        let shared = self.factoriser.iter_mut().flat_map(Family::tensors_mut);
        shared.chain([&mut self.bias, &mut self.head]).for_each(|tensor| tensor.update(step));
        self.refresh(pairs.iter().map(|update| update.row - count));
    }
}

/// Rounds weights to multiples of 1 / `unit`.
fn round(weights: &mut [Row], unit: u16) {
    let unit = f32::from(unit);
    weights.as_flattened_mut().iter_mut().for_each(|weight| *weight = (*weight * unit).round_ties_even() / unit);
}

/// A network in floating point, with its optimiser state.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    header: Header,
    /// Accumulator neurons with their parameters: `hidden / TILE` tiles.
    pub tiles: Vec<Tile>,
    /// The head's other tensors, each by output bucket. With a single layer, the output bias. With several, first
    /// biases, second weights, second biases, third weights and third biases, in the order of [`Weights::Layers`].
    pub tail: Vec<Tensor>,
    /// Whether the gradient of a feature's weights may differ from zero.
    pub(crate) touched: Vec<bool>,
    /// The step that last updated a feature's weights, 0 before the first.
    pub(crate) updated: Vec<u64>,
}

impl Network {
    /// Creates a network of random weights, determined by `seed`. `factoriser` adds [weights that features
    /// share](crate::factoriser); it has no effect if there is only one king bucket and threat state.
    ///
    /// # Errors
    /// If the engine does not support the header.
    pub fn new(header: Header, factoriser: bool, seed: u64) -> Result<Self> {
        let header = with_quantisation(header);
        header.check().context("the engine does not support this network")?;
        let mut random = UniformRng::new(seed);
        let hidden = header.hidden as usize;
        let (planes, buckets) = (header.inputs.planes(), header.output_bucket_count());
        let sets = header.inputs.feature_set_count();
        let shared = random.floats(planes * 64 * hidden, 0.0, NEW_WEIGHT);
        let repeated = |values: Vec<f32>| values.repeat(buckets);
        let (head, tail) = match header.head {
            Head::Single => {
                let range = (3.0 / hidden as f32).sqrt();
                (repeated(random.floats(2 * hidden, 0.0, range)), vec![vec![0.0; buckets]])
            }
            Head::Layers { inputs, first, second } => {
                let (inputs, first, second) = (2 * inputs.count(hidden), first as usize, second as usize);
                // Products of activations are small and often zero; SCReLU passes gradients only for sums above zero.
                let range = (12.0 / inputs as f32).sqrt();
                let head = repeated(random.floats(first * inputs, 0.0, range));
                let third = [random.floats(second, 0.0, (3.0 / second as f32).sqrt()), vec![0.0; first]].concat();
                let tail = vec![
                    repeated(vec![0.3; first]),
                    repeated(random.floats(second * 2 * first, 0.0, second_range(first))),
                    repeated(vec![SECOND_BIAS; second]),
                    repeated(third),
                    vec![0.0; buckets],
                ];
                (head, tail)
            }
        };
        // A pair that no position has must not count.
        let pairs = vec![0.0; header.inputs.threats.pairs() * hidden];
        let tensors = AssetTensors { features: shared.repeat(sets), pairs, bias: vec![0.0; hidden], head, tail };
        Ok(Self::from_tensors(header, factoriser, &tensors))
    }

    /// Converts an asset. The factoriser starts with [means](Family::split) of its weights.
    ///
    /// # Errors
    /// If the asset's `qa` or `scale` differs from [`with_quantisation`].
    pub fn from_asset(asset: &Asset, factoriser: bool) -> Result<Self> {
        let Header { qa, qb, scale, ref name, .. } = asset.header;
        let (found, wanted) = ((qa, scale), (QA, SCALE));
        ensure!(found == wanted, "network {name:?} has qa and scale {found:?}; the trainer supports only {wanted:?}");
        let units = |values: &[i16], unit: u16| values.iter().map(|&v| f32::from(v) / f32::from(unit)).collect();
        let (head, tail) = match &asset.weights {
            Weights::Single { output, output_bias } => {
                let unit = f64::from(QA) * f64::from(qb);
                (units(output, qb), vec![output_bias.iter().map(|&b| (f64::from(b) / unit) as f32).collect()])
            }
            Weights::Layers { first, first_bias, second, second_bias, third, third_bias } => (
                first.iter().map(|&w| f32::from(w) / f32::from(qb)).collect(),
                [first_bias, second, second_bias, third, third_bias].map(Clone::clone).to_vec(),
            ),
        };
        let tensors = AssetTensors {
            features: units(&asset.features, QA),
            pairs: asset.pairs.iter().map(|&w| f32::from(w) / f32::from(QA)).collect(),
            bias: units(&asset.feature_bias, QA),
            head,
            tail,
        };
        Ok(Self::from_tensors(with_quantisation(asset.header.clone()), factoriser, &tensors))
    }

    /// Cuts tensors in asset order into tiles.
    fn from_tensors(header: Header, factoriser: bool, tensors: &AssetTensors) -> Self {
        let hidden = header.hidden as usize;
        let sets =
            [header.inputs.king_bucket_count(), header.inputs.feature_set_count() / header.inputs.king_bucket_count()];
        let pairwise = is_pairwise(&header);
        let tiles = (0..hidden / TILE)
            .map(|tile| {
                let neurons = tile_neurons(hidden, pairwise, tile);
                let cut = |values: &[f32]| -> Vec<f32> {
                    values.chunks_exact(hidden).flat_map(|row| neurons.map(|n| row[n])).collect()
                };
                let mut features = cut(&tensors.features);
                let shared =
                    if factoriser { Family::split(features.as_chunks_mut().0, sets, WEIGHT_LIMIT) } else { Vec::new() };
                Tile {
                    features: Tensor::new(&features, WEIGHT_LIMIT),
                    pairs: Tensor::new(&cut(&tensors.pairs), PAIR_LIMIT),
                    factoriser: shared,
                    bias: Tensor::new(&neurons.map(|n| tensors.bias[n]), WEIGHT_LIMIT),
                    head: Tensor::new(&cut(&tensors.head), HEAD_LIMIT),
                    forward: Forward::default(),
                }
            })
            .collect();
        let tail = tensors.tail.iter().map(|values| Tensor::new(values, WEIGHT_LIMIT)).collect();
        let count = (tensors.features.len() + tensors.pairs.len()) / hidden;
        let mut network = Self { header, tiles, tail, touched: vec![false; count], updated: vec![0; count] };
        network.refresh();
        network
    }

    /// Joins the tiles: the inverse of [`Self::from_tensors`].
    fn tensors(&self) -> AssetTensors {
        let hidden = self.header.hidden as usize;
        let pairwise = is_pairwise(&self.header);
        let Forward { features, pairs, .. } = &self.tiles[0].forward;
        let head: usize = self.tiles.iter().map(|tile| tile.head.values.len()).sum();
        let mut all = AssetTensors {
            features: vec![0.0; features.len() * hidden],
            pairs: vec![0.0; pairs.len() * hidden],
            bias: vec![0.0; hidden],
            head: vec![0.0; head],
            tail: self.tail.iter().map(|tensor| tensor.values.to_vec()).collect(),
        };
        for (number, tile) in self.tiles.iter().enumerate() {
            let neurons = tile_neurons(hidden, pairwise, number);
            let join = |all: &mut [f32], rows: &[Row]| {
                for (all, row) in all.chunks_exact_mut(hidden).zip(rows) {
                    neurons.iter().zip(row).for_each(|(&n, &value)| all[n] = value);
                }
            };
            join(&mut all.features, &tile.forward.features);
            join(&mut all.pairs, &tile.forward.pairs);
            join(&mut all.bias, &[tile.forward.bias]);
            join(&mut all.head, &tile.forward.head);
        }
        all
    }

    /// Quantises the network by rounding to the nearest integer; the later layers of a multi-layer head stay in
    /// floating point. The asset has this network's header.
    pub fn to_asset(&self) -> Asset {
        let AssetTensors { features, pairs, bias, head, tail } = self.tensors();
        let integers =
            |values: &[f32], unit: u16| values.iter().map(|v| (v * f32::from(unit)).round() as i16).collect::<Vec<_>>();
        let weights = match self.header.head {
            Head::Single => {
                let unit = f64::from(QA) * f64::from(QB);
                let output_bias = tail[0].iter().map(|&b| (f64::from(b) * unit).round() as i32).collect();
                Weights::Single { output: integers(&head, QB), output_bias }
            }
            Head::Layers { .. } => {
                let [first_bias, second, second_bias, third, third_bias] =
                    <[Vec<f32>; 5]>::try_from(tail).expect("the tail of a head with layers has five tensors");
                let first = integers(&head, QB).iter().map(|&w| w as i8).collect();
                Weights::Layers { first, first_bias, second, second_bias, third, third_bias }
            }
        };
        Asset {
            header: self.header.clone(),
            features: integers(&features, QA),
            feature_bias: integers(&bias, QA),
            pairs: integers(&pairs, QA).iter().map(|&w| w as i8).collect(),
            weights,
        }
    }

    /// Returns the header: name, architecture and quantisation.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns all tensors in a fixed order: those of each tile, then [`Self::tail`].
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        let tiles = self.tiles.iter_mut().flat_map(|tile| {
            let Tile { features, pairs, factoriser, bias, head, forward: _ } = tile;
            let shared = factoriser.iter_mut().flat_map(Family::tensors_mut);
            [features, pairs].into_iter().chain(shared).chain([bias, head])
        });
        tiles.chain(&mut self.tail).collect()
    }

    /// Updates the network by one optimiser step and zeroes the gradients.
    ///
    /// The weights of a feature that was in no position since the last step are left alone. When they are next updated,
    /// their moments and the weight decay catch up on the steps missed.
    pub fn update(&mut self, step: OptimiserStep) {
        let factors = step.factors();
        let mut rows = Vec::new();
        for (row, (touched, updated)) in self.touched.iter_mut().zip(&mut self.updated).enumerate() {
            if mem::take(touched) {
                rows.push(RowUpdate { row, factors: factors.after(step.number - *updated) });
                *updated = step.number;
            }
        }
        self.tiles.par_iter_mut().for_each(|tile| tile.update(step, &rows));
        self.tail.iter_mut().for_each(|tensor| tensor.update(step));
    }

    /// Returns a network with these values of the tensors, in the order of [`Self::tensors_mut`].
    ///
    /// # Panics
    /// If a tensor has another size.
    pub fn with_values(&self, values: &[Vec<f32>]) -> Self {
        let mut network = self.clone();
        for (tensor, values) in network.tensors_mut().into_iter().zip(values) {
            tensor.values.copy_from_slice(values);
        }
        network.refresh();
        network
    }

    /// Lets weight decay pull all values toward what they are now, instead of zero.
    pub fn anchor(&mut self) {
        self.tensors_mut().into_iter().for_each(Tensor::anchor);
    }

    /// Lets the forward pass, and so training, use the weights of features and of the head's first layer as they are
    /// rounded in the asset, and the inputs of the first of several layers as the engine rounds them. Each gradient is
    /// that of the rounded number and changes the exact one (straight-through estimator, Bengio, Léonard and Courville
    /// 2013).
    pub fn round(&mut self) {
        self.tiles.iter_mut().for_each(|tile| tile.forward.rounded = true);
        self.refresh();
    }

    /// Recomputes what the forward pass reads. Call it after changing values other than by [`Self::update`].
    pub fn refresh(&mut self) {
        self.tiles.iter_mut().for_each(|tile| tile.refresh(0..tile.pairs.rows().len()));
    }
}

/// The tensors of a network in the order of an asset, without tiles or factoriser.
struct AssetTensors {
    features: Vec<f32>,
    pairs: Vec<f32>,
    bias: Vec<f32>,
    head: Vec<f32>,
    tail: Vec<Vec<f32>>,
}

/// Returns whether the head has pairwise products.
fn is_pairwise(header: &Header) -> bool {
    matches!(header.head, Head::Layers { inputs: Activations::Products, .. })
}

/// Returns the accumulator neurons of a tile.
///
/// These are also the tile's columns in the head's first layer, whose rows in asset order are `hidden` wide: the
/// neurons of one perspective, or with pairwise products those of the side to move and then those of the other side.
fn tile_neurons(hidden: usize, pairwise: bool, tile: usize) -> [usize; TILE] {
    std::array::from_fn(|i| match (pairwise, i < PAIRS) {
        (false, _) => tile * TILE + i,
        (true, true) => tile * PAIRS + i,
        (true, false) => hidden / 2 + tile * PAIRS + i - PAIRS,
    })
}

/// Uniformly distributed numbers.
pub(crate) struct UniformRng(Xoshiro256PlusPlus);

impl UniformRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns `count` numbers from `middle - range` to `middle + range`.
    pub(crate) fn floats(&mut self, count: usize, middle: f32, range: f32) -> Vec<f32> {
        // An `f32` represents 24 bits exactly.
        let mut unit = || (self.0.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        (0..count).map(|_| middle + range * unit()).collect()
    }
}

/// A feature set: lookup tables that map positions to active features.
#[derive(Clone, Debug)]
pub struct FeatureSet {
    /// First feature of each plane by perspective (side to move, other side) and piece code.
    planes: [[u32; 16]; 2],
    /// By king square: the feature offset of the king bucket, and the XOR mask that mirrors squares.
    kings: [(u32, u8); 64],
    output_buckets: [u8; 33],
    /// Features from one threat state to the next; 0 without threat states.
    state_stride: u32,
    /// The first feature of pairs of pieces, if there are such features.
    first_pair: Option<u32>,
}

/// The active features of some positions: for each position, a list for the side to move and one for the other side.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// Feature indices, list after list. In each list, those of pairs of pieces come last.
    pub indices: Vec<u32>,
    /// Where each list ends.
    ends: Vec<u32>,
    /// Output bucket by position.
    pub output_buckets: Vec<u8>,
}

impl Features {
    /// Returns the number of positions.
    pub fn count(&self) -> usize {
        self.output_buckets.len()
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.ends.clear();
        self.output_buckets.clear();
    }

    /// Returns the lists: two for each position.
    pub fn lists(&self) -> impl Iterator<Item = &[u32]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.indices[start as usize..end as usize])
    }
}

impl FeatureSet {
    /// Builds the tables for a header.
    pub fn new(header: &Header) -> Self {
        let size = (header.inputs.planes() * 64) as u32;
        let (state_stride, bucket_stride) =
            if header.inputs.threats == Threats::States { (size, THREAT_STATES as u32 * size) } else { (0, size) };
        let plane = |piece: usize, own: usize| {
            let (color, kind) = (piece >> 3, piece & 7);
            let is_own = color == own || (kind == 5 && header.inputs.merged_kings);
            64 * (if is_own { kind } else { 6 + kind }) as u32
        };
        let planes = [0, 1].map(|own| std::array::from_fn(|piece| if piece & 7 < 6 { plane(piece, own) } else { 0 }));
        let kings = std::array::from_fn(|square| {
            let flip = if header.inputs.mirrored && square % 8 >= 4 { 7 } else { 0 };
            (bucket_stride * u32::from(header.inputs.king_buckets[square ^ flip]), flip as u8)
        });
        let first_pair =
            (header.inputs.threats == Threats::Pairs).then(|| header.inputs.king_bucket_count() as u32 * size);
        Self { planes, kings, output_buckets: header.output_buckets, state_stride, first_pair }
    }

    /// Adds a position to `features`.
    pub fn push(&self, board: &ChessBoard, features: &mut Features) {
        // A `ChessBoard` has squares from the side to move's view, except the other king's, from the other side's view.
        let kings = [(board.our_ksq(), 0), (board.opp_ksq(), 56)];
        let attacks = if self.state_stride > 0 { Attacks::of(board) } else { [Attacks::default(); 2] };
        let mut pairs = [[0; 4]; MOST_PAIRS];
        let pairs = self.first_pair.map(|first| (first, list_pairs(board, &mut pairs)));
        for (own, ((king, ranks), planes)) in kings.into_iter().zip(&self.planes).enumerate() {
            let (first, files) = self.kings[usize::from(king) & 63];
            let relative = |square: u8| square ^ ranks ^ files;
            for (piece, square) in *board {
                let piece = usize::from(piece) & 15;
                let (side, kind) = (piece / 8, piece % 8);
                let contains = |set: Bitboard| set.0 >> square & 1 == 1;
                let (friends, enemies) = (&attacks[side], &attacks[1 - side]);
                let state = threat_state(contains(enemies.all), contains(enemies.by_less[kind]), contains(friends.all));
                let set = first + self.state_stride * state as u32;
                features.indices.push(set + planes[piece] + u32::from(relative(square)));
            }
            if let Some((first, pairs)) = pairs {
                let table = threat_pairs();
                let place = |piece: u8, square: u8| {
                    (
                        usize::from(piece % 8) + if usize::from(piece / 8) == own { 0 } else { 6 },
                        relative(square).into(),
                    )
                };
                for &[attacker, from, victim, to] in pairs {
                    let ((attacker, from), (victim, to)) = (place(attacker, from), place(victim, to));
                    let feature = table.feature(attacker, from, victim, to);
                    features.indices.extend(feature.map(|feature| first + feature as u32));
                }
            }
            features.ends.push(features.indices.len() as u32);
        }
        features.output_buckets.push(self.output_buckets[board.occ().count_ones() as usize]);
    }
}

/// The most pairs of pieces of which one attacks the other: each of 30 pieces attacks at most eight.
const MOST_PAIRS: usize = 30 * 8;

/// Lists the pairs of pieces of which one, no king, attacks the other, no king either: piece code and square of the
/// attacker, then of the victim. Returns the part of `pairs` that was filled.
fn list_pairs<'a>(board: &ChessBoard, pairs: &'a mut [[u8; 4]; MOST_PAIRS]) -> &'a [[u8; 4]] {
    const KING: u8 = 5;
    let mut pieces = [KING; 64];
    let mut victims = 0;
    for (piece, square) in *board {
        pieces[usize::from(square)] = piece;
        victims |= u64::from(piece % 8 != KING) << square;
    }
    let mut count = 0;
    for from in Bitboard(victims) {
        let attacker = pieces[from.index()];
        let piece = Piece::new(Color::ALL[usize::from(attacker / 8)], PieceType::ALL[usize::from(attacker % 8)]);
        for to in Bitboard(attacks(piece, from, Bitboard(board.occ())).0 & victims) {
            pairs[count] = [attacker, from.index() as u8, pieces[to.index()], to.index() as u8];
            count += 1;
        }
    }
    &pairs[..count]
}

/// Squares attacked by one side.
#[derive(Clone, Copy, Default)]
struct Attacks {
    all: Bitboard,
    /// Squares attacked by a piece of less value than this piece type.
    by_less: [Bitboard; 6],
}

impl Attacks {
    /// Returns the attacks of the side to move, which a `ChessBoard` represents as White, and of the other side.
    fn of(board: &ChessBoard) -> [Self; 2] {
        let pieces = || board.into_iter().map(|(piece, square)| (usize::from(piece), Square::ALL[usize::from(square)]));
        let occupied = pieces().fold(Bitboard::EMPTY, |set, (_, square)| set | square.into());
        let mut found = [Self::default(); 2];
        for (piece, square) in pieces() {
            let (side, kind) = (piece >> 3 & 1, piece & 7);
            let targets = attacks(Piece::new(Color::ALL[side], PieceType::ALL[kind]), square, occupied);
            found[side].all |= targets;
            for than in (0..6).filter(|&than| is_less(kind, than)) {
                found[side].by_less[than] |= targets;
            }
        }
        found
    }
}
