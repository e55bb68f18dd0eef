//! Forsyth-Edwards notation, read strictly: what cannot be a position of chess or Chess960 is refused with a reason.

use super::{Keys, Place, Position};
use crate::simd::Wordboard;
use crate::types::{Bitboard, CastlingRights, CastlingSide, Color, File, Piece, PieceType, Rank, Square};
use std::fmt;
use std::str::FromStr;

/// A part of a FEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the members name themselves")]
pub enum Field {
    Whole,
    Placement,
    SideToMove,
    Castling,
    EnPassant,
    HalfmoveClock,
    FullmoveNumber,
}

impl fmt::Display for Field {
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

/// Why a FEN is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenError {
    /// The part at fault.
    pub field: Field,
    /// What stands there.
    pub text: String,
    /// What should.
    pub expected: &'static str,
}

impl FenError {
    fn new(field: Field, text: impl fmt::Display, expected: &'static str) -> Self {
        Self { field, text: text.to_string(), expected }
    }
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "bad {} {:?}: expected {}", self.field, self.text, self.expected)
    }
}

impl std::error::Error for FenError {}

/// Reads four to six fields; the clocks may be left out and are then 0 and 1. Castling may be written as in FEN, X-FEN or Shredder-FEN.
impl FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Self, FenError> {
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        let (&[placement, side, castling, en_passant], clocks) =
            fields.split_first_chunk().ok_or(FenError::new(Field::Whole, fen, "four to six fields"))?;
        if clocks.len() > 2 {
            return Err(FenError::new(Field::Whole, fen, "four to six fields"));
        }
        let mut position = Position {
            attacks: [Wordboard([0; 64]); 2],
            board: [None; 64],
            kinds: [Bitboard::EMPTY; 6],
            colors: [Bitboard::EMPTY; 2],
            squares: [[Square::A1; 16]; 2],
            ids: [[0; 6]; 2],
            keys: Keys::default(),
            castling: CastlingRights::NONE,
            en_passant: None,
            halfmove_clock: number(clocks.first(), 0, Field::HalfmoveClock)?,
            fullmove_number: number(clocks.get(1), 1, Field::FullmoveNumber)?.max(1),
            side: match side {
                "w" => Color::White,
                "b" => Color::Black,
                _ => return Err(FenError::new(Field::SideToMove, side, "\"w\" or \"b\"")),
            },
        };
        let pieces = read_placement(placement)?;
        check_material(&pieces, placement)?;
        position.number(&pieces);
        position.read_castling(castling)?;
        let target = position.read_en_passant(en_passant)?;
        position = position.recompute();
        position.check_checks(side)?;
        if let Some(target) = target {
            position.offer_en_passant(target);
        }
        Ok(position)
    }
}

fn number(text: Option<&&str>, default: u16, field: Field) -> Result<u16, FenError> {
    let Some(text) = text else { return Ok(default) };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(FenError::new(field, text, "a whole number from 0 to 65535"))
}

/// The pieces as the first field of a FEN has them.
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

fn read_placement(text: &str) -> Result<Vec<(Piece, Square)>, FenError> {
    let error = |expected| FenError::new(Field::Placement, text, expected);
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != 8 {
        return Err(error("eight ranks separated by \"/\""));
    }
    let mut pieces = Vec::new();
    for (rank, row) in Rank::ALL.into_iter().rev().zip(rows) {
        let row_error = |expected| FenError::new(Field::Placement, row, expected);
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
                .ok_or(row_error("pieces as letters PNBRQKpnbrqk and empty squares as digits"))?;
            let place = File::from_index(file).ok_or(row_error("eight squares in each rank"))?;
            pieces.push((piece, Square::new(place, rank)));
            file += 1;
        }
        if file != 8 {
            return Err(row_error("eight squares in each rank"));
        }
    }
    Ok(pieces)
}

fn check_material(pieces: &[(Piece, Square)], text: &str) -> Result<(), FenError> {
    let error = |expected| Err(FenError::new(Field::Placement, text, expected));
    for color in Color::ALL {
        let own = pieces.iter().filter(|(piece, _)| piece.color() == color);
        let count = |kind| own.clone().filter(|(piece, _)| piece.kind() == kind).count();
        if count(PieceType::King) != 1 {
            return error("one king on each side");
        }
        if own.clone().count() > 16 {
            return error("at most 16 pieces on each side");
        }
        if count(PieceType::Pawn) > 8 {
            return error("at most 8 pawns on each side");
        }
    }
    let is_edge = |square: Square| matches!(square.rank(), Rank::First | Rank::Eighth);
    if pieces.iter().any(|&(piece, square)| piece.kind() == PieceType::Pawn && is_edge(square)) {
        return error("no pawn on the first or last rank");
    }
    Ok(())
}

impl Position {
    /// Puts the pieces on the empty board and gives each its id.
    fn number(&mut self, pieces: &[(Piece, Square)]) {
        let mut next_id = [1; 2];
        for &(piece, square) in pieces {
            let id = if piece.kind() == PieceType::King {
                0
            } else {
                next_id[piece.color()] += 1;
                next_id[piece.color()] - 1
            };
            self.put(Place::new(piece, id), square);
        }
    }

    fn read_castling(&mut self, text: &str) -> Result<(), FenError> {
        let error = |expected| Err(FenError::new(Field::Castling, text, expected));
        if text == "-" {
            return Ok(());
        }
        for letter in text.chars() {
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            let home = Rank::First.relative(color);
            let king = self.king(color);
            if king.rank() != home {
                return error("castling rights only for a king on its first rank");
            }
            let rooks = self.pieces(color, PieceType::Rook) & home.into();
            let beyond = |castling_side: CastlingSide| {
                rooks.into_iter().filter(move |rook| (*rook > king) == (castling_side == CastlingSide::King))
            };
            let rook = match letter.to_ascii_lowercase() {
                'k' => beyond(CastlingSide::King).last(),
                'q' => beyond(CastlingSide::Queen).next(),
                file @ 'a'..='h' => {
                    File::from_letter(file).map(|file| Square::new(file, home)).filter(|&square| rooks.has(square))
                }
                _ => return error("\"-\", or letters KQkq or files A-H and a-h of the rooks"),
            };
            let Some(rook) = rook else {
                return error("a rook on the king's rank for each right");
            };
            let castling_side = if rook > king { CastlingSide::King } else { CastlingSide::Queen };
            if self.castling.rook(color, castling_side).is_some() {
                return error("one right for each side and castling_side");
            }
            self.castling.grant(color, castling_side, rook.file());
        }
        Ok(())
    }

    fn read_en_passant(&self, text: &str) -> Result<Option<Square>, FenError> {
        let error = |expected| Err(FenError::new(Field::EnPassant, text, expected));
        if text == "-" {
            return Ok(None);
        }
        let Some(target) = Square::from_name(text) else {
            return error("\"-\" or a square such as e3");
        };
        let (us, them) = (self.side, !self.side);
        if target.rank() != Rank::Sixth.relative(us) {
            return error("a square on the third rank with Black to move, on the sixth with White to move");
        }
        let pawn = target.forward(them);
        let origin = target.forward(us);
        if self.piece_on(pawn) != Some(Piece::new(them, PieceType::Pawn)) {
            return error("a square just passed by an enemy pawn");
        }
        if self.piece_on(target).is_some() || self.piece_on(origin).is_some() {
            return error("an empty square, and an empty one behind it, where the pawn came from");
        }
        Ok(Some(target))
    }

    fn check_checks(&self, side: &str) -> Result<(), FenError> {
        if self.is_attacked(self.king(!self.side), self.side) {
            return Err(FenError::new(Field::SideToMove, side, "the side that is in check to be the one to move"));
        }
        if self.checkers().len() > 2 {
            return Err(FenError::new(Field::SideToMove, side, "at most two pieces giving check"));
        }
        Ok(())
    }

    /// The position as a FEN. Castling rights are written `KQkq` where that is clear (X-FEN), or by the rooks' files if
    /// `shredder`. The en passant square is given only if a capture there is legal.
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
            for castling_side in CastlingSide::ALL {
                let Some(file) = self.castling.rook(color, castling_side) else { continue };
                let rank = Rank::First.relative(color);
                let rooks = self.pieces(color, PieceType::Rook) & rank.into();
                let outermost = match castling_side {
                    CastlingSide::King => rooks.into_iter().last(),
                    CastlingSide::Queen => rooks.first(),
                };
                let letter = if shredder || outermost != Some(Square::new(file, rank)) {
                    file.letter()
                } else {
                    ['k', 'q'][castling_side]
                };
                letters.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
            }
        }
        if letters.is_empty() { "-".into() } else { letters }
    }
}
