use super::correction::Corrections;
use super::driver::{Search, Shared};
use super::history::{Context, Histories, PieceTo, bonus, malus};
use super::pages::Pages;
use super::parameters as p;
use super::picker::{MovePicker, Picked, Stage};
use super::statistics::track;
use super::table::{Bound, Entry};
use super::{Line, MAX_PLY, Sink};
use crate::board::{History, Position};
use crate::nnue::{Evaluator, Network};
use crate::tablebases::Wdl;
use crate::tables::reduction;
use crate::types::{Bitboard, Move, Score};
use arrayvec::ArrayVec;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Nodes between two looks at the clock and at the other threads.
const CLOCK_INTERVAL: u64 = 1024;
/// Frames before the root, which stand for what was played before the search.
const BEFORE_ROOT: usize = 6;
/// A ply in the unit of reductions.
const PLY: i32 = 1024;

/// The search is to stop: results on the way back mean nothing.
pub(super) struct Stopped;

/// What a node leaves for its descendants to see.
#[derive(Clone, Copy)]
struct Frame {
    /// What is played from here; none for a pass.
    mv: Option<Move>,
    played: PieceTo,
    /// The squares that the opponent attacks here.
    attacked: Bitboard,
    /// The corrected evaluation; none in check.
    evaluation: Option<Score>,
    /// The network's.
    raw: Option<Score>,
    /// Left out here, to see how good the others are.
    excluded: Option<Move>,
    /// By how many plies the search of the move that is played is reduced.
    reduction: i32,
    /// How many children of this node's siblings failed high.
    cutoffs: u32,
    was_pv: bool,
}

impl Frame {
    const EMPTY: Self = Self {
        mv: None,
        played: PieceTo::NONE,
        attacked: Bitboard::EMPTY,
        evaluation: None,
        raw: None,
        excluded: None,
        reduction: 0,
        cutoffs: 0,
        was_pv: false,
    };
}

/// A move of the root and what the search of it found.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub mv: Move,
    /// Of the current iteration; `-INFINITE` if it did not raise alpha.
    pub score: Score,
    /// Whether the score is exact.
    pub bound: Bound,
    /// Of the last iteration that searched it with an open window.
    pub previous: Score,
    /// A running mean.
    pub average: Option<Score>,
    pub selective_depth: usize,
    /// Positions visited below it.
    pub nodes: u64,
    /// The best line that begins with it.
    pub line: Line,
}

/// What a thread has learnt.
struct Learnt {
    histories: Histories,
    corrections: Corrections,
}

/// What a thread keeps from one search of a game to the next.
pub struct Memory {
    learnt: Pages<Learnt>,
    evaluator: Option<(Network, Evaluator)>,
    frames: Vec<Frame>,
    history: History,
    pub(super) root_moves: Vec<RootMove>,
}

impl Memory {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            // SAFETY: Histories and Corrections are arrays of i16 and nothing else: zeros are valid, nothing is dropped, the alignment is 2.
            learnt: unsafe { Pages::zeroed() }?,
            evaluator: None,
            frames: vec![Frame::EMPTY; BEFORE_ROOT + MAX_PLY + 2],
            history: History::new(),
            root_moves: Vec::new(),
        })
    }

    /// Forgets what was learnt.
    pub fn clear(&mut self) {
        self.learnt.clear();
    }
}

/// One thread's search of the tree.
pub(super) struct Worker<'a> {
    pub shared: &'a Shared<'a>,
    /// Which thread it is; the first speaks for all.
    pub index: usize,
    pub memory: &'a mut Memory,
    pub sink: &'a mut dyn Sink,
    evaluator: Evaluator,
    /// Where the search began in the history.
    root: usize,
    pub nodes: u64,
    pub selective_depth: usize,
    /// Of the iteration.
    pub root_depth: i32,
    /// Which of the best lines is searched, from 0.
    pub rank: usize,
    /// No passing before this ply.
    pass_from: usize,
    /// The first iteration is finished whatever happens, so that there is a move.
    pub has_move: bool,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, index: usize, memory: &'a mut Memory, sink: &'a mut dyn Sink) -> Self {
        let search = shared.search;
        let evaluator = match memory.evaluator.take() {
            Some((network, mut evaluator)) if network.is_same(search.network) => {
                evaluator.restart();
                evaluator
            }
            _ => Evaluator::new(search.network.clone()),
        };
        memory.history.clone_from(search.history);
        memory.frames.fill(Frame::EMPTY);
        memory.root_moves.clear();
        memory.root_moves.extend(shared.root_moves.iter().map(|&mv| RootMove {
            mv,
            score: -Score::INFINITE,
            bound: Bound::Exact,
            previous: -Score::INFINITE,
            average: None,
            selective_depth: 0,
            nodes: 0,
            line: Line::from_iter([mv]),
        }));
        Self {
            root: memory.history.len(),
            shared,
            index,
            memory,
            sink,
            evaluator,
            nodes: 0,
            selective_depth: 0,
            root_depth: 0,
            rank: 0,
            pass_from: 0,
            has_move: false,
        }
    }

    /// Hands the evaluator back for the next search.
    pub fn finish(self) {
        self.memory.evaluator = Some((self.shared.search.network.clone(), self.evaluator));
    }

    /// Searches the root to a depth within a window.
    pub fn search_root(&mut self, window: (Score, Score), depth: i32) -> Result<Score, Stopped> {
        let mut line = Line::new();
        self.node::<true>(self.shared.search.position, window, depth, 0, false, &mut line)
    }

    #[inline]
    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.memory.frames[BEFORE_ROOT + ply]
    }

    /// The frame so many plies before.
    #[inline]
    fn back(&self, ply: usize, plies: usize) -> &Frame {
        &self.memory.frames[BEFORE_ROOT + ply - plies]
    }

    /// What the moves of a node are judged by.
    #[inline]
    fn context(&self, ply: usize, attacked: Bitboard) -> Context {
        Context { attacked, before: [1, 2, 4, 6].map(|plies| self.back(ply, plies).played) }
    }

    /// The last two moves, for the corrections.
    #[inline]
    fn last_moves(&self, ply: usize) -> [PieceTo; 2] {
        [1, 2].map(|plies| self.back(ply, plies).played)
    }

    /// The position after a move of the node at `ply`.
    #[inline]
    fn play(&mut self, position: &Position, mv: Move, ply: usize) -> Position {
        self.shared.search.table.prefetch(position.key_after(mv));
        let played = PieceTo::new(position, mv);
        let frame = self.frame(ply);
        (frame.mv, frame.played) = (Some(mv), played);
        self.memory.history.push(position);
        self.evaluator.push(position);
        position.make(mv)
    }

    fn take_back(&mut self) {
        self.evaluator.pop();
        self.memory.history.pop();
    }

    /// The score of a position within a window, searched to a depth in plies: principal variation search. Steps that do not apply to a node are passed
    /// over.
    ///
    /// `cut_node` says that the score is expected to be at least beta. `line` receives the best line if the score is inside the window.
    fn node<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, mut beta): (Score, Score),
        mut depth: i32,
        ply: usize,
        cut_node: bool,
        line: &mut Line,
    ) -> Result<Score, Stopped> {
        line.clear();
        // 1. At the horizon, noisy moves only.
        if depth <= 0 {
            return self.quiescence::<PV>(position, (alpha, beta), ply);
        }
        // 2. Stop?
        self.count_node(ply)?;
        let is_root = ply == 0;
        let in_check = position.in_check();
        let us = position.side_to_move();

        if !is_root {
            // 3. Draws, and the end of the line.
            if let Some(score) = self.end(position, &mut alpha, beta, ply) {
                return Ok(score);
            }
            // 4. A mate already found nearer the root cannot be bettered.
            alpha = alpha.max(Score::mated_in(ply));
            beta = beta.min(-Score::mated_in(ply + 1));
            if alpha >= beta {
                return Ok(alpha);
            }
        }

        // 5. The transposition table.
        let excluded = self.frame(ply).excluded;
        let key = position.key();
        let known = if excluded.is_none() { self.probe(position, ply) } else { None };
        let table_move = match is_root {
            true => self.root_table_move(known.and_then(|entry| entry.best)),
            false => known.and_then(|entry| entry.best),
        };
        if let Some(entry) = known
            && !PV
            && entry.depth >= depth + i32::from(entry.score >= beta)
            && entry.decides(alpha, beta)
            && (cut_node == (entry.score >= beta) || depth > 5)
            && position.halfmove_clock() < 90
        {
            if entry.score >= beta
                && let Some(mv) = table_move.filter(|mv| !mv.is_noisy())
            {
                let context = self.context(ply, position.attacked(!us));
                self.memory.learnt.histories.update_quiet(position, &context, mv, bonus(depth));
            }
            return Ok(entry.score);
        }
        let attacked = position.attacked(!us);
        let context = self.context(ply, attacked);
        let was_pv = PV || known.is_some_and(|entry| entry.was_pv) || (excluded.is_some() && self.frame(ply).was_pv);

        // 6. The endgame tables.
        let mut most = Score::INFINITE;
        let mut best = -Score::INFINITE;
        if !is_root
            && excluded.is_none()
            && let Some((score, bound)) = self.ask_tables(position, depth, ply)
        {
            let entry = Entry { best: None, score, evaluation: None, depth: depth + 6, bound: Some(bound), was_pv };
            if entry.decides(alpha, beta) {
                self.shared.search.table.store(key, ply, entry);
                return Ok(score);
            }
            // With an open window, the way to it is still to be found.
            if bound == Bound::Lower {
                best = score;
                alpha = alpha.max(score);
            } else {
                most = score;
            }
        }

        // 7. The static evaluation, corrected by what was learnt of positions like this one.
        let (mut evaluation, mut estimate, mut correction) = (None, Score::DRAW, 0);
        if !in_check {
            let raw = match (excluded, known.and_then(|entry| entry.evaluation)) {
                (Some(_), _) => self.frame(ply).raw.expect("evaluated before a move was excluded"),
                (None, Some(raw)) => raw,
                (None, None) => {
                    let raw = self.evaluator.evaluate(position);
                    if known.is_none() {
                        let (score, evaluation) = (Score::DRAW, Some(raw));
                        let entry = Entry { best: None, score, evaluation, depth: 0, bound: None, was_pv };
                        self.shared.search.table.store(key, ply, entry);
                    }
                    raw
                }
            };
            correction = self.memory.learnt.corrections.get(position, self.last_moves(ply));
            let corrected = corrected(position, raw, correction);
            evaluation = Some(corrected);
            estimate = known.map_or(corrected, |entry| entry.refine(corrected));
            self.frame(ply).raw = Some(raw);
        }
        let frame = self.frame(ply);
        (frame.evaluation, frame.attacked, frame.was_pv) = (evaluation, attacked, was_pv);
        self.frame(ply + 1).excluded = None;
        if is_root {
            self.frame(1).cutoffs = 0;
        }
        self.frame(ply + 2).cutoffs = 0;
        let parent = *self.back(ply, 1);
        // Whether the position has become better for the side to move since its last turn.
        let earlier = self.back(ply, 2).evaluation.or(self.back(ply, 4).evaluation);
        let improving = evaluation.zip(earlier).is_some_and(|(now, earlier)| now > earlier);

        if excluded.is_none()
            && let (Some(now), Some(before)) = (evaluation, parent.evaluation)
        {
            // What the opponent's move has changed, seen from the opponent.
            let drift = -(now.value() + before.value());
            // 8. A quiet move is as good as what it did to the evaluation.
            if let Some(mv) = parent.mv.filter(|mv| !mv.is_noisy()) {
                let bonus = (p::drift_factor() * drift).clamp(-p::drift_limit(), p::drift_limit());
                self.memory.learnt.histories.update_butterfly(!us, parent.attacked, mv, bonus);
            }
            // 9. Hindsight: was the move that led here reduced too much, or not enough?
            if !is_root && parent.reduction >= p::hindsight_deeper() && drift >= 0 {
                depth += 1;
            } else if !PV
                && depth >= 2
                && parent.reduction >= p::hindsight_shallower()
                && drift < -p::hindsight_margin()
            {
                depth -= 1;
            }
        }

        if !PV && !in_check && excluded.is_none() {
            // 10. Reverse futility: so far above beta that a few moves cannot spoil it.
            if depth <= p::reverse_futility_depth()
                && !beta.is_lost()
                && !estimate.is_decisive()
                && (!was_pv || known.is_none_or(|entry| entry.best.is_none()) || table_move.is_some_and(Move::is_noisy))
            {
                let margin = p::reverse_futility_factor() * depth
                    - p::reverse_futility_improving() * i32::from(improving)
                    + correction.abs() / 2;
                if estimate - margin.max(15) >= beta {
                    let weight = p::reverse_futility_return();
                    return Ok(estimate - ((estimate - beta) * weight / 1024));
                }
            }
            // 11. Null move: if even passing does not bring the score below beta, a move will not either, unless there is zugzwang.
            if let Some(now) = evaluation
                && cut_node
                && ply >= self.pass_from
                && parent.mv.is_some()
                && estimate >= beta
                && now >= beta + p::null_margin_base() - p::null_margin_factor() * depth
                && !beta.is_lost()
                && position.has_pieces(us)
            {
                let above = ((estimate - beta) / p::null_reduction_score()).min(4);
                let reduced = depth - p::null_reduction_base() - depth / p::null_reduction_divisor() - above;
                let score = self.pass(position, beta, reduced, ply)?;
                if track!("null move succeeds", score >= beta) {
                    let score = if score.is_decisive() { beta } else { score };
                    if depth < p::null_verification_depth() || self.pass_from > 0 {
                        return Ok(score);
                    }
                    self.pass_from = ply + 3 * reduced.max(1) as usize / 4;
                    let window = (beta - 1, beta);
                    let verified = self.node::<false>(position, window, reduced, ply, false, line)?;
                    self.pass_from = 0;
                    if verified >= beta {
                        return Ok(score);
                    }
                }
            }
        }

        // Above beta as it stands, the position has no need to become better.
        let improving = improving || evaluation.is_some_and(|now| now >= beta);

        // 12. Internal reduction: where nothing is known of a node, it was not worth much so far.
        if (PV || cut_node) && depth >= p::internal_reduction_depth() && table_move.is_none() && excluded.is_none() {
            depth -= 1;
        }

        // 13. ProbCut: a good capture that beats beta by a margin in a shallow search will beat beta in a deep one.
        let probcut_beta = beta + p::probcut_margin() - p::probcut_improving() * i32::from(improving);
        if !PV
            && !in_check
            && depth >= 5
            && excluded.is_none()
            && !beta.is_decisive()
            && !known
                .is_some_and(|entry| entry.depth >= depth - 3 && entry.score < probcut_beta && entry.bound.is_some())
        {
            let now = evaluation.expect("not in check");
            let table_move = table_move.filter(|&mv| mv.is_noisy() && position.gains(mv, probcut_beta - now));
            let mut picker = MovePicker::noisy(table_move, (probcut_beta - now).max(0));
            while let Some(Picked { mv, .. }) = picker.next(position, &self.memory.learnt.histories, &context) {
                let next = self.play(position, mv, ply);
                let window = (-probcut_beta, -probcut_beta + 1);
                let mut score = -self.quiescence::<false>(&next, window, ply + 1)?;
                if score >= probcut_beta {
                    score = -self.node::<false>(&next, window, depth - 4, ply + 1, !cut_node, line)?;
                }
                self.take_back();
                if track!("probcut succeeds", score >= probcut_beta) {
                    let bound = Some(Bound::Lower);
                    let evaluation = self.frame(ply).raw;
                    let entry = Entry { best: Some(mv), score, evaluation, depth: depth - 3, bound, was_pv };
                    self.shared.search.table.store(key, ply, entry);
                    return Ok(if score.is_decisive() { score } else { score - (probcut_beta - beta) });
                }
            }
        }

        // 14. The moves, the best first.
        let before = alpha;
        let mut best_move = None;
        let mut count = 0;
        let mut tried_quiets = ArrayVec::<Move, 64>::new();
        let mut tried_noisy = ArrayVec::<Move, 32>::new();
        let mut child_line = Line::new();
        let mut picker = MovePicker::new(table_move);
        while let Some(Picked { mv, history }) = picker.next(position, &self.memory.learnt.histories, &context) {
            if Some(mv) == excluded || (is_root && !self.is_searched(mv)) {
                continue;
            }
            count += 1;
            let nodes_before = self.nodes;
            if is_root {
                self.announce(mv, self.rank + count);
            }
            let is_noisy = mv.is_noisy();
            // That of a quiet move is the sum of several.
            let history = if is_noisy { history } else { history / 4 };
            let mut reduction = reduction(depth, count);

            // 15. Moves that are not worth a search near the horizon.
            if !is_root && !best.is_lost() && position.has_pieces(us) {
                let left = (depth - (reduction - history * PLY / p::reduction_history()) / PLY).clamp(0, depth);
                if is_noisy {
                    if picker.stage() == Stage::BadNoisy {
                        // Far below alpha, not even the piece taken helps.
                        let hope = p::noisy_futility_base() + p::noisy_futility_factor() * depth + history / 64;
                        let far = estimate + hope <= alpha;
                        if !in_check && depth < 7 && far && !position.gives_check(mv) {
                            break;
                        }
                        if !position.gains(mv, -p::exchange_noisy() * depth - history / 128) {
                            continue;
                        }
                    }
                } else {
                    // Late moves.
                    let many = p::late_base() + depth * depth * p::late_factor() / 1024;
                    if count as i32 >= if improving { many } else { many / 2 } {
                        picker.skip_quiets();
                    }
                    // Quiet moves do not change the evaluation by so much.
                    let hope = p::futility_base() + p::futility_factor() * left + history / p::futility_history();
                    if !in_check && left < p::futility_depth() && estimate + hope <= alpha {
                        picker.skip_quiets();
                        continue;
                    }
                    // Moves that were bad elsewhere.
                    if left < p::history_depth() && history < -p::history_factor() * depth {
                        picker.skip_quiets();
                        continue;
                    }
                    // Moves that lose material.
                    if !position.gains(mv, -p::exchange_quiet() * left * left) {
                        continue;
                    }
                }
            }

            // 16. Extensions of the table's move: how much better is it than all others?
            let mut extension = 0;
            if !is_root
                && Some(mv) == table_move
                && excluded.is_none()
                && depth >= p::singular_depth() + i32::from(was_pv)
                && ply < 2 * self.root_depth as usize
                && let Some(entry) = known
                && entry.depth >= depth - 3
                && entry.is_lower_bound()
                && !entry.score.is_decisive()
            {
                let bar = entry.score - depth * p::singular_margin() / 64;
                self.frame(ply).excluded = Some(mv);
                let window = (bar - 1, bar);
                let score = self.node::<false>(position, window, (depth - 1) / 2, ply, cut_node, &mut child_line)?;
                self.frame(ply).excluded = None;
                if score < bar {
                    let by = bar - score;
                    let more = 1
                        + i32::from(!PV && by > p::singular_double())
                        + i32::from(!PV && !is_noisy && by > p::singular_triple());
                    extension = track!("singular", more);
                } else if bar >= beta {
                    // Several moves fail high.
                    return Ok(if score.is_decisive() { score } else { bar });
                } else if entry.score >= beta {
                    extension = if PV { -1 } else { -3 };
                } else if cut_node {
                    extension = -2;
                }
            }

            let next = self.play(position, mv, ply);
            let mut new_depth = depth - 1 + extension;
            let mut score = -Score::INFINITE;

            // 17. Late moves are searched less deeply, and again if they turn out better than expected.
            if depth >= 2 && count > 1 {
                if !PV {
                    reduction += p::reduction_not_pv_r();
                }
                if was_pv {
                    reduction -= p::reduction_was_pv_r();
                    if known.is_some_and(|entry| entry.depth >= depth) {
                        reduction -= p::reduction_table_depth_r();
                    }
                }
                if cut_node {
                    reduction += p::reduction_cut_node_r();
                    if table_move.is_none() {
                        reduction += p::reduction_no_table_move_r();
                    }
                }
                if !improving {
                    reduction += p::reduction_not_improving_r();
                }
                if table_move.is_some_and(Move::is_noisy) {
                    reduction += p::reduction_noisy_table_move_r();
                }
                if next.in_check() {
                    reduction -= p::reduction_check_r();
                }
                if self.frame(ply + 1).cutoffs > 3 {
                    reduction += p::reduction_cutoffs_r();
                }
                if is_noisy {
                    reduction -= p::reduction_noisy_r();
                }
                reduction -= correction.abs() * p::reduction_correction_r();
                reduction -= history * PLY / p::reduction_history();

                let reduced = (new_depth - reduction / PLY).clamp(1, (new_depth + i32::from(PV)).max(1));
                self.frame(ply).reduction = new_depth - reduced;
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, reduced, ply + 1, true, &mut child_line)?;
                self.frame(ply).reduction = 0;
                if score > alpha && reduced < new_depth {
                    new_depth += i32::from(score > best + p::deeper_margin() + 2 * new_depth);
                    new_depth -= i32::from(score < best + new_depth);
                    if reduced < new_depth {
                        score = -self.node::<false>(&next, window, new_depth, ply + 1, !cut_node, &mut child_line)?;
                    }
                    if !is_noisy {
                        let change = if score > alpha { bonus(depth) } else { -malus(depth) };
                        let played = self.frame(ply).played;
                        self.memory.learnt.histories.update_continuation(context.before, played, change);
                    }
                }
            } else if !PV || count > 1 {
                // 18. All moves but the first are expected to fail low, which a window of no width proves faster.
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, new_depth, ply + 1, !cut_node, &mut child_line)?;
            }
            // 19. The first move, and those that are better after all, with an open window.
            if PV && (count == 1 || score > alpha) {
                score = -self.node::<true>(&next, (-beta, -alpha), new_depth, ply + 1, false, &mut child_line)?;
            }
            self.take_back();

            if is_root {
                self.record(mv, count, (before, alpha, beta), score, self.nodes - nodes_before, &child_line);
            }
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        line.clear();
                        line.push(mv);
                        line.extend(child_line.iter().copied().take(MAX_PLY - 1));
                    }
                    if score >= beta {
                        self.frame(ply).cutoffs += 1;
                        let _ = track!("moves before a cutoff", count as i64);
                        break;
                    }
                    alpha = score;
                    // A better move was found: the others matter less.
                    if depth > 2 && depth < 12 && !score.is_decisive() {
                        depth -= 1;
                    }
                }
            }
            if Some(mv) != best_move {
                let _ = if is_noisy { tried_noisy.try_push(mv) } else { tried_quiets.try_push(mv) };
            }
        }

        // 20. Mate or stalemate.
        if count == 0 {
            return Ok(match excluded {
                Some(_) => alpha,
                None if in_check => Score::mated_in(ply),
                None => Score::DRAW,
            });
        }

        // 21. Learn: the best move is tried earlier elsewhere, and those tried before it in vain later.
        if let Some(mv) = best_move {
            let (more, less) = (bonus(depth), malus(depth));
            if mv.is_noisy() {
                self.memory.learnt.histories.update_noisy(position, mv, more);
            } else {
                self.memory.learnt.histories.update_quiet(position, &context, mv, more);
                for &other in &tried_quiets {
                    self.memory.learnt.histories.update_quiet(position, &context, other, -less);
                }
            }
            for &other in &tried_noisy {
                self.memory.learnt.histories.update_noisy(position, other, -less);
            }
        } else if let Some(mv) = parent.mv.filter(|mv| !mv.is_noisy() && !is_root) {
            // Nothing helps against the opponent's last move.
            let factor = 1 + i32::from(depth > 5) + i32::from(parent.reduction == 0);
            self.memory.learnt.histories.update_butterfly(!us, parent.attacked, mv, factor * bonus(depth) / 2);
            let before = [2, 3, 5, 7].map(|plies| self.back(ply, plies).played);
            self.memory.learnt.histories.update_continuation(before, parent.played, factor * bonus(depth) / 2);
        }

        // 22. A score above beta is less certain than beta the shallower the search.
        if best >= beta && !best.is_decisive() && !alpha.is_decisive() {
            best = Score::centipawns((best.value() * depth + beta.value()) / (depth + 1));
        }
        best = best.min(most);
        let was_pv = was_pv || (best <= before && parent.was_pv);

        // 23. Remember the result, and how far the evaluation was off.
        if excluded.is_none() {
            let bound = match best {
                best if best >= beta => Bound::Lower,
                best if best > before => Bound::Exact,
                _ => Bound::Upper,
            };
            if !(is_root && self.rank > 0) {
                let evaluation = self.frame(ply).raw.filter(|_| !in_check);
                let entry = Entry { best: best_move, score: best, evaluation, depth, bound: Some(bound), was_pv };
                self.shared.search.table.store(key, ply, entry);
            }
            if let Some(now) = evaluation
                && best_move.is_none_or(|mv| !mv.is_noisy())
                && !best.is_decisive()
                && !(is_root && self.rank > 0)
                && !(bound == Bound::Lower && best <= now)
                && !(bound == Bound::Upper && best >= now)
            {
                let moves = self.last_moves(ply);
                self.memory.learnt.corrections.update(position, moves, depth, best - now);
            }
        }
        Ok(best)
    }

    /// What the endgame tables say of a position: a win is at least one, since it may be a mate, and a loss at most one.
    fn ask_tables(&mut self, position: &Position, depth: i32, ply: usize) -> Option<(Score, Bound)> {
        let Search { tables, probing, .. } = self.shared.search;
        let tables = tables.filter(|_| self.shared.root_score.is_none())?;
        let pieces = position.occupied().len();
        let largest = tables.pieces() as u32;
        if pieces > probing.pieces.min(largest) || (pieces == largest && depth < probing.depth as i32) {
            return None;
        }
        let wdl = tables.probe_wdl(position)?;
        self.shared.counters[self.index].tablebase_hits.fetch_add(1, Relaxed);
        let won = Score::won_by_tablebase(ply);
        Some(match wdl {
            Wdl::Win => (won, Bound::Lower),
            Wdl::Loss => (-won, Bound::Upper),
            Wdl::CursedWin if !probing.fifty_move_rule => (won, Bound::Lower),
            Wdl::BlessedLoss if !probing.fifty_move_rule => (-won, Bound::Upper),
            _ => (Score::DRAW, Bound::Exact),
        })
    }

    /// The score after passing, for the side that passes.
    fn pass(&mut self, position: &Position, beta: Score, depth: i32, ply: usize) -> Result<Score, Stopped> {
        let next = position.make_null();
        self.shared.search.table.prefetch(next.key());
        let frame = self.frame(ply);
        (frame.mv, frame.played, frame.reduction) = (None, PieceTo::NONE, 0);
        self.memory.history.push(position);
        self.evaluator.push(position);
        let score = -self.node::<false>(&next, (-beta, -beta + 1), depth, ply + 1, false, &mut Line::new())?;
        self.take_back();
        Ok(score)
    }

    /// The score of a position once the noisy moves are played out; the side to move may also leave it as it is.
    fn quiescence<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, beta): (Score, Score),
        ply: usize,
    ) -> Result<Score, Stopped> {
        // 1. Stop? Draws, and the end of the line.
        self.count_node(ply)?;
        if let Some(score) = self.end(position, &mut alpha, beta, ply) {
            return Ok(score);
        }
        let in_check = position.in_check();

        // 2. The transposition table.
        let key = position.key();
        let known = self.probe(position, ply);
        if let Some(entry) = known
            && !PV
            && entry.decides(alpha, beta)
        {
            return Ok(entry.score);
        }
        let was_pv = PV || known.is_some_and(|entry| entry.was_pv);

        // 3. The evaluation: nobody has to take.
        let mut best = -Score::INFINITE;
        let mut raw = None;
        if !in_check {
            let evaluation =
                known.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluator.evaluate(position));
            raw = Some(evaluation);
            let correction = self.memory.learnt.corrections.get(position, self.last_moves(ply));
            best = corrected(position, evaluation, correction);
            best = known.map_or(best, |entry| entry.refine(best));
            if best >= beta {
                if known.is_none() {
                    let entry =
                        Entry { best: None, score: best, evaluation: raw, depth: 0, bound: Some(Bound::Lower), was_pv };
                    self.shared.search.table.store(key, ply, entry);
                }
                return Ok(if best.is_decisive() { best } else { best - (best - beta) / 2 });
            }
            alpha = alpha.max(best);
        }

        // 4. Noisy moves that lose nothing; in check all moves until one holds.
        let attacked = if in_check { position.attacked(!position.side_to_move()) } else { Bitboard::EMPTY };
        let context = self.context(ply, attacked);
        let table_move = known.and_then(|entry| entry.best).filter(|mv| in_check || mv.is_noisy());
        let mut picker = match in_check {
            true => MovePicker::new(table_move),
            false => MovePicker::noisy(table_move, -p::quiescence_exchange()),
        };
        let mut count = 0;
        let mut best_move = None;
        while let Some(Picked { mv, .. }) = picker.next(position, &self.memory.learnt.histories, &context) {
            count += 1;
            if !best.is_lost() {
                if in_check {
                    picker.skip_quiets();
                    if !mv.is_noisy() {
                        continue;
                    }
                } else {
                    // After two, only those that give check or take back.
                    let takes_back = self.back(ply, 1).mv.is_some_and(|before| before.to() == mv.to());
                    if count > 2 && !takes_back && !position.gives_check(mv) {
                        continue;
                    }
                }
            }
            let next = self.play(position, mv, ply);
            let score = -self.quiescence::<PV>(&next, (-beta, -alpha), ply + 1)?;
            self.take_back();
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    alpha = score;
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        if in_check && count == 0 {
            return Ok(Score::mated_in(ply));
        }
        if best >= beta && !best.is_decisive() {
            best = best - (best - beta) / 2;
        }

        // 5. Remember the result.
        let bound = Some(if best >= beta { Bound::Lower } else { Bound::Upper });
        let entry = Entry { best: best_move, score: best, evaluation: raw, depth: 0, bound, was_pv };
        self.shared.search.table.store(key, ply, entry);
        Ok(best)
    }

    /// What the transposition table knows of a position. If its move is not legal here, all of it belongs to another position.
    fn probe(&self, position: &Position, ply: usize) -> Option<Entry> {
        let found = self.shared.search.table.probe(position.key(), ply)?;
        found.best.is_none_or(|mv| position.is_legal(mv)).then_some(found)
    }

    /// The score where there is no more to search: at a draw, where the draw that the side to move can have by going back is enough (it raises alpha), and at
    /// the greatest ply.
    fn end(&mut self, position: &Position, alpha: &mut Score, beta: Score, ply: usize) -> Option<Score> {
        if let Some(score) = self.draw(position, ply) {
            return Some(score);
        }
        if *alpha < Score::DRAW && self.memory.history.can_repeat(position, self.root) {
            *alpha = self.draw_score();
            if *alpha >= beta {
                return Some(*alpha);
            }
        }
        (ply >= MAX_PLY - 1).then(|| if position.in_check() { Score::DRAW } else { self.evaluator.evaluate(position) })
    }

    /// The score of a position that is drawn by rule; or of a mate that comes before the fifty-move rule.
    fn draw(&self, position: &Position, ply: usize) -> Option<Score> {
        if position.halfmove_clock() >= 100 {
            let is_mate = position.in_check() && position.is_over();
            return Some(if is_mate { Score::mated_in(ply) } else { self.draw_score() });
        }
        let drawn = position.is_insufficient_material() || self.memory.history.is_repetition(position, self.root);
        drawn.then(|| self.draw_score())
    }

    /// A draw's score, with a little noise: lines that repeat are not all alike then, and those that do not are tried.
    fn draw_score(&self) -> Score {
        Score::DRAW + (self.nodes & 2) as i32 - 1
    }

    /// Counts the node, and fails if a limit is reached.
    fn count_node(&mut self, ply: usize) -> Result<(), Stopped> {
        if self.has_move && self.shared.is_over(self.index, self.nodes, self.nodes.is_multiple_of(CLOCK_INTERVAL)) {
            return Err(Stopped);
        }
        self.nodes += 1;
        self.shared.counters[self.index].nodes.store(self.nodes, Relaxed);
        self.selective_depth = self.selective_depth.max(ply);
        Ok(())
    }

    /// The move to begin with at the root: the best so far of those that are searched.
    fn root_table_move(&self, known: Option<Move>) -> Option<Move> {
        let first = &self.memory.root_moves[self.rank];
        if first.previous == -Score::INFINITE { known.filter(|&mv| self.is_searched(mv)) } else { Some(first.mv) }
    }

    /// Whether a move of the root is searched for the current rank: the better lines are taken.
    fn is_searched(&self, mv: Move) -> bool {
        self.memory.root_moves[self.rank..].iter().any(|root_move| root_move.mv == mv)
    }

    /// Keeps what the search of a move of the root has found.
    fn record(
        &mut self,
        mv: Move,
        count: usize,
        (before, alpha, beta): (Score, Score, Score),
        score: Score,
        nodes: u64,
        line: &Line,
    ) {
        let selective_depth = self.selective_depth;
        let root_moves = &mut self.memory.root_moves;
        let root_move = root_moves.iter_mut().find(|root_move| root_move.mv == mv).expect("it is searched");
        root_move.nodes += nodes;
        let mean = |average: Score| Score::centipawns((average.value() + score.value()) / 2);
        if count > 1 && score <= alpha {
            root_move.score = -Score::INFINITE;
            return;
        }
        root_move.average = Some(root_move.average.map_or(score, mean));
        root_move.score = score;
        root_move.bound = match score {
            score if score >= beta => Bound::Lower,
            score if score <= before => Bound::Upper,
            _ => Bound::Exact,
        };
        root_move.selective_depth = selective_depth;
        root_move.line.clear();
        root_move.line.push(mv);
        root_move.line.extend(line.iter().copied().take(MAX_PLY - 1));
        self.has_move = true;
    }
}

/// An evaluation with its correction, which fades as the fifty-move rule comes near.
#[inline]
fn corrected(position: &Position, raw: Score, correction: i32) -> Score {
    let clock = i32::from(position.halfmove_clock()).min(100);
    Score::centipawns(raw.value() * (220 - clock) / 220 + correction)
}
