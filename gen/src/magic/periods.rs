//! Exhaustive search by periods: finds all factors of a window, or proves that there is none.
//!
//! `occupied * factor` modulo 2⁶⁴ does not depend on the highest bits of the factor: if *s* is the lowest occupied
//! square, it repeats with period 2⁶⁴⁻ˢ. The least common multiple of the periods of all relevant occupancies bounds
//! the candidates (Niklas Fiekas, talkchess.com, 2017, "Disproving the existence of some magics"): 2²⁶ for a bishop on
//! d8, 2⁵¹ for a rook on f8.
//!
//! The shorter periods prune. Squares are added from the highest down, each with the bits of the factor on which it
//! depends beyond those before it. If two occupancies of the squares so far share an entry but not their attack set,
//! no higher bits can part them. Windows narrower than the mask leave little room, so few branches are long.
//!
//! *Rows.* Squares of a file are eight apart: each adds eight bits, which are the highest of its contribution. Their
//! 256 values move the new occupancies together through the window, which is therefore cut into 256 rows. Rotating
//! the rows in which an occupancy's column holds other sets tells all values that it excludes.

use super::Case;
use crate::geometry::{Square, Step, relevant_mask};
use alloc::{vec, vec::Vec};
use core::ops::{ControlFlow, Range};

/// What [`factors`] did with the bits of the factor that one square adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The square.
    pub square: Square,
    /// Values tried.
    pub tried: u64,
    /// Values that were right for all occupancies of this and higher squares.
    pub kept: u64,
}

/// Calls `visit` with each factor that is correct for a slider with a window of `bits` index bits, until it returns
/// `Break`. Returns the work done by square.
///
/// The factors are those below the longest period, the others differ only in bits that do not matter. `directions` are
/// those of [`ROOK`](crate::geometry::ROOK) or [`BISHOP`](crate::geometry::BISHOP). `first` are the values to try for
/// the bits that the highest square *s* of the mask needs, below 2⁶⁴⁻ˢ, all of them if `None`: parts can run side by
/// side.
///
/// ```
/// use core::ops::ControlFlow;
/// use kiln_gen::geometry::BISHOP;
/// // A bishop on d8 with 5 squares in its mask cannot do with 4 index bits.
/// let levels = kiln_gen::magic::periods::factors(59, &BISHOP, 4, None, |_| ControlFlow::Break(()));
/// assert_eq!(levels.last().map(|level| level.kept), Some(0));
/// ```
///
/// # Panics
/// If `bits` is not in 1 to 12, or `first` ends beyond its bound.
pub fn factors(
    square: Square,
    directions: &[Step],
    bits: u32,
    first: Option<Range<u64>>,
    visit: impl FnMut(u64) -> ControlFlow<()>,
) -> Vec<Level> {
    assert!((1..=12).contains(&bits), "a window of {bits} index bits, expected 1 to 12");
    let mask = relevant_mask(square, directions);
    let squares: Vec<u32> = (0..64).rev().filter(|square| mask >> square & 1 != 0).collect();
    let end = 1 << (64 - squares[0]);
    assert!(first.as_ref().is_none_or(|first| first.end <= end), "values {first:?}, expected below {end}");
    let sets = attack_sets(&squares, &super::cases(square, directions));
    let count = usize::from(*sets.iter().max().expect("the empty board has a set"));
    let orders = (0..squares.len()).map(|level| {
        let mut order: Vec<u16> = (0..1 << level).collect();
        // Occupancies of few pieces exclude most: their attack sets differ most.
        order.sort_by_key(|subset| subset.count_ones());
        order
    });
    let levels = squares.iter().map(|&square| Level { square: square as Square, tried: 0, kept: 0 });
    let mut tree = Tree {
        shift: 64 - bits,
        orders: orders.collect(),
        products: vec![0; sets.len()],
        sets,
        table: Table::new(bits, count),
        moving: squares.iter().map(|_| Table::new(bits, count)).collect(),
        among: vec![(0, 0); 1 << bits],
        trial: 0,
        levels: levels.collect(),
        squares,
        visit,
    };
    tree.table.put(0, tree.sets[0]);
    // The end of the search needs no other sign: the caller knows whether it broke off.
    let _ = tree.values(0, 0, first);
    tree.levels
}

/// Returns the number of the attack set, from 1, of each subset of the squares (bit *n* is square *n* of the list).
fn attack_sets(squares: &[u32], cases: &[Case]) -> Vec<u8> {
    let mut different: Vec<u64> = cases.iter().map(|&(_, attacks)| attacks).collect();
    different.sort_unstable();
    different.dedup();
    let mut sets = vec![0; cases.len()];
    for &(occupied, attacks) in cases {
        let subset: usize = (0..squares.len()).map(|bit| ((occupied >> squares[bit] & 1) as usize) << bit).sum();
        sets[subset] = different.binary_search(&attacks).expect("all sets are listed") as u8 + 1;
    }
    sets
}

/// Rows of the window, one bit each, in a ring.
type Rows = [u64; 4];

/// The bits of the factor that a square of a file adds.
const ROW_BITS: u32 = 8;

/// Returns the rows so that row `by` comes first.
fn rotated(rows: &Rows, by: usize) -> Rows {
    let (words, bits) = (by / 64, by % 64);
    core::array::from_fn(|word| {
        let [low, high] = [0, 1].map(|next| rows[(words + word + next) % 4]);
        low >> bits | high << 1 << (63 - bits)
    })
}

/// A window with the attack sets that it holds.
struct Table {
    /// The logarithm of the number of columns. An entry's number is its row times the columns, plus its column.
    columns: u32,
    /// The set in each entry, 0 if it is free.
    sets: Vec<u8>,
    /// By column: rows that are not free.
    taken: Vec<Rows>,
    /// By set and column: rows that hold the set.
    own: Vec<Rows>,
    /// Entries in the order in which they were taken.
    log: Vec<u16>,
}

impl Table {
    fn new(bits: u32, sets: usize) -> Self {
        let columns = bits.saturating_sub(ROW_BITS);
        let rows = [0; 4];
        Self {
            columns,
            sets: vec![0; 1 << bits],
            taken: vec![rows; 1 << columns],
            own: vec![rows; (sets + 1) << columns],
            log: Vec::new(),
        }
    }

    /// Puts a set into an entry. Returns false if this holds another set.
    fn put(&mut self, entry: usize, set: u8) -> bool {
        if self.sets[entry] == 0 {
            self.sets[entry] = set;
            self.toggle(entry, set);
            self.log.push(entry as u16);
        }
        self.sets[entry] == set
    }

    /// Frees the entries taken since the log had this length.
    fn undo(&mut self, length: usize) {
        while self.log.len() > length {
            let entry = usize::from(self.log.pop().expect("the log is longer"));
            let set = core::mem::take(&mut self.sets[entry]);
            self.toggle(entry, set);
        }
    }

    fn toggle(&mut self, entry: usize, set: u8) {
        let (row, column) = (entry >> self.columns, entry & ((1 << self.columns) - 1));
        self.taken[column][row / 64] ^= 1 << (row % 64);
        self.own[usize::from(set) << self.columns | column][row / 64] ^= 1 << (row % 64);
    }

    /// Returns by how many rows the set may not be moved from an entry, because other sets are there, if the table
    /// itself is moved by `moved` rows.
    fn excluded(&self, entry: usize, set: u8, moved: usize) -> Rows {
        let (row, column) = (entry >> self.columns, entry & ((1 << self.columns) - 1));
        let (taken, own) = (&self.taken[column], &self.own[usize::from(set) << self.columns | column]);
        rotated(&core::array::from_fn(|word| taken[word] & !own[word]), row.wrapping_sub(moved) % 256)
    }
}

struct Tree<V> {
    /// The mask's squares, the highest first.
    squares: Vec<u32>,
    shift: u32,
    /// The attack set of each subset of the squares, see [`attack_sets`].
    sets: Vec<u8>,
    /// The product of each subset with the factor so far.
    products: Vec<u64>,
    /// By number of squares: all their subsets, those that exclude most first.
    orders: Vec<Vec<u16>>,
    /// The subsets of the squares so far.
    table: Table,
    /// By square of a file: its subsets as the value 0 places them.
    moving: Vec<Table>,
    /// Scratch: the set at each index and the number of the trial that wrote it, which saves clearing.
    among: Vec<(u8, u64)>,
    trial: u64,
    levels: Vec<Level>,
    visit: V,
}

impl<V: FnMut(u64) -> ControlFlow<()>> Tree<V> {
    /// Tries one by one the values (or some) of the bits that a square adds to the factor.
    fn values(&mut self, level: usize, factor: u64, some: Option<Range<u64>>) -> ControlFlow<()> {
        let known = if level == 0 { 0 } else { 64 - self.squares[level - 1] };
        let added = 64 - self.squares[level] - known;
        let new = 1 << level;
        let mark = self.table.log.len();
        for value in some.unwrap_or(0..1 << added) {
            let factor = factor | value << known;
            self.levels[level].tried += 1;
            let is_right = (0..new).all(|subset| {
                let product = self.products[subset].wrapping_add(factor << self.squares[level]);
                self.products[subset | new] = product;
                self.table.put((product >> self.shift) as usize, self.sets[subset | new])
            });
            if is_right {
                self.levels[level].kept += 1;
                let rest = &self.squares[level..];
                if rest.len() == 1 {
                    (self.visit)(factor)?;
                } else if self.shift <= 64 - ROW_BITS && rest.windows(2).all(|pair| pair[0] - pair[1] == ROW_BITS) {
                    self.rows(level + 1, factor, 0)?;
                } else {
                    self.values(level + 1, factor, None)?;
                }
            }
            self.table.undo(mark);
        }
        ControlFlow::Continue(())
    }

    /// Tries at once all values of the eight bits that a square of a file adds. `last` is the value of the square
    /// before, whose subsets are not yet in the table unless they were tried one by one.
    fn rows(&mut self, level: usize, factor: u64, last: usize) -> ControlFlow<()> {
        self.levels[level].tried += 256;
        let new = 1 << level;
        let contribution = factor << self.squares[level];
        let Some(right) = self.right_values(level, contribution, last) else { return ControlFlow::Continue(()) };
        let index = |product: u64| (product >> self.shift) as usize;
        let is_last = level + 1 == self.squares.len();
        let mark = self.table.log.len();
        if !is_last {
            for subset in 0..new {
                self.table.put(index(self.products[subset]), self.sets[subset]);
                let entry = index(self.products[subset].wrapping_add(contribution));
                self.moving[level].put(entry, self.sets[subset | new]);
            }
        }
        let known = 64 - self.squares[level - 1];
        let mut end = ControlFlow::Continue(());
        for value in (0..256).filter(|value| right[value / 64] >> (value % 64) & 1 != 0) {
            self.levels[level].kept += 1;
            let factor = factor | (value as u64) << known;
            if is_last {
                end = (self.visit)(factor);
            } else {
                let contribution = factor << self.squares[level];
                for subset in 0..new {
                    self.products[subset | new] = self.products[subset].wrapping_add(contribution);
                }
                end = self.rows(level + 1, factor, value);
            }
            if end.is_break() {
                break;
            }
        }
        self.moving[level].undo(0);
        self.table.undo(mark);
        end
    }

    /// Returns the values of a square's bits that are right, or `None` if there are none.
    fn right_values(&mut self, level: usize, contribution: u64, last: usize) -> Option<Rows> {
        let Self { orders, products, sets, table, moving, among, .. } = self;
        let new = 1 << level;
        let subsets = orders[level].iter().map(|&subset| {
            let subset = usize::from(subset);
            ((products[subset].wrapping_add(contribution) >> self.shift) as usize, sets[subset | new])
        });
        let mut right = [!0; 4];
        for (entry, set) in subsets.clone() {
            let placed = table.excluded(entry, set, 0);
            let moved = moving[level - 1].excluded(entry, set, last);
            right = core::array::from_fn(|word| right[word] & !(placed[word] | moved[word]));
            if right == [0; 4] {
                return None;
            }
        }
        // Whether the new subsets exclude each other, which no move changes.
        self.trial += 1;
        for (entry, set) in subsets {
            if among[entry].1 != self.trial {
                among[entry] = (set, self.trial);
            } else if among[entry].0 != set {
                return None;
            }
        }
        Some(right)
    }
}
