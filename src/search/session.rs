//! A session: the threads, the transposition table and the network, from search to search.

use super::driver::{STACK, SearchResult, Threads};
use super::huge_pages::OutOfMemory;
use super::shared::{SearchRequest, Signals};
use super::transposition::TranspositionTable;
use super::{Limits, Probing, Sink};
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::tablebases::Tablebases;
use crate::types::{Move, Score};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Searches one position after another with the same threads, transposition table and network.
///
/// ```
/// use kiln::board::Position;
/// use kiln::nnue::Network;
/// use kiln::search::Session;
///
/// let mut session = Session::new(&Network::embedded(), 16, 1)?;
/// let position: Position = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1".parse()?;
/// let result = session.position(&position).depth(4).run();
/// assert_eq!(position.san(result.best().unwrap()), "Rd8#");
/// assert_eq!(result.score.mate_distance(), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    network: Network,
    tt: TranspositionTable,
    threads: Threads,
}

/// A search to run in a [`Session`], made by [`Session::position`]. Without a limit it goes on until another thread
/// stops it by [`Search::signals`].
#[derive(Debug)]
#[must_use = "a search does nothing until it is run"]
pub struct Search<'a> {
    session: &'a mut Session,
    position: &'a Position,
    history: Option<&'a GameHistory>,
    moves: &'a [Move],
    lines: usize,
    limits: Limits,
    tablebases: Option<&'a Tablebases>,
    probing: Probing,
    signals: Arc<Signals>,
}

impl<'a> Search<'a> {
    /// Sets the positions of the game before this one, for repetitions. By default there are none.
    pub fn history(self, history: &'a GameHistory) -> Self {
        Self { history: Some(history), ..self }
    }

    /// Sets the root moves to choose from, all legal. By default, or if empty, these are all legal moves.
    pub fn moves(self, moves: &'a [Move]) -> Self {
        Self { moves, ..self }
    }

    /// Sets the number of principal variations to report (MultiPV), by default 1.
    pub fn lines(self, lines: usize) -> Self {
        Self { lines, ..self }
    }

    /// Limits the depth, in plies.
    pub fn depth(mut self, depth: u32) -> Self {
        self.limits.depth = Some(depth);
        self
    }

    /// Limits the nodes of all threads.
    pub fn nodes(mut self, nodes: u64) -> Self {
        self.limits.nodes = Some(nodes);
        self
    }

    /// Limits the time.
    pub fn time(mut self, time: Duration) -> Self {
        self.limits.movetime = Some(time);
        self
    }

    /// Sets all limits, in place of those set before.
    pub fn limits(self, limits: &Limits) -> Self {
        Self { limits: limits.clone(), ..self }
    }

    /// Sets the tablebases and how they are probed. By default there are none.
    pub fn tablebases(self, tablebases: &'a Tablebases, probing: Probing) -> Self {
        Self { tablebases: Some(tablebases), probing, ..self }
    }

    /// Returns the signals by which another thread can stop this search, before or after it has started. Each search
    /// has its own.
    ///
    /// ```
    /// use kiln::board::Position;
    /// use kiln::nnue::Network;
    /// use kiln::search::Session;
    /// use std::sync::atomic::Ordering::Relaxed;
    /// use std::thread;
    ///
    /// let mut session = Session::new(&Network::embedded(), 16, 1)?;
    /// let position = Position::startpos();
    /// let search = session.position(&position);
    /// let signals = search.signals();
    /// thread::spawn(move || signals.stop.store(true, Relaxed));
    /// assert!(search.run().best().is_some());
    /// // The next search is not stopped.
    /// assert!(session.position(&position).nodes(5000).run().nodes >= 5000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn signals(&self) -> Arc<Signals> {
        Arc::clone(&self.signals)
    }

    /// Sets these signals in place of new ones, so that another thread can stop several searches in a row.
    pub fn with_signals(self, signals: Arc<Signals>) -> Self {
        Self { signals, ..self }
    }

    /// Searches on a new thread with a sufficient stack, and waits for the result.
    ///
    /// # Panics
    /// If the system refuses the thread.
    pub fn run(self) -> SearchResult {
        self.run_with(&mut ())
    }

    /// As [`Search::run`], with reports to `sink`.
    ///
    /// # Panics
    /// If the system refuses the thread.
    pub fn run_with(self, sink: &mut (impl Sink + Send)) -> SearchResult {
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || self.run_here(sink));
            thread.expect("the system provides a thread").join().expect("a search does not panic")
        })
    }

    /// Searches on the calling thread, which needs [`STACK`] bytes of stack.
    pub fn run_here(self, sink: &mut impl Sink) -> SearchResult {
        let Self { session, position, history, moves, lines, limits, tablebases, probing, signals } = self;
        let no_history = GameHistory::new();
        let request = SearchRequest {
            position,
            history: history.unwrap_or(&no_history),
            search_moves: moves,
            multi_pv: lines,
            limits: &limits,
            network: &session.network,
            tt: &session.tt,
            tablebases,
            probing,
            signals: &signals,
        };
        session.threads.search(&request, sink)
    }
}

impl Session {
    /// Creates a session with a transposition table of this many megabytes, from 1 to
    /// [`MAX_MEGABYTES`](super::MAX_MEGABYTES), and this many threads, at least 1. Other numbers count as the nearest
    /// allowed one.
    ///
    /// The system provides the memory of the table when it is first touched. Call [`Session::new_game`] before a search
    /// with a limit of time: otherwise the search waits for the system again and again, for hundreds of milliseconds
    /// per GB.
    ///
    /// # Errors
    /// If the system refuses the memory.
    pub fn new(network: &Network, megabytes: usize, threads: usize) -> Result<Self, OutOfMemory> {
        let (tt, threads) = (TranspositionTable::new(megabytes)?, Threads::new(threads)?);
        Ok(Self { network: network.clone(), tt, threads })
    }

    /// Clears the transposition table and the histories. Touches all of the table's memory.
    pub fn new_game(&mut self) {
        self.tt.clear(self.threads.count());
        self.clear_histories();
    }

    /// Clears the histories, but not the transposition table.
    pub fn clear_histories(&mut self) {
        self.threads.clear();
    }

    /// Returns how much of the transposition table the last search has filled, in thousandths.
    pub fn hashfull(&self) -> u32 {
        self.tt.hashfull()
    }

    /// Returns the score that the transposition table holds for a position, for the side to move; `None` if it was not
    /// searched, or only evaluated. The score may be a bound, of a search of any depth.
    pub fn stored_score(&self, position: &Position) -> Option<Score> {
        self.tt.probe(position.key(), 0).filter(|entry| entry.bound.is_some()).map(|entry| entry.score)
    }

    /// Prepares a search of a position.
    ///
    /// ```
    /// use kiln::board::Position;
    /// use kiln::nnue::Network;
    /// use kiln::search::Session;
    ///
    /// let mut session = Session::new(&Network::embedded(), 16, 1)?;
    /// let result = session.position(&Position::startpos()).nodes(1000).run();
    /// assert!(result.best().is_some() && result.nodes >= 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn position<'a>(&'a mut self, position: &'a Position) -> Search<'a> {
        Search {
            session: self,
            position,
            history: None,
            moves: &[],
            lines: 1,
            limits: Limits::default(),
            tablebases: None,
            probing: Probing::default(),
            signals: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Clock;
    use super::*;

    #[test]
    fn soft_limits_end_a_search_and_a_forced_move_is_played_at_once() {
        let mut session = Session::new(&Network::embedded(), 1, 1).unwrap();
        // Nodes count as microseconds, so the hard limit is near 200,000.
        let clock = Some(Clock { remaining: Duration::from_secs(1), ..Clock::default() });
        let limits = Limits { clock, nodes_as_time: true, ..Limits::default() };
        let nodes = session.position(&Position::startpos()).limits(&limits).run().nodes;
        assert!((10_000..200_000).contains(&nodes), "{nodes}");
        let forced: Position = "rnb1kbnr/pppp1ppp/8/4p3/7q/5P2/PPPPP1PP/RNBQKBNR w KQkq - 1 3".parse().unwrap();
        assert_eq!(forced.moves().len(), 1);
        let nodes = session.position(&forced).limits(&limits).run().nodes;
        assert!(nodes < 1000, "{nodes}");
        let limits = Limits { soft_nodes: Some(5000), nodes: Some(500_000), ..Limits::default() };
        let nodes = session.position(&Position::startpos()).limits(&limits).run().nodes;
        assert!((5000..100_000).contains(&nodes), "{nodes}");
    }

    #[test]
    fn the_best_of_some_moves_is_not_stored() {
        let position: Position = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2".parse().unwrap();
        let moves = [position.parse_move("a7a6").unwrap()];
        let mut session = Session::new(&Network::embedded(), 1, 1).unwrap();
        session.position(&position).moves(&moves).depth(5).run();
        assert_eq!(session.stored_score(&position), None);
        let score = session.position(&position).depth(5).run().score;
        assert_eq!(session.stored_score(&position), Some(score));
    }

    #[test]
    fn positions_of_the_game_count_as_repetitions() {
        let mut position: Position = "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1".parse().unwrap();
        let mut history = GameHistory::new();
        for text in ["e1d1", "e8d8", "d1e1", "d8e8", "e1d1", "e8d8", "d1e1"] {
            history.push(&position);
            position = position.make(position.parse_move(text).unwrap());
        }
        let moves = [position.parse_move("d8e8").unwrap()];
        let mut session = Session::new(&Network::embedded(), 1, 1).unwrap();
        let score = |search: Search| search.moves(&moves).depth(4).run().score.value();
        assert!(score(session.position(&position).history(&history)).abs() <= 1);
        assert!(score(session.position(&position)) < -300);
    }
}
