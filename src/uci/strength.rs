//! Limited strength (`UCI_LimitStrength`).
//!
//! A limited engine searches few nodes, and sometimes plays a move that scores a little worse than the best. How both
//! relate to an Elo number is a guess; it has not been measured.

use super::output::Line;
use crate::types::Score;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

/// The range of `UCI_Elo`.
pub const ELO: RangeInclusive<u64> = 800..=2800;
/// The number of best moves to choose from.
pub const CHOICES: usize = 4;
/// The node limit of the weakest engine.
const MIN_NODES: f64 = 50.0;
/// The node limit doubles with each step of this many Elo.
const ELO_PER_DOUBLING: f64 = 200.0;
/// Elo below the strongest for each centipawn of noise.
const ELO_PER_CENTIPAWN: u64 = 10;

/// Returns the node limit of a search.
pub fn nodes(elo: u64) -> u64 {
    let above = elo.clamp(*ELO.start(), *ELO.end()) - ELO.start();
    (MIN_NODES * (above as f64 / ELO_PER_DOUBLING).exp2()) as u64
}

/// Returns the most centipawns added to the score of a move; 0 for the strongest.
fn noise(elo: u64) -> u64 {
    ELO.end().saturating_sub(elo) / ELO_PER_CENTIPAWN
}

/// Returns the index of the best of the first [`CHOICES`] lines after adding noise to each score; `None` if there are
/// no lines.
pub fn choose(lines: &[Line], elo: u64) -> Option<usize> {
    choose_score(lines.iter().map(Line::score), elo)
}

fn choose_score(scores: impl Iterator<Item = Score>, elo: u64) -> Option<usize> {
    let range = noise(elo) + 1;
    // The random keys of a hasher suffice.
    let noise = || (RandomState::new().hash_one(0) % range) as i32;
    scores.take(CHOICES).enumerate().max_by_key(|(_, score)| score.value() + noise()).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(scores: &[i32], elo: u64) -> Vec<i32> {
        let choose = || choose_score(scores.iter().map(|&score| Score::centipawns(score)), elo).unwrap();
        let mut chosen: Vec<i32> = (0..1000).map(|_| scores[choose()]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    #[test]
    fn weak_play_errs_within_bounds() {
        let scores = [40, 30, -160, -161, 40, 40];
        assert_eq!(chosen(&scores, *ELO.end()), [40]);
        // 40 and -160 are 200 centipawns apart, the most noise of the weakest.
        let weakest = chosen(&scores, *ELO.start());
        assert!(
            weakest.contains(&30) && weakest.contains(&40) && weakest.iter().all(|&score| score >= -160),
            "{weakest:?}"
        );
        assert!(choose(&[], 1000).is_none());
    }

    #[test]
    fn nodes_grow_with_strength() {
        assert_eq!([0, 800, 1000, 1100, 2800, u64::MAX].map(nodes), [50, 50, 100, 141, 51_200, 51_200]);
    }
}
