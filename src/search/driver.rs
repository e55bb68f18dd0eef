//! The driver: threads (lazy SMP), iterative deepening, aspiration windows, time, and the vote of threads.

use super::huge_pages::OutOfMemory;
use super::mate_line;
use super::parameters as p;
use super::shared::{SearchRequest, Shared};
use super::time::Timer;
use super::worker::{RootMove, ThreadData, Worker};
use super::{MAX_PLY, Pv, Report, Sink};
use crate::types::{Bound, Move, Score};
use std::cmp::Reverse;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

/// Bytes of stack that a thread needs to call [`Threads::search`].
pub const STACK: usize = 16 << 20;

/// A search of fewer nodes uses one thread, so that its node limit is exact.
const FEW_NODES: u64 = 100_000;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The principal variation; empty at checkmate and stalemate.
    pub pv: Pv,
    /// The score of the last iteration that was finished, or stopped with an exact score for its best move. It is for
    /// the side to move.
    pub score: Score,
    /// The nodes of all threads.
    pub nodes: u64,
}

impl SearchResult {
    /// Returns the best move; `None` at checkmate and stalemate.
    pub fn best(&self) -> Option<Move> {
        self.pv.first().copied()
    }

    /// Returns the expected answer, if there is one.
    pub fn ponder(&self) -> Option<Move> {
        self.pv.get(1).copied()
    }
}

/// The threads of the search, with what each has learned in earlier searches of the game.
pub struct Threads {
    thread_data: Vec<ThreadData>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Threads({})", self.count())
    }
}

/// The result of one thread.
#[derive(Clone, Debug)]
struct ThreadResult {
    /// The depth of the last iteration that was finished, or stopped with an exact score for its best move; 0 if there
    /// is none.
    depth: i32,
    score: Score,
    pv: Pv,
}

impl Threads {
    /// Allocates the data of this many threads, at least 1, with empty histories.
    ///
    /// # Errors
    /// If the system refuses an allocation.
    pub fn new(count: usize) -> Result<Self, OutOfMemory> {
        let thread_data = (0..count.max(1)).map(|_| ThreadData::new()).collect::<Result<_, _>>();
        let what_for = || format!("the histories of {count} threads");
        Ok(Self { thread_data: thread_data.map_err(|error| OutOfMemory::new(what_for(), error))? })
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.thread_data.len()
    }

    /// Clears all histories, for a new game.
    pub fn clear(&mut self) {
        self.thread_data.iter_mut().for_each(ThreadData::clear);
    }

    /// Searches deeper and deeper until a limit is reached. Returns a move whenever a legal one exists. The calling
    /// thread needs [`STACK`] bytes of stack.
    ///
    /// With one thread and no limit of time, the same search gives the same result and node count each time. Several
    /// threads search the same tree, share the transposition table, and vote at the end (lazy SMP).
    ///
    /// ```
    /// use kiln::board::{GameHistory, Position};
    /// use kiln::nnue::Network;
    /// use kiln::search::{Limits, Probing, STACK, SearchRequest, Signals, Threads, TranspositionTable};
    ///
    /// let search = || {
    ///     let position: Position = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1".parse().unwrap();
    ///     let request = SearchRequest {
    ///         position: &position,
    ///         history: &GameHistory::new(),
    ///         search_moves: &[],
    ///         multi_pv: 1,
    ///         limits: &Limits { depth: Some(4), ..Limits::default() },
    ///         network: &Network::embedded(),
    ///         tt: &TranspositionTable::new(1).unwrap(),
    ///         tablebases: None,
    ///         probing: Probing::default(),
    ///         signals: &Signals::default(),
    ///     };
    ///     // The unit type is a sink that ignores all reports.
    ///     Threads::new(1).unwrap().search(&request, &mut ())
    /// };
    /// let result = std::thread::Builder::new().stack_size(STACK).spawn(search).unwrap().join().unwrap();
    /// assert_eq!(result.best().unwrap().uci(false), "d1d8");
    /// assert_eq!(result.score.mate_distance(), Some(1));
    /// ```
    pub fn search(&mut self, search: &SearchRequest, sink: &mut impl Sink) -> SearchResult {
        let timer = Timer::new(search.limits, self.count());
        search.tt.next_age();
        #[cfg(feature = "tune")]
        super::reductions::refresh();
        let legal = search.position.moves();
        let root_moves = if search.search_moves.is_empty() { legal.to_vec() } else { search.search_moves.to_vec() };
        if root_moves.is_empty() {
            let score = if search.position.in_check() { Score::mated_in(0) } else { Score::DRAW };
            return SearchResult { pv: Pv::new(), score, nodes: 0 };
        }
        // In a short search helpers are useless, and on busy processors the first thread may have to wait for them.
        let is_short = timer.is_short() || search.limits.nodes.is_some_and(|nodes| nodes < FEW_NODES);
        let count = if is_short { 1 } else { self.count() };
        let shared = Shared::new(search, timer, root_moves, count);
        let (first, others) = self.thread_data[..count].split_first_mut().expect("there is at least one thread");
        let results = thread::scope(|scope| {
            let spawn = |(index, thread_data)| {
                let shared = &shared;
                let run = move || Worker::new(shared, index, thread_data, &mut ()).iterative_deepening();
                // Where the system has no thread left, the search goes on with fewer.
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()
            };
            let helpers: Vec<_> = (1..).zip(others).filter_map(spawn).collect();
            let result = Worker::new(&shared, 0, first, sink).iterative_deepening();
            shared.halt.store(true, Relaxed);
            let others = helpers.into_iter().map(|helper| helper.join().expect("a search does not panic"));
            std::iter::once(result).chain(others).collect::<Vec<_>>()
        });
        let elected = if search.multi_pv > 1 { 0 } else { vote(&results) };
        let ThreadResult { depth, score, pv } = &results[elected];
        if elected > 0 {
            let pv = mate_line::complete(search.position, pv, *score, search.tt);
            sink.report(&Report::new(&shared, *depth, *score, &pv));
        }
        SearchResult { pv: pv.clone(), score: shared.reported_score(pv, *score), nodes: shared.nodes() }
    }
}

/// Returns the index of the thread whose move is played.
///
/// Each thread votes for its move with a weight by its depth and score. A winning score beats all votes. If the first
/// thread has found a loss, the deepest search decides.
fn vote(results: &[ThreadResult]) -> usize {
    if results[0].score.is_loss() {
        return (0..results.len()).max_by_key(|&i| (results[i].depth, Reverse(i))).expect("there is a thread");
    }
    let clamped = |result: &ThreadResult| result.score.value().clamp(-p::vote_score_limit(), p::vote_score_limit());
    let worst = results.iter().filter(|result| result.depth > 0).map(clamped).min().unwrap_or(0);
    // A thread that has not finished its first iteration has depth 0 and therefore no vote.
    let weight = |result: &ThreadResult| i64::from(clamped(result) - worst + p::vote_base()) * i64::from(result.depth);
    let votes =
        |mv: Option<&Move>| -> i64 { results.iter().filter(|result| result.pv.first() == mv).map(weight).sum() };
    let preference = |&index: &usize| {
        let result = &results[index];
        let win = if result.score.is_win() { result.score.value() } else { 0 };
        (win, votes(result.pv.first()), weight(result), Reverse(index))
    };
    (0..results.len()).max_by_key(preference).expect("there is at least one thread")
}

impl Worker<'_> {
    /// Iterative deepening: searches deeper and deeper until a limit is reached.
    fn iterative_deepening(mut self) -> ThreadResult {
        let limits = self.shared.search.limits;
        let multi_pv = self.shared.search.multi_pv.clamp(1, self.thread_data.root_moves.len());
        let deepest = limits.depth.unwrap_or(u32::MAX).clamp(1, MAX_PLY as u32 - 1) as i32;
        let mut done = ThreadResult { depth: 0, score: Score::DRAW, pv: self.thread_data.root_moves[0].pv.clone() };
        // For time management: iterations since the best move changed, and the running mean of the scores.
        let mut stability = 0;
        let mut trend: Option<Score> = None;

        for depth in 1..=deepest {
            self.root_depth = depth;
            for root_move in &mut self.thread_data.root_moves {
                root_move.previous_score = root_move.score;
                root_move.score = -Score::INFINITE;
            }
            for pv_index in 0..multi_pv {
                self.pv_index = pv_index;
                if !self.aspiration_search(depth) {
                    // Stopped: what was found so far is at least as good as the last iteration.
                    let best = &self.thread_data.root_moves[0];
                    if best.score > -Score::INFINITE && best.bound == Bound::Exact {
                        done = ThreadResult { depth, score: best.score, pv: best.pv.clone() };
                    } else if best.score > -Score::INFINITE && best.pv.first() != done.pv.first() {
                        done.pv = best.pv.clone();
                    }
                    self.report_unfinished(multi_pv, depth);
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

            // The soft limit grows with the effort spent on other moves, with a new best move, and with a falling
            // score.
            let share = 1000 * best.nodes / self.nodes.max(1);
            let drop = trend.map_or(0, |trend| trend - best.score);
            let memory = p::time_score_memory();
            trend = Some(trend.map_or(best.score, |trend| {
                Score::centipawns((memory * trend.value() + best.score.value()) / (memory + 1))
            }));
            let nodes = p::time_node_base() - p::time_node_factor() * share as i32 / 1000;
            let stable = p::time_stability_base() - p::time_stability_step() * stability.min(p::time_stability_limit());
            let falling = 1000 + p::time_score_step() * drop.clamp(-p::time_score_rise(), p::time_score_fall());
            let factor = f64::from(nodes) * f64::from(stable) * f64::from(falling) * 1e-9;
            let is_forced = self.shared.root_moves.len() == 1;
            // A search that ponders keeps the verdict until `ponderhit`.
            let nodes = self.shared.nodes();
            let is_soft_over = self.shared.timer.is_soft_over(nodes, factor, is_forced);
            self.shared.is_soft_over.store(is_soft_over, Relaxed);
            let is_late = is_soft_over && !self.shared.is_pondering();
            let has_enough_nodes = limits.soft_nodes.is_some_and(|limit| nodes >= limit);
            let has_mate =
                limits.mate.is_some_and(|moves| done.score.mate_distance().is_some_and(|found| found <= moves));
            if is_late || has_enough_nodes || has_mate {
                break;
            }
        }
        done
    }

    /// Searches the current variation with an aspiration window, widened until the score lies within. Returns false if
    /// the search was stopped.
    fn aspiration_search(&mut self, depth: i32) -> bool {
        self.selective_depth = 0;
        let (mut alpha, mut beta) = (-Score::INFINITE, Score::INFINITE);
        let mut delta = p::aspiration_delta();
        let average = self.thread_data.root_moves[self.pv_index].average_score;
        if let Some(average) = average.filter(|_| depth >= p::aspiration_depth()) {
            delta += average.value() * average.value() / p::aspiration_score_divisor();
            (alpha, beta) = aspiration_window(average, delta, delta);
        }
        let mut fail_highs = 0;
        loop {
            let result = self.search_root((alpha, beta), (depth - fail_highs).max(1));
            // A stable sort: moves that did not raise alpha keep their order.
            self.thread_data.root_moves[self.pv_index..].sort_by_key(RootMove::order);
            let Ok(score) = result else {
                self.thread_data.root_moves.sort_by_key(|mv| (mv.order(), Reverse(mv.previous_score)));
                return false;
            };
            if score <= alpha && alpha > -Score::INFINITE {
                beta = Score::centipawns((alpha.value() + beta.value()) / 2).max(alpha + 1);
                alpha = aspiration_window(score, delta, 0).0;
                fail_highs = 0;
            } else if score >= beta && beta < Score::INFINITE {
                beta = aspiration_window(score, 0, delta).1;
                fail_highs = (fail_highs + 1).min(p::aspiration_fail_high_reduction());
            } else {
                break;
            }
            if self.shared.search.multi_pv == 1 && self.is_verbose() {
                self.report(self.pv_index, depth);
            }
            delta += (delta * p::aspiration_growth() / 128).max(1);
        }
        // A later variation may turn out better than one before it.
        self.thread_data.root_moves[..=self.pv_index].sort_by_key(RootMove::order);
        true
    }
}

/// Returns the window around a score, open on a side where it would reach beyond all evaluations.
fn aspiration_window(score: Score, below: i32, above: i32) -> (Score, Score) {
    let (alpha, beta) = (score - below, score + above);
    (if alpha.is_loss() { -Score::INFINITE } else { alpha }, if beta.is_win() { Score::INFINITE } else { beta })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    fn result(depth: i32, score: Score, mv: &str) -> ThreadResult {
        let mv = Position::startpos().parse_move(mv).unwrap();
        ThreadResult { depth, score, pv: Pv::from_iter([mv]) }
    }

    fn cp(value: i32) -> Score {
        Score::centipawns(value)
    }

    #[test]
    fn one_thread_elects_itself() {
        for score in [cp(0), -Score::mated_in(3), Score::mated_in(4)] {
            assert_eq!(vote(&[result(0, score, "e2e4")]), 0);
            assert_eq!(vote(&[result(9, score, "e2e4")]), 0);
        }
    }

    #[test]
    fn threads_that_agree_outvote_one() {
        let results = [result(10, cp(20), "e2e4"), result(10, cp(15), "d2d4"), result(10, cp(18), "d2d4")];
        // Of the threads with that move, the one with the greatest weight.
        assert_eq!(vote(&results), 2);
        // Depth and score weigh more than the number of threads.
        assert_eq!(vote(&[result(20, cp(200), "e2e4"), result(10, cp(15), "d2d4"), result(10, cp(18), "d2d4")]), 0);
        // Of equal threads, the first.
        assert_eq!(vote(&[result(10, cp(20), "e2e4"), result(10, cp(20), "d2d4")]), 0);
    }

    #[test]
    fn a_thread_without_a_finished_iteration_has_no_vote() {
        let results = [result(3, cp(-50), "e2e4"), result(0, cp(0), "d2d4"), result(0, cp(0), "d2d4")];
        assert_eq!(vote(&results), 0);
    }

    #[test]
    fn a_win_beats_all_votes() {
        let win = -Score::mated_in(5);
        let results = [result(20, cp(300), "e2e4"), result(20, cp(300), "e2e4"), result(8, win, "d2d4")];
        assert_eq!(vote(&results), 2);
        // The shorter mate wins.
        assert_eq!(vote(&[result(20, -Score::mated_in(9), "e2e4"), result(8, win, "d2d4")]), 1);
    }

    #[test]
    fn if_the_first_thread_loses_the_deepest_decides() {
        let loss = Score::mated_in(8);
        assert_eq!(vote(&[result(9, loss, "e2e4"), result(10, cp(-500), "d2d4"), result(10, cp(0), "c2c4")]), 1);
        assert_eq!(vote(&[result(10, loss, "e2e4"), result(9, cp(0), "d2d4")]), 0);
    }

    #[test]
    fn a_window_beyond_all_evaluations_is_open() {
        assert_eq!(aspiration_window(cp(10), 16, 20), (cp(-6), cp(30)));
        let (alpha, beta) = aspiration_window(-Score::mated_in(3), 16, 16);
        assert!(alpha > Score::DRAW && beta == Score::INFINITE);
        assert_eq!(aspiration_window(Score::mated_in(3), 16, 16).0, -Score::INFINITE);
    }
}
