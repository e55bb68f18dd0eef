//! Perft: counts the leaves of the tree of legal moves, the standard test of a move generator.

use crate::board::{MoveList, Position};
use crate::types::Move;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;

/// The greatest depth that commands accept. Even the least trees of this depth take for ever, and each ply takes stack.
pub const MAX_DEPTH: u32 = 99;

/// Checks a depth that a user has asked for.
///
/// # Errors
/// If it is 0 or exceeds [`MAX_DEPTH`].
pub fn check_depth(depth: u32) -> Result<(), String> {
    let is_allowed = (1..=MAX_DEPTH).contains(&depth);
    if is_allowed { Ok(()) } else { Err(format!("the depth of perft must be from 1 to {MAX_DEPTH}")) }
}

/// Returns the number of move sequences of length `depth`. Counts the moves of the last ply without making them.
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_moves() as u64,
        _ => {
            let mut moves = MoveList::new();
            position.list_moves(&mut moves);
            let mut leaves = 0;
            for &mv in &moves {
                leaves += perft(&position.make(mv), depth - 1);
            }
            leaves
        }
    }
}

/// Does what [`perft`] does until it is stopped, and then returns a part of the count.
fn perft_until(position: &Position, depth: u32, stop: &AtomicBool) -> u64 {
    // Smaller trees take no time.
    if depth <= 4 {
        return perft(position, depth);
    }
    let moves = position.moves();
    let moves = moves.iter().take_while(|_| !stop.load(Relaxed));
    moves.map(|&mv| perft_until(&position.make(mv), depth - 1, stop)).sum()
}

/// How far [`divide_watched`] is.
#[derive(Debug, Default)]
pub struct Progress {
    /// All parts of the tree.
    pub total: AtomicU64,
    /// The parts that are counted.
    pub done: AtomicU64,
    /// Their leaves.
    pub leaves: AtomicU64,
}

/// Runs [`perft`] for each legal move, on several threads. `depth` includes that move and is at least 1; 0 counts as 1.
pub fn divide(position: &Position, depth: u32, threads: usize) -> Vec<(Move, u64)> {
    divide_watched(position, depth, threads, &Progress::default(), &AtomicBool::new(false))
}

/// Does what [`divide`] does, and keeps `progress` up to date. Ends soon once `stop` is true; the counts are then
/// incomplete.
pub fn divide_watched(
    position: &Position,
    depth: u32,
    threads: usize,
    progress: &Progress,
    stop: &AtomicBool,
) -> Vec<(Move, u64)> {
    let roots = position.moves();
    let counts: Vec<AtomicU64> = roots.iter().map(|_| AtomicU64::new(0)).collect();
    // Pairs of a move and a reply are small enough to keep all threads busy until the end.
    let mut jobs: Vec<(usize, Position, u32)> = Vec::new();
    for (root, &mv) in roots.iter().enumerate() {
        let next = position.make(mv);
        match depth {
            0..=2 => jobs.push((root, next, depth.saturating_sub(1))),
            _ => jobs.extend(next.moves().iter().map(|&reply| (root, next.make(reply), depth - 2))),
        }
    }
    progress.total.store(jobs.len() as u64, Relaxed);
    let next_job = AtomicUsize::new(0);
    let work = || {
        while let Some((root, position, depth)) = jobs.get(next_job.fetch_add(1, Relaxed)) {
            let leaves = perft_until(position, *depth, stop);
            counts[*root].fetch_add(leaves, Relaxed);
            progress.leaves.fetch_add(leaves, Relaxed);
            progress.done.fetch_add(1, Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system has no thread left, the others do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    roots.iter().copied().zip(counts.into_iter().map(AtomicU64::into_inner)).collect()
}
