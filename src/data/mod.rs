//! Training data on disk: games, which `kiln datagen` plays or `kiln data import` reads from PGN, for the trainer.
//!
//! A shard is a file of games in viriformat (the format of the engine Viridithas, documented in its crate
//! `viriformat`), compressed with zstd. A [`Sidecar`] with the same file name records its provenance. This module
//! implements the format itself because that crate panics on malformed input and depends on a second chess library; the
//! tests compare both.
//!
//! ```no_run
//! for game in kiln::data::read("data/shard-00000.viri.zst".as_ref())? {
//!     let game = game?;
//!     for (position, scored) in game.positions() {
//!         if kiln::data::is_trainable(&position, scored.mv, scored.score) {
//!             println!("{} {} {}", position.fen(true), scored.score, game.outcome.points());
//!         }
//!     }
//! }
//! # Ok::<(), kiln::data::GameFileError>(())
//! ```

mod game;
mod packed;
mod pgn;
pub mod random;
mod read;
pub(crate) mod record;
mod shard;

pub use game::{Game, Outcome, ScoredMove, rule_outcome};
pub use pgn::{PgnGameError, read_pgn};
pub use read::{GameFileError, Reader, read};
pub(crate) use shard::shard_path;
pub use shard::{Import, MAX_RAW, OpeningBook, Run, SUFFIX, Shard, Sidecar, replace, shards, sidecar_path};

use crate::board::Position;
use crate::types::Move;

/// Scores of at least this size, in centipawns, are not trained on: the game is decided. They include mates.
pub const MAX_SCORE: i32 = 10_000;

/// The most plies of a principal variation that are played after one search, and so the greatest length of a branch.
pub const MAX_PV_PLIES: usize = 8;

/// Returns whether to train on a position with this best move and score: the move is quiet and no promotion, the score
/// below [`MAX_SCORE`], and the position is not in check. The first plies of a game count too, because games start with
/// random moves.
pub fn is_trainable(position: &Position, best: Move, score: i16) -> bool {
    !best.is_noisy() && best.promotion().is_none() && i32::from(score).abs() < MAX_SCORE && !position.in_check()
}
