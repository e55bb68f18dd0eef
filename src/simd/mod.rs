//! Vector kernels, one module for each instruction set with the same functions and bit-equal results. The build's target features
//! choose; `portable` is always compiled and is the reference of the others.

pub mod portable;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
pub mod avx512;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2", not(target_feature = "avx512bw")))]
pub use avx2 as native;
#[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
pub use avx512 as native;
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
pub use portable as native;

/// The name of the instruction set that [`native`] uses.
pub const NAME: &str = if cfg!(all(target_arch = "x86_64", target_feature = "avx512bw")) {
    "AVX-512"
} else if cfg!(all(target_arch = "x86_64", target_feature = "avx2")) {
    "AVX2"
} else {
    "portable"
};

/// A row of weights or activations at the alignment of a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row<const N: usize>(pub [i16; N]);

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Rows with all kinds of values, the extremes among them.
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
            for _ in 0..1000 {
                let values = rows(&mut rng, 16_000);
                let (a, b) = (rows(&mut rng, 8_000), rows(&mut rng, 8_000));
                let weights = rows(&mut rng, 32_767 / qa);
                assert_eq!(native::screlu_dot(&values, &weights.0, qa), portable::screlu_dot(&values, &weights.0, qa));
                let (mut native_row, mut portable_row) = (values, values);
                native::add(&mut native_row, &a.0);
                native::subtract(&mut native_row, &b.0);
                portable::add(&mut portable_row, &a.0);
                portable::subtract(&mut portable_row, &b.0);
                assert_eq!(native_row, portable_row);
            }
        }
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
