//! Measures the speed of the search on the positions of whole games, with threads and hash as in play.

use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::search::Limits;
use crate::search::Session;
use std::time::{Duration, Instant};

/// The games, each with its players and moves.
const GAMES: [(&str, &str); 3] = [
    (
        "Morphy against Brunswick and Isouard, 1858",
        "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 c3b5 c6b5 c4b5 \
         b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8",
    ),
    (
        "D. Byrne against Fischer, 1956",
        "g1f3 g8f6 c2c4 g7g6 b1c3 f8g7 d2d4 e8g8 c1f4 d7d5 d1b3 d5c4 b3c4 c7c6 e2e4 b8d7 a1d1 d7b6 c4c5 c8g4 f4g5 \
         b6a4 c5a3 a4c3 b2c3 f6e4 g5e7 d8b6 f1c4 e4c3 e7c5 f8e8 e1f1 g4e6 c5b6 e6c4 f1g1 c3e2 g1f1 e2d4 f1g1 d4e2 \
         g1f1 e2c3 f1g1 a7b6 a3b4 a8a4 b4b6 c3d1 h2h3 a4a2 g1h2 d1f2 h1e1 e8e1 b6d8 g7f8 f3e1 c4d5 e1f3 f2e4 d8b8 \
         b7b5 h3h4 h7h5 f3e5 g8g7 h2g1 f8c5 g1f1 e4g3 f1e1 c5b4 e1d1 d5b3 d1c1 g3e2 c1b1 e2c3 b1c1 a2c2",
    ),
    (
        "Kasparov against Topalov, 1999",
        "e2e4 d7d6 d2d4 g8f6 b1c3 g7g6 c1e3 f8g7 d1d2 c7c6 f2f3 b7b5 g1e2 b8d7 e3h6 g7h6 d2h6 c8b7 a2a3 e7e5 e1c1 \
         d8e7 c1b1 a7a6 e2c1 e8c8 c1b3 e5d4 d1d4 c6c5 d4d1 d7b6 g2g3 c8b8 b3a5 b7a8 f1h3 d6d5 h6f4 b8a7 h1e1 d5d4 \
         c3d5 b6d5 e4d5 e7d6 d1d4 c5d4 e1e7 a7b6 f4d4 b6a5 b2b4 a5a4 d4c3 d6d5 e7a7 a8b7 a7b7 d5c4 c3f6 a4a3 f6a6 \
         a3b4 c2c3 b4c3 a6a1 c3d2 a1b2 d2d1 h3f1 d8d2 b7d7 d2d7 f1c4 b5c4 b2h8 d7d3 h8a8 c4c3 a8a4 d1e1 f3f4 f7f5 \
         b1c1 d3d2 a4a7",
    ),
];

/// The arguments of `kiln speedtest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedtest {
    /// The number of threads, at least 1.
    pub threads: usize,
    /// Megabytes of the transposition table, at least 1.
    pub megabytes: usize,
    /// The time for all positions together.
    pub time: Duration,
}

/// Searches the positions of some games in order, as in play, each for the same time. Passes lines of text to `print`;
/// the last is `N nodes N nps`.
///
/// # Errors
/// If the system refuses the memory of the transposition table.
pub fn speedtest(test: &Speedtest, network: &Network, mut print: impl FnMut(&str)) -> Result<(), String> {
    let mut session = Session::new(network, test.megabytes, test.threads).map_err(|error| error.to_string())?;
    let count: usize = GAMES.iter().map(|(_, moves)| moves.split(' ').count()).sum();
    let limits = Limits { movetime: Some(test.time / count as u32), ..Limits::default() };
    print(&format!(
        "{count} positions of {} games, {:.3} s each, {} thread{}, {} MB hash",
        GAMES.len(),
        test.time.as_secs_f64() / count as f64,
        test.threads,
        if test.threads == 1 { "" } else { "s" },
        test.megabytes
    ));
    let (mut nodes, mut time) = (0, Duration::ZERO);
    for (name, moves) in GAMES {
        session.new_game();
        let (mut position, mut history) = (Position::startpos(), GameHistory::new());
        let (before, mut fullest) = (nodes, 0);
        for text in moves.split(' ') {
            let start = Instant::now();
            nodes += session.position(&position).history(&history).limits(&limits).run().nodes;
            time += start.elapsed();
            fullest = fullest.max(session.hashfull());
            let mv = position.parse_move(text).expect("the games are legal");
            history.push(&position);
            position = position.make(mv);
        }
        print(&format!("{:>12} nodes, hash up to {:>2} % full  {name}", nodes - before, fullest / 10));
    }
    print(&format!("{:.2} s", time.as_secs_f64()));
    print(&format!("{nodes} nodes {} nps", (nodes as f64 / time.as_secs_f64()) as u64));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_as_long_as_it_is_told() {
        let test = Speedtest { threads: 1, megabytes: 1, time: Duration::from_millis(500) };
        let mut lines = Vec::new();
        let start = Instant::now();
        speedtest(&test, &Network::embedded(), |line| lines.push(line.to_string())).unwrap();
        assert!((test.time..Duration::from_secs(20)).contains(&start.elapsed()), "{:?}", start.elapsed());
        assert_eq!(lines.len(), GAMES.len() + 3);
        let words: Vec<&str> = lines.last().unwrap().split(' ').collect();
        assert!(words[0].parse::<u64>().unwrap() > 0 && words[1..] == ["nodes", words[2], "nps"], "{words:?}");
    }
}
