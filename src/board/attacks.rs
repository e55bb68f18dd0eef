use super::Position;
use crate::simd::native;
use crate::tables::attacks;
use crate::types::{Bitboard, Color, PieceType, Square};

/// What the attack tables tell.
impl Position {
    /// The squares that a side attacks, those of its own pieces included that it defends. Sliders see up to the first piece
    /// of either side, the enemy's king included.
    #[inline]
    pub fn attacked(&self, by: Color) -> Bitboard {
        Bitboard(native::any(&self.attacks[by], !0))
    }

    /// Whether a side attacks a square.
    #[inline]
    pub fn is_attacked(&self, square: Square, by: Color) -> bool {
        self.attacks[by].0[square] != 0
    }

    /// How many pieces of a side attack a square.
    #[inline]
    pub fn attacker_count(&self, square: Square, by: Color) -> u32 {
        self.attacks[by].0[square].count_ones()
    }

    /// The squares that the pieces of a side and type attack.
    #[inline]
    pub fn attacked_by(&self, color: Color, kind: PieceType) -> Bitboard {
        Bitboard(native::any(&self.attacks[color], self.ids[color][kind]))
    }

    /// The squares that the piece with this id attacks.
    #[inline]
    pub(super) fn attacked_by_id(&self, color: Color, id: usize) -> Bitboard {
        if native::SCANS_FAST {
            return Bitboard(native::any(&self.attacks[color], 1 << id));
        }
        let square = self.squares[color][id];
        attacks(self.place(square).piece(), square, self.occupied())
    }

    /// The pieces of `color` that an enemy piece of less value attacks: anything but a pawn by a pawn, rooks and queens by a knight or bishop, queens by
    /// a rook.
    pub fn threatened_by_lesser(&self, color: Color) -> Bitboard {
        let (ids, table) = (&self.ids[!color], &self.attacks[!color]);
        let pawns = ids[PieceType::Pawn];
        let minors = pawns | ids[PieceType::Knight] | ids[PieceType::Bishop];
        let rooks = minors | ids[PieceType::Rook];
        let of = |kind| self.pieces(color, kind);
        let by = |ids| Bitboard(native::any(table, ids));
        ((of(PieceType::Knight) | of(PieceType::Bishop)) & by(pawns))
            | (of(PieceType::Rook) & by(minors))
            | (of(PieceType::Queen) & by(rooks))
    }

    /// How many squares the pieces of a side and type attack among `squares`, each counted once for every piece.
    #[inline]
    pub fn mobility(&self, color: Color, kind: PieceType, squares: Bitboard) -> u32 {
        native::count(&self.attacks[color], squares.0, self.ids[color][kind])
    }
}
