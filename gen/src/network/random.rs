//! Networks of random weights, to test an implementation on all shapes.

use super::{Activations, Asset, Head, Header, Weights};
use alloc::vec::Vec;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The approximate spread of scores in centipawns.
const SPREAD: f64 = 300.0;

impl Asset {
    /// Returns a network with this header and random weights. The same seed gives the same weights on every host.
    ///
    /// The weights pass the checks of [`Asset::from_bytes`]. Their magnitudes are chosen so that some activations are
    /// zero, some are clipped, and scores are some hundreds of centipawns. The header's hash and expected scores are
    /// cleared.
    pub fn random(header: Header, seed: u64) -> Self {
        let header = Header { sha256: [0; 32], expected: Vec::new(), ..header };
        let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let (hidden, buckets) = (header.hidden as usize, header.output_bucket_count());
        let (qa, qb, scale) = (f64::from(header.qa), f64::from(header.qb), f64::from(header.scale));
        // The sum of about 30 of them spreads over half of the range that is not clipped.
        let features = random.integers(header.input_count() * hidden, 0, (qa * 0.16) as i16);
        // Most pairwise products should be zero.
        let middle = if header.head == Head::Single { 0 } else { (qa * -0.3) as i16 };
        let pairs = random.integers(header.inputs.threats.pairs() * hidden, 0, (qa * 0.1) as i8);
        let feature_bias = random.integers(hidden, middle, (qa * 0.5) as i16);
        let weights = match header.head {
            Head::Single => {
                let limit = (f64::from(i16::MAX) / qa).min(f64::from(i32::MAX) / (hidden as f64 * qa * qa));
                let wanted = SPREAD / scale * qb * 4.3 / square_root(hidden);
                Weights::Single {
                    output: random.integers(buckets * 2 * hidden, 0, wanted.min(limit) as i16),
                    output_bias: (0..buckets)
                        .map(|_| random.integer(0, (qa * qb / scale * 50.0) as i64) as i32)
                        .collect(),
                }
            }
            Head::Layers { inputs, first, second } => {
                // Products are smaller than squares, and more of them are zero.
                let size = if inputs == Activations::Products { 27.0 } else { 9.0 };
                let (inputs, first, second) = (2 * inputs.count(hidden), first as usize, second as usize);
                let range = (size * qb / square_root(inputs)).min(127.0);
                Weights::Layers {
                    first: random.integers::<i8>(buckets * first * inputs, 0, range as i8),
                    first_bias: random.floats(buckets * first, 0.2, 0.3),
                    second: random.floats(buckets * second * 2 * first, 0.0, 1.0),
                    second_bias: random.floats(buckets * second, 0.2, 0.3),
                    third: random.floats(buckets * (second + first), 0.0, (SPREAD / scale) as f32),
                    third_bias: random.floats(buckets, 0.0, (0.1 * SPREAD / scale) as f32),
                }
            }
        };
        Self { header, features, feature_bias, pairs, weights }
    }
}

/// Returns the square root rounded down. `f64::sqrt` is not in `core`.
fn square_root(number: usize) -> f64 {
    number.isqrt() as f64
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Returns a number at most `range` from `middle`. A range below 1 counts as 1, so that not all numbers are equal.
    fn integer(&mut self, middle: i64, range: i64) -> i64 {
        let range = range.max(1);
        middle - range + (self.0.next_u64() % (2 * range + 1) as u64) as i64
    }

    fn integers<T: TryFrom<i64> + Into<i64> + Copy>(&mut self, count: usize, middle: T, range: T) -> Vec<T> {
        let number = |_| self.integer(middle.into(), range.into()).try_into().ok().expect("the range is small");
        (0..count).map(number).collect()
    }

    fn floats(&mut self, count: usize, middle: f32, range: f32) -> Vec<f32> {
        // 24 bits are exact in `f32`.
        let unit = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
        (0..count).map(|_| middle + range * unit(self.0.next_u64())).collect()
    }
}
