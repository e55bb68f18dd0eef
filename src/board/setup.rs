//! Positions set up from their parts, with the checks that each must pass. What is wrong is told as what is allowed.

use super::{Keys, Place, Position};
use crate::simd::Wordboard;
use crate::types::{Bitboard, CastlingRights, CastlingSide, Color, Piece, PieceType, Rank, Square};

/// The most pieces of a side.
const MAX_PIECES: usize = 16;
/// The most pawns of a side.
const MAX_PAWNS: usize = 8;

impl Position {
    /// Returns a position with these pieces, in the order of their ids, and without castling rights. It must pass
    /// through [`finish`](Self::finish).
    ///
    /// # Errors
    /// If no game has these pieces.
    pub(crate) fn with_pieces(
        pieces: impl IntoIterator<Item = (Piece, Square)>,
        side: Color,
        halfmove_clock: u16,
        fullmove_number: u16,
    ) -> Result<Self, String> {
        let mut position = Self {
            attacks: [Wordboard([0; 64]); 2],
            board: [None; 64],
            kinds: [Bitboard::EMPTY; 6],
            colors: [Bitboard::EMPTY; 2],
            squares: [[Square::A1; 16]; 2],
            ids: [[0; 6]; 2],
            castling_squares: Bitboard::EMPTY,
            keys: Keys::default(),
            castling: CastlingRights::NONE,
            en_passant: None,
            halfmove_clock,
            fullmove_number: fullmove_number.max(1),
            side,
        };
        let mut next_id = [1; 2];
        for (piece, square) in pieces {
            let color = piece.color();
            if position.colors[color].len() as usize == MAX_PIECES {
                return Err(format!("at most {MAX_PIECES} pieces on each side"));
            }
            // A sixteenth piece beside the king has no id of its own; without a king, the side is rejected below.
            let id = if piece.kind() == PieceType::King { 0 } else { next_id[color] % MAX_PIECES as u8 };
            next_id[color] += u8::from(piece.kind() != PieceType::King);
            position.add_piece(Place::new(piece, id), square, &mut Keys::default());
        }
        for color in Color::ALL {
            if position.pieces(color, PieceType::King).len() != 1 {
                return Err("one king on each side".into());
            }
            if position.pieces(color, PieceType::Pawn).len() as usize > MAX_PAWNS {
                return Err(format!("at most {MAX_PAWNS} pawns on each side"));
            }
        }
        let edges = Bitboard::from(Rank::First) | Rank::Eighth.into();
        if !(position.kind(PieceType::Pawn) & edges).is_empty() {
            return Err("no pawn on the first or last rank".into());
        }
        Ok(position)
    }

    /// Gives a side the right to castle with the rook on `square`.
    ///
    /// # Errors
    /// If king or rook are not on the side's first rank, or the right is there.
    pub(crate) fn grant_castling(&mut self, color: Color, square: Option<Square>) -> Result<(), &'static str> {
        let king = self.king(color);
        let home = Rank::First.relative(color);
        if king.rank() != home {
            return Err("castling rights only for a king on its own first rank");
        }
        let is_rook = |&square: &Square| {
            square.rank() == home && self.piece_on(square) == Some(Piece::new(color, PieceType::Rook))
        };
        let Some(rook) = square.filter(is_rook) else {
            return Err("a rook on the king's rank for each castling right");
        };
        let side = if rook > king { CastlingSide::King } else { CastlingSide::Queen };
        if self.castling.rook(color, side).is_some() {
            return Err("at most one right for each color and castling side");
        }
        self.castling.grant(color, side, rook.file());
        Ok(())
    }

    /// Checks that a pawn may just have passed `target`.
    ///
    /// # Errors
    /// If none may have.
    pub(crate) fn check_en_passant(&self, target: Square) -> Result<(), &'static str> {
        let (us, them) = (self.side, !self.side);
        if target.rank() != Rank::Sixth.relative(us) {
            return Err("a square on the third rank with Black to move, or on the sixth with White to move");
        }
        if self.piece_on(target.forward(them)) != Some(Piece::new(them, PieceType::Pawn)) {
            return Err("a square that an enemy pawn has just passed");
        }
        if self.piece_on(target).is_some() || self.piece_on(target.forward(us)).is_some() {
            return Err("an empty square, with the empty square behind it from which the pawn came");
        }
        Ok(())
    }

    /// Computes attack tables and keys. The en passant square, which [`check_en_passant`](Self::check_en_passant) has
    /// found good, is set if a capture there is legal.
    ///
    /// # Errors
    /// If no game leads to the checks on the board.
    pub(crate) fn finish(self, en_passant: Option<Square>) -> Result<Self, &'static str> {
        let mut position = self.recompute();
        if position.is_attacked(position.king(!position.side), position.side) {
            return Err("the side that is in check to be the side to move");
        }
        if position.checkers().len() > 2 {
            return Err("at most two pieces giving check");
        }
        if let Some(target) = en_passant {
            position.set_en_passant(target);
        }
        Ok(position)
    }
}
