//! The base reduction of late move reductions (LMR).

use kiln_gen::embed;
use kiln_gen::layout::Reductions;

pub(super) static REDUCTIONS: &Reductions = embed!("reductions");

/// Returns the base reduction of a late move in 1/1024 ply.
///
/// `depth` is the remaining depth in plies; `number` counts the moves of the node from 1. Both are clamped to 0..=63,
/// and the reduction is 0 if either is 0. The search's parameters `lmr_base` and `lmr_divisor` define the table.
#[inline]
pub fn reduction(depth: i32, number: usize) -> i32 {
    REDUCTIONS[depth.clamp(0, 63) as usize][number.min(63)].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_clamped() {
        assert_eq!(reduction(i32::MAX, usize::MAX), reduction(63, 63));
        assert_eq!(reduction(i32::MIN, 9), 0);
        assert_eq!(reduction(9, 0), 0);
        assert_eq!(reduction(64, 9), reduction(63, 9));
    }
}
