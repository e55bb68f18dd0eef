//! Ranking root moves by tablebase results.

use super::Wdl;
use crate::types::Move;

/// A root move with its tablebase result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedMove {
    /// The move.
    pub mv: Move,
    /// The tablebase rank: higher is better, and the search chooses among moves of equal rank.
    pub tb_rank: i32,
    /// The outcome with best play, for the side that plays the move.
    pub wdl: Wdl,
}

/// The rank of a win that the fifty-move rule cannot spoil. It is far larger than any distance.
const SURE_WIN: i32 = 1 << 18;
/// The fifty-move rule in plies. Wins with a rank at most this much below a sure win are completed in time.
const FIFTY_MOVES: i32 = 100;

impl RankedMove {
    /// Ranks a move by its DTZ: the signed distance in plies from the root to a capture or pawn move. `clock` is the
    /// halfmove clock at the root.
    ///
    /// Sure wins rank equal, so that the search can choose the fastest mate. If the fifty-move rule could spoil a win,
    /// or if the game has begun to repeat, faster progress ranks higher. Losses rank equal too, unless the fifty-move
    /// rule could save them: then the longest ranks highest. Stockfish and Fathom rank in the same way.
    pub(super) fn by_dtz(mv: Move, dtz: i32, clock: i32, repeated: bool, fifty_move_rule: bool) -> Self {
        let tb_rank = match dtz {
            0 => 0,
            1.. if dtz + clock < FIFTY_MOVES && !repeated => SURE_WIN,
            1.. => SURE_WIN - (dtz + clock),
            _ if -2 * dtz + clock < FIFTY_MOVES => -SURE_WIN,
            _ => -SURE_WIN + (-dtz + clock),
        };
        // The true distance may be one ply less than the table says, so that a win at exactly 100 still counts.
        let wdl = match tb_rank {
            0 => Wdl::Draw,
            1.. if !fifty_move_rule || tb_rank >= SURE_WIN - FIFTY_MOVES => Wdl::Win,
            1.. => Wdl::CursedWin,
            _ if !fifty_move_rule || tb_rank <= FIFTY_MOVES - SURE_WIN => Wdl::Loss,
            _ => Wdl::BlessedLoss,
        };
        Self { mv, tb_rank, wdl }
    }

    /// Ranks a move by its WDL result alone. Without the fifty-move rule, cursed wins are wins and blessed losses are
    /// losses.
    pub(super) fn by_wdl(mv: Move, wdl: Wdl, fifty_move_rule: bool) -> Self {
        let tb_rank = match wdl {
            Wdl::Loss => -SURE_WIN,
            Wdl::BlessedLoss => -SURE_WIN + FIFTY_MOVES + 1,
            Wdl::Draw => 0,
            Wdl::CursedWin => SURE_WIN - FIFTY_MOVES - 1,
            Wdl::Win => SURE_WIN,
        };
        match wdl {
            Wdl::BlessedLoss if !fifty_move_rule => Self::by_wdl(mv, Wdl::Loss, true),
            Wdl::CursedWin if !fifty_move_rule => Self::by_wdl(mv, Wdl::Win, true),
            _ => Self { mv, tb_rank, wdl },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn dtz_is_ranked_by_the_halfmove_clock() {
        let mv = Position::startpos().moves()[0];
        let by = |dtz, clock, rule| {
            let ranked = RankedMove::by_dtz(mv, dtz, clock, false, rule);
            (ranked.tb_rank, ranked.wdl)
        };
        assert_eq!(by(1, 0, true), by(99, 0, true));
        assert_eq!(by(1, 0, true), (SURE_WIN, Wdl::Win));
        // If the rule could spoil a win, the faster one ranks higher.
        assert!(by(20, 85, true) < by(15, 85, true) && by(15, 85, true) < by(14, 85, true));
        assert_eq!(by(14, 85, true), by(5, 85, true));
        assert_eq!([by(15, 85, true).1, by(16, 85, true).1, by(16, 85, false).1], [Wdl::Win, Wdl::CursedWin, Wdl::Win]);
        assert_eq!([by(-15, 85, true).1, by(-16, 85, true).1], [Wdl::Loss, Wdl::BlessedLoss]);
        assert!(by(-16, 85, true) > by(-15, 85, true) && by(-3, 10, true) == by(-20, 10, true));
        assert_eq!(by(-120, 0, false).1, Wdl::Loss);
        assert!(by(120, 0, true).0 > 0 && by(0, 99, true) == (0, Wdl::Draw) && by(-120, 0, true).0 < 0);
        let repeated = |dtz| RankedMove::by_dtz(mv, dtz, 0, true, true).tb_rank;
        assert!(repeated(3) > repeated(4));
    }

    #[test]
    fn wdl_results_keep_their_order() {
        let mv = Position::startpos().moves()[0];
        let all = [Wdl::Loss, Wdl::BlessedLoss, Wdl::Draw, Wdl::CursedWin, Wdl::Win];
        assert!(all.map(|wdl| RankedMove::by_wdl(mv, wdl, true).tb_rank).is_sorted_by(|a, b| a < b));
        let ignoring = all.map(|wdl| RankedMove::by_wdl(mv, wdl, false).wdl);
        assert_eq!(ignoring, [Wdl::Loss, Wdl::Loss, Wdl::Draw, Wdl::Win, Wdl::Win]);
    }
}
