//! The search as the tools use it.

use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::search::{
    Limits, OutOfMemory, Probing, STACK, SearchRequest, SearchResult, Signals, Sink, Threads, TranspositionTable,
};
use std::sync::Arc;
use std::thread;

/// Searches one position after another with the same threads and hash.
pub(super) struct Session {
    network: Network,
    table: TranspositionTable,
    threads: Threads,
    signals: Arc<Signals>,
}

impl Session {
    pub fn new(network: &Network, megabytes: usize, threads: usize) -> Result<Self, OutOfMemory> {
        let (table, signals) = (TranspositionTable::new(megabytes)?, Arc::default());
        Ok(Self { network: network.clone(), table, threads: Threads::new(threads)?, signals })
    }

    /// By which a search can be stopped from outside.
    pub fn signals(&self) -> Arc<Signals> {
        Arc::clone(&self.signals)
    }

    /// The next search has nothing to do with the last.
    pub fn new_game(&mut self) {
        self.table.clear(self.threads.count());
        self.forget();
    }

    /// Forgets all but the hash.
    pub fn forget(&mut self) {
        self.threads.clear();
    }

    /// How much of the hash the last search has filled, in thousandths.
    pub fn hashfull(&self) -> u32 {
        self.table.hashfull()
    }

    /// [`Session::search_here`] on a thread with the stack for it.
    ///
    /// # Panics
    /// If the system has no thread for the search.
    pub fn search(
        &mut self,
        position: &Position,
        history: &GameHistory,
        lines: usize,
        limits: &Limits,
        sink: &mut (impl Sink + Send),
    ) -> SearchResult {
        thread::scope(|scope| {
            let run = || self.search_here(position, history, lines, limits, sink);
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
            thread.expect("the system has a thread for us").join().expect("a search does not panic")
        })
    }

    /// As [`Threads::search`], whose stack it needs.
    pub fn search_here(
        &mut self,
        position: &Position,
        history: &GameHistory,
        lines: usize,
        limits: &Limits,
        sink: &mut impl Sink,
    ) -> SearchResult {
        let Self { network, table, threads, signals } = self;
        let (tables, probing) = (None, Probing::default());
        let search = SearchRequest {
            position,
            history,
            search_moves: &[],
            multi_pv: lines,
            limits,
            network,
            tt: table,
            tablebases: tables,
            probing,
            signals,
        };
        threads.search(&search, sink)
    }
}
