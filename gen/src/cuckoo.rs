//! Cuckoo tables: does one reversible move lead from one position to another, seen from their keys alone?
//!
//! The idea is Marcel van Kervinck's (his paper of 2013, marcelk.net/2013-04-06/paper/upcoming-rep-v2.pdf): the difference of the keys before
//! and after a reversible move depends on the piece and its two squares only, so all those differences fit a small hash
//! table in which each has two places, and a search can see that the side to move is able to bring about a repetition.

use crate::geometry::{Square, attacks_on_empty_board};
use crate::layout::{Cuckoo, Zobrist};
use core::fmt;

/// How many reversible moves there are: those of all pieces but pawns on an empty board, each with its way back counted once.
pub const MOVES: usize = 3668;

/// Keys that admit no cuckoo table; those of another seed may well do: the table is nearly as full as cuckoo tables can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CuckooError {
    /// The two squares of the move that finds no place or is not found again.
    pub squares: [Square; 2],
}

impl fmt::Display for CuckooError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [a, b] = self.squares;
        write!(
            f,
            "the Zobrist keys admit no cuckoo table: the move between squares {a} and {b} has no place; take another seed"
        )
    }
}

impl core::error::Error for CuckooError {}

/// Every reversible move as (key difference, its two squares, the lower first), in the order colour, type, squares.
pub fn reversible_moves(keys: &Zobrist) -> impl Iterator<Item = (u64, [Square; 2])> + '_ {
    keys.pieces.iter().flat_map(move |types| {
        // Pawns, the first type, do not move back.
        types.iter().enumerate().skip(1).flat_map(move |(kind, squares)| {
            (0..64).flat_map(move |a| {
                let reached = attacks_on_empty_board(kind, a);
                let partners = (a + 1..64).filter(move |b| reached >> b & 1 != 0);
                partners.map(move |b| (squares[a] ^ squares[b] ^ keys.black_to_move, [a, b]))
            })
        })
    })
}

/// The cuckoo table of all reversible moves for these keys.
///
/// A move that finds its place taken drives the other one out to that one's second place, and so on. Fails if that never ends, and if two
/// moves have the same key difference or one has 0, so that it would not be found.
pub fn cuckoo(keys: &Zobrist) -> Result<Cuckoo, CuckooError> {
    let mut table = Cuckoo { keys: [0; Cuckoo::SLOTS], squares: [[0; 2]; Cuckoo::SLOTS] };
    for (key, squares) in reversible_moves(keys) {
        insert(&mut table, key, squares)?;
    }
    match reversible_moves(keys).find(|&(key, [a, b])| table.find(key) != Some([a as u8, b as u8])) {
        None => Ok(table),
        Some((_, squares)) => Err(CuckooError { squares }),
    }
}

fn insert(table: &mut Cuckoo, mut key: u64, squares: [Square; 2]) -> Result<(), CuckooError> {
    let mut homeless = squares.map(|square| square as u8);
    let mut slot = Cuckoo::slots(key)[0];
    // A chain longer than the table has been everywhere.
    for _ in 0..Cuckoo::SLOTS {
        core::mem::swap(&mut key, &mut table.keys[slot]);
        core::mem::swap(&mut homeless, &mut table.squares[slot]);
        if key == 0 {
            return Ok(());
        }
        let [first, second] = Cuckoo::slots(key);
        slot = if slot == first { second } else { first };
    }
    Err(CuckooError { squares })
}
