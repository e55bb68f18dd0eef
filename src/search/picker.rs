use super::history::{Context, MoveHistory, victim};
use super::parameters as p;
use crate::board::{MAX_MOVES, MoveList, Position, SEE_VALUES};
use crate::tables::{bishop_attacks, knight_attacks, pawn_attacks, rook_attacks};
use crate::types::{Bitboard, Move, PieceType};
use arrayvec::ArrayVec;
use std::cell::Cell;

/// A move that is handed out.
#[derive(Clone, Copy)]
pub struct Picked {
    pub mv: Move,
    /// What the histories said of it when it was listed: [`MoveHistory::quiet`] or [`MoveHistory::noisy`].
    pub history: i32,
}

/// A move and how promising it is.
#[derive(Clone, Copy)]
struct Scored {
    picked: Picked,
    score: i32,
}

/// What the picker hands out next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The move of the transposition table.
    TtMove,
    /// Noisy moves are to be listed.
    ListNoisy,
    /// Noisy moves that lose nothing.
    GoodNoisy,
    /// Quiet moves are to be listed.
    ListQuiet,
    /// Quiet moves, or in quiescence nothing.
    Quiet,
    /// Noisy moves that lose something.
    BadNoisy,
}

/// Hands out the legal moves of a position, the most promising first: the move of the transposition table, captures that lose nothing, quiet moves, the other
/// captures. Each kind is listed when the one before is used up, and what a capture wins is looked at only when its turn comes.
pub struct MovePicker {
    stage: Stage,
    tt_move: Option<Move>,
    /// What a noisy move must gain to be good; none: that depends on how promising it is.
    threshold: Option<i32>,
    skip_quiets: bool,
    /// First the bad noisy moves, where others were that have been handed out; from `used` on those that have not.
    moves: ArrayVec<Scored, MAX_MOVES>,
    used: usize,
    bad: usize,
}

impl MovePicker {
    /// All moves. The table's move must be legal.
    pub fn new(tt_move: Option<Move>) -> Self {
        Self {
            stage: Stage::TtMove,
            tt_move,
            threshold: None,
            skip_quiets: false,
            moves: ArrayVec::new(),
            used: 0,
            bad: 0,
        }
    }

    /// Only noisy moves that gain at least so many centipawns.
    pub fn noisy(tt_move: Option<Move>, threshold: i32) -> Self {
        Self { threshold: Some(threshold), skip_quiets: true, ..Self::new(tt_move) }
    }

    /// From now on, no quiet moves.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Where the last move came from.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The next move.
    pub fn next(&mut self, position: &Position, histories: &MoveHistory, context: &Context) -> Option<Picked> {
        if self.stage == Stage::TtMove {
            self.stage = Stage::ListNoisy;
            if let Some(mv) = self.tt_move {
                let history = match mv.is_noisy() {
                    true => histories.noisy(position, mv),
                    false => histories.quiets(position, context).judge(mv),
                };
                return Some(Picked { mv, history });
            }
        }
        if self.stage == Stage::ListNoisy {
            self.list_noisy(position, histories);
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
            self.stage = Stage::ListQuiet;
        }
        if self.stage == Stage::ListQuiet {
            if !self.skip_quiets {
                self.list_quiets(position, histories, context);
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
            self.used = 0;
        }
        let next = self.moves[..self.bad].get(self.used)?;
        self.used += 1;
        Some(next.picked)
    }

    /// Takes the best of what is left: most nodes look at few moves, so sorting all would cost more. The slice of cells lets two of them be swapped without an
    /// index (from the talk "Top 10 Engine in Rust").
    #[inline]
    fn select(&mut self) -> Option<Scored> {
        let left = Cell::from_mut(&mut self.moves[self.used..]).as_slice_of_cells();
        let first = left.first()?;
        // The greatest of numbers is found without branches; of equal scores the first.
        const PLACES: i64 = MAX_MOVES.next_power_of_two() as i64;
        let rank = |(i, cell): (usize, &Cell<Scored>)| i64::from(cell.get().score) * PLACES + PLACES - 1 - i as i64;
        let best = PLACES - 1 - left.iter().enumerate().map(rank).max()?.rem_euclid(PLACES);
        first.swap(&left[best as usize]);
        self.used += 1;
        Some(first.get())
    }

    fn list_noisy(&mut self, position: &Position, histories: &MoveHistory) {
        let mut list = MoveList::new();
        position.list_noisy_moves(&mut list);
        for &mv in list.iter().filter(|&&mv| Some(mv) != self.tt_move) {
            let taken = if mv.is_capture() { SEE_VALUES[victim(position, mv)] } else { 0 };
            let promoted = mv.promotion().map_or(0, |kind| SEE_VALUES[kind]);
            let history = histories.noisy(position, mv);
            self.moves.push(Scored { picked: Picked { mv, history }, score: 20 * (taken + promoted) + history });
        }
    }

    fn list_quiets(&mut self, position: &Position, histories: &MoveHistory, context: &Context) {
        let mut list = MoveList::new();
        position.list_quiet_moves(&mut list);
        if list.is_empty() {
            return;
        }
        let side = position.side_to_move();
        let king = position.king(!side);
        let occupied = position.occupied();
        let (straight, diagonal) = (rook_attacks(king, occupied), bishop_attacks(king, occupied));
        // From where each type of piece gives check.
        let checks: [Bitboard; 6] =
            [pawn_attacks(!side, king), knight_attacks(king), diagonal, straight, straight | diagonal, Bitboard::EMPTY];
        // What each type of piece had better flee from, and not go to.
        let by_pawns = position.attacked_by(!side, PieceType::Pawn);
        let by_minors =
            by_pawns | position.attacked_by(!side, PieceType::Knight) | position.attacked_by(!side, PieceType::Bishop);
        let by_rooks = by_minors | position.attacked_by(!side, PieceType::Rook);
        let quiets = histories.quiets(position, context);
        let unsafe_for = [Bitboard::EMPTY, by_pawns, by_pawns, by_minors, by_rooks, Bitboard::EMPTY];
        let [escape, enter] =
            [p::order_escape(), p::order_enter()].map(|factor| SEE_VALUES.map(|value| factor * (value / 100) / 4));
        for &mv in list.iter().filter(|&&mv| Some(mv) != self.tt_move) {
            let kind = position.piece_on(mv.from()).expect("a legal move moves a piece").kind();
            let history = quiets.judge(mv);
            let mut score = history;
            if unsafe_for[kind].has(mv.from()) {
                score += escape[kind];
            }
            if unsafe_for[kind].has(mv.to()) {
                score -= enter[kind];
            } else if checks[kind].has(mv.to()) {
                score += p::order_check();
            }
            self.moves.push(Scored { picked: Picked { mv, history }, score });
        }
    }
}
