//! Vector kernels: one module per instruction set, with the same functions and bit-identical results. The target
//! features of the build choose one. `portable` is always compiled and is the reference for the others.

pub mod portable;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
mod sums;
pub mod superpiece;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
pub mod avx512;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub mod neon;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2", not(target_feature = "avx512bw")))]
pub use avx2 as native;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
pub use avx512 as native;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub use neon as native;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "avx2"),
    all(target_arch = "aarch64", target_feature = "neon")
)))]
pub use portable as native;

/// The name of the instruction set that [`native`] uses.
pub const NAME: &str = if cfg!(all(target_arch = "x86_64", target_feature = "avx512bw")) {
    "AVX-512"
} else if cfg!(all(target_arch = "x86_64", target_feature = "avx2")) {
    "AVX2"
} else if cfg!(all(target_arch = "aarch64", target_feature = "neon")) {
    "NEON"
} else {
    "portable"
};

/// Whether [`native`] and [`superpiece::Native`] use vector instructions. Then [`native::any`] is about as fast as a
/// magic look-up.
pub const IS_VECTORIZED: bool = cfg!(any(
    all(target_arch = "x86_64", target_feature = "avx2"),
    all(target_arch = "aarch64", target_feature = "neon")
));

use std::mem::MaybeUninit;

/// A row of weights or activations, aligned to a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row<const N: usize>(pub [i16; N]);

/// An update of an accumulator by rows of weights, given by their numbers.
#[derive(Debug)]
pub struct RowUpdate<'a, const N: usize> {
    /// The accumulator before.
    pub base: &'a Row<N>,
    /// The accumulator after, which is written.
    pub out: &'a mut Row<N>,
    /// The rows of features to add.
    pub added: &'a [u16],
    /// The rows of features to subtract.
    pub subtracted: &'a [u16],
    /// The rows of pairs, first those to subtract, then those to add.
    pub pairs: &'a [u16],
    /// The number of rows of pairs to subtract.
    pub pairs_subtracted: usize,
}

/// A value aligned to a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Aligned<T>(pub T);

/// A 16-bit word for each square, in which bit *i* stands for the piece with id *i* of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Wordboard(pub [u16; 64]);

/// Prefetches the cache line at `place`. Does nothing on targets other than x86-64 and 64-bit ARM.
#[inline]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is a hint that accesses nothing; every x86-64 processor has SSE.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction is a hint that accesses nothing.
    unsafe {
        let place = std::ptr::from_ref(place);
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// The output buffer of `spread`: a piece attacks at most 27 squares.
pub type Spread = [MaybeUninit<u16>; 32];

/// The output buffer of `pick`, with room for one word per piece of a side.
pub type Pick = [MaybeUninit<u16>; 16];

/// The numbers of all squares.
pub static SQUARES: Aligned<[u8; 64]> = {
    let mut squares = [0; 64];
    let mut square = 0;
    while square < 64 {
        squares[square] = square as u8;
        square += 1;
    }
    Aligned(squares)
};

/// The positions of the set bits of each byte, in ascending order: a replacement for the compress instruction of
/// AVX-512.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "avx2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
static PLACES: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut left, mut count) = (byte, 0);
        while left != 0 {
            places[byte][count] = left.trailing_zeros() as u8;
            left &= left - 1;
            count += 1;
        }
        byte += 1;
    }
    places
};

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Fewer under Miri, which is slow.
    const ROUNDS: usize = if cfg!(miri) { 10 } else { 2000 };

    /// Returns a row of values up to `bound`, the extremes among them.
    fn rows(rng: &mut Xoshiro256PlusPlus, bound: i16) -> Row<96> {
        Row(std::array::from_fn(|_| match rng.next_u32() % 8 {
            0 => bound,
            1 => -bound,
            2 => 0,
            _ => (rng.next_u32() as i16) % bound,
        }))
    }

    #[test]
    fn native_equals_portable() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for qa in [1, 127, 255] {
            for _ in 0..ROUNDS {
                let values = rows(&mut rng, 16_000);
                let weights = rows(&mut rng, 32_767 / qa);
                assert_eq!(native::screlu_dot(&values, &weights.0, qa), portable::screlu_dot(&values, &weights.0, qa));
            }
        }
    }

    fn sums<const N: usize>(rng: &mut Xoshiro256PlusPlus) {
        let mut row = || -> [i16; N] { std::array::from_fn(|_| rng.next_u32() as i16) };
        let bases: [Row<N>; 2] = std::array::from_fn(|_| Row(row()));
        let features: [[i16; N]; 5] = std::array::from_fn(|_| row());
        let pairs: [[u8; N]; 5] = std::array::from_fn(|_| row().map(|number| number as u8));
        let mut arranged = [[0; N]; 5];
        let order = native::PACKING.for_row(N);
        for (row, arranged) in pairs.iter().zip(&mut arranged) {
            row.iter().enumerate().for_each(|(place, &weight)| arranged[order.number_at(place)] = weight);
        }
        let numbers: [[u16; 9]; 2] = [[2, 0, 1, 3, 4, 1, 0, 2, 4], [3, 3, 2, 1, 0, 1, 2, 3, 4]];
        for (added, subtracted) in [(0, 0), (1, 1), (0, 1), (1, 2), (2, 0), (4, 5)] {
            for (pairs_added, pairs_subtracted) in [(0, 0), (1, 0), (0, 1), (1, 2), (3, 1), (4, 5)] {
                let update = |side: usize, out| RowUpdate {
                    base: &bases[side],
                    out,
                    added: &numbers[side][..added],
                    subtracted: &numbers[side][4..4 + subtracted],
                    pairs: &numbers[1 - side][..pairs_added + pairs_subtracted],
                    pairs_subtracted,
                };
                let mut out = [Row([0; N]); 5];
                let [one, native_white, native_black, white, black] = &mut out;
                native::add_subtract([update(0, one)], &features, &arranged);
                native::add_subtract([update(0, native_white), update(1, native_black)], &features, &arranged);
                portable::add_subtract([update(0, white), update(1, black)], &features, &pairs);
                for (out, side) in out.iter().zip([0, 0, 1, 0, 1]) {
                    let mut sum = bases[side].0.map(i64::from);
                    let mut add = |sign: i64, row: &[i64; N]| {
                        sum.iter_mut().zip(row).for_each(|(sum, weight)| *sum += sign * weight);
                    };
                    let of = |row: u16| features[usize::from(row)].map(i64::from);
                    numbers[side][..added].iter().for_each(|&row| add(1, &of(row)));
                    numbers[side][4..4 + subtracted].iter().for_each(|&row| add(-1, &of(row)));
                    for (i, &row) in numbers[1 - side][..pairs_added + pairs_subtracted].iter().enumerate() {
                        let sign = if i < pairs_subtracted { -1 } else { 1 };
                        add(sign, &pairs[usize::from(row)].map(|weight| i64::from(weight) - 128));
                    }
                    assert_eq!(out.0, sum.map(|sum| sum as i16));
                }
            }
        }
    }

    /// Rows of less than a vector, of one part, of several, and with a rest.
    #[test]
    fn sums_equal_the_definition() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        sums::<96>(&mut rng);
        sums::<128>(&mut rng);
        if cfg!(miri) {
            return;
        }
        sums::<256>(&mut rng);
        sums::<352>(&mut rng);
        sums::<448>(&mut rng);
        sums::<512>(&mut rng);
    }

    #[test]
    fn wordboards_native_equals_portable() {
        fn out<const N: usize>(write: impl Fn(&mut [MaybeUninit<u16>; N]) -> usize) -> Vec<u16> {
            let mut out = [MaybeUninit::new(0xdead); N];
            let count = write(&mut out);
            // SAFETY: every element is written above.
            out[..count].iter().map(|word| unsafe { word.assume_init() }).collect()
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let sparse = |rng: &mut Xoshiro256PlusPlus| match rng.next_u32() % 8 {
            0 => 0,
            1 => !0,
            n => (0..n).fold(!0, |set, _| set & rng.next_u64()),
        };
        for _ in 0..ROUNDS {
            let mut words = Wordboard(std::array::from_fn(|_| sparse(&mut rng) as u16));
            let (squares, bits) = (sparse(&mut rng), sparse(&mut rng) as u16);
            assert_eq!(native::any(&words, bits), portable::any(&words, bits));
            let (other_squares, other) = (sparse(&mut rng) & !squares, sparse(&mut rng) as u16);
            for sets in [[(squares, bits), (other_squares, other)], [(squares, bits), (0, 0)]] {
                assert_eq!(native::count(&words, sets), portable::count(&words, sets));
            }
            assert_eq!(native::count(&words, [(squares, bits)]), portable::count(&words, [(squares, bits)]));
            // A piece attacks at most 27 squares.
            let few =
                (0..64).filter(|square| squares >> square & 1 != 0).take(27).fold(0, |set, square| set | 1 << square);
            let expected = |factor: u16, set: u64| -> Vec<u16> {
                let square = |square: u16| factor.wrapping_mul(square).wrapping_add(bits);
                (0..64).filter(|number| set >> number & 1 != 0).map(square).collect()
            };
            assert_eq!(out(|out| native::spread::<64>(out, few, bits)), expected(64, few));
            assert_eq!(out(|out| portable::spread::<64>(out, few, bits)), expected(64, few));
            assert_eq!(out(|out| native::spread::<65>(out, few, bits)), expected(65, few));
            assert_eq!(out(|out| portable::spread::<65>(out, few, bits)), expected(65, few));
            let found = few & portable::any(&words, other);
            assert_eq!(out(|out| native::spread_any::<64>(out, &words, other, few, bits)), expected(64, found));
            assert_eq!(out(|out| portable::spread_any::<64>(out, &words, other, few, bits)), expected(64, found));
            let bytes: [u8; 16] = std::array::from_fn(|_| rng.next_u32() as u8);
            let picked: Vec<u16> = (0..16)
                .filter(|index| other >> index & 1 != 0)
                .map(|index| u16::from(bytes[index]).wrapping_add(bits))
                .collect();
            assert_eq!(out(|out| native::pick(out, &bytes, other, bits)), picked);
            assert_eq!(out(|out| portable::pick(out, &bytes, other, bits)), picked);
            let restricted = Wordboard(std::array::from_fn(|square| match squares >> square & 1 {
                0 => words.0[square] & !bits,
                _ => words.0[square],
            }));
            let mut same = words;
            native::restrict(&mut words, squares, bits);
            assert_eq!(words, restricted);
            portable::restrict(&mut same, squares, bits);
            assert_eq!(same, restricted);
            native::clear(&mut words, bits);
            portable::clear(&mut same, bits);
            assert_eq!(words, same);
            native::set(&mut words, squares, other);
            portable::set(&mut same, squares, other);
            assert_eq!(words, same);
        }
    }

    #[test]
    fn bytes_native_equals_portable() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        for _ in 0..ROUNDS {
            let bytes = Aligned(std::array::from_fn(|_| rng.next_u32() as u8));
            let (squares, number) = (rng.next_u64() & rng.next_u64(), rng.next_u32() as u8 | 1);
            let (mut sum, mut same) = (bytes, bytes);
            native::add(&mut sum, squares, number);
            portable::add(&mut same, squares, number);
            assert_eq!(sum, same);
            assert_eq!(native::differing(&sum, &bytes), squares);
            assert_eq!(portable::differing(&sum, &bytes), squares);
        }
    }

    #[test]
    fn other_attacks_native_equals_portable() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        let mut words = [[Wordboard([0; 64]); 2]; 2];
        for _ in 0..ROUNDS {
            let places =
                Aligned(std::array::from_fn(|_| if rng.next_u32() % 2 == 0 { 0 } else { rng.next_u32() as u8 }));
            let [tables, other] =
                [(); 2].map(|()| [(); 2].map(|()| Wordboard(std::array::from_fn(|_| rng.next_u32() as u16))));
            let (changed, moved) = (rng.next_u64() & rng.next_u64(), rng.next_u32());
            let [native_words, portable_words] = &mut words;
            let squares = native::other_attacks(native_words, &places, [&tables, &other], changed, moved);
            assert_eq!(portable::other_attacks(portable_words, &places, [&tables, &other], changed, moved), squares);
            assert_eq!(native_words, portable_words);
        }
    }

    /// With `QUADS / 2` groups of four inputs a side: the squares of an accumulator, or the products of its halves.
    fn layers<const WIDTH: usize, const QUADS: usize, const NEURONS: usize>(rng: &mut Xoshiro256PlusPlus) {
        for sparsity in 0..8 {
            let mut row = Row([0; WIDTH]);
            row.0.fill_with(|| (rng.next_u32() % 600) as i16 - 100 - 70 * sparsity);
            let mut products = [Aligned([[0; 4]; QUADS]); 2];
            let count = 2 * QUADS;
            let order = native::PACKING.for_row(count);
            let place = |i: usize| i / count * count + order.number_at(i % count);
            let arranged = Row::<WIDTH>(std::array::from_fn(|i| row.0[place(i)]));
            native::products(&arranged, products[0].0[..QUADS / 2].as_flattened_mut());
            portable::products(&row, products[1].0[..QUADS / 2].as_flattened_mut());
            assert_eq!(products[0], products[1]);
            let exact =
                |i: usize| i32::from(row.0[i].clamp(0, 255)) * i32::from(row.0[WIDTH - count + i].clamp(0, 255)) / 512;
            assert!((0..count).all(|i| i32::from(products[0].0.as_flattened()[i]) == exact(i)));

            let mut weights = Box::new([[[0i8; 4]; NEURONS]; QUADS]);
            weights.as_flattened_mut().as_flattened_mut().fill_with(|| rng.next_u32() as i8);
            let sums = native::sparse_dot(&products[0], &weights);
            assert_eq!(sums, portable::sparse_dot(&products[0], &weights));

            let mut float = |range: f32| range * ((rng.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0);
            let bias: [f32; NEURONS] = std::array::from_fn(|_| float(2.0));
            let (first, activated) = native::activate(&sums, 1e-5, &bias);
            assert_eq!((first, activated), portable::activate(&sums, 1e-5, &bias));
            for (i, sum) in first.0.into_iter().enumerate() {
                let exact = [sum.clamp(0.0, 1.0), (sum * sum).min(1.0)];
                assert!((0..2).all(|part| (activated.0[part][i] - exact[part]).abs() < 1e-6));
            }
            let inputs = activated.0.as_flattened();
            let weights: Vec<[f32; 32]> = inputs.iter().map(|_| std::array::from_fn(|_| float(1.5))).collect();
            let bias: [f32; 32] = std::array::from_fn(|_| float(1.0));
            let second = native::dense(inputs, &weights, &bias);
            assert_eq!(second, portable::dense(inputs, &weights, &bias));
            let exact = |i: usize| {
                let products = inputs.iter().zip(&weights).map(|(&input, row)| f64::from(input) * f64::from(row[i]));
                f64::from(bias[i]) + products.sum::<f64>()
            };
            assert!((0..32).all(|i| (f64::from(second.0[i]) - exact(i)).abs() < 1e-4));
            let skip: [f32; NEURONS] = std::array::from_fn(|_| float(1.0));
            let output = native::output((&second, &bias), (&first, &skip));
            assert_eq!(output.to_bits(), portable::output((&second, &bias), (&first, &skip)).to_bits());
            let squared = (0..32).map(|i| f64::from(second.0[i].clamp(0.0, 1.0)).powi(2) * f64::from(bias[i]));
            let skipped = (0..NEURONS).map(|i| f64::from(first.0[i]) * f64::from(skip[i]));
            assert!((f64::from(output) - squared.sum::<f64>() - skipped.sum::<f64>()).abs() < 1e-4);
        }
    }

    #[test]
    fn layers_native_equals_portable() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        layers::<32, 8, 16>(&mut rng);
        layers::<32, 16, 16>(&mut rng);
        layers::<64, 16, 16>(&mut rng);
        layers::<96, 24, 32>(&mut rng);
        layers::<96, 48, 32>(&mut rng);
        if cfg!(miri) {
            return;
        }
        layers::<512, 128, 16>(&mut rng);
        layers::<256, 128, 16>(&mut rng);
        layers::<1024, 256, 32>(&mut rng);
    }

    #[test]
    fn wordboards_by_hand() {
        let mut words = Wordboard([0; 64]);
        portable::set(&mut words, 1 << 63 | 1 << 5, 0b101);
        assert_eq!((words.0[63], words.0[5], words.0[6]), (0b101, 0b101, 0));
        assert_eq!(portable::any(&words, 0b100), 1 << 63 | 1 << 5);
        assert_eq!(portable::any(&words, 0b010), 0);
        assert_eq!(portable::count(&words, [(!0, !0)]), 4);
        assert_eq!(portable::count(&words, [(1 << 5, 0b011)]), 1);
        assert_eq!(portable::count(&words, [(1 << 5, 0b011), (1 << 63, !0)]), 3);
        portable::clear(&mut words, 1);
        assert_eq!(words.0[63], 0b100);
        let mut out = [MaybeUninit::new(0); 32];
        // SAFETY: every element is written above.
        let first = |out: &[MaybeUninit<u16>]| [out[0], out[1]].map(|word| unsafe { word.assume_init() });
        assert_eq!(portable::spread::<65>(&mut out, 1 << 63 | 1 << 5, 7), 2);
        assert_eq!(first(&out), [5 * 65 + 7, 63 * 65 + 7]);
        assert_eq!(portable::spread_any::<64>(&mut out, &words, 0b100, !0, 7), 2);
        assert_eq!(first(&out), [5 * 64 + 7, 63 * 64 + 7]);
        let mut out = [MaybeUninit::new(0); 16];
        let bytes = std::array::from_fn(|i| 10 * i as u8);
        assert_eq!(portable::pick(&mut out, &bytes, 1 << 15 | 1 << 2, 7), 2);
        assert_eq!(first(&out), [27, 157]);
        portable::restrict(&mut words, 1 << 5, 0b100);
        assert_eq!((words.0[5], words.0[63]), (0b100, 0));
    }

    #[test]
    fn portable_equals_the_definition() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let (values, weights) = (rows(&mut rng, 16_000), rows(&mut rng, 128));
        let expected: i64 =
            values.0.iter().zip(&weights.0).map(|(&v, &w)| i64::from(v.clamp(0, 255)).pow(2) * i64::from(w)).sum();
        assert_eq!(i64::from(portable::screlu_dot(&values, &weights.0, 255)), expected);
    }
}
