//! Pieces with ids, the elements of the byteboard.

use crate::types::{Color, Piece, PieceType};
use std::num::NonZeroU8;

/// A piece on the byteboard, with its id among the pieces of its side.
///
/// Bits 0 to 3 hold the id, bit 4 the color, bits 5 to 7 a code of the type, never 0, so that zero can stand for an
/// empty square. The code shows with which other pieces the piece shares moves: of a slider bit 5 is clear, bit 6 says
/// that it moves diagonally, bit 7 that it moves orthogonally; of pawns, knights and kings bit 5 is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Place(NonZeroU8);

const _: () = assert!(size_of::<Option<Place>>() == 1);

/// The type bits of each type.
const CODES: [u8; PieceType::COUNT] = [0b001, 0b011, 0b010, 0b100, 0b110, 0b101];

/// The piece of each combination of type bits and color, in half bytes.
const PIECES: u64 = {
    let (mut pieces, mut i) = (0, 0);
    while i < Piece::COUNT {
        pieces |= (i as u64) << (4 * piece_code(Piece::ALL[i]));
        i += 1;
    }
    pieces
};

/// Returns the upper four bits of a piece's places: the type bits and the color. The result is from 2 to 13.
pub const fn piece_code(piece: Piece) -> u8 {
    CODES[piece.kind() as usize] << 1 | piece.color() as u8
}

impl Place {
    /// Returns a piece with an id, which must be below 16.
    #[inline]
    pub const fn new(piece: Piece, id: u8) -> Self {
        debug_assert!(id < 16);
        match NonZeroU8::new(piece_code(piece) << 4 | id & 15) {
            Some(bits) => Self(bits),
            None => unreachable!(),
        }
    }

    /// Returns the byte on the byteboard.
    #[inline]
    pub const fn byte(self) -> u8 {
        self.0.get()
    }

    /// Returns the id. The king's is 0.
    #[inline]
    pub const fn id(self) -> usize {
        (self.0.get() & 15) as usize
    }

    /// Returns the bit of the id.
    #[inline]
    pub const fn bit(self) -> u16 {
        1 << self.id()
    }

    /// Returns the piece.
    #[inline]
    pub const fn piece(self) -> Piece {
        let piece = PIECES >> (self.0.get() >> 4 << 2) & 15;
        // SAFETY: every half byte of `PIECES` is the number of a piece or 0.
        unsafe { Piece::from_index_unchecked(piece as u8) }
    }

    /// Returns the color.
    #[inline]
    pub const fn color(self) -> Color {
        if self.0.get() & 0x10 == 0 { Color::White } else { Color::Black }
    }

    /// Returns the type.
    #[inline]
    pub const fn kind(self) -> PieceType {
        self.piece().kind()
    }

    /// Returns a piece of another type with the same color and id.
    #[inline]
    pub const fn promoted(self, kind: PieceType) -> Self {
        Self::new(Piece::new(self.color(), kind), self.id() as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_place() {
        for piece in Piece::ALL {
            for id in 0..16 {
                let place = Place::new(piece, id);
                assert_eq!((place.piece(), place.color(), place.kind()), (piece, piece.color(), piece.kind()));
                assert_eq!((place.id(), place.bit()), (usize::from(id), 1 << id));
                let queen = place.promoted(PieceType::Queen);
                assert_eq!((queen.piece(), queen.id()), (Piece::new(piece.color(), PieceType::Queen), place.id()));
            }
        }
    }
}
