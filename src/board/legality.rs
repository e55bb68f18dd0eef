//! Legality of a single move, and whether it gives check.

use super::make::castling_targets;
use super::{Ids, Position};
use crate::tables::{between, line, pseudo_attacks};
use crate::types::{Bitboard, Move, MoveKind, Piece, PieceType, Rank, Square};

impl Position {
    /// Returns whether a move is among [`Position::moves`], without generating them. Moves from the transposition table
    /// need this check: they may belong to other positions.
    pub fn is_legal(&self, mv: Move) -> bool {
        let (us, them) = (self.side, !self.side);
        let (from, to) = (mv.from(), mv.to());
        let Some(place) = self.board[from].filter(|place| place.color() == us) else { return false };
        let checkers = self.checkers();
        match mv.kind() {
            MoveKind::Castle => {
                return place.kind() == PieceType::King
                    && checkers.is_empty()
                    && to.rank() == from.rank()
                    && self.castling.rook(us, mv.castling_side()) == Some(to.file())
                    && self.is_legal_castle(mv, self.attacked(them), self.pinned(us));
            }
            MoveKind::EnPassant => {
                return place.kind() == PieceType::Pawn
                    && self.en_passant == Some(to)
                    && self.attacks[us].0[to] & place.bit() != 0
                    && self.is_legal_en_passant(from, to);
            }
            _ => {}
        }
        let target = self.board[to];
        if mv.is_capture() != target.is_some() || target.is_some_and(|victim| victim.color() == us) {
            return false;
        }
        let is_promotion = place.kind() == PieceType::Pawn && from.rank() == Rank::Seventh.relative(us);
        if mv.promotion().is_some() != is_promotion {
            return false;
        }
        if place.kind() == PieceType::King {
            return mv.kind() != MoveKind::DoublePush && self.king_targets(checkers, self.attacked(them)).has(to);
        }
        let reaches = if mv.kind() == MoveKind::DoublePush {
            let passed = from.forward(us);
            place.kind() == PieceType::Pawn
                && from.rank() == Rank::Second.relative(us)
                && passed.forward(us) == to
                && self.board[passed].is_none()
        } else if place.kind() == PieceType::Pawn && target.is_none() {
            from.forward(us) == to
        } else {
            self.attacks[us].0[to] & place.bit() != 0
        };
        reaches
            && !checkers.more_than_one()
            && self.check_mask(checkers).has(to)
            && (!self.may_be_pinned(from) || !self.pinned(us).has(from) || line(self.king(us), from).has(to))
    }

    /// Returns whether an enemy slider attacks the square of one of our pieces: otherwise the piece cannot be pinned.
    #[inline]
    fn may_be_pinned(&self, square: Square) -> bool {
        self.attacks[!self.side].0[square] & self.slider_ids(!self.side) != 0
    }

    /// Returns whether a legal move gives check, directly or by discovery.
    pub fn gives_check(&self, mv: Move) -> bool {
        let (us, them) = (self.side, !self.side);
        let king = self.king(them);
        let (from, to) = (mv.from(), mv.to());
        if matches!(mv.kind(), MoveKind::Castle | MoveKind::EnPassant) {
            return self.gives_check_specially(mv);
        }
        let mover = self.place(from).piece();
        let piece = mv.promotion().map_or(mover, |kind| Piece::new(us, kind));
        let occupied = (self.occupied() - from.into()) | to.into();
        if pseudo_attacks(piece, to).has(king) && !between(to, king).intersects(occupied) {
            return true;
        }
        // A slider that attacks the vacated square may attack the king through it. Mostly king and square are not on
        // one line, which is cheap to see.
        let sliders = self.attacks[us].0[from] & self.slider_ids(us);
        let discovers = |id: usize| {
            let path = between(king, self.squares[us][id]);
            path.has(from) && !path.intersects(occupied)
        };
        !line(king, from).is_empty() && Ids(sliders).any(discovers)
    }

    /// Does [`Position::gives_check`] for castling and en passant captures, which empty two squares.
    #[inline(never)]
    fn gives_check_specially(&self, mv: Move) -> bool {
        let (us, them) = (self.side, !self.side);
        let king = self.king(them);
        let (from, to) = (mv.from(), mv.to());
        let mut vacated = Bitboard::from(from);
        let (piece, target) = if mv.kind() == MoveKind::Castle {
            vacated |= to.into();
            (self.place(to).piece(), castling_targets(mv).1)
        } else {
            vacated |= to.forward(them).into();
            (self.place(from).piece(), to)
        };
        let mut occupied = (self.occupied() - vacated) | target.into();
        if mv.kind() == MoveKind::Castle {
            occupied |= castling_targets(mv).0.into();
        }
        let discovers = |sniper: Square| {
            let path = between(king, sniper);
            path.intersects(vacated) && !path.intersects(occupied)
        };
        (pseudo_attacks(piece, target).has(king) && !between(target, king).intersects(occupied))
            || (self.snipers(king, us) - vacated).into_iter().any(discovers)
    }
}
