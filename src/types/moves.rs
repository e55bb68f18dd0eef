use super::{CastlingSide, PieceType, Square};
use std::fmt;
use std::num::NonZeroU16;

/// What a move does besides going from one square to another. Bit 2 marks captures, bit 3 promotions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MoveKind {
    /// Nothing else.
    Quiet = 0,
    /// A pawn's step of two ranks.
    DoublePush = 1,
    /// Castling, written as the king taking its own rook.
    Castle = 2,
    /// Takes the piece on the target square.
    Capture = 4,
    /// Takes the pawn that has just passed by.
    EnPassant = 5,
    /// Becomes a knight.
    PromoteKnight = 8,
    /// Becomes a bishop.
    PromoteBishop = 9,
    /// Becomes a rook.
    PromoteRook = 10,
    /// Becomes a queen.
    PromoteQueen = 11,
    /// Takes and becomes a knight.
    CapturePromoteKnight = 12,
    /// Takes and becomes a bishop.
    CapturePromoteBishop = 13,
    /// Takes and becomes a rook.
    CapturePromoteRook = 14,
    /// Takes and becomes a queen.
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

    /// The promotion to `piece`, by capture or not; none if a pawn cannot become `piece`.
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

/// A move in 16 bits: from (bits 0–5), to (6–11), [`MoveKind`] (12–15). Castling goes from the king's to the rook's square.
///
/// Zero would be a quiet move from a1 to a1, which does not exist: `Option<Move>` has the size of `Move`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Move(NonZeroU16);

const _: () = assert!(size_of::<Option<Move>>() == 2);

impl Move {
    /// A move between two different squares.
    ///
    /// # Panics
    /// On the quiet move from a1 to a1.
    #[inline]
    pub const fn new(from: Square, to: Square, kind: MoveKind) -> Self {
        match NonZeroU16::new(from as u16 | (to as u16) << 6 | (kind as u16) << 12) {
            Some(word) => Self(word),
            None => panic!("a move from a1 to a1"),
        }
    }

    /// The move of a 16-bit word; none for zero and for the three unused kinds. It need not be legal anywhere.
    pub const fn from_word(word: u16) -> Option<Self> {
        match (NonZeroU16::new(word), MoveKind::from_code(word >> 12)) {
            (Some(word), Some(_)) => Some(Self(word)),
            _ => None,
        }
    }

    /// The 16 bits.
    #[inline]
    pub const fn word(self) -> u16 {
        self.0.get()
    }

    /// Where the piece comes from.
    #[inline]
    pub const fn from(self) -> Square {
        Square::wrapping(self.word() as usize)
    }

    /// Where the piece goes; for castling the rook's square.
    #[inline]
    pub const fn to(self) -> Square {
        Square::wrapping((self.word() >> 6) as usize)
    }

    /// What else it does.
    #[inline]
    pub const fn kind(self) -> MoveKind {
        match MoveKind::from_code(self.word() >> 12) {
            Some(kind) => kind,
            None => unreachable!(),
        }
    }

    /// Whether it takes a piece, en passant included.
    #[inline]
    pub const fn is_capture(self) -> bool {
        self.word() & 0x4000 != 0
    }

    /// The piece that a pawn becomes.
    #[inline]
    pub const fn promotion(self) -> Option<PieceType> {
        if self.word() & 0x8000 == 0 {
            return None;
        }
        Some(match self.word() >> 12 & 3 {
            0 => PieceType::Knight,
            1 => PieceType::Bishop,
            2 => PieceType::Rook,
            _ => PieceType::Queen,
        })
    }

    /// Captures and promotions to a queen.
    #[inline]
    pub const fn is_noisy(self) -> bool {
        self.is_capture() || matches!(self.kind(), MoveKind::PromoteQueen)
    }

    /// For castling: towards which castling_side.
    #[inline]
    pub const fn castling_side(self) -> CastlingSide {
        if self.to() as u8 > self.from() as u8 { CastlingSide::King } else { CastlingSide::Queen }
    }

    /// The move in UCI notation; castling as the king's move of two squares, or as king takes rook if `chess960`.
    pub fn uci(self, chess960: bool) -> String {
        let to = match self.kind() {
            MoveKind::Castle if !chess960 => Square::new(self.castling_side().king_target(), self.from().rank()),
            _ => self.to(),
        };
        let promotion = self.promotion().map(|kind| kind.letter().to_string()).unwrap_or_default();
        format!("{}{to}{promotion}", self.from())
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
        assert_eq!(Move::new(Square::A7, Square::B8, MoveKind::CapturePromoteKnight).uci(false), "a7b8n");
    }
}
