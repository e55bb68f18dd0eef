//! Quiescence search (QS): noisy moves, at first quiet checks as well, and all moves in check, until the position is
//! quiet.

use super::parameters as p;
use super::picker::{MovePicker, Picked};
use super::statistics::track;
use super::transposition::TtEntry;
use super::worker::{Stopped, Worker};
use crate::board::Position;
use crate::types::{Bitboard, Bound, Score};

impl Worker<'_> {
    /// Returns the fail-soft score of a position once the noisy moves are played out. The side to move may also stand
    /// pat. `with_checks` adds its quiet moves that give check, as Stockfish 15.1 does: without them, a search
    /// that passes the move or reduces it to nothing does not see a threat of mate.
    pub fn quiescence<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, beta): (Score, Score),
        ply: usize,
        with_checks: bool,
    ) -> Result<Score, Stopped> {
        // 1. Limits, draws by rule, upcoming repetitions, and the maximum ply.
        self.count_node(ply)?;
        if let Some(score) = self.terminal_score(position, &mut alpha, beta, ply) {
            return Ok(score);
        }
        let in_check = position.in_check();

        // 2. TT cutoff.
        let key = position.key();
        let tt_entry = self.probe_tt(position, ply);
        if let Some(entry) = tt_entry
            && !PV
            && track!("QS: TT cutoff", entry.is_cutoff(alpha, beta))
        {
            return Ok(entry.score);
        }
        let tt_pv = PV || tt_entry.is_some_and(|entry| entry.tt_pv);

        // 3. Stand pat: no side has to capture, so the static evaluation is a lower bound.
        let mut best_score = -Score::INFINITE;
        let mut raw_eval = None;
        if !in_check {
            let raw = tt_entry
                .and_then(|entry| entry.raw_eval)
                .unwrap_or_else(|| self.thread_data.evaluator.evaluate(position));
            raw_eval = Some(raw);
            let correction = self.thread_data.histories.corrections.get(position, self.last_moves(ply));
            best_score = self.corrected_eval(position, raw, correction);
            best_score = tt_entry.map_or(best_score, |entry| entry.refine(best_score));
            if track!("QS: stand pat", best_score >= beta) {
                if tt_entry.is_none() {
                    let (score, bound) = (best_score, Some(Bound::Lower));
                    let entry = TtEntry { best: None, score, raw_eval, depth: 0, bound, tt_pv };
                    self.shared.search.tt.store(key, ply, entry);
                }
                return Ok(soften(best_score, beta));
            }
            alpha = alpha.max(best_score);
        }

        // 4. The move loop: noisy moves that lose little by SEE, perhaps quiet checks that lose nothing; in check all
        // moves, and after the first ones only noisy ones if a move avoids a loss.
        let attacked =
            if in_check || with_checks { position.attacked(!position.side_to_move()) } else { Bitboard::EMPTY };
        let context = self.history_context(ply, attacked);
        let tt_move = tt_entry.and_then(|entry| entry.best).filter(|mv| in_check || mv.is_noisy());
        let mut picker = match in_check {
            true => MovePicker::new(tt_move),
            false if with_checks => MovePicker::noisy_and_checks(tt_move, -p::qs_see()),
            false => MovePicker::noisy(tt_move, -p::qs_see()),
        };
        let mut count = 0;
        let mut best_move = None;
        while let Some(Picked { mv, .. }) = self.pick(&mut picker, position, &context) {
            count += 1;
            if !best_score.is_loss() {
                if in_check {
                    if count > p::qs_evasions() {
                        picker.skip_quiets();
                        if track!("QS: quiet evasions", !mv.is_noisy()) {
                            continue;
                        }
                    }
                } else {
                    // 5. Late move pruning (LMP): after a few moves, only recaptures and checks.
                    let is_recapture = self.frame_before(ply, 1).mv.is_some_and(|last| last.to() == mv.to());
                    let is_late = count > p::qs_moves() && !is_recapture && !position.gives_check(mv);
                    if track!("QS: LMP", is_late) {
                        continue;
                    }
                }
            }
            let next = self.make_move(position, mv, ply);
            let score = -self.quiescence::<PV>(&next, (-beta, -alpha), ply + 1, false)?;
            self.undo_move();
            if score > best_score {
                best_score = score;
                if score > alpha {
                    best_move = Some(mv);
                    alpha = score;
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        // 6. Checkmate.
        if in_check && count == 0 {
            return Ok(Score::mated_in(ply));
        }
        if best_score >= beta {
            best_score = soften(best_score, beta);
        }

        // 7. Store the result in the TT.
        let bound = Some(if best_score >= beta { Bound::Lower } else { Bound::Upper });
        let entry = TtEntry { best: best_move, score: best_score, raw_eval, depth: 0, bound, tt_pv };
        self.shared.search.tt.store(key, ply, entry);
        Ok(best_score)
    }
}

/// Moves a score that fails high closer to beta, since a search without depth is uncertain.
fn soften(score: Score, beta: Score) -> Score {
    if score.is_decisive() { score } else { score - (score - beta) * p::qs_fail_high_r() / 1024 }
}
