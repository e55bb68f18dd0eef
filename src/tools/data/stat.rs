//! Statistics of games: `kiln data stat`.

use super::svg::{Panel, Series, draw};
use crate::data::{Game, GameFileError, MAX_SCORE, Outcome, is_trainable, read, replace, shards};
use crate::tools::yardstick::{best_scale, points};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The most keys that are kept; above this only a random share is.
const MAX_KEYS: usize = 1 << 24;
/// Widths and ends of the ranges of scores, in centipawns, and of game lengths, in plies.
const SCORE_STEP: i32 = 100;
const SCORE_END: i32 = 1500;
const LENGTH_STEP: usize = 25;
const LENGTH_END: usize = 300;
/// The fewest games whose mean results are compared.
const MIN_GAMES: u64 = 20;
/// A game is balanced at first if its first score is below this, in centipawns.
const BALANCED: u16 = 75;
/// A side that stood better by this, in centipawns, should not lose.
const BETTER: i16 = 200;
/// Scores are collected by steps of this to find the best scale, in centipawns.
const SCALE_STEP: i32 = 10;

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
        share(all - self.keys.len(), all)
    }
}

/// Returns the ratio of a part to the whole, 0 of nothing.
fn share(part: impl TryInto<u64>, whole: impl TryInto<u64>) -> f64 {
    let [part, whole] = [part.try_into().unwrap_or(0), whole.try_into().unwrap_or(0)];
    part as f64 / whole.max(1) as f64
}

struct Statistics {
    /// Positions of search trees, which count nowhere else.
    trees: u64,
    plies: u64,
    trainable: u64,
    outcomes: [u64; 3],
    /// Games that were balanced at first, and those of them that were drawn.
    balanced: [u64; 2],
    /// Decided games in which the loser once stood better.
    upsets: u64,
    /// Positions by the magnitude of the score, below [`MAX_SCORE`].
    magnitudes: Vec<u64>,
    /// Positions, and the sum of White's results in them, by White's score in steps of [`SCALE_STEP`] from
    /// -[`MAX_SCORE`] on.
    results: Vec<(u64, f64)>,
    lengths: [u64; LENGTH_END / LENGTH_STEP + 1],
    scores: [Bin; (2 * SCORE_END / SCORE_STEP) as usize + 2],
    /// Indexed by the number of pieces.
    pieces: Vec<Bin>,
    white_to_move: u64,
    keys: Keys,
}

impl Statistics {
    fn new() -> Self {
        Self {
            trees: 0,
            plies: 0,
            trainable: 0,
            outcomes: [0; 3],
            balanced: [0; 2],
            upsets: 0,
            magnitudes: vec![0; MAX_SCORE as usize],
            results: vec![(0, 0.0); (2 * MAX_SCORE / SCALE_STEP) as usize],
            lengths: [0; LENGTH_END / LENGTH_STEP + 1],
            scores: [Bin::default(); (2 * SCORE_END / SCORE_STEP) as usize + 2],
            pieces: vec![Bin::default(); 33],
            white_to_move: 0,
            keys: Keys::default(),
        }
    }

    fn add(&mut self, game: &Game) {
        if game.bound.is_some() {
            self.trees += 1;
            return;
        }
        self.plies += game.moves.len() as u64;
        self.outcomes[game.outcome as usize] += 1;
        self.lengths[(game.moves.len() / LENGTH_STEP).min(LENGTH_END / LENGTH_STEP)] += 1;
        if game.moves.first().is_some_and(|first| first.score.unsigned_abs() < BALANCED) {
            self.balanced[0] += 1;
            self.balanced[1] += u64::from(game.outcome == Outcome::Draw);
        }
        let mut scores = game.moves.iter().map(|ply| ply.score);
        self.upsets += u64::from(match game.outcome {
            Outcome::WhiteWins => scores.any(|score| score <= -BETTER),
            Outcome::Draw => false,
            Outcome::BlackWins => scores.any(|score| score >= BETTER),
        });
        let number = self.games();
        for (position, ply) in game.positions() {
            if !is_trainable(&position, ply.mv, ply.score) {
                continue;
            }
            let points = game.outcome.points();
            let score = i32::from(ply.score);
            let bin = (score.clamp(-SCORE_END - 1, SCORE_END) + SCORE_END).div_euclid(SCORE_STEP) + 1;
            self.trainable += 1;
            self.scores[bin as usize].add(number, points);
            self.magnitudes[score.unsigned_abs() as usize] += 1;
            let (count, sum) = &mut self.results[((score + MAX_SCORE) / SCALE_STEP) as usize];
            (*count, *sum) = (*count + 1, *sum + f64::from(points));
            self.pieces[position.occupied().len() as usize].add(number, points);
            self.white_to_move += u64::from(position.side_to_move() == crate::types::Color::White);
            self.keys.add(position.key());
        }
    }

    fn games(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Returns the magnitude of a score that this share of the positions does not exceed.
    fn magnitude(&self, share: f64) -> usize {
        let wanted = (share * self.trainable as f64).ceil() as u64;
        let mut sum = 0;
        let reaches = |&count: &u64| {
            sum += count;
            sum >= wanted
        };
        self.magnitudes.iter().position(reaches).unwrap_or_default()
    }

    /// Returns the scale in centipawns with which the scores foretell the results with the least squared error.
    fn scale(&self) -> u16 {
        let error = |scale: u16| -> f64 {
            let errors =
                self.results.iter().enumerate().filter(|(_, (count, _))| *count > 0).map(|(i, &(count, sum))| {
                    // The middle of the step. The squares of the results are the same for all scales.
                    let score = f64::from(i as i32 * SCALE_STEP - MAX_SCORE) + f64::from(SCALE_STEP) / 2.0;
                    let expected = points(score, scale);
                    count as f64 * expected * expected - 2.0 * expected * sum
                });
            errors.sum()
        };
        best_scale(error).1
    }

    /// Returns what tells data apart.
    fn summary(&mut self) -> Summary {
        let [draws, games] = [self.outcomes[Outcome::Draw as usize], self.games()];
        let pieces = self.pieces.iter().enumerate().map(|(pieces, bin)| pieces as u64 * bin.count).sum::<u64>();
        Summary {
            games,
            plies: share(self.plies, games),
            draws: share(draws, games),
            balanced: self.balanced[0],
            balanced_draws: share(self.balanced[1], self.balanced[0]),
            upsets: share(self.upsets, games - draws),
            quartiles: [0.25, 0.5, 0.75].map(|share| self.magnitude(share)),
            scale: self.scale(),
            pieces: share(pieces, self.trainable),
            is_sample: self.keys.mask != 0,
            duplicates: std::mem::take(&mut self.keys).duplicates(),
        }
    }
}

/// What tells data apart. All shares are from 0 to 1.
struct Summary {
    games: u64,
    /// Plies per game.
    plies: f64,
    draws: f64,
    /// The number of games that were balanced at first, and the share of draws among them.
    balanced: u64,
    balanced_draws: f64,
    /// The share of decided games in which the loser once stood better.
    upsets: f64,
    /// The quartiles of the scores' magnitudes in centipawns.
    quartiles: [usize; 3],
    /// See [`Statistics::scale`].
    scale: u16,
    /// Pieces per position.
    pieces: f64,
    duplicates: f64,
    /// Whether the duplicates were counted in a random share of the positions.
    is_sample: bool,
}

/// Returns tables of statistics of all games in these files or folders of shards, and a table that compares them if
/// there are several. Draws curves of each to `svg`.
///
/// # Errors
/// If a file cannot be read or is invalid, or the drawing cannot be written.
pub fn stat(paths: &[PathBuf], svg: Option<&Path>) -> Result<String, GameFileError> {
    let mut all = Statistics::new();
    let mut parts = Vec::new();
    for path in paths {
        let mut part = Statistics::new();
        for file in shards(path)? {
            for game in read(&file)? {
                let game = game?;
                part.add(&game);
                if paths.len() > 1 {
                    all.add(&game);
                }
            }
        }
        parts.push((path.display().to_string(), part));
    }
    if let Some(svg) = svg {
        let text = draw(&panels(&parts));
        replace(svg, text.as_bytes())
            .map_err(|error| GameFileError::of_file(svg, format!("it cannot be written: {error}")))?;
    }
    let [(_, only)] = &mut parts[..] else {
        return Ok(all.describe() + &compare(&mut parts));
    };
    Ok(only.describe())
}

fn bar(share: f64) -> String {
    "#".repeat((share * 100.0).round() as usize)
}

/// Returns the curves of each part.
fn panels(parts: &[(String, Statistics)]) -> [Panel; 4] {
    let panel = |title, points: fn(&Statistics) -> Vec<(f64, f64)>| Panel {
        title,
        series: parts.iter().map(|(name, part)| Series { name: name.clone(), points: points(part) }).collect(),
    };
    // The middle of each range of scores, without the open ranges at both ends.
    fn scores(part: &Statistics) -> impl Iterator<Item = (f64, &Bin)> {
        let middle = |i| f64::from(i as i32 * SCORE_STEP - SCORE_END + SCORE_STEP / 2);
        let closed = &part.scores[1..part.scores.len() - 1];
        closed.iter().enumerate().map(move |(i, bin)| (middle(i), bin))
    }
    [
        panel("Positions by White's score in centipawns, %", |part| {
            scores(part).map(|(score, bin)| (score, 100.0 * share(bin.count, part.trainable))).collect()
        }),
        panel("White's mean result by score, %", |part| {
            let known = scores(part).filter(|(_, bin)| bin.games >= MIN_GAMES);
            known.map(|(score, bin)| (score, 100.0 * bin.mean())).collect()
        }),
        panel("Positions by pieces, %", |part| {
            let pieces = part.pieces.iter().enumerate().skip(2);
            pieces.map(|(pieces, bin)| (pieces as f64, 100.0 * share(bin.count, part.trainable))).collect()
        }),
        panel("Games by plies, %", |part| {
            let lengths = part.lengths.iter().enumerate();
            lengths.map(|(i, &count)| ((i * LENGTH_STEP) as f64, 100.0 * share(count, part.games()))).collect()
        }),
    ]
}

/// Returns a table with a row for each part.
fn compare(parts: &mut [(String, Statistics)]) -> String {
    let mut text =
        String::from("\n   games  plies   drawn  balanced  upsets  score quartiles  scale  pieces  duplicates\n");
    for (name, part) in parts {
        let of = part.summary();
        let quartiles = of.quartiles.map(|score| score.to_string()).join(" ");
        writeln!(
            text,
            "{:>8} {:>6.1} {:>6.1}% {:>8.1}% {:>6.1}% {quartiles:>16} {:>6} {:>7.1} {:>10.3}%  {name}",
            of.games,
            of.plies,
            100.0 * of.draws,
            100.0 * of.balanced_draws,
            100.0 * of.upsets,
            of.scale,
            of.pieces,
            100.0 * of.duplicates,
        )
        .expect("writing to a string never fails");
    }
    text + "\ndrawn: of all games; balanced: of those balanced at first; upsets: of the decided games\n"
}

impl Statistics {
    fn describe(&mut self) -> String {
        let of = self.summary();
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments| writeln!(text, "{words}").expect("writing to a string never fails");
        line(format_args!("games      {}", of.games));
        line(format_args!("plies      {}, {:.1} per game", self.plies, of.plies));
        let percent = 100.0 * share(self.trainable, self.plies);
        line(format_args!("positions  {} for training, {percent:.1} % of the plies", self.trainable));
        if self.trees > 0 {
            line(format_args!("trees      {} positions more of search trees; the rest is without them", self.trees));
        }
        let [black, draws, white] = [Outcome::BlackWins, Outcome::Draw, Outcome::WhiteWins]
            .map(|outcome| 100.0 * share(self.outcomes[outcome as usize], of.games));
        line(format_args!("outcomes   {white:.1} % White, {draws:.1} % drawn, {black:.1} % Black"));
        let percent = 100.0 * of.balanced_draws;
        line(format_args!(
            "balanced   {percent:.1} % drawn of the {} games with a first score below {BALANCED}",
            of.balanced
        ));
        let percent = 100.0 * of.upsets;
        line(format_args!(
            "upsets     {percent:.1} % of the decided games: the loser once stood {BETTER} or more better"
        ));
        line(format_args!("to move    {:.1} % White", 100.0 * share(self.white_to_move, self.trainable)));
        let [low, median, high] = of.quartiles;
        line(format_args!("scores     {low}, {median} and {high} are the quartiles of their magnitudes"));
        line(format_args!("scale      {} centipawns: with it the scores foretell the results best", of.scale));
        line(format_args!("pieces     {:.1} per position", of.pieces));
        let sample = if of.is_sample { ", of a sample" } else { "" };
        line(format_args!("duplicates {:.3} % of the positions{sample}", 100.0 * of.duplicates));

        line(format_args!("\nplies      games"));
        for (i, &count) in self.lengths.iter().enumerate() {
            let from = i * LENGTH_STEP;
            let to = if from < LENGTH_END { (from + LENGTH_STEP - 1).to_string() } else { String::new() };
            line(format_args!("{from:>4}-{to:<4} {count:>9} {}", bar(share(count, of.games))));
        }
        line(format_args!("\npieces positions  White's mean result"));
        for (pieces, bin) in self.pieces.iter().enumerate().filter(|(_, bin)| bin.count > 0) {
            let bars = bar(share(bin.count, self.trainable));
            line(format_args!("{pieces:>6} {:>9}  {:.3} {bars}", bin.count, bin.mean()));
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
            let bars = bar(share(bin.count, self.trainable));
            line(format_args!("{range:<14} {:>9}  {:.3} {bars}", bin.count, bin.mean()));
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
