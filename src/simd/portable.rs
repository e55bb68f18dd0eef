//! Plain Rust: any target, and the reference of the other backends.

use super::Row;

/// Adds `weights` to `row`.
#[inline]
pub fn add<const N: usize>(row: &mut Row<N>, weights: &[i16; N]) {
    for (value, weight) in row.0.iter_mut().zip(weights) {
        *value = value.wrapping_add(*weight);
    }
}

/// Subtracts `weights` from `row`.
#[inline]
pub fn subtract<const N: usize>(row: &mut Row<N>, weights: &[i16; N]) {
    for (value, weight) in row.0.iter_mut().zip(weights) {
        *value = value.wrapping_sub(*weight);
    }
}

/// The sum of `clamp(row, 0, qa)² * weights` (squared clipped rectifier).
///
/// `qa * |weight|` must fit `i16`, which the build checks of a network.
#[inline]
pub fn screlu_dot<const N: usize>(row: &Row<N>, weights: &[i16; N], qa: i16) -> i32 {
    row.0.iter().zip(weights).fold(0i32, |sum, (&value, &weight)| {
        let clipped = value.clamp(0, qa);
        sum.wrapping_add(i32::from(clipped.wrapping_mul(weight)) * i32::from(clipped))
    })
}
