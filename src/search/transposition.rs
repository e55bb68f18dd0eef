use super::huge_pages::{self, OutOfMemory};
use crate::simd;
use crate::types::{Move, Score};
use memmap2::MmapRaw;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread;

/// Entries in a cluster.
const ENTRIES: usize = 3;
/// Bytes in an entry.
const ENTRY: usize = 10;
/// 64-bit words in a cluster: 32 bytes, of which two are unused.
const WORDS: usize = 4;
/// Searches after which the age wraps around.
const AGES: u8 = 32;
/// Stands for no evaluation.
const NO_EVALUATION: i16 = i16::MIN;

/// The largest table that may be asked for.
pub const MAX_MEGABYTES: usize = 1 << 20;

/// How the stored score relates to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// The true score is at most this.
    Upper = 1,
    /// The true score is at least this.
    Lower = 2,
    /// The true score is this.
    Exact = 3,
}

/// What the table knows of a position. It may belong to another position or be torn from two, rarely: the move must
/// be checked, the score is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtEntry {
    /// The best move found, perhaps not legal.
    pub best: Option<Move>,
    /// The score, distances to mate counted from the root of the search.
    pub score: Score,
    /// What the network says, before any correction; none in check.
    pub evaluation: Option<Score>,
    /// The depth it was searched to.
    pub depth: i32,
    /// What the score means; nothing if none was found, only the position evaluated.
    pub bound: Option<Bound>,
    /// Whether the position was ever searched with an open window.
    pub tt_pv: bool,
}

impl TtEntry {
    /// Whether the score says as much about this window as a search would.
    #[inline]
    pub fn decides(&self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            None => false,
            Some(Bound::Exact) => true,
            Some(Bound::Lower) => self.score >= beta,
            Some(Bound::Upper) => self.score <= alpha,
        }
    }

    /// A static evaluation, or the score if that says more.
    #[inline]
    pub fn refine(&self, evaluation: Score) -> Score {
        let says_more = match self.bound {
            None => false,
            Some(Bound::Exact) => true,
            Some(Bound::Lower) => self.score > evaluation,
            Some(Bound::Upper) => self.score < evaluation,
        };
        if says_more && !self.score.is_decisive() { self.score } else { evaluation }
    }

    /// Whether the true score is at least the score.
    #[inline]
    pub fn is_lower_bound(&self) -> bool {
        matches!(self.bound, Some(Bound::Lower | Bound::Exact))
    }
}

/// A cache of search results shared without locks: clusters of 32 bytes with three entries of ten, read as four relaxed 64-bit atomics
/// (the scheme of the talk "Top 10 Engine in Rust"). A torn read is accepted.
pub struct TranspositionTable {
    memory: MmapRaw,
    megabytes: usize,
    age: AtomicU8,
}

/// An entry's ten bytes: key (2), move (2), score (2), evaluation (2), depth plus one, of which zero marks an empty entry, and in the last two bits of
/// bound, one of an open window, five of age.
#[derive(Clone, Copy)]
struct Packed([u8; ENTRY]);

impl Packed {
    fn key(self) -> u16 {
        self.word(0)
    }

    fn word(self, place: usize) -> u16 {
        u16::from_le_bytes([self.0[place], self.0[place + 1]])
    }

    fn is_empty(self) -> bool {
        self.0[8] == 0
    }

    fn depth(self) -> i32 {
        i32::from(self.0[8]) - 1
    }

    fn bound(self) -> Option<Bound> {
        match self.0[9] & 3 {
            1 => Some(Bound::Upper),
            2 => Some(Bound::Lower),
            3 => Some(Bound::Exact),
            _ => None,
        }
    }

    fn age(self) -> u8 {
        self.0[9] >> 3
    }

    /// How much the entry is worth keeping: deep and recent.
    fn quality(self, now: u8) -> i32 {
        if self.is_empty() {
            return i32::MIN;
        }
        self.depth() - 4 * i32::from(now.wrapping_sub(self.age()) % AGES)
    }
}

impl TranspositionTable {
    /// An empty table of this size. The system zeroes the memory when it is first touched: before a search with a clock comes [`TranspositionTable::clear`].
    pub fn new(megabytes: usize) -> Result<Self, OutOfMemory> {
        let memory = huge_pages::map(megabytes << 20)
            .map_err(|error| OutOfMemory::new(format!("{megabytes} MB of hash"), error))?;
        Ok(Self { memory: memory.into(), megabytes, age: AtomicU8::new(0) })
    }

    /// Forgets everything; so many threads share the work. Afterwards all memory has been touched: a search that is the first to touch it waits for the system
    /// again and again, with 1 GB for hundreds of milliseconds in all.
    pub fn clear(&mut self, threads: usize) {
        let clusters = self.clusters();
        let zero = |part: &[[AtomicU64; WORDS]]| part.as_flattened().iter().for_each(|word| word.store(0, Relaxed));
        thread::scope(|scope| {
            for part in clusters.chunks(clusters.len().div_ceil(threads.max(1))) {
                // Where the system has no thread left, there is this one.
                if thread::Builder::new().spawn_scoped(scope, move || zero(part)).is_err() {
                    zero(part);
                }
            }
        });
        self.age = AtomicU8::new(0);
    }

    /// The size that was asked for.
    pub fn megabytes(&self) -> usize {
        self.megabytes
    }

    fn clusters(&self) -> &[[AtomicU64; WORDS]] {
        let length = self.memory.len() / size_of::<[AtomicU64; WORDS]>();
        // SAFETY: the mapping is page-aligned, at least this long, writable, and lives as long as `self`. It is read and written only as the atomics that
        // this function lends out. It begins zeroed, and any bits are valid atomics.
        unsafe { std::slice::from_raw_parts(self.memory.as_mut_ptr().cast(), length) }
    }

    fn cluster(&self, key: u64) -> &[AtomicU64; WORDS] {
        let clusters = self.clusters();
        // The high half of the product spreads keys evenly over any number of clusters; the low bits of the key tell them apart.
        &clusters[((u128::from(key) * clusters.len() as u128) >> 64) as usize]
    }

    fn read(cluster: &[AtomicU64; WORDS]) -> [u8; 8 * WORDS] {
        let mut bytes = [0; 8 * WORDS];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(cluster) {
            chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        bytes
    }

    fn entries(bytes: &[u8; 8 * WORDS]) -> [Packed; ENTRIES] {
        std::array::from_fn(|i| Packed(std::array::from_fn(|j| bytes[i * ENTRY + j])))
    }

    /// A new search begins: what is there is older by one.
    pub fn next_age(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
    }

    /// Has the processor fetch what is tt_entry of a position that will soon be asked for.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        simd::prefetch(self.cluster(key));
    }

    /// What is tt_entry of the position with this key, `ply` plies from the root.
    pub fn probe(&self, key: u64, ply: usize) -> Option<TtEntry> {
        let entries = Self::entries(&Self::read(self.cluster(key)));
        let found = entries.into_iter().find(|entry| entry.key() == key as u16 && !entry.is_empty())?;
        let evaluation = found.word(6) as i16;
        Some(TtEntry {
            best: Move::from_word(found.word(2)),
            score: Score::from_tt(found.word(4) as i16, ply),
            evaluation: (evaluation != NO_EVALUATION).then(|| Score::centipawns(evaluation.into())),
            depth: found.depth(),
            bound: found.bound(),
            tt_pv: found.0[9] & 4 != 0,
        })
    }

    /// Remembers a result for the position with this key, `ply` plies from the root, in place of the least useful entry of its cluster. Without
    /// a best move the one stored before for the same position stays.
    pub fn store(&self, key: u64, ply: usize, new: TtEntry) {
        let cluster = self.cluster(key);
        let mut bytes = Self::read(cluster);
        let entries = Self::entries(&bytes);
        let age = self.age.load(Relaxed);
        let same = entries.iter().position(|entry| entry.key() == key as u16 && !entry.is_empty());
        let place = same
            .unwrap_or_else(|| (0..ENTRIES).min_by_key(|&i| entries[i].quality(age)).expect("a cluster has entries"));
        let old = entries[place];
        let deeper = old.depth() > new.depth + 2 + 2 * i32::from(new.tt_pv);
        if same.is_some() && new.bound != Some(Bound::Exact) && old.age() == age && deeper {
            return;
        }
        let entry = &mut bytes[place * ENTRY..][..ENTRY];
        entry[..2].copy_from_slice(&(key as u16).to_le_bytes());
        if let Some(best) = new.best {
            entry[2..4].copy_from_slice(&best.word().to_le_bytes());
        } else if same.is_none() {
            entry[2..4].fill(0);
        }
        entry[4..6].copy_from_slice(&new.score.to_tt(ply).to_le_bytes());
        let evaluation = new.evaluation.map_or(NO_EVALUATION, |evaluation| evaluation.value() as i16);
        entry[6..8].copy_from_slice(&evaluation.to_le_bytes());
        entry[8] = (new.depth + 1).clamp(1, 255) as u8;
        entry[9] = new.bound.map_or(0, |bound| bound as u8) | u8::from(new.tt_pv) << 2 | age << 3;
        for (word, chunk) in cluster.iter().zip(bytes.chunks_exact(8)) {
            word.store(u64::from_le_bytes(chunk.try_into().expect("eight bytes")), Relaxed);
        }
    }

    /// How much of the table this search has filled, in thousandths, by a sample.
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
        let evaluation = Some(Score::centipawns(-77));
        TtEntry { best, score, evaluation, depth, bound: Some(Bound::Exact), tt_pv: depth % 2 == 0 }
    }

    #[test]
    fn stored_results_are_found() {
        let table = TranspositionTable::new(1).unwrap();
        assert_eq!(table.probe(0, 0), None);
        let mate = -Score::mated_in(9);
        for key in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            table.store(key, 4, entry(7, mate));
            assert_eq!(table.probe(key, 4), Some(entry(7, mate)));
            assert_eq!(table.probe(key, 2).unwrap().score, -Score::mated_in(7));
            assert_eq!(table.probe(key ^ 2, 4), None);
        }
        let mut table = table;
        table.clear(3);
        assert!([0, 1, u64::MAX].iter().all(|&key| table.probe(key, 0).is_none()) && table.hashfull() == 0);
    }

    #[test]
    fn shallow_and_old_entries_go_first() {
        let table = TranspositionTable::new(1).unwrap();
        // All in the first cluster.
        for (key, depth) in [(1, 5), (2, 9), (3, 7)] {
            table.store(key, 0, entry(depth, Score::DRAW));
        }
        table.store(4, 0, entry(6, Score::DRAW));
        assert_eq!([1, 2, 3, 4].map(|key| table.probe(key, 0).is_some()), [false, true, true, true]);
        table.next_age();
        table.store(5, 0, entry(4, Score::DRAW));
        table.store(6, 0, entry(4, Score::DRAW));
        assert_eq!([2, 3, 4, 5, 6].map(|key| table.probe(key, 0).is_some()), [true, false, false, true, true]);
    }

    #[test]
    fn threads_may_mix_entries_but_no_fields() {
        let table = TranspositionTable::new(1).unwrap();
        let written = [[Square::E2, Square::E4], [Square::D7, Square::D5]].map(|[from, to]| TtEntry {
            best: Some(Move::new(from, to, MoveKind::DoublePush)),
            ..entry(i32::from(from as u8), Score::centipawns(i32::from(to as u8) * 300))
        });
        // More keys than one cluster has entries, all in the first.
        let keys = 1..6;
        thread::scope(|scope| {
            for mine in written {
                let (table, keys) = (&table, keys.clone());
                scope.spawn(move || {
                    for key in keys.cycle().take(if cfg!(miri) { 30 } else { 300_000 }) {
                        table.store(key, 0, mine);
                        let Some(found) = table.probe(key, 0) else { continue };
                        assert!(written.iter().any(|entry| entry.best == found.best), "{found:?}");
                        assert!(written.iter().any(|entry| entry.score == found.score), "{found:?}");
                        assert!(written.iter().any(|entry| entry.depth == found.depth), "{found:?}");
                    }
                });
            }
        });
    }

    #[test]
    fn the_best_move_outlives_a_result_without_one() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(1, 0, entry(5, Score::DRAW));
        table.store(1, 0, TtEntry { best: None, bound: Some(Bound::Upper), ..entry(6, Score::DRAW) });
        let found = table.probe(1, 0).unwrap();
        assert_eq!((found.best, found.depth), (entry(5, Score::DRAW).best, 6));
    }
}
