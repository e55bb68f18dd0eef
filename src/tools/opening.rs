//! Random openings, and books of positions to start them from.

use crate::board::Position;
use crate::data::random::below;
use crate::data::{OpeningBook, Run};
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
            (chess960(number(), number()), run.random_plies)
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
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read the book {path:?}: {error}"))?;
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
        fen.parse().map_err(|error| format!("line {line:?} of the book {:?} is no position: {error}", self.path))
    }
}

/// The number of starting positions of Chess960.
const CHESS960_POSITIONS: u32 = 960;

/// Returns the position of double Chess960 with these numbers for White's and Black's home ranks; 518 is that of chess.
///
/// # Panics
/// If a number is not below 960.
pub fn chess960(white: u32, black: u32) -> Position {
    let (above, below) = (home_rank(black), home_rank(white).to_ascii_uppercase());
    let castling = |rank: &str| -> String {
        rank.chars().zip('A'..).filter(|(piece, _)| piece.eq_ignore_ascii_case(&'r')).map(|(_, file)| file).collect()
    };
    let (white, black) = (castling(&below), castling(&above).to_ascii_lowercase());
    let fen = format!("{above}/pppppppp/8/8/8/8/PPPPPPPP/{below} w {white}{black} - 0 1");
    fen.parse().expect("starting positions are legal")
}

/// Returns the pieces of a home rank from the a-file on, by Scharnagl's numbering.
fn home_rank(number: u32) -> String {
    assert!(number < CHESS960_POSITIONS, "Chess960 has {CHESS960_POSITIONS} starting positions, counted from 0");
    let mut rank = [' '; 8];
    let number = number as usize;
    rank[2 * (number % 4) + 1] = 'b';
    rank[2 * (number / 4 % 4)] = 'b';
    let put = |rank: &mut [char; 8], place: usize, piece| {
        *rank.iter_mut().filter(|square| **square == ' ').nth(place).expect("enough squares are free") = piece;
    };
    put(&mut rank, number / 16 % 6, 'q');
    // The two knights stand on two of the five squares that are left.
    let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
    let (first, second) = pairs.clone().nth(number / 96).expect("there are ten pairs");
    put(&mut rank, second, 'n');
    put(&mut rank, first, 'n');
    for piece in ['r', 'k', 'r'] {
        put(&mut rank, 0, piece);
    }
    rank.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn starting_positions() {
        assert_eq!(chess960(518, 518), Position::startpos());
        assert_eq!(home_rank(0), "bbqnnrkr");
        assert_eq!(home_rank(959), "rkrnnqbb");
        let all: HashSet<String> = (0..CHESS960_POSITIONS).map(home_rank).collect();
        assert_eq!(all.len() as u32, CHESS960_POSITIONS);
        for rank in all {
            let find = |piece| rank.match_indices(piece).map(|(place, _)| place).collect::<Vec<_>>();
            let (king, rooks, bishops) = (find("k"), find("r"), find("b"));
            assert!(rooks[0] < king[0] && king[0] < rooks[1] && (bishops[0] + bishops[1]) % 2 == 1, "{rank}");
        }
    }
}
