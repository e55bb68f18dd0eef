//! Colors, piece types and pieces.

use super::small_enum;
use std::ops::{Neg, Not};

small_enum! {
    /// White or Black.
    ///
    /// ```
    /// use kiln::types::Color;
    ///
    /// assert_eq!(!Color::White, Color::Black);
    /// assert_eq!(["White", "Black"][Color::Black.index()], "Black");
    /// ```
    Color, 2, [White, Black]
}

small_enum! {
    /// A type of piece. Arrays of six are indexed by it.
    ///
    /// ```
    /// use kiln::types::PieceType;
    ///
    /// const VALUES: [i32; 6] = [100, 300, 300, 500, 900, 0];
    /// assert_eq!(VALUES[PieceType::Rook], 500);
    /// assert_eq!(PieceType::Knight.letter(), 'n');
    /// ```
    PieceType, 6, [Pawn, Knight, Bishop, Rook, Queen, King]
}

small_enum! {
    /// A piece: its color and its type.
    ///
    /// ```
    /// use kiln::types::{Color, Piece, PieceType};
    ///
    /// let piece = Piece::new(Color::Black, PieceType::Knight);
    /// assert_eq!(piece, Piece::BlackKnight);
    /// assert_eq!((piece.color(), piece.kind()), (Color::Black, PieceType::Knight));
    /// assert_eq!((piece.letter(), Piece::from_letter('N')), ('n', Some(Piece::WhiteKnight)));
    /// ```
    Piece, 12, [
        WhitePawn, BlackPawn, WhiteKnight, BlackKnight, WhiteBishop, BlackBishop,
        WhiteRook, BlackRook, WhiteQueen, BlackQueen, WhiteKing, BlackKing,
    ]
}

impl Color {
    /// Returns a score from White's point of view, given from this side's; or the reverse.
    ///
    /// ```
    /// use kiln::types::Color;
    ///
    /// assert_eq!((Color::White.white_pov(30), Color::Black.white_pov(30)), (30, -30));
    /// ```
    #[inline]
    pub fn white_pov<T: Neg<Output = T>>(self, score: T) -> T {
        match self {
            Self::White => score,
            Self::Black => -score,
        }
    }
}

impl Not for Color {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

impl PieceType {
    /// The types to which a pawn can promote.
    pub const PROMOTIONS: [Self; 4] = [Self::Queen, Self::Knight, Self::Rook, Self::Bishop];

    /// Returns the lower-case letter: `p`, `n`, `b`, `r`, `q` or `k`.
    pub fn letter(self) -> char {
        ['p', 'n', 'b', 'r', 'q', 'k'][self]
    }
}

impl Piece {
    /// Returns the piece of this color and type.
    #[inline]
    pub const fn new(color: Color, kind: PieceType) -> Self {
        // SAFETY: the largest number is 5 << 1 | 1 = 11, that of the last piece.
        unsafe { Self::from_index_unchecked((kind as u8) << 1 | color as u8) }
    }

    /// Returns the color.
    #[inline]
    pub const fn color(self) -> Color {
        // SAFETY: one bit is 0 or 1, and there are two colors.
        unsafe { Color::from_index_unchecked(self as u8 & 1) }
    }

    /// Returns the type.
    #[inline]
    pub const fn kind(self) -> PieceType {
        // SAFETY: the largest piece is number 11, and 11 >> 1 = 5 is the last type.
        unsafe { PieceType::from_index_unchecked(self as u8 >> 1) }
    }

    /// Returns the letter used in FEN: upper case for White, lower case for Black.
    pub fn letter(self) -> char {
        let letter = self.kind().letter();
        match self.color() {
            Color::White => letter.to_ascii_uppercase(),
            Color::Black => letter,
        }
    }

    /// Returns the piece with this letter in FEN, or `None` if there is none.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|piece| piece.letter() == letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_piece() {
        for piece in Piece::ALL {
            assert_eq!(Piece::new(piece.color(), piece.kind()), piece);
            assert_eq!(Piece::from_letter(piece.letter()), Some(piece));
        }
        assert_eq!(Piece::from_letter('x'), None);
    }
}
