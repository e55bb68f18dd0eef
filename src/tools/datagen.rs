//! `kiln datagen`: self-play games as training data.
//!
//! The games of a shard depend only on the settings, the seed and the number of the shard. Therefore each thread plays
//! whole shards, the number of threads does not change the data, and a stopped run resumes with the missing shards.
//! Games follow from all games before them in their shard, through the transposition table, so a shard that was stopped
//! in its middle is played again from its first game.

mod selfplay;
mod tree;

use super::opening::Book;
use super::progress::{ProgressDisplay, short};
use crate::data::{GameFileError, MAX_RAW, Run, Shard, Sidecar, shard_path};
use crate::nnue::Network;
use crate::search::STACK;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use selfplay::SelfPlay;
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The fewest and the most random plies from a position of a book, which is a game's opening already.
const PLIES_FROM_BOOK: [u32; 2] = [2, 4];

/// What to generate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder for the shards.
    pub folder: PathBuf,
    /// The number of training positions in all shards together, fewer if shards reach [`MAX_RAW`] first.
    pub positions: u64,
    /// The number of training positions at which a shard is full.
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
    /// How many plies of its principal variation are played after each search, at least 1.
    pub pv_plies: usize,
    /// How many branches follow each game, with one search each: half from a position of the search tree below one of
    /// the game, the others after a random move.
    pub branches: u32,
    /// How many nodes must have been searched below a position of a search tree to make it a training position; 0
    /// leaves all out.
    pub tree_nodes: u64,
    /// The node limit of the searches that score the trainable positions of a game or branch again, from the last to
    /// the first; 0 for none.
    pub backward_nodes: u64,
    /// One in how many of these positions after the first, drawn at random, is scored again. With more than one, each
    /// other position gets the score of the one before.
    pub backward_every: usize,
    /// With fewer pieces on the board, a game is over, and its outcome is what the score says.
    pub end_pieces: u32,
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
    /// Shards completed by this run, and their positions.
    shards: AtomicU64,
    shard_positions: AtomicU64,
    /// Unfinished shards that are kept, and their positions.
    parts: AtomicU64,
    part_positions: AtomicU64,
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
            pv_plies: 1,
            branches: 0,
            tree_nodes: 0,
            backward_nodes: 0,
            backward_every: 1,
            end_pieces: 0,
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
            pv_plies: self.pv_plies,
            branches: self.branches,
            tree_nodes: self.tree_nodes,
            backward_nodes: self.backward_nodes,
            backward_every: self.backward_every,
            end_pieces: self.end_pieces,
        }
    }
}

/// Generates the missing shards. Passes lines about the progress to `print`; a terminal shows a progress bar on
/// standard error instead. When `stop` is set, the games that are being played are the last, and unfinished shards are
/// kept too.
///
/// # Errors
/// If a shard cannot be read or written, belongs to a run with other settings, or another process works in the folder;
/// or if the book is no book or has only decided positions. Also if shards are missing because of `stop`; the message
/// says what is kept.
pub fn datagen(
    settings: &Settings,
    network: &Network,
    stop: &AtomicBool,
    mut print: impl FnMut(&str),
) -> Result<(), GameFileError> {
    let folder = &settings.folder;
    let book = settings.book.as_deref().map(Book::read).transpose();
    let book = book
        .and_then(|book| book.as_ref().map_or(Ok(()), Book::check).map(|()| book))
        .map_err(|error| GameFileError::of_file(folder, error))?;
    create_folder(folder)?;
    let _lock = lock(folder, "kiln datagen")?;
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
            if stop.load(Relaxed) {
                return;
            }
            if let Err(error) = generate(settings, (&run, book.as_ref()), network, (index, quota), stop, &progress) {
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
        let mut display = ProgressDisplay::new(wanted, 0);
        let mut is_stopping = false;
        while !threads.iter().all(|thread| thread.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            if !is_stopping && stop.load(Relaxed) {
                is_stopping = true;
                let text = "stopping after the current games; Ctrl-C ends at once";
                // Nobody may be reading.
                display.suspend(|| drop(writeln!(io::stderr(), "{text}")));
            }
            let positions = progress.positions.load(Relaxed);
            display.update(positions, |speed| progress.text(wanted, speed, start.elapsed()), &mut print);
        }
    });
    if let Some(error) = first_error.into_inner().expect("no thread panics") {
        return Err(error);
    }
    let [shards, shard_positions, parts, part_positions] =
        [&progress.shards, &progress.shard_positions, &progress.parts, &progress.part_positions]
            .map(|count| count.load(Relaxed));
    if (shards as usize) < missing.len() {
        let complete = quotas.len() as u64 - missing.len() as u64 + shards;
        let unfinished = match parts {
            0 => String::new(),
            _ => format!(
                "; {parts} unfinished with {part_positions} positions are kept until then and played again from their \
                 first game"
            ),
        };
        let what = format!(
            "stopped: {complete} of {} shards are complete, with {} positions; the same command goes on with the \
             others{unfinished}",
            quotas.len(),
            complete_positions + shard_positions
        );
        return Err(GameFileError::of_file(folder, what));
    }
    let done = progress.positions.load(Relaxed);
    print(&format!("{done} positions in {} shards, {}", missing.len(), progress.rates(start.elapsed())));
    let all = complete_positions + shard_positions;
    if all < settings.positions {
        let wanted = settings.positions;
        print(&format!(
            "{all} of {wanted} positions: shards end at {MAX_RAW} bytes; use another folder and fewer a shard"
        ));
    }
    Ok(())
}

impl Progress {
    /// Returns how far the run is, in so few columns that a bar and the time left fit 80 with it. `speed` is in
    /// positions per second.
    fn text(&self, wanted: u64, speed: f64, elapsed: Duration) -> String {
        let [draws, games, nodes, positions] =
            [&self.draws, &self.games, &self.nodes, &self.positions].map(|count| count.load(Relaxed) as f64);
        format!(
            "{}/{}, {}/s, {:.0} % drawn, {}nps",
            short(positions),
            short(wanted as f64),
            short(speed),
            100.0 * draws / games.max(1.0),
            short(nodes / elapsed.as_secs_f64())
        )
    }

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

/// Creates a folder of shards, and those that contain it.
pub(super) fn create_folder(folder: &Path) -> Result<(), GameFileError> {
    fs::create_dir_all(folder)
        .map_err(|error| GameFileError::of_file(folder, format!("the folder cannot be created: {error}")))
}

/// Locks the folder of a command, because two runs in it would write the same files.
///
/// # Errors
/// If another run holds the lock, or the file cannot be written.
pub fn lock(folder: &Path, command: &str) -> Result<File, GameFileError> {
    let path = folder.join("lock");
    let open = || File::options().create(true).append(true).open(&path);
    let file = open().map_err(|error| GameFileError::of_file(&path, format!("it cannot be written: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(GameFileError::of_file(folder, format!("another {command} is working in this folder")))
        }
        Err(TryLockError::Error(error)) => Err(GameFileError::of_file(&path, format!("it cannot be locked: {error}"))),
    }
}

/// Returns the sidecar of a shard if its file is intact and full.
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
    let is_full = is_full(quota, sidecar.positions, sidecar.raw_len());
    let is_intact = is_full && fs::read(&path).is_ok_and(|bytes| sidecar.matches(&bytes));
    Ok(is_intact.then_some(sidecar))
}

/// Returns whether a shard with this many positions and bytes gets no more games.
fn is_full(quota: u64, positions: u64, raw_len: u64) -> bool {
    positions >= quota || raw_len >= MAX_RAW as u64
}

/// Plays the games of one shard and saves it, at `stop` with the games so far.
fn generate(
    settings: &Settings,
    (run, book): (&Run, Option<&Book>),
    network: &Network,
    (index, quota): (u64, u64),
    stop: &AtomicBool,
    progress: &Progress,
) -> Result<(), GameFileError> {
    let mut seed = Sha256::new();
    seed.update(settings.seed.to_le_bytes());
    seed.update(index.to_le_bytes());
    let rng = Xoshiro256PlusPlus::from_seed(seed.finalize().into());
    let mut games =
        SelfPlay::new(run, book, network, rng).map_err(|error| GameFileError::of_file(&settings.folder, error))?;
    let mut shard = Shard::new();
    let is_complete = |shard: &Shard| is_full(quota, shard.positions(), shard.raw_len() as u64);
    while !is_complete(&shard) && !stop.load(Relaxed) {
        let nodes = games.nodes();
        let game = games.play().map_err(|error| GameFileError::of_file(&settings.folder, error))?;
        let before = shard.positions();
        let branches = games.branches(&game);
        let trees = games.take_trees();
        for played in [&game].into_iter().chain(&branches).chain(&trees) {
            shard.push(played);
            progress.plies.fetch_add(played.moves.len() as u64, Relaxed);
        }
        progress.games.fetch_add(1, Relaxed);
        progress.draws.fetch_add((game.outcome == crate::data::Outcome::Draw).into(), Relaxed);
        progress.nodes.fetch_add(games.nodes() - nodes, Relaxed);
        progress.positions.fetch_add(shard.positions() - before, Relaxed);
    }
    let save = || shard.save(&settings.folder, index, std::slice::from_ref(run), &[]);
    if is_complete(&shard) {
        save()?;
        progress.shards.fetch_add(1, Relaxed);
        progress.shard_positions.fetch_add(shard.positions(), Relaxed);
        return Ok(());
    }
    // An earlier run may have got further.
    let path = shard_path(&settings.folder, index);
    let earlier = Sidecar::read(&path)?.filter(|sidecar| fs::read(&path).is_ok_and(|bytes| sidecar.matches(&bytes)));
    let kept = match earlier {
        Some(earlier) if earlier.positions >= shard.positions() => earlier.positions,
        _ if shard.positions() == 0 => return Ok(()),
        _ => {
            save()?;
            shard.positions()
        }
    };
    progress.parts.fetch_add(1, Relaxed);
    progress.part_positions.fetch_add(kept, Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_fits_a_terminal() {
        let progress = Progress::default();
        let most = 999_990_000_000;
        for (count, value) in [
            (&progress.games, most / 100),
            (&progress.draws, most / 100),
            (&progress.nodes, most * 1_000_000),
            (&progress.positions, most),
        ] {
            count.store(value, Relaxed);
        }
        let text = progress.text(1_000_000_000_000, 999_990.0, Duration::from_millis(999_999_999));
        // The bar is 10 columns wide.
        let line = format!("{text}, 364 d 23 h left");
        assert!(line.len() + 11 < 80, "{} columns: {line}", line.len() + 11);
    }
}
