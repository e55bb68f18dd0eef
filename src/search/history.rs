//! Histories: how well moves did elsewhere in the tree, for ordering, pruning and reducing them.

use super::parameters as p;
use crate::board::Position;
use crate::simd;
use crate::types::{Bitboard, Color, Move, Piece, PieceType};

/// Largest absolute value of an entry.
pub const MAX_HISTORY: i32 = 16_384;
/// Number of pairs of a piece and its target square.
const PIECE_TO: usize = 12 * 64;
/// Number of pawn structures that the pawn history tells apart.
const PAWN_STRUCTURES: usize = 512;

/// A piece and its target square, or no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

impl PieceTo {
    /// A null move, or a ply before the root. Its row of the continuation history stays zero.
    pub const NONE: Self = Self(PIECE_TO as u16);
    /// The number of values.
    pub const COUNT: usize = PIECE_TO + 1;

    /// Returns the piece and the target square of a legal move.
    #[inline]
    pub fn new(position: &Position, mv: Move) -> Self {
        let piece = position.piece_on(mv.from()).expect("a legal move moves a piece");
        Self(piece as u16 * 64 + mv.to() as u16)
    }

    /// Returns the value's number, below [`PieceTo::COUNT`].
    #[inline]
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// By from-square and to-square.
type FromTo = [[i16; 64]; 64];
/// By [`PieceTo`].
type Row = [i16; PIECE_TO];

/// What selects the rows of the quiet histories at a node.
#[derive(Clone, Copy, Debug)]
pub struct HistoryContext {
    /// The squares that the opponent attacks; none in quiescence where no quiet move is searched.
    pub attacked: Bitboard,
    /// The moves 1, 2, 4 and 6 plies ago.
    pub previous: [PieceTo; 4],
}

/// The histories of a thread, which begin as zeros.
pub struct MoveHistory {
    /// Butterfly history: by side, whether the opponent attacks the from-square and the to-square, and these squares.
    butterfly: [[[FromTo; 2]; 2]; 2],
    /// Continuation history: by an earlier move and the move.
    continuation: [Row; PieceTo::COUNT],
    /// Pawn history: by pawn structure and move.
    pawn: [Row; PAWN_STRUCTURES],
    /// Noisy history: by [`victim`] and move.
    noisy: [Row; 6],
}

/// Adds a bonus to an entry with "history gravity": the closer the entry is to ±`LIMIT`, the less a bonus of its sign
/// moves it. The bonus must be within ±`LIMIT`; then the entry stays within it too.
#[inline]
pub(super) fn gravity<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
    let value = i32::from(*entry);
    *entry = (value + bonus - value * bonus.abs() / LIMIT) as i16;
}

fn update(entry: &mut i16, bonus: i32) {
    gravity::<MAX_HISTORY>(entry, bonus);
}

/// Returns the type of the piece that a noisy move takes. En passant and a promotion without capture, whose target is
/// empty, count as taking a pawn: no other capture of a pawn ends on the last rank.
#[inline]
pub fn victim(position: &Position, mv: Move) -> PieceType {
    position.piece_on(mv.to()).map_or(PieceType::Pawn, |piece| piece.kind())
}

/// The rows of the histories that score the quiet moves of a node.
pub struct QuietHistory<'a> {
    position: &'a Position,
    attacked: Bitboard,
    butterfly: &'a [[FromTo; 2]; 2],
    pawn: &'a Row,
    continuation: [&'a Row; 4],
}

impl QuietHistory<'_> {
    /// Prefetches the pawn history of the side to move. With so many pawn structures it is seldom in a near cache.
    #[inline]
    pub fn prefetch_pawn(&self) {
        let side = self.position.side_to_move();
        for kind in PieceType::ALL {
            let entries = 64 * Piece::new(side, kind) as usize;
            simd::prefetch(&self.pawn[entries]);
            simd::prefetch(&self.pawn[entries + 32]);
        }
    }

    /// Returns the weighted sum of a quiet move's histories, up to about ±8.5 times [`MAX_HISTORY`].
    #[inline]
    pub fn score(&self, mv: Move) -> i32 {
        let (from, to) = (mv.from(), mv.to());
        let butterfly = &self.butterfly[usize::from(self.attacked.has(from))][usize::from(self.attacked.has(to))];
        let index = PieceTo::new(self.position, mv).index();
        let [one, two, four, six] = self.continuation.map(|row| i32::from(row[index]));
        p::history_butterfly_weight() * i32::from(butterfly[from][to])
            + p::history_pawn_weight() * i32::from(self.pawn[index])
            + p::history_continuation1_weight() * one
            + p::history_continuation2_weight() * two
            + p::history_continuation4_weight() * four
            + six / p::history_continuation6_divisor()
    }
}

impl MoveHistory {
    #[inline]
    fn pawn_index(position: &Position) -> usize {
        position.keys().pawn() as usize % PAWN_STRUCTURES
    }

    /// Returns the rows that score the quiet moves of a position.
    #[inline]
    pub fn quiet<'a>(&'a self, position: &'a Position, context: &HistoryContext) -> QuietHistory<'a> {
        QuietHistory {
            position,
            attacked: context.attacked,
            butterfly: &self.butterfly[position.side_to_move()],
            pawn: &self.pawn[Self::pawn_index(position)],
            continuation: context.previous.map(|previous| &self.continuation[previous.index()]),
        }
    }

    /// Returns the history of a noisy move, within ±[`MAX_HISTORY`].
    #[inline]
    pub fn noisy(&self, position: &Position, mv: Move) -> i32 {
        self.noisy[victim(position, mv)][PieceTo::new(position, mv).index()].into()
    }

    /// Adds a bonus or, if negative, a malus to all histories of a quiet move.
    pub fn update_quiet(&mut self, position: &Position, context: &HistoryContext, mv: Move, bonus: i32) {
        let piece_to = PieceTo::new(position, mv);
        self.update_butterfly(position.side_to_move(), context.attacked, mv, bonus);
        update(&mut self.pawn[Self::pawn_index(position)][piece_to.index()], bonus);
        self.update_continuation(context.previous, piece_to, bonus);
    }

    /// Adds a bonus to the butterfly history alone.
    #[inline]
    pub fn update_butterfly(&mut self, side: Color, attacked: Bitboard, mv: Move, bonus: i32) {
        let (from, to) = (mv.from(), mv.to());
        let threats = &mut self.butterfly[side][usize::from(attacked.has(from))][usize::from(attacked.has(to))];
        update(&mut threats[from][to], bonus);
    }

    /// Adds a bonus to the continuation history of a move after each of these earlier moves.
    pub fn update_continuation(&mut self, previous: [PieceTo; 4], mv: PieceTo, bonus: i32) {
        for previous in previous {
            if previous != PieceTo::NONE {
                update(&mut self.continuation[previous.index()][mv.index()], bonus);
            }
        }
    }

    /// Adds a bonus to the history of a noisy move.
    pub fn update_noisy(&mut self, position: &Position, mv: Move, bonus: i32) {
        update(&mut self.noisy[victim(position, mv)][PieceTo::new(position, mv).index()], bonus);
    }
}

/// Returns the bonus of the best move of a node of this depth.
#[inline]
pub fn bonus(depth: i32) -> i32 {
    (p::history_bonus_factor() * depth - p::history_bonus_base()).clamp(0, p::history_bonus_limit())
}

/// Returns the malus, as a positive number, of a move that was tried before the best move of a node of this depth.
#[inline]
pub fn malus(depth: i32) -> i32 {
    (p::history_malus_factor() * depth - p::history_malus_base()).clamp(0, p::history_malus_limit())
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::huge_pages::HugePageBox;
    use super::*;

    /// Allocates empty histories, also for the tests of the move picker.
    pub fn histories() -> HugePageBox<MoveHistory> {
        // SAFETY: MoveHistory consists of i16: zeros are valid, nothing is dropped, the alignment is 2.
        unsafe { HugePageBox::zeroed() }.unwrap()
    }

    #[test]
    fn stays_within_the_limit() {
        let position = Position::startpos();
        let mv = position.parse_move("e2e4").unwrap();
        let knight = position.parse_move("g1f3").unwrap();
        let previous = [PieceTo::new(&position, knight), PieceTo::NONE, PieceTo::NONE, PieceTo::NONE];
        let context = HistoryContext { attacked: position.attacked(Color::Black), previous };
        let mut histories = histories();
        for bonus in [2000, -2000] {
            for _ in 0..100 {
                histories.update_quiet(&position, &context, mv, bonus);
                histories.update_noisy(&position, mv, bonus);
            }
            let values = [histories.noisy(&position, mv), histories.quiet(&position, &context).score(mv) / 5];
            let is_right = |value: &i32| value.abs() <= MAX_HISTORY && value.signum() == bonus.signum();
            assert!(values.iter().all(is_right), "{values:?}");
        }
        let quiet = |context, mv| histories.quiet(&position, context).score(mv);
        assert_eq!(quiet(&context, knight), 0);
        // Another sequence of moves shares all but the continuation history.
        let other = HistoryContext { previous: [PieceTo::NONE; 4], ..context };
        assert!(quiet(&other, mv) > quiet(&context, mv));
    }

    #[test]
    fn gravity_slows_growth_and_speeds_decay() {
        let mut entry = 0;
        let mut step = i32::MAX;
        for _ in 0..50 {
            let before = i32::from(entry);
            update(&mut entry, 1500);
            let now = i32::from(entry) - before;
            assert!((0..=step).contains(&now), "each bonus adds less than the one before: {now} after {step}");
            step = now;
        }
        let grown = i32::from(entry);
        assert!(grown > MAX_HISTORY * 9 / 10);
        update(&mut entry, -1500);
        let decay = grown - i32::from(entry);
        assert!(decay > 1500, "a malus takes more from a large entry than from an empty one: {decay}");
        for extreme in [MAX_HISTORY, -MAX_HISTORY] {
            update(&mut entry, extreme);
            assert_eq!(i32::from(entry), extreme);
        }
    }

    #[test]
    fn butterfly_history_depends_on_the_attacked_squares_and_the_side() {
        let position = Position::startpos();
        let mv = position.parse_move("g1f3").unwrap();
        let mut histories = histories();
        histories.update_butterfly(Color::White, Bitboard::EMPTY, mv, 1000);
        let score = |attacked| {
            let context = HistoryContext { attacked, previous: [PieceTo::NONE; 4] };
            histories.quiet(&position, &context).score(mv)
        };
        assert_eq!(score(Bitboard::EMPTY), 1000 * p::history_butterfly_weight());
        assert_eq!([mv.from(), mv.to()].map(|square| score(square.into())), [0, 0]);
        let black = Position::startpos().make(position.parse_move("e2e4").unwrap());
        let context = HistoryContext { attacked: Bitboard::EMPTY, previous: [PieceTo::NONE; 4] };
        assert_eq!(histories.quiet(&black, &context).score(black.parse_move("g8f6").unwrap()), 0);
    }

    #[test]
    fn null_moves_leave_no_continuation_history() {
        let position = Position::startpos();
        let mv = PieceTo::new(&position, position.parse_move("e2e4").unwrap());
        let mut histories = histories();
        histories.update_continuation([PieceTo::NONE; 4], mv, 1000);
        assert!(histories.continuation.as_flattened().iter().all(|&entry| entry == 0));
    }

    #[test]
    fn bonus_and_malus_grow_with_depth_up_to_their_limits() {
        for (of, limit) in [(bonus as fn(i32) -> i32, p::history_bonus_limit()), (malus, p::history_malus_limit())] {
            assert!((0..60).all(|depth| (0..=limit).contains(&of(depth)) && of(depth) <= of(depth + 1)));
            assert!(of(1) > 0 && of(60) == limit);
        }
    }
}
