//! A thread of the search: its stack, its root moves, what it keeps between searches, making moves, and reporting.

use super::correction_history::CorrectionHistory;
use super::history::{HistoryContext, MoveHistory, PieceTo};
use super::huge_pages::HugePageBox;
use super::mate_line;
use super::parameters as p;
use super::picker::{MovePicker, Picked};
use super::shared::Shared;
use super::statistics::track;
use super::transposition::TtEntry;
use super::{MAX_PLY, Pv, Report, Sink};
use crate::board::{GameHistory, Position};
use crate::nnue::{Evaluator, Network};
use crate::types::{Bitboard, Bound, Move, Score};
use std::cmp::Reverse;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Searches shorter than this report only finished iterations.
const QUIET_TIME: Duration = Duration::from_secs(3);
/// Nodes between two checks of the clock and of the other threads.
const CLOCK_INTERVAL: u64 = 1024;
/// Frames before the root, for the plies before the search.
const FRAMES_BEFORE_ROOT: usize = 6;

/// The search must stop. Scores on the way back to the root are invalid.
pub struct Stopped;

/// An entry of the search stack: what a node leaves for its descendants and siblings.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The move played from here; `None` for a null move.
    pub mv: Option<Move>,
    /// The piece and target square of that move.
    pub piece_to: PieceTo,
    /// The squares that the opponent attacks.
    pub attacked: Bitboard,
    /// The corrected static evaluation; `None` in check.
    pub static_eval: Option<Score>,
    /// The network's evaluation, without corrections.
    pub raw_eval: Option<Score>,
    /// The move that a singular search leaves out.
    pub excluded: Option<Move>,
    /// The reduction in plies of the move played from here.
    pub reduction: i32,
    /// How many nodes at this ply failed high since their grandparent began.
    pub cutoff_count: u32,
    /// Whether the node is or was a PV node.
    pub tt_pv: bool,
}

impl Frame {
    const EMPTY: Self = Self {
        mv: None,
        piece_to: PieceTo::NONE,
        attacked: Bitboard::EMPTY,
        static_eval: None,
        raw_eval: None,
        excluded: None,
        reduction: 0,
        cutoff_count: 0,
        tt_pv: false,
    };
}

/// A root move and what its search found.
#[derive(Clone, Debug)]
pub struct RootMove {
    pub mv: Move,
    /// The tablebase rank; 0 if the tablebases do not rank. Higher ranks come first, whatever their scores.
    pub tb_rank: i32,
    /// The score in this iteration; `-INFINITE` before the move is searched, and if it is not the first and did not
    /// raise alpha.
    pub score: Score,
    /// What the score means.
    pub bound: Bound,
    /// The score in the last iteration.
    pub previous_score: Score,
    /// The running mean of the scores.
    pub average_score: Option<Score>,
    pub selective_depth: usize,
    /// Nodes searched below the move.
    pub nodes: u64,
    /// The principal variation that begins with the move.
    pub pv: Pv,
}

impl RootMove {
    /// The key that sorts root moves, best first.
    pub fn order(&self) -> impl Ord + use<> {
        Reverse((self.tb_rank, self.score))
    }
}

/// All that a thread learns about moves and evaluations.
pub struct Histories {
    pub moves: MoveHistory,
    pub corrections: CorrectionHistory,
}

/// What a thread keeps from one search of a game to the next, in cache lines of its own.
#[repr(align(128))]
pub struct ThreadData {
    pub histories: HugePageBox<Histories>,
    pub evaluator: Evaluator,
    stack: Vec<Frame>,
    pub game_history: GameHistory,
    pub root_moves: Vec<RootMove>,
}

impl ThreadData {
    /// Allocates empty histories. The evaluator begins with the embedded network.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            // SAFETY: MoveHistory and CorrectionHistory consist of i16: zeros are valid, nothing is dropped, the
            // alignment is 2.
            histories: unsafe { HugePageBox::zeroed() }?,
            evaluator: Evaluator::new(Network::embedded()),
            stack: vec![Frame::EMPTY; FRAMES_BEFORE_ROOT + MAX_PLY + 2],
            game_history: GameHistory::new(),
            root_moves: Vec::new(),
        })
    }

    /// Clears the histories, for a new game.
    pub fn clear(&mut self) {
        self.histories.clear();
    }
}

/// One thread's search of the tree.
pub struct Worker<'a> {
    pub shared: &'a Shared<'a>,
    /// The number of the thread; the first one reports.
    pub index: usize,
    pub thread_data: &'a mut ThreadData,
    pub sink: &'a mut dyn Sink,
    /// See [`Sink::least_nodes`].
    pub least_nodes: u64,
    /// The length of the game history at the root.
    root: usize,
    pub nodes: u64,
    pub selective_depth: usize,
    /// The depth of the iteration.
    pub root_depth: i32,
    /// The index of the principal variation that is searched (MultiPV), from 0.
    pub pv_index: usize,
    /// The first ply at which null-move pruning is allowed.
    pub nmp_min_ply: usize,
    /// Whether there is a best move. The search does not stop before.
    has_best_move: bool,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, index: usize, thread_data: &'a mut ThreadData, sink: &'a mut dyn Sink) -> Self {
        let search = shared.search;
        if thread_data.evaluator.network().is_same(search.network) {
            thread_data.evaluator.restart();
        } else {
            thread_data.evaluator = Evaluator::new(search.network.clone());
        }
        thread_data.game_history.clone_from(search.history);
        thread_data.stack.fill(Frame::EMPTY);
        thread_data.root_moves.clear();
        thread_data.root_moves.extend(shared.root_moves.iter().map(|&mv| RootMove {
            mv,
            tb_rank: shared.ranked_move(mv).map_or(0, |ranked| ranked.tb_rank),
            score: -Score::INFINITE,
            bound: Bound::Exact,
            previous_score: -Score::INFINITE,
            average_score: None,
            selective_depth: 0,
            nodes: 0,
            pv: Pv::from_iter([mv]),
        }));
        Self {
            root: thread_data.game_history.len(),
            shared,
            index,
            thread_data,
            least_nodes: sink.least_nodes(),
            sink,
            nodes: 0,
            selective_depth: 0,
            root_depth: 0,
            pv_index: 0,
            nmp_min_ply: 0,
            has_best_move: false,
        }
    }

    /// Returns the stack's frame at a ply.
    #[inline]
    pub fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.thread_data.stack[FRAMES_BEFORE_ROOT + ply]
    }

    /// Returns the stack's frame `plies` plies before `ply`.
    #[inline]
    pub fn frame_before(&self, ply: usize, plies: usize) -> &Frame {
        &self.thread_data.stack[FRAMES_BEFORE_ROOT + ply - plies]
    }

    /// Returns what selects the quiet histories at a node.
    #[inline]
    pub fn history_context(&self, ply: usize, attacked: Bitboard) -> HistoryContext {
        HistoryContext { attacked, previous: [1, 2, 4, 6].map(|plies| self.frame_before(ply, plies).piece_to) }
    }

    /// Returns the last two moves, for the correction history.
    #[inline]
    pub fn last_moves(&self, ply: usize) -> [PieceTo; 2] {
        [1, 2].map(|plies| self.frame_before(ply, plies).piece_to)
    }

    /// Returns the next move of a picker and prefetches its TT entry, which arrives while pruning looks at the move.
    #[inline]
    pub fn pick(&self, picker: &mut MovePicker, position: &Position, context: &HistoryContext) -> Option<Picked> {
        let picked = picker.next(position, &self.thread_data.histories.moves, context)?;
        self.shared.search.tt.prefetch(position.key_after(picked.mv));
        Some(picked)
    }

    /// Makes a move of the node at `ply` and returns the position after it.
    #[inline]
    pub fn make_move(&mut self, position: &Position, mv: Move, ply: usize) -> Position {
        let piece_to = PieceTo::new(position, mv);
        let frame = self.frame(ply);
        (frame.mv, frame.piece_to) = (Some(mv), piece_to);
        self.thread_data.game_history.push(position);
        self.thread_data.evaluator.push(position);
        position.make(mv)
    }

    /// Makes a null move at `ply` and returns the position after it.
    pub fn make_null_move(&mut self, position: &Position, ply: usize) -> Position {
        let next = position.make_null();
        self.shared.search.tt.prefetch(next.key());
        let frame = self.frame(ply);
        (frame.mv, frame.piece_to, frame.reduction) = (None, PieceTo::NONE, 0);
        self.thread_data.game_history.push(position);
        self.thread_data.evaluator.push(position);
        next
    }

    /// Takes back the last move.
    pub fn undo_move(&mut self) {
        self.thread_data.evaluator.pop();
        self.thread_data.game_history.pop();
    }

    /// Returns the TT entry of a position. An entry whose move is illegal here belongs to another position and is
    /// ignored, and so is the score if it is a mate that would come after fifty moves: the key leaves out the halfmove
    /// clock. Meanwhile the corrections arrive, which the static evaluation needs.
    pub fn probe_tt(&self, position: &Position, ply: usize) -> Option<TtEntry> {
        self.thread_data.histories.corrections.prefetch(position, self.last_moves(ply));
        let mut entry = self.shared.search.tt.probe(position.key(), ply)?;
        let left = 100_usize.saturating_sub(position.halfmove_clock().into());
        if entry.score.mate_plies().is_some_and(|plies| plies > ply + left) {
            entry.bound = None;
        }
        entry.best.is_none_or(|mv| position.is_legal(mv)).then_some(entry)
    }

    /// Returns the static evaluation corrected by the correction history. The network's part shrinks as the halfmove
    /// clock rises.
    #[inline]
    pub fn corrected_eval(&self, position: &Position, raw_eval: Score, correction: i32) -> Score {
        let clock = i32::from(position.halfmove_clock()).min(100);
        let scale = p::eval_halfmove_scale();
        Score::centipawns(raw_eval.value() * (scale - clock) / scale + correction)
    }

    /// Returns the score of a node that is not searched: a draw by rule, or any node at the last ply before
    /// [`MAX_PLY`].
    ///
    /// A repetition that the side to move can reach with its next move raises alpha, and ends the node if alpha reaches
    /// beta.
    pub fn terminal_score(&mut self, position: &Position, alpha: &mut Score, beta: Score, ply: usize) -> Option<Score> {
        if let Some(score) = self.rule_score(position, ply) {
            return Some(score);
        }
        if *alpha < Score::DRAW && self.thread_data.game_history.can_repeat(position, self.root) {
            *alpha = self.draw_score();
            if track!("upcoming repetition", *alpha >= beta) {
                return Some(*alpha);
            }
        }
        (ply >= MAX_PLY - 1).then(|| match position.in_check() {
            true => Score::DRAW,
            false => self.thread_data.evaluator.evaluate(position),
        })
    }

    /// Returns the score of a position that is drawn by rule. Mate takes precedence over the fifty-move rule.
    fn rule_score(&self, position: &Position, ply: usize) -> Option<Score> {
        if position.halfmove_clock() >= 100 {
            let is_mate = position.in_check() && !position.has_legal_move();
            return Some(if is_mate { Score::mated_in(ply) } else { self.draw_score() });
        }
        let is_draw =
            position.is_insufficient_material() || self.thread_data.game_history.is_repetition(position, self.root);
        is_draw.then(|| self.draw_score())
    }

    /// Returns the score of a draw with a little noise, so that the search does not treat all repetitions alike.
    fn draw_score(&self) -> Score {
        Score::DRAW + (self.nodes & 2) as i32 - 1
    }

    /// Counts a node.
    ///
    /// # Errors
    /// If the search must stop.
    pub fn count_node(&mut self, ply: usize) -> Result<(), Stopped> {
        let check_all = self.nodes.is_multiple_of(CLOCK_INTERVAL);
        if self.has_best_move && self.shared.should_stop(self.nodes, check_all) {
            return Err(Stopped);
        }
        self.nodes += 1;
        self.shared.counters[self.index].nodes.store(self.nodes, Relaxed);
        self.selective_depth = self.selective_depth.max(ply);
        Ok(())
    }

    /// Returns the root move to search first: the best so far of those that this variation may choose.
    pub fn root_tt_move(&self, tt_move: Option<Move>) -> Option<Move> {
        let first = &self.thread_data.root_moves[self.pv_index];
        match first.previous_score == -Score::INFINITE {
            true => tt_move.filter(|&mv| self.is_root_candidate(mv)),
            false => Some(first.mv),
        }
    }

    /// Returns whether the current variation may begin with a root move: the variations before it take theirs
    /// (MultiPV), and those of the next tablebase rank wait until all of this one are taken.
    pub fn is_root_candidate(&self, mv: Move) -> bool {
        let [first, rest @ ..] = &self.thread_data.root_moves[self.pv_index..] else { return false };
        first.mv == mv || rest.iter().any(|other| other.mv == mv && other.tb_rank == first.tb_rank)
    }

    /// Records the result of a root move, the `number`th from 1, searched from `original_alpha` with this window.
    pub fn update_root_move(
        &mut self,
        mv: Move,
        number: usize,
        (original_alpha, alpha, beta): (Score, Score, Score),
        score: Score,
        nodes: u64,
        child_pv: &Pv,
    ) {
        let selective_depth = self.selective_depth;
        let root_moves = &mut self.thread_data.root_moves;
        let root_move = root_moves.iter_mut().find(|root_move| root_move.mv == mv).expect("a root move is searched");
        root_move.nodes += nodes;
        if number > 1 && score <= alpha {
            root_move.score = -Score::INFINITE;
            return;
        }
        let mean = |average: Score| Score::centipawns((average.value() + score.value()) / 2);
        root_move.average_score = Some(root_move.average_score.map_or(score, mean));
        root_move.score = score;
        root_move.bound = Bound::of(score, original_alpha, beta);
        root_move.selective_depth = selective_depth;
        // A fail-low finds no variation: the last one stays.
        if root_move.bound != Bound::Upper {
            root_move.pv.clear();
            root_move.pv.push(mv);
            root_move.pv.extend(child_pv.iter().copied().take(MAX_PLY - 1));
        }
        self.has_best_move = true;
    }

    /// Returns whether reports beyond finished iterations are wanted by now.
    pub fn is_verbose(&self) -> bool {
        self.index == 0 && self.sink.listens() && self.shared.timer.elapsed() >= QUIET_TIME
    }

    /// Reports the root move that is searched next, the `number`th from 1, in a long search.
    pub fn report_current_move(&mut self, mv: Move, number: usize) {
        if self.is_verbose() {
            self.sink.current_move(self.root_depth as u32, mv, number);
        }
    }

    /// Reports a root move as the principal variation with this index.
    pub fn report(&mut self, pv_index: usize, depth: i32) {
        let RootMove { score, bound, .. } = self.thread_data.root_moves[pv_index];
        self.report_as(pv_index, depth, score, bound);
    }

    /// Reports the principal variations of an iteration that was stopped, so that the last lines are exact and begin
    /// with different moves. Variations that it has not finished have the score of the iteration before.
    pub fn report_unfinished(&mut self, multi_pv: usize, depth: i32) {
        for pv_index in 0..multi_pv {
            let RootMove { score, bound, previous_score, .. } = self.thread_data.root_moves[pv_index];
            if score > -Score::INFINITE && (bound == Bound::Exact || previous_score == -Score::INFINITE) {
                self.report_as(pv_index, depth, score, bound);
            } else if previous_score > -Score::INFINITE {
                self.report_as(pv_index, depth - 1, previous_score, Bound::Exact);
            }
        }
    }

    fn report_as(&mut self, pv_index: usize, depth: i32, score: Score, bound: Bound) {
        if self.index > 0 || !self.sink.listens() {
            return;
        }
        let root_move = &self.thread_data.root_moves[pv_index];
        let pv = mate_line::complete(self.shared.search.position, &root_move.pv, score, self.shared.search.tt);
        self.sink.report(&Report {
            selective_depth: root_move.selective_depth,
            multipv: pv_index + 1,
            bound,
            ..Report::new(self.shared, depth, score, &pv)
        });
    }
}

impl<'a> Report<'a> {
    /// Creates the report of an exact score and its principal variation.
    pub(super) fn new(shared: &Shared, depth: i32, score: Score, pv: &'a Pv) -> Self {
        Self {
            depth: depth as u32,
            selective_depth: pv.len(),
            multipv: 1,
            score: shared.reported_score(pv, score),
            bound: Bound::Exact,
            nodes: shared.nodes(),
            elapsed: shared.timer.elapsed(),
            hashfull: shared.search.tt.hashfull(),
            tablebase_hits: shared.tablebase_hits(),
            pv,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::super::shared::tests::with_shared;
    use super::*;

    #[test]
    fn mates_beyond_the_fifty_move_rule_are_not_believed() {
        with_shared(&Limits::default(), |shared| {
            let mut thread_data = ThreadData::new().unwrap();
            let mut sink = ();
            let worker = Worker::new(shared, 0, &mut thread_data, &mut sink);
            let position = |clock: usize| format!("8/8/8/3k4/8/8/8/KQ6 w - - {clock} 100").parse::<Position>().unwrap();
            let bound = Some(Bound::Exact);
            let entry = |score| TtEntry { best: None, score, raw_eval: None, depth: 9, bound, tt_pv: false };
            // The mate that a node at ply 3 finds is 17 plies away from there.
            for score in [Score::mated_in(20), -Score::mated_in(20)] {
                shared.search.tt.store(position(0).key(), 3, entry(score));
                for (clock, expected) in [(0, bound), (83, bound), (84, None), (100, None)] {
                    let found = worker.probe_tt(&position(clock), 3).unwrap();
                    assert_eq!((found.bound, found.score), (expected, score), "{clock}");
                }
            }
        });
    }
}
