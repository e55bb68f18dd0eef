//! Schemes for looking up slider attacks, to compare with Kiln's own.
//!
//! The Chessprogramming wiki describes them under "Sliding Piece Attacks".

pub mod search;

use kiln::tables;
use kiln::types::{Bitboard, Square};
use kiln_gen::geometry::{BISHOP, ROOK, slider_attacks};
use kiln_gen::magic;
use std::sync::OnceLock;

/// A scheme for looking up attack sets. All schemes must give the same sets.
pub trait Scheme {
    /// Returns the attack set of a rook, which includes the first occupied square of each ray.
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard;
    /// Returns the attack set of a bishop.
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard;
    /// Returns the attack set of a queen.
    #[inline]
    fn queen(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.rook(square, occupied) | self.bishop(square, occupied)
    }
}

/// Kiln's magic tables, as the engine uses them.
pub struct Kiln;

impl Scheme for Kiln {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        tables::rook_attacks(square, occupied)
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        tables::bishop_attacks(square, occupied)
    }
    #[inline]
    fn queen(&self, square: Square, occupied: Bitboard) -> Bitboard {
        tables::queen_attacks(square, occupied)
    }
}

/// Magic tables computed at the first look-up, as in engines without build-time tables. Each look-up checks for this.
pub struct Lazy;

static LAZY: OnceLock<magic::MagicTables> = OnceLock::new();

impl Lazy {
    #[inline]
    fn tables() -> &'static magic::MagicTables {
        LAZY.get_or_init(|| magic::search(1))
    }
}

impl Scheme for Lazy {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let tables = Self::tables();
        Bitboard(tables.attacks[tables.sliders.rook[square].index(occupied.0)])
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let tables = Self::tables();
        Bitboard(tables.attacks[tables.sliders.bishop[square].index(occupied.0)])
    }
}

/// Magics of another search, with a shift and an offset per square as in Kiln's.
pub struct Magics(pub magic::MagicTables);

impl Scheme for Magics {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(self.0.attacks[self.0.sliders.rook[square].index(occupied.0)])
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(self.0.attacks[self.0.sliders.bishop[square].index(occupied.0)])
    }
}

/// Magics with one shift for all squares of a slider, a constant in the code.
pub struct FixedShift {
    /// Masks, factors and offsets, rooks first.
    squares: [[(u64, u64, u32); 64]; 2],
    attacks: Box<[u64]>,
}

impl FixedShift {
    /// Searches the magics.
    pub fn new() -> Self {
        let magic::MagicTables { sliders, attacks } = search::fixed_shift(1);
        let squares = [sliders.rook, sliders.bishop].map(|magics| magics.map(|m| (m.mask, m.factor, m.offset)));
        Self { squares, attacks: attacks.into() }
    }

    #[inline]
    fn look_up<const SLIDER: usize>(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let (mask, factor, offset) = self.squares[SLIDER][square];
        let index = (occupied.0 & mask).wrapping_mul(factor) >> search::FIXED_SHIFTS[SLIDER];
        Bitboard(self.attacks[offset as usize + index as usize])
    }
}

impl Scheme for FixedShift {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up::<0>(square, occupied)
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up::<1>(square, occupied)
    }
}

/// Walks each ray square by square, without a table.
pub struct Walk;

impl Scheme for Walk {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(slider_attacks(square.index(), &ROOK, occupied.0))
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(slider_attacks(square.index(), &BISHOP, occupied.0))
    }
}

/// The functions of cozy-chess: black magics, or PEXT if the target and cozy-chess's features have it.
pub struct CozyChess;

#[inline]
fn to_peer(square: Square) -> cozy_chess::Square {
    cozy_chess::Square::index(square.index())
}

impl Scheme for CozyChess {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(cozy_chess::get_rook_moves(to_peer(square), cozy_chess::BitBoard(occupied.0)).0)
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        Bitboard(cozy_chess::get_bishop_moves(to_peer(square), cozy_chess::BitBoard(occupied.0)).0)
    }
}

/// Hyperbola quintessence, by Gerd Isenberg and Aleks Peczarski: o ^ (o - 2r) marks the upward ray to its first
/// blocker, and on the reversed board the downward ray.
pub struct Hyperbola {
    /// By square: rank, file, diagonal and anti-diagonal, without the square itself.
    lines: [[u64; 4]; 64],
}

impl Hyperbola {
    /// Computes the masks.
    pub fn new() -> Self {
        let steps = [(1, 0), (0, 1), (1, 1), (1, -1)];
        let both = |s, (files, ranks): (i8, i8)| slider_attacks(s, &[(files, ranks), (-files, -ranks)], 0);
        Self { lines: std::array::from_fn(|s| steps.map(|step| both(s, step))) }
    }

    /// Returns the attacks on one line. `reverse` must reverse the order of its squares and be its own inverse.
    #[inline]
    fn line(mask: u64, square: Square, occupied: Bitboard, reverse: fn(u64) -> u64) -> u64 {
        let piece = 1u64 << square.index();
        let up = (occupied.0 & mask).wrapping_sub(piece << 1);
        let down = reverse(occupied.0 & mask).wrapping_sub(reverse(piece) << 1);
        (up ^ reverse(down)) & mask
    }
}

impl Scheme for Hyperbola {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let [rank, file, ..] = self.lines[square];
        // Swapping bytes does not change a rank, whose bits must be reversed.
        Bitboard(
            Self::line(rank, square, occupied, u64::reverse_bits) | Self::line(file, square, occupied, u64::swap_bytes),
        )
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let [.., diagonal, anti] = self.lines[square];
        Bitboard(
            Self::line(diagonal, square, occupied, u64::swap_bytes)
                | Self::line(anti, square, occupied, u64::swap_bytes),
        )
    }
}

/// PEXT, a BMI2 instruction that gathers the relevant occupancy into a dense index. Slow on AMD before Zen 3.
#[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
pub struct Pext {
    /// Masks and offsets, rooks first.
    squares: [[(u64, usize); 64]; 2],
    attacks: Box<[u64]>,
}

#[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
impl Pext {
    /// Computes the table of 107,648 entries.
    pub fn new() -> Self {
        use kiln_gen::geometry::{relevant_mask, subsets};
        let mut attacks = Vec::new();
        let squares = [ROOK, BISHOP].map(|steps| {
            std::array::from_fn(|square| {
                let (mask, offset) = (relevant_mask(square, &steps), attacks.len());
                // The subsets are in the order of their indices.
                attacks.extend(subsets(mask).map(|o| slider_attacks(square, &steps, o)));
                (mask, offset)
            })
        });
        Self { squares, attacks: attacks.into() }
    }

    #[inline]
    fn look_up(&self, (mask, offset): (u64, usize), occupied: Bitboard) -> Bitboard {
        // SAFETY: this is compiled only for targets with BMI2.
        let index = offset + unsafe { core::arch::x86_64::_pext_u64(occupied.0, mask) } as usize;
        debug_assert!(index < self.attacks.len());
        // SAFETY: PEXT returns as many bits as the mask has, and `new` appended an entry for each such number from
        // `offset`.
        Bitboard(unsafe { *self.attacks.get_unchecked(index) })
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
impl Scheme for Pext {
    #[inline]
    fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up(self.squares[0][square], occupied)
    }
    #[inline]
    fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up(self.squares[1][square], occupied)
    }
}
