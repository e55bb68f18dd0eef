//! Searches for dense magic tables: windows that use few of their entries, placed in each other's gaps.
//!
//! A *window* is the part of the attack table that belongs to one slider on one square.
//!
//! *Squeezing.* An index may map several occupancies to one entry if all need the same attack set. In a constructed
//! factor every contribution is a whole number of entries, and no two occupancies share one. Fractions below the lowest
//! index bit merge sums that differ by less than one. A local search flips a few bits of a factor at a time and keeps
//! the change if the index stays correct and no more entries are used. A good factor uses half to two thirds of its
//! window.
//!
//! *Columns.* Gaps help only if other windows fit into them. The sums of a rank (or a file) form a pattern that repeats
//! at regular distances, so the local search also prefers factors whose entries occupy few of 64 columns (entry number
//! modulo 64), side by side. Two or three such windows interlock.
//!
//! *Halving.* Some factors that use at most half of their window work with half the window: moving the part of the
//! factor that brings the file to the index up by one bit halves the distance between the rank's entries.
//!
//! *Mending.* A factor that is good for a square is almost good for its neighbour if it is shifted by the distance of
//! the squares: few changes make it correct again. So halved windows spread over the upper two ranks and to other
//! squares.
//!
//! *Packing.* Windows are placed widest first, each at the lowest offset where all its used entries are free. Then
//! parts of the table are removed and packed again, many times.
//!
//! All work is bounded by numbers of trials, never by time, so a seed gives the same tables on every host.

use super::{Case, HALVED, MagicTables, below, cases, construct};
use crate::geometry::{BISHOP, ROOK, relevant_mask};
use crate::layout::{Magic, Sliders};
use alloc::{format, string::String, vec, vec::Vec};
use core::fmt;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Windows of each width kept for each slider and square.
const POOL: usize = 3;
/// Times that a part of the table is packed again in one step.
const REPACKS: usize = 2;
/// The number of pairs of slider and square: rooks first, then bishops.
const SQUARES: usize = 128;
/// The most index bits of a window.
const WIDEST: u32 = 12;

/// The mask and all relevant occupancies of one slider on one square.
struct Problem {
    mask: u64,
    /// Number of squares in the mask.
    bits: u32,
    /// Relevant occupancies, those of the fewest pieces first, each with the number of its attack set (at most 144
    /// sets).
    cases: Vec<(u64, u8)>,
}

impl Problem {
    fn new(number: usize) -> Self {
        let directions = if number < 64 { &ROOK } else { &BISHOP };
        let mask = relevant_mask(number % 64, directions);
        let mut cases: Vec<Case> = cases(number % 64, directions);
        // Occupancies of few pieces refute wrong factors soonest: their attack sets differ most.
        cases.sort_by_key(|&(occupied, _)| occupied.count_ones());
        let mut sets: Vec<u64> = cases.iter().map(|&(_, attacks)| attacks).collect();
        sets.sort_unstable();
        sets.dedup();
        let number_of = |attacks| sets.binary_search(&attacks).expect("all sets are listed") as u8;
        let cases = cases.iter().map(|&(occupied, attacks)| (occupied, number_of(attacks))).collect();
        Self { mask, bits: mask.count_ones(), cases }
    }

    /// Returns the magic with this factor whose window of `bits` index bits starts at 0.
    fn magic(&self, factor: u64, bits: u32) -> Magic {
        Magic { mask: self.mask, factor, offset: 0, shift: 64 - bits }
    }
}

/// The part of a window that a factor uses.
#[derive(Clone, Copy)]
struct Usage {
    entries: u32,
    /// One bit per column (entry number modulo 64).
    columns: u64,
}

impl Usage {
    /// Returns the cost of a window with this number of index bits, in quarters of an entry: half for its entries, half
    /// for the columns that it spans.
    fn cost(self, bits: u32) -> u32 {
        let rows_by_columns = (2 * self.columns.count_ones() + span(self.columns)) << bits;
        2 * self.entries + rows_by_columns / 64
    }
}

/// Returns the length of the shortest range of columns that holds all set ones. The last column is next to the first.
fn span(columns: u64) -> u32 {
    let mut gaps = !columns;
    let mut longest = 0;
    while gaps != 0 && longest < 64 {
        gaps &= gaps.rotate_left(1);
        longest += 1;
    }
    64 - longest
}

/// Scratch for testing factors: the attack set at each index and the number of the trial that wrote it, which saves
/// clearing.
struct Trials {
    entries: Vec<u32>,
    trial: u32,
}

impl Trials {
    /// Returns the part of its window that the factor uses, or, if it is wrong or uses more than `limit` entries, the
    /// number of cases before the first failure.
    fn measure(&mut self, problem: &Problem, factor: u64, bits: u32, limit: u32) -> Result<Usage, usize> {
        self.trial += 1;
        if self.trial == 1 << 24 {
            self.entries.fill(0);
            self.trial = 1;
        }
        let magic = problem.magic(factor, bits);
        let mut used = Usage { entries: 0, columns: 0 };
        for (done, &(occupied, attacks)) in problem.cases.iter().enumerate() {
            let index = magic.index(occupied);
            let entry = &mut self.entries[index];
            let wanted = self.trial << 8 | u32::from(attacks);
            if *entry >> 8 != self.trial {
                *entry = wanted;
                used.entries += 1;
                used.columns |= 1 << (index % 64);
                if used.entries > limit {
                    return Err(done);
                }
            } else if *entry != wanted {
                return Err(done);
            }
        }
        Ok(used)
    }
}

/// A factor that is correct for its square, and the entries that it uses.
#[derive(Clone, PartialEq, Eq)]
struct Window {
    factor: u64,
    /// Index bits.
    bits: u32,
    cost: u32,
    /// One bit per entry.
    entries: Vec<u64>,
}

impl Window {
    fn new(trials: &mut Trials, problem: &Problem, factor: u64, bits: u32) -> Option<Self> {
        let used = trials.measure(problem, factor, bits, u32::MAX).ok()?;
        let mut entries = vec![0u64; (1usize << bits).div_ceil(64)];
        let magic = problem.magic(factor, bits);
        for &(occupied, _) in &problem.cases {
            let index = magic.index(occupied);
            entries[index / 64] |= 1 << (index % 64);
        }
        Some(Self { factor, bits, cost: used.cost(bits), entries })
    }

    fn length(&self) -> usize {
        1 << self.bits
    }
}

/// The most entries of the table while windows are placed, far more than plain tables need.
const TABLE_LIMIT: usize = 1 << 18;

/// Windows with their offsets in one table.
#[derive(Clone)]
struct Packing {
    /// By slider and square; `None` while it is removed.
    placed: Vec<Option<(usize, Window)>>,
    /// One bit per entry.
    taken: Vec<u64>,
}

impl Packing {
    fn new() -> Self {
        Self { placed: vec![None; SQUARES], taken: vec![0; TABLE_LIMIT / 64 + 2] }
    }

    /// Returns the number of entries up to the end of the last window.
    fn size(&self) -> usize {
        self.placed.iter().flatten().map(|(offset, window)| offset + window.length()).max().unwrap_or(0)
    }

    /// Marks the entries of a window as taken, or as free if they are taken.
    fn toggle(&mut self, offset: usize, window: &Window) {
        for (word, bits) in shifted(&window.entries, offset % 64).enumerate() {
            self.taken[offset / 64 + word] ^= bits;
        }
    }

    fn put(&mut self, number: usize, offset: usize, window: Window) {
        self.toggle(offset, &window);
        self.placed[number] = Some((offset, window));
    }

    fn take(&mut self, number: usize) {
        if let Some((offset, window)) = self.placed[number].take() {
            self.toggle(offset, &window);
        }
    }

    /// Returns the lowest offset up to `last` at which all entries of a window are free.
    fn lowest(&self, window: &Window, last: usize) -> Option<usize> {
        let mut lowest = last + 1;
        for shift in 0..64 {
            let entries: Vec<u64> = shifted(&window.entries, shift).collect();
            let fits = |&word: &usize| self.taken[word..].iter().zip(&entries).all(|(taken, bits)| taken & bits == 0);
            if let Some(word) = (0..lowest.saturating_sub(shift).div_ceil(64)).find(fits) {
                lowest = word * 64 + shift;
            }
        }
        (lowest <= last).then_some(lowest)
    }

    /// Places a window for every square that has none, the widest squares first. Prefers the lowest window that fits
    /// before the table's end, then the cheapest. Returns false, leaving squares without a window, if the table would
    /// grow beyond `limit`.
    fn fill(&mut self, pools: &[Vec<Window>], random: &mut Random, limit: usize) -> bool {
        let mut missing: Vec<(u32, u64, usize)> = (0..SQUARES)
            .filter(|&number| self.placed[number].is_none())
            .map(|number| {
                (pools[number].iter().map(|window| window.bits).min().unwrap_or(0), random.next_u64(), number)
            })
            .collect();
        missing.sort_unstable_by(|a, b| b.cmp(a));
        let mut size = self.size();
        for (_, _, number) in missing {
            let best = pools[number]
                .iter()
                .filter_map(|window| {
                    let offset = self.lowest(window, size.min(limit.checked_sub(window.length())?))?;
                    let growth = (offset + window.length()).saturating_sub(size);
                    let cost = if growth == 0 { offset } else { growth + window.cost as usize };
                    Some((growth > 0, cost, offset, window))
                })
                .min_by_key(|&(grows, cost, offset, _)| (grows, cost, offset));
            let Some((_, _, offset, window)) = best else { return false };
            size = size.max(offset + window.length());
            self.put(number, offset, window.clone());
        }
        true
    }

    /// Removes the windows at the table's end, those in one part of it and a few others, and places them again. Undoes
    /// this if the table gets longer or the sum of offsets grows.
    fn repack(&mut self, pools: &[Vec<Window>], random: &mut Random) {
        let before = self.clone();
        let size = self.size();
        let tail = size - below(random, 2) as usize * below(random, 1 << 12) as usize;
        let part = below(random, size as u32) as usize;
        let part = part..part + below(random, 1 << 13) as usize;
        for number in 0..SQUARES {
            let (offset, window) = self.placed[number].as_ref().expect("all windows are placed");
            let end = offset + window.length();
            if end > tail || (*offset < part.end && end > part.start) || below(random, 32) == 0 {
                self.take(number);
            }
        }
        if !self.fill(pools, random, size) || (self.size(), self.height()) > (size, before.height()) {
            *self = before;
        }
    }

    /// Returns the sum of all windows' offsets, weighted by their lengths.
    fn height(&self) -> u64 {
        self.placed.iter().flatten().map(|(offset, window)| (*offset as u64) << window.bits).sum()
    }
}

/// Returns the bits of a window shifted up by less than a word, with one more word for the bits that leave the last.
fn shifted(words: &[u64], shift: usize) -> impl Iterator<Item = u64> {
    let carries = core::iter::once(&0).chain(words).map(move |word| if shift == 0 { 0 } else { word >> (64 - shift) });
    words.iter().chain(core::iter::once(&0)).zip(carries).map(move |(word, carry)| word << shift | carry)
}

/// Runs `steps` steps of a [`DenseSearch`] with short local searches and returns its tables, which are denser than
/// those of [`magic::search`](super::search).
///
/// ```
/// let tables = kiln_gen::magic::dense::search(1, 128);
/// assert!(tables.attacks.len() < 90_752);
/// ```
pub fn search(seed: u64, steps: u64) -> MagicTables {
    let mut search = DenseSearch::new(seed, 1000);
    (0..steps).for_each(|_| search.step());
    search.tables()
}

/// A search for dense tables that runs step by step and can be saved as text after each.
///
/// ```
/// use kiln_gen::magic::dense::DenseSearch;
/// let mut search = DenseSearch::new(1, 100);
/// let size = search.size();
/// search.step();
/// assert!(search.size() <= size);
/// let resumed = DenseSearch::from_text(&search.to_text())?;
/// assert_eq!(resumed.tables(), search.tables());
/// # Ok::<(), kiln_gen::magic::dense::DenseStateError>(())
/// ```
pub struct DenseSearch {
    seed: u64,
    steps: u64,
    patience: u32,
    pools: Vec<Vec<Window>>,
    packing: Packing,
    problems: Vec<Problem>,
    trials: Trials,
}

impl DenseSearch {
    /// Returns a search that starts from constructed factors and some known ones. The local search of each step stops
    /// after `patience` trials without success.
    pub fn new(seed: u64, patience: u32) -> Self {
        let mut search = Self::empty(seed, patience);
        let mut random = search.random();
        for (pool, problem) in search.pools.iter_mut().zip(&search.problems) {
            pool.push(search.trials.constructed(problem, problem.bits, &mut random));
        }
        for (square, factor) in HALVED {
            let problem = &search.problems[square];
            let window = Window::new(&mut search.trials, problem, factor, problem.bits - 1);
            search.pools[square].extend(window);
        }
        search.packing.fill(&search.pools, &mut random, TABLE_LIMIT);
        search
    }

    fn empty(seed: u64, patience: u32) -> Self {
        Self {
            seed,
            steps: 0,
            patience,
            pools: vec![Vec::new(); SQUARES],
            packing: Packing::new(),
            problems: (0..SQUARES).map(Problem::new).collect(),
            trials: Trials { entries: vec![0; 1 << WIDEST], trial: 0 },
        }
    }

    /// Returns this step's random numbers. Each step has its own, so that no generator is part of the state.
    fn random(&self) -> Random {
        Random::seed_from_u64(self.seed ^ self.steps.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns the seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of entries of the smallest table so far.
    pub fn size(&self) -> usize {
        self.packing.size()
    }

    /// Returns the smallest tables so far.
    pub fn tables(&self) -> MagicTables {
        MagicTables::assemble(self.sliders()).expect("windows use different entries")
    }

    fn sliders(&self) -> Sliders {
        let magics = |slider: usize| {
            core::array::from_fn(|square| {
                let number = 64 * slider + square;
                let (offset, window) = self.packing.placed[number].as_ref().expect("all windows are placed");
                Magic { offset: *offset as u32, ..self.problems[number].magic(window.factor, window.bits) }
            })
        };
        Sliders { rook: magics(0), bishop: magics(1) }
    }

    /// Does a bounded amount of work: searches for a better window of one square and packs parts of the table again.
    pub fn step(&mut self) {
        let number = (self.steps % SQUARES as u64) as usize;
        self.steps += 1;
        let mut random = self.random();
        self.squeeze(number, &mut random);
        for _ in 0..REPACKS {
            self.packing.repack(&self.pools, &mut random);
        }
    }

    /// Searches locally for one more window of a square.
    fn squeeze(&mut self, number: usize, random: &mut Random) {
        let (mut factor, mut bits) = self.start(number, random);
        let Self { problems, trials, pools, patience, .. } = self;
        let (problem, pool) = (&problems[number], &mut pools[number]);
        let halve = pool.iter().all(|window| window.bits >= problem.bits);
        for goal in [Goal::Entries, Goal::Columns] {
            (factor, bits) = trials.climb(problem, (factor, bits), goal, *patience, halve, random);
        }
        let window = Window::new(trials, problem, factor, bits).expect("each change was tested");
        if pool.iter().any(|known| known.entries == window.entries) {
            return;
        }
        pool.push(window);
        pool.sort_by_key(|window| window.cost);
        let mut kept = [0; WIDEST as usize + 1];
        pool.retain(|window| {
            kept[window.bits as usize] += 1;
            kept[window.bits as usize] <= POOL
        });
    }

    /// Returns a correct factor and its index bits to start a local search from: a known one, one derived from a
    /// neighbouring square's, or a new one.
    fn start(&mut self, number: usize, random: &mut Random) -> (u64, u32) {
        let Self { problems, trials, pools, patience, .. } = self;
        let problem = &problems[number];
        let choice = below(random, 4);
        if choice < 2 {
            let pool = &pools[number];
            let window = &pool[below(random, pool.len() as u32) as usize];
            return (window.factor, window.bits);
        }
        let step = [1, -1, 8, -8][below(random, 4) as usize];
        let lender = number.checked_add_signed(step).filter(|lender| choice == 2 && lender / 64 == number / 64);
        if let Some(lender) = lender {
            let pool = &pools[lender];
            let narrowest = pool.iter().min_by_key(|window| window.bits).expect("no pool is empty");
            let any = &pool[below(random, pool.len() as u32) as usize];
            let is_halved = |number: usize| pools[number].iter().any(|window| window.bits < problems[number].bits);
            let lent = if is_halved(number) { any } else { narrowest };
            // A step on the board is a shift by the distance of the squares.
            let factor = if step > 0 { lent.factor << step } else { lent.factor >> -step };
            let bits = (lent.bits + problem.bits - problems[lender].bits).min(WIDEST);
            if let Some(factor) = trials.mend(problem, factor, bits, *patience, random) {
                return (factor, bits);
            }
        }
        let bits = problem.bits + below(random, 2) * below(random, WIDEST - problem.bits + 1);
        (trials.constructed(problem, bits, random).factor, bits)
    }
}

/// The error of [`DenseSearch::from_text`]: the text is not a saved state, is damaged, or is of another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseStateError {
    /// The wrong line, counted from 1. The first holds the checksum of all others.
    pub line: usize,
}

impl fmt::Display for DenseStateError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "not the state of a search for dense magics, or damaged: line {} is wrong", self.line)
    }
}

impl core::error::Error for DenseStateError {}

const NAMES: [&str; 2] = ["rook", "bishop"];

/// Returns the FNV-1a hash, which detects accidental damage.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

impl DenseSearch {
    /// Returns the state as text: a checksum, the search's numbers, the known windows (slider, square, factor, shift),
    /// and the smallest tables in the form of [`super::to_text`].
    pub fn to_text(&self) -> String {
        let Self { seed, patience, steps, .. } = self;
        let mut text = format!("seed {seed} patience {patience} steps {steps}\n");
        for (number, pool) in self.pools.iter().enumerate() {
            for window in pool {
                let (slider, square) = (NAMES[number / 64], number % 64);
                text += &format!("{slider} {square} {:#018x} {}\n", window.factor, 64 - window.bits);
            }
        }
        text += &super::to_text(&self.sliders());
        format!("checksum {:#018x}\n{text}", checksum(&text))
    }

    /// Reads a state that [`DenseSearch::to_text`] returned.
    ///
    /// # Errors
    /// On the first line that is wrong.
    pub fn from_text(text: &str) -> Result<Self, DenseStateError> {
        let damaged = |line| DenseStateError { line };
        let (first, text) = text.split_once('\n').ok_or(damaged(1))?;
        if first != format!("checksum {:#018x}", checksum(text)) {
            return Err(damaged(1));
        }
        let (numbers, text) = text.split_once('\n').ok_or(damaged(2))?;
        let words: Vec<&str> = numbers.split(' ').collect();
        let &["seed", seed, "patience", patience, "steps", steps] = &words[..] else { return Err(damaged(2)) };
        let number = |word: &str| word.parse::<u64>().map_err(|_| damaged(2));
        let mut search = Self::empty(number(seed)?, number(patience)? as u32);
        search.steps = number(steps)?;
        let (windows, magics) = text.split_at(text.find('#').ok_or(damaged(3))?);
        for (line, number) in windows.lines().zip(3..) {
            search.read_window(line).ok_or(damaged(number))?;
        }
        let lines = 3 + windows.lines().count();
        let tables =
            super::from_text(magics).ok().filter(|tables| tables.attacks.len() <= TABLE_LIMIT).ok_or(damaged(lines))?;
        for (number, magic) in tables.sliders.rook.iter().chain(&tables.sliders.bishop).enumerate() {
            let window = search.window(number, magic.factor, magic.shift).ok_or(damaged(lines))?;
            search.packing.put(number, magic.offset as usize, window);
        }
        if search.pools.iter().any(Vec::is_empty) {
            return Err(damaged(lines));
        }
        Ok(search)
    }

    fn read_window(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let &[slider, square, factor, shift] = &words[..] else { return None };
        let slider = NAMES.iter().position(|&name| name == slider)?;
        let number = 64 * slider + square.parse::<usize>().ok().filter(|&square| square < 64)?;
        let factor = u64::from_str_radix(factor.strip_prefix("0x")?, 16).ok()?;
        let window = self.window(number, factor, shift.parse().ok()?)?;
        self.pools[number].push(window);
        Some(())
    }

    fn window(&mut self, number: usize, factor: u64, shift: u32) -> Option<Window> {
        let bits = 64u32.checked_sub(shift).filter(|bits| (1..=WIDEST).contains(bits))?;
        Window::new(&mut self.trials, &self.problems[number], factor, bits)
    }
}

/// What a local search minimises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Entries,
    /// Entries and columns, see [`Usage::cost`].
    Columns,
}

impl Trials {
    /// Returns a new window with this number of index bits.
    fn constructed(&mut self, problem: &Problem, bits: u32, random: &mut Random) -> Window {
        loop {
            if let Some(factor) = construct(random, problem.mask, 64 - bits)
                && let Some(window) = Window::new(self, problem, factor, bits)
            {
                return window;
            }
        }
    }

    /// Changes a factor until it is correct, keeping changes that fail no earlier case. Returns `None` after `patience`
    /// failures.
    fn mend(
        &mut self,
        problem: &Problem,
        mut factor: u64,
        bits: u32,
        patience: u32,
        random: &mut Random,
    ) -> Option<u64> {
        let mut most = 0;
        let mut failures = 0;
        let mut changed = factor;
        while failures < patience {
            let Err(done) = self.measure(problem, changed, bits, u32::MAX) else { return Some(changed) };
            failures += 1;
            if done > most {
                failures = 0;
            }
            if done >= most {
                (factor, most) = (changed, done);
            }
            changed = change(factor, random);
        }
        None
    }

    /// Changes a factor as long as the cost does not grow. If `halve` is set, also tries to save an index bit.
    fn climb(
        &mut self,
        problem: &Problem,
        (mut factor, bits): (u64, u32),
        goal: Goal,
        patience: u32,
        halve: bool,
        random: &mut Random,
    ) -> (u64, u32) {
        let cost = |used: Usage, bits| if goal == Goal::Entries { 2 * used.entries } else { used.cost(bits) };
        let first = self.measure(problem, factor, bits, u32::MAX).expect("the first factor is correct");
        let mut lowest = cost(first, bits);
        let mut failures = 0;
        while failures < patience {
            failures += 1;
            let changed = change(factor, random);
            let Ok(used) = self.measure(problem, changed, bits, lowest / 2) else { continue };
            let cost = cost(used, bits);
            if cost > lowest || changed == factor {
                continue;
            }
            if cost < lowest {
                failures = 0;
            }
            (factor, lowest) = (changed, cost);
            if halve && bits == problem.bits && used.entries <= 1 << (bits - 1) && below(random, 4) == 0 {
                let half = (1..63)
                    .map(|place| factor >> place << (place + 1) | factor & ((1 << place) - 1))
                    .find(|&half| self.measure(problem, half, bits - 1, u32::MAX).is_ok());
                if let Some(half) = half {
                    return (half, bits - 1);
                }
            }
        }
        (factor, bits)
    }
}

/// Flips, adds or subtracts up to three bits of a factor, and in a quarter of all cases shifts a part of it by one bit.
fn change(mut factor: u64, random: &mut Random) -> u64 {
    let choice = random.next_u64();
    if choice & 3 == 0 {
        let part = ((2 << (choice >> 8 & 31)) - 1) << (choice >> 16 & 63);
        let moved = if choice & 4 == 0 { (factor & part) << 1 } else { (factor & part) >> 1 };
        factor = factor & !part | moved;
        if choice & 8 == 0 {
            return factor;
        }
    }
    for _ in 0..=below(random, 3) {
        let choice = random.next_u64();
        let bit = 1 << (choice & 63);
        factor = match choice >> 6 & 3 {
            0 | 1 => factor ^ bit,
            2 => factor.wrapping_add(bit),
            _ => factor.wrapping_sub(bit),
        };
    }
    factor
}
