//! Completes principal variations that announce a mate but end before it, because TT cutoffs and pruning leave the
//! last moves out.

use super::transposition::{TranspositionTable, TtEntry};
use super::{MAX_PLY, Pv};
use crate::board::Position;
use crate::types::{Move, Score};
use arrayvec::ArrayVec;
use std::cmp::Reverse;

/// A forced mate is searched for in at most this many plies.
const MAX_PROOF: usize = 5;
/// Moves that the search for forced mates may try: a few milliseconds.
const BUDGET: usize = 50_000;
/// The last moves of a variation may be wrong for the mate; so many may be replaced.
const MAX_REPLACED: usize = 4;

/// Returns the variation completed up to the mate that `score` announces. If it is complete already, the score is no
/// mate, or the missing moves are not found, it is returned as it is.
pub fn complete(root: &Position, pv: &[Move], score: Score, tt: &TranspositionTable) -> Pv {
    let unchanged: Pv = pv.iter().copied().take(MAX_PLY).collect();
    let Some(plies) = score.mate_plies().filter(|&plies| plies < MAX_PLY && !pv.is_empty()) else { return unchanged };
    let mut line: Pv = pv.iter().copied().take(plies).collect();
    let mut positions: ArrayVec<Position, { MAX_PLY + 1 }> = ArrayVec::new();
    positions.push(root.clone());
    for &mv in &line {
        positions.push(positions[positions.len() - 1].make(mv));
    }
    let mut finder = Finder { tt, budget: BUDGET };
    for _ in 0..=MAX_REPLACED {
        let (left, kept) = (plies - line.len(), line.len());
        if finder.extend(&positions[kept], left, kept, &mut line) {
            return line;
        }
        line.truncate(kept);
        // The first move stays: it is the one that is played.
        if kept <= 1 {
            break;
        }
        line.pop();
    }
    unchanged
}

/// Searches for moves up to a mate.
struct Finder<'a> {
    tt: &'a TranspositionTable,
    /// Moves that may still be tried.
    budget: usize,
}

impl Finder<'_> {
    /// Adds `left` moves to the line, the last of which mates. `ply` counts from the root. Follows the transposition
    /// table until the mate is near enough to prove.
    fn extend(&mut self, position: &Position, left: usize, ply: usize, line: &mut Pv) -> bool {
        if left <= MAX_PROOF && self.forced_line(position, left, line) {
            return true;
        }
        let best = |entry: TtEntry| entry.best.filter(|_| entry.score.is_mate());
        let Some(mv) = self.tt.probe(position.key(), ply).and_then(best).filter(|&mv| position.is_legal(mv)) else {
            return false;
        };
        if left == 0 || !self.pay(1) {
            return false;
        }
        line.push(mv);
        self.extend(&position.make(mv), left - 1, ply + 1, line)
    }

    /// Adds a line of exactly `left` plies to mate, in which the attacker's moves force a mate in time. The attacker
    /// moves if `left` is odd.
    fn forced_line(&mut self, position: &Position, left: usize, line: &mut Pv) -> bool {
        if left == 0 {
            return is_checkmate(position);
        }
        let length = line.len();
        let moves = self.ordered_moves(position);
        let is_attacker = left % 2 == 1;
        // The defender is mated in time whatever it plays, so any of its longest defences will do.
        if !is_attacker && !self.is_lost(position, left) {
            return false;
        }
        for mv in moves {
            let next = position.make(mv);
            if is_attacker && !self.is_lost(&next, left - 1) {
                continue;
            }
            line.push(mv);
            if self.forced_line(&next, left - 1, line) {
                return true;
            }
            line.truncate(length);
        }
        false
    }

    /// Returns whether the side to move is mated in at most `plies`, an even number, whatever it plays.
    fn is_lost(&mut self, position: &Position, plies: usize) -> bool {
        if is_checkmate(position) {
            return true;
        }
        let moves = position.moves();
        plies > 0 && self.pay(moves.len()) && !is_drawn(position) && !moves.is_empty() && {
            moves.iter().all(|&mv| self.is_won(&position.make(mv), plies - 1))
        }
    }

    /// Returns whether the side to move can force a mate in at most `plies`, an odd number.
    fn is_won(&mut self, position: &Position, plies: usize) -> bool {
        if is_drawn(position) {
            return false;
        }
        self.ordered_moves(position).into_iter().any(|mv| {
            let next = position.make(mv);
            (plies > 1 || next.in_check()) && self.is_lost(&next, plies - 1)
        })
    }

    /// Returns the legal moves, those first that leave the opponent the fewest replies; none if the budget is spent.
    fn ordered_moves(&mut self, position: &Position) -> Vec<Move> {
        let mut moves = position.moves().to_vec();
        if !self.pay(moves.len()) {
            return Vec::new();
        }
        moves.sort_by_cached_key(|&mv| {
            let next = position.make(mv);
            (Reverse(next.in_check()), next.count_moves())
        });
        moves
    }

    /// Counts moves. Returns false if no more may be tried.
    fn pay(&mut self, moves: usize) -> bool {
        self.budget = self.budget.saturating_sub(moves);
        self.budget > 0
    }
}

fn is_checkmate(position: &Position) -> bool {
    position.in_check() && !position.has_legal_move()
}

/// Returns whether the fifty-move rule has ended the game. Repetitions do not matter: a forced mate needs none.
fn is_drawn(position: &Position) -> bool {
    position.halfmove_clock() >= 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(fen: &str, pv: &[&str], score: Score) -> (Position, Pv) {
        let root: Position = fen.parse().unwrap();
        let mut position = root.clone();
        let mut moves = Vec::new();
        for text in pv {
            let mv = position.parse_move(text).unwrap();
            moves.push(mv);
            position = position.make(mv);
        }
        let line = complete(&root, &moves, score, &TranspositionTable::new(1).unwrap());
        let end = line.iter().fold(root, |position, &mv| position.make(mv));
        (end, line)
    }

    #[test]
    fn lines_end_with_the_mate() {
        // Two rooks mate in three plies: for the side that mates, and for the side that is mated in two.
        let mate_in_two = "7k/8/R7/1R6/8/8/8/K7 w - - 0 1";
        for (fen, pv, score, plies) in [
            (mate_in_two, &["b5b7"][..], -Score::mated_in(3), 3),
            (mate_in_two, &["b5b7", "h8g8"], -Score::mated_in(3), 3),
            ("7k/1R6/R7/8/8/8/8/K7 b - - 0 1", &["h8g8"], Score::mated_in(2), 2),
        ] {
            let (end, line) = completed(fen, pv, score);
            assert!(is_checkmate(&end) && line.len() == plies, "{line:?}");
        }
    }

    #[test]
    fn wrong_moves_at_the_end_are_replaced_but_not_the_first() {
        let fen = "7k/8/R7/1R6/8/8/8/K7 w - - 0 1";
        let (end, line) = completed(fen, &["b5b7", "h8g8", "b7b1"], -Score::mated_in(3));
        assert!(is_checkmate(&end) && line.len() == 3, "{line:?}");
        // After this move there is no mate in two more plies.
        let (_, line) = completed(fen, &["b5b1", "h8g8"], -Score::mated_in(3));
        assert_eq!(line.len(), 2);
    }

    #[test]
    fn what_cannot_be_completed_stays() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for score in [Score::DRAW, -Score::mated_in(3), -Score::mated_in(151), Score::mated_in(900)] {
            assert_eq!(completed(start, &["e2e4", "e7e5"], score).1.len(), 2);
            assert_eq!(completed(start, &[], score).1.len(), 0);
        }
        // The fifty-move rule comes first.
        assert_eq!(completed("7k/8/R7/1R6/8/8/8/K7 w - - 98 80", &["b5b7"], -Score::mated_in(3)).1.len(), 1);
    }
}
