//! Sets of squares.

use super::{File, Rank, Square};
use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Sub};

/// A set of squares: bit *n* is square number *n*, with a1 = 0, b1 = 1, …, h8 = 63.
///
/// The operators `&`, `|`, `^` and `!` work on sets, and `-` is set difference. Iterating yields the squares in
/// ascending order. `Display` draws the board from White's side, here with the example's set of b1 and the e-file
/// without e4:
///
/// ```text
/// . . . . X . . .
/// . . . . X . . .
/// . . . . X . . .
/// . . . . X . . .
/// . . . . . . . .
/// . . . . X . . .
/// . . . . X . . .
/// . X . . X . . .
/// ```
///
/// ```
/// use kiln::types::{Bitboard, File, Square};
///
/// let set = Bitboard::from(File::E) - Square::E4.into() | Square::B1.into();
/// assert_eq!(set.len(), 8);
/// assert_eq!(set.first(), Some(Square::B1));
/// assert!(set.has(Square::E5) && !set.has(Square::E4));
/// assert!(set.to_string().ends_with(". X . . X . . .\n"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bitboard(pub u64);

impl Bitboard {
    /// The empty set.
    pub const EMPTY: Self = Self(0);
    /// All 64 squares.
    pub const FULL: Self = Self(!0);

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of squares in the set.
    #[inline]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether the set has two or more squares.
    #[inline]
    pub const fn more_than_one(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// Returns whether the set contains `square`.
    #[inline]
    pub const fn has(self, square: Square) -> bool {
        self.0 >> square as u32 & 1 != 0
    }

    /// Returns whether the sets have a square in common.
    #[inline]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the lowest square of the set, or `None` if it is empty.
    #[inline]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::wrapping(self.0.trailing_zeros() as usize)) }
    }

    /// Shifts every square up by `ranks` (down if negative) and drops those that leave the board. `ranks` is -7 to 7.
    #[inline]
    pub const fn shift_ranks(self, ranks: i32) -> Self {
        if ranks >= 0 { Self(self.0 << (8 * ranks)) } else { Self(self.0 >> (-8 * ranks)) }
    }
}

impl From<Square> for Bitboard {
    #[inline]
    fn from(square: Square) -> Self {
        Self(1 << square as u32)
    }
}

impl From<File> for Bitboard {
    #[inline]
    fn from(file: File) -> Self {
        Self(0x0101_0101_0101_0101 << file as u32)
    }
}

impl From<Rank> for Bitboard {
    #[inline]
    fn from(rank: Rank) -> Self {
        Self(0xff << (8 * rank as u32))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $assign_trait:ident $assign_method:ident $operator:tt;)*) => {$(
        impl $trait for Bitboard {
            type Output = Self;
            #[inline]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $operator other.0)
            }
        }

        impl $assign_trait for Bitboard {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    )*};
}
operators! {
    BitAnd bitand BitAndAssign bitand_assign &;
    BitOr bitor BitOrAssign bitor_assign |;
    BitXor bitxor BitXorAssign bitxor_assign ^;
}

impl Sub for Bitboard {
    type Output = Self;
    /// Returns the squares of `self` that are not in `other`.
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Not for Bitboard {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares.into_iter().fold(Self::EMPTY, |set, square| set | square.into())
    }
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;
    #[inline]
    fn into_iter(self) -> Squares {
        Squares(self)
    }
}

/// The squares of a [`Bitboard`] in ascending order.
#[derive(Clone, Debug)]
pub struct Squares(Bitboard);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.0.first()?;
        self.0.0 &= self.0.0 - 1;
        Some(square)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len() as usize, Some(self.0.len() as usize))
    }
}

impl ExactSizeIterator for Squares {}

/// Draws the board with the eighth rank on top: `X` for a square of the set, `.` for the others.
impl fmt::Display for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for rank in Rank::ALL.into_iter().rev() {
            for file in File::ALL {
                let mark = if self.has(Square::new(file, rank)) { 'X' } else { '.' };
                write!(f, "{mark}{}", if file == File::H { '\n' } else { ' ' })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterates_in_order() {
        let set: Bitboard = [Square::H8, Square::A1, Square::E4].into_iter().collect();
        assert_eq!(set.into_iter().collect::<Vec<_>>(), [Square::A1, Square::E4, Square::H8]);
        assert_eq!(set.into_iter().len(), 3);
        assert!(set.more_than_one() && !Bitboard::from(Square::H8).more_than_one() && !Bitboard::EMPTY.more_than_one());
    }

    #[test]
    fn drawn_from_whites_side() {
        let drawn = Bitboard::from(Square::B8).to_string();
        assert!(drawn.starts_with(". X . . . . . .\n"), "{drawn}");
        assert_eq!(drawn.lines().count(), 8);
    }

    #[test]
    fn shifts_drop_at_the_edge() {
        assert_eq!(Bitboard::from(Rank::Eighth).shift_ranks(1), Bitboard::EMPTY);
        assert_eq!(Bitboard::from(Rank::Second).shift_ranks(-1), Rank::First.into());
    }
}
