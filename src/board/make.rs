use super::{Ids, Place, Position};
use crate::simd::native;
use crate::tables::{attacks, black_to_move_key, castling_key, en_passant_key, pawn_attacks, piece_key};
use crate::types::{Bitboard, CastlingSide, Color, Move, MoveKind, PieceType, Rank, Square};

impl Position {
    /// The position after a legal move.
    #[inline]
    #[must_use]
    pub fn make(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv);
        debug_assert!(next.is_consistent(), "{mv:?} on {}", self.fen(true));
        next
    }

    /// Plays a legal move.
    ///
    /// The attack tables follow so: sliders that attack a square which becomes empty or occupied see further or less far, the
    /// mover sees something else, the victim nothing any more. Their bits are cleared everywhere at once; then
    /// the attacks of each are set as they are on the new board. All other bits stay as they are.
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
        self.add_sliders_on(from, &mut changed);
        changed[us] |= mover.bit();
        let mut dead = 0;
        match mv.kind() {
            MoveKind::Castle => {
                let rook = self.place(to);
                let (king_to, rook_to) = castling_targets(mv);
                for square in [to, king_to, rook_to] {
                    self.add_sliders_on(square, &mut changed);
                }
                changed[us] |= rook.bit();
                // Both before either: in Chess960 one may go to the other's square.
                self.take(mover, from);
                self.take(rook, to);
                self.put(mover, king_to);
                self.put(rook, rook_to);
            }
            kind => {
                // Unless a piece takes another's place, the target square becomes occupied.
                let mut filled = Some(to);
                if mv.is_capture() {
                    let mut square = to;
                    if kind == MoveKind::EnPassant {
                        square = to.forward(them);
                        self.add_sliders_on(square, &mut changed);
                    } else {
                        filled = None;
                    }
                    let victim = self.place(square);
                    dead = victim.bit();
                    self.take(victim, square);
                    self.revoke_rook(them, square);
                    self.halfmove_clock = 0;
                }
                if let Some(to) = filled {
                    self.add_sliders_on(to, &mut changed);
                }
                match mv.promotion() {
                    None => self.relocate(mover, from, to),
                    Some(kind) => {
                        self.take(mover, from);
                        self.put(mover.promoted(kind), to);
                    }
                }
            }
        }
        match mover.kind() {
            PieceType::King => {
                for castling_side in CastlingSide::ALL {
                    self.revoke(us, castling_side);
                }
            }
            PieceType::Rook => self.revoke_rook(us, from),
            PieceType::Pawn => self.halfmove_clock = 0,
            _ => {}
        }

        self.renew_attacks(us, changed[us], 0);
        self.renew_attacks(them, changed[them] & !dead, dead);
        if mv.kind() == MoveKind::DoublePush {
            self.offer_en_passant(to.forward(them));
        }
    }

    /// Puts what the `changed` pieces attack into the table anew, and takes the `dead` from it.
    #[inline]
    fn renew_attacks(&mut self, color: Color, changed: u16, dead: u16) {
        let occupied = self.occupied();
        // A copy, which the compiler keeps in registers.
        let mut table = self.attacks[color];
        native::clear(&mut table, changed | dead);
        for id in Ids(changed) {
            let square = self.squares[color][id];
            let attacked = attacks(self.place(square).piece(), square, occupied);
            native::set(&mut table, attacked.0, 1 << id);
        }
        self.attacks[color] = table;
    }

    /// The key of the position after a move, or nearly: rights to castle and to take en passant are left out. For asking the transposition table ahead.
    #[inline]
    pub fn key_after(&self, mv: Move) -> u64 {
        let (from, to) = (mv.from(), mv.to());
        let key = |square: Square| self.board[square].map_or(0, |place| piece_key(place.piece(), square));
        let moved = self.board[from].map_or(0, |place| piece_key(place.piece(), to));
        self.key() ^ key(from) ^ key(to) ^ moved ^ black_to_move_key()
    }

    /// The position after passing, which is not a legal move of chess. Must not be called in check. Nothing before it can be repeated: the
    /// half-move clock starts anew.
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

    /// Adds the numbers of the sliders of both sides that attack a square to a set for each side.
    #[inline]
    fn add_sliders_on(&self, square: Square, numbers: &mut [u16; 2]) {
        for color in Color::ALL {
            numbers[color] |= self.attacks[color].0[square] & self.slider_ids(color);
        }
    }

    #[inline]
    pub(super) fn put(&mut self, place: Place, square: Square) {
        self.squares[place.color()][place.id()] = square;
        self.board[square] = Some(place);
        self.toggle(place, square);
    }

    #[inline]
    fn take(&mut self, place: Place, square: Square) {
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

    /// The piece goes to an empty square.
    #[inline]
    fn relocate(&mut self, place: Place, from: Square, to: Square) {
        let both = Bitboard::from(from) | to.into();
        self.kinds[place.kind()] ^= both;
        self.colors[place.color()] ^= both;
        self.squares[place.color()][place.id()] = to;
        self.board[from] = None;
        self.board[to] = Some(place);
        self.keys.relocate(place.piece(), from, to);
    }

    fn revoke(&mut self, color: Color, castling_side: CastlingSide) {
        if let Some(file) = self.castling.rook(color, castling_side) {
            self.castling.revoke(color, castling_side);
            self.keys.toggle_state(castling_key(color, file));
        }
    }

    /// A rook of `color` has left its square, or something was taken there.
    #[inline]
    fn revoke_rook(&mut self, color: Color, square: Square) {
        if square.rank() != Rank::First.relative(color) {
            return;
        }
        for castling_side in CastlingSide::ALL {
            if self.castling.rook(color, castling_side) == Some(square.file()) {
                self.revoke(color, castling_side);
            }
        }
    }

    #[inline]
    fn clear_en_passant(&mut self) {
        if let Some(square) = self.en_passant.take() {
            self.keys.toggle_state(en_passant_key(square.file()));
        }
    }

    /// The enemy's pawn has just passed over `target`: keep that if it can be taken legally.
    #[inline]
    pub(super) fn offer_en_passant(&mut self, target: Square) {
        let capturers = pawn_attacks(!self.side, target) & self.pieces(self.side, PieceType::Pawn);
        if capturers.into_iter().any(|from| self.is_legal_en_passant(from, target)) {
            self.en_passant = Some(target);
            self.keys.toggle_state(en_passant_key(target.file()));
        }
    }
}

/// Where king and rook end after a castling move.
pub(super) fn castling_targets(mv: Move) -> (Square, Square) {
    let (castling_side, rank) = (mv.castling_side(), mv.from().rank());
    (Square::new(castling_side.king_target(), rank), Square::new(castling_side.rook_target(), rank))
}
