//! 256-bit vectors.

use super::{Row, portable};
use std::arch::x86_64::*;

/// Numbers of 16 bits in a vector.
const LANES: usize = 16;

// The compiler turns these into vector instructions by itself.
pub use portable::{add, subtract};

/// As [`portable::screlu_dot`].
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    const { assert!(N.is_multiple_of(LANES)) }
    // SAFETY: this module is compiled only if the target has AVX2; each load reads LANES numbers at a multiple of LANES below N.
    unsafe {
        let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(qa));
        let mut sum = _mm256_setzero_si256();
        for i in (0..N).step_by(LANES) {
            let value = _mm256_load_si256(row.0.as_ptr().add(i).cast());
            let weight = _mm256_loadu_si256(weights.as_ptr().add(i).cast());
            let clipped = _mm256_min_epi16(_mm256_max_epi16(value, zero), one);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_mullo_epi16(clipped, weight), clipped));
        }
        let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let quarter = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
        _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32::<1>(quarter)))
    }
}
