//! Making moves.

use super::{Keys, Place, Position};
use crate::simd::Wordboard;
use crate::tables::{black_to_move_key, castling_key, en_passant_key, pawn_attacks, piece_key};
use crate::types::{Bitboard, CastlingSide, Color, Move, MoveKind, PieceType, Square};
use std::fmt;
use std::mem::{MaybeUninit, offset_of};

/// The error of [`Position::try_play`]: the move is not legal in the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalMove(pub Move);

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the move {} is not legal here", self.0)
    }
}

impl std::error::Error for IllegalMove {}

impl Position {
    /// Returns the position after a legal move. Other moves panic or leave a meaningless position.
    #[inline(always)]
    #[must_use]
    pub fn make(&self, mv: Move) -> Self {
        let mut next = MaybeUninit::uninit();
        self.make_into(mv, &mut next);
        // SAFETY: `make_into` writes the whole position.
        let next = unsafe { next.assume_init() };
        debug_assert!(next.is_consistent(), "{mv:?} on {}", self.fen(true));
        next
    }

    /// Writes the position after a legal move to `next`, which saves the copy of a returned position.
    #[inline(never)]
    fn make_into(&self, mv: Move, next: &mut MaybeUninit<Self>) {
        // Each call is compiled for its kind of move.
        match mv.kind() {
            kind @ (MoveKind::Quiet | MoveKind::DoublePush) => self.make_as(mv, kind, next),
            MoveKind::Capture => self.make_as(mv, MoveKind::Capture, next),
            kind => self.make_rare(mv, kind, next),
        }
    }

    /// Does [`make_into`](Self::make_into) for castling, en passant and promotions.
    #[cold]
    #[inline(never)]
    fn make_rare(&self, mv: Move, kind: MoveKind, next: &mut MaybeUninit<Self>) {
        self.make_as(mv, kind, next);
    }

    /// Does [`make_into`](Self::make_into) for one kind of move, a constant in most calls.
    #[inline(always)]
    fn make_as(&self, mv: Move, kind: MoveKind, next: &mut MaybeUninit<Self>) {
        const REST: usize = offset_of!(Position, board);
        const { assert!(REST == size_of::<[Wordboard; 2]>()) }
        let target = next.as_mut_ptr();
        // SAFETY: the attack tables are before the board, all else follows it. The tables are written; the rest is
        // copied as bytes, because the compiler copies field by field.
        let next = unsafe {
            let rest = std::ptr::from_ref(self).cast::<u8>().add(REST);
            target.cast::<u8>().add(REST).copy_from_nonoverlapping(rest, size_of::<Self>() - REST);
            (&raw mut (*target).attacks).write(self.attacks_after(mv, kind));
            next.assume_init_mut()
        };
        next.move_pieces(self, mv, kind);
    }

    /// Plays a legal move, as [`Position::make`] does.
    #[inline]
    pub fn play(&mut self, mv: Move) {
        *self = self.make(mv);
    }

    /// Plays a move if it is legal.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let mut position = Position::startpos();
    /// let mv = position.parse_move("e2e4").unwrap();
    /// assert!(position.try_play(mv).is_ok());
    /// // It is Black's turn now.
    /// assert_eq!(position.try_play(mv).unwrap_err().to_string(), "the move e2e4 is not legal here");
    /// ```
    ///
    /// # Errors
    /// If the move is not legal here; the position stays as it was.
    pub fn try_play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        if !self.is_legal(mv) {
            return Err(IllegalMove(mv));
        }
        self.play(mv);
        Ok(())
    }

    /// Updates everything but the attack tables of a copy of `before` by a legal move.
    #[inline(always)]
    fn move_pieces(&mut self, before: &Self, mv: Move, kind: MoveKind) {
        let them = !before.side;
        let (from, to) = (mv.from(), mv.to());
        let mover = before.place(from);

        let mut keys = self.pass_turn(before);
        self.halfmove_clock = before.halfmove_clock.saturating_add(1);

        match kind {
            MoveKind::Castle => {
                let rook = before.place(to);
                let (king_to, rook_to) = castling_targets(mv);
                // Both are removed first: in Chess960 one may end on the other's square.
                self.remove_piece(mover, from, &mut keys);
                self.remove_piece(rook, to, &mut keys);
                self.add_piece(mover, king_to, &mut keys);
                self.add_piece(rook, rook_to, &mut keys);
            }
            kind => {
                if kind.is_capture() {
                    let square = if kind == MoveKind::EnPassant { to.forward(them) } else { to };
                    self.remove_piece(before.place(square), square, &mut keys);
                    self.halfmove_clock = 0;
                }
                match kind.promoted() {
                    None => self.move_piece(mover, from, to, &mut keys),
                    Some(kind) => {
                        self.remove_piece(mover, from, &mut keys);
                        self.add_piece(mover.promoted(kind), to, &mut keys);
                    }
                }
            }
        }
        if mover.kind() == PieceType::Pawn {
            self.halfmove_clock = 0;
        }
        self.keys = keys;
        if before.castling_squares.intersects(Bitboard::from(from) | to.into()) {
            self.revoke_castling(before, mv);
        }
        if kind == MoveKind::DoublePush {
            self.set_en_passant(to.forward(them));
        }
    }

    /// Gives the turn to the other side in a copy of `before` and forgets the en passant square. Returns the keys then.
    #[inline(always)]
    fn pass_turn(&mut self, before: &Self) -> Keys {
        // What a wide store has just copied is read from `before`, because it can be loaded sooner from there.
        let mut keys = before.keys;
        keys.toggle_state(black_to_move_key());
        if let Some(square) = before.en_passant {
            keys.toggle_state(en_passant_key(square.file()));
            self.en_passant = None;
        }
        self.fullmove_number = before.fullmove_number.saturating_add(before.side as u16);
        self.side = !before.side;
        keys
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
        next.keys = next.pass_turn(self);
        next.halfmove_clock = 0;
        next
    }

    /// Puts a piece on an empty square.
    #[inline]
    pub(super) fn add_piece(&mut self, place: Place, square: Square, keys: &mut Keys) {
        self.squares[place.color()][place.id()] = square;
        self.board[square] = Some(place);
        self.toggle(place, square, keys);
    }

    /// Removes a piece from its square.
    #[inline]
    fn remove_piece(&mut self, place: Place, square: Square, keys: &mut Keys) {
        self.board[square] = None;
        self.toggle(place, square, keys);
    }

    #[inline]
    fn toggle(&mut self, place: Place, square: Square, keys: &mut Keys) {
        self.kinds[place.kind()] ^= square.into();
        self.colors[place.color()] ^= square.into();
        self.ids[place.color()][place.kind()] ^= place.bit();
        keys.toggle(place.piece(), square);
    }

    /// Moves a piece to an empty square.
    #[inline]
    fn move_piece(&mut self, place: Place, from: Square, to: Square, keys: &mut Keys) {
        let both = Bitboard::from(from) | to.into();
        self.kinds[place.kind()] ^= both;
        self.colors[place.color()] ^= both;
        self.squares[place.color()][place.id()] = to;
        self.board[from] = None;
        self.board[to] = Some(place);
        keys.move_piece(place.piece(), from, to);
    }

    /// Revokes the castling rights whose king or rook was on a square of the move.
    #[cold]
    fn revoke_castling(&mut self, before: &Self, mv: Move) {
        for color in Color::ALL {
            let king = before.king(color);
            for side in CastlingSide::ALL {
                let Some(file) = self.castling.rook(color, side) else { continue };
                let rook = Square::new(file, king.rank());
                if [king, rook].into_iter().any(|square| square == mv.from() || square == mv.to()) {
                    self.castling.revoke(color, side);
                    self.keys.toggle_state(castling_key(color, file));
                }
            }
        }
        self.castling_squares = self.castling_squares_from_rights();
    }

    /// Returns the squares of the kings and rooks that may castle.
    pub(super) fn castling_squares_from_rights(&self) -> Bitboard {
        let mut squares = Bitboard::EMPTY;
        for color in Color::ALL {
            let king = self.king(color);
            for file in CastlingSide::ALL.into_iter().filter_map(|side| self.castling.rook(color, side)) {
                squares |= Bitboard::from(king) | Square::new(file, king.rank()).into();
            }
        }
        squares
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
