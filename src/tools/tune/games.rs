//! What a process of `kiln tune` does: it plays pairs of games. The parameters are global, so that a process can play
//! only one game at a time.

use crate::board::{GameHistory, Position};
use crate::data::{Outcome, rule_outcome};
use crate::nnue::Network;
use crate::search::{Clock, Limits, OutOfMemory, Parameter, STACK, Session, parameters};
use crate::tools::adjudicator::Adjudicator;
use crate::types::Color;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::str::FromStr;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

/// Megabytes of the transposition table of each side.
const HASH: usize = 8;
/// Both sides find that the game is won by this score in centipawns, for this number of plies.
const WIN: [i32; 2] = [600, 8];
/// The largest score of a drawn game, for how many plies, and after which ply, the first of move 40.
const DRAW: [i32; 3] = [8, 16, 78];

/// How long the searches of a game are. As text, `8000` is a number of nodes, and `300000+3000` a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The nodes of each search.
    Nodes(u64),
    /// A clock of nodes for each side, with the nodes that each move adds.
    Clock(u64, u64),
}

impl Pace {
    /// The most nodes.
    const MOST: u64 = 1_000_000_000;

    /// Returns the limits of a search for the side with this clock.
    fn limits(self, remaining: u64) -> Limits {
        match self {
            Self::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            Self::Clock(_, increment) => {
                let [remaining, increment] = [remaining, increment].map(Duration::from_micros);
                let clock = Some(Clock { remaining, increment, moves_to_go: None });
                Limits { clock, nodes_as_time: true, ..Limits::default() }
            }
        }
    }

    /// Returns the clock of a side after a search, or `None` if its time is over.
    fn after(self, remaining: u64, nodes: u64) -> Option<u64> {
        match self {
            Self::Nodes(_) => Some(remaining),
            Self::Clock(_, increment) => Some(remaining.checked_sub(nodes)? + increment),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => write!(f, "{nodes}"),
            Self::Clock(start, increment) => write!(f, "{start}+{increment}"),
        }
    }
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |word: &str, least| word.parse().ok().filter(|number| (least..=Self::MOST).contains(number));
        let pace = match text.split_once('+') {
            None => number(text, 1).map(Self::Nodes),
            Some((start, increment)) => number(start, 1).zip(number(increment, 0)).map(|(s, i)| Self::Clock(s, i)),
        };
        pace.ok_or(format!("expected nodes or a clock of nodes, 1 to {}, such as 8000 or 300000+3000", Self::MOST))
    }
}

/// A pair of games to play from the same position, each side having White once. A line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// How long the searches are.
    pub pace: Pace,
    /// The values of both sides, in the order of the names that the process was started with.
    pub values: [Vec<i32>; 2],
    /// The opening.
    pub start: Position,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.pace)?;
        for values in &self.values {
            let words: Vec<String> = values.iter().map(i32::to_string).collect();
            write!(f, " {}", words.join(","))?;
        }
        write!(f, " {}", self.start.fen(true))
    }
}

impl FromStr for Request {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let values = |word: &str| word.split(',').map(str::parse).collect::<Result<Vec<i32>, _>>().ok();
        let mut words = text.trim_end().splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (pace, first, second) = (word().parse().ok(), values(word()), values(word()));
        let (Some(pace), Some(first), Some(second)) = (pace, first, second) else {
            return Err(format!("bad request {text:?}: expected PACE VALUES VALUES FEN"));
        };
        let start = word().parse().map_err(|error| format!("bad request {text:?}: {error}"))?;
        Ok(Self { pace, values: [first, second], start })
    }
}

/// Plays the pairs that the lines of `input` ask for, with the parameters of these names. Writes the points of the
/// first side minus those of the second, from −2 to 2, as a line for each.
///
/// # Errors
/// If there is no parameter of a name, a line is no request, the memory is refused, or the output cannot be written.
pub fn play(names: &[String], network: &Network, input: impl BufRead + Send, out: impl Write + Send) -> io::Result<()> {
    let mut players = Players::new(names, network).map_err(io::Error::other)?;
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || players.answer(input, out))?;
        thread.join().expect("no game panics")
    })
}

/// Both sides.
struct Players {
    sessions: [Session; 2],
    parameters: Vec<Parameter>,
}

impl Players {
    fn new(names: &[String], network: &Network) -> Result<Self, String> {
        let find = |name: &String| {
            let parameter = parameters().into_iter().find(|parameter| parameter.name == name);
            parameter.ok_or(format!("there is no parameter {name:?}"))
        };
        let session = || Session::new(network, HASH, 1).map_err(|error: OutOfMemory| error.to_string());
        let parameters = names.iter().map(find).collect::<Result<_, _>>()?;
        Ok(Self { sessions: [session()?, session()?], parameters })
    }

    fn answer(&mut self, input: impl BufRead, mut out: impl Write) -> io::Result<()> {
        for line in input.lines() {
            let request: Request = line?.parse().map_err(io::Error::other)?;
            if request.values.iter().any(|values| values.len() != self.parameters.len()) {
                let count = self.parameters.len();
                return Err(io::Error::other(format!("a request needs {count} values for each side")));
            }
            writeln!(out, "{}", self.play_pair(&request))?;
            out.flush()?;
        }
        Ok(())
    }

    /// Plays both games and returns the points of the first side minus those of the second.
    fn play_pair(&mut self, request: &Request) -> i32 {
        let white_points = |outcome: Outcome| outcome as i32 - 1;
        white_points(self.play_game(request, 0)) - white_points(self.play_game(request, 1))
    }

    /// Plays a game in which the side of this index has White.
    fn play_game(&mut self, request: &Request, white: usize) -> Outcome {
        self.sessions.iter_mut().for_each(Session::new_game);
        let mut clocks = [if let Pace::Clock(start, _) = request.pace { start } else { 0 }; 2];
        let (mut position, mut history) = (request.start.clone(), GameHistory::new());
        let mut adjudicator = Adjudicator::default();
        loop {
            if let Some(outcome) = rule_outcome(&position, &history) {
                return outcome;
            }
            let color = position.side_to_move();
            let side = if color == Color::White { white } else { 1 - white };
            for (parameter, &value) in self.parameters.iter().zip(&request.values[side]) {
                parameter.value.store(value, Relaxed);
            }
            let limits = request.pace.limits(clocks[side]);
            let search = self.sessions[side].position(&position).history(&history).limits(&limits);
            let result = search.run_here(&mut ());
            match request.pace.after(clocks[side], result.nodes) {
                Some(remaining) => clocks[side] = remaining,
                None => return Outcome::of_winner(!color),
            }
            history.push(&position);
            position = position.make(result.best().expect("the game is not over"));
            let score = color.white_pov(result.score.value());
            if let Some(outcome) = adjudicator.adjudicate(WIN, DRAW, &position, score) {
                // A mate on the board, say, is still a matter of the rules.
                return rule_outcome(&position, &history).unwrap_or(outcome);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_lines() {
        let start = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9".parse().unwrap();
        let values = [vec![1, -20, 3], vec![4, 5, 6]];
        let mut request = Request { pace: Pace::Nodes(8000), values, start };
        let text = request.to_string();
        assert!(text.starts_with("8000 1,-20,3 4,5,6 bqnb1rkr/") && !text.contains('\n'), "{text}");
        assert_eq!(text.parse(), Ok(request.clone()));
        request.pace = Pace::Clock(300_000, 3000);
        let text = request.to_string();
        assert!(text.starts_with("300000+3000 1,-20,3 "), "{text}");
        assert_eq!(text.parse(), Ok(request));
        for bad in ["0", "-1", "x", "1+", "+1", "0+1", "1+1+1", "2000000000"] {
            assert!(bad.parse::<Pace>().unwrap_err().contains("such as 8000 or 300000+3000"), "{bad}");
        }
        for bad in ["", "8000 1,2 1,2", "8000 1, 2 startpos", "x 1 2 8/8/8/8/8/8/8/8 w - - 0 1"] {
            assert!(bad.parse::<Request>().unwrap_err().starts_with("bad request"), "{bad}");
        }
    }

    #[test]
    fn equal_sides_draw_pairs() {
        let position = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1";
        let mut out = Vec::new();
        // Only values of other tests' parameters could differ, so this one names none that they set.
        let names = ["order_check".to_owned()];
        let input = format!(
            "60 9600 9600 {position}\n60 9600 9600 k7/2Q5/1K6/8/8/8/8/8 b - - 0 1\n\
             2000+40 9600 9600 {position}\n"
        );
        play(&names, &Network::embedded(), input.as_bytes(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "0\n0\n0\n");
        let error = play(&["nonsense".to_owned()], &Network::embedded(), &b""[..], Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "there is no parameter \"nonsense\"");
    }
}
