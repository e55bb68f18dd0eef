//! Cuckoo tables, which tell from two Zobrist keys whether one reversible move leads from one position to the other.
//!
//! The idea is Marcel van Kervinck's (2013, marcelk.net/2013-04-06/paper/upcoming-rep-v2.pdf): the difference of the
//! keys before and after a reversible move depends only on the piece and its two squares. All those differences fit a
//! small hash table in which each has two possible slots, so a search can detect that the side to move can repeat a
//! position.

use crate::geometry::{Square, attacks};
use crate::layout::{Cuckoo, Zobrist};
use core::fmt;

/// The number of reversible moves: those of all pieces but pawns on an empty board, a move and its reverse counted
/// once.
pub const MOVES: usize = 3668;

/// The error of [`cuckoo`]: these keys allow no cuckoo table.
///
/// The table is nearly as full as a cuckoo table can be. About one seed in a hundred fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CuckooError {
    /// The two squares of the move that has no slot or cannot be found.
    pub squares: [Square; 2],
}

impl fmt::Display for CuckooError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [a, b] = self.squares;
        write!(
            f,
            "the Zobrist keys allow no cuckoo table: the move between squares {a} and {b} has no slot; try another \
             seed"
        )
    }
}

impl core::error::Error for CuckooError {}

/// Returns every reversible move as (key difference, its two squares, the lower first), by color, type and squares.
pub fn reversible_moves(keys: &Zobrist) -> impl Iterator<Item = (u64, [Square; 2])> + '_ {
    keys.pieces.iter().flat_map(move |types| {
        // Pawns, the first type, cannot move back.
        types.iter().enumerate().skip(1).flat_map(move |(kind, squares)| {
            (0..64).flat_map(move |a| {
                let reached = attacks(0, kind, a, 0);
                let partners = (a + 1..64).filter(move |b| reached >> b & 1 != 0);
                partners.map(move |b| (squares[a] ^ squares[b] ^ keys.black_to_move, [a, b]))
            })
        })
    })
}

/// Returns the cuckoo table of all reversible moves for these keys.
///
/// A move whose slot is taken displaces its occupant to the occupant's other slot, and so on.
///
/// ```
/// use kiln_gen::{cuckoo::cuckoo, zobrist::zobrist};
/// let keys = zobrist(2);
/// let table = cuckoo(&keys)?;
/// // A white knight (type 1) from b1 to c3, after which Black is to move.
/// let difference = keys.pieces[0][1][1] ^ keys.pieces[0][1][18] ^ keys.black_to_move;
/// assert_eq!(table.find(difference), Some([1, 18]));
/// # Ok::<(), kiln_gen::cuckoo::CuckooError>(())
/// ```
///
/// # Errors
/// If the displacements never end, two moves have the same key difference, or a difference is 0.
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
    let mut displaced = squares.map(|square| square as u8);
    let mut slot = Cuckoo::slots(key)[0];
    // A chain of displacements longer than the table never ends.
    for _ in 0..Cuckoo::SLOTS {
        core::mem::swap(&mut key, &mut table.keys[slot]);
        core::mem::swap(&mut displaced, &mut table.squares[slot]);
        if key == 0 {
            return Ok(());
        }
        let [first, second] = Cuckoo::slots(key);
        slot = if slot == first { second } else { first };
    }
    Err(CuckooError { squares })
}
