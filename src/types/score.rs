use std::fmt;
use std::ops::{Add, Neg, Sub};

/// A score in centipawns for the side to move, or the distance to mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Score(i32);

/// Longest distance to mate in plies that a score can express.
const LONGEST_MATE: i32 = 1000;
/// A win by the tablebases at the root.
const TABLEBASE_WIN: i32 = 30_900;
/// The best score that an evaluation can have; what is above is won for certain.
const BEST_EVALUATION: i32 = 29_500;

impl Score {
    /// Better than every score.
    pub const INFINITE: Self = Self(32_001);
    /// Mate on the board.
    const MATE: i32 = 32_000;
    /// A drawn game.
    pub const DRAW: Self = Self(0);

    /// A score from an evaluation, kept away from those that mean mate or a tablebase's win.
    #[inline]
    pub fn centipawns(value: i32) -> Self {
        Self(value.clamp(-BEST_EVALUATION, BEST_EVALUATION))
    }

    /// The side to move wins a position that is reached `ply` plies after the root, as a tablebase says.
    #[inline]
    pub const fn tb_win_in(ply: usize) -> Self {
        Self(TABLEBASE_WIN - ply as i32)
    }

    /// The side to move is mated `ply` plies after the root.
    #[inline]
    pub const fn mated_in(ply: usize) -> Self {
        Self(ply as i32 - Self::MATE)
    }

    /// Whether the score means that one side mates.
    #[inline]
    pub const fn is_mate(self) -> bool {
        self.0.abs() >= Self::MATE - LONGEST_MATE
    }

    /// In how many moves one side mates, if the score means that.
    #[inline]
    pub const fn mate_distance(self) -> Option<u32> {
        if !self.is_mate() {
            return None;
        }
        let plies = Self::MATE - self.0.abs();
        Some(if self.0 > 0 { plies + 1 } else { plies } as u32 / 2)
    }

    /// Whether the score means that one side wins for certain: by a mate that was found or by a tablebase.
    #[inline]
    pub const fn is_decisive(self) -> bool {
        self.0.abs() > BEST_EVALUATION
    }

    /// Whether the side to move wins for certain.
    #[inline]
    pub const fn is_win(self) -> bool {
        self.0 > BEST_EVALUATION
    }

    /// Whether the side to move loses for certain.
    #[inline]
    pub const fn is_loss(self) -> bool {
        self.0 < -BEST_EVALUATION
    }

    /// The number that is compared.
    #[inline]
    pub const fn value(self) -> i32 {
        self.0
    }

    /// For the transposition table: distances to mate counted from the node at `ply` in place of the root.
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

    /// The inverse of [`Score::to_tt`]. Any number gives a score within the bounds.
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

/// As UCI wants it: `cp 34` or `mate -3`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.mate_distance() {
            Some(moves) if self.0 > 0 || moves == 0 => write!(f, "mate {moves}"),
            Some(moves) => write!(f, "mate -{moves}"),
            None => write!(f, "cp {}", self.0),
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
    fn evaluations_are_no_mates() {
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
