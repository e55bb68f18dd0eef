//! Other searches for magics, to compare with Kiln's own.

use kiln_gen::geometry::{BISHOP, ROOK, Step, relevant_mask, slider_attacks, subsets};
use kiln_gen::layout::{Magic, Sliders};
use kiln_gen::magic::MagicTables;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Tests factors for one slider on one square.
struct Tester {
    mask: u64,
    shift: u32,
    /// Relevant occupancies with their attack sets, those of the fewest pieces first: they refute soonest.
    cases: Vec<(u64, u64)>,
    /// The attack set at each index and the number of the trial that wrote it.
    window: Vec<(u64, u64)>,
    trial: u64,
}

impl Tester {
    fn new(square: usize, directions: &[Step], shift: Option<u32>) -> Self {
        let mask = relevant_mask(square, directions);
        let shift = shift.unwrap_or(64 - mask.count_ones());
        let mut cases: Vec<_> = subsets(mask).map(|o| (o, slider_attacks(square, directions, o))).collect();
        cases.sort_by_key(|(occupied, _)| occupied.count_ones());
        Self { mask, shift, cases, window: vec![(0, 0); 1 << (64 - shift)], trial: 0 }
    }

    fn index(&self, factor: u64, occupied: u64) -> usize {
        (occupied.wrapping_mul(factor) >> self.shift) as usize
    }

    /// Returns the end of the entries that a factor uses, or `None` if it is wrong or uses any from `limit` on.
    fn end(&mut self, factor: u64, limit: usize) -> Option<usize> {
        self.trial += 1;
        let mut end = 0;
        for case in 0..self.cases.len() {
            let (occupied, attacks) = self.cases[case];
            let index = self.index(factor, occupied);
            end = end.max(index + 1);
            let entry = &mut self.window[index];
            if entry.1 != self.trial {
                *entry = (attacks, self.trial);
            }
            if end > limit || entry.0 != attacks {
                return None;
            }
        }
        Some(end)
    }
}

/// Draws sparse random factors, as Tord Romstad proposed in 2008, with as many index bits as the mask has squares.
pub fn sparse(seed: u64) -> MagicTables {
    let mut random = Random::seed_from_u64(seed);
    let mut end = 0;
    let mut magic = |square: usize, directions: &[Step]| {
        let mut tester = Tester::new(square, directions, None);
        let Tester { mask, shift, .. } = tester;
        let offset = end;
        end += 1u32 << (64 - shift);
        loop {
            let factor = random.next_u64() & random.next_u64() & random.next_u64();
            // Too few bits at the top cannot tell the occupancies apart.
            if (mask.wrapping_mul(factor) >> 56).count_ones() >= 6 && tester.end(factor, usize::MAX).is_some() {
                return Magic { mask, factor, offset, shift };
            }
        }
    };
    let rook = core::array::from_fn(|square| magic(square, &ROOK));
    let bishop = core::array::from_fn(|square| magic(square, &BISHOP));
    MagicTables::assemble(Sliders { rook, bishop }).expect("the windows do not overlap")
}

/// Shifts of rooks and bishops for all squares.
pub const FIXED_SHIFTS: [u32; 2] = [64 - 12, 64 - 9];

/// Candidates of [`fixed_shift`] for each square, of which it takes that with the shortest window.
const CANDIDATES: usize = 10_000;

/// Searches magics with one shift for all squares of a slider, whose windows overlap where one leaves entries unused
/// or both hold the same set (Volker Annuss 2010).
///
/// A short window needs a product that never reaches the upper index bits, so a candidate gets only bits that carry a
/// square of the mask to one of the lower ones and none to the upper ones.
pub fn fixed_shift(seed: u64) -> MagicTables {
    let mut random = Random::seed_from_u64(seed);
    let mut windows = Vec::new();
    for (slider, directions) in [&ROOK, &BISHOP].into_iter().enumerate() {
        for square in 0..64 {
            let mut tester = Tester::new(square, directions, Some(FIXED_SHIFTS[slider]));
            let mut best: Option<(usize, u64)> = None;
            let mut candidates = 0;
            while candidates < CANDIDATES || best.is_none() {
                candidates += 1;
                // Now and then without the restriction, which some squares cannot meet.
                let factor = candidate(&mut random, tester.mask, tester.shift, candidates % 8 != 0);
                let limit = best.map_or(usize::MAX, |(end, _)| end - 1);
                best = tester.end(factor, limit).map(|end| (end, factor)).or(best);
            }
            windows.push((best.expect("the loop ends with a factor"), slider, square, tester));
        }
    }
    // The widest first: the others fill their gaps.
    windows.sort_by_key(|&((end, _), ..)| core::cmp::Reverse(end));
    let none = Magic { mask: 0, factor: 0, offset: 0, shift: 0 };
    let mut sliders = [[none; 64]; 2];
    let mut attacks = vec![0; 1 << 19];
    for ((_, factor), slider, square, tester) in windows {
        let entries = || tester.cases.iter().map(|&(occupied, set)| (tester.index(factor, occupied), set));
        let fits = |&offset: &usize| entries().all(|(index, set)| [0, set].contains(&attacks[offset + index]));
        let offset = (0..).find(fits).expect("the table is long enough");
        entries().for_each(|(index, set)| attacks[offset + index] = set);
        sliders[slider][square] = Magic { mask: tester.mask, factor, offset: offset as u32, shift: tester.shift };
    }
    let used = attacks.iter().rposition(|&set| set != 0).map_or(0, |last| last + 1);
    attacks.truncate(used);
    let [rook, bishop] = sliders;
    MagicTables { sliders: Sliders { rook, bishop }, attacks }
}

/// Returns a factor that carries each square of the mask to one of as many index bits, from the lowest on. If `strict`,
/// it carries none to a higher one.
fn candidate(random: &mut Random, mask: u64, shift: u32, strict: bool) -> u64 {
    let bits = mask.count_ones();
    let zone = ((1 << bits) - 1) << shift;
    let above = !(zone | ((1 << shift) - 1));
    let mut squares: Vec<u32> = (0..64).filter(|square| mask >> square & 1 != 0).collect();
    for i in (1..squares.len()).rev() {
        squares.swap(i, random.next_u32() as usize % (i + 1));
    }
    let mut factor = 0u64;
    for &square in &squares {
        if factor << square & zone != 0 {
            continue;
        }
        let first = random.next_u32() % bits;
        factor |= (0..bits)
            .filter_map(|i| (shift + (first + i) % bits).checked_sub(square))
            .map(|bit| 1u64 << bit)
            .find(|bit| !strict || squares.iter().all(|other| bit << other & above == 0))
            .unwrap_or(0);
    }
    factor
}
