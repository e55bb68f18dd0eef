use super::alphabeta::Worker;
use super::table::Bound;
use super::{Limits, Line, Report, Sink, TranspositionTable};
use crate::board::{History, Position};
use crate::nnue::Network;
use crate::types::{Move, Score};
use std::sync::atomic::AtomicBool;

/// A search to be run: where from, how long, with which table.
#[derive(Debug)]
pub struct Search<'a> {
    /// The position to move in.
    pub position: &'a Position,
    /// The positions of the game before it.
    pub history: &'a History,
    /// The moves to choose from, all legal; empty for all that are.
    pub moves: &'a [Move],
    /// How many of the best lines are wanted, at least 1.
    pub lines: usize,
    /// When to stop.
    pub limits: &'a Limits,
    /// What scores positions.
    pub network: &'a Network,
    /// Results to reuse and add to.
    pub table: &'a TranspositionTable,
    /// What may be said to the search from outside.
    pub signals: &'a Signals,
}

/// What may be said to a running search from other threads.
#[derive(Debug, Default)]
pub struct Signals {
    /// Stop as soon as there is a move.
    pub stop: AtomicBool,
    /// The opponent is to move, and the position is the one expected: the search goes on whatever the limits say. Once this is taken back, the time that has
    /// gone by counts.
    pub pondering: AtomicBool,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move; none at mate and stalemate.
    pub best: Option<Move>,
    /// The expected answer, if there is one.
    pub ponder: Option<Move>,
    /// The score of the last complete iteration, for the side to move.
    pub score: Score,
    /// Positions visited by all threads.
    pub nodes: u64,
}

/// The threads that search, with what each has learnt in earlier searches of the game.
#[derive(Debug)]
pub struct Threads {
    count: usize,
}

impl Threads {
    /// So many threads, at least 1, which know nothing.
    pub fn new(count: usize) -> Self {
        Self { count }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Forgets all that was learnt, for a new game.
    pub fn clear(&mut self) {}

    /// Searches deeper and deeper until a limit is reached. The first iteration is always finished.
    pub fn search(&mut self, search: &Search, sink: &mut impl Sink) -> Outcome {
        search.table.next_age();
        let mut worker = Worker::new(search);
        let mut best = Line::new();
        let mut score = Score::DRAW;
        let moves = search.position.moves();
        if moves.is_empty() {
            let score = if search.position.in_check() { Score::mated_in(0) } else { Score::DRAW };
            return Outcome { best: None, ponder: None, score, nodes: 0 };
        }
        let deepest = search.limits.depth.unwrap_or(u32::MAX).clamp(1, super::MAX_PLY as u32 - 1);
        for depth in 1..=deepest {
            let mut line = Line::new();
            let result = worker.search_root(depth as i32, &mut line);
            let stopped = worker.is_stopped();
            if let Some(found) = result.filter(|_| !line.is_empty()) {
                (best, score) = (line, found);
                sink.report(&Report {
                    depth,
                    selective_depth: worker.selective_depth(),
                    rank: 1,
                    score,
                    bound: Bound::Exact,
                    nodes: worker.nodes(),
                    elapsed: worker.timer().elapsed(),
                    hashfull: search.table.hashfull(),
                    tablebase_hits: 0,
                    line: &best,
                });
            }
            let enough = search.limits.soft_nodes.is_some_and(|nodes| worker.nodes() >= nodes);
            if stopped || enough || worker.timer().is_soft_over() {
                break;
            }
        }
        Outcome {
            best: best.first().or(moves.first()).copied(),
            ponder: best.get(1).copied(),
            score,
            nodes: worker.nodes(),
        }
    }
}
