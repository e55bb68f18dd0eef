//! Search scores.

use std::fmt;
use std::ops::{Add, Neg, Sub};

/// A score from the point of view of the side to move: an evaluation in centipawns, a tablebase win or loss, or a mate.
///
/// Wins and losses count plies from the root, so that a faster win is a better score. `Display` writes the score as UCI
/// does: `cp 34` or `mate -3`.
///
/// ```
/// use kiln::types::Score;
///
/// let mate = -Score::mated_in(3); // The opponent is mated three plies after the root.
/// assert!(mate > Score::centipawns(900));
/// assert_eq!(mate.mate_distance(), Some(2));
/// assert_eq!((mate.to_string(), Score::centipawns(34).to_string()), ("mate 2".into(), "cp 34".into()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Score(i32);

/// The longest distance to mate in plies that a score can express.
const MAX_MATE_PLIES: i32 = 1000;
/// The score of a tablebase win at the root.
const TB_WIN: i32 = 30_900;
/// The largest evaluation. Scores above it are proven wins.
const MAX_EVALUATION: i32 = 29_500;

impl Score {
    /// A bound above every score.
    pub const INFINITE: Self = Self(32_001);
    /// The score of a mate at distance 0.
    const MATE: i32 = 32_000;
    /// The score of a draw.
    pub const DRAW: Self = Self(0);

    /// Returns the score of an evaluation, clamped so that it is never taken for a mate or a tablebase win.
    #[inline]
    pub fn centipawns(value: i32) -> Self {
        Self(value.clamp(-MAX_EVALUATION, MAX_EVALUATION))
    }

    /// Returns the score of a tablebase win for the side to move, probed `ply` plies after the root.
    #[inline]
    pub const fn tb_win_in(ply: usize) -> Self {
        Self(TB_WIN - ply as i32)
    }

    /// Returns the score of being mated `ply` plies after the root.
    #[inline]
    pub const fn mated_in(ply: usize) -> Self {
        Self(ply as i32 - Self::MATE)
    }

    /// Returns whether the score is a mate for either side.
    #[inline]
    pub const fn is_mate(self) -> bool {
        self.0.abs() >= Self::MATE - MAX_MATE_PLIES
    }

    /// Returns the distance to mate in plies, or `None` if the score is no mate.
    #[inline]
    pub const fn mate_plies(self) -> Option<usize> {
        if self.is_mate() { Some((Self::MATE - self.0.abs()) as usize) } else { None }
    }

    /// Returns the distance to mate in moves of the side that mates, or `None` if the score is no mate.
    #[inline]
    pub const fn mate_distance(self) -> Option<u32> {
        match self.mate_plies() {
            // The side to move mates with an odd number of plies.
            Some(plies) => Some(if self.0 > 0 { plies + 1 } else { plies } as u32 / 2),
            None => None,
        }
    }

    /// Returns whether the score is a proven win or loss: a mate or a tablebase result.
    #[inline]
    pub const fn is_decisive(self) -> bool {
        self.0.abs() > MAX_EVALUATION
    }

    /// Returns whether the score is a proven win for the side to move.
    #[inline]
    pub const fn is_win(self) -> bool {
        self.0 > MAX_EVALUATION
    }

    /// Returns whether the score is a proven loss for the side to move.
    #[inline]
    pub const fn is_loss(self) -> bool {
        self.0 < -MAX_EVALUATION
    }

    /// Returns the underlying number: centipawns, unless the score [is decisive](Self::is_decisive).
    #[inline]
    pub const fn value(self) -> i32 {
        self.0
    }

    /// Returns the score as the transposition table stores it: wins and losses counted from the node at `ply`, not from
    /// the root.
    #[inline]
    pub const fn to_tt(self, ply: usize) -> i16 {
        let ply = ply as i32;
        (if !self.is_decisive() {
            self.0
        } else if self.0 > 0 {
            self.0 + ply
        } else {
            self.0 - ply
        }) as i16
    }

    /// Inverts [`Score::to_tt`]. A corrupt number still gives a score no larger than a mate.
    #[inline]
    pub const fn from_tt(stored: i16, ply: usize) -> Self {
        let (score, ply) = (Self(stored as i32), ply as i32);
        if !score.is_decisive() {
            score
        } else if score.0 > 0 {
            Self(if score.0 - ply > Self::MATE { Self::MATE } else { score.0 - ply })
        } else {
            Self(if score.0 + ply < -Self::MATE { -Self::MATE } else { score.0 + ply })
        }
    }
}

impl Neg for Score {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Add<i32> for Score {
    type Output = Self;
    #[inline]
    fn add(self, margin: i32) -> Self {
        Self(self.0 + margin)
    }
}

impl Sub<i32> for Score {
    type Output = Self;
    #[inline]
    fn sub(self, margin: i32) -> Self {
        Self(self.0 - margin)
    }
}

impl Sub for Score {
    type Output = i32;
    #[inline]
    fn sub(self, other: Self) -> i32 {
        self.0 - other.0
    }
}

/// Writes the score as UCI does: `cp 34` or `mate -3`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.mate_distance() {
            Some(moves) if self.0 > 0 || moves == 0 => write!(f, "mate {moves}"),
            Some(moves) => write!(f, "mate -{moves}"),
            None => write!(f, "cp {}", self.0),
        }
    }
}

/// How a score relates to the true score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// The true score is at most this (fail-low).
    Upper = 1,
    /// The true score is at least this (fail-high).
    Lower = 2,
    /// The true score is this.
    Exact = 3,
}

impl Bound {
    /// Returns what a score means that a search with the window from `alpha` to `beta` has found.
    #[inline]
    pub fn of(score: Score, alpha: Score, beta: Score) -> Self {
        if score >= beta {
            Self::Lower
        } else if score > alpha {
            Self::Exact
        } else {
            Self::Upper
        }
    }

    /// Returns the code of a bound, 0 of none.
    #[inline]
    pub fn code(bound: Option<Self>) -> u8 {
        bound.map_or(0, |bound| bound as u8)
    }

    /// Returns the bound with this [code](Bound::code), if there is one.
    #[inline]
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Upper),
            2 => Some(Self::Lower),
            3 => Some(Self::Exact),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_for_uci() {
        assert_eq!(Score::centipawns(-34).to_string(), "cp -34");
        assert_eq!(Score::mated_in(0).to_string(), "mate 0");
        assert_eq!(Score::mated_in(2).to_string(), "mate -1");
        assert_eq!((-Score::mated_in(1)).to_string(), "mate 1");
        assert_eq!((-Score::mated_in(3)).to_string(), "mate 2");
    }

    #[test]
    fn evaluations_are_never_decisive() {
        for value in [i32::MIN, -100_000, 0, 100_000, i32::MAX] {
            assert!(!Score::centipawns(value).is_mate() && !Score::centipawns(value).is_decisive());
        }
    }

    #[test]
    fn mates_are_stored_relative_to_the_node() {
        let found = -Score::mated_in(7);
        assert_eq!(Score::from_tt(found.to_tt(4), 4), found);
        assert_eq!(Score::from_tt(found.to_tt(4), 6), -Score::mated_in(9));
        assert_eq!(Score::from_tt(100, 50), Score::centipawns(100));
        let won = Score::tb_win_in(9);
        assert!(won.is_win() && (-won).is_loss() && !won.is_mate());
        assert_eq!(Score::from_tt(won.to_tt(4), 6), Score::tb_win_in(11));
    }
}
