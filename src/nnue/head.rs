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

impl<const HIDDEN: usize, const QUADS: usize, const FIRST: usize, const SECOND: usize, const BUCKETS: usize>
    Forward<HIDDEN> for LayersHead<QUADS, FIRST, SECOND, BUCKETS>
{
    fn forward(&self, own: &Row<HIDDEN>, other: &Row<HIDDEN>, bucket: usize) -> i32 {
        let mut inputs = Aligned([[0u8; 4]; QUADS]);
        let (own_inputs, other_inputs) = inputs.0.split_at_mut(QUADS / 2);
        native::products(own, own_inputs.as_flattened_mut());
        native::products(other, other_inputs.as_flattened_mut());
        let sums = native::sparse_dot(&inputs, &self.first[bucket]);

        // A product is a / 255 * b / 255 in units of 512 / 255².
        let unit = 512.0 / (255.0 * 255.0 * QB as f32);
        let (first, activated) = native::activate(&sums, unit, &self.first_bias[bucket]);
        let weights = self.second[bucket].as_flattened();
        let second = native::dense(activated.0.as_flattened(), weights, &self.second_bias[bucket]);
        let output = native::output((&second, &self.third[bucket]), (&first, &self.skip[bucket]));
        ((output + self.third_bias[bucket]) * SCALE as f32) as i32
    }
}
