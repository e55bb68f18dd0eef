use super::Wdl;
use crate::types::Move;

/// A root move and what the tables say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedMove {
    /// The move.
    pub mv: Move,
    /// Higher is better; moves of equal rank are left to the search.
    pub tb_rank: i32,
    /// How the game ends after it, by best play, for the side that makes it.
    pub wdl: Wdl,
}

/// The rank of a sure win. Larger by far than any distance.
const SURE: i32 = 1 << 18;
/// Wins ranked at most so much lower are within reach of the fifty-move rule.
const DISTANCES: i32 = 100;

impl RankedMove {
    /// By the signed distance to a capture or pawn move, in plies from the root, whose halfmove clock stands at `clock`.
    ///
    /// Sure wins are equal, so that the search may choose the one that mates soonest. If the fifty-move rule could spoil a win, or the game has begun to repeat, progress counts.
    /// Losses are equal too, unless the rule may come to help: then the longest is best. (As Stockfish and Fathom do.)
    pub(super) fn by_distance(mv: Move, dtz: i32, clock: i32, repeated: bool, fifty_move_rule: bool) -> Self {
        let tb_rank = match dtz {
            0 => 0,
            1.. if dtz + clock < DISTANCES && !repeated => SURE,
            1.. => SURE - (dtz + clock),
            _ if -2 * dtz + clock < DISTANCES => -SURE,
            _ => -SURE + (-dtz + clock),
        };
        // A distance may be one ply less than the table says, so at exactly 100 a win is still one.
        let wdl = match tb_rank {
            0 => Wdl::Draw,
            1.. if !fifty_move_rule || tb_rank >= SURE - DISTANCES => Wdl::Win,
            1.. => Wdl::CursedWin,
            _ if !fifty_move_rule || tb_rank <= DISTANCES - SURE => Wdl::Loss,
            _ => Wdl::BlessedLoss,
        };
        Self { mv, tb_rank, wdl }
    }

    /// By the outcome after the move alone, as far as the fifty-move rule is played.
    pub(super) fn by_outcome(mv: Move, wdl: Wdl, fifty_move_rule: bool) -> Self {
        let tb_rank = match wdl {
            Wdl::Loss => -SURE,
            Wdl::BlessedLoss => -SURE + DISTANCES + 1,
            Wdl::Draw => 0,
            Wdl::CursedWin => SURE - DISTANCES - 1,
            Wdl::Win => SURE,
        };
        match wdl {
            Wdl::BlessedLoss if !fifty_move_rule => Self::by_outcome(mv, Wdl::Loss, true),
            Wdl::CursedWin if !fifty_move_rule => Self::by_outcome(mv, Wdl::Win, true),
            _ => Self { mv, tb_rank, wdl },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn the_clock_decides_what_a_distance_is_worth() {
        let mv = Position::startpos().moves()[0];
        let by = |dtz, clock, rule| {
            let ranked = RankedMove::by_distance(mv, dtz, clock, false, rule);
            (ranked.tb_rank, ranked.wdl)
        };
        assert_eq!(by(1, 0, true), by(99, 0, true));
        assert_eq!(by(1, 0, true), (SURE, Wdl::Win));
        // Where the rule could spoil it the faster win is better.
        assert!(by(20, 85, true) < by(15, 85, true) && by(15, 85, true) < by(14, 85, true));
        assert_eq!(by(14, 85, true), by(5, 85, true));
        assert_eq!([by(15, 85, true).1, by(16, 85, true).1, by(16, 85, false).1], [Wdl::Win, Wdl::CursedWin, Wdl::Win]);
        assert_eq!([by(-15, 85, true).1, by(-16, 85, true).1], [Wdl::Loss, Wdl::BlessedLoss]);
        assert!(by(-16, 85, true) > by(-15, 85, true) && by(-3, 10, true) == by(-20, 10, true));
        assert_eq!(by(-120, 0, false).1, Wdl::Loss);
        assert!(by(120, 0, true).0 > 0 && by(0, 99, true) == (0, Wdl::Draw) && by(-120, 0, true).0 < 0);
        let repeated = |dtz| RankedMove::by_distance(mv, dtz, 0, true, true).tb_rank;
        assert!(repeated(3) > repeated(4));
    }

    #[test]
    fn outcomes_alone_keep_their_order() {
        let mv = Position::startpos().moves()[0];
        let all = [Wdl::Loss, Wdl::BlessedLoss, Wdl::Draw, Wdl::CursedWin, Wdl::Win];
        assert!(all.map(|wdl| RankedMove::by_outcome(mv, wdl, true).tb_rank).is_sorted_by(|a, b| a < b));
        let ignoring = all.map(|wdl| RankedMove::by_outcome(mv, wdl, false).wdl);
        assert_eq!(ignoring, [Wdl::Loss, Wdl::Loss, Wdl::Draw, Wdl::Win, Wdl::Win]);
    }
}
