//! Forsyth-Edwards notation (FEN). Parsing is strict: it rejects whatever cannot be a position of chess or Chess960,
//! and says why.

use super::{Keys, Place, Position};
use crate::simd::Wordboard;
use crate::types::{Bitboard, CastlingRights, CastlingSide, Color, File, Piece, PieceType, Rank, Square};
use std::fmt;
use std::str::FromStr;

/// A field of a FEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the fields explain themselves")]
pub enum FenField {
    /// The FEN as a whole.
    Whole,
    Placement,
    SideToMove,
    Castling,
    EnPassant,
    HalfmoveClock,
    FullmoveNumber,
}

impl fmt::Display for FenField {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "FEN",
            Self::Placement => "piece placement",
            Self::SideToMove => "side to move",
            Self::Castling => "castling rights",
            Self::EnPassant => "en passant square",
            Self::HalfmoveClock => "halfmove clock",
            Self::FullmoveNumber => "fullmove number",
        })
    }
}

/// Why a FEN was rejected.
///
/// ```
/// use kiln::board::{FenField, Position};
///
/// let error = "8/8/8/8/8/4k3/8/4K3 x - - 0 1".parse::<Position>().unwrap_err();
/// assert_eq!(error.field, FenField::SideToMove);
/// assert_eq!(error.to_string(), r#"bad side to move "x": expected "w" or "b""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenError {
    /// The field that is wrong.
    pub field: FenField,
    /// Its text, or the part of it that is wrong.
    pub text: String,
    /// What is allowed there.
    pub expected: String,
}

impl FenError {
    fn new(field: FenField, text: impl fmt::Display, expected: &str) -> Self {
        Self { field, text: text.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "bad {} {:?}: expected {}", self.field, self.text, self.expected)
    }
}

impl std::error::Error for FenError {}

/// Parses a FEN of four to six fields: the halfmove clock defaults to 0, the fullmove number to 1. Castling rights may
/// be written as in FEN, X-FEN or Shredder-FEN.
impl FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Self, FenError> {
        let field_count = || FenError::new(FenField::Whole, fen, "four to six fields");
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        let (&[placement, side, castling, en_passant], clocks) = fields.split_first_chunk().ok_or_else(field_count)?;
        if clocks.len() > 2 {
            return Err(field_count());
        }
        let mut position = Position {
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
            halfmove_clock: parse_number(clocks.first(), 0, FenField::HalfmoveClock)?,
            fullmove_number: parse_number(clocks.get(1), 1, FenField::FullmoveNumber)?.max(1),
            side: match side {
                "w" => Color::White,
                "b" => Color::Black,
                _ => return Err(FenError::new(FenField::SideToMove, side, "\"w\" or \"b\"")),
            },
        };
        let pieces = parse_placement(placement)?;
        check_material(&pieces, placement)?;
        position.place_pieces(&pieces);
        position.parse_castling(castling)?;
        let target = position.parse_en_passant(en_passant)?;
        position = position.recompute();
        position.check_checkers(side)?;
        if let Some(target) = target {
            position.set_en_passant(target);
        }
        Ok(position)
    }
}

fn parse_number(text: Option<&&str>, default: u16, field: FenField) -> Result<u16, FenError> {
    let Some(text) = text else { return Ok(default) };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let expected = || format!("a whole number from 0 to {}", u16::MAX);
    text.parse().ok().filter(|_| digits).ok_or_else(|| FenError::new(field, text, &expected()))
}

/// Writes the first field of a FEN: the piece placement.
pub(crate) fn placement(piece_on: impl Fn(Square) -> Option<Piece>) -> String {
    let mut text = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        let mut empty = 0;
        for file in File::ALL {
            let Some(piece) = piece_on(Square::new(file, rank)) else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                text += &empty.to_string();
                empty = 0;
            }
            text.push(piece.letter());
        }
        if empty > 0 {
            text += &empty.to_string();
        }
        if rank != Rank::First {
            text.push('/');
        }
    }
    text
}

fn parse_placement(text: &str) -> Result<Vec<(Piece, Square)>, FenError> {
    let error = |expected| FenError::new(FenField::Placement, text, expected);
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != 8 {
        return Err(error("eight ranks separated by \"/\""));
    }
    let mut pieces = Vec::new();
    for (rank, row) in Rank::ALL.into_iter().rev().zip(rows) {
        let row_error = |expected| FenError::new(FenField::Placement, row, expected);
        let mut file = 0;
        let mut after_digit = false;
        for letter in row.chars() {
            if let Some(empty) = letter.to_digit(10) {
                if !(1..=8).contains(&empty) || after_digit {
                    return Err(row_error("empty squares as one digit from 1 to 8"));
                }
                file += empty as usize;
                after_digit = true;
                continue;
            }
            after_digit = false;
            let piece = Piece::from_letter(letter)
                .ok_or_else(|| row_error("pieces as letters PNBRQKpnbrqk and empty squares as digits"))?;
            let file_of_piece = File::from_index(file).ok_or_else(|| row_error("eight squares in each rank"))?;
            pieces.push((piece, Square::new(file_of_piece, rank)));
            file += 1;
        }
        if file != 8 {
            return Err(row_error("eight squares in each rank"));
        }
    }
    Ok(pieces)
}

/// The most pieces of a side.
const MAX_PIECES: usize = 16;
/// The most pawns of a side.
const MAX_PAWNS: usize = 8;

fn check_material(pieces: &[(Piece, Square)], text: &str) -> Result<(), FenError> {
    let error = |expected: &str| Err(FenError::new(FenField::Placement, text, expected));
    for color in Color::ALL {
        let own = pieces.iter().filter(|(piece, _)| piece.color() == color);
        let count = |kind| own.clone().filter(|(piece, _)| piece.kind() == kind).count();
        if count(PieceType::King) != 1 {
            return error("one king on each side");
        }
        if own.clone().count() > MAX_PIECES {
            return error(&format!("at most {MAX_PIECES} pieces on each side"));
        }
        if count(PieceType::Pawn) > MAX_PAWNS {
            return error(&format!("at most {MAX_PAWNS} pawns on each side"));
        }
    }
    let is_edge = |square: Square| matches!(square.rank(), Rank::First | Rank::Eighth);
    if pieces.iter().any(|&(piece, square)| piece.kind() == PieceType::Pawn && is_edge(square)) {
        return error("no pawn on the first or last rank");
    }
    Ok(())
}

impl Position {
    /// Puts the pieces on the empty board and assigns their ids.
    fn place_pieces(&mut self, pieces: &[(Piece, Square)]) {
        let mut next_id = [1; 2];
        for &(piece, square) in pieces {
            let id = if piece.kind() == PieceType::King {
                0
            } else {
                next_id[piece.color()] += 1;
                next_id[piece.color()] - 1
            };
            self.add_piece(Place::new(piece, id), square, &mut Keys::default());
        }
    }

    fn parse_castling(&mut self, text: &str) -> Result<(), FenError> {
        let error = |expected| Err(FenError::new(FenField::Castling, text, expected));
        if text == "-" {
            return Ok(());
        }
        for letter in text.chars() {
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            let home = Rank::First.relative(color);
            let king = self.king(color);
            if king.rank() != home {
                return error("castling rights only for a king on its own first rank");
            }
            let rooks = self.pieces(color, PieceType::Rook) & home.into();
            let rooks_on = |side: CastlingSide| {
                rooks.into_iter().filter(move |rook| (*rook > king) == (side == CastlingSide::King))
            };
            let rook = match letter.to_ascii_lowercase() {
                'k' => rooks_on(CastlingSide::King).last(),
                'q' => rooks_on(CastlingSide::Queen).next(),
                file @ 'a'..='h' => {
                    File::from_letter(file).map(|file| Square::new(file, home)).filter(|&square| rooks.has(square))
                }
                _ => return error("\"-\", or letters KQkq, or files A-H and a-h of the rooks"),
            };
            let Some(rook) = rook else {
                return error("a rook on the king's rank for each castling right");
            };
            let side = if rook > king { CastlingSide::King } else { CastlingSide::Queen };
            if self.castling.rook(color, side).is_some() {
                return error("at most one right for each color and castling side");
            }
            self.castling.grant(color, side, rook.file());
        }
        Ok(())
    }

    fn parse_en_passant(&self, text: &str) -> Result<Option<Square>, FenError> {
        let error = |expected| Err(FenError::new(FenField::EnPassant, text, expected));
        if text == "-" {
            return Ok(None);
        }
        let Some(target) = Square::from_name(text) else {
            return error("\"-\" or a square such as e3");
        };
        let (us, them) = (self.side, !self.side);
        if target.rank() != Rank::Sixth.relative(us) {
            return error("a square on the third rank with Black to move, or on the sixth with White to move");
        }
        let pawn = target.forward(them);
        let origin = target.forward(us);
        if self.piece_on(pawn) != Some(Piece::new(them, PieceType::Pawn)) {
            return error("a square that an enemy pawn has just passed");
        }
        if self.piece_on(target).is_some() || self.piece_on(origin).is_some() {
            return error("an empty square, with the empty square behind it from which the pawn came");
        }
        Ok(Some(target))
    }

    fn check_checkers(&self, side: &str) -> Result<(), FenError> {
        if self.is_attacked(self.king(!self.side), self.side) {
            return Err(FenError::new(FenField::SideToMove, side, "the side that is in check to be the side to move"));
        }
        if self.checkers().len() > 2 {
            return Err(FenError::new(FenField::SideToMove, side, "at most two pieces giving check"));
        }
        Ok(())
    }

    /// Writes the position as a FEN. Castling rights are written `KQkq` where that is unambiguous and else as the
    /// rook's file (X-FEN), or always as files if `shredder` (Shredder-FEN). The en passant square is written only if
    /// an en passant capture is legal.
    pub fn fen(&self, shredder: bool) -> String {
        let pieces = placement(|square| self.piece_on(square));
        let side = if self.side == Color::White { 'w' } else { 'b' };
        let castling = self.castling_letters(shredder);
        let en_passant = self.en_passant.map_or("-".into(), |square| square.to_string());
        format!("{pieces} {side} {castling} {en_passant} {} {}", self.halfmove_clock, self.fullmove_number)
    }

    fn castling_letters(&self, shredder: bool) -> String {
        let mut letters = String::new();
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                let Some(file) = self.castling.rook(color, side) else { continue };
                let rank = Rank::First.relative(color);
                let rooks = self.pieces(color, PieceType::Rook) & rank.into();
                let outermost = match side {
                    CastlingSide::King => rooks.into_iter().last(),
                    CastlingSide::Queen => rooks.first(),
                };
                let letter = if shredder || outermost != Some(Square::new(file, rank)) {
                    file.letter()
                } else {
                    ['k', 'q'][side]
                };
                letters.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
            }
        }
        if letters.is_empty() { "-".into() } else { letters }
    }
}
