//! The binary: UCI on standard input, or one command given as arguments.

mod analyse_arguments;
#[cfg(target_arch = "x86_64")]
mod cpu;
mod data_arguments;
mod net_arguments;

use kiln::board::Position;
use kiln::nnue::Network;
use kiln::search::MAX_MEGABYTES;
use kiln::tools::analyse::{Analysis, analyse};
use kiln::tools::speedtest::{Speedtest, speedtest};
use kiln::tools::{bench, data, datagen, net, perft, tables};
use kiln::uci::{self, Engine, ParseError};
use lexopt::prelude::*;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, BufReader, IsTerminal, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

const HELP: &str = "\
Kiln, a chess engine that speaks UCI.

  kiln                    UCI on standard input; a chess program starts it like this
  kiln bench [DEPTH]      search fixed positions; the node count identifies the version
  kiln speedtest [THREADS] [HASH] [SECONDS]
                          search the positions of some games; nodes a second
  kiln analyse [FEN | startpos] [moves MOVE ...] [--time SECONDS] [--depth N]
                  [--lines N] [--hash MB] [--threads N]
                          show the best lines; moves like e2e4 or Nf3
  kiln perft DEPTH [FEN] [--divide] [--threads N]
                          count move sequences from FEN or the start, on N threads,
                          and by first move
  kiln tables             list the tables that the build fired
  kiln tables PIECE SQUARE [OCCUPIED]
                          draw what a rook, bishop, queen, knight, king, white-pawn
                          or black-pawn attacks; OCCUPIED is hexadecimal as in
                          0x1000, squares as in e6 g4, or a FEN
  kiln tables between|line SQUARE SQUARE
                          draw the squares between two, or the line through them
  kiln tables superpiece SQUARE
                          draw the slots of a queen and knight in one
  kiln net info FILE      what a network's file says of itself
  kiln net verify FILE    check its hash and its expected scores
  kiln net import QUANTISED FILE --hidden N [--layers N,N] [--mirrored]
                  [--merged-kings] [--threats] [--king-buckets LIST]
                  [--output-buckets N] [--qa N] [--qb N] [--scale N] [--name TEXT]
                          make a network's file of what the trainer bullet wrote;
                          LIST is 64 numbers for a1 to h8, or a file of them; with
                          layers the first takes pairwise products
  kiln net export FILE QUANTISED
                          write the weights as bullet does
  kiln datagen FOLDER --positions N [--nodes N] [--threads N] [--seed N]
                  [--network FILE] [--frc PERCENT] [--hash MB] [--shard N]
                  [--commit TEXT]
                          play against itself until there are N positions to learn
                          from, in shards of 250000 or --shard of them; nodes: 1000 a
                          move or a little more; frc: how many games start from
                          Chess960 (20). The same command makes the same bytes, and
                          goes on where it was stopped
  kiln data stat FILE…    tables of scores, pieces, results, lengths, duplicates
  kiln data verify FILE…  check hashes, moves and results
  kiln data merge FOLDER FILE…
  kiln data shuffle FOLDER FILE… [--seed N]
                          write all games into shards in FOLDER, in order or not; a
                          FILE may be a folder of shards
  kiln COMMAND ...        commands of UCI, as in: kiln position startpos go depth 9
  kiln help | --help      this text
  kiln --version          the version

FEN may be one argument or several.
";

/// More than this a machine hardly has, and a system hardly gives.
const MAX_THREADS: usize = 1024;

enum Task {
    Uci,
    Lines(String),
    Speedtest(Speedtest),
    Analyse(Box<Analysis>),
    Bench(Option<u32>),
    Perft(Box<Perft>),
    Net(net::Task),
    Datagen(Box<data_arguments::Datagen>),
    Data(data::Task),
    Print(String),
}

struct Perft {
    position: Position,
    depth: u32,
    threads: usize,
    divide: bool,
}

fn main() -> ExitCode {
    #[cfg(target_arch = "x86_64")]
    if cpu::lacks_features() {
        // If this cannot be written, the exit status still tells.
        let _ = io::stderr().write_all(cpu::COMPLAINT.as_bytes());
        return ExitCode::FAILURE;
    }
    start()
}

/// All that may use whatever the binary was built for.
#[inline(never)]
fn start() -> ExitCode {
    let done = parse().and_then(|task| Ok(run(task).or_else(ignore_closed_pipe)?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kiln: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse() -> Result<Task, lexopt::Error> {
    let mut arguments = lexopt::Parser::from_env();
    let mut words = Vec::new();
    let (mut threads, mut divide) = (None, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Task::Print(HELP.into())),
            Short('V') | Long("version") => return Ok(Task::Print(format!("Kiln {}\n", env!("CARGO_PKG_VERSION")))),
            Long("threads") => threads = Some(read_number(&mut arguments, 1..=MAX_THREADS)?),
            Long("divide") => divide = true,
            Value(word) if words.is_empty() && threads.is_none() && !divide => {
                // Names of files need not be text.
                let task = match word.to_str() {
                    Some("net") => net_arguments::parse(&mut arguments)?.map(Task::Net),
                    Some("datagen") => data_arguments::datagen(&mut arguments)?.map(Task::Datagen),
                    Some("data") => data_arguments::data(&mut arguments)?.map(Task::Data),
                    Some("analyse") => analyse_arguments::parse(&mut arguments)?.map(Task::Analyse),
                    _ => {
                        words.push(word.string()?);
                        continue;
                    }
                };
                return Ok(task.unwrap_or(Task::Print(HELP.into())));
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
        Ok(Task::Perft(Box::new(Perft { position, depth: read_depth(depth)?, threads: threads.unwrap_or(1), divide })))
    };
    Ok(match words[..] {
        [] => Task::Uci,
        ["help"] => Task::Print(HELP.into()),
        ["bench"] => Task::Bench(None),
        ["bench", text] => Task::Bench(Some(read_depth(text)?)),
        ["speedtest", ref numbers @ ..] => Task::Speedtest(read_speedtest(numbers)?),
        ["perft"] => return Err("perft needs a depth, as in: kiln perft 6".into()),
        ["perft", depth] => perft(depth, Position::startpos())?,
        ["perft", depth, ref fen @ ..] => perft(depth, fen.join(" ").parse().map_err(|error| format!("{error}"))?)?,
        ["tables"] => Task::Print(tables::describe()),
        ["tables", ref words @ ..] => Task::Print(tables::draw(words)?),
        [first, ..] if is_uci(first) => Task::Lines(join_commands(&words)),
        [command, ..] => {
            return Err(
                format!("cannot do {command:?} with these arguments; \"kiln help\" lists what can be done").into()
            );
        }
    })
}

/// Whether it begins with a command of UCI.
fn is_uci(text: &str) -> bool {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    !matches!(uci::parse(first), Ok(None) | Err(ParseError::Unknown(_)))
}

/// Lines of UCI: a word that is a command begins one, so that it makes no difference whether a shell was told to keep words together.
fn join_commands(words: &[&str]) -> String {
    let mut lines = String::new();
    for word in words {
        lines += if is_uci(word) { "\n" } else { " " };
        lines += word;
    }
    lines
}

fn read_speedtest(words: &[&str]) -> Result<Speedtest, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let number = |place: usize, what, default, most: usize| {
        match words.get(place) {
        None => Ok(default),
        Some(text) => text.parse().ok().filter(|number| (1..=most).contains(number)).ok_or(format!(
            "bad {what} {text:?} for speedtest: expected a whole number from 1 to {most}, as in: kiln speedtest 2 256 30"
        )),
    }
    };
    if words.len() > 3 {
        return Err("speedtest needs no more than threads, hash and seconds, as in: kiln speedtest 2 256 30".into());
    }
    let threads = number(0, "number of threads", threads, MAX_THREADS)?;
    // What Stockfish's test takes.
    let megabytes = number(1, "hash in MB", 128 * threads, MAX_MEGABYTES)?;
    let seconds = number(2, "time in seconds", 60, 86_400)?;
    Ok(Speedtest { threads, megabytes, time: Duration::from_secs(seconds as u64) })
}

fn read_depth(text: &str) -> Result<u32, String> {
    let depth = text.parse().ok().filter(|&depth| depth > 0);
    depth.ok_or(format!("bad depth {text:?}: expected a whole number from 1"))
}

/// The value of an option: a whole number in this range.
fn read_number<T>(arguments: &mut lexopt::Parser, range: RangeInclusive<T>) -> Result<T, lexopt::Error>
where
    T: FromStr + PartialOrd + Display,
{
    arguments.value()?.parse_with(|text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a whole number from {} to {}", range.start(), range.end()))
    })
}

fn run(task: Task) -> io::Result<()> {
    let mut out = io::stdout();
    match task {
        Task::Uci => {
            if io::stdin().is_terminal() {
                writeln!(
                    out,
                    "Kiln {}, a UCI chess engine: add this binary to a chess program to play against it.",
                    env!("CARGO_PKG_VERSION")
                )?;
                writeln!(
                    out,
                    "Or type: position startpos moves e2e4, then go movetime 1000; quit ends. \"kiln help\" shows other uses."
                )?;
            }
            Engine::new().run(BufReader::new(io::stdin()));
        }
        Task::Lines(lines) => Engine::new().run(io::Cursor::new(lines)),
        Task::Analyse(analysis) => analyse(&analysis, &Network::embedded())?,
        Task::Speedtest(test) => print_lines(|print| speedtest(&test, &Network::embedded(), print))?,
        Task::Bench(depth) => print_lines(|print| {
            bench::bench(depth, &Network::embedded(), print);
            Ok::<_, String>(())
        })?,
        Task::Perft(perft) => {
            let Perft { position, depth, threads, divide } = *perft;
            let start = std::time::Instant::now();
            let counts = perft::divide(&position, depth, threads);
            let seconds = start.elapsed().as_secs_f64();
            if divide {
                for (mv, leaves) in &counts {
                    writeln!(out, "{}: {leaves}", mv.uci(false))?;
                }
                writeln!(out)?;
            }
            let total: u64 = counts.iter().map(|(_, leaves)| leaves).sum();
            writeln!(out, "{total} nodes {} nps", (total as f64 / seconds) as u64)?;
        }
        Task::Net(task) => print_lines(|print| net::run(&task, print))?,
        Task::Datagen(task) => {
            let network = match &task.network {
                Some(path) => Network::load(path)
                    .map_err(|error| io::Error::other(format!("cannot use the network {}: {error}", path.display())))?,
                None => Network::embedded(),
            };
            print_lines(|print| datagen::datagen(&task.settings, &network, print))?;
        }
        Task::Data(task) => print_lines(|print| data::run(&task, print))?,
        Task::Print(text) => write!(out, "{text}")?,
    }
    out.flush()
}

/// Does something that hands out lines, and writes them.
fn print_lines<E: Into<Box<dyn Error + Send + Sync>>>(
    work: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), E>,
) -> io::Result<()> {
    let mut result = Ok(());
    let done = work(&mut |line| result = writeln!(io::stdout(), "{line}"));
    done.map_err(io::Error::other)?;
    result
}

/// `kiln … | head` is no error.
fn ignore_closed_pipe(error: io::Error) -> Result<(), String> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.to_string()) }
}
