//! `kiln data`: statistics, verification, merging, shuffling and import of game files.

mod import;
mod stat;
pub(super) mod svg;

use super::datagen::create_folder;
use crate::data::random::shuffle;
use crate::data::{Game, GameFileError, Import, MAX_RAW, Run, Shard, Sidecar, read, shards};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A command. Each file may be a folder, which stands for all shards in it.
#[derive(Clone, Debug)]
pub enum Task {
    /// Print statistics of the games, and compare the files if there are several.
    Stat {
        /// The files to read.
        files: Vec<PathBuf>,
        /// Where to draw curves of each.
        svg: Option<PathBuf>,
    },
    /// Check hashes, moves and results.
    Verify(Vec<PathBuf>),
    /// Write all games, in the order of the files, into shards of full size.
    Merge {
        /// The folder for the shards, which must not hold any yet.
        folder: PathBuf,
        /// The files to read.
        files: Vec<PathBuf>,
    },
    /// Write all games in random order.
    Shuffle {
        /// The folder for the shards, which must not hold any yet.
        folder: PathBuf,
        /// The files to read.
        files: Vec<PathBuf>,
        /// The seed of the order.
        seed: u64,
    },
    /// Write the games of files in PGN into shards.
    Import {
        /// The folder for the shards, which must not hold any yet.
        folder: PathBuf,
        /// The files in PGN.
        files: Vec<PathBuf>,
    },
}

/// Runs a command and passes lines of text to `print`.
///
/// # Errors
/// If a file cannot be read or written or is invalid, or the folder holds shards already. Games in PGN that are no
/// training data are skipped, but a file without any other is an error. [`Task::Verify`] checks all files, whatever is
/// wrong with the first.
pub fn run(task: &Task, mut print: impl FnMut(&str)) -> Result<(), Box<dyn Error + Send + Sync>> {
    match task {
        Task::Stat { files, svg } => print(stat::stat(files, svg.as_deref())?.trim_end()),
        Task::Verify(files) => verify(files, print)?,
        Task::Merge { folder, files } => {
            let files = expand(files)?;
            let mut writer = ShardWriter::new(folder, &files)?;
            for file in &files {
                for game in read(file)? {
                    writer.push_game(&game?)?;
                }
            }
            print(&writer.finish()?);
        }
        Task::Shuffle { folder, files, seed } => {
            let files = expand(files)?;
            let mut writer = ShardWriter::new(folder, &files)?;
            // The bytes of all games, and the range of each.
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
                writer.push(&raw[range], plies.into(), positions.into())?;
            }
            print(&writer.finish()?);
        }
        Task::Import { folder, files } => {
            let mut writer = ShardWriter::new(folder, &[])?;
            writer.imports = files.iter().map(|file| import::provenance(file)).collect::<Result<_, _>>()?;
            for file in files {
                import::import(file, &mut writer, &mut print)?;
            }
            print(&writer.finish()?);
        }
    }
    Ok(())
}

/// Replaces folders by the shards in them.
fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, GameFileError> {
    let files: Result<Vec<_>, _> = paths.iter().map(|path| shards(path)).collect();
    Ok(files?.concat())
}

/// Writes games into one shard after another.
struct ShardWriter<'a> {
    folder: &'a Path,
    runs: Vec<Run>,
    imports: Vec<Import>,
    shard: Shard,
    saved: u64,
    games: u64,
    positions: u64,
}

impl<'a> ShardWriter<'a> {
    /// Creates a writer for a folder without shards, which it creates with the first shard. Collects the runs and
    /// imports that the sidecars of the inputs list.
    fn new(folder: &'a Path, files: &[PathBuf]) -> Result<Self, GameFileError> {
        if folder.exists() && !folder.is_dir() {
            return Err(GameFileError::of_file(folder, "this is not a folder"));
        }
        if folder.is_dir() && shards(folder).is_ok() {
            return Err(GameFileError::of_file(folder, "this folder already holds shards; use another folder"));
        }
        fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
            for item in more {
                if !all.contains(&item) {
                    all.push(item);
                }
            }
        }
        let (mut runs, mut imports) = (Vec::new(), Vec::new());
        for file in files {
            if let Some(sidecar) = Sidecar::read(file)? {
                add(&mut runs, sidecar.runs);
                add(&mut imports, sidecar.imports);
            }
        }
        Ok(Self { folder, runs, imports, shard: Shard::new(), saved: 0, games: 0, positions: 0 })
    }

    /// Adds a game.
    fn push_game(&mut self, game: &Game) -> Result<(), GameFileError> {
        let mut raw = Vec::new();
        game.write(&mut raw);
        self.push(&raw, game.moves.len() as u64, game.trainable() as u64)
    }

    /// Adds a game in viriformat, with its number of plies and training positions.
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
        create_folder(self.folder)?;
        std::mem::take(&mut self.shard).save(self.folder, self.saved, &self.runs, &self.imports)?;
        self.saved += 1;
        Ok(())
    }

    /// Writes the last shard and returns a summary.
    fn finish(mut self) -> Result<String, GameFileError> {
        if self.shard.raw_len() > 0 {
            self.save()?;
        }
        Ok(format!("{} games with {} positions in {} shards", self.games, self.positions, self.saved))
    }
}

/// Checks all files and passes a line about each to `print`.
///
/// # Errors
/// If any file is not valid; the lines say which and why.
fn verify(paths: &[PathBuf], mut print: impl FnMut(&str)) -> Result<(), String> {
    let (mut valid, mut bad, mut total) = (0, 0, 0);
    for path in paths {
        let files = shards(path).map_or_else(|error| vec![Err(error)], |files| files.into_iter().map(Ok).collect());
        for file in files {
            match file.and_then(|file| verify_file(&file)) {
                Ok((line, positions)) => {
                    print(&line);
                    (valid, total) = (valid + 1, total + positions);
                }
                Err(error) => {
                    print(&format!("BAD: {error}"));
                    bad += 1;
                }
            }
        }
    }
    if bad > 0 {
        return Err(format!("{bad} of {} files are bad; the others hold {total} positions", valid + bad));
    }
    print(&format!("{valid} files are valid, with {total} positions"));
    Ok(())
}

/// Checks a file against its sidecar, and each game against the rules. Returns a line about it and the number of its
/// training positions.
fn verify_file(file: &Path) -> Result<(String, u64), GameFileError> {
    let sidecar = Sidecar::read(file)?;
    let bytes = fs::read(file).map_err(|error| GameFileError::of_file(file, format!("it cannot be read: {error}")))?;
    // The games first: the place of an error says more than a wrong hash.
    let [mut games, mut plies, mut positions] = [0; 3];
    let mut reader = read(file)?;
    loop {
        let offset = reader.offset();
        let Some(game) = reader.next() else { break };
        let game: Game = game?;
        games += 1;
        game.check_outcome().map_err(|what| GameFileError { file: file.into(), place: Some((games, offset)), what })?;
        plies += game.moves.len() as u64;
        positions += game.trainable() as u64;
    }
    if let Some(sidecar) = &sidecar {
        let expected = (sidecar.games, sidecar.plies, sidecar.positions);
        if expected != (games, plies, positions) {
            let what = format!(
                "the sidecar counts {expected:?} games, plies and positions, but there are {games}, {plies}, {positions}"
            );
            return Err(GameFileError::of_file(file, what));
        }
        if !sidecar.matches(&bytes) {
            return Err(GameFileError::of_file(
                file,
                "its games are valid, but its hash differs from that in the sidecar",
            ));
        }
    }
    let without = if sidecar.is_none() { ", no sidecar" } else { "" };
    let line = format!("{}: {games} games, {plies} plies, {positions} positions{without}", file.display());
    Ok((line, positions))
}
