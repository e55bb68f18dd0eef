//! What the threads of a search share: the request, the signals from outside, the limits and the counters.

use super::time::Timer;
use super::{Limits, Probing, TranspositionTable};
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::tablebases::{Tablebases, Wdl};
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
    /// Chooses the best of `moves` by the tablebases. They are all kept if the tablebases lack the position or several
    /// variations are wanted.
    fn probe_root(&self, moves: Vec<Move>) -> RootProbe {
        let Probing { pieces, fifty_move_rule, .. } = self.probing;
        let is_small_enough = |tablebases: &&Tablebases| {
            let most = pieces.min(tablebases.max_pieces() as u32);
            self.multi_pv == 1 && self.position.occupied().len() <= most
        };
        let ranked = self.tablebases.filter(is_small_enough).and_then(|tablebases| {
            let mut ranked = tablebases.rank_root(self.position, self.history, fifty_move_rule)?;
            ranked.retain(|ranked| moves.contains(&ranked.mv));
            Some(ranked)
        });
        match ranked.as_deref() {
            None | Some([]) => RootProbe { moves, score: None, hits: 0, probes: true },
            Some(ranked @ [best, ..]) => {
                let equal = ranked.iter().take_while(|ranked| ranked.tb_rank == best.tb_rank);
                let score = match best.wdl {
                    Wdl::Win => Score::tb_win_in(0),
                    Wdl::Loss => -Score::tb_win_in(0),
                    _ => Score::DRAW,
                };
                RootProbe {
                    moves: equal.map(|ranked| ranked.mv).collect(),
                    score: Some(score),
                    hits: ranked.len() as u64,
                    probes: best.wdl > Wdl::Draw && self.tablebases.is_some_and(|all| !all.has_dtz(self.position)),
                }
            }
        }
    }
}

/// What the tablebases say of the root.
struct RootProbe {
    /// The moves to choose from.
    moves: Vec<Move>,
    /// The score, if they are ranked.
    score: Option<Score>,
    /// The number of moves found in the tablebases.
    hits: u64,
    /// Whether the search goes on probing.
    probes: bool,
}

/// The state that all threads of a search read.
pub struct Shared<'a> {
    pub search: &'a SearchRequest<'a>,
    pub timer: Timer,
    /// The nodes of all threads after which the search stops.
    node_limit: Option<u64>,
    /// The moves to choose from.
    pub root_moves: Vec<Move>,
    /// The score of the root by the tablebases. `root_moves` are then the moves that keep it.
    pub root_score: Option<Score>,
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
    /// Prepares a search of these root moves by this many threads. Probes the tablebases at the root.
    pub fn new(search: &'a SearchRequest<'a>, timer: Timer, root_moves: Vec<Move>, threads: usize) -> Self {
        let RootProbe { moves: root_moves, score: root_score, hits: root_hits, probes } = search.probe_root(root_moves);
        let counters: Vec<_> = (0..threads).map(|_| Counter::default()).collect();
        counters[0].tablebase_hits.store(root_hits, Relaxed);
        let node_limit = search.limits.nodes.into_iter().chain(timer.node_limit()).min();
        Self {
            search,
            timer,
            node_limit,
            root_moves,
            root_score,
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

    /// Returns the score of the root to report: that of the tablebases, unless the search found a mate that agrees with
    /// it.
    pub fn reported_score(&self, score: Score) -> Score {
        match self.root_score {
            Some(known) if !(score.is_mate() && score.is_win() == known.is_win() && known.is_decisive()) => known,
            _ => score,
        }
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
