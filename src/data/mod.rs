//! Games of self-play on disk: what the generator writes and a trainer reads.
//!
//! A shard is a file of games in viriformat (the format of the engine Viridithas, described at its crate `viriformat`) compressed by zstd, with its
//! provenance in a [`Sidecar`] of the same name. The format is read and written here and not by that crate, which stops the
//! program at malformed bytes and brings a second chess library; the tests compare both.
//!
//! ```no_run
//! for game in kiln::data::read("data/shard-00000.viri.zst".as_ref())? {
//!     let game = game?;
//!     for (position, ply) in game.positions() {
//!         if kiln::data::is_trainable(&position, ply.mv, ply.score) {
//!             println!("{} {} {}", position.fen(true), ply.score, game.outcome.points());
//!         }
//!     }
//! }
//! # Ok::<(), kiln::data::GameFileError>(())
//! ```

mod game;
mod packed;
pub mod random;
mod read;
mod shard;

pub use game::{Game, Outcome, ScoredMove, rule_outcome};
pub use read::{GameFileError, Reader, read};
pub(crate) use shard::shard_path;
pub use shard::{MAX_RAW, Run, SUFFIX, Shard, Sidecar, replace, shards, sidecar_path};

use crate::board::Position;
use crate::types::Move;

/// Scores from here on, in centipawns, say only that the game is decided. Mates are among them.
pub const MAX_SCORE: i32 = 10_000;
/// With fewer pieces on the board there is little to learn.
pub const MIN_PIECES: u32 = 4;

/// Whether a network should learn from a position in which `best` was found best with this score: it is quiet, undecided and not too empty. The first
/// plies of a game are no worse than others where they follow random moves, as all here do.
pub fn is_trainable(position: &Position, best: Move, score: i16) -> bool {
    !best.is_noisy()
        && best.promotion().is_none()
        && i32::from(score).abs() < MAX_SCORE
        && position.occupied().len() >= MIN_PIECES
        && !position.in_check()
}
