use super::correction_history::CorrectionHistory;
use super::driver::{SearchRequest, Shared};
use super::history::{Context, MoveHistory, PieceTo, bonus, malus};
use super::huge_pages::HugePageBox;
use super::parameters as p;
use super::picker::{MovePicker, Picked, Stage};
use super::statistics::track;
use super::transposition::{Bound, TtEntry};
use super::{MAX_PLY, Pv, Sink};
use crate::board::{GameHistory, Position};
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
const REDUCTION_SCALE: i32 = 1024;

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
    tt_pv: bool,
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
        tt_pv: false,
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
    pub pv: Pv,
}

/// What a thread has histories.
struct Histories {
    moves: MoveHistory,
    corrections: CorrectionHistory,
}

/// What a thread keeps from one search of a game to the next.
pub struct ThreadData {
    histories: HugePageBox<Histories>,
    evaluator: Option<(Network, Evaluator)>,
    frames: Vec<Frame>,
    history: GameHistory,
    pub(super) root_moves: Vec<RootMove>,
}

impl ThreadData {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            // SAFETY: MoveHistory and CorrectionHistory are arrays of i16 and nothing else: zeros are valid, nothing is dropped, the alignment is 2.
            histories: unsafe { HugePageBox::zeroed() }?,
            evaluator: None,
            frames: vec![Frame::EMPTY; BEFORE_ROOT + MAX_PLY + 2],
            history: GameHistory::new(),
            root_moves: Vec::new(),
        })
    }

    /// Forgets what was histories.
    pub fn clear(&mut self) {
        self.histories.clear();
    }
}

/// One thread's search of the tree.
pub(super) struct Worker<'a> {
    pub shared: &'a Shared<'a>,
    /// Which thread it is; the first speaks for all.
    pub index: usize,
    pub thread_data: &'a mut ThreadData,
    pub sink: &'a mut dyn Sink,
    evaluator: Evaluator,
    /// Where the search began in the history.
    root: usize,
    pub nodes: u64,
    pub selective_depth: usize,
    /// Of the iteration.
    pub root_depth: i32,
    /// Which of the best lines is searched, from 0.
    pub pv_index: usize,
    /// No passing before this ply.
    nmp_min_ply: usize,
    /// The first iteration is finished whatever happens, so that there is a move.
    pub has_move: bool,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, index: usize, thread_data: &'a mut ThreadData, sink: &'a mut dyn Sink) -> Self {
        let search = shared.search;
        let evaluator = match thread_data.evaluator.take() {
            Some((network, mut evaluator)) if network.is_same(search.network) => {
                evaluator.restart();
                evaluator
            }
            _ => Evaluator::new(search.network.clone()),
        };
        thread_data.history.clone_from(search.history);
        thread_data.frames.fill(Frame::EMPTY);
        thread_data.root_moves.clear();
        thread_data.root_moves.extend(shared.root_moves.iter().map(|&mv| RootMove {
            mv,
            score: -Score::INFINITE,
            bound: Bound::Exact,
            previous: -Score::INFINITE,
            average: None,
            selective_depth: 0,
            nodes: 0,
            pv: Pv::from_iter([mv]),
        }));
        Self {
            root: thread_data.history.len(),
            shared,
            index,
            thread_data,
            sink,
            evaluator,
            nodes: 0,
            selective_depth: 0,
            root_depth: 0,
            pv_index: 0,
            nmp_min_ply: 0,
            has_move: false,
        }
    }

    /// Hands the evaluator back for the next search.
    pub fn finish(self) {
        self.thread_data.evaluator = Some((self.shared.search.network.clone(), self.evaluator));
    }

    /// Searches the root to a depth within a window.
    pub fn search_root(&mut self, window: (Score, Score), depth: i32) -> Result<Score, Stopped> {
        let mut pv = Pv::new();
        self.node::<true>(self.shared.search.position, window, depth, 0, false, &mut pv)
    }

    #[inline]
    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.thread_data.frames[BEFORE_ROOT + ply]
    }

    /// The frame so many plies before.
    #[inline]
    fn back(&self, ply: usize, plies: usize) -> &Frame {
        &self.thread_data.frames[BEFORE_ROOT + ply - plies]
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
        self.shared.search.tt.prefetch(position.key_after(mv));
        let played = PieceTo::new(position, mv);
        let frame = self.frame(ply);
        (frame.mv, frame.played) = (Some(mv), played);
        self.thread_data.history.push(position);
        self.evaluator.push(position);
        position.make(mv)
    }

    fn take_back(&mut self) {
        self.evaluator.pop();
        self.thread_data.history.pop();
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
        pv: &mut Pv,
    ) -> Result<Score, Stopped> {
        pv.clear();
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
            // 3. Draws, and the end of the pv.
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
        let tt_entry = if excluded.is_none() { self.probe(position, ply) } else { None };
        let tt_move = match is_root {
            true => self.root_tt_move(tt_entry.and_then(|entry| entry.best)),
            false => tt_entry.and_then(|entry| entry.best),
        };
        if let Some(entry) = tt_entry
            && !PV
            && entry.depth >= depth + i32::from(entry.score >= beta)
            && entry.decides(alpha, beta)
            && (cut_node == (entry.score >= beta) || depth > 5)
            && position.halfmove_clock() < 90
        {
            if entry.score >= beta
                && let Some(mv) = tt_move.filter(|mv| !mv.is_noisy())
            {
                let context = self.context(ply, position.attacked(!us));
                self.thread_data.histories.moves.update_quiet(position, &context, mv, bonus(depth));
            }
            return Ok(entry.score);
        }
        let attacked = position.attacked(!us);
        let context = self.context(ply, attacked);
        let tt_pv = PV || tt_entry.is_some_and(|entry| entry.tt_pv) || (excluded.is_some() && self.frame(ply).tt_pv);

        // 6. The endgame tables.
        let mut most = Score::INFINITE;
        let mut best = -Score::INFINITE;
        if !is_root
            && excluded.is_none()
            && let Some((score, bound)) = self.probe_tablebases(position, depth, ply)
        {
            let entry = TtEntry { best: None, score, evaluation: None, depth: depth + 6, bound: Some(bound), tt_pv };
            if entry.decides(alpha, beta) {
                self.shared.search.tt.store(key, ply, entry);
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

        // 7. The static evaluation, corrected by what was histories of positions like this one.
        let (mut evaluation, mut estimate, mut correction) = (None, Score::DRAW, 0);
        if !in_check {
            let raw = match (excluded, tt_entry.and_then(|entry| entry.evaluation)) {
                (Some(_), _) => self.frame(ply).raw.expect("evaluated before a move was excluded"),
                (None, Some(raw)) => raw,
                (None, None) => {
                    let raw = self.evaluator.evaluate(position);
                    if tt_entry.is_none() {
                        let (score, evaluation) = (Score::DRAW, Some(raw));
                        let entry = TtEntry { best: None, score, evaluation, depth: 0, bound: None, tt_pv };
                        self.shared.search.tt.store(key, ply, entry);
                    }
                    raw
                }
            };
            correction = self.thread_data.histories.corrections.get(position, self.last_moves(ply));
            let corrected = corrected(position, raw, correction);
            evaluation = Some(corrected);
            estimate = tt_entry.map_or(corrected, |entry| entry.refine(corrected));
            self.frame(ply).raw = Some(raw);
        }
        let frame = self.frame(ply);
        (frame.evaluation, frame.attacked, frame.tt_pv) = (evaluation, attacked, tt_pv);
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
                self.thread_data.histories.moves.update_butterfly(!us, parent.attacked, mv, bonus);
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
                && !beta.is_loss()
                && !estimate.is_decisive()
                && (!tt_pv || tt_entry.is_none_or(|entry| entry.best.is_none()) || tt_move.is_some_and(Move::is_noisy))
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
                && ply >= self.nmp_min_ply
                && parent.mv.is_some()
                && estimate >= beta
                && now >= beta + p::null_margin_base() - p::null_margin_factor() * depth
                && !beta.is_loss()
                && position.has_non_pawn_material(us)
            {
                let above = ((estimate - beta) / p::null_reduction_score()).min(4);
                let reduced = depth - p::null_reduction_base() - depth / p::null_reduction_divisor() - above;
                let score = self.null_move(position, beta, reduced, ply)?;
                if track!("null move succeeds", score >= beta) {
                    let score = if score.is_decisive() { beta } else { score };
                    if depth < p::null_verification_depth() || self.nmp_min_ply > 0 {
                        return Ok(score);
                    }
                    self.nmp_min_ply = ply + 3 * reduced.max(1) as usize / 4;
                    let window = (beta - 1, beta);
                    let verified = self.node::<false>(position, window, reduced, ply, false, pv)?;
                    self.nmp_min_ply = 0;
                    if verified >= beta {
                        return Ok(score);
                    }
                }
            }
        }

        // Above beta as it stands, the position has no need to become better.
        let improving = improving || evaluation.is_some_and(|now| now >= beta);

        // 12. Internal reduction: where nothing is tt_entry of a node, it was not worth much so far.
        if (PV || cut_node) && depth >= p::internal_reduction_depth() && tt_move.is_none() && excluded.is_none() {
            depth -= 1;
        }

        // 13. ProbCut: a good capture that beats beta by a margin in a shallow search will beat beta in a deep one.
        let probcut_beta = beta + p::probcut_margin() - p::probcut_improving() * i32::from(improving);
        if !PV
            && !in_check
            && depth >= 5
            && excluded.is_none()
            && !beta.is_decisive()
            && !tt_entry
                .is_some_and(|entry| entry.depth >= depth - 3 && entry.score < probcut_beta && entry.bound.is_some())
        {
            let now = evaluation.expect("not in check");
            let tt_move = tt_move.filter(|&mv| mv.is_noisy() && position.see_ge(mv, probcut_beta - now));
            let mut picker = MovePicker::noisy(tt_move, (probcut_beta - now).max(0));
            while let Some(Picked { mv, .. }) = picker.next(position, &self.thread_data.histories.moves, &context) {
                let next = self.play(position, mv, ply);
                let window = (-probcut_beta, -probcut_beta + 1);
                let mut score = -self.quiescence::<false>(&next, window, ply + 1)?;
                if score >= probcut_beta {
                    score = -self.node::<false>(&next, window, depth - 4, ply + 1, !cut_node, pv)?;
                }
                self.take_back();
                if track!("probcut succeeds", score >= probcut_beta) {
                    let bound = Some(Bound::Lower);
                    let evaluation = self.frame(ply).raw;
                    let entry = TtEntry { best: Some(mv), score, evaluation, depth: depth - 3, bound, tt_pv };
                    self.shared.search.tt.store(key, ply, entry);
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
        let mut child_pv = Pv::new();
        let mut picker = MovePicker::new(tt_move);
        while let Some(Picked { mv, history }) = picker.next(position, &self.thread_data.histories.moves, &context) {
            if Some(mv) == excluded || (is_root && !self.is_searched(mv)) {
                continue;
            }
            count += 1;
            let nodes_before = self.nodes;
            if is_root {
                self.announce(mv, self.pv_index + count);
            }
            let is_noisy = mv.is_noisy();
            // That of a quiet move is the sum of several.
            let history = if is_noisy { history } else { history / 4 };
            let mut reduction = reduction(depth, count);

            // 15. Moves that are not worth a search near the horizon.
            if !is_root && !best.is_loss() && position.has_non_pawn_material(us) {
                let left = (depth - (reduction - history * REDUCTION_SCALE / p::reduction_history()) / REDUCTION_SCALE)
                    .clamp(0, depth);
                if is_noisy {
                    if picker.stage() == Stage::BadNoisy {
                        // Far below alpha, not even the piece taken helps.
                        let hope = p::noisy_futility_base() + p::noisy_futility_factor() * depth + history / 64;
                        let far = estimate + hope <= alpha;
                        if !in_check && depth < 7 && far && !position.gives_check(mv) {
                            break;
                        }
                        if !position.see_ge(mv, -p::exchange_noisy() * depth - history / 128) {
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
                    if !position.see_ge(mv, -p::exchange_quiet() * left * left) {
                        continue;
                    }
                }
            }

            // 16. Extensions of the table's move: how much better is it than all others?
            let mut extension = 0;
            if !is_root
                && Some(mv) == tt_move
                && excluded.is_none()
                && depth >= p::singular_depth() + i32::from(tt_pv)
                && ply < 2 * self.root_depth as usize
                && let Some(entry) = tt_entry
                && entry.depth >= depth - 3
                && entry.is_lower_bound()
                && !entry.score.is_decisive()
            {
                let bar = entry.score - depth * p::singular_margin() / 64;
                self.frame(ply).excluded = Some(mv);
                let window = (bar - 1, bar);
                let score = self.node::<false>(position, window, (depth - 1) / 2, ply, cut_node, &mut child_pv)?;
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
                if tt_pv {
                    reduction -= p::reduction_was_pv_r();
                    if tt_entry.is_some_and(|entry| entry.depth >= depth) {
                        reduction -= p::reduction_table_depth_r();
                    }
                }
                if cut_node {
                    reduction += p::reduction_cut_node_r();
                    if tt_move.is_none() {
                        reduction += p::reduction_no_table_move_r();
                    }
                }
                if !improving {
                    reduction += p::reduction_not_improving_r();
                }
                if tt_move.is_some_and(Move::is_noisy) {
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
                reduction -= history * REDUCTION_SCALE / p::reduction_history();

                let reduced = (new_depth - reduction / REDUCTION_SCALE).clamp(1, (new_depth + i32::from(PV)).max(1));
                self.frame(ply).reduction = new_depth - reduced;
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, reduced, ply + 1, true, &mut child_pv)?;
                self.frame(ply).reduction = 0;
                if score > alpha && reduced < new_depth {
                    new_depth += i32::from(score > best + p::deeper_margin() + 2 * new_depth);
                    new_depth -= i32::from(score < best + new_depth);
                    if reduced < new_depth {
                        score = -self.node::<false>(&next, window, new_depth, ply + 1, !cut_node, &mut child_pv)?;
                    }
                    if !is_noisy {
                        let change = if score > alpha { bonus(depth) } else { -malus(depth) };
                        let played = self.frame(ply).played;
                        self.thread_data.histories.moves.update_continuation(context.before, played, change);
                    }
                }
            } else if !PV || count > 1 {
                // 18. All moves but the first are expected to fail low, which a window of no width proves faster.
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, new_depth, ply + 1, !cut_node, &mut child_pv)?;
            }
            // 19. The first move, and those that are better after all, with an open window.
            if PV && (count == 1 || score > alpha) {
                score = -self.node::<true>(&next, (-beta, -alpha), new_depth, ply + 1, false, &mut child_pv)?;
            }
            self.take_back();

            if is_root {
                self.record(mv, count, (before, alpha, beta), score, self.nodes - nodes_before, &child_pv);
            }
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        pv.clear();
                        pv.push(mv);
                        pv.extend(child_pv.iter().copied().take(MAX_PLY - 1));
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
                self.thread_data.histories.moves.update_noisy(position, mv, more);
            } else {
                self.thread_data.histories.moves.update_quiet(position, &context, mv, more);
                for &other in &tried_quiets {
                    self.thread_data.histories.moves.update_quiet(position, &context, other, -less);
                }
            }
            for &other in &tried_noisy {
                self.thread_data.histories.moves.update_noisy(position, other, -less);
            }
        } else if let Some(mv) = parent.mv.filter(|mv| !mv.is_noisy() && !is_root) {
            // Nothing helps against the opponent's last move.
            let factor = 1 + i32::from(depth > 5) + i32::from(parent.reduction == 0);
            self.thread_data.histories.moves.update_butterfly(!us, parent.attacked, mv, factor * bonus(depth) / 2);
            let before = [2, 3, 5, 7].map(|plies| self.back(ply, plies).played);
            self.thread_data.histories.moves.update_continuation(before, parent.played, factor * bonus(depth) / 2);
        }

        // 22. A score above beta is less certain than beta the shallower the search.
        if best >= beta && !best.is_decisive() && !alpha.is_decisive() {
            best = Score::centipawns((best.value() * depth + beta.value()) / (depth + 1));
        }
        best = best.min(most);
        let tt_pv = tt_pv || (best <= before && parent.tt_pv);

        // 23. Remember the result, and how far the evaluation was off.
        if excluded.is_none() {
            let bound = match best {
                best if best >= beta => Bound::Lower,
                best if best > before => Bound::Exact,
                _ => Bound::Upper,
            };
            if !(is_root && self.pv_index > 0) {
                let evaluation = self.frame(ply).raw.filter(|_| !in_check);
                let entry = TtEntry { best: best_move, score: best, evaluation, depth, bound: Some(bound), tt_pv };
                self.shared.search.tt.store(key, ply, entry);
            }
            if let Some(now) = evaluation
                && best_move.is_none_or(|mv| !mv.is_noisy())
                && !best.is_decisive()
                && !(is_root && self.pv_index > 0)
                && !(bound == Bound::Lower && best <= now)
                && !(bound == Bound::Upper && best >= now)
            {
                let moves = self.last_moves(ply);
                self.thread_data.histories.corrections.update(position, moves, depth, best - now);
            }
        }
        Ok(best)
    }

    /// What the endgame tables say of a position: a win is at least one, since it may be a mate, and a loss at most one.
    fn probe_tablebases(&mut self, position: &Position, depth: i32, ply: usize) -> Option<(Score, Bound)> {
        let SearchRequest { tablebases, probing, .. } = self.shared.search;
        let tablebases = tablebases.filter(|_| self.shared.root_score.is_none())?;
        let pieces = position.occupied().len();
        let largest = tablebases.pieces() as u32;
        if pieces > probing.pieces.min(largest) || (pieces == largest && depth < probing.depth as i32) {
            return None;
        }
        let wdl = tablebases.probe_wdl(position)?;
        self.shared.counters[self.index].tablebase_hits.fetch_add(1, Relaxed);
        let won = Score::tb_win_in(ply);
        Some(match wdl {
            Wdl::Win => (won, Bound::Lower),
            Wdl::Loss => (-won, Bound::Upper),
            Wdl::CursedWin if !probing.fifty_move_rule => (won, Bound::Lower),
            Wdl::BlessedLoss if !probing.fifty_move_rule => (-won, Bound::Upper),
            _ => (Score::DRAW, Bound::Exact),
        })
    }

    /// The score after passing, for the side that passes.
    fn null_move(&mut self, position: &Position, beta: Score, depth: i32, ply: usize) -> Result<Score, Stopped> {
        let next = position.make_null();
        self.shared.search.tt.prefetch(next.key());
        let frame = self.frame(ply);
        (frame.mv, frame.played, frame.reduction) = (None, PieceTo::NONE, 0);
        self.thread_data.history.push(position);
        self.evaluator.push(position);
        let score = -self.node::<false>(&next, (-beta, -beta + 1), depth, ply + 1, false, &mut Pv::new())?;
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
        // 1. Stop? Draws, and the end of the pv.
        self.count_node(ply)?;
        if let Some(score) = self.end(position, &mut alpha, beta, ply) {
            return Ok(score);
        }
        let in_check = position.in_check();

        // 2. The transposition table.
        let key = position.key();
        let tt_entry = self.probe(position, ply);
        if let Some(entry) = tt_entry
            && !PV
            && entry.decides(alpha, beta)
        {
            return Ok(entry.score);
        }
        let tt_pv = PV || tt_entry.is_some_and(|entry| entry.tt_pv);

        // 3. The evaluation: nobody has to take.
        let mut best = -Score::INFINITE;
        let mut raw = None;
        if !in_check {
            let evaluation =
                tt_entry.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluator.evaluate(position));
            raw = Some(evaluation);
            let correction = self.thread_data.histories.corrections.get(position, self.last_moves(ply));
            best = corrected(position, evaluation, correction);
            best = tt_entry.map_or(best, |entry| entry.refine(best));
            if best >= beta {
                if tt_entry.is_none() {
                    let entry = TtEntry {
                        best: None,
                        score: best,
                        evaluation: raw,
                        depth: 0,
                        bound: Some(Bound::Lower),
                        tt_pv,
                    };
                    self.shared.search.tt.store(key, ply, entry);
                }
                return Ok(if best.is_decisive() { best } else { best - (best - beta) / 2 });
            }
            alpha = alpha.max(best);
        }

        // 4. Noisy moves that lose nothing; in check all moves until one holds.
        let attacked = if in_check { position.attacked(!position.side_to_move()) } else { Bitboard::EMPTY };
        let context = self.context(ply, attacked);
        let tt_move = tt_entry.and_then(|entry| entry.best).filter(|mv| in_check || mv.is_noisy());
        let mut picker = match in_check {
            true => MovePicker::new(tt_move),
            false => MovePicker::noisy(tt_move, -p::quiescence_exchange()),
        };
        let mut count = 0;
        let mut best_move = None;
        while let Some(Picked { mv, .. }) = picker.next(position, &self.thread_data.histories.moves, &context) {
            count += 1;
            if !best.is_loss() {
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
        let entry = TtEntry { best: best_move, score: best, evaluation: raw, depth: 0, bound, tt_pv };
        self.shared.search.tt.store(key, ply, entry);
        Ok(best)
    }

    /// What the transposition table knows of a position. If its move is not legal here, all of it belongs to another position.
    fn probe(&self, position: &Position, ply: usize) -> Option<TtEntry> {
        let found = self.shared.search.tt.probe(position.key(), ply)?;
        found.best.is_none_or(|mv| position.is_legal(mv)).then_some(found)
    }

    /// The score where there is no more to search: at a draw, where the draw that the side to move can have by going back is enough (it raises alpha), and at
    /// the greatest ply.
    fn end(&mut self, position: &Position, alpha: &mut Score, beta: Score, ply: usize) -> Option<Score> {
        if let Some(score) = self.draw(position, ply) {
            return Some(score);
        }
        if *alpha < Score::DRAW && self.thread_data.history.can_repeat(position, self.root) {
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
            let is_mate = position.in_check() && !position.has_legal_move();
            return Some(if is_mate { Score::mated_in(ply) } else { self.draw_score() });
        }
        let drawn = position.is_insufficient_material() || self.thread_data.history.is_repetition(position, self.root);
        drawn.then(|| self.draw_score())
    }

    /// A draw's score, with a little noise: lines that repeat are not all alike then, and those that do not are tried.
    fn draw_score(&self) -> Score {
        Score::DRAW + (self.nodes & 2) as i32 - 1
    }

    /// Counts the node, and fails if a limit is reached.
    fn count_node(&mut self, ply: usize) -> Result<(), Stopped> {
        if self.has_move && self.shared.should_stop(self.index, self.nodes, self.nodes.is_multiple_of(CLOCK_INTERVAL)) {
            return Err(Stopped);
        }
        self.nodes += 1;
        self.shared.counters[self.index].nodes.store(self.nodes, Relaxed);
        self.selective_depth = self.selective_depth.max(ply);
        Ok(())
    }

    /// The move to begin with at the root: the best so far of those that are searched.
    fn root_tt_move(&self, tt_entry: Option<Move>) -> Option<Move> {
        let first = &self.thread_data.root_moves[self.pv_index];
        if first.previous == -Score::INFINITE { tt_entry.filter(|&mv| self.is_searched(mv)) } else { Some(first.mv) }
    }

    /// Whether a move of the root is searched for the current rank: the better lines are taken.
    fn is_searched(&self, mv: Move) -> bool {
        self.thread_data.root_moves[self.pv_index..].iter().any(|root_move| root_move.mv == mv)
    }

    /// Keeps what the search of a move of the root has found.
    fn record(
        &mut self,
        mv: Move,
        count: usize,
        (before, alpha, beta): (Score, Score, Score),
        score: Score,
        nodes: u64,
        pv: &Pv,
    ) {
        let selective_depth = self.selective_depth;
        let root_moves = &mut self.thread_data.root_moves;
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
        root_move.pv.clear();
        root_move.pv.push(mv);
        root_move.pv.extend(pv.iter().copied().take(MAX_PLY - 1));
        self.has_move = true;
    }
}

/// An evaluation with its correction, which fades as the fifty-move rule comes near.
#[inline]
fn corrected(position: &Position, raw: Score, correction: i32) -> Score {
    let clock = i32::from(position.halfmove_clock()).min(100);
    Score::centipawns(raw.value() * (220 - clock) / 220 + correction)
}
