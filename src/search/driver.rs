use super::alphabeta::{ThreadData, Worker};
use super::huge_pages::OutOfMemory;
use super::parameters as p;
use super::time::Timer;
use super::transposition::Bound;
use super::{Limits, MAX_PLY, Probing, Pv, Report, Sink, TranspositionTable};
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::tablebases::{Tablebases, Wdl};
use crate::types::{Move, Score};
use std::cmp::Reverse;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Duration;

/// Bytes of stack that a thread needs to call [`Threads::search`].
pub const STACK: usize = 16 << 20;

/// A search that goes on for less is not commented but at the end of iterations.
const QUIET_TIME: Duration = Duration::from_secs(3);

/// A search to be run: where from, how long, with which table.
#[derive(Debug)]
pub struct SearchRequest<'a> {
    /// The position to move in.
    pub position: &'a Position,
    /// The positions of the game before it.
    pub history: &'a GameHistory,
    /// The moves to choose from, all legal; empty for all that are.
    pub search_moves: &'a [Move],
    /// How many of the best multi_pv are wanted, at least 1.
    pub multi_pv: usize,
    /// When to stop.
    pub limits: &'a Limits,
    /// What scores positions.
    pub network: &'a Network,
    /// Results to reuse and add to.
    pub tt: &'a TranspositionTable,
    /// Endgame tables to ask.
    pub tablebases: Option<&'a Tablebases>,
    /// How to ask them.
    pub probing: Probing,
    /// What may be said to the search from outside.
    pub signals: &'a Signals,
}

/// What may be said to a running search from other threads.
#[derive(Debug, Default)]
pub struct Signals {
    /// Stop as soon as there is a move.
    pub stop: AtomicBool,
    /// The opponent is to move, and the position is the one expected: no limit of time counts. Once this is taken back, the time that has gone by does.
    pub pondering: AtomicBool,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best move; none at mate and stalemate.
    pub best: Option<Move>,
    /// The expected answer, if there is one.
    pub ponder: Option<Move>,
    /// The score of the last complete iteration, for the side to move.
    pub score: Score,
    /// Positions visited by all threads.
    pub nodes: u64,
}

impl SearchRequest<'_> {
    /// Those of the moves that the endgame tables find best, and what the position is worth then; all of them if the tables know nothing, or several multi_pv are wanted.
    fn probe_tablebases(&self, moves: Vec<Move>) -> (Vec<Move>, Option<Score>) {
        let Probing { pieces, fifty_move_rule, .. } = self.probing;
        let few = |tablebases: &&Tablebases| {
            let most = pieces.min(tablebases.pieces() as u32);
            self.multi_pv == 1 && self.position.occupied().len() <= most
        };
        let ranked = self.tablebases.filter(few).and_then(|tablebases| {
            let mut ranked = tablebases.rank_root(self.position, self.history, fifty_move_rule)?;
            ranked.retain(|ranked| moves.contains(&ranked.mv));
            Some(ranked)
        });
        match ranked.as_deref() {
            None | Some([]) => (moves, None),
            Some(ranked @ [best, ..]) => {
                let same = ranked.iter().take_while(|ranked| ranked.rank == best.rank);
                let score = match best.wdl {
                    Wdl::Win => Score::tb_win_in(0),
                    Wdl::Loss => -Score::tb_win_in(0),
                    _ => Score::DRAW,
                };
                (same.map(|ranked| ranked.mv).collect(), Some(score))
            }
        }
    }
}

/// What the threads of a search share.
pub(super) struct Shared<'a> {
    pub search: &'a SearchRequest<'a>,
    pub timer: Timer,
    /// The moves to choose from.
    pub root_moves: Vec<Move>,
    /// What the endgame tables say of the root, if they were asked. The moves are then those that keep it, and the search finds out which is best by itself.
    pub root_score: Option<Score>,
    /// One for each thread.
    pub counters: Vec<Counter>,
    /// Set by the first thread when a limit is reached.
    halt: AtomicBool,
    /// Whether the last iteration ended too late for another, which goes on only because of pondering.
    is_soft_over: AtomicBool,
}

/// Alone in its cache pv: each thread writes its own all the time.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Counter {
    pub nodes: AtomicU64,
    pub tablebase_hits: AtomicU64,
}

impl Shared<'_> {
    /// Positions visited by all threads.
    fn nodes(&self) -> u64 {
        self.counters.iter().map(|counter| counter.nodes.load(Relaxed)).sum()
    }

    /// A score of the root as it is told: what the tables know counts more, but for a mate that was found.
    fn shown(&self, score: Score) -> Score {
        match self.root_score {
            Some(tt_entry) if !(score.is_mate() && score.is_win() == tt_entry.is_win() && tt_entry.is_decisive()) => {
                tt_entry
            }
            _ => score,
        }
    }

    /// What is told of the best pv.
    fn report<'l>(&self, depth: i32, score: Score, pv: &'l Pv) -> Report<'l> {
        Report {
            depth: depth as u32,
            selective_depth: pv.len(),
            multipv: 1,
            score: self.shown(score),
            bound: Bound::Exact,
            nodes: self.nodes(),
            elapsed: self.timer.elapsed(),
            hashfull: self.search.tt.hashfull(),
            tablebase_hits: self.counters.iter().map(|counter| counter.tablebase_hits.load(Relaxed)).sum(),
            pv,
        }
    }

    fn is_pondering(&self) -> bool {
        self.search.signals.pondering.load(Relaxed)
    }

    /// Whether a thread that has visited so many positions is to stop at once. Dear things are looked at only if `check_all`.
    #[inline]
    pub fn should_stop(&self, thread: usize, nodes: u64, check_all: bool) -> bool {
        if self.halt.load(Relaxed) || self.search.signals.stop.load(Relaxed) {
            return true;
        }
        // The first thread watches over the limits of all.
        if thread > 0 {
            return false;
        }
        if let Some(limit) = self.search.limits.nodes {
            let is_alone = self.counters.len() == 1;
            if (is_alone && nodes >= limit) || (!is_alone && check_all && self.nodes() >= limit) {
                return true;
            }
        }
        check_all && (self.timer.is_hard_over() || self.is_soft_over.load(Relaxed)) && !self.is_pondering()
    }
}

/// The threads that search, with what each has histories in earlier searches of the game.
pub struct Threads {
    thread_data: Vec<ThreadData>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Threads({})", self.count())
    }
}

/// What one thread found.
struct ThreadResult {
    depth: i32,
    score: Score,
    pv: Pv,
}

impl Threads {
    /// So many threads, at least 1, which know nothing.
    pub fn new(count: usize) -> Result<Self, OutOfMemory> {
        let thread_data = (0..count.max(1)).map(|_| ThreadData::new()).collect::<Result<_, _>>();
        let what_for = || format!("what {count} threads learn");
        Ok(Self { thread_data: thread_data.map_err(|error| OutOfMemory::new(what_for(), error))? })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.thread_data.len()
    }

    /// Forgets all that was histories, for a new game.
    pub fn clear(&mut self) {
        self.thread_data.iter_mut().for_each(ThreadData::clear);
    }

    /// Searches deeper and deeper until a limit is reached. There is always a move unless there is none at all. The calling thread needs [`STACK`]
    /// bytes of stack.
    ///
    /// With one thread the same search gives the same result and node count each time if no limit is one of time. Several threads
    /// search the same tree, helped by what the others leave in the table, and vote (lazy SMP).
    pub fn search(&mut self, search: &SearchRequest, sink: &mut impl Sink) -> SearchResult {
        let timer = Timer::new(search.limits, self.count());
        search.tt.next_age();
        let legal = search.position.moves();
        let root_moves = if search.search_moves.is_empty() { legal.to_vec() } else { search.search_moves.to_vec() };
        if root_moves.is_empty() {
            let score = if search.position.in_check() { Score::mated_in(0) } else { Score::DRAW };
            return SearchResult { best: None, ponder: None, score, nodes: 0 };
        }
        let (root_moves, root_score) = search.probe_tablebases(root_moves);
        let counters = self.thread_data.iter().map(|_| Counter::default()).collect();
        let (halt, is_soft_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Shared { search, timer, root_moves, root_score, counters, halt, is_soft_over };
        let (first, mut others) = self.thread_data.split_first_mut().expect("there is at least one thread");
        // In so short a time others do not help, but may have to be waited for where all processors are busy.
        if shared.timer.is_short() {
            others = &mut [];
        }
        let results = thread::scope(|scope| {
            let spawn = |(index, thread_data)| {
                let shared = &shared;
                let run = move || {
                    let mut silent = ();
                    let mut worker = Worker::new(shared, index, thread_data, &mut silent);
                    let result = worker.deepen();
                    worker.finish();
                    result
                };
                // Where the system has no thread left, there are fewer.
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()
            };
            let helpers: Vec<_> = (1..).zip(others).filter_map(spawn).collect();
            let mut worker = Worker::new(&shared, 0, first, sink);
            let result = worker.deepen();
            worker.finish();
            shared.halt.store(true, Relaxed);
            let others = helpers.into_iter().map(|helper| helper.join().expect("a search does not panic"));
            std::iter::once(result).chain(others).collect::<Vec<_>>()
        });
        let elected = if search.multi_pv > 1 { 0 } else { vote(&results) };
        let ThreadResult { depth, score, pv } = &results[elected];
        if elected > 0 {
            sink.report(&shared.report(*depth, *score, pv));
        }
        SearchResult {
            best: pv.first().copied(),
            ponder: pv.get(1).copied(),
            score: shared.shown(*score),
            nodes: shared.nodes(),
        }
    }
}

/// Which thread's move is played: that which most speaks for, each thread with a weight by its depth and score. A win that was found is believed; if the
/// first thread has found a loss, the deepest search is.
fn vote(results: &[ThreadResult]) -> usize {
    if results[0].score.is_loss() {
        return (0..results.len()).max_by_key(|&i| (results[i].depth, Reverse(i))).expect("there is a thread");
    }
    let clamped = |result: &ThreadResult| result.score.value().clamp(-3000, 3000);
    let worst = results.iter().filter(|result| result.depth > 0).map(clamped).min().unwrap_or(0);
    // A thread that has not finished its first iteration has depth 0 and no voice.
    let weight = |result: &ThreadResult| i64::from(clamped(result) - worst + 10) * i64::from(result.depth);
    let votes =
        |mv: Option<&Move>| -> i64 { results.iter().filter(|result| result.pv.first() == mv).map(weight).sum() };
    let preference = |&index: &usize| {
        let result = &results[index];
        let decisive = if result.score.is_win() { result.score.value() } else { 0 };
        (decisive, votes(result.pv.first()), weight(result), Reverse(index))
    };
    (0..results.len()).max_by_key(preference).expect("there is at least one thread")
}

impl Worker<'_> {
    /// Says which move of the root comes next, if there has been time to listen.
    pub fn announce(&mut self, mv: Move, number: usize) {
        if self.index == 0 && self.sink.listens() && self.shared.timer.elapsed() >= QUIET_TIME {
            self.sink.current_move(self.root_depth as u32, mv, number);
        }
    }

    /// Searches deeper and deeper until a limit is reached.
    fn deepen(&mut self) -> ThreadResult {
        let limits = self.shared.search.limits;
        let multi_pv = self.shared.search.multi_pv.clamp(1, self.thread_data.root_moves.len());
        let deepest = limits.depth.unwrap_or(u32::MAX).clamp(1, MAX_PLY as u32 - 1) as i32;
        let mut done = ThreadResult { depth: 0, score: Score::DRAW, pv: self.thread_data.root_moves[0].pv.clone() };
        // What the time manager goes by.
        let mut stability = 0;
        let mut trend: Option<Score> = None;

        for depth in 1..=deepest {
            self.root_depth = depth;
            for root_move in &mut self.thread_data.root_moves {
                root_move.previous = root_move.score;
                root_move.score = -Score::INFINITE;
            }
            for pv_index in 0..multi_pv {
                self.pv_index = pv_index;
                if !self.aspire(depth) {
                    // Cut short: what was found so far is as good as the last iteration or better.
                    let best = &self.thread_data.root_moves[0];
                    if best.score > -Score::INFINITE && best.bound == Bound::Exact {
                        done = ThreadResult { depth, score: best.score, pv: best.pv.clone() };
                        self.report(0, depth);
                    } else if best.score > -Score::INFINITE && best.pv.first() != done.pv.first() {
                        done.pv = best.pv.clone();
                        self.report(0, depth);
                    }
                    return done;
                }
            }
            for pv_index in 0..multi_pv {
                self.report(pv_index, depth);
            }
            let best = &self.thread_data.root_moves[0];
            stability = if best.pv.first() == done.pv.first() { stability + 1 } else { 0 };
            done = ThreadResult { depth, score: best.score, pv: best.pv.clone() };
            if self.index > 0 {
                continue;
            }

            // Is it worth going on?
            let share = 1000 * best.nodes / self.nodes.max(1);
            let drop = trend.map_or(0, |trend| trend - best.score);
            trend =
                Some(trend.map_or(best.score, |trend| Score::centipawns((3 * trend.value() + best.score.value()) / 4)));
            let nodes = p::time_node_base() - p::time_node_factor() * share as i32 / 1000;
            let stable = p::time_stability_base() - p::time_stability_step() * stability.min(8);
            let falling = 1000 + p::time_score_step() * drop.clamp(-20, 60);
            let factor = f64::from(nodes) * f64::from(stable) * f64::from(falling) * 1e-9;
            let is_forced = self.shared.root_moves.len() == 1;
            // What is too late while pondering is so at the `ponderhit`.
            let is_soft_over = self.shared.timer.is_soft_over(factor, is_forced);
            self.shared.is_soft_over.store(is_soft_over, Relaxed);
            let is_late = is_soft_over && !self.shared.is_pondering();
            let is_enough = limits.soft_nodes.is_some_and(|nodes| self.nodes >= nodes);
            let is_mate =
                limits.mate.is_some_and(|moves| done.score.mate_distance().is_some_and(|found| found <= moves));
            if is_late || is_enough || is_mate {
                break;
            }
        }
        done
    }

    /// Searches a pv of the root with a window that is widened until the score lies within. False if that was cut short.
    fn aspire(&mut self, depth: i32) -> bool {
        self.selective_depth = 0;
        let (mut alpha, mut beta) = (-Score::INFINITE, Score::INFINITE);
        let mut delta = p::aspiration_delta();
        if let Some(average) = self.thread_data.root_moves[self.pv_index].average.filter(|_| depth >= 4) {
            delta += average.value() * average.value() / p::aspiration_score_divisor();
            (alpha, beta) = window(average, delta, delta);
        }
        let mut highs = 0;
        loop {
            let result = self.search_root((alpha, beta), (depth - highs).max(1));
            // Stable: moves that did not raise alpha stay in order.
            self.thread_data.root_moves[self.pv_index..].sort_by_key(|root_move| Reverse(root_move.score));
            let Ok(score) = result else {
                self.thread_data
                    .root_moves
                    .sort_by_key(|root_move| (Reverse(root_move.score), Reverse(root_move.previous)));
                return false;
            };
            if score <= alpha && alpha > -Score::INFINITE {
                beta = Score::centipawns((alpha.value() + beta.value()) / 2).max(alpha + 1);
                alpha = window(score, delta, 0).0;
                highs = 0;
            } else if score >= beta && beta < Score::INFINITE {
                beta = window(score, 0, delta).1;
                highs = (highs + 1).min(3);
            } else {
                break;
            }
            if self.sink.listens() && self.shared.timer.elapsed() >= QUIET_TIME && self.shared.search.multi_pv == 1 {
                self.report(self.pv_index, depth);
            }
            delta += (delta * p::aspiration_growth() / 128).max(1);
        }
        // A pv of lower rank may turn out better than one before.
        self.thread_data.root_moves[..=self.pv_index].sort_by_key(|root_move| Reverse(root_move.score));
        true
    }

    fn report(&mut self, pv_index: usize, depth: i32) {
        if self.index > 0 || !self.sink.listens() {
            return;
        }
        let root_move = &self.thread_data.root_moves[pv_index];
        self.sink.report(&Report {
            selective_depth: root_move.selective_depth,
            multipv: pv_index + 1,
            bound: root_move.bound,
            ..self.shared.report(depth, root_move.score, &root_move.pv)
        });
    }
}

/// The window around a score, open where it would reach beyond all evaluations.
fn window(score: Score, below: i32, above: i32) -> (Score, Score) {
    let (alpha, beta) = (score - below, score + above);
    (
        if alpha.is_loss() || alpha < -Score::INFINITE { -Score::INFINITE } else { alpha },
        if beta.is_win() || beta > Score::INFINITE { Score::INFINITE } else { beta },
    )
}
