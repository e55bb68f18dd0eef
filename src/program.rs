//! What the binary does: it reads the arguments and runs the command.

use crate::cli::{self, Perft, Task};
use kiln::board::Position;
use kiln::nnue::Network;
use kiln::tools::analyse::analyse;
use kiln::tools::progress::{ProgressDisplay, short};
use kiln::tools::speedtest::speedtest;
#[cfg(feature = "tune")]
use kiln::tools::tune;
use kiln::tools::{bench, data, datagen, interrupt, net, perft, version};
use kiln::types::Move;
use kiln::uci::Engine;
use std::error::Error;
use std::io::{self, BufReader, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the command and returns the exit status. Not inlined, because it may use all features that the binary was built
/// for.
#[inline(never)]
pub fn start() -> u8 {
    let result = cli::parse().and_then(|task| Ok(run(task).or_else(ignore_closed_pipe)?));
    match result {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("kiln: {error}");
            1
        }
    }
}

fn run(task: Task) -> io::Result<()> {
    let mut out = io::stdout();
    match task {
        Task::Uci => {
            if io::stdin().is_terminal() {
                writeln!(
                    out,
                    "Kiln {}, a UCI chess engine. To play against it, add this binary to a chess GUI.",
                    version::VERSION
                )?;
                writeln!(
                    out,
                    "Or type: position startpos moves e2e4, then go movetime 1000, then quit. \"kiln help\" lists other uses."
                )?;
            }
            Engine::new().run(BufReader::new(io::stdin()));
        }
        Task::UciCommands(lines) => Engine::new().run_lines(&lines).map_err(io::Error::other)?,
        Task::Analyse(analysis) => analyse(&analysis, &Network::embedded())?,
        Task::Speedtest(test) => print_lines(|print| speedtest(&test, &Network::embedded(), print))?,
        Task::Bench(depth) => print_lines(|print| bench::bench(depth, &Network::embedded(), &Arc::default(), print))?,
        Task::Perft(perft) => {
            let Perft { position, depth, threads, divide } = *perft;
            let (counts, time) = watch_perft(&position, depth, threads);
            let seconds = time.as_secs_f64();
            if divide {
                for (mv, leaves) in &counts {
                    writeln!(out, "{}: {leaves}", mv.uci(position.is_chess960()))?;
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
            let stop = interrupt::stop_flag();
            print_lines(|print| datagen::datagen(&task.settings, &network, &stop, print))?;
        }
        Task::Data(task) => print_lines(|print| data::run(&task, print))?,
        #[cfg(feature = "tune")]
        Task::Tune(settings) => {
            let stop = interrupt::stop_flag();
            print_lines(|print| tune::tune(&settings, &Network::embedded(), &stop, print))?;
        }
        #[cfg(feature = "tune")]
        Task::TuneGames(names) => {
            // Ctrl-C goes to this process too, but the one that asks for games says when to end.
            let _ = interrupt::stop_flag();
            tune::play_games(&names, &Network::embedded(), BufReader::new(io::stdin()), io::stdout())?;
        }
        Task::Version => write!(out, "{}", version::describe(&Network::embedded()))?,
        Task::Print(text) => write!(out, "{text}")?,
    }
    out.flush()
}

/// Counts the leaves for each root move and shows the progress on standard error. Returns the time too.
fn watch_perft(position: &Position, depth: u32, threads: usize) -> (Vec<(Move, u64)>, Duration) {
    let progress = perft::Progress::default();
    let watcher = thread::current();
    thread::scope(|scope| {
        let counter = scope.spawn(|| {
            let start = Instant::now();
            let counts = perft::divide_watched(position, depth, threads, &progress, &AtomicBool::new(false));
            let time = start.elapsed();
            watcher.unpark();
            (counts, time)
        });
        let mut display = None;
        while !counter.is_finished() {
            thread::park_timeout(Duration::from_millis(100));
            let [total, done, leaves] =
                [&progress.total, &progress.done, &progress.leaves].map(|count| count.load(Relaxed));
            // The number of parts is known once the moves are listed.
            if total > 0 {
                display.get_or_insert_with(|| ProgressDisplay::new(total, 0)).update(
                    done,
                    |_| format!("{done} of {total} parts, {} leaves", short(leaves as f64)),
                    // Nobody may be reading.
                    |line| drop(writeln!(io::stderr(), "{line}")),
                );
            }
        }
        counter.join().expect("perft does not panic")
    })
}

/// Calls `work` with a function that prints a line to standard output.
fn print_lines<E: Into<Box<dyn Error + Send + Sync>>>(
    work: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), E>,
) -> io::Result<()> {
    let mut result = Ok(());
    let mut print = |line: &str| {
        if result.is_ok() {
            result = writeln!(io::stdout(), "{line}");
        }
    };
    work(&mut print).map_err(io::Error::other)?;
    result
}

/// Turns a closed pipe, as in `kiln … | head`, into success.
fn ignore_closed_pipe(error: io::Error) -> Result<(), String> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.to_string()) }
}
