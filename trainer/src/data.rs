//! The positions that are learnt from: read from shards of games, filtered, divided by game, shuffled.

use anyhow::{Context, Result, ensure};
use bulletformat::ChessBoard;
use kiln::board::Position;
use kiln::data::random::{below, shuffle};
use kiln::data::{Game, is_trainable, shards};
use kiln::types::{Color, PieceType};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// One game in this many is held out.
const HELD_OUT: u64 = 100;

/// Positions in memory, 32 bytes each.
pub struct Data {
    /// To learn from, in random order.
    pub training: Vec<ChessBoard>,
    /// From games that nothing is learnt from.
    pub validation: Vec<ChessBoard>,
    /// SHA-256 over those of the shards, in the order of their names.
    pub sha256: [u8; 32],
}

impl Data {
    /// Reads shards, given as files or as folders of them, as far as a network should learn from them ([`is_trainable`]). The same games are held out whatever the files they are in; the order
    /// depends on the seed and the files' names. Fails at files that cannot be read or hold no games, and if nothing is left to learn from.
    pub fn read(paths: &[PathBuf], seed: u64) -> Result<Self> {
        let files: Vec<_> = paths.iter().map(|path| shards(path)).collect::<Result<_, _>>()?;
        let files = files.concat();
        let parts: Vec<_> = files.par_iter().map(|file| read_shard(file)).collect::<Result<_>>()?;
        let mut hash = Sha256::new();
        let mut data = Self { training: Vec::new(), validation: Vec::new(), sha256: [0; 32] };
        data.training.reserve_exact(parts.iter().map(|part| part.training.len()).sum());
        for part in parts {
            hash.update(part.sha256);
            data.training.extend(part.training);
            data.validation.extend(part.validation);
        }
        data.sha256 = hash.finalize().into();
        let left = data.training.len().min(data.validation.len());
        ensure!(
            left > 0,
            "{} positions to learn from and {} held out are left of the data; at least 1 of each is needed",
            data.training.len(),
            data.validation.len()
        );
        shuffle(&mut data.training, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Ok(data)
    }
}

fn read_shard(file: &Path) -> Result<Data> {
    let bytes = fs::read(file).with_context(|| format!("the shard {} cannot be read", file.display()))?;
    let mut data = Data { training: Vec::new(), validation: Vec::new(), sha256: Sha256::digest(&bytes).into() };
    drop(bytes);
    for game in kiln::data::read(file)? {
        let game = game?;
        let positions = if is_held_out(&game) { &mut data.validation } else { &mut data.training };
        for (position, ply) in game.positions() {
            if is_trainable(&position, ply.best, ply.score) {
                positions.push(pack(&position, ply.score, game.outcome.points()));
            }
        }
    }
    Ok(data)
}

/// Decided by the game alone, so that it is held out in every training that meets it.
fn is_held_out(game: &Game) -> bool {
    let mut bytes = Vec::new();
    game.write(&mut bytes);
    let hash: [u8; 32] = Sha256::digest(&bytes).into();
    let (first, _) = hash.split_first_chunk().expect("there are 32 bytes");
    u64::from_le_bytes(*first).is_multiple_of(HELD_OUT)
}

/// A position in 32 bytes. `score`, in centipawns, and `points`, 0 to 1, are White's; the result has those of the side to move.
pub fn pack(position: &Position, score: i16, points: f32) -> ChessBoard {
    let mut bitboards = [0; 8];
    let colors = Color::ALL.map(|color| position.color(color).0);
    let kinds = PieceType::ALL.map(|kind| position.kind(kind).0);
    bitboards[..2].copy_from_slice(&colors);
    bitboards[2..].copy_from_slice(&kinds);
    let side = position.side_to_move().index();
    ChessBoard::from_raw(bitboards, side, score, points).expect("every piece is of some kind")
}

/// The order in which positions are learnt: all of them once, then all again in another order, and so on.
///
/// The positions were shuffled already. Each epoch takes them in steps of a random length that has no factor in common with their number, from a
/// random start, which meets each once and needs no memory; so any place of the order can be had at once, as a resumed training needs it.
pub struct Order {
    count: u64,
    seed: u64,
}

impl Order {
    /// For `count` positions, at least 1.
    ///
    /// # Panics
    /// If there are 2^32 or more.
    pub fn new(count: usize, seed: u64) -> Self {
        assert!(u32::try_from(count).is_ok(), "{count} positions are too many");
        Self { count: count as u64, seed }
    }

    /// The positions from number `start` of the order on: a function of the number beyond that.
    pub fn from(&self, start: u64) -> impl Fn(usize) -> usize + Sync {
        let epochs = [0, 1].map(|next| self.epoch(start / self.count + next));
        let (count, start) = (self.count, start % self.count);
        move |number| {
            let place = start + number as u64;
            // A batch that is longer than an epoch goes on with the second one.
            let (first, stride) = epochs[usize::from(place >= count)];
            // Below 2^64, as all three are below 2^32.
            ((first + stride * (place % count)) % count) as usize
        }
    }

    fn epoch(&self, number: u64) -> (u64, u64) {
        let seed = self.seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below_count = || below(self.count as usize, &mut rng) as u64;
        let first = below_count();
        loop {
            let stride = below_count() + 1;
            if greatest_divisor(stride, self.count) == 1 {
                return (first, stride);
            }
        }
    }
}

fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_has_each_position_once() {
        let order = Order::new(720, 3);
        let mut epochs = Vec::new();
        for epoch in 0..3 {
            let position = order.from(720 * epoch);
            let positions: Vec<usize> = (0..720).map(&position).collect();
            let mut sorted = positions.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..720));
            // The way there does not matter.
            let before = order.from((720 * epoch).saturating_sub(10));
            let back = (720 * epoch).min(10) as usize;
            assert!((0..20).all(|i| before(back + i) == position(i)));
            epochs.push(positions);
        }
        assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
    }
}
