//! 512-bit vectors.

use super::{Row, portable};
use std::arch::x86_64::*;

/// Numbers of 16 bits in a vector.
const LANES: usize = 32;

// The compiler turns these into vector instructions by itself.
pub use portable::{add, subtract};

/// As [`portable::screlu_dot`].
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    const { assert!(N.is_multiple_of(LANES)) }
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; each load reads LANES numbers at a multiple of
    // LANES below N.
    unsafe {
        let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(qa));
        let mut sum = _mm512_setzero_si512();
        for i in (0..N).step_by(LANES) {
            let value = _mm512_load_si512(row.0.as_ptr().add(i).cast());
            let weight = _mm512_loadu_si512(weights.as_ptr().add(i).cast());
            let clipped = _mm512_min_epi16(_mm512_max_epi16(value, zero), one);
            sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_mullo_epi16(clipped, weight), clipped));
        }
        _mm512_reduce_add_epi32(sum)
    }
}
