//! What the threads of a search share: the request, the signals from outside, the limits and the counters.

use super::time::Timer;
use super::{Limits, Probing, TranspositionTable};
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::tablebases::{RankedMove, Tablebases, Wdl};
use crate::types::{Move, Score};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// A search to run: the position, the limits, and the resources to use. [`Threads::search`](super::Threads::search)
/// shows how to fill one in.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// The position to search.
    pub position: &'a Position,
    /// The positions of the game before it, for repetitions.
    pub history: &'a GameHistory,
    /// The root moves to choose from, all legal; if empty, all legal moves.
    pub search_moves: &'a [Move],
    /// The number of principal variations (MultiPV), at least 1.
    pub multi_pv: usize,
    /// When to stop.
    pub limits: &'a Limits,
    /// The network that evaluates positions.
    pub network: &'a Network,
    /// The transposition table, which is read and filled.
    pub tt: &'a TranspositionTable,
    /// The tablebases, if there are any.
    pub tablebases: Option<&'a Tablebases>,
    /// When the tablebases are probed.
    pub probing: Probing,
    /// How other threads stop the search.
    pub signals: &'a Signals,
}

/// Signals to a running search from other threads.
#[derive(Debug, Default)]
pub struct Signals {
    /// Stop as soon as there is a best move.
    pub stop: AtomicBool,
    /// The search ponders: time limits do not apply until this is reset (`ponderhit`). Time counts from the start.
    pub pondering: AtomicBool,
}

impl SearchRequest<'_> {
    /// Returns those of `moves` that the tablebases rank, best first; none if they lack the position or shall not rank.
    fn rank_root(&self, moves: &[Move]) -> Vec<RankedMove> {
        let Probing { pieces, fifty_move_rule, ranks_root, .. } = self.probing;
        let may_rank = |tables: &&Tablebases| {
            ranks_root && self.position.occupied().len() <= pieces.min(tables.max_pieces() as u32)
        };
        let rank = |tables: &Tablebases| tables.rank_root(self.position, self.history, fifty_move_rule);
        let mut ranked = self.tablebases.filter(may_rank).and_then(rank).unwrap_or_default();
        ranked.retain(|ranked| moves.contains(&ranked.mv));
        ranked
    }
}

/// The state that all threads of a search read.
pub struct Shared<'a> {
    pub search: &'a SearchRequest<'a>,
    pub timer: Timer,
    /// The nodes of all threads after which the search stops.
    node_limit: Option<u64>,
    /// The moves to choose from, those of higher tablebase rank first.
    pub root_moves: Vec<Move>,
    /// What the tablebases say of the moves to choose from, and of those that they rank too low; empty if they do not
    /// rank.
    ranked_moves: Vec<RankedMove>,
    /// Whether other nodes are probed. If the moves that keep the root's score are known, this only leads to progress
    /// towards a win where no DTZ table does.
    pub probes: bool,
    /// One for each thread.
    pub counters: Vec<Counter>,
    /// Stops all threads: a limit is reached, or the first thread is done.
    pub halt: AtomicBool,
    /// Whether it is too late for another iteration. A search that ponders goes on until `ponderhit`.
    pub is_soft_over: AtomicBool,
}

/// The counters of a thread, which writes them all the time: on a cache line of their own, to avoid false sharing.
#[derive(Default)]
#[repr(align(64))]
pub struct Counter {
    pub nodes: AtomicU64,
    pub tablebase_hits: AtomicU64,
}

impl<'a> Shared<'a> {
    /// Prepares a search of these root moves by this many threads. Probes the tablebases at the root: a single
    /// variation begins with one of the moves that they rank highest.
    pub fn new(search: &'a SearchRequest<'a>, timer: Timer, mut root_moves: Vec<Move>, threads: usize) -> Self {
        let ranked_moves = search.rank_root(&root_moves);
        let counters: Vec<_> = (0..threads).map(|_| Counter::default()).collect();
        counters[0].tablebase_hits.store(ranked_moves.len() as u64, Relaxed);
        let mut probes = true;
        if let Some(best) = ranked_moves.first() {
            let keeps = |ranked: &&RankedMove| search.multi_pv > 1 || ranked.tb_rank == best.tb_rank;
            root_moves = ranked_moves.iter().filter(keeps).map(|ranked| ranked.mv).collect();
            probes = best.wdl > Wdl::Draw && search.tablebases.is_some_and(|all| !all.has_dtz(search.position));
        }
        let node_limit = search.limits.nodes.into_iter().chain(timer.node_limit()).min();
        Self {
            search,
            timer,
            node_limit,
            root_moves,
            ranked_moves,
            probes,
            counters,
            halt: AtomicBool::new(false),
            is_soft_over: AtomicBool::new(false),
        }
    }

    /// Returns the nodes of all threads.
    pub fn nodes(&self) -> u64 {
        self.counters.iter().map(|counter| counter.nodes.load(Relaxed)).sum()
    }

    /// Returns the tablebase hits of all threads.
    pub fn tablebase_hits(&self) -> u64 {
        self.counters.iter().map(|counter| counter.tablebase_hits.load(Relaxed)).sum()
    }

    /// Returns what the tablebases say of a root move, if they rank.
    pub fn ranked_move(&self, mv: Move) -> Option<&RankedMove> {
        self.ranked_moves.iter().find(|ranked| ranked.mv == mv)
    }

    /// Returns the score to report of a principal variation with this score: that of the tablebases, unless the search
    /// found a mate that agrees with it.
    pub fn reported_score(&self, pv: &[Move], score: Score) -> Score {
        let Some(ranked) = pv.first().and_then(|&mv| self.ranked_move(mv)) else { return score };
        let known = match ranked.wdl {
            Wdl::Win => Score::tb_win_in(0),
            Wdl::Loss => -Score::tb_win_in(0),
            _ => Score::DRAW,
        };
        if score.is_mate() && known.is_decisive() && score.is_win() == known.is_win() { score } else { known }
    }

    /// Returns whether the search ponders.
    pub fn is_pondering(&self) -> bool {
        self.search.signals.pondering.load(Relaxed)
    }

    /// Returns whether a thread that has searched this many nodes must stop. The expensive checks (the clock, the node
    /// sum of all threads) run only if `check_all`.
    ///
    /// Each thread watches the limits for all: with more threads than processors, the first one may be waiting for a
    /// processor when time is up.
    #[inline]
    pub fn should_stop(&self, nodes: u64, check_all: bool) -> bool {
        if self.halt.load(Relaxed) || self.search.signals.stop.load(Relaxed) {
            return true;
        }
        let has_enough_nodes = self.node_limit.is_some_and(|limit| match self.counters.len() {
            1 => nodes >= limit,
            _ => check_all && self.nodes() >= limit,
        });
        let is_late =
            check_all && (self.timer.is_hard_over() || self.is_soft_over.load(Relaxed)) && !self.is_pondering();
        let must_stop = has_enough_nodes || is_late;
        if must_stop {
            self.halt.store(true, Relaxed);
        }
        must_stop
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    /// Calls `test` with what two threads share in a search with these limits.
    pub fn with_shared(limits: &Limits, test: impl FnOnce(&Shared)) {
        let position = Position::startpos();
        let request = SearchRequest {
            position: &position,
            history: &GameHistory::new(),
            search_moves: &[],
            multi_pv: 1,
            limits,
            network: &Network::embedded(),
            tt: &TranspositionTable::new(1).unwrap(),
            tablebases: None,
            probing: Probing::default(),
            signals: &Signals::default(),
        };
        test(&Shared::new(&request, Timer::new(limits, 2), position.moves().to_vec(), 2));
    }

    #[test]
    fn a_thread_that_sees_the_node_limit_stops_all() {
        with_shared(&Limits { nodes: Some(1000), ..Limits::default() }, |shared| {
            shared.counters[0].nodes.store(600, Relaxed);
            shared.counters[1].nodes.store(399, Relaxed);
            assert!(!shared.should_stop(399, true));
            shared.counters[1].nodes.store(400, Relaxed);
            assert!(!shared.should_stop(600, false), "the sum is not checked at every node");
            assert!(shared.should_stop(400, true));
            assert!(shared.should_stop(600, false), "the other thread need not check");
        });
    }

    #[test]
    fn a_thread_that_sees_that_time_is_up_stops_all_but_not_while_pondering() {
        let limits = Limits { movetime: Some(Duration::from_millis(2)), ..Limits::default() };
        with_shared(&limits, |shared| {
            sleep(Duration::from_millis(3));
            shared.search.signals.pondering.store(true, Relaxed);
            assert!(!shared.should_stop(1, true));
            shared.search.signals.pondering.store(false, Relaxed);
            assert!(!shared.should_stop(1, false), "the clock is not checked at every node");
            assert!(shared.should_stop(1, true) && shared.should_stop(2, false));
        });
        with_shared(&Limits::default(), |shared| {
            shared.is_soft_over.store(true, Relaxed);
            shared.search.signals.pondering.store(true, Relaxed);
            assert!(!shared.should_stop(1, true));
            shared.search.signals.pondering.store(false, Relaxed);
            assert!(shared.should_stop(1, true));
        });
    }
}
