//! A position in 32 bytes: the occupied squares, the pieces on them in four bits each, the state, the outcome of the
//! game, and in the last byte, which viriformat leaves unused, the bound of a score.

use super::Outcome;
use crate::board::Position;
use crate::types::{Bitboard, Bound, CastlingSide, Color, Piece, PieceType, Square};

/// The length of a packed position in bytes.
pub const LENGTH: usize = 32;
/// The most pieces of which a packed position has room for the codes.
const MAX_PIECES: u32 = 32;

/// The code of a rook that may castle, in place of its type.
const UNMOVED_ROOK: u8 = 6;
const NO_SQUARE: u8 = 64;
/// The flag of Black to move in the byte of the en passant square.
const BLACK: u8 = 0x80;

/// Packs a position with the outcome and the bound of its game.
pub fn pack(position: &Position, outcome: Outcome, bound: Option<Bound>) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&position.occupied().0.to_le_bytes());
    for (i, square) in position.occupied().into_iter().enumerate() {
        let piece = position.piece_on(square).expect("the square is occupied");
        let code = if may_castle(position, square, piece) { UNMOVED_ROOK } else { piece.kind() as u8 };
        bytes[8 + i / 2] |= (code | (piece.color() as u8) << 3) << (i % 2 * 4);
    }
    let side = if position.side_to_move() == Color::Black { BLACK } else { 0 };
    bytes[24] = side | position.en_passant().map_or(NO_SQUARE, |square| square as u8);
    bytes[25] = position.halfmove_clock().min(255) as u8;
    bytes[26..28].copy_from_slice(&position.fullmove_number().to_le_bytes());
    bytes[30] = outcome as u8;
    bytes[31] = Bound::code(bound);
    bytes
}

fn may_castle(position: &Position, square: Square, piece: Piece) -> bool {
    let color = piece.color();
    piece.kind() == PieceType::Rook
        && square.rank() == position.king(color).rank()
        && CastlingSide::ALL.into_iter().any(|side| position.castling().rook(color, side) == Some(square.file()))
}

/// Inverts [`pack`].
///
/// # Errors
/// A sentence that says why the bytes are no legal position.
pub fn unpack(bytes: &[u8; LENGTH]) -> Result<(Position, Outcome, Option<Bound>), String> {
    let [occupied, low, high, state] = std::array::from_fn(|i| {
        u64::from_le_bytes(*bytes[8 * i..].first_chunk().expect("32 bytes are four times eight"))
    });
    let occupied = Bitboard(occupied);
    if occupied.len() > MAX_PIECES {
        return Err(format!("{} pieces are on the board; at most {MAX_PIECES} are allowed", occupied.len()));
    }
    let codes = u128::from(low) | u128::from(high) << 64;
    let (mut board, mut unmoved_rooks) = ([None; 64], Bitboard::EMPTY);
    for (i, square) in occupied.into_iter().enumerate() {
        let code = (codes >> (4 * i)) as u8 & 15;
        let color = if code & 8 == 0 { Color::White } else { Color::Black };
        let kind = match code & 7 {
            UNMOVED_ROOK => {
                unmoved_rooks |= square.into();
                PieceType::Rook
            }
            code => PieceType::from_index(code.into())
                .ok_or_else(|| format!("{code} is not the code of a piece; codes are 0 to {UNMOVED_ROOK}"))?,
        };
        board[square] = Some(Piece::new(color, kind));
    }
    let [flags, clock, move_low, move_high, _, _, outcome, bound] = state.to_le_bytes();
    let en_passant = match flags & !BLACK {
        NO_SQUARE => None,
        square => Some(Square::from_index(square.into()).ok_or_else(|| {
            let last = Square::COUNT - 1;
            format!("{square} is not an en passant square; squares are 0 to {last}, and {NO_SQUARE} is none")
        })?),
    };
    let outcome = match outcome {
        0 => Outcome::BlackWins,
        1 => Outcome::Draw,
        2 => Outcome::WhiteWins,
        other => {
            let (first, last) = (Outcome::BlackWins as u8, Outcome::WhiteWins as u8);
            return Err(format!("{other} is not an outcome; outcomes are {first} to {last}"));
        }
    };
    let bound = match bound {
        0 => None,
        code => Some(Bound::from_code(code).ok_or_else(|| {
            let (first, last) = (Bound::Upper as u8, Bound::Exact as u8);
            format!("{code} is not a bound; bounds are {first} to {last}, and 0 is none")
        })?),
    };
    let side = if flags & BLACK == 0 { Color::White } else { Color::Black };
    let number = u16::from_le_bytes([move_low, move_high]);
    // In the order of a FEN, which that of the ids is.
    let pieces = Square::ALL.into_iter().map(Square::flip_rank).filter_map(|square| Some((board[square]?, square)));
    let bad = |part: &str, expected: &str| format!("bad {part}: expected {expected}");
    let mut position =
        Position::with_pieces(pieces, side, clock.into(), number).map_err(|expected| bad("pieces", &expected))?;
    for rook in unmoved_rooks {
        let color = position.piece_on(rook).expect("a rook is there").color();
        position
            .grant_castling(color, Some(rook))
            .map_err(|expected| bad(&format!("castling right of the rook on {rook}"), expected))?;
    }
    if let Some(target) = en_passant {
        position.check_en_passant(target).map_err(|expected| bad("en passant square", expected))?;
    }
    let position = position.finish(en_passant).map_err(|expected| bad("side to move", expected))?;
    Ok((position, outcome, bound))
}
