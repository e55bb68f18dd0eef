//! Games of self-play to learn from: `kiln datagen`.
//!
//! The games of a shard depend on the settings, the seed and the shard's number alone. So threads take whole shards, their number changes nothing, and a
//! run that was stopped goes on with the shards that are missing.

mod selfplay;

pub use super::opening::chess960;

use crate::data::{GameFileError, MAX_RAW, Run, Shard, Sidecar, shard_path};
use crate::nnue::Network;
use crate::search::STACK;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use selfplay::Table;
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Lines on a standard output that is no terminal come so often.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

/// What is to be generated.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the shards go.
    pub folder: PathBuf,
    /// How many positions to learn from the shards are to hold together, at least.
    pub positions: u64,
    /// How many of them in a full shard.
    pub shard_positions: u64,
    /// No new iteration of a search after so many nodes.
    pub soft_nodes: u64,
    /// How many games are played at a time.
    pub threads: usize,
    /// Where all random numbers come from.
    pub seed: u64,
    /// How many percent of the games start from double Chess960.
    pub frc_percent: u32,
    /// Megabytes of hash for each thread.
    pub hash: usize,
    /// The commit of the engine, to be noted.
    pub commit: Option<String>,
}

/// What has been done so far, by all threads.
#[derive(Default)]
struct Progress {
    games: AtomicU64,
    draws: AtomicU64,
    plies: AtomicU64,
    nodes: AtomicU64,
    positions: AtomicU64,
}

impl Settings {
    fn run(&self, network: &Network) -> Run {
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
        }
    }
}

/// Generates the shards that are missing, and tells of it by `print` and, on a terminal, by a bar on standard error.
pub fn datagen(settings: &Settings, network: &Network, mut print: impl FnMut(&str)) -> Result<(), GameFileError> {
    let folder = &settings.folder;
    let fault = |what: String| GameFileError::of_file(folder, what);
    fs::create_dir_all(folder).map_err(|error| fault(format!("the folder cannot be made: {error}")))?;
    let _lock = lock(settings)?;
    let run = settings.run(network);
    let quotas: Vec<u64> = (0..settings.positions.div_ceil(settings.shard_positions))
        .map(|index| settings.shard_positions.min(settings.positions - index * settings.shard_positions))
        .collect();
    let mut missing = Vec::new();
    let mut there = 0;
    for (index, &quota) in (0..).zip(&quotas) {
        match complete(settings, &run, index, quota)? {
            Some(sidecar) => there += sidecar.positions,
            None => missing.push((index, quota)),
        }
    }
    if missing.len() < quotas.len() {
        print(&format!(
            "{} of {} shards are there, with {there} positions",
            quotas.len() - missing.len(),
            quotas.len()
        ));
    }
    let wanted: u64 = missing.iter().map(|(_, quota)| quota).sum();
    let progress = Progress::default();
    let fault = Mutex::new(None);
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let work = || {
        while let Some(&(index, quota)) = missing.get(next.fetch_add(1, Relaxed) as usize) {
            if let Err(found) = generate(settings, &run, network, (index, quota), &progress) {
                // The others find no more shards to do.
                next.store(missing.len() as u64, Relaxed);
                fault.lock().expect("no thread panics").get_or_insert(found);
            }
        }
    };
    thread::scope(|scope| {
        let count = settings.threads.min(missing.len());
        let spawn = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let threads: Vec<_> = match (0..count).map(spawn).collect() {
            Ok(threads) => threads,
            Err(error) => {
                // Those that run already find no more shards to do.
                next.store(missing.len() as u64, Relaxed);
                let what = format!("{count} threads cannot be started: {error}");
                *fault.lock().expect("no thread panics") = Some(GameFileError::of_file(folder, what));
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
    if let Some(fault) = fault.into_inner().expect("no thread panics") {
        return Err(fault);
    }
    let done = progress.positions.load(Relaxed);
    print(&format!("{done} positions in {} shards, {}", missing.len(), progress.rates(start.elapsed())));
    Ok(())
}

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
    ProgressBar::new(positions).with_style(style.expect("the template is sound"))
}

/// Two runs in one folder would write the same shards.
fn lock(settings: &Settings) -> Result<File, GameFileError> {
    let path = settings.folder.join("lock");
    let open = || File::options().create(true).append(true).open(&path);
    let file = open().map_err(|error| GameFileError::of_file(&path, format!("it cannot be written: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(GameFileError::of_file(&settings.folder, "another kiln datagen is at work in this folder"))
        }
        Err(TryLockError::Error(error)) => Err(GameFileError::of_file(&path, format!("it cannot be locked: {error}"))),
    }
}

/// The sidecar of a shard that is whole and has enough positions. A shard of another run is an error.
fn complete(settings: &Settings, run: &Run, index: u64, quota: u64) -> Result<Option<Sidecar>, GameFileError> {
    let path = shard_path(&settings.folder, index);
    let Some(sidecar) = Sidecar::read(&path)? else { return Ok(None) };
    let fields = |run: &Run| serde_json::to_value(run).expect("a run is plain data");
    let found = sidecar.runs.first().map(fields).unwrap_or_default();
    if let Some((name, ours)) =
        fields(run).as_object().into_iter().flatten().find(|(name, ours)| found.get(name) != Some(ours))
    {
        let theirs = found.get(name).cloned().unwrap_or_default();
        let what = format!("this shard is of a run with {name} {theirs}, not {ours}; use another folder");
        return Err(GameFileError::of_file(&path, what));
    }
    let is_whole = sidecar.positions >= quota && fs::read(&path).is_ok_and(|bytes| sidecar.matches(&bytes));
    Ok(is_whole.then_some(sidecar))
}

/// Plays the games of one shard and saves it.
fn generate(
    settings: &Settings,
    run: &Run,
    network: &Network,
    (index, quota): (u64, u64),
    progress: &Progress,
) -> Result<(), GameFileError> {
    let mut seed = Sha256::new();
    seed.update(settings.seed.to_le_bytes());
    seed.update(index.to_le_bytes());
    let rng = Xoshiro256PlusPlus::from_seed(seed.finalize().into());
    let mut table = Table::new(run, network, rng).map_err(|error| GameFileError::of_file(&settings.folder, error))?;
    let mut shard = Shard::new();
    while shard.positions() < quota && shard.raw_len() < MAX_RAW {
        let nodes = table.nodes();
        let game = table.play();
        let before = shard.positions();
        shard.push(&game);
        progress.games.fetch_add(1, Relaxed);
        progress.draws.fetch_add((game.outcome == crate::data::Outcome::Draw).into(), Relaxed);
        progress.plies.fetch_add(game.moves.len() as u64, Relaxed);
        progress.nodes.fetch_add(table.nodes() - nodes, Relaxed);
        progress.positions.fetch_add(shard.positions() - before, Relaxed);
    }
    shard.save(&settings.folder, index, std::slice::from_ref(run)).map(drop)
}
