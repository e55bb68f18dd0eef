//! Making moves.

use super::{Ids, Place, Position};
use crate::simd::native;
use crate::tables::{attacks, black_to_move_key, castling_key, en_passant_key, pawn_attacks, piece_key};
use crate::types::{Bitboard, CastlingSide, Color, Move, MoveKind, PieceType, Rank, Square};

impl Position {
    /// Returns the position after a legal move. See [`Position::play`].
    #[inline]
    #[must_use]
    pub fn make(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv);
        debug_assert!(next.is_consistent(), "{mv:?} on {}", self.fen(true));
        next
    }

    /// Plays a legal move. Other moves panic or leave a meaningless position.
    ///
    /// The attack tables are updated incrementally. The attacks that change are those of the moved piece, those of the
    /// captured piece, and those of sliders that attack a square which becomes empty or occupied. The bits of these
    /// pieces are cleared on all squares at once, and the attacks of those still on the board are set again.
    pub fn play(&mut self, mv: Move) {
        let (us, them) = (self.side, !self.side);
        let (from, to) = (mv.from(), mv.to());
        let mover = self.place(from);

        self.clear_en_passant();
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        self.fullmove_number = self.fullmove_number.saturating_add(us as u16);
        self.side = them;
        self.keys.toggle_state(black_to_move_key());

        let mut changed = [0; 2];
        self.add_sliders_attacking(from, &mut changed);
        changed[us] |= mover.bit();
        let mut captured = 0;
        match mv.kind() {
            MoveKind::Castle => {
                let rook = self.place(to);
                let (king_to, rook_to) = castling_targets(mv);
                for square in [to, king_to, rook_to] {
                    self.add_sliders_attacking(square, &mut changed);
                }
                changed[us] |= rook.bit();
                // Both are removed first: in Chess960 one may end on the other's square.
                self.remove_piece(mover, from);
                self.remove_piece(rook, to);
                self.add_piece(mover, king_to);
                self.add_piece(rook, rook_to);
            }
            kind => {
                // The target square becomes occupied, unless a capture leaves it so.
                let mut filled = Some(to);
                if mv.is_capture() {
                    let mut square = to;
                    if kind == MoveKind::EnPassant {
                        square = to.forward(them);
                        self.add_sliders_attacking(square, &mut changed);
                    } else {
                        filled = None;
                    }
                    let victim = self.place(square);
                    captured = victim.bit();
                    self.remove_piece(victim, square);
                    self.revoke_castling_of_rook(them, square);
                    self.halfmove_clock = 0;
                }
                if let Some(to) = filled {
                    self.add_sliders_attacking(to, &mut changed);
                }
                match mv.promotion() {
                    None => self.move_piece(mover, from, to),
                    Some(kind) => {
                        self.remove_piece(mover, from);
                        self.add_piece(mover.promoted(kind), to);
                    }
                }
            }
        }
        match mover.kind() {
            PieceType::King => {
                for side in CastlingSide::ALL {
                    self.revoke_castling(us, side);
                }
            }
            PieceType::Rook => self.revoke_castling_of_rook(us, from),
            PieceType::Pawn => self.halfmove_clock = 0,
            _ => {}
        }

        self.update_attacks(us, changed[us], 0);
        self.update_attacks(them, changed[them] & !captured, captured);
        if mv.kind() == MoveKind::DoublePush {
            self.set_en_passant(to.forward(them));
        }
    }

    /// Recomputes the attacks of the `changed` ids, and clears those of the `captured` ids.
    #[inline]
    fn update_attacks(&mut self, color: Color, changed: u16, captured: u16) {
        let occupied = self.occupied();
        // The compiler keeps a local copy in registers.
        let mut table = self.attacks[color];
        native::clear(&mut table, changed | captured);
        for id in Ids(changed) {
            let square = self.squares[color][id];
            let attacked = attacks(self.place(square).piece(), square, occupied);
            native::set(&mut table, attacked.0, 1 << id);
        }
        self.attacks[color] = table;
    }

    /// Returns an approximate key of the position after a move, to prefetch its transposition table entry. The key is
    /// wrong if the move castles, promotes or captures en passant, or if castling rights or the en passant square
    /// change.
    #[inline]
    pub fn key_after(&self, mv: Move) -> u64 {
        let (from, to) = (mv.from(), mv.to());
        let key = |square: Square| self.board[square].map_or(0, |place| piece_key(place.piece(), square));
        let moved = self.board[from].map_or(0, |place| piece_key(place.piece(), to));
        self.key() ^ key(from) ^ key(to) ^ moved ^ black_to_move_key()
    }

    /// Returns the position after a null move, in which the side to move passes. That side must not be in check. The
    /// halfmove clock restarts, so that no earlier position counts as repeated.
    #[must_use]
    pub fn make_null(&self) -> Self {
        debug_assert!(!self.in_check());
        let mut next = self.clone();
        next.clear_en_passant();
        next.side = !self.side;
        next.keys.toggle_state(black_to_move_key());
        next.halfmove_clock = 0;
        next.fullmove_number = self.fullmove_number.saturating_add(self.side as u16);
        next
    }

    /// Adds the ids of the sliders of both sides that attack a square to `ids`, by color.
    #[inline]
    fn add_sliders_attacking(&self, square: Square, ids: &mut [u16; 2]) {
        for color in Color::ALL {
            ids[color] |= self.attacks[color].0[square] & self.slider_ids(color);
        }
    }

    /// Puts a piece on an empty square.
    #[inline]
    pub(super) fn add_piece(&mut self, place: Place, square: Square) {
        self.squares[place.color()][place.id()] = square;
        self.board[square] = Some(place);
        self.toggle(place, square);
    }

    /// Removes a piece from its square.
    #[inline]
    fn remove_piece(&mut self, place: Place, square: Square) {
        self.board[square] = None;
        self.toggle(place, square);
    }

    #[inline]
    fn toggle(&mut self, place: Place, square: Square) {
        self.kinds[place.kind()] ^= square.into();
        self.colors[place.color()] ^= square.into();
        self.ids[place.color()][place.kind()] ^= place.bit();
        self.keys.toggle(place.piece(), square);
    }

    /// Moves a piece to an empty square.
    #[inline]
    fn move_piece(&mut self, place: Place, from: Square, to: Square) {
        let both = Bitboard::from(from) | to.into();
        self.kinds[place.kind()] ^= both;
        self.colors[place.color()] ^= both;
        self.squares[place.color()][place.id()] = to;
        self.board[from] = None;
        self.board[to] = Some(place);
        self.keys.move_piece(place.piece(), from, to);
    }

    fn revoke_castling(&mut self, color: Color, side: CastlingSide) {
        if let Some(file) = self.castling.rook(color, side) {
            self.castling.revoke(color, side);
            self.keys.toggle_state(castling_key(color, file));
        }
    }

    /// Revokes the right to castle with a rook of `color` on this square: it has moved or was captured.
    #[inline]
    fn revoke_castling_of_rook(&mut self, color: Color, square: Square) {
        if square.rank() != Rank::First.relative(color) {
            return;
        }
        for side in CastlingSide::ALL {
            if self.castling.rook(color, side) == Some(square.file()) {
                self.revoke_castling(color, side);
            }
        }
    }

    #[inline]
    fn clear_en_passant(&mut self) {
        if let Some(square) = self.en_passant.take() {
            self.keys.toggle_state(en_passant_key(square.file()));
        }
    }

    /// Sets the en passant square to `target`, which an enemy pawn has just passed, if an en passant capture is legal.
    #[inline]
    pub(super) fn set_en_passant(&mut self, target: Square) {
        let capturers = pawn_attacks(!self.side, target) & self.pieces(self.side, PieceType::Pawn);
        if capturers.into_iter().any(|from| self.is_legal_en_passant(from, target)) {
            self.en_passant = Some(target);
            self.keys.toggle_state(en_passant_key(target.file()));
        }
    }
}

/// Returns the squares on which king and rook end after a castling move.
pub(super) fn castling_targets(mv: Move) -> (Square, Square) {
    let (side, rank) = (mv.castling_side(), mv.from().rank());
    (Square::new(side.king_target(), rank), Square::new(side.rook_target(), rank))
}
