//! A fixed-capacity list of moves.

use crate::simd::{Spread, native};
use crate::types::{Bitboard, Move, MoveKind, Square};
use std::mem::MaybeUninit;
use std::ops::Deref;

/// An upper bound on the number of moves in a position: 15 queens with 27 moves each, a king with 8, and two castling
/// moves. The most known in a position reachable from the starting position is 218.
pub const MAX_MOVES: usize = 15 * 27 + 8 + 2;

/// A list of moves with fixed capacity, which dereferences to `[Move]`. It does not allocate.
///
/// ```
/// use kiln::board::{MoveList, Position};
///
/// let mut list = MoveList::new();
/// Position::startpos().list_moves(&mut list);
/// assert_eq!(list.len(), 20);
/// assert!(list.iter().any(|mv| mv.uci(false) == "e2e4"));
/// ```
#[derive(Clone)]
pub struct MoveList {
    /// The first `count` words are moves. SIMD code may write whole vectors beyond them.
    words: [MaybeUninit<u16>; MAX_MOVES + size_of::<Spread>() / 2],
    count: usize,
}

impl MoveList {
    /// Returns an empty list.
    #[inline]
    pub fn new() -> Self {
        Self { words: [const { MaybeUninit::uninit() }; _], count: 0 }
    }

    /// Appends a move.
    #[inline]
    pub(super) fn push(&mut self, mv: Move) {
        self.words[self.count].write(mv.word());
        self.count += 1;
    }

    /// Appends a move from `from` to each of `targets`.
    #[inline]
    pub(super) fn push_from(&mut self, from: Square, targets: Bitboard, kind: MoveKind) {
        self.spread::<64>(targets, Self::word(from as u16, kind));
    }

    /// Appends a move to each of `targets` from the square `step` below its number.
    #[inline]
    pub(super) fn push_step(&mut self, step: i8, targets: Bitboard, kind: MoveKind) {
        self.spread::<65>(targets, Self::word(0, kind).wrapping_add_signed(-i16::from(step)));
    }

    #[inline]
    fn word(from: u16, kind: MoveKind) -> u16 {
        from | (kind as u16) << 12
    }

    #[inline]
    fn spread<const FACTOR: u16>(&mut self, targets: Bitboard, offset: u16) {
        let out = self.words[self.count..].first_chunk_mut().expect("the list has room for a move to each square");
        self.count += native::spread::<FACTOR>(out, targets.0, offset);
    }
}

impl Default for MoveList {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for MoveList {
    type Target = [Move];

    #[inline]
    fn deref(&self) -> &[Move] {
        // SAFETY: the first `count` words are initialized: `push` writes moves, and `spread` writes words whose target
        // differs from their origin, which its callers guarantee, so that they are not zero. `Move` is a transparent
        // `NonZeroU16`, so that every non-zero word is a valid value.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.count) }
    }
}

impl<'a> IntoIterator for &'a MoveList {
    type Item = &'a Move;
    type IntoIter = std::slice::Iter<'a, Move>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
