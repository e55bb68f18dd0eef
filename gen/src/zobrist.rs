//! Zobrist keys.

use crate::layout::Zobrist;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Returns keys drawn from Xoshiro256++ seeded with `seed`. The same seed gives the same keys on every host.
///
/// ```
/// let keys = kiln_gen::zobrist::zobrist(2);
/// assert_eq!(keys, kiln_gen::zobrist::zobrist(2));
/// ```
pub fn zobrist(seed: u64) -> Zobrist {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut keys = Zobrist { pieces: [[[0; 64]; 6]; 2], castling: [[0; 8]; 2], en_passant: [0; 8], black_to_move: 0 };
    let pieces = keys.pieces.as_flattened_mut().as_flattened_mut();
    for key in pieces.iter_mut().chain(keys.castling.as_flattened_mut()).chain(&mut keys.en_passant) {
        *key = rng.next_u64();
    }
    keys.black_to_move = rng.next_u64();
    keys
}
