//! Base reductions for late move reductions (LMR), from the product of the logarithms of depth and move number.
//!
//! All arithmetic is on integers, because `f64::ln` comes from the host and may differ in the last bit between hosts.

use crate::layout::Reductions;
use core::num::NonZeroU16;

/// Returns the reduction for each depth and move number: `base + ln(depth) * ln(number) / divisor`, rounded to nearest.
///
/// `base` and the entries are in units of 1/1024 ply, `divisor` in thousandths. Entries for depth 0 and move number 0,
/// which do not occur, are 0. Entries too large for `i16` saturate.
pub fn reductions(base: i16, divisor: NonZeroU16) -> Reductions {
    let mut table = [[0; 64]; 64];
    let logarithms: [u128; 64] = core::array::from_fn(|n| ln(n.max(1) as u32).into());
    for depth in 1..64 {
        for number in 1..64 {
            // Below 2^69 * 2^20: no overflow.
            let product = logarithms[depth] * logarithms[number] * 1_024_000 / u128::from(divisor.get());
            let rounded = (product + (1 << 63)) >> 64;
            let sum = i128::from(base) + rounded as i128;
            table[depth][number] = sum.min(i16::MAX.into()) as i16;
        }
    }
    table
}

/// ln 2 in units of 2^-64.
const LN_2: u64 = 0xb172_17f7_d1cf_79ab;

/// Returns the natural logarithm in units of 2^-32, at most a few units too low.
///
/// Squaring a number doubles its logarithm: each square of the mantissa gives one more binary digit of log2.
///
/// # Panics
/// If `n` is 0.
fn ln(n: u32) -> u64 {
    let whole = n.ilog2();
    let mut log2 = u64::from(whole);
    // In units of 2^-63, from 1 to below 2.
    let mut mantissa = u64::from(n) << (63 - whole);
    for _ in 0..32 {
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 63;
        let digit = (square >> 64) as u64;
        log2 = log2 << 1 | digit;
        mantissa = (square >> digit) as u64;
    }
    ((u128::from(log2) * u128::from(LN_2)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(base: i16, divisor: u16, depth: usize, number: usize) -> f64 {
        f64::from(base) + 1024.0 * (depth as f64).ln() * (number as f64).ln() / (f64::from(divisor) / 1000.0)
    }

    #[test]
    fn logarithms_equal_those_of_the_host() {
        for n in (1..5000).chain([u32::MAX - 1, u32::MAX]) {
            let expected = f64::from(n).ln();
            let error = ln(n) as f64 / 2f64.powi(32) - expected;
            assert!(error.abs() < 1e-8, "ln({n}) is off by {error}");
        }
    }

    #[test]
    fn entries_equal_the_formula_in_floating_point() {
        for (base, divisor) in [(1014, 2600), (0, 1000), (-2000, 713), (300, u16::MAX)] {
            let table = reductions(base, NonZeroU16::new(divisor).unwrap());
            for (depth, row) in table.iter().enumerate() {
                for (number, &entry) in row.iter().enumerate() {
                    if depth == 0 || number == 0 {
                        assert_eq!(entry, 0);
                        continue;
                    }
                    let expected = float(base, divisor, depth, number);
                    let error = f64::from(entry) - expected;
                    assert!(error.abs() < 0.501, "{base} {divisor} {depth} {number}: off by {error} from {expected}");
                }
            }
        }
    }

    #[test]
    fn entries_too_large_are_cut() {
        let table = reductions(i16::MAX, NonZeroU16::MIN);
        assert_eq!((table[1][1], table[2][2], table[63][63]), (i16::MAX, i16::MAX, i16::MAX));
        assert_eq!(reductions(i16::MIN, NonZeroU16::MIN)[1][1], i16::MIN);
    }
}
