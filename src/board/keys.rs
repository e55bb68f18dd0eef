use crate::tables::piece_key;
use crate::types::{Color, Piece, PieceType, Square};

/// Zobrist keys: of the whole position, and of parts of what stands on the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys([u64; Self::COUNT]);

impl Keys {
    const COUNT: usize = 6;
    const FULL: usize = 0;
    const PAWN: usize = 1;
    const NON_PAWN: usize = 2;
    const MINOR: usize = 4;
    const MAJOR: usize = 5;

    /// All ones for each key in which a piece takes part, by piece.
    const PARTS: [[u64; Self::COUNT]; Piece::COUNT] = {
        let mut parts = [[0; Self::COUNT]; Piece::COUNT];
        let mut i = 0;
        while i < Piece::COUNT {
            let piece = Piece::ALL[i];
            parts[i][Self::FULL] = !0;
            let (minor, major) = match piece.kind() {
                PieceType::Pawn => (0, 0),
                PieceType::Knight | PieceType::Bishop => (!0, 0),
                PieceType::Rook | PieceType::Queen => (0, !0),
                PieceType::King => (!0, !0),
            };
            parts[i][Self::MINOR] = minor;
            parts[i][Self::MAJOR] = major;
            let other = if matches!(piece.kind(), PieceType::Pawn) {
                Self::PAWN
            } else {
                Self::NON_PAWN + piece.color() as usize
            };
            parts[i][other] = !0;
            i += 1;
        }
        parts
    };

    /// The piece comes to the square, or leaves it.
    #[inline]
    pub fn toggle(&mut self, piece: Piece, square: Square) {
        self.toggle_parts(piece, piece_key(piece, square));
    }

    /// The piece goes from one square to the other.
    #[inline]
    pub fn relocate(&mut self, piece: Piece, from: Square, to: Square) {
        self.toggle_parts(piece, piece_key(piece, from) ^ piece_key(piece, to));
    }

    #[inline]
    fn toggle_parts(&mut self, piece: Piece, key: u64) {
        const { assert!(Piece::COUNT == Self::PARTS.len()) }
        for (own, part) in self.0.iter_mut().zip(&Self::PARTS[piece]) {
            *own ^= key & part;
        }
    }

    /// Something changes that is not on the board: a right, the side to move.
    #[inline]
    pub fn toggle_state(&mut self, key: u64) {
        self.0[Self::FULL] ^= key;
    }

    /// All that makes positions different for repetition: pieces, side to move, castling rights, legal en passant captures.
    #[inline]
    pub fn full(&self) -> u64 {
        self.0[Self::FULL]
    }

    /// The pawns of both sides.
    #[inline]
    pub fn pawn(&self) -> u64 {
        self.0[Self::PAWN]
    }

    /// All pieces of a side but its pawns.
    #[inline]
    pub fn non_pawn(&self, color: Color) -> u64 {
        self.0[Self::NON_PAWN + color as usize]
    }

    /// Knights, bishops and kings of both sides.
    #[inline]
    pub fn minor(&self) -> u64 {
        self.0[Self::MINOR]
    }

    /// Rooks, queens and kings of both sides.
    #[inline]
    pub fn major(&self) -> u64 {
        self.0[Self::MAJOR]
    }
}
