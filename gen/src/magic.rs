//! Magic tables: factors that map the relevant occupancies of a square to a dense index, found by search.
//!
//! The index of an occupancy is [`Magic::index`]. The usual search draws sparse random factors until one sends no two
//! occupancies with different attack sets to the same entry (Tord Romstad 2008, Chessprogramming wiki, "Looking for
//! Magics"), which takes millions of trials for all squares. This search constructs candidates, about half of which are
//! good:
//!
//! The product is a sum to which each square *p* of the mask contributes `factor << p`. Consider the top `n` bits of
//! each contribution, the index bits. If the lowest set index bit differs for each of the `n` squares, the
//! contributions form a triangular matrix with an odd diagonal, and their sums modulo 2ⁿ are all different: the index
//! is perfect but for carries from the bits below. So the factor is built bit by bit, each bit taking one more square
//! to an index bit of its own (H. G. Muller's idea is that a bit of the factor carries a bit of the mask), and testing
//! all occupancies catches carries.

pub mod dense;
pub mod periods;

use crate::geometry::{BISHOP, ROOK, Square, Step, ray, relevant_mask, slider_attacks, subsets};
use crate::layout::{Magic, Pext, PextSliders, Sliders};
use alloc::{format, string::String, vec, vec::Vec};
use core::fmt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The magics of both sliders with the attack table that they index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MagicTables {
    /// Masks, factors, offsets and shifts.
    pub sliders: Sliders,
    /// The attack table: the windows of all squares.
    pub attacks: Vec<u64>,
}

/// Searches all 128 magics and returns a table of 90,752 entries: 107,648 with as many index bits as each mask has
/// squares, less half the windows of the 19 rook squares for which a narrower one is known.
///
/// The same seed gives the same tables on every host. The search tests every occupancy, but against attack sets that it
/// computed itself; [`verify`] checks the result independently.
///
/// ```
/// use kiln_gen::geometry::{ROOK, slider_attacks};
/// use kiln_gen::magic;
/// let tables = magic::search(1);
/// let occupied = 1 << 12 | 1 << 24;
/// assert_eq!(tables.attacks[tables.sliders.rook[28].index(occupied)], slider_attacks(28, &ROOK, occupied));
/// assert_eq!(magic::verify(&tables), Ok(()));
/// ```
pub fn search(seed: u64) -> MagicTables {
    let mut searcher = Searcher::new(seed);
    MagicTables {
        sliders: Sliders {
            rook: core::array::from_fn(|square| searcher.square(square, &ROOK)),
            bishop: core::array::from_fn(|square| searcher.square(square, &BISHOP)),
        },
        attacks: searcher.attacks,
    }
}

/// Returns the tables of both sliders for processors with PEXT, and the attack table of 107,648 entries.
///
/// Magics need a sixth fewer entries; the look-up saves a multiplication. On Zen 2 and earlier, PEXT is slow.
///
/// ```
/// use kiln_gen::geometry::{ROOK, slider_attacks};
/// use kiln_gen::magic;
/// let (sliders, attacks) = magic::pext();
/// let occupied = 1 << 12 | 1 << 24;
/// assert_eq!(attacks[sliders.rook[28].index(occupied)], slider_attacks(28, &ROOK, occupied));
/// ```
pub fn pext() -> (PextSliders, Vec<u64>) {
    let mut attacks = Vec::new();
    let mut slider = |square, directions: &[Step]| {
        let entry = Pext { mask: relevant_mask(square, directions), offset: attacks.len() as u64 };
        // The subsets of a mask come in the order of their indices.
        attacks.extend(subsets(entry.mask).map(|occupied| slider_attacks(square, directions, occupied)));
        entry
    };
    let rook = core::array::from_fn(|square| slider(square as Square, &ROOK));
    let bishop = core::array::from_fn(|square| slider(square as Square, &BISHOP));
    (PextSliders { rook, bishop }, attacks)
}

/// Rook squares with factors that need one index bit less than the mask has squares, found by longer runs of
/// [`dense`]'s search, h7 by [`periods`]'. Each is tested before use.
const HALVED: [(usize, u64); 19] = [
    (3, 0x6e00_0bab_a5ff_ff40),
    (10, 0x2606_002c_ac99_fffa),
    (11, 0x646e_0017_574d_fffd),
    (12, 0x7182_000b_2b25_ffff),
    (48, 0x48ff_ff39_ff54_6a00),
    (49, 0xb37f_ff7f_8aca_8200),
    (50, 0xecff_ff55_ff68_d600),
    (51, 0x351f_ffd1_ffcf_1e00),
    (52, 0x65af_ffa9_ffa7_0a00),
    (53, 0x2987_ffb5_ffb3_e600),
    (54, 0x0e8f_ffd7_d870_58c0),
    (55, 0x0001_fff5_f63c_96a0),
    (56, 0x37ff_fda9_fd9f_2f02),
    (57, 0xa57f_fe3f_fe44_d465),
    (58, 0xc23f_ffb1_ffaf_ead6),
    (59, 0xd0df_ffd9_ffd5_3ff6),
    (60, 0xf46f_ff49_ff47_cdda),
    (62, 0x2eef_fff5_37f4_e55c),
    (63, 0x004f_fffb_53fb_3e5e),
];

/// A relevant occupancy and its attack set.
type Case = (u64, u64);

/// Returns all relevant occupancies of a square with their attack sets, combining those of the rays so far with each of
/// the next ray.
fn cases(square: Square, directions: &[Step]) -> Vec<Case> {
    let mut cases: Vec<Case> = vec![(0, 0)];
    for &direction in directions {
        let squares: Vec<u64> = ray(square, direction).map(|target| 1 << target).collect();
        let Some((_, relevant)) = squares.split_last() else { continue };
        let known = cases.len();
        cases.reserve(known << relevant.len());
        for subset in 0..1u64 << relevant.len() {
            let mut occupied = 0;
            let mut attacks = 0;
            for (distance, &target) in squares.iter().enumerate() {
                if subset & ((1 << distance) - 1) == 0 {
                    attacks |= target;
                }
                if subset >> distance & 1 != 0 {
                    occupied |= target;
                }
            }
            for case in 0..known {
                cases.push((cases[case].0 | occupied, cases[case].1 | attacks));
            }
        }
        cases.drain(..known);
    }
    cases
}

/// Writes a square's attack sets to the table, which grows to the end of the window. Fails with the first occupancy
/// whose entry already holds another set.
fn fill(attacks: &mut Vec<u64>, magic: &Magic, cases: &[Case]) -> Result<(), u64> {
    attacks.resize(magic.end().max(attacks.len()), 0);
    for &(occupied, attacked) in cases {
        let entry = &mut attacks[magic.index(occupied)];
        // 0 marks a free entry: a slider always attacks something.
        if *entry != 0 && *entry != attacked {
            return Err(occupied);
        }
        *entry = attacked;
    }
    Ok(())
}

/// Constructs a factor that gives every square of the mask an index bit of its own. Returns `None` if the random
/// choices lead to a dead end.
fn construct(rng: &mut Xoshiro256PlusPlus, mask: u64, shift: u32) -> Option<u64> {
    let mut squares: Vec<u32> = (0..64).filter(|square| mask >> square & 1 != 0).collect();
    for i in (1..squares.len()).rev() {
        squares.swap(i, below(rng, i as u32 + 1) as usize);
    }
    let bits = 64 - shift;
    let lowest = |factor: u64, square: u32| ((factor << square) >> shift).trailing_zeros();
    // Whether the squares that have index bits at all differ in their lowest one.
    let is_triangular = |factor: u64| {
        let mut taken = 0u64;
        squares.iter().map(|&square| lowest(factor, square)).filter(|&bit| bit < bits).all(|bit| {
            let free = taken >> bit & 1 == 0;
            taken |= 1 << bit;
            free
        })
    };
    let mut factor = 0u64;
    for &square in &squares {
        if lowest(factor, square) < bits {
            continue;
        }
        let first = below(rng, bits);
        factor = (0..bits)
            .filter_map(|i| (shift + (first + i) % bits).checked_sub(square))
            .map(|bit| factor | 1 << bit)
            .find(|&longer| is_triangular(longer))?;
    }
    Some(factor)
}

/// Returns a random number below `bound`.
fn below(rng: &mut Xoshiro256PlusPlus, bound: u32) -> u32 {
    (rng.next_u64() % u64::from(bound)) as u32
}

struct Searcher {
    rng: Xoshiro256PlusPlus,
    attacks: Vec<u64>,
    /// Scratch: the attack set at each index and the number of the trial that wrote it, which saves clearing.
    window: Vec<(u64, u32)>,
    trial: u32,
}

impl Searcher {
    fn new(seed: u64) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { rng, attacks: Vec::new(), window: vec![(0, 0); 1 << 12], trial: 0 }
    }

    /// Finds a factor for one square and appends its window to the attack table.
    fn square(&mut self, square: Square, directions: &[Step]) -> Magic {
        let mask = relevant_mask(square, directions);
        let shift = 64 - mask.count_ones();
        let cases = cases(square, directions);
        let mut magic = Magic { mask, factor: 0, offset: 0, shift };
        let known = HALVED.iter().find(|(halved, _)| *halved == square && *directions == ROOK);
        if let Some(&(_, factor)) = known {
            magic = Magic { factor, shift: shift + 1, ..magic };
        }
        while !self.fits(&magic, &cases) {
            magic = Magic { factor: construct(&mut self.rng, mask, shift).unwrap_or(0), shift, ..magic };
        }
        magic.offset = self.attacks.len() as u32;
        fill(&mut self.attacks, &magic, &cases).expect("the factor fits all cases");
        magic
    }

    /// Returns whether no two occupancies with different attack sets share an entry. The offset must be 0.
    fn fits(&mut self, magic: &Magic, cases: &[Case]) -> bool {
        self.trial += 1;
        cases.iter().all(|&(occupied, attacks)| {
            let entry = &mut self.window[magic.index(occupied)];
            if entry.1 == self.trial {
                return entry.0 == attacks;
            }
            *entry = (attacks, self.trial);
            true
        })
    }
}

impl MagicTables {
    /// Fills the attack table for given factors, shifts and offsets, and sets the masks.
    ///
    /// Windows may overlap where one leaves entries unused or both hold the same attack set. The table ends with the
    /// last window, so no index is out of bounds.
    ///
    /// # Errors
    /// If two occupancies need different attack sets in the same entry; the error names the second.
    ///
    /// # Panics
    /// If a shift is not in [`SHIFTS`].
    pub fn assemble(mut sliders: Sliders) -> Result<Self, MagicError> {
        let mut attacks = Vec::new();
        let both = [("rook", &ROOK, &mut sliders.rook), ("bishop", &BISHOP, &mut sliders.bishop)];
        for (slider, directions, magics) in both {
            for (square, magic) in magics.iter_mut().enumerate() {
                assert!(SHIFTS.contains(&magic.shift), "the shift is {}, expected {SHIFTS:?}", magic.shift);
                magic.mask = relevant_mask(square, directions);
                fill(&mut attacks, magic, &cases(square, directions)).map_err(|occupied| MagicError {
                    slider,
                    square,
                    occupied,
                })?;
            }
        }
        Ok(Self { sliders, attacks })
    }
}

/// Shifts that a magic may have: 1 to 16 index bits.
pub const SHIFTS: core::ops::RangeInclusive<u32> = 48..=63;
/// Offsets must be below this.
const OFFSET_LIMIT: u32 = 1 << 20;

/// Returns the magics as text for [`from_text`]: for each slider and square a line such as
/// `rook 0 0x0080001020400080 52 1024` with slider, square, factor, shift and offset.
pub fn to_text(sliders: &Sliders) -> String {
    let mut text = String::from("# slider square factor shift offset\n");
    for (slider, magics) in [("rook", &sliders.rook), ("bishop", &sliders.bishop)] {
        for (square, Magic { factor, shift, offset, .. }) in magics.iter().enumerate() {
            text += &format!("{slider} {square} {factor:#018x} {shift} {offset}\n");
        }
    }
    text
}

/// The error of [`from_text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MagicTextError {
    /// A line cannot be read.
    Line {
        /// Its number, counted from 1.
        number: usize,
        /// Its text.
        text: String,
        /// What was expected.
        expected: String,
    },
    /// A slider has no magic for a square.
    Missing {
        /// `"rook"` or `"bishop"`.
        slider: &'static str,
        /// The square.
        square: Square,
    },
    /// The magics do not form a correct table.
    Table(MagicError),
}

impl fmt::Display for MagicTextError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Line { number, text, expected } => write!(f, "line {number} is {text:?}: expected {expected}"),
            Self::Missing { slider, square } => write!(f, "there is no magic for a {slider} on square {square}"),
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MagicTextError {}

/// Reads magics written by [`to_text`], in any order, and assembles their tables. Blank lines and lines that begin with
/// `#` are skipped.
///
/// ```
/// use kiln_gen::magic;
/// let tables = magic::search(1);
/// assert_eq!(magic::from_text(&magic::to_text(&tables.sliders)), Ok(tables));
/// ```
///
/// # Errors
/// If a line cannot be read, a magic is missing, or the magics do not form a correct table.
pub fn from_text(text: &str) -> Result<MagicTables, MagicTextError> {
    let none = Magic { mask: 0, factor: 0, offset: 0, shift: 0 };
    let mut sliders = Sliders { rook: [none; 64], bishop: [none; 64] };
    for (line, number) in text.lines().zip(1..) {
        let refuse = |expected: &str| MagicTextError::Line { number, text: line.into(), expected: expected.into() };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.first().is_none_or(|word| word.starts_with('#')) {
            continue;
        }
        let &[slider, square, factor, shift, offset] = &words[..] else {
            return Err(refuse("slider, square, factor, shift and offset"));
        };
        let magics = match slider {
            "rook" => &mut sliders.rook,
            "bishop" => &mut sliders.bishop,
            _ => return Err(refuse("\"rook\" or \"bishop\" first")),
        };
        let magic = square.parse().ok().and_then(|square: usize| magics.get_mut(square));
        let magic = magic.ok_or_else(|| refuse("a square from 0 to 63"))?;
        if magic.shift != 0 {
            return Err(refuse("each slider and square once"));
        }
        let factor = factor.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        magic.factor = factor.ok_or_else(|| refuse("a factor such as 0x0080001020400080"))?;
        let shift = shift.parse().ok().filter(|shift| SHIFTS.contains(shift));
        magic.shift = shift.ok_or_else(|| refuse(&format!("a shift from {} to {}", SHIFTS.start(), SHIFTS.end())))?;
        let offset = offset.parse().ok().filter(|&offset: &u32| offset < OFFSET_LIMIT);
        magic.offset = offset.ok_or_else(|| refuse(&format!("an offset below {OFFSET_LIMIT}")))?;
    }
    for (slider, magics) in [("rook", &sliders.rook), ("bishop", &sliders.bishop)] {
        if let Some(square) = magics.iter().position(|magic| magic.shift == 0) {
            return Err(MagicTextError::Missing { slider, square });
        }
    }
    MagicTables::assemble(sliders).map_err(MagicTextError::Table)
}

/// A magic table gives a wrong attack set, or cannot hold the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MagicError {
    /// `"rook"` or `"bishop"`.
    pub slider: &'static str,
    /// The slider's square.
    pub square: Square,
    /// The occupancy.
    pub occupied: u64,
}

impl fmt::Display for MagicError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { slider, square, occupied } = self;
        write!(f, "the magic table is wrong for a {slider} on square {square} with occupancy {occupied:#018x}")
    }
}

impl core::error::Error for MagicError {}

/// Looks up every relevant occupancy of both sliders and compares the attack set with walking the board.
///
/// # Errors
/// On the first look-up that is wrong or out of bounds, and for a magic with another mask than the relevant squares or a
/// shift not in [`SHIFTS`].
pub fn verify(tables: &MagicTables) -> Result<(), MagicError> {
    let sliders = [("rook", &ROOK, &tables.sliders.rook), ("bishop", &BISHOP, &tables.sliders.bishop)];
    for (slider, directions, magics) in sliders {
        for (square, magic) in magics.iter().enumerate() {
            let mask = relevant_mask(square, directions);
            let is_valid = magic.mask == mask && SHIFTS.contains(&magic.shift);
            for occupied in subsets(mask) {
                let expected = slider_attacks(square, directions, occupied);
                if !is_valid || tables.attacks.get(magic.index(occupied)) != Some(&expected) {
                    return Err(MagicError { slider, square, occupied });
                }
            }
        }
    }
    Ok(())
}
