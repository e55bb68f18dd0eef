//! ThreadResult a move: iterative deepening, alpha-beta, the transposition table, time. It knows no UCI; it reports to a [`Sink`].

mod alphabeta;
mod correction_history;
mod driver;
mod history;
mod huge_pages;
mod parameters;
mod picker;
mod statistics;
mod time;
mod transposition;

pub use driver::{STACK, SearchRequest, SearchResult, Signals, Threads};
pub use huge_pages::OutOfMemory;
#[cfg(feature = "tune")]
pub use parameters::{Parameter, parameters};
#[cfg(feature = "stats")]
pub use statistics::table as statistics_table;
pub use transposition::{Bound, MAX_MEGABYTES, TranspositionTable};

use crate::types::{Move, Score};
use arrayvec::ArrayVec;
use std::time::Duration;

/// The deepest line that is searched, in plies.
pub const MAX_PLY: usize = 200;

/// A line of moves.
pub type Pv = ArrayVec<Move, MAX_PLY>;

/// When to stop. Whatever is reached first counts; nothing set means never.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Nodes of all threads together; with one thread kept exactly unless the first iteration needs more.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration begins.
    pub soft_nodes: Option<u64>,
    /// A mate in this many moves, for or against the side to move, is enough.
    pub mate: Option<u32>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// Time set aside for what happens between engine and clock.
    pub overhead: Duration,
}

/// A chess clock, as the side to move sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// What is left.
    pub remaining: Duration,
    /// What each move adds.
    pub increment: Duration,
    /// Moves until time is added, if that ever happens.
    pub moves_to_go: Option<u32>,
}

impl Limits {
    /// Whether the search ends by itself.
    pub fn is_bounded(&self) -> bool {
        let Self { depth, nodes, soft_nodes, mate, movetime, clock, overhead: _ } = self;
        depth.is_some()
            || nodes.is_some()
            || soft_nodes.is_some()
            || mate.is_some()
            || movetime.is_some()
            || clock.is_some()
    }
}

/// How endgame tables are used, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probing {
    /// The least depth in plies at which positions with as many pieces as the largest tables are looked up.
    pub depth: u32,
    /// The most pieces on the board, kings included, for which tables are asked.
    pub pieces: u32,
    /// Whether wins that the fifty-move rule spoils are draws.
    pub fifty_move_rule: bool,
}

impl Default for Probing {
    fn default() -> Self {
        Self { depth: 1, pieces: 7, fifty_move_rule: true }
    }
}

/// What is tt_entry after an iteration.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Depth of the iteration in plies.
    pub depth: u32,
    /// The deepest ply reached.
    pub selective_depth: usize,
    /// Which of the best lines it is, from 1.
    pub multipv: usize,
    /// For the side to move.
    pub score: Score,
    /// Whether the score is exact or only a bound, since the search has left its window and goes on.
    pub bound: Bound,
    /// Positions visited so far.
    pub nodes: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// How much of the transposition table this search has filled, in thousandths.
    pub hashfull: u32,
    /// Positions found in the tablebases.
    pub tablebase_hits: u64,
    /// The best line, all moves legal.
    pub pv: &'a [Move],
}

/// Hears how the search goes.
pub trait Sink {
    /// Whether anybody listens: what goes into reports takes time.
    fn listens(&self) -> bool {
        true
    }

    /// A line is complete, or left its window, or the search ends with a better line than the last iteration had.
    fn report(&mut self, report: &Report);

    /// A move of the root, the `number`th from 1, is about to be searched to this depth. Said only of searches that have gone on for a few
    /// seconds.
    fn current_move(&mut self, _depth: u32, _mv: Move, _number: usize) {}
}

/// Nobody listens.
impl Sink for () {
    fn listens(&self) -> bool {
        false
    }

    fn report(&mut self, _: &Report) {}
}
