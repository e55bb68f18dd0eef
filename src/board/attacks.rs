//! Queries of the attack tables.

use super::Position;
use crate::simd::native;
use crate::types::{Bitboard, Color, PieceType, Square};

impl Position {
    /// Returns the squares that a side attacks, including squares of its own pieces that it defends. Sliders are
    /// blocked by the first piece of either side, the enemy king included.
    #[inline]
    pub fn attacked(&self, by: Color) -> Bitboard {
        Bitboard(native::any(&self.attacks[by], !0))
    }

    /// Returns whether a side attacks a square.
    #[inline]
    pub fn is_attacked(&self, square: Square, by: Color) -> bool {
        self.attacks[by].0[square] != 0
    }

    /// Returns how many pieces of a side attack a square.
    #[inline]
    pub fn attacker_count(&self, square: Square, by: Color) -> u32 {
        self.attacks[by].0[square].count_ones()
    }

    /// Returns the squares attacked by a side's pieces of one type.
    #[inline]
    pub fn attacked_by(&self, color: Color, kind: PieceType) -> Bitboard {
        Bitboard(native::any(&self.attacks[color], self.ids[color][kind]))
    }

    /// Returns the pieces of `color` attacked by an enemy piece of lesser value: knights and bishops by a pawn, rooks
    /// by a pawn or minor piece, queens by a pawn, minor piece or rook.
    pub fn threatened_by_lesser(&self, color: Color) -> Bitboard {
        let (ids, attacks) = (&self.ids[!color], &self.attacks[!color]);
        let pawns = ids[PieceType::Pawn];
        let up_to_minors = pawns | ids[PieceType::Knight] | ids[PieceType::Bishop];
        let up_to_rooks = up_to_minors | ids[PieceType::Rook];
        let own = |kind| self.pieces(color, kind);
        let attacked_by = |ids| Bitboard(native::any(attacks, ids));
        ((own(PieceType::Knight) | own(PieceType::Bishop)) & attacked_by(pawns))
            | (own(PieceType::Rook) & attacked_by(up_to_minors))
            | (own(PieceType::Queen) & attacked_by(up_to_rooks))
    }

    /// Returns how many of `squares` a side's pieces of one type attack, counting a square once for each attacker.
    #[inline]
    pub fn mobility(&self, color: Color, kind: PieceType, squares: Bitboard) -> u32 {
        native::count(&self.attacks[color], [(squares.0, self.ids[color][kind])])
    }
}
