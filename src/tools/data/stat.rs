//! Statistics of games: `kiln data stat`.

use crate::data::{Game, GameFileError, Outcome, is_trainable, read};
use std::fmt::Write;
use std::path::PathBuf;

/// The most keys that are kept; above this only a random share is.
const MAX_KEYS: usize = 1 << 24;
/// Widths and ends of the ranges of scores, in centipawns, and of game lengths, in plies.
const SCORE_STEP: i32 = 100;
const SCORE_END: i32 = 1500;
const LENGTH_STEP: usize = 25;
const LENGTH_END: usize = 300;
/// The fewest games whose mean results are compared.
const MIN_GAMES: u64 = 20;

/// Positions, with the sums of their results and squared results.
#[derive(Clone, Copy, Default)]
struct Bin {
    count: u64,
    points: f64,
    squares: f64,
    /// The number of games that the positions come from, and the number of the last.
    games: u64,
    last_game: u64,
}

impl Bin {
    /// Adds a position with its result. Games are numbered from 1.
    fn add(&mut self, game: u64, points: f32) {
        self.games += u64::from(game != self.last_game);
        self.last_game = game;
        self.count += 1;
        self.points += f64::from(points);
        self.squares += f64::from(points * points);
    }

    /// Returns the mean result.
    fn mean(&self) -> f64 {
        self.points / self.count.max(1) as f64
    }

    /// Returns the standard error of the mean. Positions of one game share their result and count as one.
    fn error(&self) -> f64 {
        let variance = self.squares / self.count.max(1) as f64 - self.mean().powi(2);
        // Even if all games ended alike, the next may end otherwise.
        (variance.max(0.02) / self.games.max(1) as f64).sqrt()
    }

    /// Returns whether the mean is below another by more than four standard errors.
    fn is_below(&self, other: &Self) -> bool {
        let enough = self.games.min(other.games) >= MIN_GAMES;
        enough && other.mean() - self.mean() > 4.0 * self.error().hypot(other.error())
    }
}

/// The keys of positions, or of a random share of them, to count duplicates.
#[derive(Default)]
struct Keys {
    keys: Vec<u64>,
    /// Only keys without these bits are kept.
    mask: u64,
}

impl Keys {
    fn add(&mut self, key: u64) {
        if key & self.mask != 0 {
            return;
        }
        self.keys.push(key);
        if self.keys.len() >= MAX_KEYS {
            self.mask = self.mask << 1 | 1;
            self.keys.retain(|key| key & self.mask == 0);
        }
    }

    /// Returns the share of positions that occurred before.
    fn duplicates(mut self) -> f64 {
        let all = self.keys.len();
        self.keys.sort_unstable();
        self.keys.dedup();
        (all - self.keys.len()) as f64 / all.max(1) as f64
    }
}

#[derive(Default)]
struct Statistics {
    plies: u64,
    trainable: u64,
    outcomes: [u64; 3],
    lengths: [u64; LENGTH_END / LENGTH_STEP + 1],
    scores: [Bin; (2 * SCORE_END / SCORE_STEP) as usize + 2],
    /// Indexed by the number of pieces.
    pieces: Vec<Bin>,
    white_to_move: u64,
    keys: Keys,
}

impl Statistics {
    fn add(&mut self, game: &Game) {
        self.plies += game.moves.len() as u64;
        self.outcomes[game.outcome as usize] += 1;
        self.lengths[(game.moves.len() / LENGTH_STEP).min(LENGTH_END / LENGTH_STEP)] += 1;
        let number = self.outcomes.iter().sum();
        for (position, ply) in game.positions() {
            if !is_trainable(&position, ply.mv, ply.score) {
                continue;
            }
            let score = i32::from(ply.score).clamp(-SCORE_END - 1, SCORE_END);
            let bin = (score + SCORE_END).div_euclid(SCORE_STEP) + 1;
            self.trainable += 1;
            self.scores[bin as usize].add(number, game.outcome.points());
            self.pieces[position.occupied().len() as usize].add(number, game.outcome.points());
            self.white_to_move += u64::from(position.side_to_move() == crate::types::Color::White);
            self.keys.add(position.key());
        }
    }
}

/// Returns tables of statistics of all games in these files.
pub fn stat(files: &[PathBuf]) -> Result<String, GameFileError> {
    let mut all = Statistics { pieces: vec![Bin::default(); 33], ..Statistics::default() };
    for file in files {
        for game in read(file)? {
            all.add(&game?);
        }
    }
    Ok(all.describe())
}

fn bar(share: f64) -> String {
    "#".repeat((share * 100.0).round() as usize)
}

impl Statistics {
    fn describe(self) -> String {
        let mut text = String::new();
        let games: u64 = self.outcomes.iter().sum();
        let of = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let mut line = |words: std::fmt::Arguments| writeln!(text, "{words}").expect("writing to a string never fails");
        line(format_args!("games      {games}"));
        line(format_args!("plies      {}, {:.1} per game", self.plies, of(self.plies, games)));
        let share = 100.0 * of(self.trainable, self.plies);
        line(format_args!("positions  {} for training, {share:.1} % of the plies", self.trainable));
        let [black, draws, white] = [Outcome::BlackWins, Outcome::Draw, Outcome::WhiteWins]
            .map(|outcome| 100.0 * of(self.outcomes[outcome as usize], games));
        line(format_args!("outcomes   {white:.1} % White, {draws:.1} % drawn, {black:.1} % Black"));
        line(format_args!("to move    {:.1} % White", 100.0 * of(self.white_to_move, self.trainable)));
        let sample = if self.keys.mask == 0 { "" } else { ", of a sample" };
        line(format_args!("duplicates {:.3} % of the positions{sample}", 100.0 * self.keys.duplicates()));

        line(format_args!("\nplies      games"));
        for (i, &count) in self.lengths.iter().enumerate() {
            let from = i * LENGTH_STEP;
            let to = if from < LENGTH_END { (from + LENGTH_STEP - 1).to_string() } else { String::new() };
            line(format_args!("{from:>4}-{to:<4} {count:>9} {}", bar(of(count, games))));
        }
        line(format_args!("\npieces positions  White's mean result"));
        for (pieces, bin) in self.pieces.iter().enumerate().filter(|(_, bin)| bin.count > 0) {
            let share = bar(of(bin.count, self.trainable));
            line(format_args!("{pieces:>6} {:>9}  {:.3} {share}", bin.count, bin.mean()));
        }
        line(format_args!("\nWhite's score  positions  White's mean result"));
        let mut falls = Vec::new();
        let mut last: Option<&Bin> = None;
        for (i, bin) in self.scores.iter().enumerate().filter(|(_, bin)| bin.count > 0) {
            let from = (i as i32 - 1) * SCORE_STEP - SCORE_END;
            let range = match i {
                0 => format!("     to {:>5}", -SCORE_END - 1),
                _ if from >= SCORE_END => format!("{from:>5} and up"),
                _ => format!("{from:>5} to {:>5}", from + SCORE_STEP - 1),
            };
            let share = bar(of(bin.count, self.trainable));
            line(format_args!("{range:<14} {:>9}  {:.3} {share}", bin.count, bin.mean()));
            if last.is_some_and(|last| bin.is_below(last)) {
                falls.push(from.max(-SCORE_END));
            }
            last = Some(bin);
        }
        match falls[..] {
            [] => line(format_args!("\nThe mean result rises with the score, as it should.")),
            _ => line(format_args!("\nWARNING: the mean result falls at the scores {falls:?}: labels may be wrong.")),
        }
        text
    }
}
