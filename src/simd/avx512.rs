//! Kernels for AVX-512 (F and BW, and VBMI2 and VNNI where the target has them), with 512-bit vectors.

use super::avx2::add_halves;
use super::sums;
use super::superpiece::Places;
use super::{Aligned, Row, RowUpdate, Spread, Wordboard, portable};
#[cfg(all(target_feature = "avx512vbmi2", target_feature = "avx512vl"))]
use super::{Pick, SQUARES};
use kiln_gen::layout::Packing;
use std::arch::x86_64::*;

/// The number of 16-bit numbers in a vector.
const LANES: usize = 32;
/// The number of 32-bit numbers in a vector.
const FLOATS: usize = 16;

/// As [`portable::PACKING`].
pub const PACKING: Packing = Packing { vector: 2 * LANES };

sums::lanes! {
    __m512i: load _mm512_loadu_si512, store _mm512_storeu_si512, splat _mm512_set1_epi16, add _mm512_add_epi16,
    subtract _mm512_sub_epi16, interleave _mm512_unpacklo_epi8 _mm512_unpackhi_epi8, multiply_add _mm512_maddubs_epi16
}

/// As [`portable::add_subtract`].
#[inline]
pub fn add_subtract<const N: usize, const SIDES: usize>(
    updates: [RowUpdate<N>; SIDES],
    features: &[[i16; N]],
    pairs: &[[u8; N]],
) {
    if PACKING.for_row(N) == Packing::PLAIN {
        return portable::add_subtract(updates, features, pairs);
    }
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW. Both sides take 16 of 32 registers.
    unsafe { sums::add_subtract::<__m512i, 4, N, SIDES>(updates, features, pairs) }
}

/// As [`portable::screlu_dot`].
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    const { assert!(N.is_multiple_of(LANES)) }
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; each load reads LANES numbers at a
    // multiple of LANES below N, which is a multiple of LANES. In a row, aligned to 64 bytes, these are aligned to a
    // vector; weights are loaded unaligned.
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

/// As [`portable::products`].
#[inline]
pub fn products<const N: usize>(row: &Row<N>, out: &mut [u8]) {
    if PACKING.for_row(out.len()) == Packing::PLAIN {
        return portable::products(row, out);
    }
    assert!([N, N / 2].contains(&out.len()));
    let right = N - out.len();
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the length of `out` is a multiple of
    // 2 * LANES, otherwise the order is the plain one. So loads of LANES numbers end at N at most and are aligned as
    // the row is, and stores of 2 * LANES bytes end at the length of `out` at most.
    unsafe {
        let (zero, most) = (_mm512_setzero_si512(), _mm512_set1_epi16(255));
        let product = |i: usize| {
            let a = _mm512_load_si512(row.0.as_ptr().add(i).cast());
            let b = _mm512_load_si512(row.0.as_ptr().add(right + i).cast());
            let a = _mm512_min_epi16(_mm512_max_epi16(a, zero), most);
            let b = _mm512_min_epi16(_mm512_max_epi16(b, zero), most);
            // (a << 7) * b >> 16
            _mm512_mulhi_epu16(_mm512_slli_epi16::<7>(a), b)
        };
        for i in (0..out.len()).step_by(2 * LANES) {
            let packed = _mm512_packus_epi16(product(i), product(i + LANES));
            _mm512_storeu_si512(out.as_mut_ptr().add(i).cast(), packed);
        }
    }
}

/// Adds the sums of four byte products to `sums`. The inputs are at most 127.
#[inline]
fn dot(sums: __m512i, inputs: __m512i, weights: __m512i) -> __m512i {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW, the first branch only if it has VNNI.
    unsafe {
        #[cfg(target_feature = "avx512vnni")]
        return _mm512_dpbusd_epi32(sums, inputs, weights);
        #[cfg(not(target_feature = "avx512vnni"))]
        {
            // Two products of at most 127 * 128 fit 16 bits.
            let pairs = _mm512_maddubs_epi16(inputs, weights);
            _mm512_add_epi32(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
        }
    }
}

/// As [`portable::sparse_dot`].
#[inline]
pub fn sparse_dot<const QUADS: usize, const NEURONS: usize>(
    inputs: &Aligned<[[u8; 4]; QUADS]>,
    weights: &[[[i8; 4]; NEURONS]; QUADS],
) -> Aligned<[i32; NEURONS]> {
    const { assert!(NEURONS.is_multiple_of(16) && NEURONS <= 32 && QUADS.is_multiple_of(8)) }
    let mut sums = Aligned([0; NEURONS]);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW. Sums are written in NEURONS / 16 vectors
    // of 16 neurons, at most 2.
    unsafe {
        let mut busy = [0; QUADS];
        let count = find_busy(inputs, &mut busy);
        // Several chains, because each sum waits for the previous one.
        let mut chains = [[_mm512_setzero_si512(); 2]; 4];
        let (fours, rest) = busy[..count].as_chunks::<4>();
        for four in fours {
            for (chain, &quad) in chains.iter_mut().zip(four) {
                add_group(chain, inputs, weights, usize::from(quad));
            }
        }
        for (chain, &quad) in chains.iter_mut().zip(rest) {
            add_group(chain, inputs, weights, usize::from(quad));
        }
        let [a, b, c, d] = chains;
        for i in 0..NEURONS / 16 {
            let sum = _mm512_add_epi32(_mm512_add_epi32(a[i], b[i]), _mm512_add_epi32(c[i], d[i]));
            _mm512_storeu_si512(sums.0.as_mut_ptr().add(16 * i).cast(), sum);
        }
    }
    sums
}

/// Writes the numbers of the groups that are not all zero to `busy`, without branches, and returns how many there are.
#[inline]
fn find_busy<const QUADS: usize>(inputs: &Aligned<[[u8; 4]; QUADS]>, busy: &mut [u16; QUADS]) -> usize {
    let mut count = 0;
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW. Inputs are read in vectors of 16 groups,
    // of which those beyond the last are masked out. 16 indices, or 8 if only 8 groups remain, are stored at `count`,
    // which is at most `start`, so at least as many remain.
    unsafe {
        let mut indices = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        for start in (0..QUADS).step_by(16) {
            let inside = if QUADS - start < 16 { 0xff } else { 0xffff };
            let groups = _mm512_maskz_loadu_epi32(inside, inputs.0.as_ptr().add(start).cast());
            let found = _mm512_test_epi32_mask(groups, groups);
            let packed = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(found, indices));
            let target = busy.as_mut_ptr().add(count);
            if QUADS - start < 16 {
                _mm_storeu_si128(target.cast(), _mm256_castsi256_si128(packed));
            } else {
                _mm256_storeu_si256(target.cast(), packed);
            }
            count += found.count_ones() as usize;
            indices = _mm512_add_epi32(indices, _mm512_set1_epi32(16));
        }
    }
    count
}

/// Adds the contribution of one group of inputs to all neurons.
#[inline]
fn add_group<const QUADS: usize, const NEURONS: usize>(
    sums: &mut [__m512i; 2],
    inputs: &Aligned<[[u8; 4]; QUADS]>,
    weights: &[[[i8; 4]; NEURONS]; QUADS],
    quad: usize,
) {
    for (i, sum) in sums.iter_mut().enumerate().take(NEURONS / 16) {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the index of the group is checked,
        // and vector `i` of its weights ends with neuron 16 * i + 15, below NEURONS.
        unsafe {
            let input = _mm512_set1_epi32(i32::from_le_bytes(inputs.0[quad]));
            *sum = dot(*sum, input, _mm512_loadu_si512(weights[quad].as_ptr().add(16 * i).cast()));
        }
    }
}

/// Clips to 0…1 and squares.
#[inline]
fn squared(sums: __m512) -> __m512 {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    unsafe {
        let clipped = _mm512_min_ps(_mm512_max_ps(sums, _mm512_setzero_ps()), _mm512_set1_ps(1.0));
        _mm512_mul_ps(clipped, clipped)
    }
}

/// As [`portable::activate`].
#[inline]
pub fn activate<const NEURONS: usize>(
    sums: &Aligned<[i32; NEURONS]>,
    unit: f32,
    bias: &[f32; NEURONS],
) -> (Aligned<[f32; NEURONS]>, Aligned<[[f32; NEURONS]; 2]>) {
    const { assert!(NEURONS.is_multiple_of(FLOATS)) }
    let (mut all, mut out) = (Aligned([0.0; NEURONS]), Aligned([[0.0; NEURONS]; 2]));
    for i in (0..NEURONS).step_by(FLOATS) {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; vectors of FLOATS numbers begin at
        // multiples of FLOATS below NEURONS, which is a multiple of FLOATS.
        unsafe {
            let sums = _mm512_cvtepi32_ps(_mm512_loadu_si512(sums.0.as_ptr().add(i).cast()));
            let scaled = _mm512_mul_ps(sums, _mm512_set1_ps(unit));
            let sums = _mm512_add_ps(scaled, _mm512_loadu_ps(bias.as_ptr().add(i)));
            _mm512_storeu_ps(all.0.as_mut_ptr().add(i), sums);
            let one = _mm512_set1_ps(1.0);
            let clipped = _mm512_min_ps(_mm512_max_ps(sums, _mm512_setzero_ps()), one);
            _mm512_storeu_ps(out.0[0].as_mut_ptr().add(i), clipped);
            let signed = _mm512_min_ps(_mm512_max_ps(sums, _mm512_set1_ps(-1.0)), one);
            _mm512_storeu_ps(out.0[1].as_mut_ptr().add(i), _mm512_mul_ps(signed, signed));
        }
    }
    (all, out)
}

/// As [`portable::dense`].
#[inline]
pub fn dense<const NEURONS: usize>(
    inputs: &[f32],
    weights: &[[f32; NEURONS]],
    bias: &[f32; NEURONS],
) -> Aligned<[f32; NEURONS]> {
    const { assert!(NEURONS.is_multiple_of(FLOATS)) }
    let mut out = Aligned([0.0; NEURONS]);
    for start in (0..NEURONS).step_by(FLOATS) {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; vectors of FLOATS numbers begin at
        // multiples of FLOATS below NEURONS, which is a multiple of FLOATS.
        unsafe {
            let mut sums = [_mm512_loadu_ps(bias.as_ptr().add(start)), _mm512_setzero_ps()];
            for (i, (&input, weights)) in inputs.iter().zip(weights).enumerate() {
                let products = _mm512_mul_ps(_mm512_set1_ps(input), _mm512_loadu_ps(weights.as_ptr().add(start)));
                sums[i % 2] = _mm512_add_ps(sums[i % 2], products);
            }
            _mm512_storeu_ps(out.0.as_mut_ptr().add(start), _mm512_add_ps(sums[0], sums[1]));
        }
    }
    out
}

/// As [`portable::output`].
#[inline]
pub fn output<const INPUTS: usize, const SKIPPED: usize>(
    (inputs, weights): (&Aligned<[f32; INPUTS]>, &[f32; INPUTS]),
    (skipped, skip): (&Aligned<[f32; SKIPPED]>, &[f32; SKIPPED]),
) -> f32 {
    const { assert!(INPUTS.is_multiple_of(FLOATS) && SKIPPED.is_multiple_of(FLOATS)) }
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; vectors of FLOATS numbers begin at
    // multiples of FLOATS below INPUTS and SKIPPED, which are multiples of FLOATS.
    unsafe {
        let mut sums = _mm512_setzero_ps();
        for i in (0..INPUTS).step_by(FLOATS) {
            let activations = squared(_mm512_loadu_ps(inputs.0.as_ptr().add(i)));
            sums = _mm512_add_ps(sums, _mm512_mul_ps(activations, _mm512_loadu_ps(weights.as_ptr().add(i))));
        }
        for i in (0..SKIPPED).step_by(FLOATS) {
            let inputs = _mm512_loadu_ps(skipped.0.as_ptr().add(i));
            sums = _mm512_add_ps(sums, _mm512_mul_ps(inputs, _mm512_loadu_ps(skip.as_ptr().add(i))));
        }
        // The upper 256 bits are the upper four 64-bit numbers.
        let upper = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(sums));
        let sums = _mm256_add_ps(_mm512_castps512_ps256(sums), _mm256_castpd_ps(upper));
        add_halves(sums)
    }
}

/// Loads both halves of the words.
#[inline]
fn halves(words: &Wordboard) -> [__m512i; 2] {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the words are 128 bytes, aligned to 64.
    unsafe { [_mm512_load_si512(words.0.as_ptr().cast()), _mm512_load_si512(words.0.as_ptr().add(LANES).cast())] }
}

/// As [`portable::add`].
#[inline]
pub fn add(bytes: &mut Aligned<[u8; 64]>, squares: u64, number: u8) {
    let place = bytes.0.as_mut_ptr().cast();
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the 64 bytes are aligned to 64.
    unsafe {
        let old = _mm512_load_si512(place);
        _mm512_store_si512(place, _mm512_mask_add_epi8(old, squares, old, _mm512_set1_epi8(number as i8)));
    }
}

/// As [`portable::differing`].
#[inline]
pub fn differing(a: &Aligned<[u8; 64]>, b: &Aligned<[u8; 64]>) -> u64 {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the 64 bytes are aligned to 64.
    unsafe { _mm512_cmpneq_epi8_mask(_mm512_load_si512(a.0.as_ptr().cast()), _mm512_load_si512(b.0.as_ptr().cast())) }
}

/// As [`portable::other_attacks`].
#[inline]
pub fn other_attacks(
    out: &mut [Wordboard; 2],
    places: &Places,
    [tables, other]: [&[Wordboard; 2]; 2],
    changed: u64,
    moved: u32,
) -> u64 {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the 64 bytes of places and the 128 bytes
    // of each table are aligned to 64.
    unsafe {
        let places = _mm512_load_si512(places.0.as_ptr().cast());
        let kind = _mm512_and_si512(places, _mm512_set1_epi8(0xe0_u8 as i8));
        let is_king = _mm512_set1_epi8(portable::KING_BITS as i8);
        let victims = _mm512_mask_cmpneq_epi8_mask(_mm512_test_epi8_mask(places, places), kind, is_king);
        let mut squares = 0;
        for (color, out) in out.iter_mut().enumerate() {
            let kept = !(moved >> (16 * color)) as i16;
            let (words, other) = (halves(&tables[color]), halves(&other[color]));
            for (half, (words, other)) in words.into_iter().zip(other).enumerate() {
                let shift = half * LANES;
                let counts = _mm512_maskz_set1_epi16((victims >> shift) as u32, !1);
                let kept = _mm512_maskz_set1_epi16((!changed >> shift) as u32, kept);
                // words & !(other & kept)
                let words = _mm512_ternarylogic_epi32::<0b0111_0000>(words, other, kept);
                let words = _mm512_and_si512(words, counts);
                _mm512_store_si512(out.0.as_mut_ptr().add(shift).cast(), words);
                squares |= u64::from(_mm512_test_epi16_mask(words, words)) << shift;
            }
        }
        squares
    }
}

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
pub fn count<const N: usize>(words: &Wordboard, sets: [(u64, u16); N]) -> u32 {
    let [mut low, mut high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    unsafe {
        let (mut wanted_low, mut wanted_high) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (squares, bits) in sets {
            let bits = _mm512_set1_epi16(bits as i16);
            wanted_low = _mm512_mask_mov_epi16(wanted_low, squares as u32, bits);
            wanted_high = _mm512_mask_mov_epi16(wanted_high, (squares >> LANES) as u32, bits);
        }
        low = _mm512_and_si512(low, wanted_low);
        high = _mm512_and_si512(high, wanted_high);
        _mm512_reduce_add_epi64(_mm512_add_epi64(ones(low), ones(high))) as u32
    }
}

/// Returns the number of ones in each 64-bit lane.
#[cfg(target_feature = "avx512vpopcntdq")]
#[inline]
fn ones(vector: __m512i) -> __m512i {
    // SAFETY: this function is compiled only if the target has VPOPCNTDQ.
    unsafe { _mm512_popcnt_epi64(vector) }
}

/// Returns the number of ones in each 64-bit lane.
#[cfg(not(target_feature = "avx512vpopcntdq"))]
#[inline]
fn ones(vector: __m512i) -> __m512i {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    unsafe {
        // Counts the ones of each half byte by a table.
        let table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let nibble = _mm512_set1_epi8(15);
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(vector), nibble);
        let lower = _mm512_and_si512(vector, nibble);
        let bytes = _mm512_add_epi8(_mm512_shuffle_epi8(table, upper), _mm512_shuffle_epi8(table, lower));
        _mm512_sad_epu8(bytes, _mm512_setzero_si512())
    }
}

/// As [`portable::clear`].
#[inline]
pub fn clear(words: &mut Wordboard, bits: u16) {
    let [low, high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the words are 128 bytes, aligned to 64.
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
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the words are 128 bytes, aligned to 64.
    unsafe {
        let low = _mm512_or_si512(low, _mm512_maskz_set1_epi16(squares as u32, bits as i16));
        let high = _mm512_or_si512(high, _mm512_maskz_set1_epi16((squares >> LANES) as u32, bits as i16));
        _mm512_store_si512(words.0.as_mut_ptr().cast(), low);
        _mm512_store_si512(words.0.as_mut_ptr().add(LANES).cast(), high);
    }
}

/// As [`portable::restrict`].
#[inline]
pub fn restrict(words: &mut Wordboard, squares: u64, bits: u16) {
    let [low, high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the words are 128 bytes, aligned to 64.
    unsafe {
        let bits = _mm512_set1_epi16(bits as i16);
        let low = _mm512_andnot_si512(_mm512_maskz_mov_epi16(!squares as u32, bits), low);
        let high = _mm512_andnot_si512(_mm512_maskz_mov_epi16((!squares >> LANES) as u32, bits), high);
        _mm512_store_si512(words.0.as_mut_ptr().cast(), low);
        _mm512_store_si512(words.0.as_mut_ptr().add(LANES).cast(), high);
    }
}

#[cfg(not(all(target_feature = "avx512vbmi2", target_feature = "avx512vl")))]
pub use portable::{pick, spread};

/// As [`portable::spread`]. Compresses to a register and stores it in full: compressing to memory is slow on Zen 4.
#[cfg(all(target_feature = "avx512vbmi2", target_feature = "avx512vl"))]
#[inline]
pub fn spread<const FACTOR: u16>(out: &mut Spread, squares: u64, offset: u16) -> usize {
    let count = squares.count_ones() as usize;
    debug_assert!(count <= out.len());
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW, and this function only if it has VBMI2
    // and VL; the load reads 64 bytes, aligned to 64; the stores write 16 words each, together all of `out`.
    unsafe {
        let all = _mm512_load_si512(SQUARES.0.as_ptr().cast());
        let packed = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(squares, all));
        let word = |bytes: __m128i| {
            let scaled = _mm256_mullo_epi16(_mm256_cvtepu8_epi16(bytes), _mm256_set1_epi16(FACTOR as i16));
            _mm256_add_epi16(scaled, _mm256_set1_epi16(offset as i16))
        };
        _mm256_storeu_si256(out.as_mut_ptr().cast(), word(_mm256_castsi256_si128(packed)));
        // Only queens and rarely rooks attack so many squares.
        if count > 16 {
            _mm256_storeu_si256(out.as_mut_ptr().add(16).cast(), word(_mm256_extracti128_si256::<1>(packed)));
        }
    }
    count
}

/// As [`portable::spread_any`].
#[inline]
pub fn spread_any<const FACTOR: u16>(
    out: &mut Spread,
    words: &Wordboard,
    bits: u16,
    squares: u64,
    offset: u16,
) -> usize {
    let [low, high] = halves(words);
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    let found = unsafe {
        let bits = _mm512_set1_epi16(bits as i16);
        let low = _mm512_mask_test_epi16_mask(squares as u32, low, bits);
        let high = _mm512_mask_test_epi16_mask((squares >> LANES) as u32, high, bits);
        _mm512_kunpackd(u64::from(high), u64::from(low))
    };
    spread::<FACTOR>(out, found, offset)
}

/// As [`portable::pick`]. Compresses to a register, as [`spread`] does.
#[cfg(all(target_feature = "avx512vbmi2", target_feature = "avx512vl"))]
#[inline]
pub fn pick(out: &mut Pick, bytes: &[u8; 16], bits: u16, offset: u16) -> usize {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW, and this function only if it has VBMI2
    // and VL; the load reads all 16 bytes; the store writes 16 words, all of `out`.
    unsafe {
        let packed = _mm_maskz_compress_epi8(bits, _mm_loadu_si128(bytes.as_ptr().cast()));
        let words = _mm256_add_epi16(_mm256_cvtepu8_epi16(packed), _mm256_set1_epi16(offset as i16));
        _mm256_storeu_si256(out.as_mut_ptr().cast(), words);
    }
    bits.count_ones() as usize
}
