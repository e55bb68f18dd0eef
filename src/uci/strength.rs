//! Playing weaker than the engine can.
//!
//! Two things make it weak: it looks at few nodes, and it takes a move that looks a little worse than the best now and then. How much of both belongs to an Elo number is
//! a guess: it has not been measured against anybody.

use super::output::Candidate;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

/// The strengths that may be asked for.
pub const ELO: RangeInclusive<u64> = 800..=2800;
/// Among how many moves it chooses.
pub const CHOICES: usize = 4;

/// Nodes that a search may visit: 50 for the weakest, twice as many for each 200 Elo.
pub fn nodes(elo: u64) -> u64 {
    let above = elo.clamp(*ELO.start(), *ELO.end()) - ELO.start();
    (50.0 * (above as f64 / 200.0).exp2()) as u64
}

/// The most centipawns by which a move may be misjudged: 200 for the weakest, none for the strongest.
fn noise(elo: u64) -> u64 {
    ELO.end().saturating_sub(elo) / 10
}

/// Chooses among the best moves, each of which may look better than it is.
pub fn choose(mut candidates: Vec<Candidate>, elo: u64) -> Option<Candidate> {
    candidates.sort_by_key(|candidate| -candidate.score.value());
    candidates.truncate(CHOICES);
    let range = noise(elo) + 1;
    // A hasher's keys are all the randomness that this needs.
    let misjudged = || (RandomState::new().hash_one(0) % range) as i32;
    candidates.into_iter().max_by_key(|candidate| candidate.score.value() + misjudged())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Move, MoveKind, Score, Square};

    fn candidates(scores: &[i32]) -> Vec<Candidate> {
        let to = |file| Square::wrapping(8 + file);
        let candidate = |(file, &score)| Candidate {
            best: Move::new(Square::A1, to(file), MoveKind::Quiet),
            ponder: None,
            score: Score::centipawns(score),
            depth: 1,
            text: String::new(),
        };
        scores.iter().enumerate().map(candidate).collect()
    }

    fn chosen(scores: &[i32], elo: u64) -> Vec<i32> {
        let mut chosen: Vec<i32> = (0..1000).map(|_| choose(candidates(scores), elo).unwrap().score.value()).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    #[test]
    fn weak_play_errs_within_bounds() {
        let scores = [-160, 40, 30, -161, -900, -162];
        assert_eq!(chosen(&scores, *ELO.end()), [40]);
        // 40 and -160 are 200 apart, which is the most that the weakest overlooks; where two look equal the better one may be taken.
        let weakest = chosen(&scores, *ELO.start());
        assert!(
            weakest.contains(&30) && weakest.contains(&40) && weakest.iter().all(|&score| score >= -160),
            "{weakest:?}"
        );
        assert!(choose(Vec::new(), 1000).is_none());
    }

    #[test]
    fn nodes_grow_with_strength() {
        assert_eq!([0, 800, 1000, 1100, 2800, u64::MAX].map(nodes), [50, 50, 100, 141, 51_200, 51_200]);
    }
}
