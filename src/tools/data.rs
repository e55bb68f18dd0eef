//! Files of games: `kiln data`.

mod stat;

use crate::data::random::shuffle;
use crate::data::{Game, GameFileError, MAX_RAW, Run, Shard, Sidecar, read, shards};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::fs;
use std::path::{Path, PathBuf};

/// What may be done. Files may be folders, which stand for the shards in them.
#[derive(Clone, Debug)]
pub enum Task {
    /// Print tables of what is in them.
    Stat(Vec<PathBuf>),
    /// Check every byte.
    Verify(Vec<PathBuf>),
    /// Write all games in the order of the files into shards as large as allowed.
    Merge {
        /// Where to.
        folder: PathBuf,
        /// Where from.
        files: Vec<PathBuf>,
    },
    /// The same in random order.
    Shuffle {
        /// Where to.
        folder: PathBuf,
        /// Where from.
        files: Vec<PathBuf>,
        /// What determines the order.
        seed: u64,
    },
}

/// Does it, and hands lines of text to `print`.
pub fn run(task: &Task, mut print: impl FnMut(&str)) -> Result<(), GameFileError> {
    match task {
        Task::Stat(files) => print(stat::stat(&all(files)?)?.trim_end()),
        Task::Verify(files) => verify(&all(files)?, print)?,
        Task::Merge { folder, files } => {
            let files = all(files)?;
            let mut output = Output::new(folder, &files)?;
            for file in &files {
                for game in read(file)? {
                    let game = game?;
                    let mut raw = Vec::new();
                    game.write(&mut raw);
                    output.push(&raw, game.moves.len() as u64, game.trainable() as u64)?;
                }
            }
            print(&output.finish()?);
        }
        Task::Shuffle { folder, files, seed } => {
            let files = all(files)?;
            let mut output = Output::new(folder, &files)?;
            // All games in memory, as they are written, and where each of them is.
            let (mut raw, mut games) = (Vec::new(), Vec::new());
            for file in &files {
                for game in read(file)? {
                    let game = game?;
                    let begin = raw.len();
                    game.write(&mut raw);
                    games.push((begin..raw.len(), game.moves.len() as u32, game.trainable() as u32));
                }
            }
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(*seed);
            shuffle(&mut games, &mut rng);
            for (range, plies, positions) in games {
                output.push(&raw[range], plies.into(), positions.into())?;
            }
            print(&output.finish()?);
        }
    }
    Ok(())
}

fn all(paths: &[PathBuf]) -> Result<Vec<PathBuf>, GameFileError> {
    let files: Result<Vec<_>, _> = paths.iter().map(|path| shards(path)).collect();
    Ok(files?.concat())
}

/// Shards that are written one after the other.
struct Output<'a> {
    folder: &'a Path,
    runs: Vec<Run>,
    shard: Shard,
    saved: u64,
    games: u64,
    positions: u64,
}

impl<'a> Output<'a> {
    /// Into a folder without shards, with what the sidecars of the inputs say.
    fn new(folder: &'a Path, files: &[PathBuf]) -> Result<Self, GameFileError> {
        fs::create_dir_all(folder)
            .map_err(|error| GameFileError::of_file(folder, format!("the folder cannot be made: {error}")))?;
        if shards(folder).is_ok() {
            return Err(GameFileError::of_file(folder, "there are shards in this folder already; name another one"));
        }
        let mut runs = Vec::new();
        for file in files {
            for run in Sidecar::read(file)?.map_or(Vec::new(), |sidecar| sidecar.runs) {
                if !runs.contains(&run) {
                    runs.push(run);
                }
            }
        }
        Ok(Self { folder, runs, shard: Shard::new(), saved: 0, games: 0, positions: 0 })
    }

    fn push(&mut self, raw: &[u8], plies: u64, positions: u64) -> Result<(), GameFileError> {
        if self.shard.raw_len() > 0 && self.shard.raw_len() + raw.len() > MAX_RAW {
            self.save()?;
        }
        self.shard.push_raw(raw, plies, positions);
        self.games += 1;
        self.positions += positions;
        Ok(())
    }

    fn save(&mut self) -> Result<(), GameFileError> {
        std::mem::take(&mut self.shard).save(self.folder, self.saved, &self.runs)?;
        self.saved += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<String, GameFileError> {
        if self.shard.raw_len() > 0 {
            self.save()?;
        }
        Ok(format!("{} games with {} positions in {} shards", self.games, self.positions, self.saved))
    }
}

/// Compares each file with its sidecar, and each game with the rules.
fn verify(files: &[PathBuf], mut print: impl FnMut(&str)) -> Result<(), GameFileError> {
    let mut total = 0;
    for file in files {
        let sidecar = Sidecar::read(file)?;
        let bytes =
            fs::read(file).map_err(|error| GameFileError::of_file(file, format!("it cannot be read: {error}")))?;
        // The faulty place first, if there is one: it says more than a hash.
        let [mut games, mut plies, mut positions] = [0; 3];
        let mut reader = read(file)?;
        loop {
            let offset = reader.offset();
            let Some(game) = reader.next() else { break };
            let game: Game = game?;
            games += 1;
            game.check_outcome().map_err(|what| GameFileError {
                file: file.clone(),
                place: Some((games, offset)),
                what,
            })?;
            plies += game.moves.len() as u64;
            positions += game.trainable() as u64;
        }
        if let Some(sidecar) = &sidecar {
            if !sidecar.matches(&bytes) {
                return Err(GameFileError::of_file(
                    file,
                    "its games are sound, but its hash is not that of the sidecar",
                ));
            }
            let said = (sidecar.games, sidecar.plies, sidecar.positions);
            if said != (games, plies, positions) {
                let what = format!(
                    "the sidecar counts {said:?} games, plies and positions, and there are {games}, {plies}, {positions}"
                );
                return Err(GameFileError::of_file(file, what));
            }
        }
        let without = if sidecar.is_none() { ", no sidecar" } else { "" };
        print(&format!("{}: {games} games, {plies} plies, {positions} positions{without}", file.display()));
        total += positions;
    }
    print(&format!("{} files are sound, with {total} positions", files.len()));
    Ok(())
}
