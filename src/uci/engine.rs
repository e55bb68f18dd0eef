use super::command::{Command, Go, SetPosition, parse};
use super::output::{Reporter, say};
use crate::board::{History, Position};
use crate::nnue::{Evaluator, Network};
use crate::search::{Clock, Limits, MAX_MEGABYTES, STACK, Search, Signals, Threads, TranspositionTable};
use crate::tools::{bench, perft};
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Hash in megabytes unless the GUI says otherwise.
const DEFAULT_HASH: usize = 16;
/// Milliseconds set aside for what happens between engine and clock.
const DEFAULT_OVERHEAD: u64 = 30;
const MAX_OVERHEAD: u64 = 10_000;

const HELP: &str = "\
uci                                         name and options
isready                                     answers readyok, also during a search
ucinewgame                                  forgets what was learnt in the last game
position startpos|fen FEN [moves MOVE ...]  sets up a position
go [depth N] [nodes N] [movetime MS] [wtime MS] [btime MS] [winc MS] [binc MS] [movestogo N] [infinite]
                                            searches; without a limit until stop
go perft N                                  counts move sequences
stop                                        ends the search with its best move
setoption name NAME [value VALUE]           changes an option
d, eval, bench [DEPTH]                      board, network's score, fixed search
quit";

/// The engine behind the protocol: a game, its options, and perhaps a search in another thread.
#[derive(Debug)]
pub struct Engine {
    position: Position,
    history: History,
    network: Network,
    table: Arc<RwLock<TranspositionTable>>,
    overhead: Duration,
    chess960: bool,
    signals: Arc<Signals>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    thread: JoinHandle<()>,
    /// Set before the move is printed: from then on the GUI may send anything, though the thread has yet to end.
    done: Arc<AtomicBool>,
    /// Whether it ends by itself.
    bounded: bool,
}

/// Whether to go on reading.
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine at the starting position.
    ///
    /// # Panics
    /// If not even the default hash can be allocated.
    pub fn new() -> Self {
        let table = TranspositionTable::new(DEFAULT_HASH).unwrap_or_else(|error| panic!("{error}"));
        Self {
            position: Position::startpos(),
            history: History::new(),
            network: Network::embedded(),
            table: Arc::new(RwLock::new(table)),
            overhead: Duration::from_millis(DEFAULT_OVERHEAD),
            chess960: false,
            signals: Arc::new(Signals::default()),
            running: None,
        }
    }

    /// Answers line after line until `quit` or the end of input. A search is then stopped if it has no end of its own, and finished if it has.
    pub fn run(&mut self, input: impl BufRead) {
        for line in input.split(b'\n') {
            let Ok(line) = line else { break };
            match parse(&String::from_utf8_lossy(&line)) {
                Ok(None) => {}
                Ok(Some(command)) => {
                    if self.execute(command) == Flow::Quit {
                        self.stop_search();
                        return;
                    }
                }
                Err(error) => say!("info string {error}"),
            }
        }
        if self.running.as_ref().is_some_and(|running| running.bounded) {
            self.join();
        } else {
            self.stop_search();
        }
    }

    fn execute(&mut self, command: Command) -> Flow {
        match command {
            Command::Uci => self.introduce(),
            Command::IsReady => say!("readyok"),
            Command::Stop => self.stop_search(),
            Command::Quit => return Flow::Quit,
            Command::Help => say!("{HELP}"),
            Command::Display => say!("{}", self.position),
            Command::Eval => {
                let score = Evaluator::new(self.network.clone(), &self.position).evaluate(&self.position);
                say!("info string network {} says {score} for the side to move", self.network.name());
            }
            // What follows is refused while a search runs.
            command => {
                if self.is_searching() {
                    say!("info string a search is running: send \"stop\" first");
                } else {
                    self.execute_idle(command);
                }
            }
        }
        Flow::Continue
    }

    fn execute_idle(&mut self, command: Command) {
        self.join();
        match command {
            Command::NewGame => self.clear_table(),
            Command::Position(set) => self.set_position(*set),
            Command::Go(go) => self.go(&go),
            Command::SetOption { name, value } => {
                if let Err(reason) = self.set_option(&name, &value) {
                    say!("info string {reason}");
                }
            }
            Command::Bench(depth) => bench::bench(depth, &self.network, |line| say!("{line}")),
            _ => unreachable!("answered by execute"),
        }
    }

    fn introduce(&self) {
        say!("id name Kiln {}", env!("CARGO_PKG_VERSION"));
        say!("id author the Kiln developers");
        say!("option name Hash type spin default {DEFAULT_HASH} min 1 max {MAX_MEGABYTES}");
        say!("option name Clear Hash type button");
        say!("option name Threads type spin default 1 min 1 max 1");
        say!("option name Move Overhead type spin default {DEFAULT_OVERHEAD} min 0 max {MAX_OVERHEAD}");
        say!("option name EvalFile type string default <empty>");
        say!("option name UCI_Chess960 type check default false");
        say!("uciok");
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number =
            |least: u64, most: u64| {
                value.parse().ok().filter(|number| (least..=most).contains(number)).ok_or(format!(
                    "bad value {value:?} for option {name}: expected a whole number from {least} to {most}"
                ))
            };
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                let table = TranspositionTable::new(number(1, MAX_MEGABYTES as u64)? as usize);
                *self.table.write().expect("no search panics") = table.map_err(|error| error.to_string())?;
            }
            "clear hash" => self.clear_table(),
            "threads" => drop(number(1, 1)?),
            "evalfile" => self.set_network(value)?,
            "move overhead" => self.overhead = Duration::from_millis(number(0, MAX_OVERHEAD)?),
            "uci_chess960" => {
                self.chess960 = match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(format!("bad value {value:?} for option {name}: expected \"true\" or \"false\"")),
                };
            }
            _ => return Err(format!("there is no option {name:?}; \"uci\" lists them")),
        }
        Ok(())
    }

    /// Takes the network of an asset, or the embedded one; if the asset cannot be used, the network stays as it was.
    fn set_network(&mut self, path: &str) -> Result<(), String> {
        self.network = match path {
            "" | "<empty>" | "none" => Network::embedded(),
            path => Network::load(Path::new(path)).map_err(|error| {
                format!("network {path:?} is not used: {error}; network {} stays", self.network.name())
            })?,
        };
        say!("info string network {} scores positions from now on", self.network.name());
        // Scores of another network are of no use.
        self.clear_table();
        Ok(())
    }

    fn clear_table(&mut self) {
        self.table.write().expect("no search panics").clear(1);
    }

    /// Sets up a position if all of its moves are legal; else says which is not and leaves the position as it was.
    fn set_position(&mut self, set: SetPosition) {
        let mut position = set.start;
        let mut history = History::new();
        for text in &set.moves {
            let Some(mv) = position.parse_move(text) else {
                say!(
                    "info string illegal move {text:?} in {}: the position stays as it was",
                    position.fen(self.chess960)
                );
                return;
            };
            history.push(&position);
            position = position.make(mv);
        }
        (self.position, self.history) = (position, history);
    }

    fn go(&mut self, go: &Go) {
        if let Some(depth) = go.perft {
            return self.perft(depth);
        }
        let limits = self.limits(go);
        let reporter = Reporter { chess960: self.chess960 };
        let (position, history) = (self.position.clone(), self.history.clone());
        let network = self.network.clone();
        let (table, signals) = (Arc::clone(&self.table), Arc::clone(&self.signals));
        signals.stop.store(false, Relaxed);
        let bounded = limits.is_bounded();
        let done = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&done);
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
            let mut reporter = reporter;
            let table = table.read().expect("nobody panics with the table in hand");
            let search = Search {
                position: &position,
                history: &history,
                moves: &[],
                lines: 1,
                limits: &limits,
                network: &network,
                table: &table,
                signals: &signals,
            };
            let outcome = Threads::new(1).search(&search, &mut reporter);
            // With no end of its own, a search that has nothing left to look at still waits for `stop`.
            while !bounded && !signals.stop.load(Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            drop(table);
            over.store(true, Release);
            match outcome.best {
                Some(best) => say!("bestmove {}", best.uci(reporter.chess960)),
                None => say!("bestmove (none)"),
            }
        });
        let thread = match thread {
            Ok(thread) => thread,
            Err(error) => return say!("info string cannot start a search: {error}"),
        };
        self.running = Some(Running { thread, done, bounded });
    }

    fn limits(&self, go: &Go) -> Limits {
        let overhead = self.overhead;
        if go.infinite {
            return Limits { overhead, ..Limits::default() };
        }
        let side = self.position.side_to_move();
        let clock = go.time[side].map(|remaining| Clock {
            remaining,
            increment: go.increment[side],
            moves_to_go: go.moves_to_go,
        });
        // Only the other side's clock was sent: play as if it were ours rather than for ever.
        let clock = clock.or_else(|| {
            let (remaining, increment) = (go.time[!side]?, go.increment[!side]);
            Some(Clock { remaining, increment, moves_to_go: go.moves_to_go })
        });
        Limits { depth: go.depth, nodes: go.nodes, movetime: go.movetime, clock, overhead, ..Limits::default() }
    }

    fn perft(&self, depth: u32) {
        let mut total = 0;
        for (mv, leaves) in perft::divide(&self.position, depth, 1) {
            say!("{}: {leaves}", mv.uci(self.chess960));
            total += leaves;
        }
        say!("\nNodes searched: {total}");
    }

    fn is_searching(&self) -> bool {
        self.running.as_ref().is_some_and(|running| !running.done.load(Acquire))
    }

    fn join(&mut self) {
        if let Some(running) = self.running.take() {
            running.thread.join().expect("a search does not panic");
        }
    }

    fn stop_search(&mut self) {
        self.signals.stop.store(true, Relaxed);
        self.join();
    }
}
