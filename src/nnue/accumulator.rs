//! Accumulators along a line of moves, updated lazily from the features that changed.

use super::head::Forward;
use super::{FEATURE_SETS, HIDDEN, Network, SHAPE, THREATS};
use crate::board::{Position, piece_code};
use crate::simd::{Aligned, Row, native};
use crate::types::{Bitboard, Color, File, Piece, Score, Square};
use kiln_gen::network::{THREAT_STATES, threat_state};

/// The features of a position, one byte per square: 0, or the [`piece_code`] of the piece there plus [`STATE_STEP`]
/// times its threat state. They do not depend on the perspective.
type Inputs = Aligned<[u8; 64]>;

/// The difference of inputs between two consecutive threat states.
const STATE_STEP: u8 = 16;
/// The number of threat states of a piece.
const STATES: usize = if THREATS { THREAT_STATES } else { 1 };
/// The number of pieces by type and color.
const PIECES: usize = 12;
const KING_BUCKETS: usize = SHAPE.inputs.king_bucket_count();
static KING_BUCKET: [u8; 64] = SHAPE.inputs.king_buckets;
static OUTPUT_BUCKET: [u8; 33] = SHAPE.output_buckets;

/// The first row of feature weights within a king bucket, by perspective and input. With 256 entries, indexing by a
/// byte needs no bounds check.
static ROWS: [[u16; 256]; 2] = {
    let mut rows = [[0; 256]; 2];
    let mut i = 0;
    while i < STATES * PIECES {
        let (state, piece) = (i / PIECES, Piece::ALL[i % PIECES]);
        let input = STATE_STEP as usize * state + piece_code(piece) as usize;
        let plane = PIECES * state + piece.kind() as usize;
        rows[piece.color() as usize][input] = 64 * plane as u16;
        rows[1 - piece.color() as usize][input] = 64 * (plane + PIECES / 2) as u16;
        i += 1;
    }
    rows
};
const _: () = assert!(64 * PIECES * FEATURE_SETS <= 1 << 16, "row numbers must fit 16 bits");

/// Returns the features of a position.
#[inline]
fn inputs(position: &Position) -> Inputs {
    let mut inputs = position.byteboard();
    if THREATS {
        const ATTACKED: u8 = threat_state(true, false, false) as u8;
        const BY_LESS: u8 = threat_state(true, true, false) as u8 - ATTACKED;
        const DEFENDED: u8 = threat_state(false, false, true) as u8;
        let [white, black] = Color::ALL.map(|side| position.color(side));
        let [by_white, by_black] = Color::ALL.map(|side| position.attacked(side));
        let by_less = position.threatened_by_lesser(Color::White) | position.threatened_by_lesser(Color::Black);
        native::add(&mut inputs, ((white & by_black) | (black & by_white)).0, STATE_STEP * ATTACKED);
        native::add(&mut inputs, by_less.0, STATE_STEP * BY_LESS);
        native::add(&mut inputs, ((white & by_white) | (black & by_black)).0, STATE_STEP * DEFENDED);
    }
    inputs
}

/// One side's perspective, which depends on its king's square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Perspective {
    side: Color,
    mirrored: bool,
    king_bucket: usize,
}

impl Perspective {
    #[inline]
    fn new(side: Color, king: Square) -> Self {
        let mirrored = SHAPE.inputs.mirrored && king.file() >= File::E;
        let perspective = Self { side, mirrored, king_bucket: 0 };
        Self { king_bucket: usize::from(KING_BUCKET[king as usize ^ perspective.flip()]), ..perspective }
    }

    /// Returns the number whose exclusive or with a square gives the square relative to this perspective.
    #[inline]
    fn flip(self) -> usize {
        let ranks = if self.side == Color::Black { 56 } else { 0 };
        let files = if self.mirrored { 7 } else { 0 };
        ranks | files
    }

    /// Writes the accumulator for the inputs `after` to `out`, given the accumulator for the inputs `before`.
    #[inline]
    fn update(
        self,
        network: &Network,
        (accumulator, before): (&Row<HIDDEN>, &Inputs),
        (out, after): (&mut Row<HIDDEN>, &Inputs),
    ) {
        let (mut added, mut subtracted) = ([0; 64], [0; 64]);
        let (mut adds, mut subtracts) = (0, 0);
        let (rows, flip) = (&ROWS[self.side], self.flip());
        let first = 64 * PIECES * STATES * self.king_bucket;
        for square in Bitboard(native::differing(before, after)) {
            let row = |input: u8| (first + (square as usize ^ flip)) as u16 + rows[usize::from(input)];
            let (old, new) = (before.0[square], after.0[square]);
            // Without branches, which would be mispredicted.
            added[adds] = row(new);
            adds += usize::from(new != 0);
            subtracted[subtracts] = row(old);
            subtracts += usize::from(old != 0);
        }
        let rows = network.features.weights.as_flattened().as_flattened().as_flattened();
        native::add_subtract(out, accumulator, rows, &added[..adds], &subtracted[..subtracts]);
    }
}

/// Returns the output bucket of a position, which its number of pieces determines.
pub fn output_bucket(position: &Position) -> usize {
    usize::from(OUTPUT_BUCKET[position.occupied().len() as usize])
}

/// The accumulators of one position of the line.
#[derive(Clone)]
struct AccumulatorEntry {
    /// By side; valid only if computed.
    accumulators: [Row<HIDDEN>; 2],
    is_computed: [bool; 2],
    /// Whether `perspectives` and `inputs` are those of the position.
    inputs_are_loaded: bool,
    perspectives: [Perspective; 2],
    inputs: Inputs,
}

impl AccumulatorEntry {
    fn new() -> Self {
        Self {
            accumulators: [Row([0; HIDDEN]); 2],
            is_computed: [false; 2],
            inputs_are_loaded: false,
            perspectives: Color::ALL.map(|side| Perspective { side, mirrored: false, king_bucket: 0 }),
            inputs: Aligned([0; 64]),
        }
    }
}

/// An entry of the Finny table: the last refreshed accumulator of a perspective, with its inputs.
///
/// A refresh starts from it instead of the biases, because few inputs differ. The idea is Finn Eggers's (Luecx), first
/// in the engine Koivisto.
#[derive(Clone)]
struct AccumulatorCacheEntry {
    accumulator: Row<HIDDEN>,
    inputs: Inputs,
}

/// Scores the positions of a line of moves.
///
/// Accumulators are computed lazily, when a score is requested, from the last position of the line that has one with
/// the same perspective. The caller calls [`push`](Self::push) before each move, null moves included, and
/// [`pop`](Self::pop) when it takes the move back.
///
/// ```
/// use kiln::board::Position;
/// use kiln::nnue::{Evaluator, Network};
/// let mut evaluator = Evaluator::new(Network::embedded());
/// let start = Position::startpos();
/// let score = evaluator.evaluate(&start);
///
/// let next = start.make(start.parse_move("e2e4").unwrap());
/// evaluator.push(&start);
/// let after_move = evaluator.evaluate(&next);
/// // The same as without the line.
/// assert_eq!(after_move, Evaluator::new(Network::embedded()).evaluate(&next));
///
/// evaluator.pop();
/// assert_eq!(evaluator.evaluate(&start), score);
/// ```
pub struct Evaluator {
    network: Network,
    /// The line, followed by entries of longer lines before, which are reused.
    entries: Vec<AccumulatorEntry>,
    /// Index of the current position's entry.
    current: usize,
    /// The Finny table, by side, mirroring and king bucket.
    cache: Vec<AccumulatorCacheEntry>,
}

impl Evaluator {
    /// Returns an evaluator at the start of a line.
    pub fn new(network: Network) -> Self {
        let empty = AccumulatorCacheEntry { accumulator: Row(network.features.bias), inputs: Aligned([0; 64]) };
        Self { network, entries: vec![AccumulatorEntry::new()], current: 0, cache: vec![empty; 4 * KING_BUCKETS] }
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Starts a new line with the same network.
    pub fn restart(&mut self) {
        self.begin(0);
    }

    /// Moves to the next position of the line. `position` is the current one, before the move or null move.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        self.load_inputs(position);
        self.begin(self.current + 1);
    }

    /// Moves back to the previous position of the line.
    ///
    /// # Panics
    /// If there is none.
    pub fn pop(&mut self) {
        self.current = self.current.checked_sub(1).expect("a position was pushed");
    }

    /// Makes an entry the current one, for a position that is not yet known.
    #[inline]
    fn begin(&mut self, index: usize) {
        self.current = index;
        if index == self.entries.len() {
            self.entries.push(AccumulatorEntry::new());
        }
        self.entries[index].inputs_are_loaded = false;
    }

    /// Loads the inputs and perspectives of the current position, unless they are loaded.
    #[inline]
    fn load_inputs(&mut self, position: &Position) {
        let entry = &mut self.entries[self.current];
        if !entry.inputs_are_loaded {
            entry.inputs_are_loaded = true;
            entry.is_computed = [false; 2];
            entry.perspectives = Color::ALL.map(|side| Perspective::new(side, position.king(side)));
            entry.inputs = inputs(position);
        }
        debug_assert_eq!(entry.inputs, inputs(position), "the inputs are of another position");
    }

    /// Returns the score of `position`, which must be the current one, for the side to move.
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.evaluate_in_bucket(position, output_bucket(position))
    }

    /// Returns the score that another output bucket would give.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn evaluate_in_bucket(&mut self, position: &Position, bucket: usize) -> Score {
        self.load_inputs(position);
        for side in Color::ALL {
            self.compute(side);
        }
        let side = position.side_to_move();
        let accumulators = &self.entries[self.current].accumulators;
        Score::centipawns(self.network.head.forward(&accumulators[side], &accumulators[!side], bucket))
    }

    /// Computes the current accumulator of a side, and those between it and the last computed one of the line.
    fn compute(&mut self, side: Color) {
        let perspective = self.entries[self.current].perspectives[side];
        let mut same_perspective =
            self.entries[..=self.current].iter().rev().take_while(|entry| entry.perspectives[side] == perspective);
        let Some(back) = same_perspective.position(|entry| entry.is_computed[side]) else {
            return self.refresh(perspective);
        };
        for index in self.current - back + 1..=self.current {
            let (before, after) = self.entries.split_at_mut(index);
            let (base, entry) = (&before[index - 1], &mut after[0]);
            let accumulator = &mut entry.accumulators[side];
            perspective.update(&self.network, (&base.accumulators[side], &base.inputs), (accumulator, &entry.inputs));
            entry.is_computed[side] = true;
        }
    }

    /// Computes the current accumulator of a side from the Finny table, whose entry it replaces.
    fn refresh(&mut self, perspective: Perspective) {
        let Perspective { side, mirrored, king_bucket } = perspective;
        let index = (2 * side as usize + usize::from(mirrored)) * KING_BUCKETS + king_bucket;
        let AccumulatorCacheEntry { accumulator, inputs } = &mut self.cache[index];
        let entry = &mut self.entries[self.current];
        perspective.update(&self.network, (accumulator, inputs), (&mut entry.accumulators[side], &entry.inputs));
        (*accumulator, *inputs) = (entry.accumulators[side], entry.inputs);
        entry.is_computed[side] = true;
    }
}
