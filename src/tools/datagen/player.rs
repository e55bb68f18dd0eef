use crate::board::{History, Position};
use crate::nnue::Network;
use crate::search::{Limits, OutOfMemory, Probing, Search, Signals, Threads, TranspositionTable};
use crate::types::{Move, Score};

/// Who moves: all that the generator wants of the search.
pub struct Player {
    network: Network,
    limits: Limits,
    table: TranspositionTable,
    memory: Threads,
    signals: Signals,
    nodes: u64,
}

impl Player {
    /// One that knows nothing yet, with so many megabytes of hash.
    pub fn new(network: &Network, limits: Limits, hash: usize) -> Result<Self, OutOfMemory> {
        let table = TranspositionTable::new(hash)?;
        let (memory, signals) = (Threads::new(1), Signals::default());
        Ok(Self { network: network.clone(), limits, table, memory, signals, nodes: 0 })
    }

    /// Forgets what is of use only within a game.
    pub fn start_game(&mut self) {
        self.memory.clear();
    }

    /// The best move and its score for the side to move. The calling thread needs [`STACK`](crate::search::STACK) bytes of stack.
    ///
    /// # Panics
    /// If there is no legal move.
    pub fn choose(&mut self, position: &Position, history: &History) -> (Move, Score) {
        let Self { network, limits, table, memory, signals, .. } = self;
        let (tables, probing) = (None, Probing::default());
        let search =
            Search { position, history, moves: &[], lines: 1, limits, network, table, tables, probing, signals };
        let outcome = memory.search(&search, &mut ());
        self.nodes += outcome.nodes;
        (outcome.best.expect("the game is not over"), outcome.score)
    }

    /// Nodes visited so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }
}
