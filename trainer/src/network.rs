//! The network in floating point: its tensors, cut into tiles of neurons, and the way from and to an asset.
//!
//! The neurons of the accumulators are cut into tiles, and each tile has all that belongs to its neurons: for each input a row of weights, so
//! that the rows of one tile stay in the cache while many positions pass, the biases, and the weights behind its activations. Nothing is shared
//! between tiles, so each can be trained by another thread without a lock and without sums whose order depends on the threads. Where layers
//! follow, a tile has the neurons of both halves whose activations are multiplied with each other.

use anyhow::{Context, Result, ensure};
use bulletformat::ChessBoard;
use kiln::tables::attacks;
use kiln::types::{Bitboard, Color, Piece, PieceType, Square};
use kiln_gen::network::{Asset, Head, Header, THREAT_STATES, Weights, is_less, threat_state};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Neurons in a tile. Accumulators are multiples of 32 wide.
pub const TILE: usize = 32;
/// Pairs of neurons in a tile whose activations are multiplied.
pub const PAIRS: usize = TILE / 2;
/// A number for each neuron of a tile.
pub type Row = [f32; TILE];

/// Largest magnitude of a weight: 127 steps of 1/64 and 505 of 1/255, as the trainer bullet has it. Then no product and no accumulator of the
/// quantised network overflows.
const LIMIT: f32 = 1.98;
/// Quantisation of feature weights and activations.
const QA: u16 = 255;
/// Quantisation of the weights behind the activations.
const QB: u16 = 64;
/// Centipawns for an output of 1.
pub const SCALE: u16 = 400;

/// The quantisation that goes with [`Network`], filled into a header.
pub fn with_quantisation(header: Header) -> Header {
    Header { qa: QA, qb: QB, scale: SCALE, ..header }
}

/// Numbers to be learnt, with what the optimiser remembers of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensor {
    /// The numbers.
    pub values: Vec<f32>,
    /// Sum of the gradients since the last step.
    pub gradient: Vec<f32>,
    /// Moving average of the gradient.
    pub first_moment: Vec<f32>,
    /// Moving average of its square.
    pub second_moment: Vec<f32>,
    /// Largest magnitude that a step leaves.
    limit: f32,
}

/// What a step of the optimiser needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Learning rate.
    pub rate: f32,
    /// Number of this step, from 1.
    pub number: u64,
    /// Share of a weight that is lost in a step, in units of the learning rate.
    pub decay: f32,
}

impl Tensor {
    fn new(values: Vec<f32>, limit: f32) -> Self {
        let zeros = vec![0.0; values.len()];
        Self { gradient: zeros.clone(), first_moment: zeros.clone(), second_moment: zeros, values, limit }
    }

    /// AdamW: a step against the gradient, which is set to zero.
    pub fn step(&mut self, step: Step) {
        const BETA1: f32 = 0.9;
        const BETA2: f32 = 0.999;
        let power = |beta: f32| 1.0 - f64::from(beta).powf(step.number as f64);
        // The averages start at zero, which these factors make up for.
        let root = power(BETA2).sqrt() as f32;
        let rate = step.rate * root / power(BETA1) as f32;
        let epsilon = 1e-8 * root;
        let keep = 1.0 - step.rate * step.decay;
        let limit = self.limit;
        let moments = self.first_moment.iter_mut().zip(&mut self.second_moment);
        for ((value, gradient), (first, second)) in self.values.iter_mut().zip(&mut self.gradient).zip(moments) {
            *first = BETA1 * *first + (1.0 - BETA1) * *gradient;
            *second = BETA2 * *second + (1.0 - BETA2) * *gradient * *gradient;
            let moved = *value * keep - rate * *first / (second.sqrt() + epsilon);
            *value = moved.clamp(-limit, limit);
            *gradient = 0.0;
        }
    }

    /// The numbers in rows of a tile's width.
    pub fn rows(&self) -> &[Row] {
        self.values.as_chunks().0
    }
}

/// What belongs to [`TILE`] neurons.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Weights by input, that is (king bucket, state, plane, square): what a set has beyond the factoriser, if there is one.
    pub features: Tensor,
    /// Weights by (plane, square) that all sets share; empty without factoriser.
    pub factor: Tensor,
    /// Sum of both, where there is a factoriser.
    merged: Vec<Row>,
    /// Where the accumulator starts.
    pub bias: Tensor,
    /// Weights of the activations. With a single layer rows by (output bucket, side to move or other side); with several rows by
    /// (output bucket, neuron of the first layer), each with the products of the side to move and then those of the other side.
    pub output: Tensor,
}

impl Tile {
    /// Weights by input, as the accumulators add them.
    pub fn inputs(&self) -> &[Row] {
        if self.merged.is_empty() { self.features.rows() } else { &self.merged }
    }

    fn merge(&mut self) {
        let shared = self.factor.rows();
        if shared.is_empty() {
            return;
        }
        self.merged.clear();
        for (row, shared) in self.features.rows().iter().zip(shared.iter().cycle()) {
            self.merged.push(std::array::from_fn(|i| row[i] + shared[i]));
        }
    }

    /// Adds the gradients of all buckets to that of what they share.
    pub fn sum_factor(&mut self) {
        if self.factor.values.is_empty() {
            return;
        }
        for bucket in self.features.gradient.chunks_exact(self.factor.values.len()) {
            for (sum, gradient) in self.factor.gradient.iter_mut().zip(bucket) {
                *sum += gradient;
            }
        }
    }

    /// A step of the optimiser for everything in the tile.
    pub fn step(&mut self, step: Step) {
        self.sum_factor();
        for tensor in [&mut self.features, &mut self.factor, &mut self.bias, &mut self.output] {
            tensor.step(step);
        }
        self.merge();
    }
}

/// A network that can be trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    header: Header,
    /// What belongs to the neurons of the accumulators.
    pub tiles: Vec<Tile>,
    /// What comes after: the output bias by bucket, or first biases, second weights, second biases, third weights and third biases in the
    /// order of [`Weights::Layers`].
    pub tail: Vec<Tensor>,
}

impl Network {
    /// A network of random weights, the same for the same seed. `factoriser` adds weights that all sets of inputs share, those of king buckets and states; with one set it means
    /// nothing. Fails if the header describes what no engine could be built for.
    pub fn new(header: Header, factoriser: bool, seed: u64) -> Result<Self> {
        let header = with_quantisation(header);
        header.check().context("the network cannot be built")?;
        let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let hidden = header.hidden as usize;
        let (planes, buckets) = (header.planes(), header.output_bucket_count());
        let sets = header.feature_set_count();
        // Some 25 of them make a sum that spreads over a fifth of the range that is not clipped.
        let shared = random.floats(planes * 64 * hidden, 0.0, 0.07);
        let repeated = |values: Vec<f32>| values.repeat(buckets);
        let (output, tail) = match header.head {
            Head::Single => {
                let range = (3.0 / hidden as f32).sqrt();
                (repeated(random.floats(2 * hidden, 0.0, range)), vec![vec![0.0; buckets]])
            }
            Head::Layers { first, second } => {
                let (first, second) = (first as usize, second as usize);
                // Products of activations are small and often zero; the squared activations behind need sums above zero.
                let range = (12.0 / hidden as f32).sqrt();
                let output = repeated(random.floats(first * hidden, 0.0, range));
                let range2 = (3.0 / first as f32).sqrt();
                let tail = vec![
                    repeated(vec![0.3; first]),
                    repeated(random.floats(second * first, 0.0, range2)),
                    repeated(vec![0.3; second]),
                    repeated(random.floats(second, 0.0, (3.0 / second as f32).sqrt())),
                    vec![0.0; buckets],
                ];
                (output, tail)
            }
        };
        let canonical = Canonical { features: shared.repeat(sets), bias: vec![0.0; hidden], output, tail };
        Ok(Self::cut(header, factoriser, &canonical))
    }

    /// The network of an asset. A factoriser starts as the mean of the sets. Fails if the asset is quantised in another way.
    pub fn from_asset(asset: &Asset, factoriser: bool) -> Result<Self> {
        let header = asset.header.clone();
        let found = (header.qa, header.qb, header.scale);
        let wanted = (QA, QB, SCALE);
        ensure!(
            found == wanted,
            "network {:?} has qa, qb and scale {found:?}; only {wanted:?} can be trained",
            header.name
        );
        let units = |values: &[i16], unit: u16| values.iter().map(|&v| f32::from(v) / f32::from(unit)).collect();
        let (output, tail) = match &asset.weights {
            Weights::Single { output, output_bias } => {
                let unit = f64::from(QA) * f64::from(QB);
                (units(output, QB), vec![output_bias.iter().map(|&b| (f64::from(b) / unit) as f32).collect()])
            }
            Weights::Layers { first, first_bias, second, second_bias, third, third_bias } => (
                first.iter().map(|&w| f32::from(w) / f32::from(QB)).collect(),
                [first_bias, second, second_bias, third, third_bias].map(Clone::clone).to_vec(),
            ),
        };
        let canonical =
            Canonical { features: units(&asset.features, QA), bias: units(&asset.feature_bias, QA), output, tail };
        Ok(Self::cut(header, factoriser, &canonical))
    }

    /// Cuts tensors in canonical order into tiles.
    fn cut(header: Header, factoriser: bool, canonical: &Canonical) -> Self {
        let hidden = header.hidden as usize;
        let shared_rows = header.planes() * 64;
        let sets = header.feature_set_count();
        let factoriser = factoriser && sets > 1;
        // A set and what all share are added.
        let limit = if factoriser { LIMIT / 2.0 } else { LIMIT };
        let layers = header.head != Head::Single;
        let tiles = (0..hidden / TILE)
            .map(|tile| {
                let neurons = neurons(hidden, layers, tile);
                let rows = canonical.features.chunks_exact(hidden);
                let mut features: Vec<f32> = rows.flat_map(|row| neurons.map(|n| row[n])).collect();
                let mut factor = Vec::new();
                if factoriser {
                    factor = vec![0.0; shared_rows * TILE];
                    for bucket in features.chunks_exact(factor.len()) {
                        factor.iter_mut().zip(bucket).for_each(|(sum, value)| *sum += value / sets as f32);
                    }
                    for bucket in features.chunks_exact_mut(factor.len()) {
                        bucket.iter_mut().zip(&factor).for_each(|(value, shared)| *value -= shared);
                    }
                }
                let places = outputs(hidden, layers, tile);
                let output = canonical.output.chunks_exact(places.stride);
                let output: Vec<f32> = output.flat_map(|row| places.indices.iter().map(|&i| row[i])).collect();
                let mut tile = Tile {
                    features: Tensor::new(features, limit),
                    factor: Tensor::new(factor, limit),
                    merged: Vec::new(),
                    bias: Tensor::new(neurons.map(|n| canonical.bias[n]).to_vec(), LIMIT),
                    output: Tensor::new(output, LIMIT),
                };
                tile.merge();
                tile
            })
            .collect();
        let tail = canonical.tail.iter().map(|values| Tensor::new(values.clone(), LIMIT)).collect();
        Self { header, tiles, tail }
    }

    /// Puts the tiles together again.
    fn canonical(&self) -> Canonical {
        let hidden = self.header.hidden as usize;
        let layers = self.header.head != Head::Single;
        let rows = self.tiles[0].inputs().len();
        let output: usize = self.tiles.iter().map(|tile| tile.output.values.len()).sum();
        let mut all = Canonical {
            features: vec![0.0; rows * hidden],
            bias: vec![0.0; hidden],
            output: vec![0.0; output],
            tail: self.tail.iter().map(|tensor| tensor.values.clone()).collect(),
        };
        for (number, tile) in self.tiles.iter().enumerate() {
            let neurons = neurons(hidden, layers, number);
            for (row, values) in all.features.chunks_exact_mut(hidden).zip(tile.inputs()) {
                neurons.iter().zip(values).for_each(|(&n, &value)| row[n] = value);
            }
            neurons.iter().zip(&tile.bias.values).for_each(|(&n, &value)| all.bias[n] = value);
            let places = outputs(hidden, layers, number);
            let output = tile.output.values.chunks_exact(places.indices.len());
            for (row, values) in all.output.chunks_exact_mut(places.stride).zip(output) {
                places.indices.iter().zip(values).for_each(|(&i, &value)| row[i] = value);
            }
        }
        all
    }

    /// The quantised network, each number rounded to the nearest. Its header is that of the network. Fails if the asset's own checks do.
    pub fn to_asset(&self) -> Result<Asset> {
        let Canonical { features, bias, output, mut tail } = self.canonical();
        let integers =
            |values: &[f32], unit: u16| values.iter().map(|v| (v * f32::from(unit)).round() as i16).collect::<Vec<_>>();
        let weights = match self.header.head {
            Head::Single => {
                let unit = f64::from(QA) * f64::from(QB);
                let output_bias = tail[0].iter().map(|&b| (f64::from(b) * unit).round() as i32).collect();
                Weights::Single { output: integers(&output, QB), output_bias }
            }
            Head::Layers { .. } => {
                let mut next = || std::mem::take(tail.first_mut().expect("there are five tensors"));
                let first_bias = next();
                tail.remove(0);
                let [second, second_bias, third, third_bias] =
                    <[Vec<f32>; 4]>::try_from(tail).expect("there are five tensors");
                let first = integers(&output, QB).iter().map(|&w| w as i8).collect();
                Weights::Layers { first, first_bias, second, second_bias, third, third_bias }
            }
        };
        let asset = Asset {
            header: self.header.clone(),
            features: integers(&features, QA),
            feature_bias: integers(&bias, QA),
            weights,
        };
        Asset::from_bytes(&asset.to_bytes()).context("the trained network cannot be written as an asset")
    }

    /// Shape and name.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All tensors in a fixed order.
    pub fn tensors_mut(&mut self) -> Vec<&mut Tensor> {
        let tiles = self.tiles.iter_mut().flat_map(|tile| {
            let Tile { features, factor, bias, output, merged: _ } = tile;
            [features, factor, bias, output]
        });
        tiles.chain(&mut self.tail).collect()
    }

    /// To be called after values were changed by other means than [`Tile::step`].
    pub fn refresh(&mut self) {
        self.tiles.iter_mut().for_each(Tile::merge);
    }
}

/// The tensors of a network in the order of an asset.
struct Canonical {
    features: Vec<f32>,
    bias: Vec<f32>,
    output: Vec<f32>,
    tail: Vec<Vec<f32>>,
}

/// Which neurons of the accumulator are in a tile.
fn neurons(hidden: usize, layers: bool, tile: usize) -> [usize; TILE] {
    std::array::from_fn(|i| match (layers, i < PAIRS) {
        (false, _) => tile * TILE + i,
        (true, true) => tile * PAIRS + i,
        (true, false) => hidden / 2 + tile * PAIRS + i - PAIRS,
    })
}

/// Where the weights of a tile's activations are in the canonical order: the same indices in each row of `stride` numbers.
struct Places {
    stride: usize,
    indices: Vec<usize>,
}

fn outputs(hidden: usize, layers: bool, tile: usize) -> Places {
    if layers {
        // A row per neuron of the first layer: products of the side to move, then those of the other side.
        let half = |start: usize| (0..PAIRS).map(move |i| start + tile * PAIRS + i);
        Places { stride: hidden, indices: half(0).chain(half(hidden / 2)).collect() }
    } else {
        // A row per output bucket and side.
        Places { stride: hidden, indices: (tile * TILE..(tile + 1) * TILE).collect() }
    }
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn floats(&mut self, count: usize, middle: f32, range: f32) -> Vec<f32> {
        // 24 bits are exact in `f32`.
        let mut unit = || (self.0.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        (0..count).map(|_| middle + range * unit()).collect()
    }
}

/// How positions become inputs: the header's board, made into tables.
#[derive(Clone, Debug)]
pub struct Eyes {
    /// First input of a piece as the side to move sees it, by the piece's code, and as the other side does.
    planes: [[u16; 16]; 2],
    /// By the square of the own king: what is added for its bucket, and what squares are changed by to mirror them.
    kings: [(u16, u8); 64],
    output_buckets: [u8; 33],
    /// Inputs from one state of a piece to the next; zero if states are not told apart.
    state: u16,
}

/// The inputs of a position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// For the side to move and the other side; only the first [`Self::count`] are inputs.
    pub inputs: [[u16; 32]; 2],
    /// How many pieces there are.
    pub count: usize,
    /// The output bucket.
    pub bucket: usize,
}

impl Eyes {
    /// The tables for networks of this shape.
    pub fn new(header: &Header) -> Self {
        let set = (header.planes() * 64) as u16;
        let (state, king) = if header.inputs.threats { (set, THREAT_STATES as u16 * set) } else { (0, set) };
        let plane = |piece: usize, own: usize| {
            let (colour, kind) = (piece >> 3, piece & 7);
            let is_own = colour == own || (kind == 5 && header.inputs.merged_kings);
            64 * (if is_own { kind } else { 6 + kind }) as u16
        };
        let planes = [0, 1].map(|own| std::array::from_fn(|piece| if piece & 7 < 6 { plane(piece, own) } else { 0 }));
        let kings = std::array::from_fn(|square| {
            let flip = if header.inputs.mirrored && square % 8 >= 4 { 7 } else { 0 };
            (king * u16::from(header.inputs.king_buckets[square ^ flip]), flip as u8)
        });
        Self { planes, kings, output_buckets: header.output_buckets, state }
    }

    /// What is seen of a position.
    pub fn see(&self, board: &ChessBoard) -> Seen {
        let mut seen = Seen::default();
        let (first, flip) = self.kings[usize::from(board.our_ksq()) & 63];
        // The position gives the squares as the side to move sees them, only the other king's as the other side does.
        let (other_first, other_flip) = self.kings[usize::from(board.opp_ksq()) & 63];
        let other_flip = other_flip ^ 56;
        let [own, other] = &mut seen.inputs;
        let attacks = if self.state > 0 { Attacks::of(board) } else { [Attacks::default(); 2] };
        let pieces = board.into_iter().zip(own.iter_mut().zip(other));
        for ((piece, square), (own, other)) in pieces {
            let piece = usize::from(piece) & 15;
            let (side, kind) = (piece / 8, piece % 8);
            let has = |set: Bitboard| set.0 >> square & 1 == 1;
            let (friends, enemies) = (&attacks[side], &attacks[1 - side]);
            let state = threat_state(has(enemies.all), has(enemies.by_less[kind]), has(friends.all));
            let state = self.state * state as u16;
            let (first, other_first) = (first + state, other_first + state);
            *own = first + self.planes[0][piece] + u16::from(square ^ flip);
            *other = other_first + self.planes[1][piece] + u16::from(square ^ other_flip);
            seen.count += 1;
        }
        seen.bucket = usize::from(self.output_buckets[seen.count]);
        seen
    }
}

/// What a side attacks.
#[derive(Clone, Copy, Default)]
struct Attacks {
    all: Bitboard,
    /// With pieces of less value than this type.
    by_less: [Bitboard; 6],
}

impl Attacks {
    /// Of the side to move, which is White, and of the other side.
    fn of(board: &ChessBoard) -> [Self; 2] {
        let pieces = || board.into_iter().map(|(piece, square)| (usize::from(piece), Square::ALL[usize::from(square)]));
        let occupied = pieces().fold(Bitboard::EMPTY, |set, (_, square)| set | square.into());
        let mut found = [Self::default(); 2];
        for (piece, square) in pieces() {
            let (side, kind) = (piece >> 3 & 1, piece & 7);
            let reached = attacks(Piece::new(Color::ALL[side], PieceType::ALL[kind]), square, occupied);
            found[side].all |= reached;
            for than in (0..6).filter(|&than| is_less(kind, than)) {
                found[side].by_less[than] |= reached;
            }
        }
        found
    }
}
