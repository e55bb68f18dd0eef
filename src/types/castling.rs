//! Castling sides and castling rights.

use super::{Color, File, small_enum};

small_enum! {
    /// The side of the board on which a king castles: kingside (the king ends on the g-file) or queenside (on the
    /// c-file).
    ///
    /// ```
    /// use kiln::types::{CastlingSide, File};
    ///
    /// let side = CastlingSide::Queen;
    /// assert_eq!((side.king_target(), side.rook_target()), (File::C, File::D));
    /// ```
    CastlingSide, 2, [King, Queen]
}

impl CastlingSide {
    /// Returns the file on which the king ends.
    pub const fn king_target(self) -> File {
        match self {
            Self::King => File::G,
            Self::Queen => File::C,
        }
    }

    /// Returns the file on which the rook ends.
    pub const fn rook_target(self) -> File {
        match self {
            Self::King => File::F,
            Self::Queen => File::D,
        }
    }
}

/// Which rooks may still castle, stored as their files, as Chess960 requires.
///
/// ```
/// use kiln::types::{CastlingRights, CastlingSide, Color, File};
///
/// let mut rights = CastlingRights::NONE;
/// rights.grant(Color::White, CastlingSide::King, File::H);
/// assert_eq!(rights.rook(Color::White, CastlingSide::King), Some(File::H));
/// assert_eq!(rights.rook(Color::White, CastlingSide::Queen), None);
/// rights.revoke(Color::White, CastlingSide::King);
/// assert!(!rights.any(Color::White));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CastlingRights([[Option<File>; 2]; 2]);

const _: () = assert!(size_of::<CastlingRights>() == 4);

impl CastlingRights {
    /// Neither side may castle.
    pub const NONE: Self = Self([[None; 2]; 2]);

    // By reference, because the compiler copied the value to the stack.

    /// Returns the file of the rook with which `color` may castle on `side`, if it has that right.
    #[inline]
    pub fn rook(&self, color: Color, side: CastlingSide) -> Option<File> {
        self.0[color][side]
    }

    /// Returns whether `color` may castle on either side.
    #[inline]
    pub fn any(&self, color: Color) -> bool {
        self.0[color] != [None; 2]
    }

    /// Gives `color` the right to castle on `side` with the rook on `file`.
    pub fn grant(&mut self, color: Color, side: CastlingSide, file: File) {
        self.0[color][side] = Some(file);
    }

    /// Takes the right to castle on `side` from `color`.
    #[inline]
    pub fn revoke(&mut self, color: Color, side: CastlingSide) {
        self.0[color][side] = None;
    }
}
