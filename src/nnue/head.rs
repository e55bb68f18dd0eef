//! The layers after the accumulators.

use super::{QA, QB, SCALE};
use crate::simd::{Aligned, Row, native};
use kiln_gen::layout::{LayersHead, SingleHead};

/// The layers after the accumulators.
pub trait Forward<const HIDDEN: usize> {
    /// Returns the score in centipawns for the side to move, from its accumulator and the other side's.
    fn forward(&self, own: &Row<HIDDEN>, other: &Row<HIDDEN>, bucket: usize) -> i32;
}

impl<const HIDDEN: usize, const BUCKETS: usize> Forward<HIDDEN> for SingleHead<HIDDEN, BUCKETS> {
    fn forward(&self, own: &Row<HIDDEN>, other: &Row<HIDDEN>, bucket: usize) -> i32 {
        let [own_weights, other_weights] = &self.weights[bucket];
        let sum = i64::from(native::screlu_dot(own, own_weights, QA as i16))
            + i64::from(native::screlu_dot(other, other_weights, QA as i16));
        let (qa, qb) = (i64::from(QA), i64::from(QB));
        let output = sum / qa + i64::from(self.bias[bucket]);
        let score = output * i64::from(SCALE) / (qa * qb);
        score.clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }
}

/// The number of partial sums in the last layer. Every backend adds in the same order, so that scores are
/// bit-identical.
const LANES: usize = 8;

impl<const HIDDEN: usize, const QUADS: usize, const FIRST: usize, const SECOND: usize, const BUCKETS: usize>
    Forward<HIDDEN> for LayersHead<QUADS, FIRST, SECOND, BUCKETS>
{
    fn forward(&self, own: &Row<HIDDEN>, other: &Row<HIDDEN>, bucket: usize) -> i32 {
        const { assert!(HIDDEN == 4 * QUADS && SECOND.is_multiple_of(LANES)) }
        let mut products = Aligned([[0u8; 4]; QUADS]);
        let (own_products, other_products) = products.0.split_at_mut(QUADS / 2);
        native::pairwise(own, own_products.as_flattened_mut());
        native::pairwise(other, other_products.as_flattened_mut());
        let sums = native::sparse_dot(&products, &self.first[bucket]);

        // A product is a / 255 * b / 255 in units of 512 / 255².
        let unit = 512.0 / (255.0 * 255.0 * QB as f32);
        let activate = |sum: f32| {
            let clipped = sum.clamp(0.0, 1.0);
            clipped * clipped
        };
        let mut second = self.second_bias[bucket];
        let first = sums.0.iter().zip(&self.first_bias[bucket]).map(|(&sum, bias)| activate(sum as f32 * unit + bias));
        for (input, weights) in first.zip(&self.second[bucket]) {
            for (sum, weight) in second.iter_mut().zip(weights) {
                *sum += input * weight;
            }
        }
        let mut lanes = [0.0; LANES];
        let (inputs, weights) = (second.as_chunks::<LANES>().0, self.third[bucket].as_chunks::<LANES>().0);
        for (inputs, weights) in inputs.iter().zip(weights) {
            for lane in 0..LANES {
                lanes[lane] += activate(inputs[lane]) * weights[lane];
            }
        }
        let output = lanes.iter().sum::<f32>() + self.third_bias[bucket];
        (output * SCALE as f32) as i32
    }
}
