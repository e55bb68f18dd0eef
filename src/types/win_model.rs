use super::Score;

/// How scores turn into wdl: a game is won with the probability σ((x − a) / b) for a score of x pawns, lost with that for −x, and else drawn. Both numbers follow the
/// material: a is the score that wins every second game, b how slowly that changes. The idea is Stockfish's; it takes polynomials of third degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinModel {
    /// a without material and for each pawn's worth of it, then the same of b, in thousandths of a pawn.
    constants: [i32; 4],
}

impl WinModel {
    /// For networks that say nothing of it: fitted to 49,000 positions of 400 games that Kiln played against itself at 4 s + 0.04 s (`docs/results.md`). With
    /// all pieces on the board, 0.84 pawns win every second game; with few, two pawns do.
    pub const DEFAULT: Self = Self { constants: [2248, -18, 413, 4] };

    /// The model of these constants; all zeros for [`Self::DEFAULT`].
    pub fn new(constants: [i32; 4]) -> Self {
        if constants == [0; 4] { Self::DEFAULT } else { Self { constants } }
    }

    /// The wdl to win, draw and lose in thousandths, which sum up to 1000, for the side that the score is for. `material` is that of both sides together
    /// in pawns (1, 3, 3, 5, 9), 78 at the start.
    pub fn wdl(self, score: Score, material: u32) -> [u32; 3] {
        if score.is_mate() {
            return if score > Score::DRAW { [1000, 0, 0] } else { [0, 0, 1000] };
        }
        let [a, a_slope, b, b_slope] = self.constants.map(|constant| f64::from(constant) / 1000.0);
        let material = f64::from(material);
        // Below zero both sides would win at once, and b must not turn the curve around.
        let (a, b) = ((a + a_slope * material).max(0.0), (b + b_slope * material).max(0.01));
        let pawns = f64::from(score.value()) / 100.0;
        // Rounded down, the two are no more than 1000.
        let chance = |pawns: f64| (1000.0 / (1.0 + ((a - pawns) / b).exp())) as u32;
        let (win, loss) = (chance(pawns), chance(-pawns));
        [win, 1000 - win - loss, loss]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_symmetric_monotonic_and_sum_up() {
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
    fn sure_results() {
        let model = WinModel::new([0; 4]);
        assert_eq!(model, WinModel::DEFAULT);
        assert_eq!(model.wdl(-Score::mated_in(7), 20), [1000, 0, 0]);
        assert_eq!(model.wdl(Score::mated_in(6), 20), [0, 0, 1000]);
        let [win, draw, loss] = model.wdl(Score::centipawns(84), 78);
        assert!((498..=500).contains(&win) && draw > 400 && loss < 100, "{win} {draw} {loss}");
    }
}
