//! Kernels for the NEON instructions of 64-bit ARM, with 128-bit vectors.
//!
//! A vector holds the bytes of two ranks of the board, or the words of one. Packing and unpacking keep the natural
//! order, so the weights need no other one.

use super::superpiece::Places;
use super::{Aligned, PLACES, Row, RowUpdate, Spread, Wordboard, portable};
use kiln_gen::layout::Packing;
use std::arch::aarch64::*;
use std::array::from_fn;

/// The number of 16-bit numbers in a vector.
const LANES: usize = 8;
/// The number of 32-bit numbers in a vector.
const FLOATS: usize = 4;

/// As [`portable::PACKING`].
pub const PACKING: Packing = Packing::PLAIN;

// The compiler vectorises these.
pub use portable::{clear, pick, restrict, spread};

/// As [`portable::add_subtract`]. ARM adds bytes to words in one instruction, so unlike on x86 the rows of pairs are
/// neither interleaved nor multiplied.
#[inline]
pub fn add_subtract<const N: usize, const SIDES: usize>(
    mut updates: [RowUpdate<N>; SIDES],
    features: &[[i16; N]],
    pairs: &[[u8; N]],
) {
    /// Both sides take 16 of 32 registers.
    const BLOCKS: usize = 4;
    const { assert!(N.is_multiple_of(2 * LANES)) }
    let rest = N - N % (2 * BLOCKS * LANES);
    // SAFETY: each part ends at N at most.
    unsafe {
        for start in (0..rest).step_by(2 * BLOCKS * LANES) {
            part::<BLOCKS, N, SIDES>(&mut updates, features, pairs, start);
        }
        for start in (rest..N).step_by(2 * LANES) {
            part::<1, N, SIDES>(&mut updates, features, pairs, start);
        }
    }
}

/// Does [`add_subtract`] for `2 * BLOCKS * LANES` neurons from `start`.
///
/// # Safety
/// These neurons must exist.
#[inline(always)]
unsafe fn part<const BLOCKS: usize, const N: usize, const SIDES: usize>(
    updates: &mut [RowUpdate<N>; SIDES],
    features: &[[i16; N]],
    pairs: &[[u8; N]],
    start: usize,
) {
    // SAFETY: this module is compiled only if the target has NEON; vectors are read and written at the neurons of this
    // part, in rows of N numbers.
    unsafe {
        let [RowUpdate { added, subtracted, pairs: numbers, pairs_subtracted, .. }, ..] = updates.as_slice() else {
            return;
        };
        let (added, subtracted, numbers, pairs_subtracted) =
            (added.len(), subtracted.len(), numbers.len(), *pairs_subtracted);
        let place = |block: usize, half: usize| start + (2 * block + half) * LANES;
        let bias = vdupq_n_s16(128 * (numbers as i16 - 2 * pairs_subtracted as i16));
        let mut sums = [[[bias; 2]; BLOCKS]; SIDES];
        for (sums, update) in sums.iter_mut().zip(&*updates) {
            for (block, sums) in sums.iter_mut().enumerate() {
                for (half, sum) in sums.iter_mut().enumerate() {
                    *sum = vsubq_s16(vld1q_s16(update.base.0.as_ptr().add(place(block, half))), *sum);
                }
            }
        }
        for i in 0..added {
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let row = features[usize::from(update.added[i])].as_ptr();
                for (block, sums) in sums.iter_mut().enumerate() {
                    for (half, sum) in sums.iter_mut().enumerate() {
                        *sum = vaddq_s16(*sum, vld1q_s16(row.add(place(block, half))));
                    }
                }
            }
        }
        for i in 0..subtracted {
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let row = features[usize::from(update.subtracted[i])].as_ptr();
                for (block, sums) in sums.iter_mut().enumerate() {
                    for (half, sum) in sums.iter_mut().enumerate() {
                        *sum = vsubq_s16(*sum, vld1q_s16(row.add(place(block, half))));
                    }
                }
            }
        }
        for i in 0..pairs_subtracted {
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let row = pairs[usize::from(update.pairs[i])].as_ptr();
                for (block, sums) in sums.iter_mut().enumerate() {
                    let bytes = vld1q_u8(row.add(place(block, 0)));
                    let [low, high] = sums.map(|sum| vreinterpretq_u16_s16(sum));
                    *sums = [vsubw_u8(low, vget_low_u8(bytes)), vsubw_high_u8(high, bytes)]
                        .map(|sum| vreinterpretq_s16_u16(sum));
                }
            }
        }
        for i in pairs_subtracted..numbers {
            for (sums, update) in sums.iter_mut().zip(&*updates) {
                let row = pairs[usize::from(update.pairs[i])].as_ptr();
                for (block, sums) in sums.iter_mut().enumerate() {
                    let bytes = vld1q_u8(row.add(place(block, 0)));
                    let [low, high] = sums.map(|sum| vreinterpretq_u16_s16(sum));
                    *sums = [vaddw_u8(low, vget_low_u8(bytes)), vaddw_high_u8(high, bytes)]
                        .map(|sum| vreinterpretq_s16_u16(sum));
                }
            }
        }
        for (sums, update) in sums.iter().zip(updates) {
            for (block, sums) in sums.iter().enumerate() {
                for (half, &sum) in sums.iter().enumerate() {
                    vst1q_s16(update.out.0.as_mut_ptr().add(place(block, half)), sum);
                }
            }
        }
    }
}

/// As [`portable::screlu_dot`].
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    const { assert!(N.is_multiple_of(LANES)) }
    // SAFETY: this module is compiled only if the target has NEON; each load reads LANES numbers at a multiple of LANES
    // below N, which is a multiple of LANES.
    unsafe {
        let (zero, one) = (vdupq_n_s16(0), vdupq_n_s16(qa));
        let (mut low, mut high) = (vdupq_n_s32(0), vdupq_n_s32(0));
        for i in (0..N).step_by(LANES) {
            let clipped = vminq_s16(vmaxq_s16(vld1q_s16(row.0.as_ptr().add(i)), zero), one);
            let weighted = vmulq_s16(clipped, vld1q_s16(weights.as_ptr().add(i)));
            low = vmlal_s16(low, vget_low_s16(weighted), vget_low_s16(clipped));
            high = vmlal_high_s16(high, weighted, clipped);
        }
        vaddvq_s32(vaddq_s32(low, high))
    }
}

/// As [`portable::products`].
#[inline]
pub fn products<const N: usize>(row: &Row<N>, out: &mut [u8]) {
    const { assert!(N.is_multiple_of(4 * LANES)) }
    assert!([N, N / 2].contains(&out.len()));
    let right = N - out.len();
    // SAFETY: this module is compiled only if the target has NEON; the length of `out` is a multiple of 2 * LANES. So
    // loads of LANES numbers end at N at most, and stores of 2 * LANES bytes end at the length of `out` at most.
    unsafe {
        let (zero, most) = (vdupq_n_s16(0), vdupq_n_s16(255));
        let product = |i: usize| {
            let clipped = |i| vminq_s16(vmaxq_s16(vld1q_s16(row.0.as_ptr().add(i)), zero), most);
            // 2 * (a << 6) * b >> 16
            vreinterpretq_u8_s16(vqdmulhq_s16(vshlq_n_s16::<6>(clipped(i)), clipped(right + i)))
        };
        for i in (0..out.len()).step_by(2 * LANES) {
            // The lower bytes of all products.
            vst1q_u8(out.as_mut_ptr().add(i), vuzp1q_u8(product(i), product(i + LANES)));
        }
    }
}

/// Adds the sums of four byte products to `sums`. The inputs are at most 127, so that they are the same with a sign.
#[inline]
fn dot(sums: int32x4_t, inputs: int8x16_t, weights: int8x16_t) -> int32x4_t {
    #[cfg(target_feature = "dotprod")]
    {
        // The intrinsic is not stable in Rust 1.95.
        let mut sums = sums;
        // SAFETY: this block is compiled only if the target has the instruction, which uses registers alone.
        unsafe {
            std::arch::asm!(
                "sdot {sums:v}.4s, {inputs:v}.16b, {weights:v}.16b",
                sums = inout(vreg) sums, inputs = in(vreg) inputs, weights = in(vreg) weights,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    }
    #[cfg(not(target_feature = "dotprod"))]
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe {
        let low = vmull_s8(vget_low_s8(inputs), vget_low_s8(weights));
        // Two products of at most 127 * 128 fit 16 bits.
        vpadalq_s16(sums, vpaddq_s16(low, vmull_high_s8(inputs, weights)))
    }
}

/// As [`portable::sparse_dot`].
#[inline]
pub fn sparse_dot<const QUADS: usize, const NEURONS: usize>(
    inputs: &Aligned<[[u8; 4]; QUADS]>,
    weights: &[[[i8; 4]; NEURONS]; QUADS],
) -> Aligned<[i32; NEURONS]> {
    const { assert!(NEURONS.is_multiple_of(4) && NEURONS <= 32 && QUADS.is_multiple_of(8)) }
    let mut sums = Aligned([0; NEURONS]);
    // The numbers of the non-zero groups, collected without branches.
    let mut busy = [0u16; QUADS];
    let mut count = 0;
    // SAFETY: this module is compiled only if the target has NEON; inputs are read in two vectors of 4 groups, and
    // QUADS is a multiple of 8. A row of PLACES has 8 bytes. 8 indices are stored at `count`, which is at most `start`,
    // so at least 8 remain.
    unsafe {
        let bits = vld1q_u16([1, 2, 4, 8, 16, 32, 64, 128].as_ptr());
        for start in (0..QUADS).step_by(8) {
            let groups = inputs.0.as_ptr().cast::<u8>().add(4 * start);
            let [first, second] = [0, 16].map(|i| vreinterpretq_u32_u8(vld1q_u8(groups.add(i))));
            let busy_words = vcombine_u16(vmovn_u32(vtstq_u32(first, first)), vmovn_u32(vtstq_u32(second, second)));
            let found = vaddvq_u16(vandq_u16(busy_words, bits)) as u8;
            let places = vmovl_u8(vld1_u8(PLACES[usize::from(found)].as_ptr()));
            vst1q_u16(busy.as_mut_ptr().add(count), vaddq_u16(places, vdupq_n_u16(start as u16)));
            count += found.count_ones() as usize;
        }
    }
    // SAFETY: this module is compiled only if the target has NEON. The sums are written in NEURONS / 4 vectors of 4
    // neurons, at most 8.
    unsafe {
        // Two chains, because each sum waits for the previous one.
        let mut chains = [[vdupq_n_s32(0); 8]; 2];
        let (twos, rest) = busy[..count].as_chunks::<2>();
        for two in twos {
            for (chain, &quad) in chains.iter_mut().zip(two) {
                add_group(chain, inputs, weights, usize::from(quad));
            }
        }
        for &quad in rest {
            add_group(&mut chains[0], inputs, weights, usize::from(quad));
        }
        let [a, b] = chains;
        for i in 0..NEURONS / 4 {
            vst1q_s32(sums.0.as_mut_ptr().add(4 * i), vaddq_s32(a[i], b[i]));
        }
    }
    sums
}

/// Adds the contribution of one group of inputs to all neurons.
#[inline]
fn add_group<const QUADS: usize, const NEURONS: usize>(
    sums: &mut [int32x4_t; 8],
    inputs: &Aligned<[[u8; 4]; QUADS]>,
    weights: &[[[i8; 4]; NEURONS]; QUADS],
    quad: usize,
) {
    for (i, sum) in sums.iter_mut().enumerate().take(NEURONS / 4) {
        // SAFETY: this module is compiled only if the target has NEON; the index of the group is checked, and vector
        // `i` of its weights ends with neuron 4 * i + 3, below NEURONS.
        unsafe {
            let input = vreinterpretq_s8_s32(vdupq_n_s32(i32::from_le_bytes(inputs.0[quad])));
            *sum = dot(*sum, input, vld1q_s8(weights[quad].as_ptr().add(4 * i).cast()));
        }
    }
}

/// Clips to 0…1 and squares.
#[inline]
fn squared(sums: float32x4_t) -> float32x4_t {
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe {
        let clipped = vminq_f32(vmaxq_f32(sums, vdupq_n_f32(0.0)), vdupq_n_f32(1.0));
        vmulq_f32(clipped, clipped)
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
        // SAFETY: this module is compiled only if the target has NEON; vectors of FLOATS numbers begin at multiples of
        // FLOATS below NEURONS, which is a multiple of FLOATS.
        unsafe {
            let scaled = vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums.0.as_ptr().add(i))), vdupq_n_f32(unit));
            let sums = vaddq_f32(scaled, vld1q_f32(bias.as_ptr().add(i)));
            vst1q_f32(all.0.as_mut_ptr().add(i), sums);
            let one = vdupq_n_f32(1.0);
            vst1q_f32(out.0[0].as_mut_ptr().add(i), vminq_f32(vmaxq_f32(sums, vdupq_n_f32(0.0)), one));
            let signed = vminq_f32(vmaxq_f32(sums, vdupq_n_f32(-1.0)), one);
            vst1q_f32(out.0[1].as_mut_ptr().add(i), vmulq_f32(signed, signed));
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
    /// Vectors of neurons at a time: four chains of two sums each.
    const BLOCK: usize = 4;
    const { assert!(NEURONS.is_multiple_of(BLOCK * FLOATS)) }
    let mut out = Aligned([0.0; NEURONS]);
    for start in (0..NEURONS).step_by(BLOCK * FLOATS) {
        // SAFETY: this module is compiled only if the target has NEON; BLOCK vectors of FLOATS numbers begin at
        // multiples of their size below NEURONS, which is a multiple of it.
        unsafe {
            let vectors = |row: &[f32; NEURONS]| -> [float32x4_t; BLOCK] {
                from_fn(|i| vld1q_f32(row.as_ptr().add(start + i * FLOATS)))
            };
            let mut sums = [vectors(bias), [vdupq_n_f32(0.0); BLOCK]];
            for (i, (&input, weights)) in inputs.iter().zip(weights).enumerate() {
                for (sum, weights) in sums[i % 2].iter_mut().zip(vectors(weights)) {
                    // Two roundings, as everywhere: not the fused instruction.
                    *sum = vaddq_f32(*sum, vmulq_f32(vdupq_n_f32(input), weights));
                }
            }
            let [even, odd] = sums;
            for (i, (even, odd)) in even.into_iter().zip(odd).enumerate() {
                vst1q_f32(out.0.as_mut_ptr().add(start + i * FLOATS), vaddq_f32(even, odd));
            }
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
    const { assert!(INPUTS.is_multiple_of(4 * FLOATS) && SKIPPED.is_multiple_of(4 * FLOATS)) }
    // SAFETY: this module is compiled only if the target has NEON; vectors of FLOATS numbers begin at multiples of
    // FLOATS below INPUTS and SKIPPED, which are multiples of 4 * FLOATS.
    unsafe {
        let mut sums = [vdupq_n_f32(0.0); 4];
        for (i, start) in (0..INPUTS).step_by(FLOATS).enumerate() {
            let activations = squared(vld1q_f32(inputs.0.as_ptr().add(start)));
            let products = vmulq_f32(activations, vld1q_f32(weights.as_ptr().add(start)));
            sums[i % 4] = vaddq_f32(sums[i % 4], products);
        }
        for (i, start) in (0..SKIPPED).step_by(FLOATS).enumerate() {
            let products = vmulq_f32(vld1q_f32(skipped.0.as_ptr().add(start)), vld1q_f32(skip.as_ptr().add(start)));
            sums[i % 4] = vaddq_f32(sums[i % 4], products);
        }
        let four = vaddq_f32(vaddq_f32(sums[0], sums[2]), vaddq_f32(sums[1], sums[3]));
        let two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
        vget_lane_f32::<0>(two) + vget_lane_f32::<1>(two)
    }
}

/// Loads the bytes of all squares, two ranks in each vector.
#[inline]
fn bytes(board: &[u8; 64]) -> [uint8x16_t; 4] {
    // SAFETY: this module is compiled only if the target has NEON; each quarter has 16 bytes.
    from_fn(|i| unsafe { vld1q_u8(board.as_chunks::<16>().0[i].as_ptr()) })
}

/// Loads the words of two ranks.
#[inline]
fn quarter(words: &Wordboard, index: usize) -> [uint16x8_t; 2] {
    // SAFETY: this module is compiled only if the target has NEON; each rank has 8 words.
    from_fn(|i| unsafe { vld1q_u16(words.0.as_chunks::<LANES>().0[2 * index + i].as_ptr()) })
}

/// Stores the words of two ranks.
#[inline]
fn store_quarter(words: &mut Wordboard, index: usize, ranks: [uint16x8_t; 2]) {
    for (i, rank) in ranks.into_iter().enumerate() {
        // SAFETY: this module is compiled only if the target has NEON; each rank has 8 words.
        unsafe { vst1q_u16(words.0.as_chunks_mut::<LANES>().0[2 * index + i].as_mut_ptr(), rank) }
    }
}

/// The bit of each square of two ranks in the byte of its rank.
#[inline]
fn file_bits() -> uint8x16_t {
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe { vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201)) }
}

/// Returns all ones in the bytes of `squares`.
#[inline]
fn masks(squares: u64) -> [uint8x16_t; 4] {
    // SAFETY: this module is compiled only if the target has NEON.
    from_fn(|i| unsafe {
        // Each byte of the set goes to its eight squares, each of which tests its own bit.
        let ranks = vcombine_u8(vdup_n_u8(2 * i as u8), vdup_n_u8(2 * i as u8 + 1));
        vtstq_u8(vqtbl1q_u8(vreinterpretq_u8_u64(vdupq_n_u64(squares)), ranks), file_bits())
    })
}

/// Widens bytes that are all ones or zero to words.
#[inline]
fn widened(masks: uint8x16_t) -> [uint16x8_t; 2] {
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe { [vreinterpretq_u16_u8(vzip1q_u8(masks, masks)), vreinterpretq_u16_u8(vzip2q_u8(masks, masks))] }
}

/// Narrows words that are all ones or zero to bytes.
#[inline]
fn narrowed([low, high]: [uint16x8_t; 2]) -> uint8x16_t {
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe { vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)) }
}

/// Returns the squares whose bytes are all ones, of bytes that are all ones or zero.
#[inline]
fn squares_of(masks: [uint8x16_t; 4]) -> u64 {
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe {
        // Three times the sums of neighbours bring the bits of each rank to one byte.
        let [a, b, c, d] = masks.map(|mask| vandq_u8(mask, file_bits()));
        let pairs = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)))
    }
}

/// As [`portable::add`].
#[inline]
pub fn add(bytes: &mut Aligned<[u8; 64]>, squares: u64, number: u8) {
    for (bytes, mask) in bytes.0.as_chunks_mut::<16>().0.iter_mut().zip(masks(squares)) {
        // SAFETY: this module is compiled only if the target has NEON; each quarter has 16 bytes.
        unsafe {
            let added = vandq_u8(mask, vdupq_n_u8(number));
            vst1q_u8(bytes.as_mut_ptr(), vaddq_u8(vld1q_u8(bytes.as_ptr()), added));
        }
    }
}

/// As [`portable::differing`].
#[inline]
pub fn differing(a: &Aligned<[u8; 64]>, b: &Aligned<[u8; 64]>) -> u64 {
    let (a, b) = (bytes(&a.0), bytes(&b.0));
    // SAFETY: this module is compiled only if the target has NEON.
    !squares_of(from_fn(|i| unsafe { vceqq_u8(a[i], b[i]) }))
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
    let (places, changed) = (bytes(&places.0), masks(changed));
    let any = from_fn(|index| {
        // SAFETY: this module is compiled only if the target has NEON.
        let (counts, changed) = unsafe {
            let kind = vandq_u8(places[index], vdupq_n_u8(0xe0));
            let is_king = vceqq_u8(kind, vdupq_n_u8(portable::KING_BITS));
            let counts = vbicq_u8(vtstq_u8(places[index], places[index]), is_king);
            (widened(counts).map(|counts| vandq_u16(counts, vdupq_n_u16(!1))), widened(changed[index]))
        };
        // SAFETY: as above.
        let mut any = unsafe { [vdupq_n_u16(0); 2] };
        for (color, out) in out.iter_mut().enumerate() {
            let (words, other) = (quarter(&tables[color], index), quarter(&other[color], index));
            // SAFETY: as above.
            let words = from_fn(|i| unsafe {
                let kept = vbicq_u16(vdupq_n_u16(!(moved >> (16 * color)) as u16), changed[i]);
                vbicq_u16(vandq_u16(words[i], counts[i]), vandq_u16(other[i], kept))
            });
            store_quarter(out, index, words);
            // SAFETY: as above.
            any = from_fn(|i| unsafe { vorrq_u16(any[i], words[i]) });
        }
        // SAFETY: as above.
        narrowed(any.map(|any| unsafe { vtstq_u16(any, any) }))
    });
    squares_of(any)
}

/// As [`portable::any`].
#[inline]
pub fn any(words: &Wordboard, bits: u16) -> u64 {
    // SAFETY: this module is compiled only if the target has NEON.
    let found = |words: uint16x8_t| unsafe { vtstq_u16(words, vdupq_n_u16(bits)) };
    squares_of(from_fn(|index| narrowed(quarter(words, index).map(found))))
}

/// As [`portable::count`].
#[inline]
pub fn count<const N: usize>(words: &Wordboard, sets: [(u64, u16); N]) -> u32 {
    let sets = sets.map(|(squares, bits)| (masks(squares), bits));
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe {
        // Sums of eight counts of at most 8.
        let mut ones = vdupq_n_u8(0);
        for index in 0..4 {
            let mut wanted = [vdupq_n_u16(0); 2];
            for (masks, bits) in &sets {
                let masks = widened(masks[index]);
                wanted = from_fn(|i| vorrq_u16(wanted[i], vandq_u16(masks[i], vdupq_n_u16(*bits))));
            }
            for (words, wanted) in quarter(words, index).into_iter().zip(wanted) {
                ones = vaddq_u8(ones, vcntq_u8(vreinterpretq_u8_u16(vandq_u16(words, wanted))));
            }
        }
        vaddlvq_u8(ones).into()
    }
}

/// As [`portable::set`].
#[inline]
pub fn set(words: &mut Wordboard, squares: u64, bits: u16) {
    for (index, masks) in masks(squares).into_iter().enumerate() {
        let (old, masks) = (quarter(words, index), widened(masks));
        // SAFETY: this module is compiled only if the target has NEON.
        let new = from_fn(|i| unsafe { vorrq_u16(old[i], vandq_u16(masks[i], vdupq_n_u16(bits))) });
        store_quarter(words, index, new);
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
