//! The transposition table (TT): results of searches by position, shared by all threads without locks.

use super::huge_pages::{self, OutOfMemory};
use super::parameters as p;
use crate::maps::MmapRaw;
use crate::simd;
use crate::types::{Bound, Move, Score};
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread;

/// Entries in a cluster.
const ENTRIES: usize = 3;
/// 64-bit words in a cluster: 32 bytes, of which two are unused.
const WORDS: usize = 4;
/// Searches after which the age wraps around.
const AGES: u8 = 32;
/// Stands for an entry without a static evaluation.
const NO_EVAL: i16 = i16::MIN;

/// The size of the largest table, in MB. A 32-bit system has little memory to address.
pub const MAX_MEGABYTES: usize = if cfg!(target_pointer_width = "64") { 1 << 20 } else { 512 };

/// What the table knows of a position.
///
/// Rarely, it belongs to another position or mixes two of them: the move must be checked for legality, the score is
/// trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtEntry {
    /// The best move found; possibly illegal.
    pub best: Option<Move>,
    /// The score, with distances to mate counted from the root of the search.
    pub score: Score,
    /// The raw static evaluation, without corrections; `None` in check and from tablebases.
    pub raw_eval: Option<Score>,
    /// The depth of the search in plies.
    pub depth: i32,
    /// What the score means; `None` if the position was evaluated but not searched.
    pub bound: Option<Bound>,
    /// Whether the position was ever searched as a PV node.
    pub tt_pv: bool,
}

impl TtEntry {
    /// Returns whether the score settles a search with this window, as the bound allows.
    #[inline]
    pub fn is_cutoff(&self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            None => false,
            Some(Bound::Exact) => true,
            Some(Bound::Lower) => self.score >= beta,
            Some(Bound::Upper) => self.score <= alpha,
        }
    }

    /// Returns the score if its bound makes it a better estimate than the static evaluation, else the evaluation.
    #[inline]
    pub fn refine(&self, static_eval: Score) -> Score {
        let is_better = match self.bound {
            None => false,
            Some(Bound::Exact) => true,
            Some(Bound::Lower) => self.score > static_eval,
            Some(Bound::Upper) => self.score < static_eval,
        };
        if is_better && !self.score.is_decisive() { self.score } else { static_eval }
    }

    /// Returns whether the true score is at least the score.
    #[inline]
    pub fn is_lower_bound(&self) -> bool {
        matches!(self.bound, Some(Bound::Lower | Bound::Exact))
    }
}

/// An entry as it lies in memory.
#[derive(Clone, Copy)]
struct PackedEntry {
    /// The low bits of the Zobrist key.
    key: u16,
    /// The best move, or 0.
    mv: u16,
    /// The score, with distances to mate counted from the node.
    score: i16,
    /// The raw static evaluation or [`NO_EVAL`].
    raw_eval: i16,
    /// The depth plus 1; 0 marks an empty entry.
    depth: u8,
    /// The bound in bits 0 and 1, the PV mark in bit 2, the age in bits 3 to 7.
    flags: u8,
}

impl PackedEntry {
    /// Bytes of an entry in a cluster.
    const SIZE: usize = 10;

    #[inline]
    fn new(key: u64, ply: usize, age: u8, entry: TtEntry) -> Self {
        Self {
            key: key as u16,
            mv: entry.best.map_or(0, Move::word),
            score: entry.score.to_tt(ply),
            raw_eval: entry.raw_eval.map_or(NO_EVAL, |eval| eval.value() as i16),
            depth: (entry.depth + 1).clamp(1, 255) as u8,
            flags: Bound::code(entry.bound) | u8::from(entry.tt_pv) << 2 | age << 3,
        }
    }

    #[inline]
    fn unpack(self, ply: usize) -> TtEntry {
        TtEntry {
            best: Move::from_word(self.mv),
            score: Score::from_tt(self.score, ply),
            raw_eval: (self.raw_eval != NO_EVAL).then(|| Score::centipawns(self.raw_eval.into())),
            depth: self.depth(),
            bound: self.bound(),
            tt_pv: self.flags & 4 != 0,
        }
    }

    #[inline]
    fn from_bytes([k0, k1, m0, m1, s0, s1, e0, e1, depth, flags]: [u8; Self::SIZE]) -> Self {
        Self {
            key: u16::from_le_bytes([k0, k1]),
            mv: u16::from_le_bytes([m0, m1]),
            score: i16::from_le_bytes([s0, s1]),
            raw_eval: i16::from_le_bytes([e0, e1]),
            depth,
            flags,
        }
    }

    #[inline]
    fn to_bytes(self) -> [u8; Self::SIZE] {
        let [[k0, k1], [m0, m1]] = [self.key, self.mv].map(u16::to_le_bytes);
        let [[s0, s1], [e0, e1]] = [self.score, self.raw_eval].map(i16::to_le_bytes);
        [k0, k1, m0, m1, s0, s1, e0, e1, self.depth, self.flags]
    }

    #[inline]
    fn is_empty(self) -> bool {
        self.depth == 0
    }

    #[inline]
    fn matches(self, key: u64) -> bool {
        self.key == key as u16 && !self.is_empty()
    }

    #[inline]
    fn depth(self) -> i32 {
        i32::from(self.depth) - 1
    }

    #[inline]
    fn bound(self) -> Option<Bound> {
        Bound::from_code(self.flags & 3)
    }

    #[inline]
    fn age(self) -> u8 {
        self.flags >> 3
    }

    /// Returns how much the entry is worth keeping: deep and recent entries are.
    #[inline]
    fn quality(self, now: u8) -> i32 {
        if self.is_empty() {
            return i32::MIN;
        }
        self.depth() - p::tt_age_weight() * i32::from(now.wrapping_sub(self.age()) % AGES)
    }
}

/// A hash table of search results, shared by all threads without locks.
///
/// A cluster of 32 bytes holds three entries of ten and is read and written as four relaxed 64-bit atomics (the scheme
/// of the talk "Top 10 Engine in Rust"). Torn reads are accepted.
pub struct TranspositionTable {
    memory: MmapRaw,
    megabytes: usize,
    age: AtomicU8,
}

impl TranspositionTable {
    /// Allocates an empty table of this many megabytes (of 2<sup>20</sup> bytes), from 1 to [`MAX_MEGABYTES`]. Other
    /// numbers count as the nearest of these.
    ///
    /// The system zeroes the memory when it is first touched. Call [`TranspositionTable::clear`] before a search with a
    /// clock: otherwise the search waits for the system again and again, for hundreds of milliseconds per GB.
    ///
    /// # Errors
    /// If the system refuses the allocation.
    pub fn new(megabytes: usize) -> Result<Self, OutOfMemory> {
        let megabytes = megabytes.clamp(1, MAX_MEGABYTES);
        let memory = huge_pages::map(megabytes << 20)
            .map_err(|error| OutOfMemory::new(format!("{megabytes} MB of hash"), error))?;
        Ok(Self { memory: memory.into(), megabytes, age: AtomicU8::new(0) })
    }

    /// Removes all entries, with this many threads. Touches all of the memory.
    pub fn clear(&mut self, threads: usize) {
        let clusters = self.clusters();
        let zero = |part: &[[AtomicU64; WORDS]]| part.as_flattened().iter().for_each(|word| word.store(0, Relaxed));
        thread::scope(|scope| {
            for part in clusters.chunks(clusters.len().div_ceil(threads.max(1))) {
                // Where the system has no thread left, this one does the work.
                if thread::Builder::new().spawn_scoped(scope, move || zero(part)).is_err() {
                    zero(part);
                }
            }
        });
        self.age = AtomicU8::new(0);
    }

    /// Returns the size in MB.
    pub fn megabytes(&self) -> usize {
        self.megabytes
    }

    fn clusters(&self) -> &[[AtomicU64; WORDS]] {
        let length = self.memory.len() / size_of::<[AtomicU64; WORDS]>();
        // SAFETY: the mapping is page-aligned, at least this long, writable, and lives as long as `self`. It is
        // accessed only through the atomics that this function lends out. It begins zeroed, and any bits are valid
        // atomics.
        unsafe { std::slice::from_raw_parts(self.memory.as_mut_ptr().cast(), length) }
    }

    #[inline]
    fn cluster(&self, key: u64) -> &[AtomicU64; WORDS] {
        let clusters = self.clusters();
        // The high half of the product spreads keys evenly over any number of clusters; the low bits of the key tell
        // the entries of a cluster apart.
        &clusters[((u128::from(key) * clusters.len() as u128) >> 64) as usize]
    }

    #[inline]
    fn read(cluster: &[AtomicU64; WORDS]) -> [u8; 8 * WORDS] {
        let mut bytes = [0; 8 * WORDS];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(cluster) {
            chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        bytes
    }

    #[inline]
    fn entries(bytes: &[u8; 8 * WORDS]) -> [PackedEntry; ENTRIES] {
        let entry = |i| PackedEntry::from_bytes(std::array::from_fn(|j| bytes[i * PackedEntry::SIZE + j]));
        std::array::from_fn(entry)
    }

    /// Begins a new search: all entries become older by one.
    pub fn next_age(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
    }

    /// Prefetches the cache line of a position that will be probed soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        simd::prefetch(self.cluster(key));
    }

    /// Returns the entry of the position with this key, `ply` plies from the root.
    pub fn probe(&self, key: u64, ply: usize) -> Option<TtEntry> {
        let entries = Self::entries(&Self::read(self.cluster(key)));
        Some(entries.into_iter().find(|entry| entry.matches(key))?.unpack(ply))
    }

    /// Stores a result for the position with this key, `ply` plies from the root.
    ///
    /// It replaces the entry of the same position, or else the least useful one of the cluster. A result without a best
    /// move keeps the move that was stored before for this position. Of a much shallower result of the same search that
    /// is not exact only the best move is stored.
    pub fn store(&self, key: u64, ply: usize, new: TtEntry) {
        let cluster = self.cluster(key);
        let mut bytes = Self::read(cluster);
        let entries = Self::entries(&bytes);
        let age = self.age.load(Relaxed);
        let same = entries.iter().position(|entry| entry.matches(key));
        let slot = same
            .unwrap_or_else(|| (0..ENTRIES).min_by_key(|&i| entries[i].quality(age)).expect("a cluster has entries"));
        let old = entries[slot];
        let is_deeper = old.depth() > new.depth + p::tt_replace_depth() + p::tt_replace_pv() * i32::from(new.tt_pv);
        let is_kept = same.is_some() && new.bound != Some(Bound::Exact) && old.age() == age && is_deeper;
        if is_kept && new.best.is_none() {
            return;
        }
        let mut packed = if is_kept { old } else { PackedEntry::new(key, ply, age, new) };
        packed.mv = match new.best {
            None if same.is_some() => old.mv,
            best => best.map_or(0, Move::word),
        };
        bytes[slot * PackedEntry::SIZE..][..PackedEntry::SIZE].copy_from_slice(&packed.to_bytes());
        for (word, chunk) in cluster.iter().zip(bytes.chunks_exact(8)) {
            word.store(u64::from_le_bytes(chunk.try_into().expect("eight bytes")), Relaxed);
        }
    }

    /// Returns how much of the table the current search has filled, in per mille, from a sample.
    pub fn hashfull(&self) -> u32 {
        let age = self.age.load(Relaxed);
        let sample = &self.clusters()[..self.clusters().len().min(1000)];
        let entries = sample.iter().flat_map(|cluster| Self::entries(&Self::read(cluster)));
        let used = entries.filter(|entry| !entry.is_empty() && entry.age() == age).count();
        (used * 1000 / (ENTRIES * sample.len())) as u32
    }
}

impl fmt::Debug for TranspositionTable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "TranspositionTable({} MB)", self.megabytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MoveKind, Square};

    fn entry(depth: i32, score: Score) -> TtEntry {
        let best = Some(Move::new(Square::E2, Square::E4, MoveKind::DoublePush));
        let raw_eval = Some(Score::centipawns(-77));
        TtEntry { best, score, raw_eval, depth, bound: Some(Bound::Exact), tt_pv: depth % 2 == 0 }
    }

    #[test]
    fn the_smallest_table() {
        let tt = TranspositionTable::new(0).unwrap();
        assert_eq!((tt.megabytes(), tt.clusters().len()), (1, (1 << 20) / 32));
        assert_eq!((tt.probe(u64::MAX, 0), tt.hashfull()), (None, 0));
    }

    #[test]
    fn stored_results_are_found() {
        let tt = TranspositionTable::new(1).unwrap();
        assert_eq!(tt.probe(0, 0), None);
        let mate = -Score::mated_in(9);
        for key in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            tt.store(key, 4, entry(7, mate));
            assert_eq!(tt.probe(key, 4), Some(entry(7, mate)));
            assert_eq!(tt.probe(key, 2).unwrap().score, -Score::mated_in(7));
            assert_eq!(tt.probe(key ^ 2, 4), None);
        }
        let mut tt = tt;
        tt.clear(3);
        assert!([0, 1, u64::MAX].iter().all(|&key| tt.probe(key, 0).is_none()) && tt.hashfull() == 0);
    }

    #[test]
    fn shallow_and_old_entries_go_first() {
        let tt = TranspositionTable::new(1).unwrap();
        // All in the first cluster.
        for (key, depth) in [(1, 5), (2, 9), (3, 7)] {
            tt.store(key, 0, entry(depth, Score::DRAW));
        }
        tt.store(4, 0, entry(6, Score::DRAW));
        assert_eq!([1, 2, 3, 4].map(|key| tt.probe(key, 0).is_some()), [false, true, true, true]);
        // Three of the 3000 entries of the sample.
        assert_eq!(tt.hashfull(), 1);
        tt.next_age();
        assert_eq!(tt.hashfull(), 0);
        tt.store(5, 0, entry(4, Score::DRAW));
        tt.store(6, 0, entry(4, Score::DRAW));
        assert_eq!([2, 3, 4, 5, 6].map(|key| tt.probe(key, 0).is_some()), [true, false, false, true, true]);
    }

    #[test]
    fn threads_may_mix_entries_but_no_fields() {
        let tt = TranspositionTable::new(1).unwrap();
        let written = [[Square::E2, Square::E4], [Square::D7, Square::D5]].map(|[from, to]| TtEntry {
            best: Some(Move::new(from, to, MoveKind::DoublePush)),
            ..entry(i32::from(from as u8), Score::centipawns(i32::from(to as u8) * 300))
        });
        // More keys than one cluster has entries, all in the first.
        let keys = 1..6;
        thread::scope(|scope| {
            for mine in written {
                let (tt, keys) = (&tt, keys.clone());
                scope.spawn(move || {
                    for key in keys.cycle().take(if cfg!(miri) { 30 } else { 300_000 }) {
                        tt.store(key, 0, mine);
                        let Some(found) = tt.probe(key, 0) else { continue };
                        assert!(written.iter().any(|entry| entry.best == found.best), "{found:?}");
                        assert!(written.iter().any(|entry| entry.score == found.score), "{found:?}");
                        assert!(written.iter().any(|entry| entry.depth == found.depth), "{found:?}");
                    }
                });
            }
        });
    }

    #[test]
    fn of_a_much_shallower_result_only_the_best_move_is_stored() {
        let tt = TranspositionTable::new(1).unwrap();
        let deep = TtEntry { best: None, bound: Some(Bound::Upper), ..entry(20, Score::DRAW) };
        let shallow = TtEntry { bound: Some(Bound::Lower), ..entry(2, Score::centipawns(50)) };
        tt.store(1, 0, deep);
        tt.store(1, 0, shallow);
        assert_eq!(tt.probe(1, 0), Some(TtEntry { best: shallow.best, ..deep }));
        let exact = TtEntry { bound: Some(Bound::Exact), ..shallow };
        tt.store(1, 0, exact);
        assert_eq!(tt.probe(1, 0), Some(exact));
    }

    #[test]
    fn the_best_move_outlives_a_result_without_one() {
        let tt = TranspositionTable::new(1).unwrap();
        tt.store(1, 0, entry(5, Score::DRAW));
        tt.store(1, 0, TtEntry { best: None, bound: Some(Bound::Upper), ..entry(6, Score::DRAW) });
        let found = tt.probe(1, 0).unwrap();
        assert_eq!((found.best, found.depth), (entry(5, Score::DRAW).best, 6));
    }
}
