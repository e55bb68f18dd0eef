//! The commands of the protocol as types, and their parser.

use crate::board::{FenError, Position};
use crate::quote::quote;
use std::fmt;
use std::iter::Peekable;
use std::str::SplitAsciiWhitespace;
use std::time::Duration;

/// A line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`: identify yourself and list the options.
    Uci,
    /// `isready`: answer `readyok`.
    IsReady,
    /// `ucinewgame`: the next position is from another game.
    NewGame,
    /// `position startpos|fen FEN [moves …]`.
    Position(Box<SetPosition>),
    /// `go …`.
    Go(Box<Go>),
    /// `perft N` and `go perft N`: count move sequences.
    Perft(u32),
    /// `stop`: end the search and send its move.
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
    /// `eval`: show the network's score, piece by piece.
    Eval,
    /// `bench [DEPTH]`: search fixed positions.
    Bench(Option<u32>),
    /// `genfens N seed S book FILE|None`: print random openings. Holds the words after `genfens`.
    GenFens(String),
    /// `help`: list commands and options.
    Help,
    /// `compiler`: show version, network, instruction set and compiler.
    Compiler,
    /// `license`: show the licence.
    License,
    /// `spsa`: list the parameters of the search for a tuner.
    #[cfg(feature = "tune")]
    Spsa,
    /// `quit`: end the program.
    Quit,
}

/// The arguments of `position`: where the game starts, and the moves played from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPosition {
    /// The starting position.
    pub start: Position,
    /// What was ignored in its FEN, as [`Position::from_fen_lenient`] returns it.
    pub ignored: Vec<FenError>,
    /// Moves in UCI notation, not yet checked for legality.
    pub moves: Vec<String>,
}

/// The arguments of `go`; all may be combined. Negative numbers count as 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// `searchmoves MOVE …`, up to the next keyword; not yet checked for legality.
    pub search_moves: Vec<String>,
    /// `depth N` in plies.
    pub depth: Option<u32>,
    /// `nodes N`.
    pub nodes: Option<u64>,
    /// `mate N`: end the search at a mate in N moves or fewer.
    pub mate: Option<u32>,
    /// `movetime N` in milliseconds.
    pub movetime: Option<Duration>,
    /// `wtime N`, `btime N`: the time left on each clock in milliseconds, White's first.
    pub time: [Option<Duration>; 2],
    /// `winc N`, `binc N`: the increment per move in milliseconds, White's first.
    pub increment: [Duration; 2],
    /// `movestogo N`. Some GUIs send 0 when no time control follows; it is read as `None`.
    pub moves_to_go: Option<u32>,
    /// `infinite`: send no move before `stop`, and ignore the clock.
    pub infinite: bool,
    /// `ponder`: send no move before `ponderhit` or `stop`.
    pub ponder: bool,
    /// Unknown words, and keywords without a valid number. They are skipped rather than refused: a GUI that gets no
    /// move waits for ever.
    pub errors: Vec<ParseError>,
}

/// Why a line cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// No word of the line is a command.
    Unknown(String),
    /// A word after `go` is no keyword.
    Go(String),
    /// A number is missing or wrong.
    Number {
        /// The keyword before it.
        keyword: String,
        /// The word in its place; empty at the end of the line.
        text: String,
    },
    /// The FEN is malformed or its position illegal.
    Fen(FenError),
    /// `position` without `startpos` or `fen`, or `startpos` followed by a word other than `moves`.
    Position,
    /// `setoption` without `name`.
    SetOption,
    /// A word follows the depth of `bench`.
    Bench(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unknown(line) => write!(f, "unknown command {}; \"help\" lists the commands", quote(line)),
            Self::Go(word) => write!(f, "unknown word {} after \"go\"; \"help\" lists the limits", quote(word)),
            Self::Number { keyword, text } => {
                write!(f, "bad number {} after {keyword:?}: expected a whole number", quote(text))
            }
            Self::Fen(error) => write!(f, "{error}"),
            Self::Position => {
                write!(f, "expected \"position startpos\" or \"position fen FEN\", then nothing or \"moves\"")
            }
            Self::SetOption => write!(f, "\"setoption\" must be followed by \"name\""),
            Self::Bench(word) => write!(f, "unexpected word {}: \"bench\" takes only a depth", quote(word)),
        }
    }
}

impl std::error::Error for ParseError {}

impl Command {
    /// Returns whether the command is executed at once: it addresses a running search or is independent of all other
    /// commands.
    pub fn is_urgent(&self) -> bool {
        use Command::{Compiler, Help, IsReady, License, PonderHit, Quit, Stop, Uci};
        matches!(self, Uci | IsReady | Stop | PonderHit | Compiler | Help | License | Quit)
    }

    /// Returns whether the command must wait until no search runs.
    pub fn needs_idle(&self) -> bool {
        matches!(self, Self::SetOption { .. } | Self::NewGame) || self.ends_search()
    }

    /// Returns whether the command stops a search that would not end by itself.
    pub fn ends_search(&self) -> bool {
        matches!(self, Self::Go(_) | Self::Perft(_) | Self::Bench(_) | Self::GenFens(_) | Self::Quit)
    }
}

type Words<'a> = Peekable<SplitAsciiWhitespace<'a>>;

/// Parses a line of input. Returns `None` for a blank line and for commands without effect (`debug`, `register`).
///
/// Unknown words before a command are skipped, as the protocol demands.
///
/// # Errors
/// If no word is a command, or the arguments of the command are invalid.
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
            "bench" => parse_bench(words)?,
            "genfens" => Command::GenFens(words.collect::<Vec<_>>().join(" ")),
            "help" => Command::Help,
            "compiler" => Command::Compiler,
            "license" => Command::License,
            #[cfg(feature = "tune")]
            "spsa" => Command::Spsa,
            "quit" => Command::Quit,
            // Part of the protocol, without effect here: there is no debug mode and no registration.
            "debug" | "register" => return Ok(None),
            _ => continue,
        }));
    }
    if line.trim().is_empty() { Ok(None) } else { Err(ParseError::Unknown(line.trim().into())) }
}

fn parse_position(mut words: Words) -> Result<SetPosition, ParseError> {
    let fen = match words.next() {
        Some("startpos") => {
            return match words.next() {
                None | Some("moves") => {
                    let (start, moves) = (Position::startpos(), words.map(String::from).collect());
                    Ok(SetPosition { start, ignored: Vec::new(), moves })
                }
                Some(_) => Err(ParseError::Position),
            };
        }
        Some("fen") => words.by_ref().take_while(|&word| word != "moves").collect::<Vec<_>>().join(" "),
        _ => return Err(ParseError::Position),
    };
    let (start, ignored) = Position::from_fen_lenient(&fen).map_err(ParseError::Fen)?;
    Ok(SetPosition { start, ignored, moves: words.map(String::from).collect() })
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
        let parsed = match word {
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
            _ => Err(ParseError::Go(word.into())),
        };
        if let Err(error) = parsed {
            // A bad number is reported once.
            if matches!(error, ParseError::Number { .. }) {
                words.next_if(|word| !KEYWORDS.contains(word));
            }
            go.errors.push(error);
        }
    }
    Ok(Command::Go(go))
}

fn parse_bench(mut words: Words) -> Result<Command, ParseError> {
    if words.peek().is_none() {
        return Ok(Command::Bench(None));
    }
    let depth = number("bench", &mut words)?;
    words.next().map_or(Ok(Command::Bench(Some(depth))), |word| Err(ParseError::Bench(word.into())))
}

/// Parses `name NAME [value VALUE]`. Both may contain spaces; the value, which may be a path, keeps runs of spaces.
fn parse_option(line: &str, mut words: Words) -> Result<Command, ParseError> {
    if words.next() != Some("name") {
        return Err(ParseError::SetOption);
    }
    let name = words.by_ref().take_while(|&word| word != "value").collect::<Vec<_>>().join(" ");
    // The value is the rest of the line from its first word on.
    let value = words.next().map_or("", |first| &line[first.as_ptr().addr() - line.as_ptr().addr()..]);
    Ok(Command::SetOption { name, value: value.trim_ascii_end().into() })
}

/// Parses the next word as a number and clamps it to the range of its type: GUIs send negative times when a clock has
/// run out, fractions of milliseconds, and huge numbers for "no limit". A word that is no number is not consumed.
fn number<T: TryFrom<u64> + Bounded>(keyword: &str, words: &mut Words) -> Result<T, ParseError> {
    let text = words.peek().copied().unwrap_or_default();
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|float| {
        // An f64 does not represent every u64, but it covers what overflows one.
        let whole = text.parse().unwrap_or(float as u64);
        T::try_from(whole).unwrap_or(T::MAX)
    });
    if value.is_some() {
        words.next();
    }
    value.ok_or(ParseError::Number { keyword: keyword.into(), text: text.into() })
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

fn milliseconds(keyword: &str, words: &mut Words) -> Result<Duration, ParseError> {
    number(keyword, words).map(Duration::from_millis)
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
        assert_eq!((all.search_moves, all.errors), (vec!["e2e4".to_owned(), "d2d4".into()], vec![]));
        assert_eq!(go("go"), Go::default());
        let errors = ["unknown", "words"].map(|word| ParseError::Go(word.into())).to_vec();
        assert_eq!(go("go   unknown depth   5 words"), Go { depth: Some(5), errors, ..Go::default() });
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
    fn invalid_numbers() {
        let error = |keyword: &str, text: &str| ParseError::Number { keyword: keyword.into(), text: text.into() };
        for text in ["x", "nan", "inf", "0x10", "--1", "1e999"] {
            let go = go(&format!("go depth {text} nodes 7"));
            assert_eq!((go.depth, go.nodes, go.errors), (None, Some(7), vec![error("depth", text)]), "{text}");
        }
        let go = go("go wtime btime 300 depth");
        assert_eq!((go.time, go.errors.len()), ([None, Some(Duration::from_millis(300))], 2));
        assert_eq!(parse("bench x"), Err(error("bench", "x")));
        assert_eq!(parse("bench 1 2"), Err(ParseError::Bench("2".into())));
        assert_eq!(parse("perft"), Err(error("perft", "")));
        assert_eq!(parse("go perft x"), Err(error("perft", "x")));
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
