//! Reading games.

use super::game::{Game, MOVE_LENGTH, ScoredMove, read_move};
use super::packed;
use super::shard::Sidecar;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Why a file of games is invalid, or cannot be read or written.
#[derive(Debug)]
pub struct GameFileError {
    /// The file.
    pub file: PathBuf,
    /// The invalid game, counted from 1, and the offset in bytes into the decompressed file; `None` if the error
    /// concerns the file as a whole.
    pub place: Option<(u64, u64)>,
    /// What is wrong.
    pub what: String,
}

impl GameFileError {
    /// Returns an error that concerns the file as a whole. Control characters in `what`, which may quote the file,
    /// become spaces, so that the message is one line.
    pub fn of_file(file: &Path, what: impl fmt::Display) -> Self {
        Self { file: file.into(), place: None, what: what.to_string().replace(char::is_control, " ") }
    }
}

impl fmt::Display for GameFileError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some((game, offset)) = self.place {
            write!(f, "game {game}, byte {offset} of the decompressed file: ")?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for GameFileError {}

/// Decompresses a file while it is read. Its errors say what is wrong with the file and where; those of zstd, which is
/// built to be small, say nothing.
pub struct Decompressed(zstd::Decoder<'static, BufReader<File>>);

impl Read for Decompressed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes).map_err(|error| {
            // The system's own errors, such as a bad disk.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let place = self.0.get_mut().stream_position().unwrap_or_default();
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => format!("the compressed file is cut off after its {place} bytes"),
                _ => format!("the compressed file is damaged near its byte {place}, or not compressed by zstd"),
            };
            // Another kind than `UnexpectedEof`, which would mean that the decompressed data ends.
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }
}

/// Iterates over games in viriformat. Every move of a returned game is legal. Iteration ends after the first error.
pub struct Reader<I = BufReader<Decompressed>> {
    file: PathBuf,
    input: I,
    games: u64,
    offset: u64,
    failed: bool,
}

/// Opens a file of games compressed with zstd.
///
/// # Errors
/// If the file cannot be opened or is empty. The iterator returns errors in the games.
///
/// ```no_run
/// for game in kiln::data::read("shard-00000.viri.zst".as_ref())? {
///     let game = game?;
///     println!("{:?} after {} plies", game.outcome, game.moves.len());
/// }
/// # Ok::<(), kiln::data::GameFileError>(())
/// ```
pub fn read(file: &Path) -> Result<Reader, GameFileError> {
    let refuse = |error| GameFileError::of_file(file, format!("it cannot be read: {error}"));
    let mut input = BufReader::with_capacity(1 << 17, File::open(file).map_err(refuse)?);
    // No file of zstd is; zstd takes it for one without contents.
    if input.fill_buf().map_err(refuse)?.is_empty() {
        return Err(GameFileError::of_file(file, "it is empty, expected games compressed by zstd"));
    }
    // Only an allocation can fail.
    let input = zstd::Decoder::with_buffer(input).map_err(|_| refuse(io::ErrorKind::OutOfMemory.into()))?;
    Ok(Reader::new(file, BufReader::with_capacity(1 << 17, Decompressed(input))))
}

impl<I: BufRead> Reader<I> {
    /// Returns a reader of games that are not compressed. Errors name `file`.
    pub fn new(file: &Path, input: I) -> Self {
        Self { file: file.into(), input, games: 0, offset: 0, failed: false }
    }

    /// Returns the number of decompressed bytes read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns an error in the current game.
    fn error(&self, offset: u64, what: impl fmt::Display) -> GameFileError {
        GameFileError { file: self.file.clone(), place: Some((self.games + 1, offset)), what: what.to_string() }
    }

    /// Returns an error of the input in the current game, with what is missing from it on if a sidecar tells.
    fn input_error(&self, what: impl fmt::Display) -> GameFileError {
        let missing = match Sidecar::read(&self.file) {
            Ok(Some(Sidecar { games, .. })) if games > self.games => {
                format!("; {} of the {games} games in its sidecar are missing", games - self.games)
            }
            Ok(Some(Sidecar { games, .. })) if games == self.games => format!("; all {games} games are there"),
            _ => String::new(),
        };
        self.error(self.offset, format!("{what}{missing}"))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], GameFileError> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.input_error("the file ends within a game"),
            _ => self.input_error(error),
        })?;
        self.offset += N as u64;
        Ok(bytes)
    }

    fn game(&mut self) -> Result<Game, GameFileError> {
        let begin = self.offset;
        let (start, outcome, bound) = packed::unpack(&self.take()?)
            .map_err(|what| self.error(begin, format!("bad starting position: {what}")))?;
        let mut moves = Vec::with_capacity(128);
        let mut position = start.clone();
        loop {
            let begin = self.offset;
            let [a, b, c, d]: [u8; MOVE_LENGTH] = self.take()?;
            if [a, b, c, d] == [0; MOVE_LENGTH] {
                return Ok(Game { start, outcome, bound, moves });
            }
            let word = u16::from_le_bytes([a, b]);
            let mv = read_move(word, &position).ok_or_else(|| {
                self.error(begin, format!("{word:#06x} is not a legal move in {}", position.fen(true)))
            })?;
            moves.push(ScoredMove { mv, score: i16::from_le_bytes([c, d]) });
            position.play(mv);
        }
    }
}

impl<I: BufRead> Iterator for Reader<I> {
    type Item = Result<Game, GameFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let game = match self.input.fill_buf() {
            Ok([]) => return None,
            Ok(_) => self.game(),
            Err(error) => Err(self.input_error(error)),
        };
        self.failed = game.is_err();
        self.games += 1;
        Some(game)
    }
}
