//! `kiln datagen`: self-play games as training data.
//!
//! The games of a shard depend only on the settings, the seed and the number of the shard. Therefore each thread plays
//! whole shards, the number of threads does not change the data, and a stopped run resumes with the missing shards.

mod selfplay;

pub use super::opening::chess960;

use crate::data::{GameFileError, MAX_RAW, Run, Shard, Sidecar, shard_path};
use crate::nnue::Network;
use crate::search::STACK;
use crate::tools::opening::Book;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use selfplay::SelfPlay;
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two lines of progress if standard output is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// The fewest and the most random plies from a position of a book, which is a game's opening already.
const PLIES_FROM_BOOK: [u32; 2] = [2, 4];

/// What to generate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder for the shards.
    pub folder: PathBuf,
    /// The least number of training positions in all shards together.
    pub positions: u64,
    /// The least number of training positions in a full shard.
    pub shard_positions: u64,
    /// A search starts no new iteration after this many nodes.
    pub soft_nodes: u64,
    /// The number of threads, each of which plays one game at a time.
    pub threads: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The percentage of games that start from double Chess960.
    pub frc_percent: u32,
    /// A file with a FEN or EPD in each line, from which games start.
    pub book: Option<PathBuf>,
    /// The percentage of games that start from the book, if there is one.
    pub book_percent: u32,
    /// With fewer pieces on the board, games are not adjudicated.
    pub adjudicate_pieces: u32,
    /// Megabytes of the transposition table of each thread.
    pub hash: usize,
    /// The engine's commit, recorded in the sidecars.
    pub commit: Option<String>,
}

/// The progress of all threads together.
#[derive(Default)]
struct Progress {
    games: AtomicU64,
    draws: AtomicU64,
    plies: AtomicU64,
    nodes: AtomicU64,
    positions: AtomicU64,
}

/// The defaults of `kiln datagen`; `folder` and `positions` have none and must be set.
impl Default for Settings {
    fn default() -> Self {
        Self {
            folder: PathBuf::new(),
            positions: 0,
            shard_positions: 250_000,
            soft_nodes: 1000,
            threads: 1,
            seed: 1,
            frc_percent: 20,
            book: None,
            book_percent: 50,
            adjudicate_pieces: 0,
            hash: 2,
            commit: None,
        }
    }
}

impl Settings {
    /// Returns the settings that determine the games, as the sidecars record them.
    fn run(&self, network: &Network, book: Option<&Book>) -> Run {
        Run {
            engine: concat!("Kiln ", env!("CARGO_PKG_VERSION")).into(),
            commit: self.commit.clone(),
            network: network.name().into(),
            network_sha256: network.sha256().into(),
            seed: self.seed,
            shard_positions: self.shard_positions,
            soft_nodes: self.soft_nodes,
            hard_factor: 8,
            hash: self.hash,
            frc_percent: self.frc_percent,
            random_plies: [8, 9],
            opening_score: 600,
            win: [1500, 4],
            draw: [8, 10, 70],
            unadjudicated_percent: 10,
            longest: 600,
            book: book.map(|book| book.describe(self.book_percent, PLIES_FROM_BOOK)),
            adjudicate_pieces: self.adjudicate_pieces,
        }
    }
}

/// Generates the missing shards. Passes lines about the progress to `print`; a terminal also shows a progress bar on
/// standard error.
///
/// # Errors
/// If a shard cannot be read or written, belongs to a run with other settings, or another process works in the folder;
/// or if the book is no book or has only decided positions.
pub fn datagen(settings: &Settings, network: &Network, mut print: impl FnMut(&str)) -> Result<(), GameFileError> {
    let folder = &settings.folder;
    fs::create_dir_all(folder)
        .map_err(|error| GameFileError::of_file(folder, format!("the folder cannot be created: {error}")))?;
    let _lock = lock(settings)?;
    let book = settings.book.as_deref().map(Book::read).transpose();
    let book = book
        .and_then(|book| book.as_ref().map_or(Ok(()), Book::check).map(|()| book))
        .map_err(|error| GameFileError::of_file(folder, error))?;
    let run = settings.run(network, book.as_ref());
    let quotas: Vec<u64> = (0..settings.positions.div_ceil(settings.shard_positions))
        .map(|index| settings.shard_positions.min(settings.positions - index * settings.shard_positions))
        .collect();
    let mut missing = Vec::new();
    let mut complete_positions = 0;
    for (index, &quota) in (0..).zip(&quotas) {
        match complete(settings, &run, index, quota)? {
            Some(sidecar) => complete_positions += sidecar.positions,
            None => missing.push((index, quota)),
        }
    }
    if missing.len() < quotas.len() {
        print(&format!(
            "{} of {} shards are complete, with {complete_positions} positions",
            quotas.len() - missing.len(),
            quotas.len()
        ));
    }
    let wanted: u64 = missing.iter().map(|(_, quota)| quota).sum();
    let progress = Progress::default();
    let first_error = Mutex::new(None);
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let work = || {
        while let Some(&(index, quota)) = missing.get(next.fetch_add(1, Relaxed) as usize) {
            if let Err(error) = generate(settings, (&run, book.as_ref()), network, (index, quota), &progress) {
                // The other threads find no more missing shards.
                next.store(missing.len() as u64, Relaxed);
                first_error.lock().expect("no thread panics").get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        let count = settings.threads.min(missing.len());
        let spawn = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let threads: Vec<_> = match (0..count).map(spawn).collect() {
            Ok(threads) => threads,
            Err(error) => {
                // The threads that run already find no more missing shards.
                next.store(missing.len() as u64, Relaxed);
                let what = format!("{count} threads cannot be started: {error}");
                *first_error.lock().expect("no thread panics") = Some(GameFileError::of_file(folder, what));
                return;
            }
        };
        let bar = bar(wanted);
        let mut last_line = start;
        while !threads.iter().all(|thread| thread.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            let positions = progress.positions.load(Relaxed);
            bar.set_position(positions);
            bar.set_message(progress.rates(start.elapsed()));
            if !io::stdout().is_terminal() && last_line.elapsed() >= LINE_INTERVAL {
                last_line = Instant::now();
                let remaining = HumanDuration(remaining(start.elapsed(), positions, wanted));
                print(&format!(
                    "{positions} of {wanted} positions, {}, {remaining} left",
                    progress.rates(start.elapsed())
                ));
            }
        }
        bar.finish_and_clear();
    });
    if let Some(error) = first_error.into_inner().expect("no thread panics") {
        return Err(error);
    }
    let done = progress.positions.load(Relaxed);
    print(&format!("{done} positions in {} shards, {}", missing.len(), progress.rates(start.elapsed())));
    Ok(())
}

/// Estimates the remaining time.
fn remaining(elapsed: Duration, done: u64, wanted: u64) -> Duration {
    let share = wanted.saturating_sub(done) as f64 / done.max(1) as f64;
    Duration::try_from_secs_f64((elapsed.as_secs_f64() * share).round()).unwrap_or(Duration::MAX)
}

impl Progress {
    fn rates(&self, elapsed: Duration) -> String {
        let [games, draws, plies, nodes, positions] =
            [&self.games, &self.draws, &self.plies, &self.nodes, &self.positions].map(|count| count.load(Relaxed));
        let rate = |count: u64| count as f64 / elapsed.as_secs_f64();
        format!(
            "{games} games, {:.1} % drawn, {:.0} positions/s, {:.0} moves/s, {:.2} Mnps",
            100.0 * draws as f64 / games.max(1) as f64,
            rate(positions),
            rate(plies),
            rate(nodes) / 1e6
        )
    }
}

fn bar(positions: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {human_pos}/{human_len} positions, {msg}, {eta} left");
    ProgressBar::new(positions).with_style(style.expect("the template is valid"))
}

/// Locks the folder, because two runs in it would write the same shards.
fn lock(settings: &Settings) -> Result<File, GameFileError> {
    let path = settings.folder.join("lock");
    let open = || File::options().create(true).append(true).open(&path);
    let file = open().map_err(|error| GameFileError::of_file(&path, format!("it cannot be written: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(GameFileError::of_file(&settings.folder, "another kiln datagen is working in this folder"))
        }
        Err(TryLockError::Error(error)) => Err(GameFileError::of_file(&path, format!("it cannot be locked: {error}"))),
    }
}

/// Returns the sidecar of a shard if its file is intact and has enough positions.
///
/// # Errors
/// If the shard belongs to a run with other settings.
fn complete(settings: &Settings, run: &Run, index: u64, quota: u64) -> Result<Option<Sidecar>, GameFileError> {
    let path = shard_path(&settings.folder, index);
    let Some(sidecar) = Sidecar::read(&path)? else { return Ok(None) };
    let fields = |run: &Run| serde_json::to_value(run).expect("a run is plain data");
    let found = sidecar.runs.first().map(fields).unwrap_or_default();
    if let Some((name, ours)) =
        fields(run).as_object().into_iter().flatten().find(|(name, ours)| found.get(name) != Some(ours))
    {
        let theirs = found.get(name).cloned().unwrap_or_default();
        let what = format!("this shard belongs to a run with {name} {theirs}, not {ours}; use another folder");
        return Err(GameFileError::of_file(&path, what));
    }
    let is_intact = sidecar.positions >= quota && fs::read(&path).is_ok_and(|bytes| sidecar.matches(&bytes));
    Ok(is_intact.then_some(sidecar))
}

/// Plays the games of one shard and saves it.
fn generate(
    settings: &Settings,
    (run, book): (&Run, Option<&Book>),
    network: &Network,
    (index, quota): (u64, u64),
    progress: &Progress,
) -> Result<(), GameFileError> {
    let mut seed = Sha256::new();
    seed.update(settings.seed.to_le_bytes());
    seed.update(index.to_le_bytes());
    let rng = Xoshiro256PlusPlus::from_seed(seed.finalize().into());
    let mut games =
        SelfPlay::new(run, book, network, rng).map_err(|error| GameFileError::of_file(&settings.folder, error))?;
    let mut shard = Shard::new();
    while shard.positions() < quota && shard.raw_len() < MAX_RAW {
        let nodes = games.nodes();
        let game = games.play().map_err(|error| GameFileError::of_file(&settings.folder, error))?;
        let before = shard.positions();
        shard.push(&game);
        progress.games.fetch_add(1, Relaxed);
        progress.draws.fetch_add((game.outcome == crate::data::Outcome::Draw).into(), Relaxed);
        progress.plies.fetch_add(game.moves.len() as u64, Relaxed);
        progress.nodes.fetch_add(games.nodes() - nodes, Relaxed);
        progress.positions.fetch_add(shard.positions() - before, Relaxed);
    }
    shard.save(&settings.folder, index, std::slice::from_ref(run), &[]).map(drop)
}
