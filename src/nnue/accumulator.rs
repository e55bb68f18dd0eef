//! Accumulators along a line of moves, updated lazily from the features that changed.

use super::head::Forward;
use super::pairs::{self, PairInputs, PairView};
use super::rows::Rows;
use super::{FEATURE_SETS, HIDDEN, Network, PAIRS, SHAPE, THREATS};
use crate::board::{Position, piece_code};
use crate::simd::{Aligned, Row, RowUpdate, native};
use crate::types::{Bitboard, Color, File, Piece, Score, Square};
use kiln_gen::network::{Threats, threat_state};

/// What the features of a position follow from. It does not depend on the perspective.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inputs {
    /// One byte per square, 0 if it is empty: with pairs, the place there, otherwise the [`piece_code`] of the piece
    /// plus [`STATE_STEP`] times its threat state.
    bytes: Aligned<[u8; 64]>,
    pairs: [PairInputs; PAIRS as usize],
}

/// The difference of inputs between two consecutive threat states.
const STATE_STEP: u8 = 16;
/// The number of threat states of a piece.
const STATES: usize = SHAPE.inputs.threats.states();
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
    while i < 256 * PIECES {
        let (input, piece) = (i / PIECES, Piece::ALL[i % PIECES]);
        let (state, code) = if PAIRS { (0, input / 16) } else { (input / 16, input % 16) };
        if code == piece_code(piece) as usize && state < STATES {
            let plane = PIECES * state + piece.kind() as usize;
            rows[piece.color() as usize][input] = 64 * plane as u16;
            rows[1 - piece.color() as usize][input] = 64 * (plane + PIECES / 2) as u16;
        }
        i += 1;
    }
    rows
};
const _: () = assert!(64 * PIECES * FEATURE_SETS <= 1 << 16, "row numbers must fit 16 bits");

impl Inputs {
    /// Returns the inputs of an empty board.
    fn empty() -> Self {
        Self { bytes: Aligned([0; 64]), pairs: std::array::from_fn(|_| PairInputs::empty()) }
    }

    /// Returns the inputs of a position.
    #[inline]
    fn new(position: &Position) -> Self {
        let pairs = std::array::from_fn(|_| PairInputs::new(position));
        if PAIRS {
            return Self { bytes: *position.places(), pairs };
        }
        let mut bytes = position.byteboard();
        if THREATS == Threats::States {
            const ATTACKED: u8 = threat_state(true, false, false) as u8;
            const BY_LESS: u8 = threat_state(true, true, false) as u8 - ATTACKED;
            const DEFENDED: u8 = threat_state(false, false, true) as u8;
            let [white, black] = Color::ALL.map(|side| position.color(side));
            let [by_white, by_black] = Color::ALL.map(|side| position.attacked(side));
            let by_less = position.threatened_by_lesser(Color::White) | position.threatened_by_lesser(Color::Black);
            native::add(&mut bytes, ((white & by_black) | (black & by_white)).0, STATE_STEP * ATTACKED);
            native::add(&mut bytes, by_less.0, STATE_STEP * BY_LESS);
            native::add(&mut bytes, ((white & by_white) | (black & by_black)).0, STATE_STEP * DEFENDED);
        }
        Self { bytes, pairs }
    }
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
}

/// The rows by which an accumulator of one perspective differs from another.
#[derive(Clone)]
struct Changes {
    added: Rows<128>,
    subtracted: Rows<128>,
    /// First those to subtract, then those to add.
    pairs: Rows<512>,
    pairs_subtracted: usize,
}

impl Changes {
    fn new() -> Self {
        Self { added: Rows::new(), subtracted: Rows::new(), pairs: Rows::new(), pairs_subtracted: 0 }
    }

    /// Replaces the changes of `N` perspectives by those from the inputs `before` to `after`.
    #[inline]
    fn find<const N: usize>(mut all: [&mut Self; N], perspectives: [Perspective; N], before: &Inputs, after: &Inputs) {
        for changes in &mut all {
            changes.added.clear();
            changes.subtracted.clear();
        }
        let changed = Bitboard(native::differing(&before.bytes, &after.bytes));
        // The ids on these squares, those of Black shifted by 16.
        let mut moved = 0;
        for square in changed {
            let (old, new) = (before.bytes.0[square], after.bytes.0[square]);
            moved |= 1 << (old % 32) | 1 << (new % 32);
            for (changes, perspective) in all.iter_mut().zip(perspectives) {
                let first = 64 * PIECES * STATES * perspective.king_bucket + (square as usize ^ perspective.flip());
                let row = |input: u8| first as u16 + ROWS[perspective.side][usize::from(input)];
                changes.added.push_if(row(new), new != 0);
                changes.subtracted.push_if(row(old), old != 0);
            }
        }
        if let ([old], [new]) = (before.pairs.as_slice(), after.pairs.as_slice()) {
            let views = perspectives.map(|perspective| PairView::new(perspective.side, perspective.mirrored));
            let rows = all.each_mut().map(|changes| &mut changes.pairs);
            let positions = [(&before.bytes, old), (&after.bytes, new)];
            let subtracted = pairs::list_rows(rows, views, positions, changed, moved);
            all.iter_mut().zip(subtracted).for_each(|(changes, count)| changes.pairs_subtracted = count);
        }
    }

    /// Returns the update by these changes from one accumulator to another.
    #[inline]
    fn update<'a>(&'a self, base: &'a Row<HIDDEN>, out: &'a mut Row<HIDDEN>) -> RowUpdate<'a, HIDDEN> {
        RowUpdate {
            base,
            out,
            added: self.added.numbers(),
            subtracted: self.subtracted.numbers(),
            pairs: if PAIRS { self.pairs.numbers() } else { &[] },
            pairs_subtracted: if PAIRS { self.pairs_subtracted } else { 0 },
        }
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
            inputs: Inputs::empty(),
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
    /// Reused memory, by side.
    changes: [Changes; 2],
}

impl Evaluator {
    /// Returns an evaluator at the start of a line.
    pub fn new(network: Network) -> Self {
        let empty = AccumulatorCacheEntry { accumulator: Row(network.features.bias), inputs: Inputs::empty() };
        let changes = [(); 2].map(|()| Changes::new());
        Self {
            network,
            entries: vec![AccumulatorEntry::new()],
            current: 0,
            cache: vec![empty; 4 * KING_BUCKETS],
            changes,
        }
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
            entry.inputs = Inputs::new(position);
        }
        debug_assert_eq!(entry.inputs, Inputs::new(position), "the inputs are of another position");
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
        self.compute();
        let accumulators = &self.entries[self.current].accumulators;
        debug_assert_eq!(
            accumulators,
            &self.accumulators_anew(position),
            "an update is wrong at {}",
            position.fen(true)
        );
        let side = position.side_to_move();
        Score::centipawns(self.network.head.forward(&accumulators[side], &accumulators[!side], bucket))
    }

    /// Returns the accumulators of a position as a new evaluator computes them.
    fn accumulators_anew(&self, position: &Position) -> [Row<HIDDEN>; 2] {
        let mut new = Self::new(self.network.clone());
        new.load_inputs(position);
        new.compute();
        new.entries[0].accumulators
    }

    /// Computes the current accumulators, and those between them and the last computed ones of the line.
    fn compute(&mut self) {
        let [white, black] = Color::ALL.map(|side| self.first_to_update(side));
        for index in white.min(black)..white.max(black) {
            let side = if white < black { Color::White } else { Color::Black };
            self.update(index, [side]);
        }
        for index in white.max(black)..=self.current {
            self.update(index, Color::ALL);
        }
    }

    /// Returns the entry of the line from which on a side's accumulators must be updated to compute the current one.
    ///
    /// If none is computed with the current perspective, the first entry with it is, rather than the current one: its
    /// other successors will need it too.
    #[inline]
    fn first_to_update(&mut self, side: Color) -> usize {
        let mut index = self.current;
        while !self.entries[index].is_computed[side] {
            let before = index.checked_sub(1).map(|before| self.entries[before].perspectives[side]);
            if before != Some(self.entries[index].perspectives[side]) {
                self.refresh(index, side);
                break;
            }
            index -= 1;
        }
        index + 1
    }

    /// Computes accumulators of an entry from those of the entry before.
    #[inline]
    fn update<const N: usize>(&mut self, index: usize, sides: [Color; N]) {
        let (before, after) = self.entries.split_at_mut(index);
        let (base, entry) = (&before[index - 1], &mut after[0]);
        let changes = self.changes.first_chunk_mut().expect("there are at most two sides");
        Changes::find::<N>(changes.each_mut(), sides.map(|side| entry.perspectives[side]), &base.inputs, &entry.inputs);
        let mut accumulators = entry.accumulators.each_mut().map(Some);
        let updates = std::array::from_fn(|i| {
            let out = accumulators[sides[i]].take().expect("sides differ");
            changes[i].update(&base.accumulators[sides[i]], out)
        });
        self.network.apply::<N>(updates);
        sides.into_iter().for_each(|side| entry.is_computed[side] = true);
    }

    /// Computes a side's accumulator of an entry from the Finny table, whose entry it replaces.
    fn refresh(&mut self, index: usize, side: Color) {
        let entry = &mut self.entries[index];
        let perspective = entry.perspectives[side];
        let Perspective { mirrored, king_bucket, .. } = perspective;
        let place = (2 * side as usize + usize::from(mirrored)) * KING_BUCKETS + king_bucket;
        let AccumulatorCacheEntry { accumulator, inputs } = &mut self.cache[place];
        let changes = &mut self.changes[0];
        Changes::find([changes], [perspective], inputs, &entry.inputs);
        self.network.apply([changes.update(accumulator, &mut entry.accumulators[side])]);
        *accumulator = entry.accumulators[side];
        inputs.clone_from(&entry.inputs);
        entry.is_computed[side] = true;
    }
}
