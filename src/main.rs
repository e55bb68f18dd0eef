//! The binary: UCI on standard input, or one command given as arguments.

use kiln::board::Position;
use kiln::tools::{bench, perft, tables};
use kiln::uci::Engine;
use lexopt::prelude::*;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

const HELP: &str = "\
Kiln, a chess engine that speaks UCI.

  kiln                    UCI on standard input; a chess program starts it like this
  kiln bench [DEPTH]      search fixed positions; the node count identifies the version
  kiln perft DEPTH [FEN]  count move sequences, by first move, from FEN or the start
  kiln tables             list the tables that the build fired
  kiln tables PIECE SQUARE [OCCUPIED]
                          draw what a rook, bishop, queen, knight, king, white-pawn
                          or black-pawn attacks; OCCUPIED is hexadecimal as in
                          0x1000, squares as in e6 g4, or a FEN
  kiln tables between|line SQUARE SQUARE
                          draw the squares between two, or the line through them
  kiln tables superpiece SQUARE
                          draw the slots of a queen and knight in one
  kiln help | --help      this text
  kiln --version          the version

FEN may be one argument or several.
";

enum Task {
    Uci,
    Bench(Option<u32>),
    Perft(u32, Box<Position>),
    Print(String),
}

fn main() -> ExitCode {
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
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Task::Print(HELP.into())),
            Short('V') | Long("version") => return Ok(Task::Print(format!("Kiln {}\n", env!("CARGO_PKG_VERSION")))),
            Value(word) => words.push(word.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let depth = |text: &str| {
        let least = text.parse().ok().filter(|&depth: &u32| depth > 0);
        least.ok_or(format!("bad depth {text:?}: expected a whole number from 1"))
    };
    Ok(match words[..] {
        [] => Task::Uci,
        ["help"] => Task::Print(HELP.into()),
        ["bench"] => Task::Bench(None),
        ["bench", text] => Task::Bench(Some(depth(text)?)),
        ["perft"] => return Err("perft needs a depth, as in: kiln perft 6".into()),
        ["perft", text] => Task::Perft(depth(text)?, Box::new(Position::startpos())),
        ["perft", text, ref fen @ ..] => {
            let position = fen.join(" ").parse().map_err(|error| format!("{error}"))?;
            Task::Perft(depth(text)?, Box::new(position))
        }
        ["tables"] => Task::Print(tables::describe()),
        ["tables", ref words @ ..] => Task::Print(tables::draw(words)?),
        [command, ..] => {
            return Err(
                format!("cannot do {command:?} with these arguments; \"kiln help\" lists what can be done").into()
            );
        }
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
            Engine::new().run(io::stdin().lock());
        }
        Task::Bench(depth) => {
            let mut result = Ok(());
            bench::bench(depth, |line| result = writeln!(out, "{line}"));
            result?;
        }
        Task::Perft(depth, position) => {
            let start = std::time::Instant::now();
            let mut total = 0;
            for (mv, leaves) in perft::divide(&position, depth) {
                writeln!(out, "{}: {leaves}", mv.uci(false))?;
                total += leaves;
            }
            let seconds = start.elapsed().as_secs_f64();
            writeln!(out, "\n{total} nodes {} nps", (total as f64 / seconds) as u64)?;
        }
        Task::Print(text) => write!(out, "{text}")?,
    }
    out.flush()
}

/// `kiln … | head` is no error.
fn ignore_closed_pipe(error: io::Error) -> Result<(), String> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.to_string()) }
}
