//! The search: iterative deepening, alpha-beta, move ordering, the transposition table (TT), time management.
//!
//! A [`Session`] searches one position after another. [`Threads::search`] runs a single [`SearchRequest`], with all
//! resources by reference. Both report to a [`Sink`]. The search knows nothing of UCI.

mod alphabeta;
mod correction_history;
mod driver;
mod history;
mod huge_pages;
mod mate_line;
mod parameters;
mod picker;
mod quiescence;
mod reductions;
mod session;
mod shared;
mod statistics;
mod time;
mod transposition;
mod worker;

pub use driver::{STACK, SearchResult, Threads};
pub use huge_pages::{OutOfMemory, map as map_huge_pages};
#[cfg(feature = "tune")]
pub use parameters::{Parameter, parameters};
pub use session::{Search, Session};
pub use shared::{SearchRequest, Signals};
#[cfg(feature = "stats")]
pub use statistics::table as statistics_table;
pub use transposition::{MAX_MEGABYTES, TranspositionTable, TtEntry};

use crate::board::Position;
use crate::types::{Bound, Move, Score};
use arrayvec::ArrayVec;
use std::time::Duration;

/// The greatest depth of a line, in plies.
pub const MAX_PLY: usize = 200;

/// A principal variation (PV): the best moves of both sides from a node on.
pub type Pv = ArrayVec<Move, MAX_PLY>;

/// The limits of a search. It ends at the first that is reached; without any it goes on until it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Nodes of all threads. With one thread the limit is exact, unless the first iteration needs more. A limit below
    /// 100,000 leaves only one thread to search.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration begins.
    pub soft_nodes: Option<u64>,
    /// The search ends when it finds a mate in at most this many moves, for or against the side to move.
    pub mate: Option<u32>,
    /// Time for this move.
    pub movetime: Option<Duration>,
    /// The clock of the side to move.
    pub clock: Option<Clock>,
    /// Time set aside on each move for communication with the GUI.
    pub overhead: Duration,
    /// On a clock nodes count instead of time, a node as a microsecond. With one thread the search then takes the same
    /// time everywhere, so that time management can be tested on a busy machine.
    pub nodes_as_time: bool,
}

/// A chess clock of the side to move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The time left.
    pub remaining: Duration,
    /// The time that each move adds.
    pub increment: Duration,
    /// Moves until the next time control, if there is one.
    pub moves_to_go: Option<u32>,
}

impl Limits {
    /// Returns whether the search ends by itself.
    pub fn is_bounded(&self) -> bool {
        let Self { depth, nodes, soft_nodes, mate, movetime, clock, overhead: _, nodes_as_time: _ } = self;
        depth.is_some()
            || nodes.is_some()
            || soft_nodes.is_some()
            || mate.is_some()
            || movetime.is_some()
            || clock.is_some()
    }
}

/// When the search probes the tablebases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probing {
    /// The least depth in plies at which positions with as many pieces as the largest tablebases are probed. Positions
    /// with fewer pieces are probed at any depth.
    pub depth: u32,
    /// The most pieces, kings included, of positions that are probed.
    pub pieces: u32,
    /// Whether wins that the fifty-move rule spoils count as draws.
    pub fifty_move_rule: bool,
    /// Whether the moves of the root are ranked. Their scores are then those of the tablebases, which are equal for
    /// all wins.
    pub ranks_root: bool,
}

impl Default for Probing {
    fn default() -> Self {
        Self { depth: 1, pieces: 7, fifty_move_rule: true, ranks_root: true }
    }
}

/// A report of the search's progress, mostly after an iteration.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The depth of the iteration in plies.
    pub depth: u32,
    /// The greatest ply reached.
    pub selective_depth: usize,
    /// The number of the principal variation, from 1 (MultiPV).
    pub multipv: usize,
    /// The score for the side to move.
    pub score: Score,
    /// Whether the score is exact, or a bound because it lies outside the aspiration window.
    pub bound: Bound,
    /// Nodes so far.
    pub nodes: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// How much of the transposition table this search has filled, in per mille.
    pub hashfull: u32,
    /// Positions found in the tablebases.
    pub tablebase_hits: u64,
    /// The principal variation; all moves are legal.
    pub pv: &'a [Move],
}

/// Receives the reports of a search. `()` is a sink that ignores them.
///
/// ```
/// use kiln::search::{Report, Sink};
///
/// /// Prints the score and the best move of each iteration.
/// struct Printer;
///
/// impl Sink for Printer {
///     fn report(&mut self, report: &Report) {
///         println!("depth {} score {} {}", report.depth, report.score, report.pv[0].uci(false));
///     }
/// }
/// ```
pub trait Sink {
    /// Returns whether reports are wanted. If not, the search does not prepare them, which saves time.
    fn listens(&self) -> bool {
        true
    }

    /// Receives a principal variation: of a finished iteration, with a score outside the aspiration window, or found by
    /// the unfinished iteration when the search stops.
    fn report(&mut self, report: &Report);

    /// Receives a root move, the `number`th from 1, before it is searched to this depth. Called only in searches that
    /// have run for a few seconds.
    fn current_move(&mut self, _depth: u32, _mv: Move, _number: usize) {}

    /// Returns how many nodes below a position must be searched for [`Sink::searched`] to be called; by default it
    /// never is.
    fn least_nodes(&self) -> u64 {
        u64::MAX
    }

    /// Receives what the first thread found of a position of the tree, each time that it has searched it.
    fn searched(&mut self, _position: &Position, _result: &TtEntry) {}
}

impl Sink for () {
    fn listens(&self) -> bool {
        false
    }

    fn report(&mut self, _: &Report) {}
}
