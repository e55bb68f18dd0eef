//! The cuckoo table of reversible moves.

use crate::types::Square;
use kiln_gen::embed;
use kiln_gen::layout::Cuckoo;

pub(super) static CUCKOO: &Cuckoo = embed!("cuckoo");

/// Returns the squares of the reversible move that changes a position's key by `difference`, the lower first, or `None`
/// if no such move exists.
///
/// `difference` is the exclusive or of the keys of two positions with different sides to move. The caller must check
/// that the squares between are empty and whose piece it is: the key does not tell on which of the two squares the
/// piece is. The method is Marcel van Kervinck's.
///
/// ```
/// use kiln::board::Position;
/// use kiln::tables::cuckoo;
/// use kiln::types::Square;
/// let start = Position::startpos();
/// let after = |text| start.make(start.parse_move(text).unwrap());
/// assert_eq!(cuckoo(start.key() ^ after("g1f3").key()), Some((Square::G1, Square::F3)));
/// assert_eq!(cuckoo(start.key() ^ after("e2e3").key()), None);
/// ```
#[inline]
pub fn cuckoo(difference: u64) -> Option<(Square, Square)> {
    let [a, b] = CUCKOO.find(difference)?;
    Some((Square::wrapping(a.into()), Square::wrapping(b.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{
        bishop_attacks, black_to_move_key, castling_key, en_passant_key, king_attacks, knight_attacks, piece_key,
        queen_attacks, rook_attacks,
    };
    use crate::types::{Bitboard, Color, File, Piece, PieceType};

    #[test]
    fn exactly_the_reversible_moves_are_found() {
        let mut moves = 0;
        for piece in Piece::ALL {
            for a in Square::ALL {
                let reached = match piece.kind() {
                    PieceType::Pawn => Bitboard::EMPTY,
                    PieceType::Knight => knight_attacks(a),
                    PieceType::Bishop => bishop_attacks(a, Bitboard::EMPTY),
                    PieceType::Rook => rook_attacks(a, Bitboard::EMPTY),
                    PieceType::Queen => queen_attacks(a, Bitboard::EMPTY),
                    PieceType::King => king_attacks(a),
                };
                for b in Square::ALL {
                    let difference = piece_key(piece, a) ^ piece_key(piece, b) ^ black_to_move_key();
                    let expected = reached.has(b).then_some((a.min(b), a.max(b)));
                    assert_eq!(cuckoo(difference), expected, "{piece:?} {a} {b}");
                    moves += (expected.is_some() && a < b) as usize;
                    // Moves without a change of sides, and captures, are not reversible moves.
                    assert_eq!(cuckoo(piece_key(piece, a) ^ piece_key(piece, b)), None);
                    let victim = Piece::new(!piece.color(), PieceType::Rook);
                    assert_eq!(cuckoo(difference ^ piece_key(victim, b)), None);
                }
            }
        }
        assert_eq!(moves, 3668);
        assert_eq!(CUCKOO.keys.iter().filter(|&&key| key != 0).count(), moves, "the table holds other keys");
    }

    #[test]
    fn other_differences_are_not_found() {
        assert_eq!(cuckoo(0), None);
        assert_eq!(cuckoo(black_to_move_key()), None);
        for file in File::ALL {
            assert_eq!(cuckoo(black_to_move_key() ^ en_passant_key(file)), None);
            assert_eq!(cuckoo(black_to_move_key() ^ castling_key(Color::White, file)), None);
        }
        // Empty slots are not found by a key that points at them.
        let empty = (0..Cuckoo::SLOTS).find(|&slot| CUCKOO.keys[slot] == 0).unwrap();
        assert_eq!(cuckoo(empty as u64 | (empty as u64) << 16 | 1 << 63), None);
    }
}
