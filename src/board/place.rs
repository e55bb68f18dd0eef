//! Pieces with ids, the elements of the byteboard.

use crate::types::{Color, Piece, PieceType};
use std::num::NonZeroU8;

/// A piece on the byteboard, with its id among the pieces of its side.
///
/// Bits 0 to 3 hold the id, bits 4 to 7 the piece's number plus 1, so that zero can stand for an empty square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Place(NonZeroU8);

const _: () = assert!(size_of::<Option<Place>>() == 1);

impl Place {
    /// Returns a piece with an id, which must be below 16.
    #[inline]
    pub const fn new(piece: Piece, id: u8) -> Self {
        debug_assert!(id < 16);
        match NonZeroU8::new((piece as u8 + 1) << 4 | id & 15) {
            Some(bits) => Self(bits),
            None => unreachable!(),
        }
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
        // SAFETY: only `new` creates a `Place`, and it stores the piece's number plus 1 in these bits.
        unsafe { Piece::from_index_unchecked((self.0.get() >> 4) - 1) }
    }

    /// Returns the color.
    #[inline]
    pub const fn color(self) -> Color {
        self.piece().color()
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
