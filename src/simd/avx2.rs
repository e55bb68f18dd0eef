//! 256-bit vectors.

use super::{Row, Wordboard, portable};
use std::arch::x86_64::*;

/// Numbers of 16 bits in a vector.
const LANES: usize = 16;

// The compiler turns these into vector instructions by itself.
pub use portable::{add, clear, spread, subtract};

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

/// The words of a quarter of the board, two ranks.
#[inline]
fn quarter(words: &Wordboard, index: usize) -> __m256i {
    // SAFETY: this module is compiled only if the target has AVX2; a chunk of LANES words lies at a multiple of 32 bytes.
    unsafe { _mm256_load_si256(words.0.as_chunks::<LANES>().0[index].as_ptr().cast()) }
}

/// All ones in the lanes whose bit is set among the 16 of `squares` that belong to a quarter of the board.
#[inline]
fn lanes(squares: u64, index: usize) -> __m256i {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        let bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
        let squares = _mm256_set1_epi16((squares >> (LANES * index)) as i16);
        _mm256_cmpeq_epi16(_mm256_and_si256(squares, bits), bits)
    }
}

/// As [`portable::SCANS_FAST`].
pub const SCANS_FAST: bool = true;

/// As [`portable::any`].
#[inline]
pub fn any(words: &Wordboard, bits: u16) -> u64 {
    // SAFETY: this module is compiled only if the target has AVX2.
    let half = |index: usize| unsafe {
        let bits = _mm256_set1_epi16(bits as i16);
        let none = |index| _mm256_cmpeq_epi16(_mm256_and_si256(quarter(words, index), bits), _mm256_setzero_si256());
        // Packing works on halves of 16 bytes, hence the permutation.
        let packed = _mm256_packs_epi16(none(index), none(index + 1));
        _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed)) as u32
    };
    !(u64::from(half(0)) | u64::from(half(2)) << 32)
}

/// As [`portable::count`].
#[inline]
pub fn count(words: &Wordboard, squares: u64, bits: u16) -> u32 {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        let bits = _mm256_set1_epi16(bits as i16);
        // The ones of each half byte by table; sums of eight stay below 256.
        let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let nibble = _mm256_set1_epi8(15);
        let mut ones = _mm256_setzero_si256();
        for index in 0..4 {
            let wanted = _mm256_and_si256(_mm256_and_si256(quarter(words, index), bits), lanes(squares, index));
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(wanted), nibble);
            ones = _mm256_add_epi8(ones, _mm256_shuffle_epi8(table, upper));
            ones = _mm256_add_epi8(ones, _mm256_shuffle_epi8(table, _mm256_and_si256(wanted, nibble)));
        }
        let sums = _mm256_sad_epu8(ones, _mm256_setzero_si256());
        let half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        (_mm_cvtsi128_si64(half) + _mm_extract_epi64::<1>(half)) as u32
    }
}

/// As [`portable::set`].
#[inline]
pub fn set(words: &mut Wordboard, squares: u64, bits: u16) {
    for index in 0..4 {
        // SAFETY: this module is compiled only if the target has AVX2; a chunk of LANES words lies at a multiple of 32 bytes.
        unsafe {
            let added = _mm256_and_si256(lanes(squares, index), _mm256_set1_epi16(bits as i16));
            let all = _mm256_or_si256(quarter(words, index), added);
            _mm256_store_si256(words.0.as_chunks_mut::<LANES>().0[index].as_mut_ptr().cast(), all);
        }
    }
}
