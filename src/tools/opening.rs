//! Random openings, and books of positions to start them from.

use crate::board::{CHESS960_POSITIONS, Position};
use crate::data::random::below;
use crate::data::{OpeningBook, Run};
use crate::quote::quote;
use kiln_gen::hexadecimal;
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Stop after this many rejected openings in a row.
pub const MAX_REJECTED: u32 = 1000;

/// Returns true with a probability of `percent`.
pub fn chance(percent: u32, rng: &mut Xoshiro256PlusPlus) -> bool {
    below(100, rng) < percent as usize
}

/// Returns a position reached by random moves, as a run asks for: from double Chess960, from a line of `book`, or from
/// the starting position. Returns `None` if the game ends within the moves.
///
/// # Errors
/// If the line drawn from the book is not a valid position.
pub fn opening(run: &Run, book: Option<&Book>, rng: &mut Xoshiro256PlusPlus) -> Result<Option<Position>, String> {
    let percent = below(100, rng) as u32;
    let chess960_or_book = run.frc_percent + run.book.as_ref().map_or(0, |book| book.percent);
    let (start, plies) = match (&run.book, book) {
        _ if percent < run.frc_percent => {
            let mut number = || below(CHESS960_POSITIONS as usize, rng) as u32;
            (Position::chess960(number(), number()), run.random_plies)
        }
        (Some(settings), Some(book)) if percent < chess960_or_book => (book.draw(rng)?, settings.random_plies),
        _ => (Position::startpos(), run.random_plies),
    };
    let [fewest, most] = plies.map(|count| count as usize);
    let count = fewest + below(most - fewest + 1, rng);
    Ok(walk(start, count, rng))
}

/// Plays random moves. Returns `None` if the game ends within them.
pub fn walk(mut position: Position, plies: usize, rng: &mut Xoshiro256PlusPlus) -> Option<Position> {
    for _ in 0..plies {
        let moves = position.moves();
        if moves.is_empty() {
            return None;
        }
        position = position.make(moves[below(moves.len(), rng)]);
    }
    position.has_legal_move().then_some(position)
}

/// A file with a FEN or EPD in each line.
pub struct Book {
    path: PathBuf,
    text: String,
    /// The byte offsets of all lines that are not blank.
    line_starts: Vec<usize>,
}

impl Book {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or has no line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read the book {}: {error}", quote(&path.to_string_lossy())))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let line_starts: Vec<usize> = lines.map(|line| line.as_ptr().addr() - text.as_ptr().addr()).collect();
        if line_starts.is_empty() {
            return Err(format!("the book {path:?} is empty: expected a FEN or EPD in each line"));
        }
        Ok(Self { path: path.into(), text, line_starts })
    }

    /// Returns how a run records that games start from this book.
    pub fn describe(&self, percent: u32, random_plies: [u32; 2]) -> OpeningBook {
        OpeningBook {
            file: self.path.file_name().unwrap_or_default().to_string_lossy().into(),
            sha256: hexadecimal(&Sha256::digest(&self.text)),
            percent,
            random_plies,
        }
    }

    /// Checks all lines, because a long run should not fail at a bad one after hours.
    ///
    /// # Errors
    /// If a line is not a valid position.
    pub fn check(&self) -> Result<(), String> {
        self.line_starts.iter().try_for_each(|&start| self.position(start).map(drop))
    }

    /// Returns the position of a random line.
    ///
    /// # Errors
    /// If the line is not a valid position.
    pub fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> Result<Position, String> {
        self.position(self.line_starts[below(self.line_starts.len(), rng)])
    }

    /// Returns the position of the line that starts at this byte.
    fn position(&self, start: usize) -> Result<Position, String> {
        let line = self.text[start..].lines().next().unwrap_or_default();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        // After the four fields of an EPD come operations; after those of a FEN, two numbers.
        let is_fen = words.len() >= 6 && words[4..6].iter().all(|word| word.parse::<u32>().is_ok());
        let fields = words.len().min(if is_fen { 6 } else { 4 });
        let clocks = if is_fen { "" } else { " 0 1" };
        let fen = words[..fields].join(" ") + clocks;
        fen.parse().map_err(|error| format!("line {} of the book {:?} is no position: {error}", quote(line), self.path))
    }
}
