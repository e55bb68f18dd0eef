use super::history::Butterfly;
use crate::board::{MAX_MOVES, MoveList, Position};
use crate::types::{Move, MoveKind, PieceType};
use arrayvec::ArrayVec;

/// Hands out moves, the most promising first: the move of the transposition table, captures by most valuable victim and
/// least valuable attacker, then quiet moves by history.
pub struct MovePicker {
    moves: ArrayVec<(Move, i32), MAX_MOVES>,
}

const TABLE_MOVE: i32 = 1 << 30;
const NOISY: i32 = 1 << 20;

impl MovePicker {
    /// An empty one, to be filled in place.
    pub fn new() -> Self {
        Self { moves: ArrayVec::new() }
    }

    pub fn fill(&mut self, position: &Position, moves: &MoveList, table_move: Option<Move>, history: &Butterfly) {
        let score = |mv: Move| {
            if Some(mv) == table_move {
                return TABLE_MOVE;
            }
            if !mv.is_noisy() {
                return history.get(position.side_to_move(), mv);
            }
            let victim = match mv.kind() {
                MoveKind::EnPassant => PieceType::Pawn as i32 + 1,
                _ => position.piece_on(mv.to()).map_or(0, |piece| piece.kind() as i32 + 1),
            };
            let attacker = position.piece_on(mv.from()).map_or(0, |piece| piece.kind() as i32);
            let gain = mv.promotion().map_or(0, |kind| kind as i32);
            NOISY + 64 * (victim + gain) - attacker
        };
        self.moves.extend(moves.iter().map(|&mv| (mv, score(mv))));
    }
}

impl Iterator for MovePicker {
    type Item = Move;

    /// Selects the best of what is left: most nodes look at few moves, so sorting all would cost more.
    fn next(&mut self) -> Option<Move> {
        let best = (0..self.moves.len()).max_by_key(|&i| (self.moves[i].1, std::cmp::Reverse(i)))?;
        Some(self.moves.swap_remove(best).0)
    }
}
