//! The search by periods finds all factors, and only correct ones.
#![cfg(feature = "generate")]

use core::ops::ControlFlow;
use kiln_gen::geometry::{BISHOP, ROOK, Square, Step, relevant_mask, slider_attacks, subsets};
use kiln_gen::magic::periods::factors;

/// Returns a test for factors that tries all occupancies.
fn correct(square: Square, directions: &[Step], bits: u32) -> impl FnMut(u64) -> bool {
    let mut cases: Vec<(u64, u64)> = subsets(relevant_mask(square, directions))
        .map(|occupied| (occupied, slider_attacks(square, directions, occupied)))
        .collect();
    cases.sort_by_key(|(occupied, _)| occupied.count_ones());
    let mut window = vec![(0, 0); 1 << bits];
    let mut trial = 0;
    move |factor| {
        trial += 1;
        cases.iter().all(|&(occupied, attacks)| {
            let entry = &mut window[(occupied.wrapping_mul(factor) >> (64 - bits)) as usize];
            if entry.1 != trial {
                *entry = (attacks, trial);
            }
            entry.0 == attacks
        })
    }
}

fn all_factors(square: Square, directions: &[Step], bits: u32, first: Option<core::ops::Range<u64>>) -> Vec<u64> {
    let mut found = Vec::new();
    let visit = |factor| {
        found.push(factor);
        ControlFlow::Continue(())
    };
    factors(square, directions, bits, first, visit);
    found.sort_unstable();
    found
}

/// The longest period of a bishop on d8 is 2²⁶.
#[test]
fn bishop_d8_as_by_trying_all() {
    let mut is_correct = correct(59, &BISHOP, 5);
    let expected: Vec<u64> = (0..1 << 26).filter(|&factor| is_correct(factor)).collect();
    assert!(!expected.is_empty());
    assert_eq!(all_factors(59, &BISHOP, 5, None), expected);
    assert_eq!(all_factors(59, &BISHOP, 4, None), []);
}

/// The part of the work in which the factor of half the width for a rook on h7 was found. Among factors that differ
/// from it in the bits of three squares of the file, none is missing.
#[test]
fn rook_h7_as_by_trying_all() {
    let known = 0x0001_fff5_f63c_96a0;
    let found = all_factors(55, &ROOK, 10, Some(672..673));
    assert!(found.contains(&known));
    let mut is_correct = correct(55, &ROOK, 10);
    assert!(found.iter().all(|&factor| is_correct(factor)));
    let low = known & ((1 << 25) - 1);
    let near: Vec<u64> = found.iter().copied().filter(|factor| factor & ((1 << 25) - 1) == low).collect();
    let expected: Vec<u64> = (0..1 << 24).map(|high| high << 25 | low).filter(|&factor| is_correct(factor)).collect();
    assert_eq!(near, expected);
}
