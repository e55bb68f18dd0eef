//! The position: what stands where, whose move it is, what may be played. It knows no network; it reports what changes to an
//! [`Observer`].

mod fen;
mod history;
mod make;
mod movegen;

pub use fen::{FenError, Field};
pub use history::History;
pub use make::Observer;
pub use movegen::{MAX_MOVES, MoveList};

use crate::tables::{
    bishop_attacks, black_to_move_key, castling_key, en_passant_key, king_attacks, knight_attacks, pawn_attacks,
    piece_key, rook_attacks,
};
use crate::types::{Bitboard, CastlingRights, Color, Move, MoveKind, Piece, PieceType, Square, Wing};
use std::fmt;

/// A legal position of chess or Chess960.
///
/// ```
/// use kiln::board::Position;
/// let position: Position = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1".parse()?;
/// assert_eq!(position.moves().len(), 0);
/// assert!(!position.in_check());
/// # Ok::<(), kiln::board::FenError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    kinds: [Bitboard; 6],
    colors: [Bitboard; 2],
    squares: [Option<Piece>; 64],
    /// The enemy pieces that give check.
    checkers: Bitboard,
    key: u64,
    castling: CastlingRights,
    /// Where an en passant capture may go. Set only if one is legal, so that equal positions have equal keys.
    en_passant: Option<Square>,
    halfmove_clock: u16,
    fullmove_number: u16,
    side: Color,
}

impl Position {
    /// The starting position of chess.
    pub fn startpos() -> Self {
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".parse().expect("the starting position is legal")
    }

    /// Whose move it is.
    #[inline]
    pub fn side_to_move(&self) -> Color {
        self.side
    }

    /// What stands on the square.
    #[inline]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        self.squares[square]
    }

    /// All pieces of a type, of both sides.
    #[inline]
    pub fn kind(&self, kind: PieceType) -> Bitboard {
        self.kinds[kind]
    }

    /// All pieces of a side.
    #[inline]
    pub fn color(&self, color: Color) -> Bitboard {
        self.colors[color]
    }

    /// The pieces of a side and type.
    #[inline]
    pub fn pieces(&self, color: Color, kind: PieceType) -> Bitboard {
        self.colors[color] & self.kinds[kind]
    }

    /// All occupied squares.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[Color::White] | self.colors[Color::Black]
    }

    /// Where the king of a side stands.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.pieces(color, PieceType::King).first().expect("each side has a king")
    }

    /// The castling rights.
    #[inline]
    pub fn castling(&self) -> CastlingRights {
        self.castling
    }

    /// Where a pawn may be taken en passant; none if no such capture is legal.
    #[inline]
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Plies since the last capture or pawn move.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// The number of the move, which grows after Black's.
    #[inline]
    pub fn fullmove_number(&self) -> u16 {
        self.fullmove_number
    }

    /// The Zobrist key: equal for positions that count as repetitions of each other.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.checkers
    }

    /// Whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        !self.checkers.is_empty()
    }

    /// The pieces of both sides that attack a square when the board is occupied so.
    #[inline]
    pub fn attackers(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let queens = self.kinds[PieceType::Queen];
        (pawn_attacks(Color::White, square) & self.pieces(Color::Black, PieceType::Pawn))
            | (pawn_attacks(Color::Black, square) & self.pieces(Color::White, PieceType::Pawn))
            | (knight_attacks(square) & self.kinds[PieceType::Knight])
            | (king_attacks(square) & self.kinds[PieceType::King])
            | (rook_attacks(square, occupied) & (self.kinds[PieceType::Rook] | queens))
            | (bishop_attacks(square, occupied) & (self.kinds[PieceType::Bishop] | queens))
    }

    /// Whether a side attacks a square when the board is occupied so.
    #[inline]
    fn is_attacked(&self, square: Square, by: Color, occupied: Bitboard) -> bool {
        self.attackers(square, occupied).meets(self.colors[by])
    }

    /// Whether neither side can mate by any sequence of moves: bare kings, one minor piece, or bishops of one square colour.
    pub fn is_insufficient_material(&self) -> bool {
        let bishops = self.kinds[PieceType::Bishop];
        let kings_and_bishops = self.kinds[PieceType::King] | bishops;
        let dark = Bitboard(0xaa55_aa55_aa55_aa55);
        match self.occupied().len() {
            2 => true,
            3 => (self.kinds[PieceType::Knight] | bishops).len() == 1,
            _ => self.occupied() == kings_and_bishops && !(bishops.meets(dark) && bishops.meets(!dark)),
        }
    }

    /// Whether the side has anything but pawns and king.
    pub fn has_pieces(&self, color: Color) -> bool {
        !(self.colors[color] - self.kinds[PieceType::Pawn] - self.kinds[PieceType::King]).is_empty()
    }

    /// The legal move written so in UCI notation; castling both as the king's move and as king takes rook.
    ///
    /// Where both readings are legal, as in Chess960 (`f1g1` as a step of the king or as castling), `chess960` or not makes
    /// no difference: the step wins, since castling has another way to be written.
    pub fn parse_move(&self, text: &str) -> Option<Move> {
        let moves = self.moves();
        let exact = moves.iter().find(|mv| mv.uci(true) == text);
        exact.or_else(|| moves.iter().find(|mv| mv.kind() == MoveKind::Castle && mv.uci(false) == text)).copied()
    }

    /// The key from scratch. [`Position::key`] is kept up to date move by move and must equal it.
    fn compute_key(&self) -> u64 {
        let mut key = 0;
        for square in self.occupied() {
            key ^= self.squares[square].map_or(0, |piece| piece_key(piece, square));
        }
        for color in Color::ALL {
            for wing in Wing::ALL {
                key ^= self.castling.rook(color, wing).map_or(0, |file| castling_key(color, file));
            }
        }
        key ^= self.en_passant.map_or(0, |square| en_passant_key(square.file()));
        key ^ if self.side == Color::Black { black_to_move_key() } else { 0 }
    }
}

/// The board as text, White below, with the FEN under it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let border = " +---+---+---+---+---+---+---+---+";
        writeln!(f, "{border}")?;
        for row in (0..8).rev() {
            for file in 0..8 {
                let piece = self.squares[8 * row + file].map_or(' ', Piece::letter);
                write!(f, " | {piece}")?;
            }
            writeln!(f, " | {}\n{border}", row + 1)?;
        }
        writeln!(f, "   a   b   c   d   e   f   g   h\n\nFen: {}\nKey: {:016x}", self.fen(false), self.key)
    }
}
