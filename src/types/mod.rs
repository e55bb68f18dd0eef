//! The small domains of chess: squares, pieces, moves, sets of squares, scores. They know nothing of the rest.

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
pub use score::Score;
pub use square::{File, Rank, Square};
pub use win_model::WinModel;

/// Defines an enum over `0..COUNT` whose members index arrays of that length.
macro_rules! small_enum {
    ($(#[$meta:meta])* $name:ident, $count:literal, [$($member:ident),* $(,)?]) => {
        $(#[$meta])*
        #[allow(missing_docs, reason = "the members name themselves")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($member),* }

        impl $name {
            /// How many members there are.
            pub const COUNT: usize = $count;
            /// All members in order.
            pub const ALL: [Self; $count] = [$(Self::$member),*];

            /// The member's number, counted from 0.
            #[inline]
            pub const fn index(self) -> usize {
                self as usize
            }

            /// The member with this number.
            ///
            /// # Safety
            /// There must be more members.
            #[allow(dead_code, reason = "not every domain needs it")]
            #[inline]
            pub(crate) const unsafe fn from_index_unchecked(index: u8) -> Self {
                debug_assert!((index as usize) < Self::COUNT);
                // SAFETY: the members are numbered from 0 without gaps, in the representation of a `u8`.
                unsafe { std::mem::transmute::<u8, Self>(index) }
            }

            /// The member with this number; none if there are fewer.
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
