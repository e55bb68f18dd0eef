//! The embedded tables as typed statics, and functions that look attack sets and keys up in them.

mod cuckoo;
mod reductions;
mod superpiece;

pub use cuckoo::cuckoo;
pub use reductions::reduction;
pub use superpiece::superpiece;

use crate::types::{Bitboard, Color, File, Piece, PieceType, Square};
use kiln_gen::layout::{Lines, Magic, PseudoAttacks, Sliders, ThreatPairs, Zobrist};
use kiln_gen::manifest::Manifest;
use kiln_gen::{embed, embed_list};

static SLIDERS: &Sliders = embed!("sliders");
static SLIDER_ATTACKS: &[u64] = embed_list!("slider_attacks");
static PSEUDO_ATTACKS: &PseudoAttacks = embed!("pseudo_attacks");
static THREAT_PAIRS: &ThreatPairs = embed!("threat_pairs");
static LINES: &Lines = embed!("lines");
static ZOBRIST: &Zobrist = embed!("zobrist");
static MANIFEST: &[u8] = embed_list!("manifest");

/// No look-up is out of bounds, even if the blobs are damaged: every magic's window is inside the attack table.
const _: () = {
    let (rook, bishop) = (&SLIDERS.rook, &SLIDERS.bishop);
    let mut square = 0;
    while square < 128 {
        let magic = if square < 64 { &rook[square] } else { &bishop[square - 64] };
        assert!(0 < magic.shift && magic.shift < 64, "the blob of slider magics is damaged");
        assert!(magic.end() <= SLIDER_ATTACKS.len(), "the blobs of sliders and of their attacks do not match");
        square += 1;
    }
};

#[inline]
fn slider_attacks(magic: &Magic, occupied: Bitboard) -> Bitboard {
    let index = magic.index(occupied.0);
    debug_assert!(index < SLIDER_ATTACKS.len());
    // SAFETY: `index` is below `magic.end()`. The assertions above check every magic's shift, and that its end is
    // within the table.
    Bitboard(unsafe { *SLIDER_ATTACKS.get_unchecked(index) })
}

/// Returns the attack set of a rook, which includes the first occupied square of each ray.
///
/// ```
/// use kiln::tables::rook_attacks;
/// use kiln::types::{Bitboard, Square};
/// let blockers = [Square::E6, Square::G4].into_iter().collect();
/// assert_eq!(rook_attacks(Square::E4, blockers).to_string(), "\
/// . . . . . . . .
/// . . . . . . . .
/// . . . . X . . .
/// . . . . X . . .
/// X X X X . X X .
/// . . . . X . . .
/// . . . . X . . .
/// . . . . X . . .
/// ");
/// ```
#[inline]
pub fn rook_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    slider_attacks(&SLIDERS.rook[square], occupied)
}

/// Returns the attack set of a bishop, which includes the first occupied square of each ray.
#[inline]
pub fn bishop_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    slider_attacks(&SLIDERS.bishop[square], occupied)
}

/// Returns the attack set of a queen, which includes the first occupied square of each ray.
#[inline]
pub fn queen_attacks(square: Square, occupied: Bitboard) -> Bitboard {
    rook_attacks(square, occupied) | bishop_attacks(square, occupied)
}

/// Returns the attack set of a knight.
#[inline]
pub fn knight_attacks(square: Square) -> Bitboard {
    Bitboard(PSEUDO_ATTACKS.pieces[Color::White][PieceType::Knight][square])
}

/// Returns the attack set of a king.
#[inline]
pub fn king_attacks(square: Square) -> Bitboard {
    Bitboard(PSEUDO_ATTACKS.pieces[Color::White][PieceType::King][square])
}

/// Returns the attack set of a pawn.
#[inline]
pub fn pawn_attacks(color: Color, square: Square) -> Bitboard {
    Bitboard(PSEUDO_ATTACKS.pieces[color][PieceType::Pawn][square])
}

/// Returns the attack set of a piece on an empty board.
#[inline]
pub fn pseudo_attacks(piece: Piece, square: Square) -> Bitboard {
    Bitboard(PSEUDO_ATTACKS.pieces[piece.color()][piece.kind()][square])
}

/// Returns the numbers of the network's features of pairs of pieces.
#[inline]
pub const fn threat_pairs() -> &'static ThreatPairs {
    THREAT_PAIRS
}

/// Returns the attack set of a piece, including own pieces that it defends.
///
/// Does not branch on the piece type: it intersects the attack set of a queen with the piece's [`pseudo_attacks`].
#[inline]
pub fn attacks(piece: Piece, square: Square, occupied: Bitboard) -> Bitboard {
    // A queen attacks all squares that any other piece does, except a knight's, which nothing can block.
    let jumps = [0, !0, 0, 0, 0, 0][piece.kind()];
    pseudo_attacks(piece, square) & (queen_attacks(square, occupied) | Bitboard(jumps))
}

/// Returns the squares strictly between two squares, or the empty set if they share no line.
#[inline]
pub fn between(a: Square, b: Square) -> Bitboard {
    Bitboard(LINES.between[a][b])
}

/// Returns the line through two different squares from edge to edge, or the empty set if they share no line.
#[inline]
pub fn line(a: Square, b: Square) -> Bitboard {
    Bitboard(LINES.line[a][b])
}

/// Returns the Zobrist key of a piece on a square.
#[inline]
pub fn piece_key(piece: Piece, square: Square) -> u64 {
    ZOBRIST.pieces[piece.color()][piece.kind()][square]
}

/// Returns the Zobrist key of the right to castle with the rook on this file.
#[inline]
pub fn castling_key(color: Color, rook: File) -> u64 {
    ZOBRIST.castling[color][rook]
}

/// Returns the Zobrist key of a possible en passant capture on this file.
#[inline]
pub fn en_passant_key(file: File) -> u64 {
    ZOBRIST.en_passant[file]
}

/// Returns the Zobrist key of Black to move.
#[inline]
pub fn black_to_move_key() -> u64 {
    ZOBRIST.black_to_move
}

/// Returns the list of all embedded blobs, including the network's.
pub fn manifest() -> Manifest {
    Manifest::from_bytes(MANIFEST).expect("the build script wrote the manifest")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_gen::layout::Plain;
    use sha2::{Digest, Sha256};

    /// Walks the rays, independently of the generator's code.
    fn walk(square: Square, steps: [(i32, i32); 4], occupied: Bitboard) -> Bitboard {
        let mut attacks = Bitboard::EMPTY;
        for (files, ranks) in steps {
            let (mut file, mut rank) = (square.file() as i32, square.rank() as i32);
            loop {
                (file, rank) = (file + files, rank + ranks);
                if !(0..8).contains(&file) || !(0..8).contains(&rank) {
                    break;
                }
                let target = Square::wrapping((rank * 8 + file) as usize);
                attacks |= target.into();
                if occupied.has(target) {
                    break;
                }
            }
        }
        attacks
    }

    /// Returns all subsets of a slider's pseudo-attacks, the edges included.
    fn all_occupancies(pseudo_attacks: Bitboard) -> impl Iterator<Item = Bitboard> {
        let mut next = Some(0u64);
        std::iter::from_fn(move || {
            let subset = next?;
            next = Some(subset.wrapping_sub(pseudo_attacks.0) & pseudo_attacks.0).filter(|&n| n != 0);
            Some(Bitboard(subset))
        })
    }

    #[test]
    fn sliders_equal_ray_walking_for_all_squares_and_subsets() {
        let rook = [(0, 1), (1, 0), (0, -1), (-1, 0)];
        let bishop = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
        for square in Square::ALL {
            for occupied in all_occupancies(walk(square, rook, Bitboard::EMPTY)) {
                assert_eq!(rook_attacks(square, occupied), walk(square, rook, occupied), "rook {square} {occupied:?}");
            }
            for occupied in all_occupancies(walk(square, bishop, Bitboard::EMPTY)) {
                assert_eq!(
                    bishop_attacks(square, occupied),
                    walk(square, bishop, occupied),
                    "bishop {square} {occupied:?}"
                );
            }
        }
    }

    #[test]
    fn leapers_attack_at_their_distances() {
        for from in Square::ALL {
            for to in Square::ALL {
                let files = to.file() as i32 - from.file() as i32;
                let ranks = to.rank() as i32 - from.rank() as i32;
                let pair = [files.abs().min(ranks.abs()), files.abs().max(ranks.abs())];
                assert_eq!(knight_attacks(from).has(to), pair == [1, 2]);
                assert_eq!(king_attacks(from).has(to), pair[1] == 1);
                assert_eq!(pawn_attacks(Color::White, from).has(to), files.abs() == 1 && ranks == 1);
                assert_eq!(pawn_attacks(Color::Black, from).has(to), files.abs() == 1 && ranks == -1);
            }
        }
    }

    #[test]
    fn lines_follow_from_sliders() {
        for a in Square::ALL {
            for b in Square::ALL {
                let mut expected = (Bitboard::EMPTY, Bitboard::EMPTY);
                for attacks in [rook_attacks, bishop_attacks] {
                    if attacks(a, Bitboard::EMPTY).has(b) {
                        let ends = Bitboard::from(a) | b.into();
                        expected.0 = attacks(a, b.into()) & attacks(b, a.into());
                        expected.1 = (attacks(a, Bitboard::EMPTY) & attacks(b, Bitboard::EMPTY)) | ends;
                    }
                }
                assert_eq!((between(a, b), line(a, b)), expected, "{a} {b}");
            }
        }
    }

    #[test]
    fn keys_are_distinct() {
        let mut keys: Vec<u64> = ZOBRIST.pieces.as_flattened().as_flattened().to_vec();
        keys.extend(ZOBRIST.castling.as_flattened().iter().chain(&ZOBRIST.en_passant));
        keys.push(ZOBRIST.black_to_move);
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), keys.contains(&0)), (count, false));
    }

    /// Detects a blob that was damaged between the build script and the compiler, which compiles if its size is
    /// correct.
    #[test]
    fn the_manifest_lists_every_blob_with_its_hash() {
        fn hash<T: Plain>(list: &[T]) -> [u8; 32] {
            let mut bytes = Vec::with_capacity(size_of_val(list));
            list.iter().for_each(|element| element.write_le(&mut bytes));
            Sha256::digest(bytes).into()
        }
        use std::slice::from_ref;
        let manifest = manifest();
        let names: Vec<&str> = manifest.blobs.iter().map(|blob| blob.name.as_str()).collect();
        let expected = "sliders slider_attacks pseudo_attacks threat_pairs lines superpiece zobrist cuckoo reductions \
                        network_features network_pairs network_head";
        assert_eq!(names, expected.split(' ').collect::<Vec<_>>());
        let hashes = [
            hash(from_ref(SLIDERS)),
            hash(SLIDER_ATTACKS),
            hash(from_ref(PSEUDO_ATTACKS)),
            hash(from_ref(THREAT_PAIRS)),
            hash(from_ref(LINES)),
            hash(from_ref(superpiece())),
            hash(from_ref(ZOBRIST)),
            hash(from_ref(cuckoo::CUCKOO)),
            hash(from_ref(reductions::REDUCTIONS)),
            // Only `nnue` knows their types.
            Sha256::digest(include_bytes!(concat!(env!("OUT_DIR"), "/network_features.bin"))).into(),
            Sha256::digest(include_bytes!(concat!(env!("OUT_DIR"), "/network_pairs.bin"))).into(),
            Sha256::digest(include_bytes!(concat!(env!("OUT_DIR"), "/network_head.bin"))).into(),
        ];
        for (blob, hash) in manifest.blobs.iter().zip(hashes) {
            assert_eq!(blob.sha256, hash, "{} is damaged", blob.name);
        }
    }
}
