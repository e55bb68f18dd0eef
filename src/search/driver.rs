use super::alphabeta::{Memory, Worker};
use super::pages::OutOfMemory;
use super::parameters as p;
use super::table::Bound;
use super::time::Timer;
use super::{Limits, Line, MAX_PLY, Probing, Report, Sink, TranspositionTable};
use crate::board::{History, Position};
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
    /// Endgame tables to ask.
    pub tables: Option<&'a Tablebases>,
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

impl Search<'_> {
    /// Those of the moves that the endgame tables find best, and what the position is worth then; all of them if the tables know nothing, or several lines are wanted.
    fn ask_tables(&self, moves: Vec<Move>) -> (Vec<Move>, Option<Score>) {
        let Probing { pieces, fifty_move_rule, .. } = self.probing;
        let few = |tables: &&Tablebases| {
            let most = pieces.min(tables.pieces() as u32);
            self.lines == 1 && self.position.occupied().len() <= most
        };
        let ranked = self.tables.filter(few).and_then(|tables| {
            let mut ranked = tables.rank_root(self.position, self.history, fifty_move_rule)?;
            ranked.retain(|ranked| moves.contains(&ranked.mv));
            Some(ranked)
        });
        match ranked.as_deref() {
            None | Some([]) => (moves, None),
            Some(ranked @ [best, ..]) => {
                let same = ranked.iter().take_while(|ranked| ranked.rank == best.rank);
                let score = match best.wdl {
                    Wdl::Win => Score::won_by_tablebase(0),
                    Wdl::Loss => -Score::won_by_tablebase(0),
                    _ => Score::DRAW,
                };
                (same.map(|ranked| ranked.mv).collect(), Some(score))
            }
        }
    }
}

/// What the threads of a search share.
pub(super) struct Shared<'a> {
    pub search: &'a Search<'a>,
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

/// Alone in its cache line: each thread writes its own all the time.
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
            Some(known) if !(score.is_mate() && score.is_won() == known.is_won() && known.is_decisive()) => known,
            _ => score,
        }
    }

    /// What is told of the best line.
    fn report<'l>(&self, depth: i32, score: Score, line: &'l Line) -> Report<'l> {
        Report {
            depth: depth as u32,
            selective_depth: line.len(),
            rank: 1,
            score: self.shown(score),
            bound: Bound::Exact,
            nodes: self.nodes(),
            elapsed: self.timer.elapsed(),
            hashfull: self.search.table.hashfull(),
            tablebase_hits: self.counters.iter().map(|counter| counter.tablebase_hits.load(Relaxed)).sum(),
            line,
        }
    }

    fn is_pondering(&self) -> bool {
        self.search.signals.pondering.load(Relaxed)
    }

    /// Whether a thread that has visited so many positions is to stop at once. Dear things are looked at only if `closely`.
    #[inline]
    pub fn is_over(&self, thread: usize, nodes: u64, closely: bool) -> bool {
        if self.halt.load(Relaxed) || self.search.signals.stop.load(Relaxed) {
            return true;
        }
        // The first thread watches over the limits of all.
        if thread > 0 {
            return false;
        }
        if let Some(limit) = self.search.limits.nodes {
            let is_alone = self.counters.len() == 1;
            if (is_alone && nodes >= limit) || (!is_alone && closely && self.nodes() >= limit) {
                return true;
            }
        }
        closely && (self.timer.is_hard_over() || self.is_soft_over.load(Relaxed)) && !self.is_pondering()
    }
}

/// The threads that search, with what each has learnt in earlier searches of the game.
pub struct Threads {
    memories: Vec<Memory>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Threads({})", self.count())
    }
}

/// What one thread found.
struct Finding {
    depth: i32,
    score: Score,
    line: Line,
}

impl Threads {
    /// So many threads, at least 1, which know nothing.
    pub fn new(count: usize) -> Result<Self, OutOfMemory> {
        let memories = (0..count.max(1)).map(|_| Memory::new()).collect::<Result<_, _>>();
        let what_for = || format!("what {count} threads learn");
        Ok(Self { memories: memories.map_err(|error| OutOfMemory::new(what_for(), error))? })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.memories.len()
    }

    /// Forgets all that was learnt, for a new game.
    pub fn clear(&mut self) {
        self.memories.iter_mut().for_each(Memory::clear);
    }

    /// Searches deeper and deeper until a limit is reached. There is always a move unless there is none at all. The calling thread needs [`STACK`]
    /// bytes of stack.
    ///
    /// With one thread the same search gives the same result and node count each time if no limit is one of time. Several threads
    /// search the same tree, helped by what the others leave in the table, and vote (lazy SMP).
    pub fn search(&mut self, search: &Search, sink: &mut impl Sink) -> Outcome {
        let timer = Timer::new(search.limits, self.count());
        search.table.next_age();
        let legal = search.position.moves();
        let root_moves = if search.moves.is_empty() { legal.to_vec() } else { search.moves.to_vec() };
        if root_moves.is_empty() {
            let score = if search.position.in_check() { Score::mated_in(0) } else { Score::DRAW };
            return Outcome { best: None, ponder: None, score, nodes: 0 };
        }
        let (root_moves, root_score) = search.ask_tables(root_moves);
        let counters = self.memories.iter().map(|_| Counter::default()).collect();
        let (halt, is_soft_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Shared { search, timer, root_moves, root_score, counters, halt, is_soft_over };
        let (first, mut others) = self.memories.split_first_mut().expect("there is at least one thread");
        // In so short a time others do not help, but may have to be waited for where all processors are busy.
        if shared.timer.is_short() {
            others = &mut [];
        }
        let findings = thread::scope(|scope| {
            let spawn = |(index, memory)| {
                let shared = &shared;
                let run = move || {
                    let mut silent = ();
                    let mut worker = Worker::new(shared, index, memory, &mut silent);
                    let finding = worker.deepen();
                    worker.finish();
                    finding
                };
                // Where the system has no thread left, there are fewer.
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()
            };
            let helpers: Vec<_> = (1..).zip(others).filter_map(spawn).collect();
            let mut worker = Worker::new(&shared, 0, first, sink);
            let finding = worker.deepen();
            worker.finish();
            shared.halt.store(true, Relaxed);
            let others = helpers.into_iter().map(|helper| helper.join().expect("a search does not panic"));
            std::iter::once(finding).chain(others).collect::<Vec<_>>()
        });
        let elected = if search.lines > 1 { 0 } else { vote(&findings) };
        let Finding { depth, score, line } = &findings[elected];
        if elected > 0 {
            sink.report(&shared.report(*depth, *score, line));
        }
        Outcome {
            best: line.first().copied(),
            ponder: line.get(1).copied(),
            score: shared.shown(*score),
            nodes: shared.nodes(),
        }
    }
}

/// Which thread's move is played: that which most speaks for, each thread with a weight by its depth and score. A win that was found is believed; if the
/// first thread has found a loss, the deepest search is.
fn vote(findings: &[Finding]) -> usize {
    if findings[0].score.is_lost() {
        return (0..findings.len()).max_by_key(|&i| (findings[i].depth, Reverse(i))).expect("there is a thread");
    }
    let clamped = |finding: &Finding| finding.score.value().clamp(-3000, 3000);
    let worst = findings.iter().filter(|finding| finding.depth > 0).map(clamped).min().unwrap_or(0);
    // A thread that has not finished its first iteration has depth 0 and no voice.
    let weight = |finding: &Finding| i64::from(clamped(finding) - worst + 10) * i64::from(finding.depth);
    let votes =
        |mv: Option<&Move>| -> i64 { findings.iter().filter(|finding| finding.line.first() == mv).map(weight).sum() };
    let rank = |&index: &usize| {
        let finding = &findings[index];
        let decisive = if finding.score.is_won() { finding.score.value() } else { 0 };
        (decisive, votes(finding.line.first()), weight(finding), Reverse(index))
    };
    (0..findings.len()).max_by_key(rank).expect("there is at least one thread")
}

impl Worker<'_> {
    /// Says which move of the root comes next, if there has been time to listen.
    pub fn announce(&mut self, mv: Move, number: usize) {
        if self.index == 0 && self.sink.listens() && self.shared.timer.elapsed() >= QUIET_TIME {
            self.sink.current_move(self.root_depth as u32, mv, number);
        }
    }

    /// Searches deeper and deeper until a limit is reached.
    fn deepen(&mut self) -> Finding {
        let limits = self.shared.search.limits;
        let lines = self.shared.search.lines.clamp(1, self.memory.root_moves.len());
        let deepest = limits.depth.unwrap_or(u32::MAX).clamp(1, MAX_PLY as u32 - 1) as i32;
        let mut done = Finding { depth: 0, score: Score::DRAW, line: self.memory.root_moves[0].line.clone() };
        // What the time manager goes by.
        let mut stability = 0;
        let mut trend: Option<Score> = None;

        for depth in 1..=deepest {
            self.root_depth = depth;
            for root_move in &mut self.memory.root_moves {
                root_move.previous = root_move.score;
                root_move.score = -Score::INFINITE;
            }
            for rank in 0..lines {
                self.rank = rank;
                if !self.aspire(depth) {
                    // Cut short: what was found so far is as good as the last iteration or better.
                    let best = &self.memory.root_moves[0];
                    if best.score > -Score::INFINITE && best.bound == Bound::Exact {
                        done = Finding { depth, score: best.score, line: best.line.clone() };
                        self.report(0, depth);
                    } else if best.score > -Score::INFINITE && best.line.first() != done.line.first() {
                        done.line = best.line.clone();
                        self.report(0, depth);
                    }
                    return done;
                }
            }
            for rank in 0..lines {
                self.report(rank, depth);
            }
            let best = &self.memory.root_moves[0];
            stability = if best.line.first() == done.line.first() { stability + 1 } else { 0 };
            done = Finding { depth, score: best.score, line: best.line.clone() };
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

    /// Searches a line of the root with a window that is widened until the score lies within. False if that was cut short.
    fn aspire(&mut self, depth: i32) -> bool {
        self.selective_depth = 0;
        let (mut alpha, mut beta) = (-Score::INFINITE, Score::INFINITE);
        let mut delta = p::aspiration_delta();
        if let Some(average) = self.memory.root_moves[self.rank].average.filter(|_| depth >= 4) {
            delta += average.value() * average.value() / p::aspiration_score_divisor();
            (alpha, beta) = window(average, delta, delta);
        }
        let mut highs = 0;
        loop {
            let result = self.search_root((alpha, beta), (depth - highs).max(1));
            // Stable: moves that did not raise alpha stay in order.
            self.memory.root_moves[self.rank..].sort_by_key(|root_move| Reverse(root_move.score));
            let Ok(score) = result else {
                self.memory.root_moves.sort_by_key(|root_move| (Reverse(root_move.score), Reverse(root_move.previous)));
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
            if self.sink.listens() && self.shared.timer.elapsed() >= QUIET_TIME && self.shared.search.lines == 1 {
                self.report(self.rank, depth);
            }
            delta += (delta * p::aspiration_growth() / 128).max(1);
        }
        // A line of lower rank may turn out better than one before.
        self.memory.root_moves[..=self.rank].sort_by_key(|root_move| Reverse(root_move.score));
        true
    }

    fn report(&mut self, rank: usize, depth: i32) {
        if self.index > 0 || !self.sink.listens() {
            return;
        }
        let root_move = &self.memory.root_moves[rank];
        self.sink.report(&Report {
            selective_depth: root_move.selective_depth,
            rank: rank + 1,
            bound: root_move.bound,
            ..self.shared.report(depth, root_move.score, &root_move.line)
        });
    }
}

/// The window around a score, open where it would reach beyond all evaluations.
fn window(score: Score, below: i32, above: i32) -> (Score, Score) {
    let (alpha, beta) = (score - below, score + above);
    (
        if alpha.is_lost() || alpha < -Score::INFINITE { -Score::INFINITE } else { alpha },
        if beta.is_won() || beta > Score::INFINITE { Score::INFINITE } else { beta },
    )
}
