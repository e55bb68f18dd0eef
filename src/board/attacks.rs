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

    /// Returns by type of piece the squares that a piece of `by` of lesser value attacks: for knights and bishops a
    /// pawn, for rooks a pawn or minor piece, for queens a pawn, minor piece or rook. Pawns and kings have none.
    pub fn attacked_by_lesser(&self, by: Color) -> [Bitboard; PieceType::COUNT] {
        let ids = &self.ids[by];
        let pawns = ids[PieceType::Pawn];
        let up_to_minors = pawns | ids[PieceType::Knight] | ids[PieceType::Bishop];
        let up_to_rooks = up_to_minors | ids[PieceType::Rook];
        let [pawns, minors, rooks] =
            [pawns, up_to_minors, up_to_rooks].map(|ids| Bitboard(native::any(&self.attacks[by], ids)));
        [Bitboard::EMPTY, pawns, pawns, minors, rooks, Bitboard::EMPTY]
    }

    /// Returns the pieces of `color` [attacked by an enemy piece of lesser value](Self::attacked_by_lesser).
    pub fn threatened_by_lesser(&self, color: Color) -> Bitboard {
        let [_, minors, _, rooks, queens, _] = self.attacked_by_lesser(!color);
        let own = |kind| self.pieces(color, kind);
        ((own(PieceType::Knight) | own(PieceType::Bishop)) & minors)
            | (own(PieceType::Rook) & rooks)
            | (own(PieceType::Queen) & queens)
    }

    /// Returns how many of `squares` a side's pieces of one type attack, counting a square once for each attacker.
    #[inline]
    pub fn mobility(&self, color: Color, kind: PieceType, squares: Bitboard) -> u32 {
        native::count(&self.attacks[color], [(squares.0, self.ids[color][kind])])
    }
}
