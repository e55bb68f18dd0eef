//! Features of pairs of pieces: which of them differ between two positions, and their rows of weights.
//!
//! Attack tables tell the pairs: bit *i* in the word of an occupied square is a pair of piece *i* and the piece there.
//! So the tables of two positions, of one game or of different games, tell the difference.

use super::rows::Rows;
use crate::board::{Position, piece_code};
use crate::simd::superpiece::Places;
use crate::simd::{Wordboard, native};
use crate::tables::threat_pairs;
use crate::types::{Bitboard, Color, Piece, Square};
use kiln_gen::layout::ThreatPairs;
use std::hint::select_unpredictable;

/// What the pairs of a position follow from, beside the places on its squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairInputs {
    /// The attack tables by color.
    tables: [Wordboard; 2],
    /// The square of each piece, by color and id; stale once captured.
    squares: [[Square; 16]; 2],
}

/// The ways to see the board: as White, as White mirrored, as Black, as Black mirrored.
const VIEWS: usize = 4;
/// By view: the number whose exclusive or with a square gives the square as the view sees it.
const FLIPS: [usize; VIEWS] = [0, 7, 56, 63];

/// By view and square: the squares that are lower, as the view numbers them.
static LOWER: [[u64; 64]; VIEWS] = {
    let mut lower = [[0; 64]; VIEWS];
    let mut i = 0;
    while i < VIEWS * 64 * 64 {
        let (view, square, other) = (i / 64 / 64, i / 64 % 64, i % 64);
        lower[view][square] |= ((other ^ FLIPS[view] < square ^ FLIPS[view]) as u64) << other;
        i += 1;
    }
    lower
};

/// An attacker on a square.
#[derive(Clone, Copy)]
struct Origin {
    /// [`ThreatPairs::targets`].
    targets: u64,
    /// [`ThreatPairs::offsets`] by view.
    offsets: [u16; VIEWS],
}

/// By the [`piece_code`] of the attacker and its square.
static ORIGINS: [[Origin; 64]; 16] = {
    let mut origins = [[Origin { targets: 0, offsets: [0; VIEWS] }; 64]; 16];
    let mut i = 0;
    while i < 64 * Piece::COUNT {
        let (attacker, from) = (Piece::ALL[i / 64], i % 64);
        let origin = &mut origins[piece_code(attacker) as usize][from];
        origin.targets = threat_pairs().targets[relative(attacker, 0)][from];
        let mut view = 0;
        while view < VIEWS {
            origin.offsets[view] = threat_pairs().offsets[relative(attacker, view)][from ^ FLIPS[view]] as u16;
            view += 1;
        }
        i += 1;
    }
    origins
};

/// Marks pairs without a feature in [`BASES`].
const NONE: u16 = u16::MAX;
const _: () = assert!(ThreatPairs::FEATURES < NONE as usize, "row numbers must fit 16 bits");

/// By the [`piece_code`]s of attacker and victim, the color of the view, and whether the attacker is on a higher square
/// than the victim: the first row of such pairs, or [`NONE`].
static BASES: [[[[u16; 2]; 2]; 16]; 16] = {
    let mut bases = [[[[NONE; 2]; 2]; 16]; 16];
    let mut i = 0;
    while i < 2 * Piece::COUNT * Piece::COUNT {
        let (attacker, victim) = (Piece::ALL[i / 2 / Piece::COUNT], Piece::ALL[i / 2 % Piece::COUNT]);
        let (color, view) = (i % 2, VIEWS / 2 * (i % 2));
        let [lower, higher] = threat_pairs().bases[relative(attacker, view)][relative(victim, view)];
        bases[piece_code(attacker) as usize][piece_code(victim) as usize][color] = [lower as u16, higher as u16];
        i += 1;
    }
    bases
};

/// Returns the number of a piece as a view sees it in [`ThreatPairs`].
const fn relative(piece: Piece, view: usize) -> usize {
    let is_other = piece.color() as usize != view / (VIEWS / 2);
    piece.kind() as usize + 6 * is_other as usize
}

/// A way to see the board.
#[derive(Clone, Copy)]
pub struct PairView {
    color: usize,
    view: usize,
}

impl PairView {
    /// Returns the view of a side, whose files are mirrored or not.
    #[inline]
    pub fn new(side: Color, mirrored: bool) -> Self {
        Self { color: side as usize, view: VIEWS / 2 * side as usize + usize::from(mirrored) }
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

/// Lists the rows of those pairs that only one of two positions has, as each view sees them: first those of the first
/// position, whose number it returns by view. `changed` and `moved` are those of
/// [`other_attacks`](crate::simd::portable::other_attacks).
#[inline]
pub fn list_rows<const N: usize, const ROWS: usize>(
    rows: [&mut Rows<ROWS>; N],
    views: [PairView; N],
    positions: [(&Places, &PairInputs); 2],
    changed: Bitboard,
    moved: u32,
) -> [usize; N] {
    let mut tables = [[Wordboard([0; 64]); 2]; 2];
    let attacked = [0, 1].map(|i| {
        let ((places, inputs), (_, other)) = (positions[i], positions[1 - i]);
        native::other_attacks(&mut tables[i], places, [&inputs.tables, &other.tables], changed.0, moved)
    });
    // The attacked squares of both positions, those of the second shifted by 64.
    let mut squares = u128::from(attacked[0]) | u128::from(attacked[1]) << 64;
    // The square of the victim, and the ids of its attackers, those of Black shifted by 16.
    let next = |squares: u128| {
        let place = squares.trailing_zeros() as usize % 128;
        let [white, black] = &tables[place / 64];
        (place, u32::from(white.0[place % 64]) | u32::from(black.0[place % 64]) << 16)
    };
    let (mut place, mut ids) = next(squares);
    let (mut counts, mut counts_of_first) = ([0; N], [0; N]);
    // One loop over positions, squares and ids, because the end of an inner loop would be mispredicted.
    while squares != 0 {
        let (second, to) = (place / 64, place % 64);
        let (places, inputs) = positions[second];
        let from = inputs.squares.as_flattened()[ids.trailing_zeros() as usize % 32];
        let (attacker, victim) = (usize::from(places.0[from] >> 4), usize::from(places.0[to] >> 4));
        let (origin, bases) = (&ORIGINS[attacker][from as usize], &BASES[attacker][victim]);
        for (i, PairView { color, view }) in views.into_iter().enumerate() {
            let lower = Bitboard(LOWER[view % VIEWS][to]);
            let base = bases[color % 2][usize::from(!lower.has(from))];
            let targets = (origin.targets & lower.0).count_ones() as u16;
            rows[i].numbers[counts[i] % ROWS] = base.wrapping_add(origin.offsets[view % VIEWS]).wrapping_add(targets);
            counts[i] += usize::from(base != NONE);
            counts_of_first[i] = select_unpredictable(second == 0, counts[i], counts_of_first[i]);
        }
        ids &= ids - 1;
        let squares_after = squares & (squares - 1);
        let after = next(squares_after);
        squares = select_unpredictable(ids == 0, squares_after, squares);
        (place, ids) = select_unpredictable(ids == 0, after, (place, ids));
    }
    rows.into_iter().zip(counts).for_each(|(rows, count)| rows.count = count);
    counts_of_first
}
