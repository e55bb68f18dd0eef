//! What a GUI may say, as types.

use crate::board::{FenError, Position};
use std::fmt;
use std::iter::Peekable;
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
    Go(Box<Go>),
    /// `perft N` and `go perft N`: count move sequences.
    Perft(u32),
    /// `stop`: give your move now.
    Stop,
    /// `ponderhit`: the opponent has played the expected move.
    PonderHit,
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
    /// `help`: list commands and options.
    Help,
    /// `license`.
    License,
    /// `spsa`: the parameters of the search for a tuner.
    #[cfg(feature = "tune")]
    Spsa,
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

/// What to search and how long; all may be combined. Negative numbers count as 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// `searchmoves MOVE …`, up to the next word that means something; not yet checked.
    pub search_moves: Vec<String>,
    /// `depth N`.
    pub depth: Option<u32>,
    /// `nodes N`.
    pub nodes: Option<u64>,
    /// `mate N`: a mate in so many moves is enough.
    pub mate: Option<u32>,
    /// `movetime N` in milliseconds.
    pub movetime: Option<Duration>,
    /// `wtime N`, `btime N`: what is left on the clocks, White's first.
    pub time: [Option<Duration>; 2],
    /// `winc N`, `binc N`.
    pub increment: [Duration; 2],
    /// `movestogo N`; some GUIs send 0 where there is no time control to come, which counts as nothing said.
    pub moves_to_go: Option<u32>,
    /// `infinite`: no move before `stop`, and no clock.
    pub infinite: bool,
    /// `ponder`: no move before `ponderhit` or `stop`.
    pub ponder: bool,
    /// Words after which a number is missing: they are skipped, for a GUI that gets no move at all would wait for ever.
    pub faults: Vec<ParseError>,
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

impl Command {
    /// Whether it is for a running search or does not depend on what other commands do, so that it never waits for them.
    pub fn is_urgent(&self) -> bool {
        use Command::{Help, IsReady, License, PonderHit, Quit, Stop, Uci};
        matches!(self, Uci | IsReady | Stop | PonderHit | Help | License | Quit)
    }

    /// Whether it has to wait for the end of a search.
    pub fn needs_idle(&self) -> bool {
        matches!(self, Self::SetOption { .. } | Self::NewGame) || self.ends_search()
    }

    /// Whether whoever sends it cannot mean to wait for a search without an end.
    pub fn ends_search(&self) -> bool {
        matches!(self, Self::Go(_) | Self::Perft(_) | Self::Bench(_) | Self::GenFens(_) | Self::Quit)
    }
}

type Words<'a> = Peekable<SplitAsciiWhitespace<'a>>;

/// Reads a line; none if it is blank. Words before a command that are not understood are skipped, as the protocol asks.
pub fn parse(line: &str) -> Result<Option<Command>, ParseError> {
    let mut words = line.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        return Ok(Some(match word {
            "uci" => Command::Uci,
            "isready" => Command::IsReady,
            "ucinewgame" => Command::NewGame,
            "position" => Command::Position(Box::new(parse_position(words)?)),
            "go" => parse_go(words)?,
            "perft" => Command::Perft(number(word, &mut words)?),
            "stop" => Command::Stop,
            "ponderhit" => Command::PonderHit,
            "setoption" => parse_option(line, words)?,
            "d" => Command::Display,
            "eval" => Command::Eval,
            "bench" if words.peek().is_none() => Command::Bench(None),
            "bench" => Command::Bench(Some(number(word, &mut words)?)),
            "genfens" => Command::GenFens(words.collect::<Vec<_>>().join(" ")),
            "help" => Command::Help,
            "license" => Command::License,
            #[cfg(feature = "tune")]
            "spsa" => Command::Spsa,
            "quit" => Command::Quit,
            // Part of the protocol, and nothing to do: there is no mode for debugging, and nobody need register.
            "debug" | "register" => return Ok(None),
            _ => continue,
        }));
    }
    if line.trim().is_empty() { Ok(None) } else { Err(ParseError::Unknown(line.trim().into())) }
}

fn parse_position(mut words: Words) -> Result<SetPosition, ParseError> {
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

fn parse_go(mut words: Words) -> Result<Command, ParseError> {
    const KEYWORDS: [&str; 13] = [
        "searchmoves",
        "depth",
        "nodes",
        "mate",
        "movetime",
        "wtime",
        "btime",
        "winc",
        "binc",
        "movestogo",
        "infinite",
        "ponder",
        "perft",
    ];
    let mut go = Box::<Go>::default();
    while let Some(word) = words.next() {
        let understood = match word {
            "searchmoves" => {
                while let Some(mv) = words.next_if(|word| !KEYWORDS.contains(word)) {
                    go.search_moves.push(mv.into());
                }
                Ok(())
            }
            "depth" => number(word, &mut words).map(|depth| go.depth = Some(depth)),
            "nodes" => number(word, &mut words).map(|nodes| go.nodes = Some(nodes)),
            "mate" => number(word, &mut words).map(|moves| go.mate = Some(moves)),
            "movetime" => milliseconds(word, &mut words).map(|time| go.movetime = Some(time)),
            "wtime" => milliseconds(word, &mut words).map(|time| go.time[0] = Some(time)),
            "btime" => milliseconds(word, &mut words).map(|time| go.time[1] = Some(time)),
            "winc" => milliseconds(word, &mut words).map(|time| go.increment[0] = time),
            "binc" => milliseconds(word, &mut words).map(|time| go.increment[1] = time),
            "movestogo" => {
                number(word, &mut words).map(|moves| go.moves_to_go = Some(moves).filter(|&moves| moves > 0))
            }
            "perft" => return number(word, &mut words).map(Command::Perft),
            "infinite" => {
                go.infinite = true;
                Ok(())
            }
            "ponder" => {
                go.ponder = true;
                Ok(())
            }
            _ => Ok(()),
        };
        go.faults.extend(understood.err());
    }
    Ok(Command::Go(go))
}

/// `name` and `value` may both hold spaces, and the value, which may be a path, several in a row.
fn parse_option(line: &str, mut words: Words) -> Result<Command, ParseError> {
    if words.next() != Some("name") {
        return Err(ParseError::SetOption);
    }
    let name = words.by_ref().take_while(|&word| word != "value").collect::<Vec<_>>().join(" ");
    // What is left of the line begins with the first word of the value.
    let value = words.next().map_or("", |first| &line[first.as_ptr().addr() - line.as_ptr().addr()..]);
    Ok(Command::SetOption { name, value: value.trim_ascii_end().into() })
}

/// The number that follows, cut to the range of its type: GUIs send negative times when a clock has run out, fractions of milliseconds, and numbers
/// beyond all bounds for "no limit". If there is none, the next word is left where it is.
fn number<T: TryFrom<u64> + Bounded>(what: &str, words: &mut Words) -> Result<T, ParseError> {
    let text = words.peek().copied().unwrap_or_default();
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|float| {
        // Floating point has not enough digits for all whole numbers, but goes on where they end.
        let whole = text.parse().unwrap_or(float as u64);
        T::try_from(whole).unwrap_or(T::MAX)
    });
    if value.is_some() {
        words.next();
    }
    value.ok_or(ParseError::Number { what: what.into(), text: text.into() })
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

fn milliseconds(what: &str, words: &mut Words) -> Result<Duration, ParseError> {
    number(what, words).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(line: &str) -> Go {
        match parse(line) {
            Ok(Some(Command::Go(go))) => *go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn go_with_everything() {
        let ms = Duration::from_millis;
        let all = go("go wtime 1000 btime -5 winc 10 binc 20 movestogo 7 depth 3 searchmoves e2e4 d2d4 nodes 99 \
                      movetime 50 mate 6 infinite ponder");
        assert_eq!((all.depth, all.nodes, all.movetime, all.mate), (Some(3), Some(99), Some(ms(50)), Some(6)));
        assert_eq!((all.time, all.increment), ([Some(ms(1000)), Some(ms(0))], [ms(10), ms(20)]));
        assert_eq!((all.moves_to_go, all.infinite, all.ponder), (Some(7), true, true));
        assert_eq!((all.search_moves, all.faults), (vec!["e2e4".to_owned(), "d2d4".into()], vec![]));
        assert_eq!(go("go"), Go::default());
        assert_eq!(go("go   unknown depth   5 words"), Go { depth: Some(5), ..Go::default() });
        assert_eq!(go("go movestogo 0"), Go::default());
        assert_eq!(parse("go depth 3 perft 4"), Ok(Some(Command::Perft(4))));
        assert_eq!(parse("perft 4"), parse("go perft 4"));
    }

    #[test]
    fn search_moves_anywhere() {
        for line in [
            "go searchmoves e2e4 g1f3 depth 2",
            "go depth 2 searchmoves e2e4 g1f3",
            "go searchmoves e2e4 depth 2 searchmoves g1f3",
        ] {
            let go = go(line);
            assert_eq!((go.search_moves.join(" "), go.depth), ("e2e4 g1f3".into(), Some(2)), "{line}");
        }
        assert_eq!(go("go searchmoves"), Go::default());
    }

    #[test]
    fn numbers_out_of_range_or_with_fractions() {
        assert_eq!(go("go nodes 99999999999999999999999 depth 5000000000 movetime -1e400").depth, Some(u32::MAX));
        assert_eq!(go("go nodes 99999999999999999999999").nodes, Some(u64::MAX));
        assert_eq!(go("go nodes 9007199254740993").nodes, Some(9_007_199_254_740_993));
        assert_eq!((go("go nodes -3").nodes, go("go depth -1").depth), (Some(0), Some(0)));
        assert_eq!(go("go wtime 1234.5").time[0], Some(Duration::from_millis(1234)));
        assert_eq!(go("go wtime +7").time[0], Some(Duration::from_millis(7)));
    }

    #[test]
    fn numbers_that_are_none() {
        let fault = |what: &str, text: &str| ParseError::Number { what: what.into(), text: text.into() };
        for text in ["x", "nan", "inf", "0x10", "--1", "1e999"] {
            let go = go(&format!("go depth {text} nodes 7"));
            assert_eq!((go.depth, go.nodes, go.faults), (None, Some(7), vec![fault("depth", text)]), "{text}");
        }
        let go = go("go wtime btime 300 depth");
        assert_eq!((go.time, go.faults.len()), ([None, Some(Duration::from_millis(300))], 2));
        assert_eq!(parse("bench x"), Err(fault("bench", "x")));
        assert_eq!(parse("perft"), Err(fault("perft", "")));
        assert_eq!(parse("go perft x"), Err(fault("perft", "x")));
    }

    #[test]
    fn unknown_words_are_skipped() {
        assert_eq!(parse("joho isready"), Ok(Some(Command::IsReady)));
        assert_eq!(parse("  \t "), Ok(None));
        assert_eq!((parse("debug on"), parse("register later")), (Ok(None), Ok(None)));
        assert!(matches!(parse("what is this"), Err(ParseError::Unknown(_))));
    }

    #[test]
    fn options_with_spaces() {
        let option = |name: &str, value: &str| Ok(Some(Command::SetOption { name: name.into(), value: value.into() }));
        assert_eq!(parse("setoption name Move Overhead value 10"), option("Move Overhead", "10"));
        assert_eq!(parse("setoption name EvalFile value a b/c d"), option("EvalFile", "a b/c d"));
        assert_eq!(parse(" setoption  name  EvalFile  value  a  b/value  c \t\r"), option("EvalFile", "a  b/value  c"));
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
