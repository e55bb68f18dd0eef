//! Legality of a single move, and whether it gives check.

use super::Position;
use super::make::castling_targets;
use crate::tables::{attacks, between, line};
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
            && self.king(them) != to
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
        let mover = self.place(from).piece();
        let mut occupied = self.occupied() - from.into();
        // Sliders may give check through vacated squares; the moved or promoted piece may give check itself.
        let mut vacated = Bitboard::from(from);
        let attacked = match mv.kind() {
            MoveKind::Castle => {
                let (king_to, rook_to) = castling_targets(mv);
                occupied = (occupied - to.into()) | king_to.into() | rook_to.into();
                vacated |= to.into();
                attacks(self.place(to).piece(), rook_to, occupied)
            }
            kind => {
                occupied |= to.into();
                if kind == MoveKind::EnPassant {
                    vacated |= to.forward(them).into();
                    occupied = occupied - to.forward(them).into();
                }
                let piece = mv.promotion().map_or(mover, |kind| Piece::new(us, kind));
                attacks(piece, to, occupied)
            }
        };
        let discovers = |sniper: Square| {
            let path = between(king, sniper);
            path.intersects(vacated) && !path.intersects(occupied)
        };
        attacked.has(king) || (self.snipers(king, us) - vacated).into_iter().any(discovers)
    }
}
