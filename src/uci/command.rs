//! What a GUI may say, as types.

use crate::board::{FenError, Position};
use std::fmt;
use std::num::IntErrorKind;
use std::str::SplitAsciiWhitespace;
use std::time::Duration;

/// A line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`: who are you?
    Uci,
    /// `isready`: answer when you are.
    IsReady,
    /// `ucinewgame`: what comes has nothing to do with what was.
    NewGame,
    /// `position startpos|fen FEN [moves …]`.
    Position(Box<SetPosition>),
    /// `go …`.
    Go(Go),
    /// `stop`: give your move now.
    Stop,
    /// `setoption name NAME [value VALUE]`.
    SetOption {
        /// The option's name, as written.
        name: String,
        /// The value; empty if there is none.
        value: String,
    },
    /// `d`: show the position.
    Display,
    /// `eval`: show what the network says.
    Eval,
    /// `bench [DEPTH]`.
    Bench(Option<u32>),
    /// `genfens N seed S book FILE|None`: what follows `genfens`.
    GenFens(String),
    /// `help`: list the commands.
    Help,
    /// `quit`.
    Quit,
}

/// A position with the moves played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPosition {
    /// Where the game starts.
    pub start: Position,
    /// Moves in UCI notation, not yet checked.
    pub moves: Vec<String>,
}

/// What to search and how long; all may be combined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// `depth N`.
    pub depth: Option<u32>,
    /// `nodes N`.
    pub nodes: Option<u64>,
    /// `movetime N` in milliseconds.
    pub movetime: Option<Duration>,
    /// `wtime N`, `btime N`: what is left on the clocks, White's first. Negative counts as nothing.
    pub time: [Option<Duration>; 2],
    /// `winc N`, `binc N`.
    pub increment: [Duration; 2],
    /// `movestogo N`.
    pub moves_to_go: Option<u32>,
    /// `perft N`: count moves in place of searching.
    pub perft: Option<u32>,
    /// `infinite`: until `stop`, whatever else is said.
    pub infinite: bool,
}

/// Why a line is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// No word of it is a command.
    Unknown(String),
    /// A number is missing or wrong.
    Number {
        /// The word before it.
        what: String,
        /// What stands there.
        text: String,
    },
    /// The position cannot be one.
    Fen(FenError),
    /// `position` without `startpos` or `fen`, or something but `moves` after `startpos`.
    Position,
    /// `setoption` without `name`.
    SetOption,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unknown(line) => write!(f, "unknown command {line:?}; \"help\" lists what there is"),
            Self::Number { what, text } => write!(f, "bad number {text:?} after {what:?}: expected a whole number"),
            Self::Fen(error) => write!(f, "{error}"),
            Self::Position => {
                write!(f, "expected \"position startpos\" or \"position fen FEN\", then nothing or \"moves\"")
            }
            Self::SetOption => write!(f, "\"setoption\" must be followed by \"name\""),
        }
    }
}

impl std::error::Error for ParseError {}

/// Reads a line; none if it is blank. Words before a command that are not understood are skipped, as the protocol asks.
pub fn parse(line: &str) -> Result<Option<Command>, ParseError> {
    let mut words = line.split_ascii_whitespace();
    while let Some(word) = words.next() {
        return Ok(Some(match word {
            "uci" => Command::Uci,
            "isready" => Command::IsReady,
            "ucinewgame" => Command::NewGame,
            "position" => Command::Position(Box::new(parse_position(words)?)),
            "go" => Command::Go(parse_go(words)?),
            "stop" => Command::Stop,
            "setoption" => parse_option(line, words)?,
            "d" => Command::Display,
            "eval" => Command::Eval,
            "bench" => Command::Bench(words.next().map(|text| number("bench", Some(text))).transpose()?),
            "genfens" => Command::GenFens(words.collect::<Vec<_>>().join(" ")),
            "help" => Command::Help,
            "quit" => Command::Quit,
            _ => continue,
        }));
    }
    if line.trim().is_empty() { Ok(None) } else { Err(ParseError::Unknown(line.trim().into())) }
}

fn parse_position(mut words: SplitAsciiWhitespace) -> Result<SetPosition, ParseError> {
    let start = match words.next() {
        Some("startpos") => {
            return match words.next() {
                None | Some("moves") => {
                    Ok(SetPosition { start: Position::startpos(), moves: words.map(String::from).collect() })
                }
                Some(_) => Err(ParseError::Position),
            };
        }
        Some("fen") => words.by_ref().take_while(|&word| word != "moves").collect::<Vec<_>>().join(" "),
        _ => return Err(ParseError::Position),
    };
    let start = start.parse().map_err(ParseError::Fen)?;
    Ok(SetPosition { start, moves: words.map(String::from).collect() })
}

fn parse_go(mut words: SplitAsciiWhitespace) -> Result<Go, ParseError> {
    let mut go = Go::default();
    while let Some(word) = words.next() {
        match word {
            "depth" => go.depth = Some(number(word, words.next())?),
            "nodes" => go.nodes = Some(number(word, words.next())?),
            "movetime" => go.movetime = Some(milliseconds(word, words.next())?),
            "wtime" => go.time[0] = Some(milliseconds(word, words.next())?),
            "btime" => go.time[1] = Some(milliseconds(word, words.next())?),
            "winc" => go.increment[0] = milliseconds(word, words.next())?,
            "binc" => go.increment[1] = milliseconds(word, words.next())?,
            "movestogo" => go.moves_to_go = Some(number(word, words.next())?),
            "perft" => go.perft = Some(number(word, words.next())?),
            "infinite" => go.infinite = true,
            _ => {}
        }
    }
    Ok(go)
}

/// `name` and `value` may both hold spaces, and the value, which may be a path, several in a row.
fn parse_option(line: &str, mut words: SplitAsciiWhitespace) -> Result<Command, ParseError> {
    if words.next() != Some("name") {
        return Err(ParseError::SetOption);
    }
    let name = words.by_ref().take_while(|&word| word != "value").collect::<Vec<_>>().join(" ");
    // What is left of the line begins with the first word of the value.
    let value = words.next().map_or("", |first| &line[first.as_ptr().addr() - line.as_ptr().addr()..]);
    Ok(Command::SetOption { name, value: value.trim_ascii_end().into() })
}

/// Numbers beyond the range of the type count as its largest.
fn number<T: std::str::FromStr<Err = std::num::ParseIntError> + Bounded>(
    what: &str,
    text: Option<&str>,
) -> Result<T, ParseError> {
    let text = text.unwrap_or_default();
    text.parse().or_else(|error: std::num::ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => Ok(T::MAX),
        _ => Err(ParseError::Number { what: what.into(), text: text.into() }),
    })
}

trait Bounded {
    const MAX: Self;
}

impl Bounded for u32 {
    const MAX: Self = u32::MAX;
}

impl Bounded for u64 {
    const MAX: Self = u64::MAX;
}

impl Bounded for i64 {
    const MAX: Self = i64::MAX;
}

/// Some GUIs send negative times when a clock has run out.
fn milliseconds(what: &str, text: Option<&str>) -> Result<Duration, ParseError> {
    let value: i64 = number(what, text)?;
    Ok(Duration::from_millis(value.max(0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(line: &str) -> Go {
        match parse(line) {
            Ok(Some(Command::Go(go))) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn go_with_everything() {
        let ms = Duration::from_millis;
        let all =
            go("go wtime 1000 btime -5 winc 10 binc 20 movestogo 7 depth 3 nodes 99 movetime 50 infinite perft 4");
        assert_eq!((all.depth, all.nodes, all.movetime), (Some(3), Some(99), Some(ms(50))));
        assert_eq!((all.time, all.increment), ([Some(ms(1000)), Some(ms(0))], [ms(10), ms(20)]));
        assert_eq!((all.moves_to_go, all.perft, all.infinite), (Some(7), Some(4), true));
        assert_eq!(go("go"), Go::default());
        assert_eq!(go("go   unknown depth   5 words"), Go { depth: Some(5), ..Go::default() });
    }

    #[test]
    fn numbers_that_are_none() {
        for line in ["go depth", "go depth x", "go nodes -3", "go wtime 1.5", "bench x"] {
            assert!(matches!(parse(line), Err(ParseError::Number { .. })), "{line}");
        }
        assert_eq!(go("go nodes 99999999999999999999999").nodes, Some(u64::MAX));
    }

    #[test]
    fn unknown_words_are_skipped() {
        assert_eq!(parse("joho isready"), Ok(Some(Command::IsReady)));
        assert_eq!(parse("  \t "), Ok(None));
        assert!(matches!(parse("what is this"), Err(ParseError::Unknown(_))));
    }

    #[test]
    fn options_with_spaces() {
        let option = |name: &str, value: &str| Ok(Some(Command::SetOption { name: name.into(), value: value.into() }));
        assert_eq!(parse("setoption name Move Overhead value 10"), option("Move Overhead", "10"));
        assert_eq!(parse("setoption name EvalFile value a b/c d"), option("EvalFile", "a b/c d"));
        assert_eq!(parse(" setoption  name  EvalFile  value  a  b/value  c \t"), option("EvalFile", "a  b/value  c"));
        assert_eq!(parse("setoption name Clear Hash"), option("Clear Hash", ""));
        assert_eq!(parse("setoption Hash 3"), Err(ParseError::SetOption));
    }

    #[test]
    fn positions() {
        let position = |line: &str| match parse(line) {
            Ok(Some(Command::Position(set))) => *set,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(position("position startpos").start, Position::startpos());
        assert_eq!(position("position startpos moves e2e4 e7e5").moves, ["e2e4", "e7e5"]);
        let set = position("position fen 8/8/8/8/8/4k3/4p3/4K3 b - - 3 9 moves e3d3");
        assert_eq!((set.start.fen(false).as_str(), set.moves.len()), ("8/8/8/8/8/4k3/4p3/4K3 b - - 3 9", 1));
        for line in ["position", "position e2e4", "position startpos e2e4"] {
            assert_eq!(parse(line), Err(ParseError::Position), "{line}");
        }
        assert!(matches!(parse("position fen 8/8 w - - 0 1"), Err(ParseError::Fen(_))));
    }
}
