//! Kernels for AVX2, with 256-bit vectors.

use super::sums;
use super::superpiece::Places;
use super::{Aligned, PLACES, Row, RowUpdate, Spread, Wordboard, portable};
use kiln_gen::layout::Packing;
use std::arch::x86_64::*;

/// The number of 16-bit numbers in a vector.
const LANES: usize = 16;
/// The number of 32-bit numbers in a vector.
const FLOATS: usize = 8;

/// As [`portable::PACKING`].
pub const PACKING: Packing = Packing { vector: 2 * LANES };

// The compiler vectorises these.
pub use portable::{clear, pick, restrict, spread};

sums::lanes! {
    __m256i: load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi16, add _mm256_add_epi16,
    subtract _mm256_sub_epi16, interleave _mm256_unpacklo_epi8 _mm256_unpackhi_epi8, multiply_add _mm256_maddubs_epi16
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
    // SAFETY: this module is compiled only if the target has AVX2. Both sides take 8 of 16 registers.
    unsafe { sums::add_subtract::<__m256i, 2, N, SIDES>(updates, features, pairs) }
}

/// As [`portable::screlu_dot`].
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    const { assert!(N.is_multiple_of(LANES)) }
    // SAFETY: this module is compiled only if the target has AVX2; each load reads LANES numbers at a multiple of LANES
    // below N, which is a multiple of LANES. In a row, aligned to 64 bytes, these are aligned to a vector; weights are
    // loaded unaligned.
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

/// As [`portable::products`].
#[inline]
pub fn products<const N: usize>(row: &Row<N>, out: &mut [u8]) {
    if PACKING.for_row(out.len()) == Packing::PLAIN {
        return portable::products(row, out);
    }
    assert!([N, N / 2].contains(&out.len()));
    let right = N - out.len();
    // SAFETY: this module is compiled only if the target has AVX2; the length of `out` is a multiple of
    // 2 * LANES, otherwise the order is the plain one. So loads of LANES numbers end at N at most and are aligned as
    // the row is, and stores of 2 * LANES bytes end at the length of `out` at most.
    unsafe {
        let (zero, most) = (_mm256_setzero_si256(), _mm256_set1_epi16(255));
        let product = |i: usize| {
            let a = _mm256_load_si256(row.0.as_ptr().add(i).cast());
            let b = _mm256_load_si256(row.0.as_ptr().add(right + i).cast());
            let a = _mm256_min_epi16(_mm256_max_epi16(a, zero), most);
            let b = _mm256_min_epi16(_mm256_max_epi16(b, zero), most);
            // (a << 7) * b >> 16
            _mm256_mulhi_epu16(_mm256_slli_epi16::<7>(a), b)
        };
        for i in (0..out.len()).step_by(2 * LANES) {
            let packed = _mm256_packus_epi16(product(i), product(i + LANES));
            _mm256_storeu_si256(out.as_mut_ptr().add(i).cast(), packed);
        }
    }
}

/// As [`portable::sparse_dot`].
#[inline]
pub fn sparse_dot<const QUADS: usize, const NEURONS: usize>(
    inputs: &Aligned<[[u8; 4]; QUADS]>,
    weights: &[[[i8; 4]; NEURONS]; QUADS],
) -> Aligned<[i32; NEURONS]> {
    const { assert!(NEURONS.is_multiple_of(8) && NEURONS <= 32 && QUADS.is_multiple_of(8)) }
    let mut sums = Aligned([0; NEURONS]);
    // The numbers of the non-zero groups, collected without branches.
    let mut busy = [0u16; QUADS];
    let mut count = 0;
    // SAFETY: this module is compiled only if the target has AVX2; inputs, aligned to 64 bytes, are read in vectors of
    // 8 groups, and QUADS is a multiple of 8. Weights are read and sums written in NEURONS / 8 vectors of 8 neurons, at
    // most 4. A row of PLACES has 8 bytes. 8 indices are stored at `count`, which is at most `start`, so at least 8
    // remain.
    unsafe {
        for start in (0..QUADS).step_by(8) {
            let groups = _mm256_load_si256(inputs.0.as_ptr().add(start).cast());
            let is_zero = _mm256_cmpeq_epi32(groups, _mm256_setzero_si256());
            let found = !_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)) as u8;
            let places = _mm_cvtepu8_epi16(_mm_loadl_epi64(PLACES[usize::from(found)].as_ptr().cast()));
            let indices = _mm_add_epi16(places, _mm_set1_epi16(start as i16));
            _mm_storeu_si128(busy.as_mut_ptr().add(count).cast(), indices);
            count += found.count_ones() as usize;
        }
        let ones = _mm256_set1_epi16(1);
        let mut vectors = [_mm256_setzero_si256(); 4];
        for &quad in &busy[..count] {
            let quad = usize::from(quad);
            let input = _mm256_set1_epi32(i32::from_le_bytes(inputs.0[quad]));
            for (i, sum) in vectors.iter_mut().enumerate().take(NEURONS / 8) {
                let weights = _mm256_loadu_si256(weights[quad].as_ptr().add(8 * i).cast());
                // Two products of at most 127 * 128 fit 16 bits.
                let pairs = _mm256_maddubs_epi16(input, weights);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
            }
        }
        for (i, sum) in vectors.into_iter().enumerate().take(NEURONS / 8) {
            _mm256_storeu_si256(sums.0.as_mut_ptr().add(8 * i).cast(), sum);
        }
    }
    sums
}

/// Clips to 0…1 and squares.
#[inline]
fn squared(sums: __m256) -> __m256 {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        let clipped = _mm256_min_ps(_mm256_max_ps(sums, _mm256_setzero_ps()), _mm256_set1_ps(1.0));
        _mm256_mul_ps(clipped, clipped)
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
        // SAFETY: this module is compiled only if the target has AVX2; vectors of FLOATS numbers begin at
        // multiples of FLOATS below NEURONS, which is a multiple of FLOATS.
        unsafe {
            let sums = _mm256_cvtepi32_ps(_mm256_loadu_si256(sums.0.as_ptr().add(i).cast()));
            let scaled = _mm256_mul_ps(sums, _mm256_set1_ps(unit));
            let sums = _mm256_add_ps(scaled, _mm256_loadu_ps(bias.as_ptr().add(i)));
            _mm256_storeu_ps(all.0.as_mut_ptr().add(i), sums);
            let one = _mm256_set1_ps(1.0);
            let clipped = _mm256_min_ps(_mm256_max_ps(sums, _mm256_setzero_ps()), one);
            _mm256_storeu_ps(out.0[0].as_mut_ptr().add(i), clipped);
            let signed = _mm256_min_ps(_mm256_max_ps(sums, _mm256_set1_ps(-1.0)), one);
            _mm256_storeu_ps(out.0[1].as_mut_ptr().add(i), _mm256_mul_ps(signed, signed));
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
        // SAFETY: this module is compiled only if the target has AVX2; vectors of FLOATS numbers begin at
        // multiples of FLOATS below NEURONS, which is a multiple of FLOATS.
        unsafe {
            let mut sums = [_mm256_loadu_ps(bias.as_ptr().add(start)), _mm256_setzero_ps()];
            for (i, (&input, weights)) in inputs.iter().zip(weights).enumerate() {
                let products = _mm256_mul_ps(_mm256_set1_ps(input), _mm256_loadu_ps(weights.as_ptr().add(start)));
                sums[i % 2] = _mm256_add_ps(sums[i % 2], products);
            }
            _mm256_storeu_ps(out.0.as_mut_ptr().add(start), _mm256_add_ps(sums[0], sums[1]));
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
    const { assert!(INPUTS.is_multiple_of(2 * FLOATS) && SKIPPED.is_multiple_of(2 * FLOATS)) }
    // SAFETY: this module is compiled only if the target has AVX2; vectors of FLOATS numbers begin at multiples of
    // FLOATS below INPUTS and SKIPPED, which are multiples of 2 * FLOATS.
    unsafe {
        let mut sums = [_mm256_setzero_ps(); 2];
        for (i, start) in (0..INPUTS).step_by(FLOATS).enumerate() {
            let activations = squared(_mm256_loadu_ps(inputs.0.as_ptr().add(start)));
            let products = _mm256_mul_ps(activations, _mm256_loadu_ps(weights.as_ptr().add(start)));
            sums[i % 2] = _mm256_add_ps(sums[i % 2], products);
        }
        for (i, start) in (0..SKIPPED).step_by(FLOATS).enumerate() {
            let inputs = _mm256_loadu_ps(skipped.0.as_ptr().add(start));
            let products = _mm256_mul_ps(inputs, _mm256_loadu_ps(skip.as_ptr().add(start)));
            sums[i % 2] = _mm256_add_ps(sums[i % 2], products);
        }
        add_halves(_mm256_add_ps(sums[0], sums[1]))
    }
}

/// Adds the upper half of the numbers to the lower half until one is left.
#[inline]
pub fn add_halves(sums: __m256) -> f32 {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        let sums = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums));
        let sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
        _mm_cvtss_f32(_mm_add_ss(sums, _mm_movehdup_ps(sums)))
    }
}

/// Loads the words of a quarter of the board, two ranks.
#[inline]
fn quarter(words: &Wordboard, index: usize) -> __m256i {
    // SAFETY: this module is compiled only if the target has AVX2; a chunk of LANES words is aligned to 32 bytes.
    unsafe { _mm256_load_si256(words.0.as_chunks::<LANES>().0[index].as_ptr().cast()) }
}

/// Returns all ones in the lanes of those of `squares` that belong to a quarter of the board.
#[inline]
fn lanes(squares: u64, index: usize) -> __m256i {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        let bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
        // Copies the quarter's two bytes to all words.
        let bytes = _mm256_set1_epi16(0x0100 + 0x0202 * index as i16);
        let squares = _mm256_shuffle_epi8(_mm256_set1_epi64x(squares as i64), bytes);
        _mm256_cmpeq_epi16(_mm256_and_si256(squares, bits), bits)
    }
}

/// As [`portable::add`].
#[inline]
pub fn add(bytes: &mut Aligned<[u8; 64]>, squares: u64, number: u8) {
    for (i, half) in bytes.0.as_chunks_mut::<{ 2 * LANES }>().0.iter_mut().enumerate() {
        // SAFETY: this module is compiled only if the target has AVX2; a chunk of 2 * LANES bytes is aligned to 32
        // bytes.
        unsafe {
            // Each byte of the set goes to its eight squares, each of which tests its own bit.
            let places = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
            let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
            let set = _mm256_shuffle_epi8(_mm256_set1_epi32((squares >> (32 * i)) as i32), places);
            let wanted = _mm256_cmpeq_epi8(_mm256_and_si256(set, bits), bits);
            let place = half.as_mut_ptr().cast();
            let added = _mm256_and_si256(wanted, _mm256_set1_epi8(number as i8));
            _mm256_store_si256(place, _mm256_add_epi8(_mm256_load_si256(place), added));
        }
    }
}

/// As [`portable::differing`].
#[inline]
pub fn differing(a: &Aligned<[u8; 64]>, b: &Aligned<[u8; 64]>) -> u64 {
    // SAFETY: this module is compiled only if the target has AVX2; a chunk of 2 * LANES bytes is aligned to 32 bytes.
    let half = |i: usize| unsafe {
        let [a, b] = [a, b].map(|bytes| _mm256_load_si256(bytes.0.as_chunks::<{ 2 * LANES }>().0[i].as_ptr().cast()));
        !_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)) as u32
    };
    u64::from(half(0)) | u64::from(half(1)) << 32
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
    // SAFETY: this module is compiled only if the target has AVX2; a chunk of LANES places is aligned to 16 bytes, a
    // chunk of LANES words to 32.
    unsafe {
        let mut squares = 0;
        for index in 0..4 {
            let places = _mm_load_si128(places.0.as_chunks::<LANES>().0[index].as_ptr().cast());
            let kind = _mm_and_si128(places, _mm_set1_epi8(0xe0_u8 as i8));
            let is_none = _mm_cmpeq_epi8(places, _mm_setzero_si128());
            let is_king = _mm_cmpeq_epi8(kind, _mm_set1_epi8(portable::KING_BITS as i8));
            let counts = _mm256_cvtepi8_epi16(_mm_or_si128(is_none, is_king));
            let counts = _mm256_andnot_si256(counts, _mm256_set1_epi16(!1));
            let changed = lanes(changed, index);
            let mut any = _mm256_setzero_si256();
            for (color, out) in out.iter_mut().enumerate() {
                let kept = _mm256_andnot_si256(changed, _mm256_set1_epi16(!(moved >> (16 * color)) as i16));
                let (words, other) = (quarter(&tables[color], index), quarter(&other[color], index));
                let words = _mm256_andnot_si256(_mm256_and_si256(other, kept), _mm256_and_si256(words, counts));
                _mm256_store_si256(out.0.as_chunks_mut::<LANES>().0[index].as_mut_ptr().cast(), words);
                any = _mm256_or_si256(any, words);
            }
            let none = _mm256_cmpeq_epi16(any, _mm256_setzero_si256());
            let packed = _mm_packs_epi16(_mm256_castsi256_si128(none), _mm256_extracti128_si256::<1>(none));
            squares |= u64::from(!_mm_movemask_epi8(packed) as u16) << (LANES * index);
        }
        squares
    }
}

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
pub fn count<const N: usize>(words: &Wordboard, sets: [(u64, u16); N]) -> u32 {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        // Counts the ones of each half byte by a table; sums of eight counts stay below 256.
        let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let nibble = _mm256_set1_epi8(15);
        let mut ones = _mm256_setzero_si256();
        for index in 0..4 {
            let mut wanted = _mm256_setzero_si256();
            for (squares, bits) in sets {
                let bits = _mm256_and_si256(lanes(squares, index), _mm256_set1_epi16(bits as i16));
                wanted = _mm256_or_si256(wanted, bits);
            }
            let wanted = _mm256_and_si256(quarter(words, index), wanted);
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
        // SAFETY: this module is compiled only if the target has AVX2; a chunk of LANES words is aligned to 32 bytes.
        unsafe {
            let added = _mm256_and_si256(lanes(squares, index), _mm256_set1_epi16(bits as i16));
            let all = _mm256_or_si256(quarter(words, index), added);
            _mm256_store_si256(words.0.as_chunks_mut::<LANES>().0[index].as_mut_ptr().cast(), all);
        }
    }
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
    spread::<FACTOR>(out, any(words, bits) & squares, offset)
}
