//! 512-bit vectors.

#[cfg(target_feature = "avx512vbmi2")]
use super::Spread;
use super::{Row, Wordboard, portable};
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

/// Both halves of the words.
#[inline]
fn halves(words: &Wordboard) -> [__m512i; 2] {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the words are 128 bytes at a multiple of 64.
    unsafe { [_mm512_load_si512(words.0.as_ptr().cast()), _mm512_load_si512(words.0.as_ptr().add(LANES).cast())] }
}

/// As [`portable::SCANS_FAST`].
pub const SCANS_FAST: bool = true;

/// As [`portable::any`].
#[inline]
pub fn any(words: &Wordboard, bits: u16) -> u64 {
    let [low, high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    unsafe {
        let bits = _mm512_set1_epi16(bits as i16);
        u64::from(_mm512_test_epi16_mask(low, bits)) | u64::from(_mm512_test_epi16_mask(high, bits)) << LANES
    }
}

/// As [`portable::count`].
#[inline]
pub fn count(words: &Wordboard, squares: u64, bits: u16) -> u32 {
    let [low, high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    unsafe {
        let low = _mm512_and_si512(low, _mm512_maskz_set1_epi16(squares as u32, bits as i16));
        let high = _mm512_and_si512(high, _mm512_maskz_set1_epi16((squares >> LANES) as u32, bits as i16));
        // The ones of each half byte by table; sums of four stay below 256.
        let table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let nibble = _mm512_set1_epi8(15);
        let ones = |vector: __m512i| {
            let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(vector), nibble);
            let lower = _mm512_and_si512(vector, nibble);
            _mm512_add_epi8(_mm512_shuffle_epi8(table, upper), _mm512_shuffle_epi8(table, lower))
        };
        let sums = _mm512_sad_epu8(_mm512_add_epi8(ones(low), ones(high)), _mm512_setzero_si512());
        _mm512_reduce_add_epi64(sums) as u32
    }
}

/// As [`portable::clear`].
#[inline]
pub fn clear(words: &mut Wordboard, bits: u16) {
    let [low, high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the words are 128 bytes at a multiple of 64.
    unsafe {
        let bits = _mm512_set1_epi16(bits as i16);
        _mm512_store_si512(words.0.as_mut_ptr().cast(), _mm512_andnot_si512(bits, low));
        _mm512_store_si512(words.0.as_mut_ptr().add(LANES).cast(), _mm512_andnot_si512(bits, high));
    }
}

/// As [`portable::set`].
#[inline]
pub fn set(words: &mut Wordboard, squares: u64, bits: u16) {
    let [low, high] = halves(words);
    // SAFETY: as in `clear`.
    unsafe {
        let low = _mm512_or_si512(low, _mm512_maskz_set1_epi16(squares as u32, bits as i16));
        let high = _mm512_or_si512(high, _mm512_maskz_set1_epi16((squares >> LANES) as u32, bits as i16));
        _mm512_store_si512(words.0.as_mut_ptr().cast(), low);
        _mm512_store_si512(words.0.as_mut_ptr().add(LANES).cast(), high);
    }
}

#[cfg(not(target_feature = "avx512vbmi2"))]
pub use portable::spread;

/// As [`portable::spread`]. To registers and then to memory in full: compressing to memory is slow on Zen 4.
#[cfg(target_feature = "avx512vbmi2")]
#[inline]
pub fn spread<const FACTOR: u16>(out: &mut Spread, squares: u64, offset: u16) -> usize {
    const fn multiples(factor: u16) -> Wordboard {
        let mut words = Wordboard([0; 64]);
        let mut square = 0;
        while square < 64 {
            words.0[square] = factor.wrapping_mul(square as u16);
            square += 1;
        }
        words
    }
    let [low, high] = halves(const { &multiples(FACTOR) });
    let first = (squares as u32).count_ones() as usize;
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW, and this function only if it has VBMI2; at most half of
    // the 64 words precede the second store of 32.
    unsafe {
        let offset = _mm512_set1_epi16(offset as i16);
        let low = _mm512_maskz_compress_epi16(squares as u32, _mm512_add_epi16(low, offset));
        let high = _mm512_maskz_compress_epi16((squares >> LANES) as u32, _mm512_add_epi16(high, offset));
        _mm512_storeu_si512(out.as_mut_ptr().cast(), low);
        _mm512_storeu_si512(out.as_mut_ptr().add(first).cast(), high);
    }
    squares.count_ones() as usize
}
