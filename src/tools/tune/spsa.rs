//! The arithmetic of SPSA, which knows nothing of chess.
//!
//! The algorithm is that of Spall (1998), "An overview of the simultaneous perturbation method for efficient
//! optimization". The gain sequences and their settings are those of Fishtest and OpenBench
//! (<https://github.com/AndyGrant/OpenBench/wiki/SPSA-Tuning-Workloads>): each parameter has a final perturbation,
//! `last_step`, and all have the same final learning rate. An iteration is a pair of games.

use crate::data::record::record;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The exponent by which the gain falls.
const ALPHA: f64 = 0.602;
/// The exponent by which perturbations become smaller.
const GAMMA: f64 = 0.101;
/// The stability constant A as a fraction of all pairs. It limits the first gains.
const STABILITY: f64 = 0.1;
/// The most rows of history. With more, every second one is dropped.
const MAX_ROWS: usize = 400;

record! {
    /// A parameter to tune.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Tunable {
        /// The name.
        pub name: String,
        /// The value to start from.
        pub start: i32,
        /// The least value allowed.
        pub least: i32,
        /// The greatest value allowed.
        pub most: i32,
    }

    /// The settings of a run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Plan {
        /// The number of pairs of games.
        pub pairs: u64,
        /// How long the searches are ([`Pace`](super::games::Pace)).
        pub nodes: String,
        /// The learning rate of the last pair.
        pub rate: f64,
        /// The seed of all random numbers.
        pub seed: u64,
        /// The file name of the opening book.
        pub book: String,
        /// The book's SHA-256.
        pub book_sha256: String,
        /// The SHA-256 of the network's file.
        pub network_sha256: String,
        /// What is tuned.
        pub parameters: Vec<Tunable>,
    }

    /// The values at a point of the run.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Row {
        /// The number of pairs played.
        pub pairs: u64,
        /// The values, rounded.
        pub values: Vec<f32>,
    }

    /// A run: its settings and all that its pairs have changed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Tuner {
        /// The settings.
        pub plan: Plan,
        /// The number of pairs drawn, from which the random numbers of the next one follow.
        pub drawn: u64,
        /// The number of pairs whose results are in the values.
        pub played: u64,
        /// The values, in the order of the plan's parameters.
        pub values: Vec<f64>,
        /// The number of pairs between two rows of history.
        pub interval: u64,
        /// The values during the run, from the start on.
        pub history: Vec<Row>,
    }
}

/// A pair of games to play: the values of both sides.
#[derive(Clone, Debug)]
pub struct Pair {
    /// How far the first side's values are from the current ones, before rounding. The second side's are as far on the
    /// other side.
    perturbation: Vec<f64>,
    /// The values of the first side.
    pub first: Vec<i32>,
    /// The values of the second side.
    pub second: Vec<i32>,
    /// The random numbers for the rest of the pair.
    pub rng: Xoshiro256PlusPlus,
}

impl Tunable {
    /// Returns the perturbation of the last pair: a twentieth of the range, but not so small that rounding would
    /// cancel it.
    pub fn last_step(&self) -> f64 {
        (f64::from(self.most - self.least) / 20.0).max(0.5)
    }

    fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.least.into(), self.most.into())
    }
}

impl Plan {
    /// Returns the perturbation of pair `k`, from 1: Spall's `c_k`.
    pub fn perturbation(&self, parameter: &Tunable, k: u64) -> f64 {
        parameter.last_step() * (self.pairs as f64 / k as f64).powf(GAMMA)
    }

    /// Returns the gain of pair `k`, from 1: Spall's `a_k`.
    pub fn gain(&self, parameter: &Tunable, k: u64) -> f64 {
        let (pairs, k) = (self.pairs as f64, k as f64);
        let stability = STABILITY * pairs;
        self.rate * parameter.last_step().powi(2) * ((stability + pairs) / (stability + k)).powf(ALPHA)
    }
}

impl Tuner {
    /// Starts a run.
    pub fn new(plan: Plan) -> Self {
        let values = plan.parameters.iter().map(|parameter| parameter.start.into()).collect();
        let mut tuner = Self { plan, drawn: 0, played: 0, values, interval: 1, history: Vec::new() };
        tuner.add_row();
        tuner
    }

    /// Draws the next pair.
    pub fn draw(&mut self) -> Pair {
        let mut seed = Sha256::new();
        seed.update(self.plan.seed.to_le_bytes());
        seed.update(self.drawn.to_le_bytes());
        let rng = Xoshiro256PlusPlus::from_seed(seed.finalize().into());
        self.drawn += 1;
        let mut pair = Pair { perturbation: Vec::new(), first: Vec::new(), second: Vec::new(), rng };
        for (parameter, value) in self.plan.parameters.iter().zip(&self.values) {
            let sign = if pair.rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 };
            let step = sign * self.plan.perturbation(parameter, self.played + 1);
            let fraction = unit(&mut pair.rng);
            let [first, second] = [value + step, value - step].map(|value| round(parameter.clamp(value), fraction));
            pair.perturbation.push(step);
            pair.first.push(first);
            pair.second.push(second);
        }
        pair
    }

    /// Moves the values by the result of a pair: the points of the first side minus those of the second.
    pub fn apply(&mut self, pair: &Pair, result: i32) {
        self.played += 1;
        let rows = self.plan.parameters.iter().zip(&mut self.values).zip(&pair.perturbation);
        for ((parameter, value), step) in rows {
            // Spall divides the result by the perturbation, which has the sign.
            let change = self.plan.gain(parameter, self.played) / step * f64::from(result);
            *value = parameter.clamp(*value + change);
        }
        if self.played.is_multiple_of(self.interval) {
            self.add_row();
        }
    }

    /// Adds the values to the history.
    fn add_row(&mut self) {
        // A thousandth of a unit is exact enough for a drawing.
        let rounded = |value: &f64| ((value * 1e3).round() / 1e3) as f32;
        self.history.push(Row { pairs: self.played, values: self.values.iter().map(rounded).collect() });
        if self.history.len() > MAX_ROWS {
            self.interval *= 2;
            self.history.retain(|row| row.pairs.is_multiple_of(self.interval));
        }
    }

    /// Returns how far each value is from its start, in final perturbations.
    pub fn changes(&self) -> Vec<f64> {
        self.in_steps(self.values.iter().copied())
    }

    /// Returns how far values are from the start, in final perturbations.
    pub fn in_steps(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let step = |(value, parameter): (f64, &Tunable)| (value - f64::from(parameter.start)) / parameter.last_step();
        values.zip(&self.plan.parameters).map(step).collect()
    }
}

/// Returns a random number from 0 to 1, without 1.
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Rounds a number to an integer that is on average the number itself, if `fraction` is random. So perturbations below
/// 1 count too. Both sides of a pair share the fraction, which keeps their difference as exact as integers can be.
fn round(value: f64, fraction: f64) -> i32 {
    (value + fraction).floor() as i32
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn tunable(name: &str, start: i32, least: i32, most: i32) -> Tunable {
        Tunable { name: name.into(), start, least, most }
    }

    /// Returns a plan with three parameters.
    pub fn plan(pairs: u64, rate: f64) -> Plan {
        let parameters = vec![tunable("a", 100, 0, 400), tunable("b", 3, 1, 5), tunable("c", 900, 0, 2000)];
        let text = String::new();
        let (book, book_sha256, network_sha256) = (text.clone(), text.clone(), text);
        Plan { pairs, nodes: "1".into(), rate, seed: 7, book, book_sha256, network_sha256, parameters }
    }

    /// Returns a result from −2 to 2 of a game in which values are the worse the farther they are from the optimum, in
    /// ranges. Draws and chance are part of it.
    fn result(pair: &mut Pair, plan: &Plan, optimum: &[f64]) -> i32 {
        let badness = |values: &[i32]| -> f64 {
            let terms = plan.parameters.iter().zip(values).zip(optimum).map(|((parameter, &value), best)| {
                ((f64::from(value) - best) / f64::from(parameter.most - parameter.least)).powi(2)
            });
            terms.sum()
        };
        let expected = badness(&pair.second) - badness(&pair.first);
        // A third of the games is drawn.
        let mut game = || match unit(&mut pair.rng) {
            ..0.333 => 0,
            chance => {
                if chance < 0.667 + expected {
                    1
                } else {
                    -1
                }
            }
        };
        game() + game()
    }

    #[test]
    fn the_gains_are_those_of_openbench() {
        let plan = plan(1000, 0.002);
        let (a, b) = (&plan.parameters[0], &plan.parameters[1]);
        assert_eq!((a.last_step(), b.last_step()), (20.0, 0.5));
        // OpenBench computes them from the end backwards, as c = c_end * N^gamma and so on.
        for k in [1, 10, 500, 1000] {
            let k_real = k as f64;
            let c = 20.0 * 1000_f64.powf(0.101) / k_real.powf(0.101);
            let a_end = 0.002 * 20.0 * 20.0;
            let gain = a_end * (100.0 + 1000.0_f64).powf(0.602) / (100.0 + k_real).powf(0.602);
            assert!((plan.perturbation(a, k) - c).abs() < 1e-9);
            assert!((plan.gain(a, k) - gain).abs() < 1e-9);
        }
        // A win of the last pair moves a value by the rate, in final perturbations.
        assert!((plan.gain(b, 1000) / plan.perturbation(b, 1000) / b.last_step() - 0.002).abs() < 1e-9);
    }

    #[test]
    fn a_result_moves_all_values_towards_the_winner() {
        let mut tuner = Tuner::new(plan(100, 0.01));
        for result in [2, -1, 0] {
            let (before, pair) = (tuner.values.clone(), tuner.draw());
            tuner.apply(&pair, result);
            for (i, parameter) in tuner.plan.parameters.iter().enumerate() {
                let k = tuner.played;
                let size = tuner.plan.gain(parameter, k) / tuner.plan.perturbation(parameter, k);
                let sign = f64::from((pair.first[i] - pair.second[i]).signum());
                let expected = before[i] + sign * size * f64::from(result);
                assert!((tuner.values[i] - expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn rounding_is_right_on_average_and_keeps_the_range() {
        let mut tuner = Tuner::new(plan(10, 0.002));
        tuner.values = vec![399.5, 2.3, 5.25];
        let count = 20_000;
        let mut sums = [0.0; 3];
        for _ in 0..count {
            let pair = tuner.draw();
            for (i, parameter) in tuner.plan.parameters.iter().enumerate() {
                for value in [pair.first[i], pair.second[i]] {
                    assert!((parameter.least..=parameter.most).contains(&value));
                    sums[i] += f64::from(value) / f64::from(2 * count);
                }
                let step = 2.0 * pair.perturbation[i].abs();
                let difference = f64::from(pair.first[i] - pair.second[i]).abs();
                assert!(i != 1 || (difference - step).abs() < 1.0 && difference >= 1.0, "{pair:?}");
            }
        }
        assert!((sums[1] - 2.3).abs() < 0.03, "{sums:?}");
    }

    #[test]
    fn values_come_near_the_optimum_of_a_noisy_objective() {
        let mut tuner = Tuner::new(plan(30_000, 0.02));
        let optimum = [300.0, 2.0, 400.0];
        while tuner.played < tuner.plan.pairs {
            let mut pair = tuner.draw();
            let result = result(&mut pair, &tuner.plan, &optimum);
            tuner.apply(&pair, result);
        }
        for ((parameter, value), best) in tuner.plan.parameters.iter().zip(&tuner.values).zip(optimum) {
            let before = (f64::from(parameter.start) - best).abs();
            assert!((value - best).abs() < before / 3.0, "{} = {value}, best {best}", parameter.name);
        }
        assert!((MAX_ROWS / 2..=MAX_ROWS).contains(&tuner.history.len()));
        assert!(tuner.history.windows(2).all(|rows| rows[1].pairs - rows[0].pairs == tuner.interval));
    }

    #[test]
    fn a_stored_run_goes_on_as_if_it_had_not_stopped() {
        let mut tuner = Tuner::new(plan(1000, 0.02));
        let play = |tuner: &mut Tuner, until: u64| {
            while tuner.played < until {
                let mut pair = tuner.draw();
                let result = result(&mut pair, &tuner.plan, &[300.0, 2.0, 400.0]);
                tuner.apply(&pair, result);
            }
        };
        play(&mut tuner, 500);
        let mut resumed: Tuner = serde_json::from_slice(&serde_json::to_vec(&tuner).unwrap()).unwrap();
        for tuner in [&mut tuner, &mut resumed] {
            play(tuner, 1000);
        }
        assert_eq!((resumed.drawn, resumed.history.len()), (tuner.drawn, tuner.history.len()));
        assert!(resumed.values.iter().zip(&tuner.values).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}
