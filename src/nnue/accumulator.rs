use super::dimensions::{KING_BUCKET, MIRRORED};
use super::head::Forward;
use super::{FEATURE_SETS, HIDDEN, KING_BUCKETS, Network, OUTPUT_BUCKET, STATES, THREATS};
use crate::board::Position;
use crate::simd::{Aligned, Row, native};
use crate::types::{Bitboard, Color, File, Piece, Score, Square};
use kiln_gen::network::threat_state;

/// What the network sees of a position: for each square 0, or the piece there counted from 1 plus [`STATE`] times its state.
type Inputs = Aligned<[u8; 64]>;

/// What a state more adds to an input.
const STATE: u8 = 16;
/// Types and colours of pieces.
const PIECES: usize = 12;

/// By the side that sees and the input: its first row of weights among those of a king bucket. As long as to need no check.
static ROWS: [[u16; 256]; 2] = {
    let mut rows = [[0; 256]; 2];
    let mut i = 0;
    while i < STATES * PIECES {
        let (state, piece) = (i / PIECES, Piece::ALL[i % PIECES]);
        let input = STATE as usize * state + piece as usize + 1;
        let plane = PIECES * state + piece.kind() as usize;
        rows[piece.color() as usize][input] = 64 * plane as u16;
        rows[1 - piece.color() as usize][input] = 64 * (plane + PIECES / 2) as u16;
        i += 1;
    }
    rows
};
const _: () = assert!(64 * PIECES * FEATURE_SETS <= 1 << 16, "rows are counted in 16 bits");

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
        native::add(&mut inputs, ((white & by_black) | (black & by_white)).0, STATE * ATTACKED);
        native::add(&mut inputs, by_less.0, STATE * BY_LESS);
        native::add(&mut inputs, ((white & by_white) | (black & by_black)).0, STATE * DEFENDED);
    }
    inputs
}

/// How a side sees the board, which depends on where its king stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Perspective {
    side: Color,
    mirrored: bool,
    bucket: usize,
}

impl Perspective {
    #[inline]
    fn new(side: Color, king: Square) -> Self {
        let mirrored = MIRRORED && king.file() >= File::E;
        let perspective = Self { side, mirrored, bucket: 0 };
        Self { bucket: usize::from(KING_BUCKET[king as usize ^ perspective.flip()]), ..perspective }
    }

    /// What turns the number of a square into that of the square which it is for this side, by exclusive or.
    #[inline]
    fn flip(self) -> usize {
        let ranks = if self.side == Color::Black { 56 } else { 0 };
        let files = if self.mirrored { 7 } else { 0 };
        ranks | files
    }

    /// Writes the values of `after` to `out`, given those of `before`.
    #[inline]
    fn update(
        self,
        network: &Network,
        (values, before): (&Row<HIDDEN>, &Inputs),
        (out, after): (&mut Row<HIDDEN>, &Inputs),
    ) {
        let (mut added, mut subtracted) = ([0; 64], [0; 64]);
        let (mut adds, mut subtracts) = (0, 0);
        let (rows, flip) = (&ROWS[self.side], self.flip());
        let first = 64 * PIECES * STATES * self.bucket;
        for square in Bitboard(native::differing(before, after)) {
            let row = |input: u8| (first + (square as usize ^ flip)) as u16 + rows[usize::from(input)];
            let (old, new) = (before.0[square], after.0[square]);
            // Without branches, which could not be foreseen.
            added[adds] = row(new);
            adds += usize::from(new != 0);
            subtracted[subtracts] = row(old);
            subtracts += usize::from(old != 0);
        }
        let rows = network.features.weights.as_flattened().as_flattened().as_flattened();
        native::add_subtract(out, values, rows, &added[..adds], &subtracted[..subtracts]);
    }
}

/// The output bucket that scores a position.
pub fn output_bucket(position: &Position) -> usize {
    usize::from(OUTPUT_BUCKET[position.occupied().len() as usize])
}

/// One position of a line.
#[derive(Clone)]
struct AccumulatorEntry {
    /// The accumulators, if they are computed.
    values: [Row<HIDDEN>; 2],
    is_computed: [bool; 2],
    /// Whether it is known what follows.
    inputs_are_loaded: bool,
    perspectives: [Perspective; 2],
    inputs: Inputs,
}

impl AccumulatorEntry {
    fn new() -> Self {
        Self {
            values: [Row([0; HIDDEN]); 2],
            is_computed: [false; 2],
            inputs_are_loaded: false,
            perspectives: Color::ALL.map(|side| Perspective { side, mirrored: false, bucket: 0 }),
            inputs: Aligned([0; 64]),
        }
    }
}

/// The values of some position with the same perspective, from which the next one that needs all of its values differs little.
#[derive(Clone)]
struct AccumulatorCacheEntry {
    values: Row<HIDDEN>,
    inputs: Inputs,
}

/// Scores the positions of a line of moves. Accumulators are computed when a score is asked for, from the last position of the line where they are known.
///
/// ```
/// use kiln::{board::Position, nnue::{Evaluator, Network}};
/// let start = Position::startpos();
/// let next = start.make(start.parse_move("e2e4").unwrap());
/// let mut evaluator = Evaluator::new(Network::embedded());
/// let before = evaluator.evaluate(&start);
/// evaluator.push(&start);
/// let after = evaluator.evaluate(&next);
/// evaluator.pop();
/// assert_eq!(evaluator.evaluate(&start), before);
/// # let _ = after;
/// ```
pub struct Evaluator {
    network: Network,
    /// The line, and behind it plies that were used before.
    plies: Vec<AccumulatorEntry>,
    /// The place of the current position.
    current: usize,
    /// By side, mirroring and king bucket.
    cache: Vec<AccumulatorCacheEntry>,
}

impl Evaluator {
    /// Starts a line.
    pub fn new(network: Network) -> Self {
        let empty = AccumulatorCacheEntry { values: Row(network.features.bias), inputs: Aligned([0; 64]) };
        Self { network, plies: vec![AccumulatorEntry::new()], current: 0, cache: vec![empty; 4 * KING_BUCKETS] }
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Starts another line with the same network.
    pub fn restart(&mut self) {
        self.begin(0);
    }

    /// Goes from the current position of the line, which is `position`, to one after a move or a pass.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        self.load_inputs(position);
        self.begin(self.current + 1);
    }

    /// Goes back to the position before.
    ///
    /// # Panics
    /// If there was none.
    pub fn pop(&mut self) {
        self.current = self.current.checked_sub(1).expect("a position was pushed");
    }

    /// Another position begins at a place of the line.
    #[inline]
    fn begin(&mut self, place: usize) {
        self.current = place;
        if place == self.plies.len() {
            self.plies.push(AccumulatorEntry::new());
        }
        self.plies[place].inputs_are_loaded = false;
    }

    /// Looks at the current position, unless that was done.
    #[inline]
    fn load_inputs(&mut self, position: &Position) {
        let ply = &mut self.plies[self.current];
        if !ply.inputs_are_loaded {
            ply.inputs_are_loaded = true;
            ply.is_computed = [false; 2];
            ply.perspectives = Color::ALL.map(|side| Perspective::new(side, position.king(side)));
            ply.inputs = inputs(position);
        }
        debug_assert_eq!(ply.inputs, inputs(position), "another position is the current one");
    }

    /// The score of the current position, which is `position`, for the side to move.
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.evaluate_in_bucket(position, output_bucket(position))
    }

    /// The score that another output bucket would give.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn evaluate_in_bucket(&mut self, position: &Position, bucket: usize) -> Score {
        self.load_inputs(position);
        for side in Color::ALL {
            self.compute(side);
        }
        let side = position.side_to_move();
        let values = &self.plies[self.current].values;
        Score::centipawns(self.network.head.forward(&values[side], &values[!side], bucket))
    }

    fn compute(&mut self, side: Color) {
        let perspective = self.plies[self.current].perspectives[side];
        let mut seen_alike =
            self.plies[..=self.current].iter().rev().take_while(|ply| ply.perspectives[side] == perspective);
        let Some(back) = seen_alike.position(|ply| ply.is_computed[side]) else {
            return self.refresh(perspective);
        };
        for place in self.current - back + 1..=self.current {
            let (before, after) = self.plies.split_at_mut(place);
            let (base, ply) = (&before[place - 1], &mut after[0]);
            let values = &mut ply.values[side];
            perspective.update(&self.network, (&base.values[side], &base.inputs), (values, &ply.inputs));
            ply.is_computed[side] = true;
        }
    }

    /// Computes the current accumulator of a side from the last one with the same perspective, wherever that was.
    fn refresh(&mut self, perspective: Perspective) {
        let place =
            (2 * perspective.side as usize + usize::from(perspective.mirrored)) * KING_BUCKETS + perspective.bucket;
        let AccumulatorCacheEntry { values, inputs } = &mut self.cache[place];
        let ply = &mut self.plies[self.current];
        perspective.update(&self.network, (values, inputs), (&mut ply.values[perspective.side], &ply.inputs));
        (*values, *inputs) = (ply.values[perspective.side], ply.inputs);
        ply.is_computed[perspective.side] = true;
    }
}
