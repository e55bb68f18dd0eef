//! Moves, packed into 16 bits.

use super::{CastlingSide, PieceType, Square};
use std::fmt;
use std::num::NonZeroU16;

/// What a move does besides moving a piece from one square to another. Bit 2 is set for captures, bit 3 for promotions.
///
/// ```
/// use kiln::types::{MoveKind, PieceType};
///
/// assert_eq!(MoveKind::promotion(PieceType::Rook, true), Some(MoveKind::CapturePromoteRook));
/// assert_eq!(MoveKind::promotion(PieceType::King, false), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MoveKind {
    /// No capture, promotion, double push or castling.
    Quiet = 0,
    /// A pawn moves two squares.
    DoublePush = 1,
    /// Castling, encoded as the king capturing its own rook.
    Castle = 2,
    /// Captures the piece on the target square.
    Capture = 4,
    /// A pawn captures en passant.
    EnPassant = 5,
    /// Promotes to a knight.
    PromoteKnight = 8,
    /// Promotes to a bishop.
    PromoteBishop = 9,
    /// Promotes to a rook.
    PromoteRook = 10,
    /// Promotes to a queen.
    PromoteQueen = 11,
    /// Captures and promotes to a knight.
    CapturePromoteKnight = 12,
    /// Captures and promotes to a bishop.
    CapturePromoteBishop = 13,
    /// Captures and promotes to a rook.
    CapturePromoteRook = 14,
    /// Captures and promotes to a queen.
    CapturePromoteQueen = 15,
}

impl MoveKind {
    const fn from_code(code: u16) -> Option<Self> {
        Some(match code {
            0 => Self::Quiet,
            1 => Self::DoublePush,
            2 => Self::Castle,
            4 => Self::Capture,
            5 => Self::EnPassant,
            8 => Self::PromoteKnight,
            9 => Self::PromoteBishop,
            10 => Self::PromoteRook,
            11 => Self::PromoteQueen,
            12 => Self::CapturePromoteKnight,
            13 => Self::CapturePromoteBishop,
            14 => Self::CapturePromoteRook,
            15 => Self::CapturePromoteQueen,
            _ => return None,
        })
    }

    /// Returns whether moves of this kind capture a piece.
    #[inline]
    pub const fn is_capture(self) -> bool {
        self as u8 & 4 != 0
    }

    /// Returns the type of piece to which a pawn promotes, or `None` if the kind is no promotion.
    #[inline]
    pub const fn promoted(self) -> Option<PieceType> {
        if (self as u8) < 8 {
            return None;
        }
        Some(match self as u8 & 3 {
            0 => PieceType::Knight,
            1 => PieceType::Bishop,
            2 => PieceType::Rook,
            _ => PieceType::Queen,
        })
    }

    /// Returns the promotion to `piece`, with or without a capture, or `None` if a pawn cannot promote to `piece`.
    #[inline]
    pub const fn promotion(piece: PieceType, capture: bool) -> Option<Self> {
        let code = match piece {
            PieceType::Knight => 8,
            PieceType::Bishop => 9,
            PieceType::Rook => 10,
            PieceType::Queen => 11,
            PieceType::Pawn | PieceType::King => return None,
        };
        Self::from_code(code | (capture as u16) << 2)
    }
}

/// A move in 16 bits: from (bits 0–5), to (bits 6–11) and [`MoveKind`] (bits 12–15). Castling goes from the king's
/// square to the rook's.
///
/// A move carries no position and need not be legal: see [`Position::is_legal`](crate::board::Position::is_legal). Zero
/// would be a quiet move from a1 to a1, which does not exist, so `Option<Move>` is as small as `Move`.
///
/// ```
/// use kiln::types::{Move, MoveKind, PieceType, Square};
///
/// let mv = Move::new(Square::A7, Square::B8, MoveKind::CapturePromoteKnight);
/// assert_eq!((mv.from(), mv.to()), (Square::A7, Square::B8));
/// assert!(mv.is_capture());
/// assert_eq!(mv.promotion(), Some(PieceType::Knight));
/// assert_eq!(mv.uci(false), "a7b8n");
///
/// let castling = Move::new(Square::E1, Square::H1, MoveKind::Castle);
/// assert_eq!((castling.uci(false), castling.uci(true)), ("e1g1".into(), "e1h1".into()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Move(NonZeroU16);

const _: () = assert!(size_of::<Option<Move>>() == 2);

impl Move {
    /// Returns the move of `kind` from one square to another.
    ///
    /// # Panics
    /// If the move is quiet and goes from a1 to a1.
    #[inline]
    pub const fn new(from: Square, to: Square, kind: MoveKind) -> Self {
        match NonZeroU16::new(from as u16 | (to as u16) << 6 | (kind as u16) << 12) {
            Some(word) => Self(word),
            None => panic!("a quiet move goes from a1 to a1"),
        }
    }

    /// Returns the move with this 16-bit encoding, or `None` for zero and for the three unused kinds. The move need not
    /// be legal in any position.
    pub const fn from_word(word: u16) -> Option<Self> {
        match (NonZeroU16::new(word), MoveKind::from_code(word >> 12)) {
            (Some(word), Some(_)) => Some(Self(word)),
            _ => None,
        }
    }

    /// Returns the 16-bit encoding.
    #[inline]
    pub const fn word(self) -> u16 {
        self.0.get()
    }

    /// Returns the square that the piece leaves.
    #[inline]
    pub const fn from(self) -> Square {
        Square::wrapping(self.word() as usize)
    }

    /// Returns the target square: for castling, the rook's square before the move.
    #[inline]
    pub const fn to(self) -> Square {
        Square::wrapping((self.word() >> 6) as usize)
    }

    /// Returns what kind of move it is.
    #[inline]
    pub const fn kind(self) -> MoveKind {
        match MoveKind::from_code(self.word() >> 12) {
            Some(kind) => kind,
            None => unreachable!(),
        }
    }

    /// Returns whether the move captures a piece, en passant included.
    #[inline]
    pub const fn is_capture(self) -> bool {
        self.word() & 0x4000 != 0
    }

    /// Returns the type of piece to which a pawn promotes, or `None` if the move is no promotion.
    #[inline]
    pub const fn promotion(self) -> Option<PieceType> {
        if self.word() & 0x8000 == 0 { None } else { self.kind().promoted() }
    }

    /// Returns whether the move is noisy: a capture or a promotion to a queen. All other moves are quiet.
    #[inline]
    pub const fn is_noisy(self) -> bool {
        self.is_capture() || self.word() >> 12 == MoveKind::PromoteQueen as u16
    }

    /// Returns the side of a castling move. Meaningless for other moves.
    #[inline]
    pub const fn castling_side(self) -> CastlingSide {
        if self.to() as u8 > self.from() as u8 { CastlingSide::King } else { CastlingSide::Queen }
    }

    /// Returns the move in UCI notation: castling as the king's move to its target square, or, if `chess960`, as the
    /// king capturing its rook.
    pub fn uci(self, chess960: bool) -> String {
        let to = match self.kind() {
            MoveKind::Castle if !chess960 => Square::new(self.castling_side().king_target(), self.from().rank()),
            _ => self.to(),
        };
        let promotion = self.promotion().map(|kind| kind.letter().to_string()).unwrap_or_default();
        format!("{}{to}{promotion}", self.from())
    }
}

/// Formats the move in UCI notation, with castling as the king's move: [`Move::uci`] without Chess960.
///
/// There is no `FromStr`, because the kind of a move depends on the position: see
/// [`Position::parse_move`](crate::board::Position::parse_move).
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(&self.uci(false))
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {:?}", self.uci(true), self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        let mut valid = 0;
        for word in 0..=u16::MAX {
            let Some(mv) = Move::from_word(word) else { continue };
            valid += 1;
            assert_eq!(Move::new(mv.from(), mv.to(), mv.kind()), mv);
            assert_eq!(mv.word(), word);
            assert_eq!(mv.promotion().is_some(), format!("{:?}", mv.kind()).contains("Promote"));
            assert_eq!(
                mv.is_capture(),
                matches!(mv.kind(), MoveKind::EnPassant) | format!("{mv:?}").contains(" Capture")
            );
        }
        assert_eq!(valid, 13 * 4096 - 1);
    }

    #[test]
    fn notation() {
        let castle = Move::new(Square::E8, Square::A8, MoveKind::Castle);
        assert_eq!((castle.uci(false), castle.uci(true)), ("e8c8".into(), "e8a8".into()));
        assert_eq!(format!("{castle:>6}"), "  e8c8");
        assert_eq!(Move::new(Square::A7, Square::B8, MoveKind::CapturePromoteKnight).uci(false), "a7b8n");
    }
}
