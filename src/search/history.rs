//! What was histories about moves in other places of the tree: how often they were best.

use super::parameters as p;
use crate::board::Position;
use crate::types::{Bitboard, Color, Move, MoveKind, PieceType};

/// Largest value of an entry.
pub const LIMIT: i32 = 16_384;
/// Pairs of a piece and the square it goes to.
const PIECE_TO: usize = 12 * 64;
/// Pawn structures that are told apart.
const PAWNS: usize = 512;

/// A piece and where it goes, or no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

impl PieceTo {
    /// A pass, or the time before the root. Its row of the continuation history stays zero.
    pub const NONE: Self = Self(PIECE_TO as u16);

    /// The piece that a legal move moves.
    #[inline]
    pub fn new(position: &Position, mv: Move) -> Self {
        let piece = position.piece_on(mv.from()).expect("a legal move moves a piece");
        Self(piece as u16 * 64 + mv.to() as u16)
    }

    /// A number for two of them.
    #[inline]
    pub fn pair([a, b]: [Self; 2]) -> usize {
        // A prime factor spreads the first over any power of two.
        usize::from(a.0) * 1_009 + usize::from(b.0)
    }
}

/// By the square left and the square reached.
type FromTo = [[i16; 64]; 64];
/// By [`PieceTo`].
type Row = [i16; PIECE_TO];

/// What the moves of a node are judged by besides themselves.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The squares that the opponent attacks.
    pub attacked: Bitboard,
    /// What was played 1, 2, 4 and 6 plies ago.
    pub before: [PieceTo; 4],
}

/// The histories of a thread, which begin as zeros.
pub struct MoveHistory {
    /// By side, whether the enemy attacks the square left and the square reached, and these squares.
    quiet: [[[FromTo; 2]; 2]; 2],
    /// By the move before and the move.
    continuation: [Row; PIECE_TO + 1],
    /// By pawn structure and move.
    pawn: [Row; PAWNS],
    /// By [`victim`] and move.
    noisy: [Row; 6],
}

/// Moves an entry towards a limit, or its negative, by a share that falls as it nears it ("history gravity"). The bonus is within ± the limit.
#[inline]
pub(super) fn gravity<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
    let value = i32::from(*entry);
    *entry = (value + bonus - value * bonus.abs() / LIMIT) as i16;
}

/// The same towards the limit of histories.
fn update(entry: &mut i16, bonus: i32) {
    gravity::<LIMIT>(entry, bonus);
}

/// The piece that a noisy move takes; a pawn for promotions without capture, which no pawn's capture can be confused with but by its target.
#[inline]
pub fn victim(position: &Position, mv: Move) -> PieceType {
    match mv.kind() {
        MoveKind::EnPassant => PieceType::Pawn,
        _ => position.piece_on(mv.to()).map_or(PieceType::Pawn, |piece| piece.kind()),
    }
}

/// The rows of the histories that judge the quiet moves of a position.
pub struct Quiets<'a> {
    position: &'a Position,
    attacked: Bitboard,
    butterfly: &'a [[FromTo; 2]; 2],
    pawn: &'a Row,
    continuation: [&'a Row; 4],
}

impl Quiets<'_> {
    /// How well a quiet move did, the sum of all histories: up to about ±7 times the limit.
    #[inline]
    pub fn judge(&self, mv: Move) -> i32 {
        let (from, to) = (mv.from(), mv.to());
        let threats = &self.butterfly[usize::from(self.attacked.has(from))][usize::from(self.attacked.has(to))];
        let place = usize::from(PieceTo::new(self.position, mv).0);
        let [one, two, four, six] = self.continuation.map(|row| i32::from(row[place]));
        2 * i32::from(threats[from][to]) + i32::from(self.pawn[place]) + 2 * one + 2 * two + four + six / 2
    }
}

impl MoveHistory {
    #[inline]
    fn pawn_row(position: &Position) -> usize {
        position.keys().pawn() as usize % PAWNS
    }

    /// What judges the quiet moves of a position.
    #[inline]
    pub fn quiets<'a>(&'a self, position: &'a Position, context: &Context) -> Quiets<'a> {
        Quiets {
            position,
            attacked: context.attacked,
            butterfly: &self.quiet[position.side_to_move()],
            pawn: &self.pawn[Self::pawn_row(position)],
            continuation: context.before.map(|before| &self.continuation[usize::from(before.0)]),
        }
    }

    /// How well a noisy move did, within ± the limit.
    #[inline]
    pub fn noisy(&self, position: &Position, mv: Move) -> i32 {
        self.noisy[victim(position, mv)][usize::from(PieceTo::new(position, mv).0)].into()
    }

    /// Learns that a quiet move was good or bad.
    pub fn update_quiet(&mut self, position: &Position, context: &Context, mv: Move, bonus: i32) {
        let to = usize::from(PieceTo::new(position, mv).0);
        self.update_butterfly(position.side_to_move(), context.attacked, mv, bonus);
        update(&mut self.pawn[Self::pawn_row(position)][to], bonus);
        self.update_continuation(context.before, PieceTo(to as u16), bonus);
    }

    /// Learns in the butterfly history alone.
    #[inline]
    pub fn update_butterfly(&mut self, side: Color, attacked: Bitboard, mv: Move, bonus: i32) {
        let (from, to) = (mv.from(), mv.to());
        update(&mut self.quiet[side][usize::from(attacked.has(from))][usize::from(attacked.has(to))][from][to], bonus);
    }

    /// Learns that a move was good or bad after those before it.
    pub fn update_continuation(&mut self, before: [PieceTo; 4], mv: PieceTo, bonus: i32) {
        for before in before {
            if before != PieceTo::NONE {
                update(&mut self.continuation[usize::from(before.0)][usize::from(mv.0)], bonus);
            }
        }
    }

    /// Learns that a noisy move was good or bad.
    pub fn update_noisy(&mut self, position: &Position, mv: Move, bonus: i32) {
        update(&mut self.noisy[victim(position, mv)][usize::from(PieceTo::new(position, mv).0)], bonus);
    }
}

/// What a move that was best at this depth earns.
#[inline]
pub fn bonus(depth: i32) -> i32 {
    (p::bonus_factor() * depth - p::bonus_base()).clamp(0, p::bonus_limit())
}

/// What a move that was tried in vain at this depth loses.
#[inline]
pub fn malus(depth: i32) -> i32 {
    (p::malus_factor() * depth - p::malus_base()).clamp(0, p::malus_limit())
}

#[cfg(test)]
mod tests {
    use super::super::huge_pages::HugePageBox;
    use super::*;

    #[test]
    fn stays_within_the_limit() {
        let position = Position::startpos();
        let mv = position.parse_move("e2e4").unwrap();
        let knight = position.parse_move("g1f3").unwrap();
        let before = [PieceTo::new(&position, knight), PieceTo::NONE, PieceTo::NONE, PieceTo::NONE];
        let context = Context { attacked: position.attacked(Color::Black), before };
        // SAFETY: MoveHistory is arrays of i16 and nothing else: zeros are valid, nothing is dropped, the alignment is 2.
        let mut histories = unsafe { HugePageBox::<MoveHistory>::zeroed() }.unwrap();
        for bonus in [2000, -2000] {
            for _ in 0..100 {
                histories.update_quiet(&position, &context, mv, bonus);
                histories.update_noisy(&position, mv, bonus);
            }
            let values = [histories.noisy(&position, mv), histories.quiets(&position, &context).judge(mv) / 5];
            assert!(values.iter().all(|value| value.abs() <= LIMIT && value.signum() == bonus.signum()), "{values:?}");
        }
        let quiet = |context, mv| histories.quiets(&position, context).judge(mv);
        assert_eq!(quiet(&context, knight), 0);
        // Another history of moves shares all but the continuation.
        let other = Context { before: [PieceTo::NONE; 4], ..context };
        assert!(quiet(&other, mv) > quiet(&context, mv));
    }
}
