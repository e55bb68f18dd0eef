//! Functions that look attack sets up in blobs, ready-made.

/// Defines a module with attack functions over the blobs that
#[cfg_attr(feature = "generate", doc = "[`blob::write_attacks`](crate::blob::write_attacks)")]
#[cfg_attr(not(feature = "generate"), doc = "`blob::write_attacks`")]
/// wrote to `OUT_DIR`.
///
/// ```text
/// kiln_gen::attacks!(pub mod attacks);
///
/// let e4 = 28;
/// let occupied = 1 << 44 | 1 << 30;
/// println!("{:#018x}", attacks::rook_attacks(e4, occupied));
/// ```
///
/// The module has `rook_attacks`, `bishop_attacks` and `queen_attacks` of a square and the occupied squares; each set
/// includes the first occupied square of each ray. It has `knight_attacks` and `king_attacks` of a square,
/// `pawn_attacks` of a color (0 for White, 1 for Black) and a square, and `between` and `line` of two squares. All
/// panic if a square is not 0 to 63 or the color not 0 or 1.
#[macro_export]
macro_rules! attacks {
    ($(#[$attribute:meta])* $visibility:vis mod $name:ident) => {
        $(#[$attribute])*
        #[allow(dead_code)]
        $visibility mod $name {
            use $crate::layout::{Leapers, Lines, Sliders};

            static SLIDERS: &Sliders = $crate::embed!("sliders");
            static SLIDER_ATTACKS: &[u64] = $crate::embed_list!("slider_attacks");
            static LEAPERS: &Leapers = $crate::embed!("leapers");
            static LINES: &Lines = $crate::embed!("lines");

            /// Returns the attack set of a rook, which includes the first occupied square of each ray.
            #[inline]
            pub fn rook_attacks(square: usize, occupied: u64) -> u64 {
                SLIDER_ATTACKS[SLIDERS.rook[square].index(occupied)]
            }

            /// Returns the attack set of a bishop, which includes the first occupied square of each ray.
            #[inline]
            pub fn bishop_attacks(square: usize, occupied: u64) -> u64 {
                SLIDER_ATTACKS[SLIDERS.bishop[square].index(occupied)]
            }

            /// Returns the attack set of a queen, which includes the first occupied square of each ray.
            #[inline]
            pub fn queen_attacks(square: usize, occupied: u64) -> u64 {
                rook_attacks(square, occupied) | bishop_attacks(square, occupied)
            }

            /// Returns the attack set of a knight.
            #[inline]
            pub fn knight_attacks(square: usize) -> u64 {
                LEAPERS.knight[square]
            }

            /// Returns the attack set of a king.
            #[inline]
            pub fn king_attacks(square: usize) -> u64 {
                LEAPERS.king[square]
            }

            /// Returns the attack set of a pawn; the color is 0 for White and 1 for Black.
            #[inline]
            pub fn pawn_attacks(color: usize, square: usize) -> u64 {
                LEAPERS.pawn[color][square]
            }

            /// Returns the squares strictly between two squares, or the empty set if they share no line.
            #[inline]
            pub fn between(a: usize, b: usize) -> u64 {
                LINES.between[a][b]
            }

            /// Returns the line through two squares from edge to edge, or the empty set if they share no line.
            #[inline]
            pub fn line(a: usize, b: usize) -> u64 {
                LINES.line[a][b]
            }
        }
    };
}
