//! Random openings for OpenBench, which asks for them by `genfens` before engines play games for training data.

use super::opening::{Book, MAX_REJECTED, walk};
use crate::board::Position;
use crate::data::random::below;
use crate::nnue::Network;
use crate::quote::quote;
use crate::search::Limits;
use crate::search::Session;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Random plies from the starting position. Half of the openings have one more, so that both sides get to move first.
const PLIES: usize = 8;
/// Random plies from a position of a book, likewise.
const PLIES_FROM_BOOK: usize = 3;
/// The highest score of either side in centipawns; games from decided positions teach a network little.
const MAX_SCORE: i32 = 600;
/// Nodes of the search for the score.
const NODES: u64 = 2000;

/// The arguments of `genfens`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number of positions.
    pub count: u64,
    /// The seed of the random numbers; equal seeds give equal positions.
    pub seed: u64,
    /// A file with a FEN or EPD in each line, to start from in place of the starting position.
    pub book: Option<PathBuf>,
}

impl FromStr for Request {
    type Err = String;

    /// Parses `N seed S book FILE|None`. Ignores the words that follow, which are for other engines; the file's name is
    /// all words up to the last with which a file exists, or else one word.
    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let [count, "seed", seed, "book", first, ..] = words[..] else {
            let found = format!("genfens {text}");
            return Err(format!("expected \"genfens N seed S book FILE\" or \"book None\", found {}", quote(&found)));
        };
        let number = |text: &str| {
            text.parse().map_err(|_| {
                format!("bad number {} for genfens: expected a whole number from 0 to {}", quote(text), u64::MAX)
            })
        };
        let book = (!first.eq_ignore_ascii_case("none")).then(|| {
            let mut paths = (5..=words.len()).rev().map(|end| PathBuf::from(words[4..end].join(" ")));
            paths.find(|path| path.is_file()).unwrap_or(first.into())
        });
        Ok(Self { count: number(count)?, seed: number(seed)?, book })
    }
}

/// Passes lines `info string genfens FEN` to `print`: positions after random moves that are neither over nor decided.
///
/// # Errors
/// If the book cannot be read, a line drawn from it is not a valid position, too many openings in a row are unbalanced,
/// or `stop` is set before the end.
pub fn genfens(
    request: &Request,
    network: &Network,
    stop: &AtomicBool,
    mut print: impl FnMut(&str),
) -> Result<(), String> {
    let book = request.book.as_deref().map(Book::read).transpose()?;
    let mut session = Session::new(network, 1, 1).map_err(|error| error.to_string())?;
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(request.seed);
    let (mut found, mut rejected) = (0, 0);
    while found < request.count {
        if stop.load(Relaxed) {
            // Not as a line of "genfens", which OpenBench would read as an opening.
            return Err(format!("stopped after {found} of {} openings", request.count));
        }
        let (start, plies) = match &book {
            None => (Position::startpos(), PLIES),
            Some(book) => (book.draw(&mut rng)?, PLIES_FROM_BOOK),
        };
        let plies = plies + below(2, &mut rng);
        let balanced = walk(start, plies, &mut rng)
            .filter(|position| session.position(position).limits(&limits).run().score.value().abs() <= MAX_SCORE);
        match balanced {
            Some(position) => {
                print(&format!("info string genfens {}", position.fen(false)));
                (found, rejected) = (found + 1, 0);
            }
            None if rejected == MAX_REJECTED => {
                return Err(format!("no balanced opening among {MAX_REJECTED} in a row"));
            }
            None => rejected += 1,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let request = |text: &str| text.parse::<Request>();
        let expected = Request { count: 3, seed: 7, book: None };
        assert_eq!(request("3 seed 7 book None"), Ok(expected.clone()));
        assert_eq!(request("3 seed 7 book none extra=1"), Ok(expected.clone()));
        let book = Some("Books/a.epd".into());
        assert_eq!(request("3 seed 7 book Books/a.epd"), Ok(Request { book, ..expected.clone() }));
        assert_eq!(request("3 seed 7 book Books/a.epd extra=1"), request("3 seed 7 book Books/a.epd"));
        let blanks = std::env::temp_dir().join(format!("kiln ü {}.epd", std::process::id()));
        std::fs::write(&blanks, "").unwrap();
        let found = request(&format!("3 seed 7 book {} extra=1", blanks.display()));
        std::fs::remove_file(&blanks).unwrap();
        assert_eq!(found, Ok(Request { book: Some(blanks), ..expected }));
        for bad in ["", "3", "3 seed 7", "3 seed 7 book", "x seed 7 book None", "3 seed -1 book None"] {
            let error = request(bad).unwrap_err();
            assert!(error.contains("genfens"), "{error}");
        }
    }
}
