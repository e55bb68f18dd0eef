//! Squares, files and ranks.

use super::{Color, small_enum};
use std::fmt;

small_enum! {
    /// A file of the board, from left to right as White sees it.
    ///
    /// ```
    /// use kiln::types::{File, Square};
    ///
    /// assert_eq!((Square::E4.file(), File::E.letter()), (File::E, 'e'));
    /// ```
    File, 8, [A, B, C, D, E, F, G, H]
}

small_enum! {
    /// A rank of the board, counted from White's side.
    ///
    /// ```
    /// use kiln::types::{Color, Rank};
    ///
    /// assert_eq!(Rank::Second.relative(Color::Black), Rank::Seventh);
    /// ```
    Rank, 8, [First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth]
}

impl File {
    /// Returns the letter, `a` to `h`.
    pub fn letter(self) -> char {
        char::from(b'a' + self as u8)
    }

    /// Returns the file with this letter, or `None` if it is not `a` to `h`.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::from_index((letter as usize).checked_sub('a' as usize)?)
    }
}

impl Rank {
    /// Returns the rank as `side` counts it: for Black, the first rank is the eighth.
    #[inline]
    pub fn relative(self, side: Color) -> Self {
        // SAFETY: a number below 8 stays below 8 when XORed with 0 or 7.
        unsafe { Self::from_index_unchecked(self as u8 ^ (7 * side as u8)) }
    }
}

#[rustfmt::skip]
mod members {
    use super::small_enum;
    small_enum! {
        /// A square; a1 = 0, b1 = 1, …, h8 = 63.
        ///
        /// ```
        /// use kiln::types::{Color, File, Rank, Square};
        ///
        /// assert_eq!(Square::new(File::E, Rank::Fourth), Square::E4);
        /// assert_eq!(Square::from_name("e4"), Some(Square::E4));
        /// assert_eq!(Square::E4.index(), 28);
        /// assert_eq!(Square::E4.forward(Color::Black), Square::E3);
        /// assert_eq!(Square::E4.to_string(), "e4");
        /// ```
        Square, 64, [
            A1, B1, C1, D1, E1, F1, G1, H1,
            A2, B2, C2, D2, E2, F2, G2, H2,
            A3, B3, C3, D3, E3, F3, G3, H3,
            A4, B4, C4, D4, E4, F4, G4, H4,
            A5, B5, C5, D5, E5, F5, G5, H5,
            A6, B6, C6, D6, E6, F6, G6, H6,
            A7, B7, C7, D7, E7, F7, G7, H7,
            A8, B8, C8, D8, E8, F8, G8, H8,
        ]
    }
}
pub use members::Square;

impl Square {
    /// Returns the square on this file and rank.
    #[inline]
    pub const fn new(file: File, rank: Rank) -> Self {
        Self::wrapping(rank as usize * 8 + file as usize)
    }

    /// Returns the square with the number `index` modulo 64.
    #[inline]
    pub const fn wrapping(index: usize) -> Self {
        // SAFETY: `& 63` leaves a number below 64.
        unsafe { Self::from_index_unchecked(index as u8 & 63) }
    }

    /// Returns the square's file.
    #[inline]
    pub const fn file(self) -> File {
        // SAFETY: `& 7` leaves a number below 8.
        unsafe { File::from_index_unchecked(self as u8 & 7) }
    }

    /// Returns the square's rank.
    #[inline]
    pub const fn rank(self) -> Rank {
        // SAFETY: the largest square is number 63, and 63 >> 3 = 7 is the last rank.
        unsafe { Rank::from_index_unchecked(self as u8 >> 3) }
    }

    /// Returns the square one rank up for White, one rank down for Black. Wraps around at the edge.
    #[inline]
    pub const fn forward(self, side: Color) -> Self {
        match side {
            Color::White => Self::wrapping(self as usize + 8),
            Color::Black => Self::wrapping(self as usize + 56),
        }
    }

    /// Returns the square mirrored vertically: a1 becomes a8.
    #[inline]
    pub const fn flip_rank(self) -> Self {
        Self::wrapping(self as usize ^ 56)
    }

    /// Returns the square mirrored horizontally: a1 becomes h1.
    #[inline]
    pub const fn flip_file(self) -> Self {
        Self::wrapping(self as usize ^ 7)
    }

    /// Returns the square with this name, such as `e4`, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut letters = name.chars();
        let (file, rank, end) = (letters.next()?, letters.next()?, letters.next());
        let rank = Rank::from_index((rank as usize).checked_sub('1' as usize)?)?;
        if end.is_some() {
            return None;
        }
        Some(Self::new(File::from_letter(file)?, rank))
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.file().letter(), self.rank() as u8 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for square in Square::ALL {
            assert_eq!(Square::from_name(&square.to_string()), Some(square));
            assert_eq!(Square::new(square.file(), square.rank()), square);
        }
        for bad in ["", "e", "e9", "i1", "e44", "4e", "é1", "E4"] {
            assert_eq!(Square::from_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn relative_to_black() {
        assert_eq!(Square::E4.forward(Color::White), Square::E5);
        assert_eq!(Square::E4.forward(Color::Black), Square::E3);
        assert_eq!(Square::E4.flip_rank(), Square::E5);
        assert_eq!(Square::E4.flip_file(), Square::D4);
        assert_eq!(Rank::First.relative(Color::Black), Rank::Eighth);
    }
}
