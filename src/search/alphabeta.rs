//! The main search: principal variation search (PVS) in fail-soft alpha-beta, one function to read from top to bottom.

use super::history::{bonus, malus};
use super::parameters as p;
use super::picker::{MovePicker, Picked, Stage};
use super::reductions::base_reduction;
use super::shared::SearchRequest;
use super::statistics::track;
use super::transposition::TtEntry;
use super::worker::{Stopped, Worker};
use super::{MAX_PLY, Pv};
use crate::board::Position;
use crate::tablebases::Wdl;
use crate::types::{Bound, Move, Score};
use arrayvec::ArrayVec;
use std::sync::atomic::Ordering::Relaxed;

/// A ply in the unit of reductions.
const PLY: i32 = 1024;

impl Worker<'_> {
    /// Returns the score of the root, searched to a depth within a window.
    pub fn search_root(&mut self, window: (Score, Score), depth: i32) -> Result<Score, Stopped> {
        let mut pv = Pv::new();
        self.node::<true>(self.shared.search.position, window, depth, 0, false, &mut pv)
    }

    /// Returns the score of a position, searched to a depth in plies within a window.
    ///
    /// `cut_node` says that the node is expected to fail high. `pv` receives the principal variation if the score lies
    /// within the window. Steps that do not apply to a node are skipped.
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
        // 1. Quiescence search (QS) at the horizon.
        if depth <= 0 {
            return self.quiescence::<PV>(position, (alpha, beta), ply, true);
        }
        // 2. Limits: stop when one is reached.
        self.count_node(ply)?;
        let first_node = self.nodes;
        let is_root = ply == 0;
        let in_check = position.in_check();
        let us = position.side_to_move();

        if !is_root {
            // 3. Draws by rule, upcoming repetitions, and the maximum ply.
            if let Some(score) = self.terminal_score(position, &mut alpha, beta, ply) {
                return Ok(score);
            }
            // 4. Mate-distance pruning: no line from here beats a shorter mate that was found already.
            alpha = alpha.max(Score::mated_in(ply));
            beta = beta.min(-Score::mated_in(ply + 1));
            if track!("mate-distance pruning", alpha >= beta) {
                return Ok(alpha);
            }
        }

        // 5. TT cutoff: the transposition table holds a result that is deep enough and settles the window.
        let excluded = self.frame(ply).excluded;
        let key = position.key();
        let tt_entry = if excluded.is_none() { self.probe_tt(position, ply) } else { None };
        let tt_move = match is_root {
            true => self.root_tt_move(tt_entry.and_then(|entry| entry.best)),
            false => tt_entry.and_then(|entry| entry.best),
        };
        if let Some(entry) = tt_entry
            && !PV
            && track!(
                "TT cutoff",
                entry.depth >= depth + i32::from(entry.score >= beta)
                    && entry.is_cutoff(alpha, beta)
                    && (cut_node == (entry.score >= beta) || depth > p::tt_cutoff_depth())
                    && i32::from(position.halfmove_clock()) < p::tt_cutoff_halfmove_clock()
            )
        {
            if entry.score >= beta
                && let Some(mv) = tt_move.filter(|mv| !mv.is_noisy())
            {
                let context = self.history_context(ply, position.attacked(!us));
                self.thread_data.histories.moves.update_quiet(position, &context, mv, bonus(depth));
            }
            return Ok(entry.score);
        }
        let attacked = position.attacked(!us);
        let context = self.history_context(ply, attacked);
        let tt_pv = PV || tt_entry.is_some_and(|entry| entry.tt_pv) || (excluded.is_some() && self.frame(ply).tt_pv);

        // 6. Tablebase probe.
        let mut max_score = Score::INFINITE;
        let mut best_score = -Score::INFINITE;
        if !is_root
            && excluded.is_none()
            && let Some((score, bound)) = self.probe_tablebases(position, depth, ply)
        {
            let depth = depth + p::tablebase_depth_bonus();
            let entry = TtEntry { best: None, score, raw_eval: None, depth, bound: Some(bound), tt_pv };
            if track!("tablebase cutoff", entry.is_cutoff(alpha, beta)) {
                self.shared.search.tt.store(key, ply, entry);
                return Ok(score);
            }
            // The score is known, but not the moves that reach it: the search goes on within the bound.
            if bound == Bound::Lower {
                best_score = score;
                alpha = alpha.max(score);
            } else {
                max_score = score;
            }
        }

        // 7. Static evaluation with correction history; the TT's score is the better estimate where its bound allows.
        let (mut static_eval, mut eval, mut correction) = (None, Score::DRAW, 0);
        if !in_check {
            let raw_eval = match (excluded, tt_entry.and_then(|entry| entry.raw_eval)) {
                (Some(_), _) => self.frame(ply).raw_eval.expect("evaluated before a move was excluded"),
                (None, Some(raw_eval)) => raw_eval,
                (None, None) => {
                    let raw_eval = self.thread_data.evaluator.evaluate(position);
                    if tt_entry.is_none() {
                        let (score, raw_eval) = (Score::DRAW, Some(raw_eval));
                        let entry = TtEntry { best: None, score, raw_eval, depth: 0, bound: None, tt_pv };
                        self.shared.search.tt.store(key, ply, entry);
                    }
                    raw_eval
                }
            };
            correction = self.thread_data.histories.corrections.get(position, self.last_moves(ply));
            let corrected = self.corrected_eval(position, raw_eval, correction);
            static_eval = Some(corrected);
            eval = tt_entry.map_or(corrected, |entry| entry.refine(corrected));
            self.frame(ply).raw_eval = Some(raw_eval);
        }
        let frame = self.frame(ply);
        (frame.static_eval, frame.attacked, frame.tt_pv) = (static_eval, attacked, tt_pv);
        if is_root {
            self.frame(1).cutoff_count = 0;
        }
        self.frame(ply + 2).cutoff_count = 0;
        let parent = *self.frame_before(ply, 1);
        // By how much the static evaluation has improved since the side's last turn.
        let earlier = self.frame_before(ply, 2).static_eval.or(self.frame_before(ply, 4).static_eval);
        let improvement = static_eval.zip(earlier).map_or(0, |(now, earlier)| now - earlier);
        let improving = improvement > 0;

        if excluded.is_none()
            && let (Some(now), Some(before)) = (static_eval, parent.static_eval)
        {
            // What the opponent's move changed, from the opponent's point of view.
            let eval_difference = -(now.value() + before.value());
            // 8. Eval difference: the opponent's quiet move gains history by how much it changed the static evaluation,
            // in deep nodes only at the first visit.
            if let Some(mv) = parent.mv.filter(|mv| !mv.is_noisy())
                && (tt_entry.is_none() || depth < p::eval_difference_depth())
            {
                let limit = p::eval_difference_limit();
                let bonus = (p::eval_difference_factor() * eval_difference).clamp(-limit, limit);
                self.thread_data.histories.moves.update_butterfly(!us, parent.attacked, mv, bonus);
            }
            // 9. Hindsight extension and reduction: the move that led here was reduced too much, or not enough.
            let is_good_move = parent.reduction >= p::hindsight_extension_reduction() && eval_difference >= 0;
            let is_bad_move =
                parent.reduction >= p::hindsight_reduction_reduction() && eval_difference < -p::hindsight_margin();
            if track!("hindsight extension", is_good_move) {
                depth += 1;
            } else if track!("hindsight reduction", !PV && depth >= p::hindsight_reduction_depth() && is_bad_move) {
                depth -= 1;
            }
        }

        if !PV && !in_check && excluded.is_none() {
            // 10. Reverse futility pruning (RFP): the evaluation is so far above beta that the margin will not be lost.
            // Less is lost where the opponent attacks no piece. A side that has lost anyhow may be about to be mated.
            if beta > Score::centipawns(-p::decided_score())
                && !eval.is_decisive()
                && (!tt_pv || tt_move.is_none_or(Move::is_noisy))
            {
                let is_safe = !attacked.intersects(position.color(us));
                let margin = p::rfp_square() * depth * depth / 128 + p::rfp_factor() * depth
                    - p::rfp_improvement_r() * improvement / 1024
                    + p::rfp_correction_r() * correction.abs() / 1024
                    - p::rfp_safe() * i32::from(is_safe)
                    - p::rfp_base();
                if track!("RFP", eval - margin.max(p::rfp_margin_min()) >= beta) {
                    return Ok(eval - ((eval - beta) * p::rfp_return_r() / 1024));
                }
            }
            // 11. Null-move pruning (NMP): if even passing keeps the score above beta, a move will, barring zugzwang.
            if let Some(now) = static_eval
                && cut_node
                && ply >= self.nmp_min_ply
                && parent.mv.is_some()
                && eval >= beta
                && now >= beta + p::nmp_margin_base() - p::nmp_margin_factor() * depth
                && !beta.is_loss()
                && position.has_non_pawn_material(us)
            {
                let by_score = ((eval - beta) / p::nmp_reduction_score()).min(p::nmp_reduction_score_limit());
                let reduced = depth - p::nmp_reduction_base() - depth / p::nmp_reduction_divisor() - by_score;
                let next = self.make_null_move(position, ply);
                let window = (-beta, -beta + 1);
                let score = -self.node::<false>(&next, window, reduced, ply + 1, false, &mut Pv::new())?;
                self.undo_move();
                if track!("NMP", score >= beta) {
                    let score = if score.is_decisive() { beta } else { score };
                    if depth < p::nmp_verification_depth() || self.nmp_min_ply > 0 {
                        return Ok(score);
                    }
                    // Verification at high depth, without NMP for a number of plies.
                    self.nmp_min_ply = ply + (p::nmp_verification_r() * reduced.max(1) / 1024) as usize;
                    let verified = self.node::<false>(position, (beta - 1, beta), reduced, ply, false, pv)?;
                    self.nmp_min_ply = 0;
                    if track!("NMP verification", verified >= beta) {
                        return Ok(score);
                    }
                }
            }
        }

        // A static evaluation above beta counts as improving.
        let improving = improving || static_eval.is_some_and(|now| now >= beta);

        // 12. Internal iterative reduction (IIR): without a TT move, the node mattered little so far.
        if track!("IIR", (PV || cut_node) && depth >= p::iir_depth() && tt_move.is_none() && excluded.is_none()) {
            depth -= 1;
        }

        // 13. ProbCut: a good capture that beats beta by a margin in a shallow search will beat beta in a deep one.
        let probcut_beta = beta + p::probcut_margin() - p::probcut_improving() * i32::from(improving);
        if !PV
            && !in_check
            && depth >= p::probcut_depth()
            && excluded.is_none()
            && !beta.is_decisive()
            && !tt_entry.is_some_and(|entry| {
                entry.depth >= depth - p::probcut_tt_depth() && entry.score < probcut_beta && entry.bound.is_some()
            })
        {
            let now = static_eval.expect("not in check");
            let tt_move = tt_move.filter(|&mv| mv.is_noisy() && position.see_ge(mv, probcut_beta - now));
            let mut picker = MovePicker::noisy(tt_move, (probcut_beta - now).max(0));
            while let Some(Picked { mv, .. }) = self.pick(&mut picker, position, &context) {
                let next = self.make_move(position, mv, ply);
                let window = (-probcut_beta, -probcut_beta + 1);
                let mut score = -self.quiescence::<false>(&next, window, ply + 1, false)?;
                if score >= probcut_beta {
                    let reduced = depth - p::probcut_reduction();
                    score = -self.node::<false>(&next, window, reduced, ply + 1, !cut_node, pv)?;
                }
                self.undo_move();
                if track!("ProbCut", score >= probcut_beta) {
                    let raw_eval = self.frame(ply).raw_eval;
                    let (depth, bound) = (depth - p::probcut_reduction() + 1, Some(Bound::Lower));
                    let entry = TtEntry { best: Some(mv), score, raw_eval, depth, bound, tt_pv };
                    self.shared.search.tt.store(key, ply, entry);
                    return Ok(if score.is_decisive() { score } else { score - (probcut_beta - beta) });
                }
            }
        }

        // 14. The move loop.
        let original_alpha = alpha;
        let mut best_move = None;
        let mut count = 0;
        let mut tried_quiets = ArrayVec::<Move, 64>::new();
        let mut tried_noisy = ArrayVec::<Move, 32>::new();
        let mut child_pv = Pv::new();
        let mut picker = MovePicker::new(tt_move);
        while let Some(Picked { mv, history }) = self.pick(&mut picker, position, &context) {
            if Some(mv) == excluded || (is_root && !self.is_root_candidate(mv)) {
                continue;
            }
            count += 1;
            let nodes_before = self.nodes;
            if is_root {
                self.report_current_move(mv, self.pv_index + count);
            }
            let is_noisy = mv.is_noisy();
            let history = if is_noisy { history } else { history / p::history_quiet_divisor() };
            let mut reduction = base_reduction(depth, count);

            if !is_root && !best_score.is_loss() && position.has_non_pawn_material(us) {
                let lmr_depth = (depth - (reduction - history * PLY / p::lmr_history()) / PLY).clamp(0, depth);
                if is_noisy {
                    if picker.stage() == Stage::BadNoisy {
                        // 15. Futility pruning (FP) of bad noisy moves: the evaluation plus a margin stays below alpha.
                        let futility_margin =
                            p::fp_noisy_base() + p::fp_noisy_factor() * depth + history / p::fp_noisy_history();
                        let is_futile = !in_check
                            && depth < p::fp_noisy_depth()
                            && eval + futility_margin <= alpha
                            && !position.gives_check(mv);
                        if track!("FP of noisy moves", is_futile) {
                            break;
                        }
                        // 16. SEE pruning of bad noisy moves: the move loses too much material.
                        let threshold = -p::see_noisy() * depth - history / p::see_noisy_history();
                        if track!("SEE pruning of noisy moves", !position.see_ge(mv, threshold)) {
                            continue;
                        }
                    }
                } else {
                    // 17. Late move pruning (LMP): enough moves were tried, a few more if their history is good. A move
                    // that gives check is searched.
                    let factor_r = if improving { 1024 } else { p::lmp_not_improving_r() };
                    let lmp_threshold = (p::lmp_base() + depth * depth * p::lmp_factor_r() / 1024) * factor_r / 1024;
                    let by_history_r = history * p::lmp_history_r() / 1024;
                    let is_late = track!("LMP", 1024 * (count as i32 - lmp_threshold) > by_history_r);
                    // 18. Futility pruning (FP): quiet moves rarely raise the evaluation this much. Checks may, and
                    // where a side has won anyhow, its quiet moves may lead to mate.
                    let futility_margin = p::fp_base() + p::fp_factor() * lmr_depth + history / p::fp_history();
                    let is_futile = static_eval.is_some_and(|now| now + futility_margin <= alpha);
                    let is_decided = alpha >= Score::centipawns(p::decided_score());
                    let is_futile = track!("FP", lmr_depth < p::fp_depth() && is_futile && !is_decided);
                    if (is_late || is_futile) && !position.gives_check(mv) {
                        picker.skip_quiets();
                        continue;
                    }
                    // 19. History pruning: this move and those after it were bad elsewhere.
                    let is_bad_history = history < -p::history_pruning_factor() * depth;
                    if track!("history pruning", lmr_depth < p::history_pruning_depth() && is_bad_history) {
                        picker.skip_quiets();
                        continue;
                    }
                    // 20. SEE pruning: the move loses material.
                    let threshold = -p::see_quiet() * lmr_depth * lmr_depth;
                    if track!("SEE pruning", !position.see_ge(mv, threshold)) {
                        continue;
                    }
                }
            }

            // 21. Singular extensions: extend the TT move if all other moves are much worse; multicut and negative
            // extensions if they are not.
            let mut extension = 0;
            if !is_root
                && Some(mv) == tt_move
                && excluded.is_none()
                && depth >= p::singular_depth() + i32::from(tt_pv)
                && (ply as i32) < p::singular_ply_limit() * self.root_depth
                && let Some(entry) = tt_entry
                && entry.depth >= depth - p::singular_tt_depth()
                && entry.is_lower_bound()
                && !entry.score.is_decisive()
            {
                let singular_beta = entry.score - depth * p::singular_margin() / 64;
                let reduced = (depth - 1) * p::singular_reduction_r() / 1024;
                let window = (singular_beta - 1, singular_beta);
                self.frame(ply).excluded = Some(mv);
                let score = self.node::<false>(position, window, reduced, ply, cut_node, &mut child_pv)?;
                self.frame(ply).excluded = None;
                if score < singular_beta {
                    let margin = singular_beta - score;
                    extension = 1
                        + i32::from(!PV && margin > p::singular_double())
                        + i32::from(!PV && !is_noisy && margin > p::singular_triple());
                } else if track!("multicut", singular_beta >= beta) {
                    return Ok(if score.is_decisive() { score } else { singular_beta });
                } else if entry.score >= beta {
                    extension = -if PV { p::singular_negative_pv() } else { p::singular_negative() };
                } else if cut_node {
                    extension = -p::singular_negative_cut_node();
                }
                let _ = track!("singular extension", extension);
            }

            let next = self.make_move(position, mv, ply);
            let mut new_depth = depth - 1 + extension;
            let mut score = -Score::INFINITE;

            // 22. Late move reductions (LMR): search less deeply, and again if the move turns out better than expected.
            // After Stockfish 15.1, it leaves out noisy moves of present and former PV nodes, except at cut nodes.
            if depth >= p::lmr_min_depth() && count > 1 && (!is_noisy || !tt_pv || cut_node) {
                if !PV {
                    reduction += p::lmr_not_pv_r();
                }
                if tt_pv {
                    reduction -= p::lmr_tt_pv_r();
                    if tt_entry.is_some_and(|entry| entry.depth >= depth) {
                        reduction -= p::lmr_tt_depth_r();
                    }
                }
                if cut_node {
                    reduction += p::lmr_cut_node_r();
                    if tt_move.is_none() {
                        reduction += p::lmr_no_tt_move_r();
                    }
                }
                if !improving {
                    reduction += p::lmr_not_improving_r();
                }
                if tt_move.is_some_and(Move::is_noisy) {
                    reduction += p::lmr_noisy_tt_move_r();
                }
                if next.in_check() {
                    reduction -= p::lmr_check_r();
                }
                if self.frame(ply + 1).cutoff_count as i32 > p::lmr_cutoffs() {
                    reduction += p::lmr_cutoffs_r();
                }
                if is_noisy {
                    reduction -= p::lmr_noisy_r();
                }
                reduction -= correction.abs() * p::lmr_correction_r();
                reduction -= history * PLY / p::lmr_history();

                let reduced = (new_depth - reduction / PLY).clamp(1, (new_depth + i32::from(PV)).max(1));
                self.frame(ply).reduction = track!("LMR", new_depth - reduced);
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, reduced, ply + 1, true, &mut child_pv)?;
                self.frame(ply).reduction = 0;
                if track!("LMR re-search", score > alpha && reduced < new_depth) {
                    let deeper_margin = p::lmr_deeper_base() + p::lmr_deeper_factor() * new_depth;
                    new_depth += i32::from(score > best_score + deeper_margin);
                    new_depth -= i32::from(score < best_score + p::lmr_shallower_factor() * new_depth);
                    if reduced < new_depth {
                        score = -self.node::<false>(&next, window, new_depth, ply + 1, !cut_node, &mut child_pv)?;
                    }
                    if !is_noisy && score > alpha {
                        let piece_to = self.frame(ply).piece_to;
                        self.thread_data.histories.moves.update_continuation(context.previous, piece_to, bonus(depth));
                    }
                }
            } else if !PV || count > 1 {
                // 23. PVS, zero window: the cheapest proof that a move after the first is no better.
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, new_depth, ply + 1, !cut_node, &mut child_pv)?;
            }
            // 24. PVS, full window: for the first move of a PV node, and for later ones that raise alpha.
            if PV && (count == 1 || score > alpha) {
                score = -self.node::<true>(&next, (-beta, -alpha), new_depth, ply + 1, false, &mut child_pv)?;
            }
            self.undo_move();

            // 25. Best score, alpha, and beta cutoff.
            if is_root {
                let window = (original_alpha, alpha, beta);
                self.update_root_move(mv, count, window, score, self.nodes - nodes_before, &child_pv);
            }
            if score > best_score {
                best_score = score;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        pv.clear();
                        pv.push(mv);
                        pv.extend(child_pv.iter().copied().take(MAX_PLY - 1));
                    }
                    if score >= beta {
                        self.frame(ply).cutoff_count += 1;
                        let _ = track!("moves until a beta cutoff", count as i64);
                        break;
                    }
                    alpha = score;
                    // Alpha-raise reduction: with a better move found, the others matter less.
                    let is_reduced = (p::alpha_raise_min_depth()..=p::alpha_raise_max_depth()).contains(&depth)
                        && !score.is_decisive();
                    if track!("alpha-raise reduction", is_reduced) {
                        depth -= 1;
                    }
                }
            }
            if Some(mv) != best_move {
                let _ = if is_noisy { tried_noisy.try_push(mv) } else { tried_quiets.try_push(mv) };
            }
        }

        // 26. Checkmate and stalemate; in a singular search without another move, a fail low.
        if count == 0 {
            return Ok(match excluded {
                Some(_) => alpha,
                None if in_check => Score::mated_in(ply),
                None => Score::DRAW,
            });
        }

        // 27. History updates: a bonus for the best move, a malus for the moves tried before it.
        let histories = &mut self.thread_data.histories.moves;
        if let Some(mv) = best_move {
            let (bonus, malus) = (bonus(depth), malus(depth));
            if mv.is_noisy() {
                histories.update_noisy(position, mv, bonus);
            } else {
                histories.update_quiet(position, &context, mv, bonus);
                for &other in &tried_quiets {
                    histories.update_quiet(position, &context, other, -malus);
                }
            }
            for &other in &tried_noisy {
                histories.update_noisy(position, other, -malus);
            }
        } else if let Some(mv) = parent.mv.filter(|mv| !mv.is_noisy()) {
            // The node failed low: a bonus for the opponent's last move.
            let factor = 1 + i32::from(depth > p::prior_bonus_depth()) + i32::from(parent.reduction == 0);
            let bonus = factor * bonus(depth) * p::prior_bonus_r() / 1024;
            histories.update_butterfly(!us, parent.attacked, mv, bonus);
            let previous = [2, 3, 5, 7].map(|plies| self.frame_before(ply, plies).piece_to);
            self.thread_data.histories.moves.update_continuation(previous, parent.piece_to, bonus);
        }

        // 28. Fail-high softening: the shallower the search, the less certain a score above beta.
        if best_score >= beta && !best_score.is_decisive() && !alpha.is_decisive() {
            best_score = Score::centipawns((best_score.value() * depth + beta.value()) / (depth + 1));
        }
        best_score = best_score.min(max_score);
        let tt_pv = tt_pv || (best_score <= original_alpha && parent.tt_pv);

        // 29. Store the result in the TT, and the error of the static evaluation in the correction history.
        // At the root the result of some of the moves says nothing of the position.
        let is_partial = is_root && (self.pv_index > 0 || !self.shared.search.search_moves.is_empty());
        if excluded.is_none() && !is_partial {
            let bound = Bound::of(best_score, original_alpha, beta);
            let raw_eval = self.frame(ply).raw_eval.filter(|_| !in_check);
            let entry = TtEntry { best: best_move, score: best_score, raw_eval, depth, bound: Some(bound), tt_pv };
            self.shared.search.tt.store(key, ply, entry);
            if self.nodes - first_node >= self.least_nodes {
                self.sink.searched(position, &entry);
            }
            if let Some(static_eval) = static_eval
                && best_move.is_none_or(|mv| !mv.is_noisy())
                && !best_score.is_decisive()
                && !(bound == Bound::Lower && best_score <= static_eval)
                && !(bound == Bound::Upper && best_score >= static_eval)
            {
                let (last_moves, error) = (self.last_moves(ply), best_score - static_eval);
                self.thread_data.histories.corrections.update(position, last_moves, depth, error);
            }
        }
        Ok(best_score)
    }

    /// Probes the tablebases. A win is a lower bound, since it may be a mate, and a loss an upper bound.
    fn probe_tablebases(&mut self, position: &Position, depth: i32, ply: usize) -> Option<(Score, Bound)> {
        let SearchRequest { tablebases, probing, .. } = self.shared.search;
        let tablebases = tablebases.filter(|_| self.shared.probes)?;
        let pieces = position.occupied().len();
        let largest = tablebases.max_pieces() as u32;
        if pieces > probing.pieces.min(largest) || (pieces == largest && depth < probing.depth as i32) {
            return None;
        }
        let wdl = tablebases.probe_wdl(position)?;
        // A table that is not in memory is slow to read: the clock cannot wait for its turn.
        self.shared.should_stop(self.nodes, true);
        self.shared.counters[self.index].tablebase_hits.fetch_add(1, Relaxed);
        let win = Score::tb_win_in(ply);
        Some(match wdl {
            Wdl::Win => (win, Bound::Lower),
            Wdl::Loss => (-win, Bound::Upper),
            Wdl::CursedWin if !probing.fifty_move_rule => (win, Bound::Lower),
            Wdl::BlessedLoss if !probing.fifty_move_rule => (-win, Bound::Upper),
            _ => (Score::DRAW, Bound::Exact),
        })
    }
}
