use super::{Color, File, small_enum};

small_enum! {
    /// The side of the king towards which it castles: `King` ends on the g-file, `Queen` on the c-file.
    CastlingSide, 2, [King, Queen]
}

impl CastlingSide {
    /// Where the king ends.
    pub const fn king_target(self) -> File {
        match self {
            Self::King => File::G,
            Self::Queen => File::C,
        }
    }

    /// Where the rook ends.
    pub const fn rook_target(self) -> File {
        match self {
            Self::King => File::F,
            Self::Queen => File::D,
        }
    }
}

/// The rooks that may still castle, by their files, as Chess960 needs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CastlingRights([[Option<File>; 2]; 2]);

const _: () = assert!(size_of::<CastlingRights>() == 4);

impl CastlingRights {
    /// No rights at all.
    pub const NONE: Self = Self([[None; 2]; 2]);

    /// The file of the rook with which `color` may castle towards `castling_side`.
    #[inline]
    pub fn rook(self, color: Color, castling_side: CastlingSide) -> Option<File> {
        self.0[color][castling_side]
    }

    /// Whether `color` has any right.
    #[inline]
    pub fn any(self, color: Color) -> bool {
        self.0[color] != [None; 2]
    }

    /// Gives the right to castle with the rook on `file`.
    pub fn grant(&mut self, color: Color, castling_side: CastlingSide, file: File) {
        self.0[color][castling_side] = Some(file);
    }

    /// Takes one right away.
    #[inline]
    pub fn revoke(&mut self, color: Color, castling_side: CastlingSide) {
        self.0[color][castling_side] = None;
    }
}
