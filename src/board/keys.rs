//! Zobrist keys.

use crate::tables::piece_key;
use crate::types::{Color, Piece, PieceType, Square};

/// The Zobrist keys of a position: one for the whole position, the others for subsets of the pieces.
///
/// ```
/// use kiln::board::Position;
///
/// let start = Position::startpos();
/// let next = start.make(start.parse_move("g1f3").unwrap());
/// assert_eq!(next.keys().pawn(), start.keys().pawn());
/// assert_ne!(next.keys().minor(), start.keys().minor());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys([u64; Self::COUNT]);

impl Keys {
    const COUNT: usize = 6;
    const FULL: usize = 0;
    const PAWN: usize = 1;
    const NON_PAWN: usize = 2;
    const MINOR: usize = 4;
    const MAJOR: usize = 5;

    /// For each piece and key: all ones if the piece is part of the key, else zero.
    const MASKS: [[u64; Self::COUNT]; Piece::COUNT] = {
        let mut masks = [[0; Self::COUNT]; Piece::COUNT];
        let mut i = 0;
        while i < Piece::COUNT {
            let piece = Piece::ALL[i];
            masks[i][Self::FULL] = !0;
            let (minor, major) = match piece.kind() {
                PieceType::Pawn => (0, 0),
                PieceType::Knight | PieceType::Bishop => (!0, 0),
                PieceType::Rook | PieceType::Queen => (0, !0),
                PieceType::King => (!0, !0),
            };
            masks[i][Self::MINOR] = minor;
            masks[i][Self::MAJOR] = major;
            let other = if matches!(piece.kind(), PieceType::Pawn) {
                Self::PAWN
            } else {
                Self::NON_PAWN + piece.color() as usize
            };
            masks[i][other] = !0;
            i += 1;
        }
        masks
    };

    /// Adds a piece on a square, or removes it.
    #[inline]
    pub fn toggle(&mut self, piece: Piece, square: Square) {
        self.toggle_masked(piece, piece_key(piece, square));
    }

    /// Moves a piece from one square to another.
    #[inline]
    pub fn move_piece(&mut self, piece: Piece, from: Square, to: Square) {
        self.toggle_masked(piece, piece_key(piece, from) ^ piece_key(piece, to));
    }

    #[inline]
    fn toggle_masked(&mut self, piece: Piece, key: u64) {
        for (own, mask) in self.0.iter_mut().zip(&Self::MASKS[piece]) {
            *own ^= key & mask;
        }
    }

    /// Toggles state that is not on the board: a castling right, the en passant file or the side to move.
    #[inline]
    pub fn toggle_state(&mut self, key: u64) {
        self.0[Self::FULL] ^= key;
    }

    /// Returns the key of everything that distinguishes positions for repetition: pieces, side to move, castling rights
    /// and legal en passant captures.
    #[inline]
    pub fn full(&self) -> u64 {
        self.0[Self::FULL]
    }

    /// Returns the key of the pawns of both sides.
    #[inline]
    pub fn pawn(&self) -> u64 {
        self.0[Self::PAWN]
    }

    /// Returns the key of a side's pieces other than pawns, king included.
    #[inline]
    pub fn non_pawn(&self, color: Color) -> u64 {
        self.0[Self::NON_PAWN + color as usize]
    }

    /// Returns the key of the knights, bishops and kings of both sides.
    #[inline]
    pub fn minor(&self) -> u64 {
        self.0[Self::MINOR]
    }

    /// Returns the key of the rooks, queens and kings of both sides.
    #[inline]
    pub fn major(&self) -> u64 {
        self.0[Self::MAJOR]
    }
}
