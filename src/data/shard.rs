//! Shards: files of compressed games, with sidecars.

use super::game::MOVE_LENGTH;
use super::record::record;
use super::{Game, GameFileError, packed};
use kiln_gen::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file name suffix of shards.
pub const SUFFIX: &str = ".viri.zst";
/// The size in bytes, before compression, at which a shard is full. It keeps files below 15 MB.
pub const MAX_RAW: usize = 14_900_000;
/// The zstd compression level. Higher levels take much longer and gain little.
const LEVEL: i32 = 9;

record! {
    /// The settings of a data generation run. Equal settings generate equal games.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Run {
        /// The engine's name and version.
        pub engine: String,
        /// The engine's commit, if known.
        pub commit: Option<String>,
        /// The name of the network that played.
        pub network: String,
        /// The SHA-256 of the network's file.
        pub network_sha256: String,
        /// The random seed of all shards.
        pub seed: u64,
        /// Trainable positions in each full shard.
        pub shard_positions: u64,
        /// The soft node limit: a search starts no new iteration after this many nodes.
        pub soft_nodes: u64,
        /// The hard node limit, as a multiple of the soft one.
        pub hard_factor: u64,
        /// The size of the transposition table in megabytes.
        pub hash: usize,
        /// The percentage of games that start from double Chess960 positions.
        pub frc_percent: u32,
        /// The fewest and the most random plies at the start.
        pub random_plies: [u32; 2],
        /// The limit on the absolute value of a game's first score, in centipawns.
        pub opening_score: i32,
        /// Win adjudication: the score in centipawns, and for how many plies.
        pub win: [i32; 2],
        /// Draw adjudication: the largest score in centipawns, for how many plies, and after which ply.
        pub draw: [i32; 3],
        /// The percentage of games that are not adjudicated.
        pub unadjudicated_percent: u32,
        /// The length in plies at which a game is adjudicated as a draw.
        pub longest: usize,
        /// The book from which games start; `None` without one, as in all runs before there were books.
        pub book: Option<OpeningBook> = None,
        /// With fewer pieces on the board, games are not adjudicated except by their length.
        pub adjudicate_pieces: u32 = 0,
        /// How many plies of its principal variation are played after each search.
        pub pv_plies: usize = 1,
        /// How many branches follow each game: short games by one search each, half from the search tree below one of
        /// its positions, the others after a random move.
        pub branches: u32 = 0,
        /// How many nodes must have been searched below a position of a search tree to make it a game of one move; 0
        /// leaves all out.
        pub tree_nodes: u64 = 0,
        /// The node limit of the searches that score the trainable positions of games and branches again, from the
        /// last to the first; 0 for none.
        pub backward_nodes: u64 = 0,
        /// One in how many of these positions after the first, drawn at random, is scored again. With more than one,
        /// each other position has the score of the one before.
        pub backward_every: usize = 1,
        /// With fewer pieces on the board, a game is over, and its outcome is what the score says.
        pub end_pieces: u32 = 0,
    }

    /// A book of positions from which games of a run start.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OpeningBook {
        /// The file's name.
        pub file: String,
        /// The file's SHA-256.
        pub sha256: String,
        /// The percentage of games that start from a line of the book.
        pub percent: u32,
        /// The fewest and the most random plies after the line's position.
        pub random_plies: [u32; 2],
    }

    /// A file of games in PGN that was imported.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Import {
        /// The file's name.
        pub file: String,
        /// The file's SHA-256.
        pub sha256: String,
    }

    /// The provenance of a shard, stored as JSON next to it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Sidecar {
        /// The SHA-256 of the compressed shard.
        pub sha256: String,
        /// The number of games.
        pub games: u64,
        /// The number of moves in the games.
        pub plies: u64,
        /// The number of trainable positions.
        pub positions: u64,
        /// The runs that generated the games: several if shards were merged.
        pub runs: Vec<Run>,
        /// The files from which games were imported.
        pub imports: Vec<Import> = Vec::new(),
    }
}

impl Sidecar {
    /// Reads the sidecar of a shard; returns `None` if there is none.
    ///
    /// # Errors
    /// If the sidecar cannot be read or is invalid.
    pub fn read(shard: &Path) -> Result<Option<Self>, GameFileError> {
        let path = sidecar_path(shard);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| GameFileError::of_file(&path, format!("it is not a valid sidecar: {error}"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(GameFileError::of_file(&path, format!("it cannot be read: {error}"))),
        }
    }

    /// Returns the size of the shard in bytes before compression.
    pub fn raw_len(&self) -> u64 {
        (packed::LENGTH + MOVE_LENGTH) as u64 * self.games + MOVE_LENGTH as u64 * self.plies
    }

    /// Returns whether the sidecar's hash is that of these bytes.
    pub fn matches(&self, shard: &[u8]) -> bool {
        self.sha256 == hexadecimal(&Sha256::digest(shard))
    }
}

/// Returns the path of a shard's sidecar.
pub fn sidecar_path(shard: &Path) -> PathBuf {
    let name = shard.file_name().unwrap_or_default().to_string_lossy();
    shard.with_file_name(format!("{}.json", name.strip_suffix(SUFFIX).unwrap_or(&name)))
}

/// Returns the shards in a folder, sorted by name, or the path itself if it is no folder.
///
/// # Errors
/// If the folder cannot be read or contains no shards.
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

/// Collects games and saves them as a shard.
#[derive(Clone, Debug, Default)]
pub struct Shard {
    /// The games in viriformat.
    raw: Vec<u8>,
    games: u64,
    plies: u64,
    positions: u64,
}

impl Shard {
    /// Returns an empty shard.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a game.
    pub fn push(&mut self, game: &Game) {
        game.write(&mut self.raw);
        self.count(game.moves.len() as u64, game.trainable() as u64);
    }

    /// Adds a game that is already in viriformat, with the numbers of its plies and of its trainable positions.
    pub fn push_raw(&mut self, game: &[u8], plies: u64, positions: u64) {
        self.raw.extend_from_slice(game);
        self.count(plies, positions);
    }

    fn count(&mut self, plies: u64, positions: u64) {
        self.games += 1;
        self.plies += plies;
        self.positions += positions;
    }

    /// Returns the number of trainable positions.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Returns the size in bytes before compression.
    pub fn raw_len(&self) -> usize {
        self.raw.len()
    }

    /// Writes the shard and its sidecar, and returns the shard's path. Both are written to temporary files and renamed,
    /// the sidecar last, and an earlier sidecar is removed first: if a sidecar exists, its shard is complete.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self, folder: &Path, index: u64, runs: &[Run], imports: &[Import]) -> Result<PathBuf, GameFileError> {
        let path = shard_path(folder, index);
        let write = || -> io::Result<()> {
            let compress = || {
                let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
                encoder.include_checksum(true)?;
                encoder.write_all(&self.raw)?;
                encoder.finish()
            };
            // Only an allocation can fail; zstd, built to be small, has no messages.
            let bytes = compress().map_err(|_: io::Error| io::Error::from(io::ErrorKind::OutOfMemory))?;
            let sidecar = Sidecar {
                sha256: hexadecimal(&Sha256::digest(&bytes)),
                games: self.games,
                plies: self.plies,
                positions: self.positions,
                runs: runs.to_vec(),
                imports: imports.to_vec(),
            };
            let mut text = serde_json::to_vec_pretty(&sidecar)?;
            text.push(b'\n');
            let sidecar_path = sidecar_path(&path);
            if sidecar_path.try_exists()? {
                fs::remove_file(&sidecar_path)?;
            }
            replace(&path, &bytes)?;
            replace(&sidecar_path, &text)
        };
        write().map_err(|error| GameFileError::of_file(&path, format!("it cannot be written: {error}")))?;
        Ok(path)
    }
}

/// Returns the path of the shard with this number.
pub(crate) fn shard_path(folder: &Path, index: u64) -> PathBuf {
    folder.join(format!("shard-{index:05}{SUFFIX}"))
}

/// Replaces a file atomically: writes and syncs a temporary file, then renames it. If the process is killed or the disk
/// is full, the old file or the new one remains, never a part of one. What a symbolic link leads to is replaced, not the
/// link. Devices and pipes are written to.
///
/// # Errors
/// If the file cannot be written, synced or renamed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, bytes);
    }
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let temporary = path.with_added_extension("new");
    let write = || {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    // A partial file would take up space.
    write().inspect_err(|_| drop(fs::remove_file(&temporary)))
}
