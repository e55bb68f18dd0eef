//! The basic types of chess: squares, bitboards, pieces, moves, castling rights and scores. They use no other module.

mod bitboard;
mod castling;
mod moves;
mod piece;
mod score;
mod square;
mod win_model;

pub use bitboard::Bitboard;
pub use castling::{CastlingRights, CastlingSide};
pub use moves::{Move, MoveKind};
pub use piece::{Color, Piece, PieceType};
pub use score::{Bound, Score};
pub use square::{File, Rank, Square};
pub use win_model::WinModel;

/// Defines an enum over `0..COUNT` whose values index arrays of that length.
macro_rules! small_enum {
    ($(#[$meta:meta])* $name:ident, $count:literal, [$($member:ident),* $(,)?]) => {
        $(#[$meta])*
        #[allow(missing_docs, reason = "the names of the values explain themselves")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($member),* }

        impl $name {
            /// The number of values.
            pub const COUNT: usize = $count;
            /// All values in order.
            pub const ALL: [Self; $count] = [$(Self::$member),*];

            /// Returns the value's number, from 0 to `COUNT - 1`.
            #[inline]
            pub const fn index(self) -> usize {
                self as usize
            }

            /// Returns the value with this number.
            ///
            /// # Safety
            /// `index` must be less than `COUNT`.
            #[allow(dead_code, reason = "not every enum needs it")]
            #[inline]
            pub(crate) const unsafe fn from_index_unchecked(index: u8) -> Self {
                debug_assert!((index as usize) < Self::COUNT);
                // SAFETY: the enum is `repr(u8)` with values 0 to COUNT - 1 without gaps, and `index` is less than
                // COUNT.
                unsafe { std::mem::transmute::<u8, Self>(index) }
            }

            /// Returns the value with this number, or `None` if `index` is not less than `COUNT`.
            #[inline]
            pub fn from_index(index: usize) -> Option<Self> {
                Self::ALL.get(index).copied()
            }
        }

        impl<T> std::ops::Index<$name> for [T; $count] {
            type Output = T;
            #[inline]
            fn index(&self, index: $name) -> &T {
                &self[index as usize]
            }
        }

        impl<T> std::ops::IndexMut<$name> for [T; $count] {
            #[inline]
            fn index_mut(&mut self, index: $name) -> &mut T {
                &mut self[index as usize]
            }
        }

        const _: () = assert!(size_of::<Option<$name>>() == 1);
    };
}
use small_enum;
