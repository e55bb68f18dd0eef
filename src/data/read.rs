use super::game::{Game, MOVE_LENGTH, ScoredMove, read_move};
use super::packed;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// What is wrong with a file of games.
#[derive(Debug)]
pub struct GameFileError {
    /// The file.
    pub file: PathBuf,
    /// Which game, counted from 1, and how many bytes, decompressed, lie before the faulty ones; none if the file as a whole is at fault.
    pub place: Option<(u64, u64)>,
    /// What is wrong, in words.
    pub what: String,
}

impl GameFileError {
    /// A fault of the file as a whole. It is said in one line, whatever it quotes from the file.
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

/// A file that is decompressed as it is read.
type Decompressed = BufReader<zstd::Decoder<'static, BufReader<File>>>;

/// Reads games in viriformat one after the other. Every move of a game that is returned is legal; nothing follows a fault.
pub struct Reader<I = Decompressed> {
    file: PathBuf,
    input: I,
    games: u64,
    offset: u64,
    failed: bool,
}

/// Opens a file of games, compressed by zstd.
pub fn read(file: &Path) -> Result<Reader, GameFileError> {
    let open = || zstd::Decoder::new(File::open(file)?);
    let input = open().map_err(|error| GameFileError::of_file(file, format!("it cannot be read: {error}")))?;
    Ok(Reader::new(file, BufReader::with_capacity(1 << 17, input)))
}

impl<I: BufRead> Reader<I> {
    /// Reads games that are not compressed, or not any more; faults name this file.
    pub fn new(file: &Path, input: I) -> Self {
        Self { file: file.into(), input, games: 0, offset: 0, failed: false }
    }

    /// How many bytes, decompressed, were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The fault of the game that is being read.
    fn fault(&self, offset: u64, what: impl fmt::Display) -> GameFileError {
        GameFileError { file: self.file.clone(), place: Some((self.games + 1, offset)), what: what.to_string() }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], GameFileError> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.fault(self.offset, "the file ends within a game"),
            _ => self.fault(self.offset, error),
        })?;
        self.offset += N as u64;
        Ok(bytes)
    }

    fn game(&mut self) -> Result<Game, GameFileError> {
        let begin = self.offset;
        let (start, outcome) =
            packed::unpack(&self.take()?).map_err(|what| self.fault(begin, format!("bad start: {what}")))?;
        let mut plies = Vec::with_capacity(128);
        let mut position = start.clone();
        loop {
            let begin = self.offset;
            let [a, b, c, d]: [u8; MOVE_LENGTH] = self.take()?;
            if [a, b, c, d] == [0; MOVE_LENGTH] {
                return Ok(Game { start, outcome, moves: plies });
            }
            let word = u16::from_le_bytes([a, b]);
            let best = read_move(word, &position)
                .ok_or_else(|| self.fault(begin, format!("{word:#06x} is no legal move at {}", position.fen(true))))?;
            plies.push(ScoredMove { mv: best, score: i16::from_le_bytes([c, d]) });
            position.play(best);
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
            Err(error) => Err(self.fault(self.offset, error)),
        };
        self.failed = game.is_err();
        self.games += 1;
        Some(game)
    }
}
