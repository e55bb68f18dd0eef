//! The engine: it executes commands while a search runs in another thread.

use super::command::{Command, Go, SetPosition, parse};
use super::options::{self, DEFAULT_HASH, SetOption, Settings};
use super::output::{InfoFormat, InfoPrinter, Output, send};
use super::strength::Level;
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::quote::quote;
use crate::search::{Clock, Limits, MAX_PLY, STACK, SearchRequest, SearchResult, Signals, Threads, TranspositionTable};
use crate::tablebases::{Files, TablebaseError, Tablebases};
#[cfg(feature = "tools")]
use crate::tools::genfens;
use crate::tools::paint::{self, Paint, piece_cell};
use crate::tools::{bench, eval, perft, version};
use crate::types::{Move, Square};
use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Thread};
use std::time::Duration;

const COMMANDS: &str = "\
uci                                         show name and options
isready                                     answer readyok, also during a search
ucinewgame                                  clear the hash and histories for another game
position startpos|fen FEN [moves MOVE ...]  set up a position
go [depth N] [nodes N] [mate N] [movetime MS] [wtime MS] [btime MS] [winc MS] [binc MS] [movestogo N]
   [infinite] [ponder] [searchmoves MOVE ...]
                                            search; without a limit until stop
stop                                        end the search and show its move; end perft, bench or genfens
ponderhit                                   the opponent has played the expected move
setoption name NAME [value VALUE]           change an option
perft N, go perft N                         count the leaves of the move tree
d                                           draw the board
eval                                        show the network's score, piece by piece
bench [DEPTH]                               search fixed positions
genfens N seed S book FILE|None             print N random openings, for OpenBench
compiler                                    show version, network, instruction set and compiler
help, license
quit                                        end the program; during perft, bench or genfens after their result,
                                            unless it comes twice";

/// A command of builds for tuning.
const SPSA: &str = if cfg!(feature = "tune") {
    "\nspsa                                        list the parameters of the search for OpenBench"
} else {
    ""
};

/// The time of a search whose only limit could not be read.
const BAD_LIMIT_TIME: Duration = Duration::from_secs(1);

/// A UCI engine: a game, the options, and at most one search in another thread.
///
/// Lines of input and the end of a search are events, handled one after another. Commands that must wait for the end of
/// a search are queued, so that none is lost and all take effect in the order in which they came. `stop`, `ponderhit`,
/// `isready` and the like never wait. `perft`, `bench` and `genfens` run as a search does, but `quit` waits for their
/// result, unless it comes twice.
///
/// ```
/// use kiln::uci::Engine;
/// use std::io::{self, Write};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Clone, Default)]
/// struct Lines(Arc<Mutex<Vec<u8>>>);
///
/// impl Write for Lines {
///     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
///         self.0.lock().unwrap().write(bytes)
///     }
///     fn flush(&mut self) -> io::Result<()> {
///         Ok(())
///     }
/// }
///
/// let output = Lines::default();
/// let input = b"position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1\ngo depth 2\n";
/// Engine::with_output(output.clone()).run(&input[..]);
/// let output = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
/// assert!(output.contains("score mate 1 "));
/// assert!(output.ends_with("bestmove e1e8\n"));
/// ```
#[derive(Debug)]
pub struct Engine {
    position: Position,
    history: GameHistory,
    /// The target square of the last move, if the position was set up with moves.
    last_target: Option<Square>,
    network: Network,
    settings: Settings,
    output: Output,
    /// How boards are drawn.
    paint: Paint,
    /// `None` while a search uses them.
    resources: Option<Box<SearchResources>>,
    running: Option<RunningSearch>,
    /// Commands that wait for the end of the search, the next first.
    queue: VecDeque<Command>,
    events: Receiver<Event>,
    event_sender: Sender<Event>,
}

/// What a search owns while it runs. It is kept from search to search.
#[derive(Debug)]
struct SearchResources {
    threads: Threads,
    tt: TranspositionTable,
    tablebases: Option<Tablebases>,
}

#[derive(Debug)]
struct RunningSearch {
    thread: Thread,
    signals: Arc<Signals>,
    /// Whether the search ends by itself once it no longer ponders.
    is_bounded: bool,
    /// Whether it is `perft`, `bench` or `genfens`, for which `quit` waits: scripts send both at once.
    is_command: bool,
}

#[derive(Debug)]
enum Event {
    Line(String),
    EndOfInput,
    /// A search has finished. It precedes whatever the GUI sends in reply to the move. With the reason if it is a
    /// command that has failed or was stopped.
    SearchFinished(Box<SearchResources>, Result<(), String>),
}

/// Whether to handle further events.
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

impl RunningSearch {
    fn ends_by_itself(&self) -> bool {
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
    /// Creates an engine at the starting position that writes to standard output.
    ///
    /// # Panics
    /// If the system refuses the memory of the default transposition table or of the histories.
    pub fn new() -> Self {
        Self { paint: Paint::of_stdout(), ..Self::with_output(io::stdout()) }
    }

    /// Creates an engine at the starting position that writes to `output`. It flushes after each line.
    ///
    /// # Panics
    /// If the system refuses the memory of the default transposition table or of the histories.
    pub fn with_output(output: impl Write + Send + 'static) -> Self {
        let tt = TranspositionTable::new(DEFAULT_HASH).unwrap_or_else(|error| panic!("{error}"));
        let threads = Threads::new(1).unwrap_or_else(|error| panic!("{error}"));
        let (event_sender, events) = mpsc::channel();
        Self {
            position: Position::startpos(),
            history: GameHistory::new(),
            last_target: None,
            network: Network::embedded(),
            settings: Settings::default(),
            output: Output::new(output),
            paint: Paint::Plain,
            resources: Some(Box::new(SearchResources { threads, tt, tablebases: None })),
            running: None,
            queue: VecDeque::new(),
            events,
            event_sender,
        }
    }

    /// Executes lines of input until `quit` or the end of input. At `quit` a running search is stopped; at the end of
    /// input it is stopped only if it would not end by itself. Rejected lines are answered by an `info string`.
    pub fn run(&mut self, input: impl BufRead + Send + 'static) {
        let sender = self.event_sender.clone();
        // The thread is not joined: it may be waiting for a line when the engine quits.
        thread::spawn(move || {
            for line in input.split(b'\n').map_while(Result::ok) {
                if sender.send(Event::Line(String::from_utf8_lossy(&line).into_owned())).is_err() {
                    return;
                }
            }
            // An error means that the engine is gone.
            let _ = sender.send(Event::EndOfInput);
        });
        while self.handle_event() == Flow::Continue {}
        self.signal(RunningSearch::stop);
        let result = self.wait();
        self.report(result);
    }

    /// Executes lines of input up to the first that is rejected. Each except `stop` and `ponderhit` waits for the
    /// search before it, which is stopped if it would not end by itself; `quit` does too, so a bounded search comes to
    /// its end.
    ///
    /// # Errors
    /// If a line cannot be parsed, before any is executed; if a command is rejected; or if the output cannot be written
    /// for another reason than that nobody reads it.
    ///
    /// ```
    /// use kiln::uci::Engine;
    ///
    /// let mut engine = Engine::with_output(std::io::sink());
    /// assert!(engine.run_lines("position startpos moves e2e4\ngo depth 2\nquit").is_ok());
    /// let error = engine.run_lines("position startpos moves e2e5\ngo depth 2").unwrap_err();
    /// assert!(error.starts_with("illegal move \"e2e5\""));
    /// ```
    pub fn run_lines(&mut self, lines: &str) -> Result<(), String> {
        let mut commands = Vec::new();
        for line in lines.lines() {
            let Some(command) = parse(line).map_err(|error| error.to_string())? else { continue };
            if let Command::Go(go) = &command
                && let Some(error) = go.errors.first()
            {
                return Err(error.to_string());
            }
            commands.push((line, command));
        }
        for (line, command) in commands {
            self.output.log_input(line.trim());
            if !matches!(command, Command::Stop | Command::PonderHit) {
                self.wait()?;
            }
            if let Command::Go(go) = &command
                && let Some(text) = go.search_moves.iter().find(|text| self.position.parse_move(text).is_none())
            {
                return Err(format!("illegal move {} after \"searchmoves\"", quote(text)));
            }
            if self.execute(command)? == Flow::Quit {
                break;
            }
        }
        self.wait()?;
        self.output.take_error().map_or(Ok(()), |error| Err(error.to_string()))
    }

    /// Waits for the end of the search. Stops one that would not end by itself.
    fn wait(&mut self) -> Result<(), String> {
        if let Some(running) = self.running.as_ref().filter(|running| !running.ends_by_itself()) {
            running.stop();
        }
        while self.running.is_some() {
            if let Event::SearchFinished(resources, result) = self.next_event() {
                self.finish_search(resources);
                return result;
            }
        }
        Ok(())
    }

    /// Sends the reason why a command was rejected.
    fn report(&self, result: Result<(), String>) {
        if let Err(reason) = result {
            send!(self.output, "info string {reason}");
        }
    }

    fn next_event(&self) -> Event {
        self.events.recv().expect("the engine holds a sender itself")
    }

    fn handle_event(&mut self) -> Flow {
        match self.next_event() {
            Event::Line(line) => {
                self.output.log_input(line.trim_end());
                match parse(&line) {
                    Ok(Some(command)) => return self.execute_or_queue(command),
                    Ok(None) => {}
                    Err(error) => self.report(Err(error.to_string())),
                }
            }
            // The commands before it are executed first.
            Event::EndOfInput => self.queue.push_back(Command::Quit),
            Event::SearchFinished(resources, result) => {
                self.finish_search(resources);
                self.report(result);
            }
        }
        self.execute_queue()
    }

    fn finish_search(&mut self, resources: Box<SearchResources>) {
        (self.resources, self.running) = (Some(resources), None);
        self.output.wait();
    }

    fn execute_or_queue(&mut self, command: Command) -> Flow {
        let is_command = self.running.as_ref().is_some_and(|running| running.is_command);
        // A second `quit` does not wait.
        let must_wait = command == Command::Quit && is_command && !self.queue.contains(&Command::Quit);
        if command.is_urgent() && !must_wait {
            // They are for queued searches too.
            if matches!(command, Command::Stop | Command::PonderHit) && !self.queue.is_empty() {
                self.queue.push_back(command.clone());
            }
            return self.execute_or_report(command);
        }
        let is_option = matches!(command, Command::SetOption { .. });
        self.queue.push_back(command);
        let flow = self.execute_queue();
        if is_option && !self.queue.is_empty() {
            send!(self.output, "info string the option will be set when the search is over");
        }
        flow
    }

    /// Executes queued commands up to the first that must wait for the running search.
    fn execute_queue(&mut self) -> Flow {
        while let Some(command) = self.queue.front() {
            if let Some(running) = &self.running
                && command.needs_idle()
            {
                // A `stop` anywhere in the queue stops this search too, and no command that ends a search waits for one
                // that does not end by itself.
                let mut queue = self.queue.iter();
                if queue.any(|command| *command == Command::Stop || command.ends_search() && !running.ends_by_itself())
                {
                    running.stop();
                }
                break;
            }
            if let Some(command) = self.queue.pop_front()
                && self.execute_or_report(command) == Flow::Quit
            {
                return Flow::Quit;
            }
        }
        Flow::Continue
    }

    fn execute_or_report(&mut self, command: Command) -> Flow {
        self.execute(command).unwrap_or_else(|reason| {
            self.report(Err(reason));
            Flow::Continue
        })
    }

    /// Executes a command, or starts it if it takes long. Returns the reason if it is rejected.
    fn execute(&mut self, command: Command) -> Result<Flow, String> {
        match command {
            Command::Uci => self.identify(),
            Command::IsReady => send!(self.output, "readyok"),
            Command::Stop => self.signal(RunningSearch::stop),
            Command::PonderHit => self.signal(RunningSearch::ponder_hit),
            Command::Help => self.help(),
            Command::Compiler => send!(self.output, "{}", version::describe(&self.network).trim_end()),
            Command::License => send!(self.output, "{}", LICENSE.trim_end()),
            Command::Display => self.display(),
            Command::Eval => send!(self.output, "{}", eval::describe(&self.position, &self.network, self.paint)),
            Command::Position(set) => self.set_position(*set)?,
            Command::NewGame => self.clear(),
            Command::SetOption { name, value } => self.set_option(&name, &value)?,
            Command::Go(go) => self.go(&go),
            Command::Perft(depth) => self.perft(depth)?,
            Command::Bench(depth) => {
                let network = self.network.clone();
                self.run_command("bench", move |signals, output| {
                    bench::bench(depth, &network, signals, |line| send!(output, "{line}"))
                })?;
            }
            #[cfg(not(feature = "tools"))]
            Command::GenFens(_) => return Err("genfens needs a build with the feature \"tools\"".into()),
            #[cfg(feature = "tools")]
            Command::GenFens(request) => {
                let (request, network) = (request.parse()?, self.network.clone());
                self.run_command("genfens", move |signals, output| {
                    genfens::genfens(&request, &network, &signals.stop, |line| send!(output, "{line}"))
                })?;
            }
            #[cfg(feature = "tune")]
            Command::Spsa => options::spsa().iter().for_each(|line| send!(self.output, "{line}")),
            Command::Quit => return Ok(Flow::Quit),
        }
        Ok(Flow::Continue)
    }

    fn signal(&self, signal: fn(&RunningSearch)) {
        if let Some(running) = &self.running {
            signal(running);
        }
    }

    fn identify(&self) {
        if let Some(warning) = version::slow_build() {
            send!(self.output, "info string {warning}");
        }
        send!(self.output, "id name Kiln {}", env!("CARGO_PKG_VERSION"));
        send!(self.output, "id author the Kiln developers");
        for definition in options::options() {
            send!(self.output, "{definition}");
        }
        #[cfg(feature = "tune")]
        for line in options::parameters() {
            send!(self.output, "{line}");
        }
        send!(self.output, "uciok");
    }

    fn display(&self) {
        let position = &self.position;
        match self.paint {
            Paint::Plain => send!(self.output, "{position}"),
            Paint::Colored => {
                let board = paint::board(3, |square| piece_cell(position.piece_on(square)));
                let fen = position.fen(position.is_chess960());
                send!(self.output, "{board}\nFen: {fen}\nKey: {:016x}", position.key());
            }
        }
    }

    fn help(&self) {
        send!(self.output, "{COMMANDS}{SPSA}\n\noptions:");
        for definition in options::options() {
            send!(self.output, "{:<18} {}", definition.name, definition.help);
        }
        #[cfg(feature = "tune")]
        for parameter in crate::search::parameters() {
            send!(self.output, "{:<18} a parameter of the search", parameter.name);
        }
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        #[cfg(feature = "tune")]
        if let Some(result) = options::set_parameter(name, value) {
            return result;
        }
        match options::parse_set_option(name, value)? {
            SetOption::Hash(megabytes) => self.set_hash(megabytes as usize)?,
            SetOption::ClearHash => self.clear(),
            SetOption::Threads(count) => self.set_threads(count as usize)?,
            SetOption::MultiPv(count) => self.settings.multi_pv = count as usize,
            SetOption::MoveOverhead(time) => self.settings.overhead = Duration::from_millis(time),
            SetOption::Ponder(_) => {}
            SetOption::Chess960(on) => self.settings.chess960 = on,
            SetOption::ShowWdl(on) => self.settings.show_wdl = on,
            SetOption::LimitStrength(on) => self.settings.limit_strength = on,
            SetOption::Elo(elo) => self.settings.elo = elo,
            SetOption::EvalFile(path) => self.set_network(&path)?,
            SetOption::SyzygyPath(path) => self.set_tablebases(&path)?,
            SetOption::SyzygyProbeDepth(depth) => self.settings.probing.depth = depth as u32,
            SetOption::SyzygyProbeLimit(pieces) => self.settings.probing.pieces = pieces as u32,
            SetOption::Syzygy50MoveRule(on) => self.settings.probing.fifty_move_rule = on,
            SetOption::DebugLogFile(path) => self.set_log(&path)?,
        }
        Ok(())
    }

    /// Returns the resources of the search.
    ///
    /// # Panics
    /// If a search is running.
    fn resources(&mut self) -> &mut SearchResources {
        self.resources.as_mut().expect("commands that need them wait for the end of the search")
    }

    fn set_hash(&mut self, megabytes: usize) -> Result<(), String> {
        let SearchResources { threads, tt, .. } = self.resources();
        // GUIs resend all options again and again.
        if tt.megabytes() != megabytes {
            *tt = TranspositionTable::new(megabytes).map_err(|error| error.to_string())?;
            // Touches all pages before the first search; not every GUI sends `ucinewgame`.
            tt.clear(threads.count());
        }
        Ok(())
    }

    fn set_threads(&mut self, count: usize) -> Result<(), String> {
        let threads = &mut self.resources().threads;
        if threads.count() != count {
            *threads = Threads::new(count).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Loads a network, or takes the embedded one if `path` is empty. On an error the network stays.
    fn set_network(&mut self, path: &str) -> Result<(), String> {
        let network = match path {
            "" => Network::embedded(),
            path => Network::load(Path::new(path)).map_err(|error| {
                format!("network {} is not used: {error}; network {} stays", quote(path), self.network.name())
            })?,
        };
        send!(self.output, "info string network {} is used", network.name());
        // Scores of another network are useless; GUIs resend all options again and again.
        let is_other = network.sha256() != self.network.sha256();
        self.network = network;
        if is_other {
            self.clear();
        }
        Ok(())
    }

    /// Opens the tablebases in these folders, or none if `path` is empty. If no folder holds valid tablebases, those
    /// in use stay.
    fn set_tablebases(&mut self, path: &str) -> Result<(), String> {
        let describe = |error: TablebaseError| format!("SyzygyPath stays as it was: {error}");
        let found = if path.is_empty() { None } else { Some(Files::find(path).map_err(describe)?) };
        // Only one set can be open at a time.
        self.resources().tablebases = None;
        if let Some(found) = found {
            let tablebases = found.open().map_err(describe)?;
            let (files, pieces) = (tablebases.file_count(), tablebases.max_pieces());
            send!(self.output, "info string {files} Syzygy files found, for up to {pieces} pieces");
            self.resources().tablebases = Some(tablebases);
        }
        Ok(())
    }

    /// Opens a log, or closes it if `path` is empty.
    fn set_log(&mut self, path: &str) -> Result<(), String> {
        let open = |path| {
            let file = OpenOptions::new().append(true).create(true).open(Path::new(path));
            file.map_err(|error| format!("cannot write the debug log {}: {error}", quote(path)))
        };
        self.output.set_log(if path.is_empty() { None } else { Some(open(path)?) });
        Ok(())
    }

    /// Clears all results of earlier searches.
    fn clear(&mut self) {
        let SearchResources { threads, tt, .. } = self.resources();
        threads.clear();
        tt.clear(threads.count());
    }

    /// Sets up a position. At an illegal move the position stays as it was.
    fn set_position(&mut self, set: SetPosition) -> Result<(), String> {
        for error in &set.ignored {
            send!(self.output, "info string ignored in the FEN: {error}");
        }
        let mut position = set.start;
        let mut history = GameHistory::new();
        let mut last_target = None;
        for text in &set.moves {
            let Some(mv) = position.parse_move(text) else {
                let fen = position.fen(self.settings.chess960);
                return Err(format!("illegal move {} in {fen}: the position stays as it was", quote(text)));
            };
            history.push(&position);
            position = position.make(mv);
            last_target = Some(mv.to());
        }
        (self.position, self.history, self.last_target) = (position, history, last_target);
        Ok(())
    }

    fn go(&mut self, go: &Go) {
        for error in &go.errors {
            send!(self.output, "info string {error}");
        }
        let mut limits = self.limits(go);
        let level = self.level(&limits, go);
        if let Some(level) = &level {
            limits.nodes = Some(limits.nodes.unwrap_or(u64::MAX).min(level.nodes));
        }
        let mut moves = self.search_moves(go);
        // A search for a mate may never find one.
        let is_bounded = !go.infinite && Limits { mate: None, ..limits.clone() }.is_bounded();
        let waits_for_stop = go.infinite || !limits.is_bounded();

        let Settings { multi_pv, chess960, show_wdl, mut probing, .. } = self.settings;
        let wdl = show_wdl.then(|| InfoFormat::wdl(&self.position, &self.network));
        let mut candidates = multi_pv;
        if let Some(level) = &level {
            if moves.is_empty() {
                moves = self.position.moves().to_vec();
            }
            level.overlook(&self.position, self.last_target, &mut moves);
            candidates = multi_pv.max(level.choices());
            // The choice needs scores that tell one win from another.
            probing.ranks_root = level.choices() == 1;
        }
        let move_count = if moves.is_empty() { self.position.moves().len() } else { moves.len() };
        let searched_lines = candidates.min(move_count).max(1);

        let signals = Arc::new(Signals::default());
        signals.pondering.store(go.ponder, Relaxed);
        let (output, event_sender) = (self.output.clone(), self.event_sender.clone());
        let (position, history, network) = (self.position.clone(), self.history.clone(), self.network.clone());
        let search_signals = Arc::clone(&signals);
        let search = move |mut resources: Box<SearchResources>| {
            let request = SearchRequest {
                position: &position,
                history: &history,
                search_moves: &moves,
                multi_pv: searched_lines,
                limits: &limits,
                network: &network,
                tt: &resources.tt,
                tablebases: resources.tablebases.as_ref(),
                probing,
                signals: &search_signals,
            };
            let must_wait = || {
                let Signals { stop, pondering } = &*search_signals;
                !stop.load(Relaxed) && (waits_for_stop || pondering.load(Relaxed))
            };
            let format = InfoFormat { chess960, multi_pv, wdl };
            let mut printer = InfoPrinter::new(output.clone(), format, must_wait);
            let mut result = resources.threads.search(&request, &mut printer);
            if result.best().is_none() {
                send!(output, "info depth 0 score {}", result.score);
            }
            if let Some(chosen) = level.and_then(|level| level.choose(printer.lines())) {
                result.pv = printer.lines()[chosen].pv().iter().copied().take(MAX_PLY).collect();
                printer.put_first(chosen);
            }
            // A search that is done may still have to wait for `stop` or `ponderhit`.
            while must_wait() {
                thread::park();
            }
            printer.finish();
            let best_move = best_move(&result, chess960);
            // The resources are handed back before the move is written, so that the engine is idle when the GUI reads
            // it. If the engine is gone, they are dropped.
            let hand_back = move || drop(event_sender.send(Event::SearchFinished(resources, Ok(()))));
            output.send_after(hand_back, format_args!("{best_move}"));
        };
        let running = |thread| RunningSearch { thread, signals, is_bounded, is_command: false };
        if let Err(error) = self.run_beside(search, running) {
            send!(self.output, "info string cannot start a search: {error}");
            send!(self.output, "bestmove (none)");
        }
    }

    /// Runs work in a thread of its own, as the running search. The work must send the resources back in an
    /// [`Event::SearchFinished`].
    ///
    /// # Errors
    /// If the system refuses the thread.
    fn run_beside(
        &mut self,
        work: impl FnOnce(Box<SearchResources>) + Send + 'static,
        running: impl FnOnce(Thread) -> RunningSearch,
    ) -> io::Result<()> {
        // The resources are sent once the thread exists: if the system refuses one, they are not lost.
        let (sender, receiver) = mpsc::sync_channel(1);
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
            let _guard = AbortOnPanic;
            if let Ok(resources) = receiver.recv() {
                work(resources);
            }
        })?;
        self.running = Some(running(thread.thread().clone()));
        let resources = self.resources.take().expect("a search starts only after the last has ended");
        sender.send(resources).expect("the thread first receives the resources");
        Ok(())
    }

    /// Returns the legal moves among those after `searchmoves`; none if all moves are to be searched.
    fn search_moves(&self, go: &Go) -> Vec<Move> {
        let mut moves = Vec::new();
        for text in &go.search_moves {
            match self.position.parse_move(text) {
                Some(mv) if moves.contains(&mv) => {}
                Some(mv) => moves.push(mv),
                None => send!(self.output, "info string illegal move {} after \"searchmoves\" is skipped", quote(text)),
            }
        }
        if moves.is_empty() && !go.search_moves.is_empty() {
            send!(self.output, "info string no legal move after \"searchmoves\": all moves are searched");
        }
        moves
    }

    fn limits(&self, go: &Go) -> Limits {
        let &Go { depth, nodes, mate, movetime, moves_to_go, .. } = go;
        let overhead = self.settings.overhead;
        let side = self.position.side_to_move();
        // If only the other side's clock was sent, it is better than none.
        let clock = [side, !side]
            .into_iter()
            .find_map(|side| Some(Clock { remaining: go.time[side]?, increment: go.increment[side], moves_to_go }));
        let mut limits = Limits { depth, nodes, mate, movetime, clock, overhead, ..Limits::default() };
        if go.infinite {
            limits = Limits { movetime: None, clock: None, ..limits };
        } else if !limits.is_bounded() && !go.errors.is_empty() {
            // The limit that was meant is unknown, and the GUI waits for a move.
            send!(self.output, "info string the search takes {} ms", BAD_LIMIT_TIME.as_millis());
            limits.movetime = Some(BAD_LIMIT_TIME + overhead);
        }
        limits
    }

    /// Returns the level to play at, or `None` for full strength. Analysis, which goes on until `stop`, is not limited.
    fn level(&self, limits: &Limits, go: &Go) -> Option<Level> {
        let is_limited = self.settings.limit_strength && !go.infinite && limits.is_bounded();
        if is_limited { Level::new(self.settings.elo) } else { None }
    }

    fn perft(&mut self, depth: u32) -> Result<(), String> {
        perft::check_depth(depth)?;
        let position = self.position.clone();
        let chess960 = self.settings.chess960 || position.is_chess960();
        self.run_command("perft", move |signals, output| {
            let counts = perft::divide_watched(&position, depth, 1, &perft::Progress::default(), &signals.stop);
            if signals.stop.load(Relaxed) {
                return Err("perft was stopped".into());
            }
            for (mv, leaves) in &counts {
                send!(output, "{}: {leaves}", mv.uci(chess960));
            }
            let total: u64 = counts.iter().map(|(_, leaves)| leaves).sum();
            send!(output, "\nNodes searched: {total}");
            Ok(())
        })
    }

    /// Runs a command in another thread, as the running search, so that `stop` and `isready` are answered.
    ///
    /// # Errors
    /// If the system refuses the thread. The end of the search has the result of `work`.
    fn run_command(
        &mut self,
        name: &str,
        work: impl FnOnce(&Arc<Signals>, &Output) -> Result<(), String> + Send + 'static,
    ) -> Result<(), String> {
        let signals = Arc::<Signals>::default();
        let (output, event_sender, work_signals) =
            (self.output.clone(), self.event_sender.clone(), Arc::clone(&signals));
        let run = move |resources| {
            let result = work(&work_signals, &output);
            // If the engine is gone, nobody waits.
            drop(event_sender.send(Event::SearchFinished(resources, result)));
        };
        let running = |thread| RunningSearch { thread, signals, is_bounded: true, is_command: true };
        self.run_beside(run, running).map_err(|error| format!("cannot start {name}: {error}"))
    }
}

/// Returns the `bestmove` line.
fn best_move(result: &SearchResult, chess960: bool) -> String {
    match (result.best(), result.ponder()) {
        (Some(best), Some(ponder)) => format!("bestmove {} ponder {}", best.uci(chess960), ponder.uci(chess960)),
        (Some(best), None) => format!("bestmove {}", best.uci(chess960)),
        (None, _) => "bestmove (none)".into(),
    }
}

/// Aborts the program if the thread that holds it panics: a GUI notices that, but would wait for ever for the move of a
/// dead thread. Release builds abort at any panic.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            process::abort();
        }
    }
}

const LICENSE: &str = concat!(
    "Kiln is free software under the MIT licence or the Apache License 2.0, at your option. The latter is at\n",
    "https://www.apache.org/licenses/LICENSE-2.0; the former is:\n\n",
    include_str!("../../LICENSE-MIT"),
    "\n",
    include_str!("../../LICENSE-THIRD-PARTY")
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_that_of_the_side_to_move() {
        let mut engine = Engine::with_output(io::sink());
        engine.run_lines("setoption name Move Overhead value 7").unwrap();
        let limits = |engine: &Engine, line: &str| match parse(line) {
            Ok(Some(Command::Go(go))) => engine.limits(&go),
            other => panic!("{other:?}"),
        };
        let clock = |engine: &Engine, line: &str| {
            limits(engine, line).clock.map(|clock| [clock.remaining, clock.increment].map(|time| time.as_millis()))
        };
        let both = "go wtime 1000 winc 10 btime 2000 binc 20";
        assert_eq!(clock(&engine, both), Some([1000, 10]));
        assert_eq!(clock(&engine, "go btime 2000 binc 20"), Some([2000, 20]));
        engine.run_lines("position startpos moves e2e4").unwrap();
        assert_eq!(clock(&engine, both), Some([2000, 20]));
        assert_eq!(clock(&engine, "go wtime 1000 winc 10"), Some([1000, 10]));
        assert_eq!(clock(&engine, "go infinite wtime 1000 btime 1000"), None);
        assert_eq!(limits(&engine, both).overhead, Duration::from_millis(7));
    }
}
