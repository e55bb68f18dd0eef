//! Syzygy endgame tablebases: the outcome of positions with few pieces (WDL), and the distance to the next capture or
//! pawn move (DTZ).

#[cfg(windows)]
mod drive;
mod files;
#[cfg_attr(
    not(all(
        feature = "syzygy",
        target_pointer_width = "64",
        any(target_arch = "x86_64", windows, target_vendor = "apple")
    )),
    path = "no_prober.rs"
)]
mod prober;
mod ranked_move;

pub use files::{Files, MAX_PIECES, TablebaseError};
pub use ranked_move::RankedMove;

use crate::board::{GameHistory, Position};
use crate::types::{Color, Move};
use prober::Prober;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The outcome of a position with best play, for the side to move, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// A loss.
    Loss,
    /// A loss that the fifty-move rule makes a draw.
    BlessedLoss,
    /// A draw.
    Draw,
    /// A win that the fifty-move rule makes a draw.
    CursedWin,
    /// A win.
    Win,
}

impl std::ops::Neg for Wdl {
    type Output = Self;

    /// Returns the outcome for the other side.
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

/// An open set of tables, which all threads share by reference. Files are mapped into memory when they are first
/// needed.
///
/// The prober (the crate `pyrrhic-rs`) keeps its state in globals, so that only one set can be open at a time. To
/// replace a set without losing it to a wrong path, call [`Files::find`] for the new set, drop the old one, then call
/// [`Files::open`].
///
/// ```no_run
/// use kiln::board::Position;
/// use kiln::tablebases::{Tablebases, Wdl};
///
/// let tablebases = Tablebases::open("/path/to/syzygy")?;
/// let position: Position = "8/8/8/4k3/8/8/8/KQ6 w - - 0 1".parse().unwrap();
/// assert_eq!(tablebases.probe_wdl(&position), Some(Wdl::Win));
/// # Ok::<(), kiln::tablebases::TablebaseError>(())
/// ```
pub struct Tablebases {
    prober: Prober,
    files: Files,
    /// Held while DTZ is probed: the prober requires one such probe at a time.
    dtz_probe: Mutex<()>,
}

impl fmt::Debug for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Tablebases").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Files {
    /// Opens the tables.
    ///
    /// # Errors
    /// [`TablebaseError::InUse`] if another set is open, [`TablebaseError::Refused`] if the prober cannot use the
    /// tables, [`TablebaseError::Unsupported`] if the build has none.
    pub fn open(self) -> Result<Tablebases, TablebaseError> {
        let prober = Prober::open(&self.folders()?)?;
        Ok(Tablebases { prober, files: self, dtz_probe: Mutex::new(()) })
    }
}

impl Tablebases {
    /// Finds and opens tables: [`Files::find`], then [`Files::open`].
    ///
    /// # Errors
    /// As these two functions.
    pub fn open(path: &str) -> Result<Self, TablebaseError> {
        Files::find(path)?.open()
    }

    /// Returns the most pieces of any WDL table, kings included.
    pub fn max_pieces(&self) -> usize {
        self.files.max_pieces()
    }

    /// Returns the number of tables, WDL and DTZ counted separately.
    pub fn file_count(&self) -> usize {
        self.files.count()
    }

    /// Returns the outcome of the position, or `None` if it is in no table. Tables ignore castling rights and the
    /// halfmove clock: the result is `None` if there are castling rights or if the clock is not 0.
    pub fn probe_wdl(&self, position: &Position) -> Option<Wdl> {
        if position.halfmove_clock() == 0 { self.wdl(position) } else { None }
    }

    /// Returns the distance to zeroing (DTZ): the plies to the next capture or pawn move with best play. It is
    /// positive for a win, negative for a loss and 0 for a draw, and exceeds 100 in size if the fifty-move rule makes
    /// the position a draw. As stored in the tables, it can be one ply too large. The halfmove clock is ignored.
    /// Returns `None` if the position is in no table or has no legal move.
    pub fn probe_dtz(&self, position: &Position) -> Option<i32> {
        self.root_dtz(position).map(|(dtz, _)| dtz)
    }

    /// Ranks the legal moves, best first, by the DTZ tables or, where these are missing, by the WDL tables. Returns
    /// `None` if there is no legal move, or if some move's result is unknown.
    ///
    /// `history` holds the positions before this one. After a repetition, wins are ranked by how fast they make
    /// progress. A move that ends the game as a draw by repetition is a draw, whatever the tables say.
    pub fn rank_root(
        &self,
        position: &Position,
        history: &GameHistory,
        fifty_move_rule: bool,
    ) -> Option<Vec<RankedMove>> {
        let by_dtz = || {
            let (_, moves) = self.root_dtz(position)?;
            let (clock, repeated) = (i32::from(position.halfmove_clock()), history.has_repetition(position));
            let rank = |(mv, dtz)| RankedMove::by_dtz(mv, dtz, clock, repeated, fifty_move_rule);
            Some(moves.into_iter().map(rank).collect::<Vec<_>>())
        };
        let by_wdl = || {
            let rank = |&mv| Some(RankedMove::by_wdl(mv, -self.wdl(&position.make(mv))?, fifty_move_rule));
            position.moves().iter().map(rank).collect::<Option<Vec<_>>>()
        };
        let mut moves = by_dtz().or_else(by_wdl).filter(|moves| !moves.is_empty())?;
        let mut after = history.clone();
        after.push(position);
        for ranked in &mut moves {
            if after.is_repetition(&position.make(ranked.mv), after.len()) {
                *ranked = RankedMove::by_wdl(ranked.mv, Wdl::Draw, fifty_move_rule);
            }
        }
        moves.sort_by_key(|ranked| -ranked.tb_rank);
        Some(moves)
    }

    /// Returns whether there is a DTZ table for the position, which tells [`Self::rank_root`] which of several winning
    /// moves makes progress.
    pub fn has_dtz(&self, position: &Position) -> bool {
        self.may_hold(position) && self.files.has_dtz(position)
    }

    /// Returns whether the position has few enough pieces and no castling rights.
    fn may_hold(&self, position: &Position) -> bool {
        position.occupied().len() as usize <= self.max_pieces()
            && !Color::ALL.into_iter().any(|color| position.castling().any(color))
    }

    /// As [`Self::probe_wdl`], but ignores the halfmove clock.
    fn wdl(&self, position: &Position) -> Option<Wdl> {
        if self.may_hold(position) { self.prober.probe_wdl(position) } else { None }
    }

    /// Returns the signed DTZ of the position and those of its moves, all counted from the position.
    fn root_dtz(&self, position: &Position) -> Option<(i32, Vec<(Move, i32)>)> {
        // A DTZ probe of material without a DTZ table would make the prober drop the material's WDL table too.
        if !self.has_dtz(position) || position.count_moves() == 0 {
            return None;
        }
        let _guard = self.dtz_probe.lock().unwrap_or_else(PoisonError::into_inner);
        self.prober.probe_root_dtz(position)
    }
}
