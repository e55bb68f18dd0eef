use super::{Game, GameFileError};
use kiln_gen::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How the names of shards end.
pub const SUFFIX: &str = ".viri.zst";
/// A shard is full with so many bytes of games before compression: no shard is longer than 15 MB.
pub const MAX_RAW: usize = 14_900_000;
/// Of zstd. Higher ones take long and gain little.
const LEVEL: i32 = 9;

/// How games came about: with the same of all this come the same games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The engine's name and version.
    pub engine: String,
    /// The commit that it was built from, if known.
    pub commit: Option<String>,
    /// The name of the network that played.
    pub network: String,
    /// The hash of its file.
    pub network_sha256: String,
    /// Where the random numbers of all shards come from.
    pub seed: u64,
    /// Positions to learn from in each full shard.
    pub shard_positions: u64,
    /// No new iteration of a search after so many nodes.
    pub soft_nodes: u64,
    /// A search ends after so many times the soft limit.
    pub hard_factor: u64,
    /// Megabytes of hash.
    pub hash: usize,
    /// How many percent of the games start from positions of double Chess960.
    pub frc_percent: u32,
    /// Fewest and most random plies at the start.
    pub random_plies: [u32; 2],
    /// The first score of a game is at most this, in centipawns.
    pub opening_score: i32,
    /// A game is won with this score, and so for this many plies.
    pub win: [i32; 2],
    /// A game is drawn within this score, for this many plies, from this ply on.
    pub draw: [i32; 3],
    /// How many percent of the games end by the rules alone.
    pub unadjudicated_percent: u32,
    /// A game is drawn that is so long, in plies.
    pub longest: usize,
}

/// What stands beside a shard, in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// The hash of the compressed shard.
    pub sha256: String,
    /// Its games.
    pub games: u64,
    /// Their moves.
    pub plies: u64,
    /// The positions to learn from.
    pub positions: u64,
    /// How the games came about: one run, or several if shards were merged.
    pub runs: Vec<Run>,
}

impl Sidecar {
    /// Reads the sidecar of a shard; none if there is no such file.
    pub fn read(shard: &Path) -> Result<Option<Self>, GameFileError> {
        let path = sidecar_path(shard);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| GameFileError::of_file(&path, format!("no sidecar of a shard: {error}"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(GameFileError::of_file(&path, format!("it cannot be read: {error}"))),
        }
    }

    /// Whether the hash is that of these bytes.
    pub fn matches(&self, shard: &[u8]) -> bool {
        self.sha256 == hexadecimal(&Sha256::digest(shard))
    }
}

/// Where the sidecar of a shard is.
pub fn sidecar_path(shard: &Path) -> PathBuf {
    let name = shard.file_name().unwrap_or_default().to_string_lossy();
    shard.with_file_name(format!("{}.json", name.strip_suffix(SUFFIX).unwrap_or(&name)))
}

/// The shards of a folder in the order of their names, or the file itself.
pub fn shards(path: &Path) -> Result<Vec<PathBuf>, GameFileError> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let entries = fs::read_dir(path).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut files: Vec<PathBuf> =
        entries.map_err(|error| GameFileError::of_file(path, format!("it cannot be read: {error}")))?;
    files.retain(|file| file.to_string_lossy().ends_with(SUFFIX));
    if files.is_empty() {
        return Err(GameFileError::of_file(path, format!("no file in this folder ends in {SUFFIX}")));
    }
    files.sort();
    Ok(files)
}

/// Games to be saved together.
#[derive(Clone, Debug, Default)]
pub struct Shard {
    /// The games in viriformat.
    raw: Vec<u8>,
    games: u64,
    plies: u64,
    positions: u64,
}

impl Shard {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game.
    pub fn push(&mut self, game: &Game) {
        game.write(&mut self.raw);
        self.count(game.moves.len() as u64, game.trainable() as u64);
    }

    /// Adds a game that is already in viriformat, with the number of its plies and of positions to learn from.
    pub fn push_raw(&mut self, game: &[u8], plies: u64, positions: u64) {
        self.raw.extend_from_slice(game);
        self.count(plies, positions);
    }

    fn count(&mut self, plies: u64, positions: u64) {
        self.games += 1;
        self.plies += plies;
        self.positions += positions;
    }

    /// Positions to learn from.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Bytes before compression.
    pub fn raw_len(&self) -> usize {
        self.raw.len()
    }

    /// Writes the shard with its sidecar and returns its path. Both are written aside and renamed, the sidecar last:
    /// where there is a sidecar, the shard is whole.
    pub fn save(&self, folder: &Path, index: u64, runs: &[Run]) -> Result<PathBuf, GameFileError> {
        let path = shard_path(folder, index);
        let write = || -> io::Result<()> {
            let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
            encoder.include_checksum(true)?;
            encoder.write_all(&self.raw)?;
            let bytes = encoder.finish()?;
            let sidecar = Sidecar {
                sha256: hexadecimal(&Sha256::digest(&bytes)),
                games: self.games,
                plies: self.plies,
                positions: self.positions,
                runs: runs.to_vec(),
            };
            let mut text = serde_json::to_vec_pretty(&sidecar)?;
            text.push(b'\n');
            replace(&path, &bytes)?;
            replace(&sidecar_path(&path), &text)
        };
        write().map_err(|error| GameFileError::of_file(&path, format!("it cannot be written: {error}")))?;
        Ok(path)
    }
}

/// The path of a shard by its number.
pub(crate) fn shard_path(folder: &Path, index: u64) -> PathBuf {
    folder.join(format!("shard-{index:05}{SUFFIX}"))
}

/// Writes a file aside, to the disk, and renames it: a kill at any moment leaves the file before, or this one. So does a disk that is full.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = path.with_added_extension("new");
    let write = || {
        let mut file = fs::File::create(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, path)
    };
    // What is left of it takes space that is missed.
    write().inspect_err(|_| drop(fs::remove_file(&aside)))
}
