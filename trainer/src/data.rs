//! The dataset: positions read from game shards, filtered, split by game into training and validation, and shuffled.

use anyhow::{Context, Result, ensure};
use bulletformat::ChessBoard;
use kiln::board::Position;
use kiln::data::random::{below, shuffle};
use kiln::data::{Game, is_trainable, shards};
use kiln::types::{Bitboard, Color, Square};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// One game in this many is a validation game.
const GAMES_PER_VALIDATION_GAME: u64 = 100;

/// Training and validation positions in memory, 32 bytes each.
pub struct Dataset {
    /// Training positions in random order.
    pub training: Vec<ChessBoard>,
    /// Validation positions, from games that contribute no training position.
    pub validation: Vec<ChessBoard>,
    /// SHA-256 of the concatenated SHA-256 hashes of the shards, in reading order.
    pub sha256: [u8; 32],
}

impl Dataset {
    /// Reads the trainable positions ([`is_trainable`]) of shards, given as files or folders of shards.
    ///
    /// Which games are validation games does not depend on the files they are in. The order of the training positions
    /// depends on `seed` and on the order of the files.
    ///
    /// # Errors
    /// If a file cannot be read or is not a shard of games, or if no training or no validation position remains.
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
        ensure!(
            !data.training.is_empty() && !data.validation.is_empty(),
            "the data has {} training and {} validation positions; at least 1 of each is needed",
            data.training.len(),
            data.validation.len()
        );
        shuffle(&mut data.training, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Ok(data)
    }
}

/// Reads one shard; `sha256` of the result is that of the file.
fn read_shard(file: &Path) -> Result<Dataset> {
    let bytes = fs::read(file).with_context(|| format!("the shard {} cannot be read", file.display()))?;
    let mut data = Dataset { training: Vec::new(), validation: Vec::new(), sha256: Sha256::digest(&bytes).into() };
    drop(bytes);
    for game in kiln::data::read(file)? {
        let game = game?;
        let positions = if is_validation(&game) { &mut data.validation } else { &mut data.training };
        for (position, ply) in game.positions() {
            if is_trainable(&position, ply.mv, ply.score) {
                positions.push(pack(&position, ply.score, game.outcome.points()));
            }
        }
    }
    Ok(data)
}

/// Returns whether a game is a validation game. This depends on the game alone, so no run trains on a game that another
/// run validates on.
fn is_validation(game: &Game) -> bool {
    let mut bytes = Vec::new();
    game.write(&mut bytes);
    let hash: [u8; 32] = Sha256::digest(&bytes).into();
    let (first, _) = hash.split_first_chunk().expect("there are 32 bytes");
    u64::from_le_bytes(*first).is_multiple_of(GAMES_PER_VALIDATION_GAME)
}

/// Packs a position into 32 bytes. `score` (centipawns) and `points` (game result, 0, 0.5 or 1) are from White's view;
/// the packed values are from the side to move's.
pub fn pack(position: &Position, score: i16, points: f32) -> ChessBoard {
    let us = position.side_to_move();
    let (ranks, score, points) = match us {
        Color::White => (0, score, points),
        Color::Black => (56, -score, 1.0 - points),
    };
    let view = |square: Square| square.index() ^ ranks;
    let mut board = ChessBoard {
        score,
        result: (2.0 * points) as u8,
        ksq: view(position.king(us)) as u8,
        opp_ksq: view(position.king(!us)) as u8 ^ 56,
        ..ChessBoard::default()
    };
    let mut pieces = [0; 64];
    for (square, piece) in
        position.occupied().into_iter().filter_map(|square| Some((square, position.piece_on(square)?)))
    {
        let side = if piece.color() == us { 0 } else { 8 };
        pieces[view(square)] = side | piece.kind() as u8;
        board.occ |= 1 << view(square);
    }
    for (number, square) in Bitboard(board.occ).into_iter().enumerate() {
        board.pcs[number / 2] |= pieces[square.index()] << (4 * (number % 2));
    }
    board
}

/// The order in which training draws positions: each epoch is another permutation of all positions.
///
/// The positions themselves are already shuffled. An epoch starts at a random position and advances by a random stride
/// that is coprime to their number, which visits each position once. This needs no memory and gives random access to
/// the order, so a resumed run continues where it stopped.
pub struct EpochOrder {
    /// Positions in an epoch.
    count: u64,
    seed: u64,
}

impl EpochOrder {
    /// Returns the order for `count` positions, at least 1. The same `seed` gives the same order.
    ///
    /// # Panics
    /// If `count` is 2^32 or more.
    pub fn new(count: usize, seed: u64) -> Self {
        assert!(u32::try_from(count).is_ok(), "{count} positions are too many; at most 2^32 - 1 are allowed");
        Self { count: count as u64, seed }
    }

    /// Returns a function from `n` to the index of the `n`th position drawn after the first `start` ones, over all
    /// epochs.
    pub fn starting_at(&self, start: u64) -> impl Fn(usize) -> usize + Sync {
        let epochs = [0, 1].map(|next| self.epoch(start / self.count + next));
        let (count, start) = (self.count, start % self.count);
        move |number| {
            let place = start + number as u64;
            // A batch that outlasts the second epoch repeats it.
            let (first, stride) = epochs[usize::from(place >= count)];
            // No overflow: all three are below 2^32.
            ((first + stride * (place % count)) % count) as usize
        }
    }

    /// Returns the first index and the stride of an epoch.
    fn epoch(&self, number: u64) -> (u64, u64) {
        let seed = self.seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below_count = || below(self.count as usize, &mut rng) as u64;
        let first = below_count();
        loop {
            let stride = below_count() + 1;
            if greatest_common_divisor(stride, self.count) == 1 {
                return (first, stride);
            }
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln::types::PieceType;

    #[test]
    fn packs_as_bulletformat_does() {
        for fen in [
            "r3k2r/pP1p1ppp/8/2pPp3/8/2N2B2/PP1Q1PPP/R3K2R w KQkq c6 0 2",
            "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - b3 99 50",
        ] {
            let position: Position = fen.parse().unwrap();
            let colors = Color::ALL.map(|color| position.color(color).0);
            let kinds = PieceType::ALL.map(|kind| position.kind(kind).0);
            let bitboards = [colors.as_slice(), &kinds].concat().try_into().unwrap();
            let side = position.side_to_move().index();
            for (score, points) in [(-123, 0.0), (45, 0.5), (0, 1.0)] {
                let expected = ChessBoard::from_raw(bitboards, side, score, points).unwrap();
                assert_eq!(pack(&position, score, points), expected);
            }
        }
    }

    #[test]
    fn an_epoch_has_each_position_once() {
        let order = EpochOrder::new(720, 3);
        let mut epochs = Vec::new();
        for epoch in 0..3 {
            let position = order.starting_at(720 * epoch);
            let positions: Vec<usize> = (0..720).map(&position).collect();
            let mut sorted = positions.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..720));
            // Starting earlier, in the previous epoch, gives the same order.
            let before = order.starting_at((720 * epoch).saturating_sub(10));
            let back = (720 * epoch).min(10) as usize;
            assert!((0..20).all(|i| before(back + i) == position(i)));
            epochs.push(positions);
        }
        assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
    }
}
