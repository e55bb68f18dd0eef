//! A search session: what the tools keep from search to search.

use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::search::{
    Limits, OutOfMemory, Probing, STACK, SearchRequest, SearchResult, Signals, Sink, Threads, TranspositionTable,
};
use std::sync::Arc;
use std::thread;

/// Searches one position after another with the same threads and transposition table, without tablebases.
pub(super) struct SearchSession {
    network: Network,
    tt: TranspositionTable,
    threads: Threads,
    signals: Arc<Signals>,
}

impl SearchSession {
    /// Creates a session with a transposition table of `megabytes`.
    ///
    /// # Errors
    /// If the system refuses the memory.
    pub fn new(network: &Network, megabytes: usize, threads: usize) -> Result<Self, OutOfMemory> {
        let (tt, threads) = (TranspositionTable::new(megabytes)?, Threads::new(threads)?);
        Ok(Self { network: network.clone(), tt, threads, signals: Arc::default() })
    }

    /// Returns the signals by which another thread can stop a search.
    pub fn signals(&self) -> Arc<Signals> {
        Arc::clone(&self.signals)
    }

    /// Clears the transposition table and the histories.
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

    /// Runs [`SearchSession::search_here`] on a new thread with a sufficient stack.
    ///
    /// # Panics
    /// If the system refuses the thread.
    pub fn search(
        &mut self,
        position: &Position,
        history: &GameHistory,
        multi_pv: usize,
        limits: &Limits,
        sink: &mut (impl Sink + Send),
    ) -> SearchResult {
        thread::scope(|scope| {
            let run = || self.search_here(position, history, multi_pv, limits, sink);
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
            thread.expect("the system provides a thread").join().expect("a search does not panic")
        })
    }

    /// Searches all moves of a position, as [`Threads::search`]. The calling thread needs [`STACK`] bytes of stack.
    pub fn search_here(
        &mut self,
        position: &Position,
        history: &GameHistory,
        multi_pv: usize,
        limits: &Limits,
        sink: &mut impl Sink,
    ) -> SearchResult {
        let request = SearchRequest {
            position,
            history,
            search_moves: &[],
            multi_pv,
            limits,
            network: &self.network,
            tt: &self.tt,
            tablebases: None,
            probing: Probing::default(),
            signals: &self.signals,
        };
        self.threads.search(&request, sink)
    }
}
