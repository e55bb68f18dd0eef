//! The command line: parses the arguments into a [`Task`].

mod analyse;
mod data;
mod help;
mod net;
#[cfg(feature = "tune")]
mod tune;

pub use data::Datagen;

use kiln::board::Position;
use kiln::quote::quote;
use kiln::search::MAX_MEGABYTES;
use kiln::tools::analyse::Analysis;
use kiln::tools::paint::Paint;
use kiln::tools::perft::check_depth;
use kiln::tools::speedtest::Speedtest;
use kiln::tools::{MAX_THREADS, tables};
use kiln::uci::{self, ParseError};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// The default hash of a speedtest in megabytes per thread, that of Stockfish's speedtest.
const SPEEDTEST_HASH_PER_THREAD: usize = 128;
/// The default duration of a speedtest in seconds.
const SPEEDTEST_SECONDS: usize = 60;
/// The longest duration of a speedtest in seconds: a day.
const MAX_SPEEDTEST_SECONDS: usize = 86_400;

/// What the program is to do.
pub enum Task {
    /// UCI on standard input.
    Uci,
    /// Lines of UCI from the command line.
    UciCommands(String),
    Speedtest(Speedtest),
    Analyse(Box<Analysis>),
    /// The depth; `None` for the default.
    Bench(Option<u32>),
    Perft(Box<Perft>),
    Net(kiln::tools::net::Task),
    Datagen(Box<Datagen>),
    Data(kiln::tools::data::Task),
    #[cfg(feature = "tune")]
    Tune(Box<kiln::tools::tune::Settings>),
    /// The names of the parameters for the games that `kiln tune` asks for.
    #[cfg(feature = "tune")]
    TuneGames(Vec<String>),
    Version,
    /// Print this text.
    Print(String),
}

/// The arguments of `kiln perft`.
pub struct Perft {
    pub position: Position,
    pub depth: u32,
    pub threads: usize,
    /// Print the count of each root move.
    pub divide: bool,
}

/// Parses the arguments of the program.
///
/// # Errors
/// In one sentence that says which argument is wrong and what is allowed.
pub fn parse() -> Result<Task, lexopt::Error> {
    let mut arguments = Arguments { parser: lexopt::Parser::from_env(), option: None };
    let mut words = Vec::new();
    let (mut threads, mut divide) = (None, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Task::Print(help::help())),
            Short('V') | Long("version") => return Ok(Task::Version),
            Long("threads") => threads = Some(arguments.number(1..=MAX_THREADS)?),
            Long("divide") => divide = true,
            Value(word) if words.is_empty() && threads.is_none() && !divide => {
                // These commands parse their own arguments, among them file names, which need not be Unicode.
                let task = match word.to_str() {
                    Some("net") => net::parse(&mut arguments)?.map(Task::Net),
                    Some("datagen") => data::datagen(&mut arguments)?.map(Task::Datagen),
                    Some("data") => data::data(&mut arguments)?.map(Task::Data),
                    Some("analyse") => analyse::parse(&mut arguments)?.map(Task::Analyse),
                    #[cfg(feature = "tune")]
                    Some("tune") => tune::tune(&mut arguments)?.map(Task::Tune),
                    #[cfg(feature = "tune")]
                    Some(kiln::tools::tune::GAMES_COMMAND) => Some(Task::TuneGames(tune::names(&mut arguments)?)),
                    _ => {
                        let word = word.string()?;
                        // Before its options, which are unknown too.
                        if !["speedtest", "tables"].contains(&word.as_str()) && !is_uci(&word) {
                            let what = format!("unknown command {}; \"kiln help\" lists the commands", quote(&word));
                            return Err(what.into());
                        }
                        words.push(word);
                        continue;
                    }
                };
                return Ok(task.unwrap_or_else(|| Task::Print(help::help())));
            }
            Value(word) => words.push(word.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.first() != Some(&"perft") && (threads.is_some() || divide) {
        return Err("--threads and --divide are for perft, as in: kiln perft 6 --threads 2".into());
    }
    let perft = |depth: &str, position| -> Result<Task, lexopt::Error> {
        let depth = read_depth(depth)?;
        check_depth(depth)?;
        Ok(Task::Perft(Box::new(Perft { position, depth, threads: threads.unwrap_or(1), divide })))
    };
    Ok(match words[..] {
        [] => Task::Uci,
        ["help", ..] => Task::Print(help::help()),
        ["bench"] => Task::Bench(None),
        ["bench", text] if !is_uci(text) => Task::Bench(Some(read_depth(text)?)),
        ["speedtest", ref numbers @ ..] => Task::Speedtest(read_speedtest(numbers)?),
        ["perft"] => return Err("perft needs a depth, as in: kiln perft 6".into()),
        ["perft", depth, ref fen @ ..] => perft(depth, read_fen(&fen.join(" "))?)?,
        ["tables"] => Task::Print(tables::describe(Paint::of_stdout())),
        ["tables", ref words @ ..] => Task::Print(tables::draw(words, Paint::of_stdout())?),
        _ => Task::UciCommands(join_commands(&words)),
    })
}

/// Returns whether a text begins with a UCI command.
fn is_uci(text: &str) -> bool {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    !matches!(uci::parse(first), Ok(None) | Err(ParseError::Unknown(_)))
}

/// Joins words into lines of UCI. Each word that is a command begins a line, so that it does not matter whether the
/// shell keeps words together.
fn join_commands(words: &[&str]) -> String {
    let (mut lines, mut last) = (String::new(), "");
    for &word in words {
        // The castling rights of a FEN may be those of the rook on file d.
        let is_argument = last == "go" && word.starts_with("perft") || word == "d" && ["w", "b"].contains(&last);
        lines += if is_uci(word) && !is_argument { "\n" } else { " " };
        lines += word;
        last = word;
    }
    lines
}

/// Parses the arguments after `speedtest`: threads, hash, seconds.
fn read_speedtest(words: &[&str]) -> Result<Speedtest, String> {
    const EXAMPLE: &str = "as in: kiln speedtest 2 256 30";
    let number =
        |index: usize, what, default, max: usize| match words.get(index) {
            None => Ok(default),
            Some(text) => text.parse().ok().filter(|number| (1..=max).contains(number)).ok_or(format!(
                "bad {what} {text:?} for speedtest: expected a whole number from 1 to {max}, {EXAMPLE}"
            )),
        };
    if words.len() > 3 {
        return Err(format!("speedtest takes at most threads, hash and seconds, {EXAMPLE}"));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = number(0, "number of threads", processors, MAX_THREADS)?;
    let megabytes = number(1, "hash in MB", SPEEDTEST_HASH_PER_THREAD * threads, MAX_MEGABYTES)?;
    let seconds = number(2, "time in seconds", SPEEDTEST_SECONDS, MAX_SPEEDTEST_SECONDS)?;
    Ok(Speedtest { threads, megabytes, time: Duration::from_secs(seconds as u64) })
}

/// Parses a FEN, and says on standard error what is ignored in it. The starting position is `startpos` or nothing.
fn read_fen(text: &str) -> Result<Position, String> {
    if ["", "startpos"].contains(&text) {
        return Ok(Position::startpos());
    }
    let (position, ignored) = Position::from_fen_lenient(text).map_err(|error| error.to_string())?;
    for error in ignored {
        eprintln!("kiln: ignored in the FEN: {error}");
    }
    Ok(position)
}

/// Parses a depth, which may still be too great.
fn read_depth(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Ok(u32::MAX),
        depth => depth.map_err(|_| format!("bad depth {}: expected a whole number", quote(text))),
    }
}

/// The arguments of the program that are still to be parsed.
struct Arguments {
    parser: lexopt::Parser,
    /// The last long option, without dashes, for error messages.
    option: Option<String>,
}

impl Arguments {
    fn next(&mut self) -> Result<Option<lexopt::Arg<'_>>, lexopt::Error> {
        let argument = self.parser.next()?;
        if let Some(Long(name)) = argument {
            self.option = Some(name.into());
        }
        Ok(argument)
    }

    /// Returns the value of the last option.
    fn value(&mut self) -> Result<OsString, lexopt::Error> {
        self.parser.value()
    }

    /// Parses the value of the last option. The error names the option and quotes the value.
    fn parse<T, E: Display>(&mut self, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, lexopt::Error> {
        let text = self.value()?.string()?;
        let option = self.option.as_deref().unwrap_or_default();
        parse(&text).map_err(|error| format!("bad value {} for --{option}: {error}", quote(&text)).into())
    }

    /// Parses the value of the last option as a whole number in this range.
    fn number<T: FromStr + PartialOrd + Display>(&mut self, range: RangeInclusive<T>) -> Result<T, lexopt::Error> {
        self.parse(|text| {
            let number = text.parse().ok().filter(|number| range.contains(number));
            number.ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
        })
    }
}
