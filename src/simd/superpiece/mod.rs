//! The superpiece method: what the sliders of both sides see through a square changes by one exclusive or.
//!
//! A superpiece is a queen and knight in one. Its rays from a square, in a fixed order of slots, show the first piece
//! in each direction; a slider among them gains or loses the squares in the opposite direction. The method is from the
//! articles on incremental attack tables by the author of the engine Rose. One step of the AVX-512 backend is Kiln's: a
//! lane's slider becomes one bit of a word before it goes to the squares, where Rose sends its number.

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "avx2", not(target_feature = "avx512bw")),
    all(target_arch = "aarch64", target_feature = "neon")
))]
mod bytes;
mod portable;
pub use portable::Portable;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2", not(target_feature = "avx512bw")))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2", not(target_feature = "avx512bw")))]
pub use avx2::Avx2 as Native;

#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
mod avx512;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
pub use avx512::Avx512 as Native;

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub use neon::Neon as Native;

#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "avx2"),
    all(target_arch = "aarch64", target_feature = "neon")
)))]
pub use portable::Portable as Native;

use super::{Aligned, Wordboard};
use crate::types::{Color, Piece, Square};

/// A byteboard. Each byte is 0 or a place: bits 0 to 3 its id, bit 4 its color, bit 5 clear if it slides, then bit 6
/// set if it moves diagonally, bit 7 set if it moves orthogonally. No slider has the id 0.
pub type Places = Aligned<[u8; 64]>;

/// The steps of the method on one instruction set. All give the same results as [`Portable`].
pub trait Superpiece {
    /// The places of all squares.
    type Board: Copy;
    /// What the sliders of both sides gain or lose.
    type Toggles: Copy;
    /// A set of squares.
    type Squares: Copy;

    /// Loads the places.
    fn load(places: &Places) -> Self::Board;

    /// Returns the board with another byte on one square.
    fn with(board: Self::Board, square: Square, byte: u8) -> Self::Board;

    /// Returns what the sliders of both sides gain or lose if a piece appears on a square or vanishes from it. The
    /// place on the square itself does not matter.
    fn through(board: Self::Board, square: Square) -> Self::Toggles;

    /// Returns what a piece attacks from a square. The place on the square itself does not matter.
    fn attacked(board: Self::Board, square: Square, piece: Piece) -> Self::Squares;

    /// Returns [`through`](Self::through) and [`attacked`](Self::attacked), which have much in common.
    #[inline(always)]
    fn through_and_attacked(board: Self::Board, square: Square, piece: Piece) -> (Self::Toggles, Self::Squares) {
        (Self::through(board, square), Self::attacked(board, square, piece))
    }

    /// Returns the attack table of a side after toggling the bits of its sliders, then clearing the bits `cleared` in
    /// all words, then setting `bits` in the words of `squares`.
    fn update<const N: usize>(
        table: &Wordboard,
        color: Color,
        toggles: &[Self::Toggles; N],
        cleared: u16,
        squares: Self::Squares,
        bits: u16,
    ) -> Wordboard;
}

/// By lane: the bit of places that slide along it.
const SLIDER_STEP: Aligned<[u64; 8]> = Aligned([0x80, 0x40, 0x80, 0x40, 0x80, 0x40, 0x80, 0x40]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::attacks;
    use crate::types::{Bitboard, PieceType};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Fewer under Miri, which is slow.
    const ROUNDS: usize = if cfg!(miri) { 3 } else { 500 };

    /// Returns random pieces, with their ids, on some squares. Only kings have the id 0.
    fn random_pieces(rng: &mut Xoshiro256PlusPlus) -> Vec<(Square, Piece, u8)> {
        let mut pieces = Vec::new();
        let mut next_id = [1; 2];
        let density = rng.next_u32() % 10;
        for square in Square::ALL {
            let piece = Piece::ALL[rng.next_u32() as usize % Piece::COUNT];
            let id = &mut next_id[piece.color() as usize];
            if rng.next_u32() % 12 < density && *id < 16 {
                let is_king = piece.kind() == PieceType::King;
                pieces.push((square, piece, if is_king { 0 } else { *id }));
                *id += u8::from(!is_king);
            }
        }
        pieces
    }

    /// Returns the byte of a piece, written down again so that the format is tested too.
    fn byte(piece: Piece, id: u8) -> u8 {
        let kind = match piece.kind() {
            PieceType::Pawn => 0x20,
            PieceType::Knight => 0x60,
            PieceType::Bishop => 0x40,
            PieceType::Rook => 0x80,
            PieceType::Queen => 0xc0,
            PieceType::King => 0xa0,
        };
        kind | if piece.color() == Color::Black { 0x10 } else { 0 } | id
    }

    fn places(pieces: &[(Square, Piece, u8)]) -> Places {
        let mut places = Aligned([0; 64]);
        for &(square, piece, id) in pieces {
            places.0[square] = byte(piece, id);
        }
        places
    }

    /// Returns the attack tables by the definition.
    fn tables(pieces: &[(Square, Piece, u8)]) -> [Wordboard; 2] {
        let occupied: Bitboard = pieces.iter().map(|&(square, ..)| square).collect();
        let mut tables = [Wordboard([0; 64]); 2];
        for &(square, piece, id) in pieces {
            for target in attacks(piece, square, occupied) {
                tables[piece.color()].0[target] |= 1 << id;
            }
        }
        tables
    }

    /// A piece that appears on a square toggles what the tables by definition say.
    fn equals_the_definition<S: Superpiece>() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..ROUNDS {
            let without = random_pieces(&mut rng);
            let board = S::load(&places(&without));
            let before = tables(&without);
            for square in Square::ALL {
                let Err(at) = without.binary_search_by_key(&square, |&(square, ..)| square) else { continue };
                let piece = Piece::ALL[rng.next_u32() as usize % Piece::COUNT];
                let mut with = without.clone();
                with.insert(at, (square, piece, 0));
                let after = tables(&with);
                // The new piece has the king's id, which no slider has. Its own attacks are not toggled.
                let toggle = |tables: &[Wordboard; 2], toggles| {
                    let nothing = S::attacked(board, square, piece);
                    Color::ALL.map(|color| S::update(&tables[color], color, &[toggles], 0, nothing, 0))
                };
                let sliders = |tables: [Wordboard; 2]| tables.map(|table| Wordboard(table.0.map(|word| word & !1)));
                let toggled = toggle(&before, S::through(board, square));
                assert_eq!(sliders(toggled), sliders(after), "{square}");
                // The place on the square does not matter, and the second time takes the first back.
                let same = S::with(board, square, byte(piece, 5));
                let (toggles, attacked) = S::through_and_attacked(same, square, piece);
                assert_eq!(toggle(&toggled, toggles), before, "{square}");
                let (toggles, _) = S::through_and_attacked(S::with(same, square, 0), square, piece);
                assert_eq!(toggle(&toggled, toggles), before, "{square}");
                let twice = S::update(&before[0], Color::White, &[toggles; 2], 0, attacked, 0);
                assert_eq!(twice, before[0], "{square}");

                let occupied = with.iter().map(|&(square, ..)| square).collect();
                let expected = attacks(piece, square, occupied);
                for squares in [attacked, S::attacked(board, square, piece)] {
                    let replaced = S::update(&before[1], Color::Black, &[toggles], 0x0ff0, squares, 0xf00f);
                    for target in Square::ALL {
                        let kept = toggled[1].0[target] & !0x0ff0;
                        let added = if expected.has(target) { 0xf00f } else { 0 };
                        assert_eq!(replaced.0[target], kept | added, "{piece:?} {square} {target}");
                    }
                }
            }
        }
    }

    #[test]
    fn portable_equals_the_definition() {
        equals_the_definition::<Portable>();
    }

    #[test]
    fn native_equals_the_definition() {
        equals_the_definition::<Native>();
    }
}
