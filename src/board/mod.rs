//! The position: what stands where, whose move it is, what may be played.

mod attacks;
mod fen;
mod game_history;
mod keys;
mod legality;
mod list;
mod make;
mod movegen;
mod place;
mod san;
mod see;

pub(crate) use fen::placement;
pub use fen::{FenError, Field};
pub use game_history::GameHistory;
pub use keys::Keys;
pub use list::{MAX_MOVES, MoveList};
pub use place::Place;
pub use see::SEE_VALUES;

use crate::simd::{Aligned, Wordboard};
use crate::tables::{
    attacks, bishop_attacks, black_to_move_key, castling_key, en_passant_key, king_attacks, knight_attacks,
    pawn_attacks, rook_attacks,
};
use crate::types::{Bitboard, CastlingRights, CastlingSide, Color, Move, MoveKind, Piece, PieceType, Square};
use std::fmt;
use std::mem::offset_of;

/// A legal position of chess or Chess960.
///
/// The board is kept in three forms that always agree: the byteboard (what stands on a square), bitboards (where such pieces stand) and attack
/// tables (which pieces attack a square). Every piece has a number, its id, in which the tables speak of it: the king's is 0, the others count from 1 in the
/// order of the FEN; an id is kept for life, through promotion too, and never given again. Tables of 16-bit words that follow
/// the moves are the idea of the engine Rose.
///
/// Positions are equal if their FENs are: the ids do not matter.
///
/// ```
/// use kiln::board::Position;
/// let position: Position = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1".parse()?;
/// assert_eq!(position.moves().len(), 0);
/// assert!(!position.in_check());
/// # Ok::<(), kiln::board::FenError>(())
/// ```
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Position {
    /// By colour and square: which pieces of that colour attack it, pieces of their own that they defend included.
    attacks: [Wordboard; 2],
    board: [Option<Place>; 64],
    keys: Keys,
    castling: CastlingRights,
    halfmove_clock: u16,
    /// Where an en passant capture may go. Set only if one is legal, so that equal positions have equal keys.
    en_passant: Option<Square>,
    side: Color,
    fullmove_number: u16,
    kinds: [Bitboard; 6],
    colors: [Bitboard; 2],
    /// Where each piece stands, by colour and id; of no meaning once it is taken.
    squares: [[Square; 16]; 2],
    /// Which ids are of a type, by colour and type.
    ids: [[u16; 6]; 2],
}

// Copied for every move. What is read or written as vectors lies within cache lines.
const _: () = {
    assert!(size_of::<Position>() == 512);
    assert!(offset_of!(Position, keys) == 320 && offset_of!(Position, kinds) == 384);
};

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
        self.board[square].map(Place::piece)
    }

    /// What stands on each square as a byte: the piece counted from 1, or 0.
    #[inline]
    pub fn byteboard(&self) -> Aligned<[u8; 64]> {
        Aligned(self.board.map(|place| place.map_or(0, |place| place.piece() as u8 + 1)))
    }

    /// What stands on a square that is known to be occupied.
    ///
    /// # Panics
    /// If it is empty.
    #[inline]
    fn place(&self, square: Square) -> Place {
        self.board[square].expect("a piece stands on the square")
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
        self.squares[color][0]
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
        self.keys.full()
    }

    /// The Zobrist keys of the position and of its parts.
    #[inline]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.squares_of(!self.side, self.checker_ids())
    }

    /// Whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.checker_ids() != 0
    }

    #[inline]
    fn checker_ids(&self) -> u16 {
        self.attacks[!self.side].0[self.king(self.side)]
    }

    /// Where the pieces with these ids stand.
    #[inline]
    fn squares_of(&self, color: Color, ids: u16) -> Bitboard {
        Ids(ids).map(|id| self.squares[color][id]).collect()
    }

    /// The ids of a side's sliders.
    #[inline]
    fn slider_ids(&self, color: Color) -> u16 {
        let ids = &self.ids[color];
        ids[PieceType::Bishop] | ids[PieceType::Rook] | ids[PieceType::Queen]
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

    /// Whether neither side can mate by any sequence of moves: bare kings, one minor piece, or bishops of one square colour.
    pub fn is_insufficient_material(&self) -> bool {
        let bishops = self.kinds[PieceType::Bishop];
        let kings_and_bishops = self.kinds[PieceType::King] | bishops;
        let dark = Bitboard(0xaa55_aa55_aa55_aa55);
        match self.occupied().len() {
            2 => true,
            3 => (self.kinds[PieceType::Knight] | bishops).len() == 1,
            _ => self.occupied() == kings_and_bishops && !(bishops.intersects(dark) && bishops.intersects(!dark)),
        }
    }

    /// Whether the side has anything but pawns and king.
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        !(self.colors[color] - self.kinds[PieceType::Pawn] - self.kinds[PieceType::King]).is_empty()
    }

    /// The legal move written so in UCI notation; castling both as the king's move and as king takes rook.
    ///
    /// Where both readings are legal, as in Chess960 (`f1g1` as a step of the king or as castling), `chess960` or not makes
    /// no difference: the step wins, since castling has another way to be written.
    pub fn parse_move(&self, text: &str) -> Option<Move> {
        let from = Square::from_name(text.get(..2)?)?;
        let moves = self.moves();
        let mut own = moves.iter().filter(|mv| mv.from() == from);
        let exact = own.clone().find(|mv| mv.uci(true) == text);
        exact.or_else(|| own.find(|mv| mv.kind() == MoveKind::Castle && mv.uci(false) == text)).copied()
    }

    /// The material of both sides in pawns: 1, 3, 3, 5 and 9 for each pawn, knight, bishop, rook and queen.
    pub fn material(&self) -> u32 {
        const VALUES: [u32; 6] = [1, 3, 3, 5, 9, 0];
        PieceType::ALL.into_iter().map(|kind| VALUES[kind] * self.kinds[kind].len()).sum()
    }

    /// The same position with a square empty, and without castling and en passant; to be scored, not to be played from, since the side that is not to move may be in check.
    ///
    /// # Panics
    /// If a king stands there.
    pub fn without(&self, square: Square) -> Self {
        assert!(self.piece_on(square).is_none_or(|piece| piece.kind() != PieceType::King), "a king stays");
        let mut new = self.clone();
        new.board[square] = None;
        new.colors = new.colors.map(|pieces| pieces - square.into());
        (new.castling, new.en_passant) = (CastlingRights::NONE, None);
        new.recompute()
    }

    /// Everything that can be told from the board, computed anew by other ways than the moves take: the keys, bitboards, lists and attack tables.
    fn recompute(&self) -> Self {
        let mut new = self.clone();
        new.attacks = [Wordboard([0; 64]); 2];
        new.kinds = [Bitboard::EMPTY; 6];
        new.colors = [Bitboard::EMPTY; 2];
        new.ids = [[0; 6]; 2];
        new.keys = Keys::default();
        let occupied: Bitboard = Square::ALL.into_iter().filter(|&square| self.board[square].is_some()).collect();
        for square in occupied {
            let place = self.place(square);
            let (color, kind) = (place.color(), place.kind());
            new.kinds[kind] |= square.into();
            new.colors[color] |= square.into();
            new.squares[color][place.id()] = square;
            new.ids[color][kind] |= place.bit();
            new.keys.toggle(place.piece(), square);
            for target in attacks(place.piece(), square, occupied) {
                new.attacks[color].0[target] |= place.bit();
            }
        }
        for color in Color::ALL {
            for castling_side in CastlingSide::ALL {
                new.keys
                    .toggle_state(self.castling.rook(color, castling_side).map_or(0, |file| castling_key(color, file)));
            }
        }
        new.keys.toggle_state(self.en_passant.map_or(0, |square| en_passant_key(square.file())));
        new.keys.toggle_state(if self.side == Color::Black { black_to_move_key() } else { 0 });
        new
    }

    /// Whether all that follows the moves is as it comes out when computed from the board alone, for tests.
    pub fn is_consistent(&self) -> bool {
        let new = self.recompute();
        let has_own_id =
            |square: Square| self.board[square].is_none_or(|place| self.squares[place.color()][place.id()] == square);
        Square::ALL.into_iter().all(has_own_id)
            && Color::ALL.into_iter().all(|color| self.ids[color][PieceType::King] == 1)
            && (self.attacks, self.kinds, self.colors) == (new.attacks, new.kinds, new.colors)
            && (self.ids, self.squares, self.keys) == (new.ids, new.squares, new.keys)
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        let state = |position: &Self| {
            (position.side, position.castling, position.en_passant, position.halfmove_clock, position.fullmove_number)
        };
        state(self) == state(other) && (self.colors, self.kinds) == (other.colors, other.kinds)
    }
}

impl Eq for Position {}

/// The numbers of the bits that are set, in ascending order.
#[derive(Clone, Copy)]
struct Ids(u16);

impl Iterator for Ids {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let id = self.0.trailing_zeros() as usize & 15;
        self.0 &= self.0 - 1;
        Some(id)
    }
}

/// The board as text, White below, with the FEN under it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let border = " +---+---+---+---+---+---+---+---+";
        writeln!(f, "{border}")?;
        for row in (0..8).rev() {
            for file in 0..8 {
                let piece = self.board[8 * row + file].map_or(' ', |place| place.piece().letter());
                write!(f, " | {piece}")?;
            }
            writeln!(f, " | {}\n{border}", row + 1)?;
        }
        writeln!(f, "   a   b   c   d   e   f   g   h\n\nFen: {}\nKey: {:016x}", self.fen(false), self.key())
    }
}
