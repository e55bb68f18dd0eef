//! Syzygy endgame tables: who wins when few pieces are left, and how far the next capture or pawn move is.

mod files;
#[cfg_attr(
    not(all(target_pointer_width = "64", any(target_arch = "x86_64", windows, target_vendor = "apple"))),
    path = "no_prober.rs"
)]
mod prober;
mod rank;

pub use files::{Files, MAX_PIECES, TablebaseError};
pub use rank::RankedMove;

use crate::board::{GameHistory, Position};
use crate::types::{Color, Move};
use prober::Prober;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// How a position ends by best play, for the side to move, from the worst. The two in the middle of win and draw are draws by the fifty-move rule alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// Lost.
    Loss,
    /// Lost but for the fifty-move rule.
    BlessedLoss,
    /// Drawn.
    Draw,
    /// Won but for the fifty-move rule.
    CursedWin,
    /// Won.
    Win,
}

impl std::ops::Neg for Wdl {
    type Output = Self;

    /// The same for the other side.
    fn neg(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::BlessedLoss => Self::CursedWin,
            Self::Draw => Self::Draw,
            Self::CursedWin => Self::BlessedLoss,
            Self::Win => Self::Loss,
        }
    }
}

/// A set of tables in use. The prober behind it (the crate `pyrrhic-rs`) keeps its state in globals, so there is but one set at a time;
/// all threads share it by reference. Files are mapped when they are first needed.
///
/// To change sets without losing the old one to a wrong path: [`Files::find`] the new, drop the old, [`Files::open`] the new.
pub struct Tablebases {
    prober: Prober,
    files: Files,
    /// Probes of distances come one at a time, as the prober asks.
    distances: Mutex<()>,
}

impl fmt::Debug for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Tablebases").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Files {
    /// Takes the tables into use.
    ///
    /// # Errors
    /// [`TablebaseError::InUse`] while another set is open.
    pub fn open(self) -> Result<Tablebases, TablebaseError> {
        let prober = Prober::open(&self.folders()?)?;
        Ok(Tablebases { prober, files: self, distances: Mutex::new(()) })
    }
}

impl Tablebases {
    /// Finds tables and takes them into use: [`Files::find`], then [`Files::open`].
    ///
    /// # Errors
    /// What these two say.
    pub fn open(path: &str) -> Result<Self, TablebaseError> {
        Files::find(path)?.open()
    }

    /// The most pieces on the board, kings included, for which there is a table.
    pub fn max_pieces(&self) -> usize {
        self.files.max_pieces()
    }

    /// How many files there are.
    pub fn file_count(&self) -> usize {
        self.files.count()
    }

    /// How the position ends; none if it is in no table. Tables know neither castling rights nor how many moves have been played since the last capture or pawn move:
    /// with castling rights, or a halfmove clock that is not 0, the answer is none.
    pub fn probe_wdl(&self, position: &Position) -> Option<Wdl> {
        if position.halfmove_clock() == 0 { self.outcome(position) } else { None }
    }

    /// Plies to the next capture or pawn move by best play, positive for a win and negative for a loss, beyond 100 in size if the fifty-move rule makes it a draw, 0 for a draw;
    /// as the tables count, which can be one ply more than it takes. The halfmove clock plays no part. None if the position is in no table, or if it is over.
    pub fn probe_dtz(&self, position: &Position) -> Option<i32> {
        self.distances(position).map(|(dtz, _)| dtz)
    }

    /// The legal moves, the best first, by what the tables of distances say, else those of outcomes; none if there are no legal moves, or neither says it for all of them.
    /// `history` holds the positions before this one: once one has come again, wins are ranked by how fast they make progress.
    pub fn rank_root(
        &self,
        position: &Position,
        history: &GameHistory,
        fifty_move_rule: bool,
    ) -> Option<Vec<RankedMove>> {
        let by_distance = || {
            let (_, moves) = self.distances(position)?;
            let (clock, repeated) = (i32::from(position.halfmove_clock()), history.has_repetition(position));
            let rank = |(mv, dtz)| RankedMove::by_distance(mv, dtz, clock, repeated, fifty_move_rule);
            Some(moves.into_iter().map(rank).collect::<Vec<_>>())
        };
        let by_outcome = || {
            let rank = |&mv| Some(RankedMove::by_outcome(mv, -self.outcome(&position.make(mv))?, fifty_move_rule));
            position.moves().iter().map(rank).collect::<Option<Vec<_>>>()
        };
        let mut moves = by_distance().or_else(by_outcome).filter(|moves| !moves.is_empty())?;
        moves.sort_by_key(|ranked| -ranked.tb_rank);
        Some(moves)
    }

    fn holds(&self, position: &Position) -> bool {
        position.occupied().len() as usize <= self.max_pieces()
            && !Color::ALL.into_iter().any(|color| position.castling().any(color))
    }

    /// As [`Self::probe_wdl`], whatever the halfmove clock.
    fn outcome(&self, position: &Position) -> Option<Wdl> {
        if self.holds(position) { self.prober.outcome(position) } else { None }
    }

    /// Signed distances of the position and of its moves, those counted from the position itself.
    fn distances(&self, position: &Position) -> Option<(i32, Vec<(Move, i32)>)> {
        // Asked for distances of a material of which it has only outcomes, the prober would forget these too.
        if !self.holds(position) || !self.files.has_distances(position) || position.count_moves() == 0 {
            return None;
        }
        // The prober asks for one such probe at a time.
        let _alone = self.distances.lock().unwrap_or_else(PoisonError::into_inner);
        self.prober.distances(position)
    }
}
