//! Kernels in plain Rust for any target, the reference for the other backends.

use super::superpiece::Places;
use super::{Aligned, Pick, Row, RowUpdate, Spread, Wordboard};
use kiln_gen::layout::Packing;

/// The upper three bits of a king's place.
pub const KING_BITS: u8 = 0xa0;

/// The order of neurons that [`products`] expects.
pub const PACKING: Packing = Packing::PLAIN;

/// Updates the accumulators of one position by rows of weights. Each part of a row is computed in registers, so that it
/// is written once. All sides must have the same numbers of rows.
///
/// Weights of pairs are 128 more than they count. The places of a row of pairs are in the order into which [`PACKING`]
/// would pack the row of words.
///
/// # Panics
/// If a row number is out of range.
#[inline]
pub fn add_subtract<const N: usize, const SIDES: usize>(
    updates: [RowUpdate<N>; SIDES],
    features: &[[i16; N]],
    pairs: &[[u8; N]],
) {
    /// Sixteen vectors of 16 bytes, all registers of SSE2.
    const TILE: usize = 128;
    const { assert!(N.is_multiple_of(32)) }
    for update in updates {
        let RowUpdate { base, out, added, subtracted, pairs: numbers, pairs_subtracted } = update;
        let changes = Changes { features, added, subtracted, pairs, numbers, pairs_subtracted };
        let (tiles, rest) = out.0.as_chunks_mut::<TILE>();
        let rest_start = TILE * tiles.len();
        for (i, tile) in tiles.iter_mut().enumerate() {
            *tile = changes.sums(base, TILE * i);
        }
        for (i, tile) in rest.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            *tile = changes.sums(base, rest_start + 32 * i);
        }
    }
}

/// What [`add_subtract`] adds to one accumulator.
struct Changes<'a, const N: usize> {
    features: &'a [[i16; N]],
    added: &'a [u16],
    subtracted: &'a [u16],
    pairs: &'a [[u8; N]],
    numbers: &'a [u16],
    pairs_subtracted: usize,
}

impl<const N: usize> Changes<'_, N> {
    /// Returns the part of the accumulator after `base` that begins at `start`.
    #[inline]
    fn sums<const PART: usize>(&self, base: &Row<N>, start: usize) -> [i16; PART] {
        fn part_of<T, const N: usize, const PART: usize>(row: &[T; N], start: usize) -> &[T; PART] {
            row[start..].first_chunk().expect("parts are within the row")
        }
        let feature = |&number: &u16| part_of::<_, N, PART>(&self.features[usize::from(number)], start);
        let pair = |&number: &u16| part_of::<_, N, PART>(&self.pairs[usize::from(number)], start);
        let (pairs_subtracted, pairs_added) = self.numbers.split_at(self.pairs_subtracted);
        let bias = 128 * (pairs_added.len() as i16 - pairs_subtracted.len() as i16);
        let mut sums = part_of::<_, N, PART>(&base.0, start).map(|sum| sum.wrapping_sub(bias));
        for row in self.added.iter().map(feature) {
            sums = std::array::from_fn(|i| sums[i].wrapping_add(row[i]));
        }
        for row in self.subtracted.iter().map(feature) {
            sums = std::array::from_fn(|i| sums[i].wrapping_sub(row[i]));
        }
        for row in pairs_added.iter().map(pair) {
            sums = std::array::from_fn(|i| sums[i].wrapping_add(row[i].into()));
        }
        for row in pairs_subtracted.iter().map(pair) {
            sums = std::array::from_fn(|i| sums[i].wrapping_sub(row[i].into()));
        }
        sums
    }
}

/// Writes the products of the numbers at the start and at the end of a row, as many as `out` has, each clipped to
/// 0…255, in units of 512 (0 to 127): the squares of all, or the products of both halves. The row is in the order of
/// [`PACKING`], the products are in natural order.
///
/// # Panics
/// If `out` is neither as long as the row nor half as long.
#[inline]
pub fn products<const N: usize>(row: &Row<N>, out: &mut [u8]) {
    assert!([N, N / 2].contains(&out.len()));
    let right = &row.0[N - out.len()..];
    for ((out, &a), &b) in out.iter_mut().zip(&row.0).zip(right) {
        let [a, b] = [a, b].map(|value| value.clamp(0, 255) as u32);
        *out = ((a * b) >> 9) as u8;
    }
}

/// Returns the dot product of `inputs` (0 to 127 each) and the weights of each neuron. Skips groups of four inputs that
/// are all zero, which most are.
#[inline]
pub fn sparse_dot<const QUADS: usize, const NEURONS: usize>(
    inputs: &Aligned<[[u8; 4]; QUADS]>,
    weights: &[[[i8; 4]; NEURONS]; QUADS],
) -> Aligned<[i32; NEURONS]> {
    let mut sums = [0i32; NEURONS];
    for (inputs, weights) in inputs.0.iter().zip(weights).filter(|(inputs, _)| **inputs != [0; 4]) {
        for (sum, weights) in sums.iter_mut().zip(weights) {
            *sum +=
                inputs.iter().zip(weights).map(|(&input, &weight)| i32::from(input) * i32::from(weight)).sum::<i32>();
        }
    }
    Aligned(sums)
}

/// Clips to 0…1 and squares.
#[inline]
fn squared(sum: f32) -> f32 {
    let clipped = sum.clamp(0.0, 1.0);
    clipped * clipped
}

/// Returns `x = sum * unit + bias` of each neuron, as well as `clamp(x, 0, 1)` of all and `clamp(x, −1, 1)²` of all.
#[inline]
pub fn activate<const NEURONS: usize>(
    sums: &Aligned<[i32; NEURONS]>,
    unit: f32,
    bias: &[f32; NEURONS],
) -> (Aligned<[f32; NEURONS]>, Aligned<[[f32; NEURONS]; 2]>) {
    let sums: [f32; NEURONS] = std::array::from_fn(|i| sums.0[i] as f32 * unit + bias[i]);
    let signed = sums.map(|sum| sum.clamp(-1.0, 1.0));
    (Aligned(sums), Aligned([sums.map(|sum| sum.clamp(0.0, 1.0)), signed.map(|sum| sum * sum)]))
}

/// Returns the bias plus the dot product of `inputs` and the weights of each neuron. The inputs with even and with odd
/// numbers are summed apart, which takes less time, in order, the first sum from the bias and the second from zero.
#[inline]
pub fn dense<const NEURONS: usize>(
    inputs: &[f32],
    weights: &[[f32; NEURONS]],
    bias: &[f32; NEURONS],
) -> Aligned<[f32; NEURONS]> {
    let mut sums = [*bias, [0.0; NEURONS]];
    for (i, (input, weights)) in inputs.iter().zip(weights).enumerate() {
        for (sum, weight) in sums[i % 2].iter_mut().zip(weights) {
            *sum += input * weight;
        }
    }
    Aligned(std::array::from_fn(|i| sums[0][i] + sums[1][i]))
}

/// Returns the dot product of `clamp(input, 0, 1)²` and `weights`, plus that of the skipped inputs and their weights.
/// Sixteen sums are computed apart, then the upper half of them is added to the lower half until one is left.
#[inline]
pub fn output<const INPUTS: usize, const SKIPPED: usize>(
    (inputs, weights): (&Aligned<[f32; INPUTS]>, &[f32; INPUTS]),
    (skipped, skip): (&Aligned<[f32; SKIPPED]>, &[f32; SKIPPED]),
) -> f32 {
    const { assert!(INPUTS.is_multiple_of(16) && SKIPPED.is_multiple_of(16)) }
    let mut sums = [0.0; 16];
    for (inputs, weights) in inputs.0.as_chunks::<16>().0.iter().zip(weights.as_chunks::<16>().0) {
        for i in 0..16 {
            sums[i] += squared(inputs[i]) * weights[i];
        }
    }
    for (inputs, weights) in skipped.0.as_chunks::<16>().0.iter().zip(skip.as_chunks::<16>().0) {
        for i in 0..16 {
            sums[i] += inputs[i] * weights[i];
        }
    }
    for half in [8, 4, 2, 1] {
        for i in 0..half {
            sums[i] += sums[half + i];
        }
    }
    sums[0]
}

/// Returns the sum of `clamp(row, 0, qa)² * weights` (SCReLU).
///
/// `qa * |weight|` must fit `i16`, which [`kiln_gen::network::Asset::from_bytes`] checks.
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    row.0.iter().zip(weights).fold(0i32, |sum, (&value, &weight)| {
        let clipped = value.clamp(0, qa);
        sum.wrapping_add(i32::from(clipped.wrapping_mul(weight)) * i32::from(clipped))
    })
}

/// Adds `number` to the bytes of `squares`.
#[inline]
pub fn add(bytes: &mut Aligned<[u8; 64]>, squares: u64, number: u8) {
    for (square, byte) in bytes.0.iter_mut().enumerate() {
        *byte = byte.wrapping_add(number * (squares >> square & 1) as u8);
    }
}

/// Returns the squares whose bytes differ.
#[inline]
pub fn differing(a: &Aligned<[u8; 64]>, b: &Aligned<[u8; 64]>) -> u64 {
    let bytes = a.0.iter().zip(&b.0).enumerate();
    bytes.fold(0, |set, (square, (a, b))| set | u64::from(a != b) << square)
}

/// Writes to `out`, by color of the attackers and square, the ids of the pieces that attack or defend a piece of
/// `places` in the first tables but not likewise in the second, those of another position. Returns the squares of the
/// attacked pieces. Kings neither attack nor count as attacked.
///
/// `changed` are the squares whose places differ, `moved` the ids that are on these in either position, those of Black
/// shifted by 16. What attacks a square that changed, or attacks as a piece that moved, counts as different.
#[inline]
pub fn other_attacks(
    out: &mut [Wordboard; 2],
    places: &Places,
    [tables, other]: [&[Wordboard; 2]; 2],
    changed: u64,
    moved: u32,
) -> u64 {
    let mut squares = 0;
    for square in 0..64 {
        let place = places.0[square];
        let counts = u16::from(place != 0 && place & 0xe0 != KING_BITS) * (!0 << 1);
        let kept = ((changed >> square & 1) as u16).wrapping_sub(1);
        for (color, out) in out.iter_mut().enumerate() {
            let kept = kept & !(moved >> (16 * color)) as u16;
            let word = tables[color].0[square] & !(other[color].0[square] & kept) & counts;
            out.0[square] = word;
            squares |= u64::from(word != 0) << square;
        }
    }
    squares
}

/// Returns the squares whose words have any of `bits`.
#[inline]
pub fn any(words: &Wordboard, bits: u16) -> u64 {
    // Eight words at a time, so that the compiler vectorises.
    words.0.as_chunks::<8>().0.iter().enumerate().fold(0, |set, (rank, words)| {
        let squares = (0..8).fold(0, |set, file| set | u8::from(words[file] & bits != 0) << file);
        set | u64::from(squares) << (8 * rank)
    })
}

/// Returns the number of ones among `bits` in the words of `squares`, summed over sets of squares with their bits. No
/// square may be in several sets.
#[inline]
pub fn count<const N: usize>(words: &Wordboard, sets: [(u64, u16); N]) -> u32 {
    // Four words at a time.
    let quarters = words.0.as_chunks::<4>().0.iter().enumerate();
    let ones = quarters.map(|(i, words)| {
        let wanted = sets.into_iter().fold(0, |wanted, (squares, bits)| {
            // The bits of four squares move to the lowest bits of their words, then to all of `bits`.
            let squares = squares >> (4 * i) & 15;
            let lowest = (squares | squares << 15 | squares << 30 | squares << 45) & 0x0001_0001_0001_0001;
            wanted | (lowest * u64::from(bits))
        });
        let words = words.iter().rev().fold(0, |all, &word| all << 16 | u64::from(word));
        (words & wanted).count_ones()
    });
    ones.sum()
}

/// Clears `bits` in all words.
#[inline]
pub fn clear(words: &mut Wordboard, bits: u16) {
    words.0.iter_mut().for_each(|word| *word &= !bits);
}

/// Sets `bits` in the words of `squares`.
#[inline]
pub fn set(words: &mut Wordboard, squares: u64, bits: u16) {
    let mut left = squares;
    while left != 0 {
        words.0[left.trailing_zeros() as usize] |= bits;
        left &= left - 1;
    }
}

/// Clears `bits` in the words of all squares but these.
#[inline]
pub fn restrict(words: &mut Wordboard, squares: u64, bits: u16) {
    for (square, word) in words.0.iter_mut().enumerate() {
        *word &= !(bits * (!squares >> square & 1) as u16);
    }
}

/// Writes `FACTOR * square + offset` modulo 2¹⁶ for each of `squares`, in ascending order, to the front of `out`, and
/// returns their number. There must not be more than `out` has room for. May overwrite the rest of `out`.
#[inline]
pub fn spread<const FACTOR: u16>(out: &mut Spread, squares: u64, offset: u16) -> usize {
    let count = squares.count_ones() as usize;
    debug_assert!(count <= out.len());
    let mut left = squares;
    // Two at a time, the second sometimes in vain, make the end of the loop easier to predict.
    for words in out.as_chunks_mut::<2>().0 {
        for word in words {
            word.write((left.trailing_zeros() as u16).wrapping_mul(FACTOR).wrapping_add(offset));
            left &= left.wrapping_sub(1);
        }
        if left == 0 {
            break;
        }
    }
    count
}

/// Does [`spread`] for those of `squares` whose words have any of `bits`.
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

/// Writes `bytes[i] + offset` for each bit *i* of `bits`, in ascending order, to the front of `out`, and returns their
/// number. May overwrite the rest of `out`.
#[inline]
pub fn pick(out: &mut Pick, bytes: &[u8; 16], bits: u16, offset: u16) -> usize {
    let mut left = bits;
    let mut count = 0;
    while left != 0 {
        out[count % 16].write(u16::from(bytes[left.trailing_zeros() as usize % 16]).wrapping_add(offset));
        left &= left - 1;
        count += 1;
    }
    count
}
