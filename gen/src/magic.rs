//! Magic tables: factors that map the relevant occupancies of a square to a dense index, found by search.
//!
//! The index of an occupancy is `((occupied & mask) * factor) >> shift`; the search draws sparse random factors, as
//! Tord Romstad proposed in 2008 (Chessprogramming wiki, "Looking for Magics"), until one sends no two occupancies with different attack
//! sets to the same place.

use crate::geometry::{BISHOP, ROOK, Square, Step, relevant_mask, slider_attacks, subsets};
use crate::layout::{Magic, Sliders};
use alloc::{vec, vec::Vec};
use core::fmt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Magics of both sliders with the attack table they index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Masks, factors, offsets and shifts.
    pub sliders: Sliders,
    /// The attack sets of all squares, one window after another.
    pub attacks: Vec<u64>,
}

/// The place in the attack table that `magic` gives for `occupied`.
#[inline]
pub fn index(magic: &Magic, occupied: u64) -> usize {
    magic.offset as usize + ((occupied & magic.mask).wrapping_mul(magic.factor) >> magic.shift) as usize
}

/// Searches all 128 magics with as many index bits as their masks have, which makes 107,648 entries in all.
///
/// `seed` starts the random numbers: the same seed gives the same tables on every host. The result has passed
/// [`verify`].
pub fn search(seed: u64) -> Tables {
    let mut searcher = Searcher::new(seed);
    let sliders = Sliders {
        rook: core::array::from_fn(|square| searcher.square(square, &ROOK)),
        bishop: core::array::from_fn(|square| searcher.square(square, &BISHOP)),
    };
    let tables = Tables { sliders, attacks: searcher.attacks };
    verify(&tables).expect("the search tests every occupancy");
    tables
}

struct Searcher {
    rng: Xoshiro256PlusPlus,
    attacks: Vec<u64>,
    /// Scratch: the attack set at each index under trial, with the number of the trial that wrote it, which saves clearing.
    window: Vec<(u64, u32)>,
    trial: u32,
}

impl Searcher {
    fn new(seed: u64) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            attacks: Vec::new(),
            window: vec![(0, 0); 1 << 12],
            trial: 0,
        }
    }

    /// Finds a factor for one square and appends its window to the attack table.
    fn square(&mut self, square: Square, directions: &[Step]) -> Magic {
        let mask = relevant_mask(square, directions);
        let bits = mask.count_ones();
        let shift = 64 - bits;
        let cases: Vec<(u64, u64)> = subsets(mask).map(|o| (o, slider_attacks(square, directions, o))).collect();
        let factor = loop {
            let factor = self.rng.next_u64() & self.rng.next_u64() & self.rng.next_u64();
            // A factor that leaves few bits of the full mask at the top spreads badly.
            if (mask.wrapping_mul(factor) >> 56).count_ones() >= 6 && self.fits(factor, shift, &cases) {
                break factor;
            }
        };
        let offset = self.attacks.len();
        self.attacks.resize(offset + (1 << bits), 0);
        for &(occupied, attacks) in &cases {
            self.attacks[offset + (occupied.wrapping_mul(factor) >> shift) as usize] = attacks;
        }
        Magic { mask, factor, offset: offset as u32, shift }
    }

    fn fits(&mut self, factor: u64, shift: u32, cases: &[(u64, u64)]) -> bool {
        self.trial += 1;
        cases.iter().all(|&(occupied, attacks)| {
            let entry = &mut self.window[(occupied.wrapping_mul(factor) >> shift) as usize];
            if entry.1 == self.trial {
                return entry.0 == attacks;
            }
            *entry = (attacks, self.trial);
            true
        })
    }
}

/// A table that gives a wrong attack set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// `"rook"` or `"bishop"`.
    pub slider: &'static str,
    /// The slider's square.
    pub square: Square,
    /// The occupancy that is looked up.
    pub occupied: u64,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { slider, square, occupied } = self;
        write!(f, "the magic table is wrong for a {slider} on square {square} with occupancy {occupied:#018x}")
    }
}

impl core::error::Error for Wrong {}

/// Looks up every subset of every mask of both sliders and compares with walking the board.
pub fn verify(tables: &Tables) -> Result<(), Wrong> {
    let sliders = [("rook", &ROOK, &tables.sliders.rook), ("bishop", &BISHOP, &tables.sliders.bishop)];
    for (slider, directions, magics) in sliders {
        for (square, magic) in magics.iter().enumerate() {
            for occupied in subsets(relevant_mask(square, directions)) {
                let expected = slider_attacks(square, directions, occupied);
                if tables.attacks.get(index(magic, occupied)) != Some(&expected) {
                    return Err(Wrong { slider, square, occupied });
                }
            }
        }
    }
    Ok(())
}
