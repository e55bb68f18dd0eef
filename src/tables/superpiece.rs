//! The geometry of the superpiece, a queen and knight in one.

use kiln_gen::embed;
use kiln_gen::layout::Superpiece;

static SUPERPIECE: &Superpiece = embed!("superpiece");

/// Returns the superpiece's rays, their inverses and the pieces' attacks.
pub fn superpiece() -> &'static Superpiece {
    SUPERPIECE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks};
    use crate::types::{Bitboard, Color, Square};
    use kiln_gen::layout::{NO_SLOT, avx2_lane, pieces};

    const KNIGHT_SLOTS: u64 = 0x0101_0101_0101_0101;

    /// Returns the valid slots of a square with their targets.
    fn slots(square: usize) -> impl Iterator<Item = (usize, usize)> {
        let valid = (0..64).filter(move |slot| SUPERPIECE.valid[square] >> slot & 1 != 0);
        valid.map(move |slot| (slot, SUPERPIECE.rays[square][slot].into()))
    }

    #[test]
    fn rays_and_valid_slots() {
        let count = |slots: u64| SUPERPIECE.valid.iter().map(|valid| (valid & slots).count_ones()).sum::<u32>();
        assert_eq!((count(!0), count(!KNIGHT_SLOTS), count(KNIGHT_SLOTS)), (1792, 1456, 336));
        for square in 0..64 {
            let mut targets = Bitboard::EMPTY;
            for (_, target) in slots(square) {
                assert_ne!(target, square);
                assert!(!targets.has(Square::ALL[target]), "{target} is twice in the rays of {square}");
                targets |= Square::ALL[target].into();
            }
            for lane in 0..8 {
                let distances = SUPERPIECE.valid[square] >> (8 * lane + 1) & 0x7f;
                assert!((distances + 1).is_power_of_two(), "the valid slots of a lane are not a prefix");
            }
            let mut invalid = (0..64).filter(|slot| SUPERPIECE.valid[square] >> slot & 1 == 0);
            assert!(invalid.all(|slot| SUPERPIECE.rays[square][slot] == NO_SLOT));
        }
    }

    #[test]
    fn inverses() {
        for square in 0..64 {
            for (slot, target) in slots(square) {
                assert_eq!(SUPERPIECE.inverse[square][target] as usize, slot);
                // From the target, the slot is in the opposite lane, also for knights, which are ordered clockwise too.
                assert_eq!(SUPERPIECE.inverse[target][square] as usize, slot ^ 32);
                assert_eq!(SUPERPIECE.opposite[square][target] as usize, 4 * ((slot ^ 32) / 8));
            }
            let (knight, queen) =
                (knight_attacks(Square::ALL[square]), queen_attacks(Square::ALL[square], Bitboard::EMPTY));
            assert_eq!(SUPERPIECE.reach[square], (queen | knight).0);
            assert_eq!(SUPERPIECE.queen_reach[square], queen.0);
            for target in 0..64 {
                let none = SUPERPIECE.inverse[square][target] == NO_SLOT;
                assert_eq!(none, SUPERPIECE.inverse[target][square] == NO_SLOT);
                assert_eq!(none, !(queen | knight).has(Square::ALL[target]));
            }
        }
    }

    /// The slots around the superpiece in the middle, north above, as the articles on Rose draw them: the constants of
    /// its method rely on this order.
    const DIAGRAM: [&str; 15] = [
        "3f .. .. .. .. .. .. 07 .. .. .. .. .. .. 0f",
        ".. 3e .. .. .. .. .. 06 .. .. .. .. .. 0e ..",
        ".. .. 3d .. .. .. .. 05 .. .. .. .. 0d .. ..",
        ".. .. .. 3c .. .. .. 04 .. .. .. 0c .. .. ..",
        ".. .. .. .. 3b .. .. 03 .. .. 0b .. .. .. ..",
        ".. .. .. .. .. 3a 00 02 08 0a .. .. .. .. ..",
        ".. .. .. .. .. 38 39 01 09 10 .. .. .. .. ..",
        "37 36 35 34 33 32 31 .. 11 12 13 14 15 16 17",
        ".. .. .. .. .. 30 29 21 19 18 .. .. .. .. ..",
        ".. .. .. .. .. 2a 28 22 20 1a .. .. .. .. ..",
        ".. .. .. .. 2b .. .. 23 .. .. 1b .. .. .. ..",
        ".. .. .. 2c .. .. .. 24 .. .. .. 1c .. .. ..",
        ".. .. 2d .. .. .. .. 25 .. .. .. .. 1d .. ..",
        ".. 2e .. .. .. .. .. 26 .. .. .. .. .. 1e ..",
        "2f .. .. .. .. .. .. 27 .. .. .. .. .. .. 1f",
    ];

    #[test]
    fn slots_are_those_of_the_published_diagram() {
        for (square, target) in Square::ALL.into_iter().flat_map(|a| Square::ALL.map(|b| (a, b))) {
            let row = 7 + square.rank() as usize - target.rank() as usize;
            let column = 7 + target.file() as usize - square.file() as usize;
            let expected = DIAGRAM[row].split(' ').nth(column).unwrap();
            let expected = u8::from_str_radix(expected, 16).unwrap_or(NO_SLOT);
            assert_eq!(SUPERPIECE.inverse[square][target as usize], expected, "{square} {target}");
        }
    }

    /// Unpacks by halves of 16 bytes, as AVX2 does.
    fn unpack(bytes: &[u8], high: bool) -> Vec<u8> {
        bytes.chunks(16).flat_map(|half| if high { &half[8..] } else { &half[..8] }).copied().collect()
    }

    /// Unpacks the two halves of a board.
    fn unpacked(bytes: &[u8; 64]) -> Vec<u8> {
        let (first, second) = bytes.split_at(32);
        [unpack(first, false), unpack(second, false), unpack(first, true), unpack(second, true)].concat()
    }

    #[test]
    fn avx2_order_unpacks_to_the_natural_one() {
        for square in 0..64 {
            assert_eq!(unpacked(&SUPERPIECE.avx2_pieces[square]), SUPERPIECE.pieces[square]);
            for (lane, &slot) in unpacked(&SUPERPIECE.avx2_lanes[square]).iter().zip(&SUPERPIECE.inverse[square]) {
                let is_of_queen = slot != NO_SLOT && !slot.is_multiple_of(8);
                let expected =
                    if is_of_queen { (slot % 8 - 1) << 4 | avx2_lane(usize::from(slot / 8)) } else { NO_SLOT };
                assert_eq!(*lane, expected);
            }
        }
        let lanes = [0, 1, 2, 3, 4, 5, 6, 7];
        assert!(lanes.into_iter().all(|lane| avx2_lane(lane) ^ 1 == avx2_lane((lane + 4) % 8)));
    }

    #[test]
    fn pieces_equal_attacks() {
        for square in Square::ALL {
            let none = Bitboard::EMPTY;
            let attacks = [
                (pieces::WHITE_PAWN, pawn_attacks(Color::White, square)),
                (pieces::BLACK_PAWN, pawn_attacks(Color::Black, square)),
                (pieces::KNIGHT, knight_attacks(square)),
                (pieces::BISHOP, bishop_attacks(square, none)),
                (pieces::ROOK, rook_attacks(square, none)),
                (pieces::QUEEN, queen_attacks(square, none)),
                (pieces::KING, king_attacks(square)),
            ];
            for target in Square::ALL {
                let found = SUPERPIECE.pieces[square][target];
                let expected: u8 =
                    attacks.iter().filter(|(_, attacked)| attacked.has(target)).map(|(bit, _)| bit).sum();
                assert_eq!(found, expected, "{square} {target}");
                // From the target, only the pawns change color.
                let (back, pawns) = (SUPERPIECE.pieces[target][square], pieces::WHITE_PAWN | pieces::BLACK_PAWN);
                assert_eq!(back & !pawns, found & !pawns);
                assert_eq!(back & pieces::WHITE_PAWN != 0, found & pieces::BLACK_PAWN != 0);
            }
        }
    }

    #[test]
    fn pieces_in_the_order_of_slots_are_constant() {
        // A piece attacks the same slots from all squares, except beyond the edge.
        let rays = [
            (pieces::WHITE_PAWN, 0x0200_0000_0000_0200),
            (pieces::BLACK_PAWN, 0x0000_0200_0200_0000),
            (pieces::KNIGHT, KNIGHT_SLOTS),
            (pieces::BISHOP, 0xfe00_fe00_fe00_fe00),
            (pieces::ROOK, 0x00fe_00fe_00fe_00fe),
            (pieces::QUEEN, 0xfefe_fefe_fefe_fefe),
            (pieces::KING, 0x0202_0202_0202_0202u64),
        ];
        for square in 0..64 {
            for (bit, slots_of_piece) in rays {
                let in_order = slots(square).filter(|&(_, target)| SUPERPIECE.pieces[square][target] & bit != 0);
                let attacked = in_order.fold(0, |set, (slot, _)| set | 1 << slot);
                assert_eq!(attacked, slots_of_piece & SUPERPIECE.valid[square], "{square} {bit}");
            }
        }
    }
}
