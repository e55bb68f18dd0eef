//! Features of pairs of pieces: which of them differ between two positions, and their rows of weights.
//!
//! Attack tables tell the pairs: bit *i* in the word of an occupied square is a pair of piece *i* and the piece there.
//! So the tables of two positions, of one game or of different games, tell the difference.

use super::rows::Rows;
use crate::board::{Position, piece_code};
use crate::simd::superpiece::Places;
use crate::simd::{Wordboard, native};
use crate::tables::threat_pairs;
use crate::types::{Bitboard, Piece, Square};
use kiln_gen::layout::ThreatPairs;

/// What the pairs of a position follow from, beside the places on its squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairInputs {
    /// The attack tables by color.
    tables: [Wordboard; 2],
    /// The square of each piece, by color and id; stale once captured.
    squares: [[Square; 16]; 2],
}

/// Marks pairs without a feature in [`BASES`].
const NONE: u16 = u16::MAX;
const _: () = assert!(ThreatPairs::FEATURES < NONE as usize, "row numbers must fit 16 bits");

/// [`ThreatPairs::bases`] by the [`piece_code`]s of attacker and victim relative to White's perspective. Those relative
/// to Black's have another lowest bit.
static BASES: [[[u16; 2]; 16]; 16] = {
    let mut bases = [[[NONE; 2]; 16]; 16];
    let mut i = 0;
    while i < Piece::COUNT * Piece::COUNT {
        let (attacker, victim) = (Piece::ALL[i / Piece::COUNT], Piece::ALL[i % Piece::COUNT]);
        let [lower, higher] = threat_pairs().bases[relative(attacker)][relative(victim)];
        bases[piece_code(attacker) as usize][piece_code(victim) as usize] = [lower as u16, higher as u16];
        i += 1;
    }
    bases
};

/// An attacker on a square.
#[derive(Clone, Copy)]
struct Origin {
    /// [`ThreatPairs::targets`].
    targets: u64,
    /// [`ThreatPairs::offsets`].
    offset: u16,
}

/// By the [`piece_code`] of the attacker and its square, relative to White's perspective.
static ORIGINS: [[Origin; 64]; 16] = {
    let mut origins = [[Origin { targets: 0, offset: 0 }; 64]; 16];
    let mut i = 0;
    while i < 64 * Piece::COUNT {
        let (attacker, from) = (Piece::ALL[i / 64], i % 64);
        origins[piece_code(attacker) as usize][from] = Origin {
            targets: threat_pairs().targets[relative(attacker)][from],
            offset: threat_pairs().offsets[relative(attacker)][from] as u16,
        };
        i += 1;
    }
    origins
};

/// Returns the number of a piece relative to White's perspective in [`ThreatPairs`].
const fn relative(piece: Piece) -> usize {
    piece.kind() as usize + 6 * piece.color() as usize
}

/// A pair with the codes and squares of attacker and victim, one byte each, as White or another perspective sees it.
#[derive(Clone, Copy)]
struct Pair(u32);

impl Pair {
    #[inline]
    fn new(attacker: u8, from: Square, victim: u8, to: Square) -> Self {
        Self(u32::from_le_bytes([attacker, from as u8, victim, to as u8]))
    }

    /// Returns the number of the feature, if the flag is set.
    #[inline]
    fn feature(self) -> (u16, bool) {
        let [attacker, from, victim, to] = self.0.to_le_bytes().map(usize::from);
        let base = BASES[attacker % 16][victim % 16][usize::from(from > to)];
        let Origin { targets, offset } = ORIGINS[attacker % 16][from % 64];
        let lower = targets & !(!0 << (to % 64));
        (base.wrapping_add(offset).wrapping_add(lower.count_ones() as u16), base != NONE)
    }
}

/// A perspective as a change of [`Pair`]s.
#[derive(Clone, Copy)]
pub struct PairView(u32);

impl PairView {
    /// Returns the view of Black or White that sees the square `square ^ flip`.
    #[inline]
    pub fn new(is_black: bool, flip: usize) -> Self {
        let color = u8::from(is_black);
        Self(u32::from_le_bytes([color, flip as u8, color, flip as u8]))
    }
}

impl PairInputs {
    /// Returns the inputs of an empty board.
    pub fn empty() -> Self {
        Self { tables: [Wordboard([0; 64]); 2], squares: [[Square::A1; 16]; 2] }
    }

    /// Returns the inputs of a position.
    #[inline]
    pub fn new(position: &Position) -> Self {
        Self { tables: *position.attack_tables(), squares: *position.squares_by_id() }
    }
}

/// Appends the rows of those pairs of a position that another has not, as each view sees them. `changed` and `moved`
/// are those of [`other_attacks`](crate::simd::portable::other_attacks).
#[inline]
pub fn append_rows<const N: usize>(
    mut rows: [&mut Rows<256>; N],
    views: [PairView; N],
    (places, inputs): (&Places, &PairInputs),
    other: &PairInputs,
    changed: Bitboard,
    moved: u32,
) {
    let mut tables = [Wordboard([0; 64]); 2];
    let squares = native::other_attacks(&mut tables, places, [&inputs.tables, &other.tables], changed.0, moved);
    for to in Bitboard(squares) {
        let victim = places.0[to] >> 4;
        let mut ids = u32::from(tables[0].0[to]) | u32::from(tables[1].0[to]) << 16;
        while ids != 0 {
            let from = inputs.squares.as_flattened()[ids.trailing_zeros() as usize % 32];
            ids &= ids - 1;
            let pair = Pair::new(places.0[from] >> 4, from, victim, to);
            for (rows, view) in rows.iter_mut().zip(views) {
                let (row, is_feature) = Pair(pair.0 ^ view.0).feature();
                rows.push_if(row, is_feature);
            }
        }
    }
}
