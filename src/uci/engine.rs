use super::command::{Command, Go, SetPosition, parse};
use super::options::{self, DEFAULT_HASH, Settings};
use super::output::{Output, Reporter, Style, say};
use super::strength;
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::search::{Clock, Limits, STACK, SearchRequest, SearchResult, Signals, Threads, TranspositionTable};
use crate::tablebases::{self, Files, Tablebases};
use crate::tools::{bench, eval, genfens, perft};
use crate::types::Move;
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Thread};

const COMMANDS: &str = "\
uci                                         name and options
isready                                     answers readyok, also during a search
ucinewgame                                  forgets what was learnt in the last game
position startpos|fen FEN [moves MOVE ...]  sets up a position
go [depth N] [nodes N] [mate N] [movetime MS] [wtime MS] [btime MS] [winc MS] [binc MS] [movestogo N]
   [infinite] [ponder] [searchmoves MOVE ...]
                                            searches; without a limit until stop
stop                                        ends the search with its best move
ponderhit                                   the opponent has played the expected move
setoption name NAME [value VALUE]           changes an option
perft N, go perft N                         counts move sequences
d                                           draws the board
eval                                        the network's score, piece by piece
bench [DEPTH]                               searches fixed positions
genfens N seed S book FILE|None             N random openings, for OpenBench
help, license, quit";

/// The engine behind the protocol: a game, its options, and perhaps a search in another thread.
///
/// Lines of input and the end of a search come as events, one after another. What has to wait for the end of a search waits in a queue, so that no command is lost
/// and all take effect in the order in which they came; `stop`, `ponderhit`, `isready` and the like never wait.
#[derive(Debug)]
pub struct Engine {
    position: Position,
    history: GameHistory,
    network: Network,
    pub(super) settings: Settings,
    pub(super) output: Output,
    /// Absent while a search has them.
    resources: Option<Box<SearchResources>>,
    running: Option<Running>,
    /// Commands to be executed in this order.
    waiting: VecDeque<Command>,
    events: Receiver<Event>,
    sender: Sender<Event>,
}

/// What a search has for itself while it runs, and keeps for the next.
#[derive(Debug)]
struct SearchResources {
    threads: Threads,
    tt: TranspositionTable,
    /// Endgame tablebases.
    tablebases: Option<Tablebases>,
}

#[derive(Debug)]
struct Running {
    thread: Thread,
    signals: Arc<Signals>,
    /// Whether it ends by itself, once it does not ponder any more.
    is_bounded: bool,
}

#[derive(Debug)]
enum Event {
    Line(String),
    /// There are no more lines.
    End,
    /// A search is over. Whatever a GUI says to its move comes after this.
    Over(Box<SearchResources>),
}

/// Whether to go on.
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

impl Running {
    fn ends(&self) -> bool {
        self.is_bounded && !self.signals.pondering.load(Relaxed)
    }

    fn stop(&self) {
        self.signals.stop.store(true, Relaxed);
        self.thread.unpark();
    }

    fn ponder_hit(&self) {
        self.signals.pondering.store(false, Relaxed);
        self.thread.unpark();
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine at the starting position that answers on standard output.
    ///
    /// # Panics
    /// If not even the default hash can be allocated.
    pub fn new() -> Self {
        Self::with_output(io::stdout())
    }

    /// One that answers elsewhere: each line is written and flushed before the next.
    ///
    /// # Panics
    /// If not even the default hash can be allocated.
    pub fn with_output(output: impl Write + Send + 'static) -> Self {
        let tt = TranspositionTable::new(DEFAULT_HASH).unwrap_or_else(|error| panic!("{error}"));
        let threads = Threads::new(1).unwrap_or_else(|error| panic!("{error}"));
        let (sender, events) = mpsc::channel();
        Self {
            position: Position::startpos(),
            history: GameHistory::new(),
            network: Network::embedded(),
            settings: Settings::default(),
            output: Output::new(output),
            resources: Some(Box::new(SearchResources { threads, tt, tablebases: None })),
            running: None,
            waiting: VecDeque::new(),
            events,
            sender,
        }
    }

    /// Answers line after line until `quit` or the end of input. A search is then stopped if it has no end of its own, and finished if it has.
    pub fn run(&mut self, input: impl BufRead + Send + 'static) {
        let sender = self.sender.clone();
        // It may be waiting for a line when the engine quits: nobody waits for it in turn.
        thread::spawn(move || {
            for line in input.split(b'\n').map_while(Result::ok) {
                if sender.send(Event::Line(String::from_utf8_lossy(&line).into_owned())).is_err() {
                    return;
                }
            }
            // If nobody listens, all is over.
            let _ = sender.send(Event::End);
        });
        while self.next() == Flow::Continue {}
        self.signal(Running::stop);
        while self.running.is_some() {
            if let Event::Over(resources) = self.event() {
                self.search_is_over(resources);
            }
        }
    }

    fn event(&self) -> Event {
        self.events.recv().expect("the engine has a sender itself")
    }

    fn next(&mut self) -> Flow {
        match self.event() {
            Event::Line(line) => {
                self.output.heard(line.trim_end());
                match parse(&line) {
                    Ok(Some(command)) => return self.take(command),
                    Ok(None) => {}
                    Err(error) => say!(self.output, "info string {error}"),
                }
            }
            // Waits until all is done.
            Event::End => self.waiting.push_back(Command::Quit),
            Event::Over(resources) => self.search_is_over(resources),
        }
        self.execute_waiting()
    }

    fn search_is_over(&mut self, resources: Box<SearchResources>) {
        (self.resources, self.running) = (Some(resources), None);
        self.output.wait();
    }

    fn take(&mut self, command: Command) -> Flow {
        if command.is_urgent() {
            // Searches that have not begun are meant as well.
            if command == Command::Stop && !self.waiting.is_empty() {
                self.waiting.push_back(Command::Stop);
            }
            return self.execute(command);
        }
        let is_option = matches!(command, Command::SetOption { .. });
        self.waiting.push_back(command);
        let flow = self.execute_waiting();
        if is_option && !self.waiting.is_empty() {
            say!(self.output, "info string the option will be set when the search is over");
        }
        flow
    }

    /// Executes what waits, as far as it need not wait longer.
    fn execute_waiting(&mut self) -> Flow {
        while let Some(command) = self.waiting.front() {
            if let Some(running) = &self.running
                && command.needs_idle()
            {
                // Whatever stands before it, a `stop` resources this search too, and no other search need wait for one without an end.
                let mut waiting = self.waiting.iter();
                if waiting.any(|command| *command == Command::Stop || command.ends_search() && !running.ends()) {
                    running.stop();
                }
                break;
            }
            if let Some(command) = self.waiting.pop_front()
                && self.execute(command) == Flow::Quit
            {
                return Flow::Quit;
            }
        }
        Flow::Continue
    }

    fn execute(&mut self, command: Command) -> Flow {
        match command {
            Command::Uci => self.introduce(),
            Command::IsReady => say!(self.output, "readyok"),
            Command::Stop => self.signal(Running::stop),
            Command::PonderHit => self.signal(Running::ponder_hit),
            Command::Help => self.help(),
            Command::License => say!(self.output, "{}", LICENSE.trim_end()),
            Command::Display => say!(self.output, "{}", self.position),
            Command::Eval => say!(self.output, "{}", eval::describe(&self.position, &self.network)),
            Command::Position(set) => self.set_position(*set),
            Command::NewGame => self.forget(),
            Command::SetOption { name, value } => {
                if let Err(reason) = options::set(self, &name, &value) {
                    say!(self.output, "info string {reason}");
                }
            }
            Command::Go(go) => self.go(&go),
            Command::Perft(depth) => self.perft(depth),
            Command::Bench(depth) => bench::bench(depth, &self.network, |line| say!(self.output, "{line}")),
            Command::GenFens(request) => {
                let print = |line: &str| say!(self.output, "{line}");
                let done = request.parse().and_then(|request| genfens::genfens(&request, &self.network, print));
                if let Err(reason) = done {
                    say!(self.output, "info string {reason}");
                }
            }
            #[cfg(feature = "tune")]
            Command::Spsa => options::spsa().iter().for_each(|line| say!(self.output, "{line}")),
            Command::Quit => return Flow::Quit,
        }
        Flow::Continue
    }

    fn signal(&self, signal: fn(&Running)) {
        if let Some(running) = &self.running {
            signal(running);
        }
    }

    fn introduce(&self) {
        say!(self.output, "id name Kiln {}", env!("CARGO_PKG_VERSION"));
        say!(self.output, "id author the Kiln developers");
        for definition in options::options() {
            say!(self.output, "{definition}");
        }
        #[cfg(feature = "tune")]
        for line in options::parameters() {
            say!(self.output, "{line}");
        }
        say!(self.output, "uciok");
    }

    fn help(&self) {
        say!(self.output, "{COMMANDS}\n\noptions:");
        for definition in options::options() {
            say!(self.output, "{:<18} {}", definition.name, definition.help);
        }
    }

    /// # Panics
    /// During a search.
    fn resources(&mut self) -> &mut SearchResources {
        self.resources.as_mut().expect("what needs them waits for the end of the search")
    }

    pub(super) fn set_hash(&mut self, megabytes: usize) -> Result<(), String> {
        let SearchResources { threads, tt, .. } = self.resources();
        // GUIs send all options again and again.
        if tt.megabytes() != megabytes {
            *tt = TranspositionTable::new(megabytes).map_err(|error| error.to_string())?;
            // Not every GUI sends `ucinewgame`.
            tt.clear(threads.count());
        }
        Ok(())
    }

    pub(super) fn set_threads(&mut self, count: usize) -> Result<(), String> {
        let threads = &mut self.resources().threads;
        if threads.count() != count {
            *threads = Threads::new(count).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Takes the network of an asset, or the embedded one; if the asset cannot be used, the network stays as it was.
    pub(super) fn set_network(&mut self, path: &str) -> Result<(), String> {
        self.network = match path {
            "" => Network::embedded(),
            path => Network::load(Path::new(path)).map_err(|error| {
                format!("network {path:?} is not used: {error}; network {} stays", self.network.name())
            })?,
        };
        say!(self.output, "info string network {} scores positions from now on", self.network.name());
        // Scores of another network are of no use.
        self.forget();
        Ok(())
    }

    /// Takes the endgame tablebases in these folders, or none; if they cannot be used, those before stay.
    pub(super) fn set_tablebases(&mut self, path: &str) -> Result<(), String> {
        let complain = |error: tablebases::TablebaseError| format!("SyzygyPath stays as it was: {error}");
        let found = if path.is_empty() { None } else { Some(Files::find(path).map_err(complain)?) };
        // There can be but one set at a time.
        self.resources().tablebases = None;
        if let Some(found) = found {
            let tablebases = found.open().map_err(complain)?;
            let (files, pieces) = (tablebases.file_count(), tablebases.max_pieces());
            say!(self.output, "info string {files} Syzygy files found, for up to {pieces} pieces");
            self.resources().tablebases = Some(tablebases);
        }
        Ok(())
    }

    /// Forgets all that earlier searches have found.
    pub(super) fn forget(&mut self) {
        let SearchResources { threads, tt, .. } = self.resources();
        threads.clear();
        tt.clear(threads.count());
    }

    /// Sets up a position if all of its moves are legal; else says which is not and leaves the position as it was.
    fn set_position(&mut self, set: SetPosition) {
        let mut position = set.start;
        let mut history = GameHistory::new();
        for text in &set.moves {
            let Some(mv) = position.parse_move(text) else {
                let fen = position.fen(self.settings.chess960);
                say!(self.output, "info string illegal move {text:?} in {fen}: the position stays as it was");
                return;
            };
            history.push(&position);
            position = position.make(mv);
        }
        (self.position, self.history) = (position, history);
    }

    fn go(&mut self, go: &Go) {
        for fault in &go.faults {
            say!(self.output, "info string {fault}");
        }
        let limits = self.limits(go);
        let moves = self.search_moves(go);
        // A mate may be looked for in vain.
        let is_bounded = !go.infinite && Limits { mate: None, ..limits.clone() }.is_bounded();
        let waits_for_stop = go.infinite || !limits.is_bounded();

        let Settings { lines, chess960, show_chances, is_limited, elo, probing, .. } = self.settings;
        let chances = show_chances.then(|| Style::chances(&self.position, &self.network));
        let style = Style { chess960, lines: lines as usize, chances };
        let candidates = if is_limited { style.lines.max(strength::CHOICES) } else { style.lines };
        let most = if moves.is_empty() { self.position.moves().len() } else { moves.len() };
        let lines = candidates.min(most).max(1);

        let signals = Arc::new(Signals::default());
        signals.pondering.store(go.ponder, Relaxed);
        let (output, sender, said) = (self.output.clone(), self.sender.clone(), Arc::clone(&signals));
        let (position, history, network) = (self.position.clone(), self.history.clone(), self.network.clone());
        // The resources follow once there is a thread: if there is none, they are not lost.
        let (give, take) = mpsc::sync_channel::<Box<SearchResources>>(1);
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
            let _guard = AbortOnPanic;
            let Ok(mut resources) = take.recv() else { return };
            let search = SearchRequest {
                position: &position,
                history: &history,
                search_moves: &moves,
                multi_pv: lines,
                limits: &limits,
                network: &network,
                tt: &resources.tt,
                tablebases: resources.tablebases.as_ref(),
                probing,
                signals: &said,
            };
            let mut reporter = Reporter::new(output.clone(), style);
            let mut outcome = resources.threads.search(&search, &mut reporter);
            if outcome.best.is_none() {
                say!(output, "info depth 0 score {}", outcome.score);
            }
            if is_limited && let Some(chosen) = strength::choose(reporter.into_candidates(), elo) {
                if outcome.best != Some(chosen.best) {
                    // The last line shown is that of the move.
                    say!(output, "{}", chosen.text);
                }
                (outcome.best, outcome.ponder) = (Some(chosen.best), chosen.ponder);
            }
            // What has nothing left to look at still waits for `stop` or `ponderhit`.
            while !said.stop.load(Relaxed) && (waits_for_stop || said.pondering.load(Relaxed)) {
                thread::park();
            }
            let answer = answer(&outcome, chess960);
            // The resources go back before the move is out, so that the engine is idle when the GUI hears of it.
            // If the engine is gone, nobody needs the resources.
            let hand_back = move || drop(sender.send(Event::Over(resources)));
            output.line_after(hand_back, format_args!("{answer}"));
        });
        match thread {
            Ok(thread) => {
                self.running = Some(Running { thread: thread.thread().clone(), signals, is_bounded });
                let resources = self.resources.take().expect("what searches waits for the end of the search before");
                give.send(resources).expect("the thread takes them before anything else");
            }
            Err(error) => {
                say!(self.output, "info string cannot start a search: {error}");
                say!(self.output, "bestmove (none)");
            }
        }
    }

    /// The moves that are asked for and legal; empty for all.
    fn search_moves(&self, go: &Go) -> Vec<Move> {
        let mut moves = Vec::new();
        for text in &go.search_moves {
            match self.position.parse_move(text) {
                Some(mv) if moves.contains(&mv) => {}
                Some(mv) => moves.push(mv),
                None => say!(self.output, "info string illegal move {text:?} after \"searchmoves\" is skipped"),
            }
        }
        if moves.is_empty() && !go.search_moves.is_empty() {
            say!(self.output, "info string no legal move after \"searchmoves\": all moves are searched");
        }
        moves
    }

    fn limits(&self, go: &Go) -> Limits {
        let &Go { depth, nodes, mate, movetime, moves_to_go, .. } = go;
        let Settings { overhead, is_limited, elo, .. } = self.settings;
        let side = self.position.side_to_move();
        // Where only the other side's clock was sent, play as if it were ours rather than for ever.
        let clock = [side, !side]
            .into_iter()
            .find_map(|side| Some(Clock { remaining: go.time[side]?, increment: go.increment[side], moves_to_go }));
        let limits = Limits { depth, nodes, mate, movetime, clock, overhead, soft_nodes: None };
        let limits = if go.infinite { Limits { movetime: None, clock: None, ..limits } } else { limits };
        // Without a limit it is analysis, which has to go on.
        if is_limited && limits.is_bounded() {
            let nodes = nodes.unwrap_or(u64::MAX).min(strength::nodes(elo));
            return Limits { nodes: Some(nodes), ..limits };
        }
        limits
    }

    fn perft(&self, depth: u32) {
        let mut total = 0;
        for (mv, leaves) in perft::divide(&self.position, depth, 1) {
            say!(self.output, "{}: {leaves}", mv.uci(self.settings.chess960));
            total += leaves;
        }
        say!(self.output, "\nNodes searched: {total}");
    }
}

fn answer(outcome: &SearchResult, chess960: bool) -> String {
    match (outcome.best, outcome.ponder) {
        (Some(best), Some(ponder)) => format!("bestmove {} ponder {}", best.uci(chess960), ponder.uci(chess960)),
        (Some(best), None) => format!("bestmove {}", best.uci(chess960)),
        (None, _) => "bestmove (none)".into(),
    }
}

/// Ends the program if the thread that holds it panics: a GUI notices that, whereas it would wait for the move of a dead thread for ever. Release builds
/// abort at any panic.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            process::abort();
        }
    }
}

const LICENSE: &str = concat!(
    "Kiln is free software under the MIT licence or the Apache License 2.0, as you like; the latter is at\n",
    "https://www.apache.org/licenses/LICENSE-2.0, the former is this:\n\n",
    include_str!("../../LICENSE-MIT")
);
