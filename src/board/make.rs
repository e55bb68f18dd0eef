use super::Position;
use crate::tables::{black_to_move_key, castling_key, en_passant_key, pawn_attacks, piece_key};
use crate::types::{Color, Move, MoveKind, Piece, PieceType, Rank, Square, Wing};

/// Hears which pieces a move puts on the board and takes from it, in the order in which it happens.
pub trait Observer {
    /// `piece` now stands on `square`.
    fn put(&mut self, piece: Piece, square: Square);
    /// `piece` no longer stands on `square`.
    fn take(&mut self, piece: Piece, square: Square);
}

/// Nobody listens.
impl Observer for () {
    fn put(&mut self, _: Piece, _: Square) {}
    fn take(&mut self, _: Piece, _: Square) {}
}

impl Position {
    /// The position after a legal move.
    #[inline]
    pub fn make(&self, mv: Move) -> Self {
        self.make_observed(mv, &mut ())
    }

    /// The position after a legal move; `observer` hears what changes on the board.
    pub fn make_observed(&self, mv: Move, observer: &mut impl Observer) -> Self {
        let mut next = self.clone();
        let (us, them) = (self.side, !self.side);
        let (from, to) = (mv.from(), mv.to());
        let piece = self.squares[from].expect("a legal move starts at a piece");

        next.clear_en_passant();
        next.halfmove_clock = self.halfmove_clock.saturating_add(1);
        match mv.kind() {
            MoveKind::Castle => {
                let rook = Piece::new(us, PieceType::Rook);
                let (king_to, rook_to) = castling_targets(mv);
                next.take(piece, from, observer);
                next.take(rook, to, observer);
                next.put(piece, king_to, observer);
                next.put(rook, rook_to, observer);
            }
            kind => {
                if mv.is_capture() {
                    let square = if kind == MoveKind::EnPassant { to.forward(them) } else { to };
                    let victim = self.squares[square].expect("a legal capture takes a piece");
                    next.take(victim, square, observer);
                    next.revoke_rook(them, square);
                    next.halfmove_clock = 0;
                }
                next.take(piece, from, observer);
                next.put(mv.promotion().map_or(piece, |kind| Piece::new(us, kind)), to, observer);
            }
        }
        match piece.kind() {
            PieceType::King => {
                for wing in Wing::ALL {
                    next.revoke(us, wing);
                }
            }
            PieceType::Rook => next.revoke_rook(us, from),
            PieceType::Pawn => next.halfmove_clock = 0,
            _ => {}
        }

        next.side = them;
        next.key ^= black_to_move_key();
        next.fullmove_number = self.fullmove_number.saturating_add(us as u16);
        next.update_checkers();
        if mv.kind() == MoveKind::DoublePush {
            next.offer_en_passant(to.forward(them));
        }
        debug_assert_eq!(next.key, next.compute_key());
        next
    }

    /// The position after passing, which is not a legal move of chess. Must not be called in check.
    pub fn make_null(&self) -> Self {
        debug_assert!(!self.in_check());
        let mut next = self.clone();
        next.clear_en_passant();
        next.side = !self.side;
        next.key ^= black_to_move_key();
        next.halfmove_clock = self.halfmove_clock.saturating_add(1);
        next.fullmove_number = self.fullmove_number.saturating_add(self.side as u16);
        next
    }

    #[inline]
    pub(super) fn put(&mut self, piece: Piece, square: Square, observer: &mut impl Observer) {
        self.kinds[piece.kind()] |= square.into();
        self.colors[piece.color()] |= square.into();
        self.squares[square] = Some(piece);
        self.key ^= piece_key(piece, square);
        observer.put(piece, square);
    }

    #[inline]
    fn take(&mut self, piece: Piece, square: Square, observer: &mut impl Observer) {
        self.kinds[piece.kind()] ^= square.into();
        self.colors[piece.color()] ^= square.into();
        self.squares[square] = None;
        self.key ^= piece_key(piece, square);
        observer.take(piece, square);
    }

    fn revoke(&mut self, color: Color, wing: Wing) {
        if let Some(file) = self.castling.rook(color, wing) {
            self.castling.revoke(color, wing);
            self.key ^= castling_key(color, file);
        }
    }

    /// A rook of `color` has left its square, or was taken there.
    #[inline]
    fn revoke_rook(&mut self, color: Color, square: Square) {
        if square.rank() != Rank::First.relative(color) {
            return;
        }
        for wing in Wing::ALL {
            if self.castling.rook(color, wing) == Some(square.file()) {
                self.revoke(color, wing);
            }
        }
    }

    fn clear_en_passant(&mut self) {
        if let Some(square) = self.en_passant.take() {
            self.key ^= en_passant_key(square.file());
        }
    }

    pub(super) fn update_checkers(&mut self) {
        self.checkers = self.attackers(self.king(self.side), self.occupied()) & self.colors[!self.side];
    }

    /// The enemy's pawn has just passed over `target`: keep that if it can be taken legally.
    pub(super) fn offer_en_passant(&mut self, target: Square) {
        let capturers = pawn_attacks(!self.side, target) & self.pieces(self.side, PieceType::Pawn);
        if capturers.into_iter().any(|from| self.is_legal_en_passant(from, target)) {
            self.en_passant = Some(target);
            self.key ^= en_passant_key(target.file());
        }
    }
}

/// Where king and rook end after a castling move.
pub(super) fn castling_targets(mv: Move) -> (Square, Square) {
    let (wing, rank) = (mv.wing(), mv.from().rank());
    (Square::new(wing.king_target(), rank), Square::new(wing.rook_target(), rank))
}
