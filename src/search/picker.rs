//! The move picker: hands out the moves of a node in stages, the most promising first.

use super::history::{HistoryContext, MoveHistory, victim};
use super::parameters as p;
use crate::board::{MAX_MOVES, MoveList, Position, SEE_VALUES};
use crate::tables::{bishop_attacks, knight_attacks, pawn_attacks, rook_attacks};
use crate::types::{Bitboard, Move, PieceType};
use arrayvec::ArrayVec;
use std::cell::Cell;

/// A move from the picker.
#[derive(Clone, Copy)]
pub struct Picked {
    pub mv: Move,
    /// The move's history when it was scored: [`MoveHistory::quiet`] or [`MoveHistory::noisy`].
    pub history: i32,
}

/// A move and its ordering score.
#[derive(Clone, Copy)]
struct Scored {
    picked: Picked,
    score: i32,
}

/// The stages of the picker, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    TtMove,
    GenerateNoisy,
    /// Noisy moves with a sufficient static exchange evaluation (SEE).
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    /// The other noisy moves.
    BadNoisy,
}

/// Hands out the legal moves of a position: the TT move, good noisy moves, quiet moves, bad noisy moves.
///
/// Each kind is generated when the one before is used up. The SEE of a noisy move is computed when its turn comes.
pub struct MovePicker {
    stage: Stage,
    tt_move: Option<Move>,
    /// The SEE threshold of good noisy moves; if `None`, it depends on the move's score.
    threshold: Option<i32>,
    skip_quiets: bool,
    /// Bad noisy moves in `..bad`, stale ones in `bad..next`, moves to come in `next..`. In the last stage `next` counts
    /// the bad noisy moves that were handed out.
    moves: ArrayVec<Scored, MAX_MOVES>,
    next: usize,
    bad: usize,
}

impl MovePicker {
    /// Creates a picker of all legal moves. The TT move must be legal.
    pub fn new(tt_move: Option<Move>) -> Self {
        Self {
            stage: Stage::TtMove,
            tt_move,
            threshold: None,
            skip_quiets: false,
            moves: ArrayVec::new(),
            next: 0,
            bad: 0,
        }
    }

    /// Creates a picker of noisy moves whose SEE is at least `threshold` centipawns. The TT move is handed out unseen.
    pub fn noisy(tt_move: Option<Move>, threshold: i32) -> Self {
        Self { threshold: Some(threshold), skip_quiets: true, ..Self::new(tt_move) }
    }

    /// Leaves out the quiet moves that are still to come.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Returns the stage of the last move.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the next move.
    pub fn next(&mut self, position: &Position, histories: &MoveHistory, context: &HistoryContext) -> Option<Picked> {
        if self.stage == Stage::TtMove {
            self.stage = Stage::GenerateNoisy;
            if let Some(mv) = self.tt_move {
                let history = match mv.is_noisy() {
                    true => histories.noisy(position, mv),
                    false => histories.quiet(position, context).score(mv),
                };
                return Some(Picked { mv, history });
            }
        }
        if self.stage == Stage::GenerateNoisy {
            self.generate_noisy(position, histories);
            self.stage = Stage::GoodNoisy;
        }
        if self.stage == Stage::GoodNoisy {
            while let Some(scored) = self.select() {
                let threshold = self.threshold.unwrap_or(-scored.score / p::order_good_noisy());
                if position.see_ge(scored.picked.mv, threshold) {
                    return Some(scored.picked);
                }
                self.moves[self.bad] = scored;
                self.bad += 1;
            }
            if self.threshold.is_some() {
                return None;
            }
            self.stage = Stage::GenerateQuiet;
        }
        if self.stage == Stage::GenerateQuiet {
            if !self.skip_quiets {
                self.generate_quiets(position, histories, context);
            }
            self.stage = Stage::Quiet;
        }
        if self.stage == Stage::Quiet {
            if !self.skip_quiets
                && let Some(Scored { picked, .. }) = self.select()
            {
                return Some(picked);
            }
            self.stage = Stage::BadNoisy;
            self.next = 0;
        }
        let next = self.moves[..self.bad].get(self.next)?;
        self.next += 1;
        Some(next.picked)
    }

    /// Moves the best of the moves to come to the front and takes it; of equal ones the first.
    ///
    /// Most nodes look at few moves, so sorting all would cost more. A slice of cells lets two elements be swapped by
    /// reference, without an index and its bounds check (from the talk "Top 10 Engine in Rust").
    #[inline]
    fn select(&mut self) -> Option<Scored> {
        let remaining = Cell::from_mut(self.moves.get_mut(self.next..)?).as_slice_of_cells();
        let (first, rest) = remaining.split_first()?;
        let (mut best, mut best_score) = (first, first.get().score);
        for cell in rest {
            let score = cell.get().score;
            // Written so that the compiler selects without a branch, which would be mispredicted.
            best = if score > best_score { cell } else { best };
            best_score = best_score.max(score);
        }
        first.swap(best);
        self.next += 1;
        Some(first.get())
    }

    fn generate_noisy(&mut self, position: &Position, histories: &MoveHistory) {
        let mut list = MoveList::new();
        position.list_noisy_moves(&mut list);
        for &mv in list.iter().filter(|&&mv| Some(mv) != self.tt_move) {
            let captured = if mv.is_capture() { SEE_VALUES[victim(position, mv)] } else { 0 };
            let promoted = mv.promotion().map_or(0, |kind| SEE_VALUES[kind]);
            let history = histories.noisy(position, mv);
            let score = p::order_mvv() * (captured + promoted) + history;
            self.moves.push(Scored { picked: Picked { mv, history }, score });
        }
    }

    fn generate_quiets(&mut self, position: &Position, histories: &MoveHistory, context: &HistoryContext) {
        let mut list = MoveList::new();
        position.list_quiet_moves(&mut list);
        if list.is_empty() {
            return;
        }
        let side = position.side_to_move();
        let king = position.king(!side);
        let occupied = position.occupied();
        let (orthogonal, diagonal) = (rook_attacks(king, occupied), bishop_attacks(king, occupied));
        // From where each type of piece gives check.
        let checks: [Bitboard; 6] = [
            pawn_attacks(!side, king),
            knight_attacks(king),
            diagonal,
            orthogonal,
            orthogonal | diagonal,
            Bitboard::EMPTY,
        ];
        // The squares where a piece of lesser value attacks each type of piece.
        let by_pawns = position.attacked_by(!side, PieceType::Pawn);
        let by_minors =
            by_pawns | position.attacked_by(!side, PieceType::Knight) | position.attacked_by(!side, PieceType::Bishop);
        let by_rooks = by_minors | position.attacked_by(!side, PieceType::Rook);
        let threatened = [Bitboard::EMPTY, by_pawns, by_pawns, by_minors, by_rooks, Bitboard::EMPTY];
        let [escape, enter] =
            [p::order_escape(), p::order_enter()].map(|factor| SEE_VALUES.map(|value| factor * (value / 100) / 4));
        let quiet_history = histories.quiet(position, context);
        for &mv in list.iter().filter(|&&mv| Some(mv) != self.tt_move) {
            let kind = position.piece_on(mv.from()).expect("a legal move moves a piece").kind();
            let history = quiet_history.score(mv);
            let mut score = history;
            if threatened[kind].has(mv.from()) {
                score += escape[kind];
            }
            if threatened[kind].has(mv.to()) {
                score -= enter[kind];
            } else if checks[kind].has(mv.to()) {
                score += p::order_check();
            }
            self.moves.push(Scored { picked: Picked { mv, history }, score });
        }
    }
}
