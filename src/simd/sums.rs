//! The update of accumulators by rows of weights, for AVX2 and AVX-512.
//!
//! Rows of pairs are bytes. Two of them at a time are interleaved, multiplied by 1 or −1 each and added, which leaves
//! 16-bit numbers. So one loop can add some rows and subtract others, and the bytes need no conversion.

use super::RowUpdate;

/// A vector of 16-bit numbers or of bytes.
pub trait Lanes: Copy {
    /// The number of bytes.
    const BYTES: usize;

    /// Reads a vector from an address that need not be aligned.
    ///
    /// # Safety
    /// The target must have the instructions, for this function and all others; the bytes must be readable.
    unsafe fn load(place: *const u8) -> Self;

    /// Writes the vector to an address that need not be aligned.
    ///
    /// # Safety
    /// As [`Lanes::load`], and the bytes must be writable.
    unsafe fn store(self, place: *mut u8);

    /// Returns the same word in all lanes.
    ///
    /// # Safety
    /// As [`Lanes::load`].
    unsafe fn splat(word: i16) -> Self;

    /// Adds words.
    ///
    /// # Safety
    /// As [`Lanes::load`].
    unsafe fn add(self, other: Self) -> Self;

    /// Subtracts words.
    ///
    /// # Safety
    /// As [`Lanes::load`].
    unsafe fn subtract(self, other: Self) -> Self;

    /// Returns the bytes of both vectors in turn: those of the lower half of each 16 bytes, and those of the upper
    /// half.
    ///
    /// # Safety
    /// As [`Lanes::load`].
    unsafe fn interleave(self, other: Self) -> [Self; 2];

    /// Multiplies unsigned bytes by signed ones, and adds the two products of each word.
    ///
    /// # Safety
    /// As [`Lanes::load`].
    unsafe fn multiply_add(self, factors: Self) -> Self;
}

/// Implements [`Lanes`] for a type by its intrinsics.
macro_rules! lanes {
    (
        $vector:ty: load $load:ident, store $store:ident, splat $splat:ident, add $add:ident, subtract $subtract:ident,
        interleave $low:ident $high:ident, multiply_add $multiply_add:ident
    ) => {
        impl $crate::simd::sums::Lanes for $vector {
            const BYTES: usize = size_of::<Self>();

            #[inline(always)]
            unsafe fn load(place: *const u8) -> Self {
                // SAFETY: as the caller guarantees, in this function and those below.
                unsafe { $load(place.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, place: *mut u8) {
                // SAFETY: as above.
                unsafe { $store(place.cast(), self) }
            }

            #[inline(always)]
            unsafe fn splat(word: i16) -> Self {
                // SAFETY: as above.
                unsafe { $splat(word) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn subtract(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $subtract(self, other) }
            }

            #[inline(always)]
            unsafe fn interleave(self, other: Self) -> [Self; 2] {
                // SAFETY: as above.
                unsafe { [$low(self, other), $high(self, other)] }
            }

            #[inline(always)]
            unsafe fn multiply_add(self, factors: Self) -> Self {
                // SAFETY: as above.
                unsafe { $multiply_add(self, factors) }
            }
        }
    };
}
pub(super) use lanes;

/// Does what [`portable::add_subtract`](super::portable::add_subtract) does. Of each side `2 * BLOCKS` vectors are in
/// registers at a time.
///
/// # Safety
/// The target must have the instructions of `L`.
#[inline(always)]
pub unsafe fn add_subtract<L: Lanes, const BLOCKS: usize, const N: usize, const SIDES: usize>(
    mut updates: [RowUpdate<N>; SIDES],
    features: &[[i16; N]],
    pairs: &[[u8; N]],
) {
    assert!(N.is_multiple_of(L::BYTES));
    let rest = N - N % (BLOCKS * L::BYTES);
    // SAFETY: each part ends at N at most.
    unsafe {
        for start in (0..rest).step_by(BLOCKS * L::BYTES) {
            part::<L, BLOCKS, N, SIDES>(&mut updates, features, pairs, start);
        }
        for start in (rest..N).step_by(L::BYTES) {
            part::<L, 1, N, SIDES>(&mut updates, features, pairs, start);
        }
    }
}

/// Does [`add_subtract`] for `BLOCKS * L::BYTES` neurons from `start`.
///
/// # Safety
/// The target must have the instructions of `L`, and these neurons must exist.
#[inline(always)]
unsafe fn part<L: Lanes, const BLOCKS: usize, const N: usize, const SIDES: usize>(
    updates: &mut [RowUpdate<N>; SIDES],
    features: &[[i16; N]],
    pairs: &[[u8; N]],
    start: usize,
) {
    // SAFETY: vectors of words are read and written at `words` of a row of N words, vectors of bytes at `bytes` of a
    // row of N bytes, all within the neurons of this part.
    unsafe {
        let words = |block: usize, half: usize| 2 * (start + block * L::BYTES) + half * L::BYTES;
        let bytes = |block: usize| start + block * L::BYTES;
        let [RowUpdate { added, subtracted, pairs: numbers, pairs_subtracted, .. }, ..] = updates.as_slice() else {
            return;
        };
        let (added, subtracted, numbers, pairs_subtracted) =
            (added.len(), subtracted.len(), numbers.len(), *pairs_subtracted);
        let bias = L::splat(128 * (numbers as i16 - 2 * pairs_subtracted as i16));
        let mut sums = [[[bias; 2]; BLOCKS]; SIDES];
        for (sums, update) in sums.iter_mut().zip(&*updates) {
            for (block, sums) in sums.iter_mut().enumerate() {
                for (half, sum) in sums.iter_mut().enumerate() {
                    let base = update.base.0.as_ptr().cast::<u8>().add(words(block, half));
                    *sum = L::load(base).subtract(*sum);
                }
            }
        }
        for i in 0..added {
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let row = features[usize::from(update.added[i])].as_ptr().cast::<u8>();
                for (block, sums) in sums.iter_mut().enumerate() {
                    for (half, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.add(L::load(row.add(words(block, half))));
                    }
                }
            }
        }
        for i in 0..subtracted {
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let row = features[usize::from(update.subtracted[i])].as_ptr().cast::<u8>();
                for (block, sums) in sums.iter_mut().enumerate() {
                    for (half, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.subtract(L::load(row.add(words(block, half))));
                    }
                }
            }
        }
        for i in (0..numbers).step_by(2) {
            // A last row without a partner is its own, with the factor 0.
            let is_pair = i + 1 < numbers;
            let sign = |i: usize| 1 - 2 * i16::from(i < pairs_subtracted);
            let factors = L::splat((sign(i) & 255) | (sign(i + 1) * i16::from(is_pair)) << 8);
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let [first, second] =
                    [i, i + usize::from(is_pair)].map(|i| pairs[usize::from(update.pairs[i])].as_ptr());
                for (block, sums) in sums.iter_mut().enumerate() {
                    let [first, second] = [first, second].map(|row| L::load(row.add(bytes(block))));
                    for (sum, both) in sums.iter_mut().zip(first.interleave(second)) {
                        *sum = sum.add(both.multiply_add(factors));
                    }
                }
            }
        }
        for (sums, update) in sums.iter().zip(updates) {
            for (block, sums) in sums.iter().enumerate() {
                for (half, sum) in sums.iter().enumerate() {
                    sum.store(update.out.0.as_mut_ptr().cast::<u8>().add(words(block, half)));
                }
            }
        }
    }
}
