use super::alphabeta::Worker;
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
    /// When to stop.
    pub limits: &'a Limits,
    /// What scores positions.
    pub network: &'a Network,
    /// Results to reuse and add to.
    pub table: &'a TranspositionTable,
    /// Set from outside to stop the search.
    pub stop: &'a AtomicBool,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best move; none at mate and stalemate.
    pub best: Option<Move>,
    /// The score of the last complete iteration, for the side to move.
    pub score: Score,
    /// Positions visited.
    pub nodes: u64,
}

impl Search<'_> {
    /// Searches deeper and deeper until a limit is reached. The first iteration is always finished.
    pub fn run(&self, sink: &mut impl Sink) -> Outcome {
        self.table.next_age();
        let mut worker = Worker::new(self);
        let mut best = Line::new();
        let mut score = Score::DRAW;
        let moves = self.position.moves();
        if moves.is_empty() {
            let score = if self.position.in_check() { Score::mated_in(0) } else { Score::DRAW };
            return Outcome { best: None, score, nodes: 0 };
        }
        let deepest = self.limits.depth.unwrap_or(u32::MAX).clamp(1, super::MAX_PLY as u32 - 1);
        for depth in 1..=deepest {
            let mut line = Line::new();
            let result = worker.search_root(depth as i32, &mut line);
            let stopped = worker.is_stopped();
            if let Some(found) = result.filter(|_| !line.is_empty()) {
                (best, score) = (line, found);
                sink.report(&Report {
                    depth,
                    selective_depth: worker.selective_depth(),
                    score,
                    nodes: worker.nodes(),
                    elapsed: worker.timer().elapsed(),
                    hashfull: self.table.hashfull(),
                    line: &best,
                });
            }
            let is_enough = self.limits.soft_nodes.is_some_and(|nodes| worker.nodes() >= nodes);
            if stopped || is_enough || worker.timer().is_soft_over() {
                break;
            }
        }
        Outcome { best: best.first().or(moves.first()).copied(), score, nodes: worker.nodes() }
    }
}
