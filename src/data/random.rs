//! Random choices for writing and reading training data. The same seed gives the same data.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Returns a random number below `bound`: the upper half of a product, whose bias is at most `bound` / 2^64.
pub fn below(bound: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// Shuffles by Fisher and Yates.
pub fn shuffle<T>(items: &mut [T], rng: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last + 1, rng));
    }
}
