//! A fixed-capacity list of moves.

use crate::simd::{Spread, Wordboard, native};
use crate::types::{Bitboard, Move, MoveKind, Square};
use std::mem::MaybeUninit;
use std::ops::Deref;

/// An upper bound on the number of moves in a position: 15 queens with 27 moves each, a king with 8, and two castling
/// moves. The most known in a position reachable from the starting position is 218.
pub const MAX_MOVES: usize = 15 * 27 + 8 + 2;

/// Moves are written to indices below this power of two: a remainder is cheaper than a check.
const END: usize = (MAX_MOVES + 1).next_power_of_two();

/// The number of moves that are written at once. No piece of a legal position attacks so many squares.
const SPREAD: usize = size_of::<Spread>() / 2;

/// SIMD code may write whole vectors, beyond the last move.
type Words = [MaybeUninit<u16>; END + SPREAD];

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
    /// The first `count` words are moves.
    words: Words,
    count: usize,
}

impl MoveList {
    /// Returns an empty list.
    #[inline]
    pub fn new() -> Self {
        Self { words: [const { MaybeUninit::uninit() }; _], count: 0 }
    }

    /// Returns an appender.
    #[inline]
    pub(super) fn append(&mut self) -> Appender<'_> {
        // Empty meanwhile, so that after a panic no move is read that was overwritten.
        let count = std::mem::take(&mut self.count);
        Appender { words: &mut self.words, count, total: &mut self.count }
    }
}

/// Appends moves to a list, which has them once the appender is dropped. Meanwhile their number stays in a register:
/// in the list, each write of moves might change it, as far as the compiler knows.
pub(super) struct Appender<'a> {
    words: &'a mut Words,
    count: usize,
    total: &'a mut usize,
}

impl Drop for Appender<'_> {
    #[inline]
    fn drop(&mut self) {
        assert!(self.count < END, "the list has no room for so many moves");
        *self.total = self.count;
    }
}

impl Appender<'_> {
    /// Appends a move.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        self.words[self.count % END].write(mv.word());
        self.count += 1;
    }

    /// Appends a move from `from` to each of `targets`, at most 32.
    #[inline]
    pub fn push_from(&mut self, from: Square, targets: Bitboard, kind: MoveKind) {
        self.spread::<64>(targets, word(from as u16, kind));
    }

    /// Appends a move from `from` to each of the other `targets` whose word in `table` has one of `ids`, at most 32.
    #[inline]
    pub fn push_attacked(&mut self, from: Square, table: &Wordboard, ids: u16, targets: Bitboard, kind: MoveKind) {
        let targets = targets - from.into();
        let count = native::spread_any::<64>(self.room(), table, ids, targets.0, word(from as u16, kind));
        self.count += count.min(SPREAD);
    }

    /// Appends a move to each of `targets`, at most 32, from the square `step` below its number.
    #[inline]
    pub fn push_step(&mut self, step: i8, targets: Bitboard, kind: MoveKind) {
        self.spread::<65>(targets, word(0, kind).wrapping_add_signed(-i16::from(step)));
    }

    /// Appends a move to `to` from the square of each of `ids`, which is another or a capture.
    #[inline]
    pub fn push_to(&mut self, squares: &[Square; 16], ids: u16, to: Square, kind: MoveKind) {
        self.count += native::pick(self.room(), &squares.map(|square| square as u8), ids, word((to as u16) << 6, kind));
    }

    #[inline]
    fn spread<const FACTOR: u16>(&mut self, targets: Bitboard, offset: u16) {
        // Mostly easy to predict.
        if targets.is_empty() {
            return;
        }
        self.count += native::spread::<FACTOR>(self.room(), targets.0, offset).min(SPREAD);
    }

    #[inline]
    fn room<const N: usize>(&mut self) -> &mut [MaybeUninit<u16>; N] {
        self.words[self.count % END..].first_chunk_mut().expect("the words end a vector after the last index")
    }
}

#[inline]
fn word(from: u16, kind: MoveKind) -> u16 {
    from | (kind as u16) << 12
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
        // SAFETY: `count` is below END, so that appenders wrote the first `count` words at their own indices and
        // nothing over them.
        // `push` writes moves, and the kernels write as many words as are counted. No word is zero: it has a kind that
        // is not, or a target that differs from its origin. `Move` is a transparent `NonZeroU16`, so that every
        // non-zero word is a valid value.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.count) }
    }
}

impl IntoIterator for MoveList {
    type Item = Move;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter { list: self, next: 0 }
    }
}

/// Iterates over the moves of a [`MoveList`] by value.
#[derive(Clone)]
pub struct IntoIter {
    list: MoveList,
    next: usize,
}

impl Iterator for IntoIter {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        let mv = self.list.get(self.next).copied();
        self.next += usize::from(mv.is_some());
        mv
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.list.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for IntoIter {}

impl<'a> IntoIterator for &'a MoveList {
    type Item = &'a Move;
    type IntoIter = std::slice::Iter<'a, Move>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use crate::board::{MoveList, Position};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn lists_are_iterated_by_value_and_by_reference() {
        let list = Position::startpos().moves();
        let iterator = list.clone().into_iter();
        assert_eq!(iterator.len(), 20);
        assert!(iterator.eq(list.iter().copied()));
    }

    #[test]
    fn an_overflow_panics_and_leaves_no_moves() {
        let mut list = MoveList::new();
        let start = Position::startpos();
        for count in 1..=25 {
            start.list_moves(&mut list);
            assert_eq!(list.len(), 20 * count);
        }
        assert!(list.iter().zip(start.moves().iter().cycle()).all(|(a, b)| a == b));
        assert!(catch_unwind(AssertUnwindSafe(|| start.list_moves(&mut list))).is_err());
        assert!(list.is_empty());
    }
}
