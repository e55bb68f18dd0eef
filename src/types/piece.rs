use super::small_enum;
use std::ops::Not;

small_enum! {
    /// A side.
    Color, 2, [White, Black]
}

small_enum! {
    /// A kind of piece.
    PieceType, 6, [Pawn, Knight, Bishop, Rook, Queen, King]
}

small_enum! {
    /// A piece of one side.
    Piece, 12, [
        WhitePawn, BlackPawn, WhiteKnight, BlackKnight, WhiteBishop, BlackBishop,
        WhiteRook, BlackRook, WhiteQueen, BlackQueen, WhiteKing, BlackKing,
    ]
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
    /// The types that a pawn can become.
    pub const PROMOTIONS: [Self; 4] = [Self::Queen, Self::Knight, Self::Rook, Self::Bishop];

    /// The lower-case letter: `p`, `n`, `b`, `r`, `q` or `k`.
    pub fn letter(self) -> char {
        ['p', 'n', 'b', 'r', 'q', 'k'][self]
    }
}

impl Piece {
    /// The piece of this side and type.
    #[inline]
    pub const fn new(color: Color, kind: PieceType) -> Self {
        // SAFETY: 5 << 1 | 1 is 11, the number of the last of the pieces; the types are in order, each with White and then Black.
        unsafe { Self::from_index_unchecked((kind as u8) << 1 | color as u8) }
    }

    /// Its side.
    #[inline]
    pub const fn color(self) -> Color {
        // SAFETY: one bit.
        unsafe { Color::from_index_unchecked(self as u8 & 1) }
    }

    /// Its type.
    #[inline]
    pub const fn kind(self) -> PieceType {
        // SAFETY: 11 >> 1 is 5.
        unsafe { PieceType::from_index_unchecked(self as u8 >> 1) }
    }

    /// The letter used in FEN: upper case for White.
    pub fn letter(self) -> char {
        let letter = self.kind().letter();
        match self.color() {
            Color::White => letter.to_ascii_uppercase(),
            Color::Black => letter,
        }
    }

    /// The piece of a letter used in FEN.
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
