//! Late move reductions (LMR): the base reduction by depth and move number.
//!
//! In a normal build the table is one of the blobs that the build script wrote. With the feature `tune` it is computed
//! anew at the start of each search, since a tuner may have changed its two parameters.

#[cfg(not(feature = "tune"))]
pub use crate::tables::reduction as base_reduction;

#[cfg(feature = "tune")]
pub use tuned::{base_reduction, refresh};

#[cfg(all(test, not(feature = "tune")))]
mod tests {
    use super::super::parameters as p;
    use super::*;

    #[test]
    fn reductions_follow_their_formula() {
        for depth in 1..64 {
            for number in 1..64 {
                let logarithms = f64::from(depth).ln() * (number as f64).ln();
                let expected = f64::from(p::lmr_base()) + 1024.0 * logarithms / (f64::from(p::lmr_divisor()) / 1000.0);
                let error = f64::from(base_reduction(depth, number)) - expected;
                assert!(error.abs() < 1.0, "{depth} {number}: off by {error}");
                assert!(base_reduction(depth, number) <= base_reduction(depth + 1, number + 1));
            }
        }
    }
}

#[cfg(feature = "tune")]
mod tuned {
    use super::super::parameters as p;
    use kiln_gen::reductions::reductions;
    use std::num::NonZeroU16;
    use std::sync::atomic::{AtomicI16, Ordering::Relaxed};

    static TABLE: [[AtomicI16; 64]; 64] = [const { [const { AtomicI16::new(0) }; 64] }; 64];

    /// Computes the table from the parameters as they are now, each brought into the range of its type.
    pub fn refresh() {
        let base = p::lmr_base().clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        let divisor = NonZeroU16::new(p::lmr_divisor().clamp(1, u16::MAX.into()) as u16).expect("at least 1");
        let table = reductions(base, divisor);
        for (entry, value) in TABLE.as_flattened().iter().zip(table.as_flattened()) {
            entry.store(*value, Relaxed);
        }
    }

    /// Returns what `tables::reduction` returns in a normal build, for the current parameters.
    #[inline]
    pub fn base_reduction(depth: i32, number: usize) -> i32 {
        TABLE[depth.clamp(0, 63) as usize][number.min(63)].load(Relaxed).into()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::tables::reduction;

        // One test, as the parameters are global.
        #[test]
        fn the_table_follows_the_parameters() {
            refresh();
            let all = || (0..66).flat_map(|depth| (0..66).map(move |number| (depth, number)));
            assert!(all().all(|(depth, number)| base_reduction(depth, number) == reduction(depth, number)));
            let lmr_base = p::parameters().into_iter().find(|parameter| parameter.name == "lmr_base").unwrap();
            lmr_base.value.store(lmr_base.default + 100, Relaxed);
            refresh();
            let expected = |depth, number| reduction(depth, number) + if depth > 0 && number > 0 { 100 } else { 0 };
            assert!(all().all(|(depth, number)| base_reduction(depth, number) == expected(depth, number)));
            lmr_base.value.store(lmr_base.default, Relaxed);
            refresh();
        }
    }
}
