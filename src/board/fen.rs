//! Forsyth-Edwards notation (FEN). Parsing is strict: it rejects what breaks the rules of chess or Chess960 (the
//! numbers of kings, pieces and pawns, the ranks of pawns, who is in check and by how many, castling rights, en
//! passant), and says why. A position need not be reachable by a game. For FENs edited by hand there is
//! [`Position::from_fen_lenient`].

use super::Position;
use crate::quote::quote;
use crate::types::{CastlingSide, Color, File, Piece, PieceType, Rank, Square};
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
        write!(f, "bad {} {}: expected {}", self.field, quote(&self.text), self.expected)
    }
}

impl std::error::Error for FenError {}

/// Parses a FEN of four to six fields: the halfmove clock defaults to 0, the fullmove number to 1. Castling rights may
/// be written as in FEN, X-FEN or Shredder-FEN.
impl FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Self, FenError> {
        let (position, ignored) = Position::from_fen_lenient(fen)?;
        ignored.into_iter().next().map_or(Ok(position), Err)
    }
}

fn parse_number(text: Option<&&str>, default: u16, field: FenField) -> Result<u16, FenError> {
    let Some(text) = text else { return Ok(default) };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let expected = || format!("a whole number from 0 to {}", u16::MAX);
    text.parse().ok().filter(|_| digits).ok_or_else(|| FenError::new(field, text, &expected()))
}

/// Writes the first field of a FEN: the piece placement.
fn placement(piece_on: impl Fn(Square) -> Option<Piece>) -> String {
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

fn parse_en_passant(text: &str) -> Result<Option<Square>, FenError> {
    if text == "-" {
        return Ok(None);
    }
    let target = Square::from_name(text);
    target.map(Some).ok_or_else(|| FenError::new(FenField::EnPassant, text, "\"-\" or a square such as e3"))
}

impl Position {
    /// Parses a FEN as [`FromStr`] does, but ignores castling rights without king or rook in place, and an en passant
    /// square that no pawn can just have passed: FENs edited by hand often keep them. Returns the position, and for
    /// each field with something ignored the error that strict parsing reports.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let (position, ignored) = Position::from_fen_lenient("4k3/8/8/8/8/8/8/4K2R w KQkq e3 0 1")?;
    /// assert_eq!(position.fen(false), "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    /// assert_eq!(ignored.iter().map(|error| error.text.as_str()).collect::<Vec<_>>(), ["Qkq", "e3"]);
    /// # Ok::<(), kiln::board::FenError>(())
    /// ```
    ///
    /// # Errors
    /// If anything else is wrong.
    pub fn from_fen_lenient(fen: &str) -> Result<(Self, Vec<FenError>), FenError> {
        let field_count = || FenError::new(FenField::Whole, fen, "four to six fields");
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        let (&[placement, side, castling, en_passant], clocks) = fields.split_first_chunk().ok_or_else(field_count)?;
        if clocks.len() > 2 {
            return Err(field_count());
        }
        let color = match side {
            "w" => Color::White,
            "b" => Color::Black,
            _ => return Err(FenError::new(FenField::SideToMove, side, "\"w\" or \"b\"")),
        };
        let halfmove_clock = parse_number(clocks.first(), 0, FenField::HalfmoveClock)?;
        let fullmove_number = parse_number(clocks.get(1), 1, FenField::FullmoveNumber)?;
        let mut position = Position::with_pieces(parse_placement(placement)?, color, halfmove_clock, fullmove_number)
            .map_err(|expected| FenError::new(FenField::Placement, placement, &expected))?;
        let mut ignored = Vec::from_iter(position.parse_castling(castling)?);
        let mut target = parse_en_passant(en_passant)?;
        if let Some(square) = target
            && let Err(expected) = position.check_en_passant(square)
        {
            ignored.push(FenError::new(FenField::EnPassant, en_passant, expected));
            target = None;
        }
        let position =
            position.finish(target).map_err(|expected| FenError::new(FenField::SideToMove, side, expected))?;
        Ok((position, ignored))
    }

    /// Grants castling rights. Returns the error of those without king or rook in place.
    fn parse_castling(&mut self, text: &str) -> Result<Option<FenError>, FenError> {
        let error = |expected| FenError::new(FenField::Castling, text, expected);
        if text == "-" {
            return Ok(None);
        }
        let mut ignored: Option<FenError> = None;
        for letter in text.chars() {
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            let home = Rank::First.relative(color);
            let rooks = || (self.pieces(color, PieceType::Rook) & home.into()).into_iter();
            let king = self.king(color);
            let rook = match letter.to_ascii_lowercase() {
                'k' => rooks().filter(|&rook| rook > king).last(),
                'q' => rooks().find(|&rook| rook < king),
                file @ 'a'..='h' => File::from_letter(file).map(|file| Square::new(file, home)),
                _ => return Err(error("\"-\", or letters KQkq, or files A-H and a-h of the rooks")),
            };
            if let Err(expected) = self.grant_castling(color, rook) {
                ignored.get_or_insert_with(|| FenError::new(FenField::Castling, "", expected)).text.push(letter);
            }
        }
        Ok(ignored)
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
