//! Win, draw and loss probabilities (WDL) from scores.

use super::Score;

/// Converts scores to win, draw and loss probabilities (WDL).
///
/// A score of x pawns wins with probability σ((x − a) / b) and loses with probability σ((−x − a) / b); the rest are
/// draws. Both parameters depend linearly on the material: a is the score that wins half of the games, b the width of
/// the curve. The idea is Stockfish's, which uses third-degree polynomials.
///
/// ```
/// use kiln::types::{Score, WinModel};
///
/// let [win, draw, loss] = WinModel::DEFAULT.wdl(Score::centipawns(84), 78);
/// assert_eq!(win + draw + loss, 1000);
/// assert!((490..=510).contains(&win) && loss < draw);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinModel {
    /// The constant term and slope of a, then those of b, in thousandths of a pawn. The slopes are per pawn of
    /// material.
    coefficients: [i32; 4],
}

impl WinModel {
    /// The model for networks that carry none, fitted to 49,000 positions from 400 games of self-play at 4 s + 0.04 s
    /// (`docs/results.md`). With all pieces on the board, 0.84 pawns win half of the games; with few pieces, two pawns
    /// do.
    pub const DEFAULT: Self = Self { coefficients: [2248, -18, 413, 4] };

    /// Returns the model with these coefficients, or [`Self::DEFAULT`] if all are zero.
    pub fn new(coefficients: [i32; 4]) -> Self {
        if coefficients == [0; 4] { Self::DEFAULT } else { Self { coefficients } }
    }

    /// Returns the probabilities of win, draw and loss in thousandths, which sum to 1000, from the point of view of the
    /// score. `material` is that of both sides in pawns, 78 at the start (see
    /// [`Position::material`](crate::board::Position::material)).
    pub fn wdl(self, score: Score, material: u32) -> [u32; 3] {
        if score.is_mate() {
            return if score > Score::DRAW { [1000, 0, 0] } else { [0, 0, 1000] };
        }
        let [a, a_slope, b, b_slope] = self.coefficients.map(|coefficient| f64::from(coefficient) / 1000.0);
        let material = f64::from(material);
        // With a < 0 the two probabilities could exceed 1 together; with b < 0 the curve would be reversed.
        let (a, b) = ((a + a_slope * material).max(0.0), (b + b_slope * material).max(0.01));
        let pawns = f64::from(score.value()) / 100.0;
        // Rounding down keeps the sum of the two at or below 1000.
        let chance = |pawns: f64| (1000.0 / (1.0 + ((a - pawns) / b).exp())) as u32;
        let (win, loss) = (chance(pawns), chance(-pawns));
        [win, 1000 - win - loss, loss]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wdl_is_symmetric_and_monotonic_and_sums_to_1000() {
        let models = [[0; 4], [-1500, 20, 0, 7], [0, 0, 1, 0], [500, -20, -9, -9], [i32::MIN; 4], [i32::MAX; 4]];
        for model in models.map(WinModel::new) {
            for material in [0, 1, 30, 78, 400] {
                let mut last = [0, 0, 1000];
                for value in -4000..4000 {
                    let score = Score::centipawns(value);
                    let [win, draw, loss] = model.wdl(score, material);
                    assert_eq!(win + draw + loss, 1000, "{model:?} {value}");
                    assert_eq!(model.wdl(-score, material), [loss, draw, win]);
                    assert!(win >= last[0] && loss <= last[2]);
                    last = [win, draw, loss];
                }
            }
        }
    }

    #[test]
    fn mates_are_certain() {
        let model = WinModel::new([0; 4]);
        assert_eq!(model, WinModel::DEFAULT);
        assert_eq!(model.wdl(-Score::mated_in(7), 20), [1000, 0, 0]);
        assert_eq!(model.wdl(Score::mated_in(6), 20), [0, 0, 1000]);
        let [win, draw, loss] = model.wdl(Score::centipawns(84), 78);
        assert!((498..=500).contains(&win) && draw > 400 && loss < 100, "{win} {draw} {loss}");
    }
}
