//! Positions: the board and its state, legal moves, making moves, static exchange evaluation, FEN, SAN and PGN.

mod attack_update;
mod attacks;
mod chess960;
mod fen;
mod game_history;
mod keys;
mod legality;
mod make;
mod move_list;
mod movegen;
mod pgn;
mod place;
mod san;
mod see;
mod setup;

pub use chess960::CHESS960_POSITIONS;
pub use fen::{FenError, FenField};
pub use game_history::{GameHistory, Status};
pub use keys::Keys;
pub use make::IllegalMove;
pub use move_list::{IntoIter, MAX_MOVES, MoveList};
pub use pgn::{PgnGame, PgnReader};
pub use place::piece_code;
pub use see::SEE_VALUES;

use crate::simd::superpiece::Places;
use crate::simd::{Aligned, Wordboard};
use crate::tables::{
    attacks, bishop_attacks, black_to_move_key, castling_key, en_passant_key, king_attacks, knight_attacks,
    pawn_attacks, rook_attacks,
};
use crate::types::{Bitboard, CastlingRights, CastlingSide, Color, Move, MoveKind, Piece, PieceType, Square};
use place::Place;
use std::fmt;
use std::mem::offset_of;

/// A legal position of chess or Chess960.
///
/// The board has three representations that always agree: the byteboard (which piece is on a square), bitboards (which
/// squares a type or color occupies) and attack tables (which pieces attack a square). The attack tables name a piece
/// by its id: the king has id 0, the others count from 1 in the order of the FEN. A piece keeps its id for the whole
/// game, through promotion too, and ids are never reused. Incrementally updated attack tables of 16-bit words are the
/// idea of the engine Rose.
///
/// Positions compare equal if their FENs are equal, whatever their ids.
///
/// ```
/// use kiln::board::Position;
/// use kiln::types::{Color, Piece, Square};
///
/// let mut position = Position::startpos();
/// assert_eq!(position.moves().len(), 20);
/// let mv = position.parse_move("e2e4").expect("the move is legal");
/// assert_eq!(position.san(mv), "e4");
/// position.play(mv);
/// assert_eq!(position.side_to_move(), Color::Black);
/// assert_eq!(position.piece_on(Square::E4), Some(Piece::WhitePawn));
///
/// let stalemate: Position = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1".parse()?;
/// assert!(!stalemate.has_legal_move() && !stalemate.in_check());
/// # Ok::<(), kiln::board::FenError>(())
/// ```
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Position {
    /// By color and square: the ids of the pieces of that color that attack or defend the square.
    attacks: [Wordboard; 2],
    board: [Option<Place>; 64],
    keys: Keys,
    castling: CastlingRights,
    halfmove_clock: u16,
    /// The target square of an en passant capture. Set only if one is legal, so that equal positions have equal keys.
    en_passant: Option<Square>,
    side: Color,
    fullmove_number: u16,
    kinds: [Bitboard; 6],
    colors: [Bitboard; 2],
    /// The square of each piece, by color and id; stale once captured.
    squares: [[Square; 16]; 2],
    /// The ids of the pieces of each type, by color and type.
    ids: [[u16; 6]; 2],
    /// The squares of the kings and rooks that may castle, so that few moves need to look closer.
    castling_squares: Bitboard,
}

// A position is copied for every move. The fields accessed as vectors do not cross cache lines.
const _: () = {
    assert!(size_of::<Position>() == 512);
    assert!(
        offset_of!(Position, board) == 256 && offset_of!(Position, keys) == 320 && offset_of!(Position, kinds) == 384
    );
};

impl Position {
    /// Returns the starting position of chess.
    pub fn startpos() -> Self {
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".parse().expect("the starting position is legal")
    }

    /// Returns the side to move.
    #[inline]
    pub fn side_to_move(&self) -> Color {
        self.side
    }

    /// Returns the piece on the square, if any.
    #[inline]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        self.board[square].map(Place::piece)
    }

    /// Returns one byte per square: the [`piece_code`] of the piece there, or 0 for an empty square.
    #[inline]
    pub fn byteboard(&self) -> Aligned<[u8; 64]> {
        Aligned(self.board.map(|place| place.map_or(0, Place::byte) >> 4))
    }

    /// Returns the byteboard as bytes, 0 for an empty square.
    #[inline]
    pub(crate) fn places(&self) -> &Places {
        // SAFETY: `Option<Place>` has the size of a byte, every value of which is a valid `u8`; the board is aligned to
        // a cache line, as asserted above.
        unsafe { &*std::ptr::from_ref(&self.board).cast() }
    }

    /// Returns the attack tables, by color.
    #[inline]
    pub(crate) fn attack_tables(&self) -> &[Wordboard; 2] {
        &self.attacks
    }

    /// Returns the square of each piece by color and id, stale once captured.
    #[inline]
    pub(crate) fn squares_by_id(&self) -> &[[Square; 16]; 2] {
        &self.squares
    }

    /// Returns the piece on an occupied square, with its id.
    ///
    /// # Panics
    /// If the square is empty.
    #[inline]
    fn place(&self, square: Square) -> Place {
        self.board[square].expect("the square is occupied")
    }

    /// Returns the pieces of a type, of both sides.
    #[inline]
    pub fn kind(&self, kind: PieceType) -> Bitboard {
        self.kinds[kind]
    }

    /// Returns the pieces of a side.
    #[inline]
    pub fn color(&self, color: Color) -> Bitboard {
        self.colors[color]
    }

    /// Returns the pieces of a side and type.
    #[inline]
    pub fn pieces(&self, color: Color, kind: PieceType) -> Bitboard {
        self.colors[color] & self.kinds[kind]
    }

    /// Returns the occupied squares.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[Color::White] | self.colors[Color::Black]
    }

    /// Returns the square of a side's king.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.squares[color][0]
    }

    /// Returns the castling rights.
    #[inline]
    pub fn castling(&self) -> CastlingRights {
        self.castling
    }

    /// Returns the target square of an en passant capture, or `None` if no such capture is legal.
    #[inline]
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Returns the number of plies since the last capture or pawn move.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// Returns the fullmove number, which increments after Black's moves.
    #[inline]
    pub fn fullmove_number(&self) -> u16 {
        self.fullmove_number
    }

    /// Returns the Zobrist key, which is equal for positions that count as repetitions of each other.
    #[inline]
    pub fn key(&self) -> u64 {
        self.keys.full()
    }

    /// Returns the Zobrist keys of the position and of subsets of its pieces.
    #[inline]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Returns the pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.squares_of(!self.side, self.checker_ids())
    }

    /// Returns whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.checker_ids() != 0
    }

    #[inline]
    fn checker_ids(&self) -> u16 {
        self.attacks[!self.side].0[self.king(self.side)]
    }

    /// Returns the squares of the pieces with these ids.
    #[inline]
    fn squares_of(&self, color: Color, ids: u16) -> Bitboard {
        Ids(ids).map(|id| self.squares[color][id]).collect()
    }

    /// Returns the ids of a side's sliders.
    #[inline]
    fn slider_ids(&self, color: Color) -> u16 {
        let ids = &self.ids[color];
        ids[PieceType::Bishop] | ids[PieceType::Rook] | ids[PieceType::Queen]
    }

    /// Returns the pieces of both sides that attack a square, given the occupancy.
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

    /// Returns whether neither side can mate by any sequence of moves because of the material: bare kings, a single
    /// minor piece, or only bishops that are all on squares of one color.
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

    /// Returns whether a side has a piece other than pawns and king.
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        !(self.colors[color] - self.kinds[PieceType::Pawn] - self.kinds[PieceType::King]).is_empty()
    }

    /// Parses a move in UCI notation; the piece of a promotion may be a capital, as some GUIs write it. Returns `None`
    /// if the text is malformed or the move is not legal here.
    ///
    /// Castling is accepted as the king's move to its target square and as the king capturing its own rook. If the
    /// former is also a legal king move, as `f1g1` may be in Chess960, the text means that king move, because castling
    /// can be written in the other way.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let position: Position = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1".parse().unwrap();
    /// assert_eq!(position.parse_move("e1g1"), position.parse_move("e1h1"));
    /// assert_eq!(position.parse_move("e1e3"), None);
    /// ```
    pub fn parse_move(&self, text: &str) -> Option<Move> {
        let from = Square::from_name(text.get(..2)?)?;
        let moves = self.moves();
        let mut own = moves.iter().filter(|mv| mv.from() == from);
        let (squares, piece) = text.split_at_checked(4)?;
        let is = |notation: &str| notation[..4] == *squares && notation[4..].eq_ignore_ascii_case(piece);
        let exact = own.clone().find(|mv| is(&mv.uci(true)));
        exact.or_else(|| own.find(|mv| mv.kind() == MoveKind::Castle && is(&mv.uci(false)))).copied()
    }

    /// Returns the material of both sides in pawns: 1, 3, 3, 5 and 9 for each pawn, knight, bishop, rook and queen.
    pub fn material(&self) -> u32 {
        const VALUES: [u32; 6] = [1, 3, 3, 5, 9, 0];
        PieceType::ALL.into_iter().map(|kind| VALUES[kind] * self.kinds[kind].len()).sum()
    }

    /// Returns the position with a square emptied, and without castling rights and en passant square. The result is for
    /// evaluation only: the side not to move may be in check.
    ///
    /// # Panics
    /// If a king is on the square.
    pub fn without(&self, square: Square) -> Self {
        assert!(self.piece_on(square).is_none_or(|piece| piece.kind() != PieceType::King), "a king cannot be removed");
        let mut new = self.clone();
        new.board[square] = None;
        (new.castling, new.en_passant) = (CastlingRights::NONE, None);
        new.recompute()
    }

    /// Returns the position with everything that follows from the byteboard and the state computed from scratch: keys,
    /// bitboards, piece lists and attack tables. It works in other ways than [`Position::play`], to check it.
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
            for side in CastlingSide::ALL {
                let key = self.castling.rook(color, side).map_or(0, |file| castling_key(color, file));
                new.keys.toggle_state(key);
            }
        }
        new.castling_squares = new.castling_squares_from_rights();
        new.keys.toggle_state(self.en_passant.map_or(0, |square| en_passant_key(square.file())));
        new.keys.toggle_state(if self.side == Color::Black { black_to_move_key() } else { 0 });
        new
    }

    /// Returns whether all incrementally updated state equals what is computed from scratch. For tests.
    pub fn is_consistent(&self) -> bool {
        let new = self.recompute();
        let has_own_id =
            |square: Square| self.board[square].is_none_or(|place| self.squares[place.color()][place.id()] == square);
        Square::ALL.into_iter().all(has_own_id)
            && Color::ALL.into_iter().all(|color| self.ids[color][PieceType::King] == 1)
            && (self.attacks, self.kinds, self.colors) == (new.attacks, new.kinds, new.colors)
            && (self.ids, self.squares, self.keys) == (new.ids, new.squares, new.keys)
            && self.castling_squares == new.castling_squares
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

/// Iterates over the ids in a set, in ascending order.
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

/// Draws the board with White at the bottom, followed by the FEN and the key.
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
        let fen = self.fen(self.is_chess960());
        writeln!(f, "   a   b   c   d   e   f   g   h\n\nFen: {fen}\nKey: {:016x}", self.key())
    }
}
