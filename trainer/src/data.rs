//! The dataset: positions read from game shards, filtered, split by game into training and validation, and the order in
//! which training draws them.

use crate::batch::{BatchProcessor, sigmoid};
use crate::network::Network;
use anyhow::{Context, Result};
use bulletformat::{BulletFormat, ChessBoard};
use kiln::board::Position;
use kiln::data::{Game, MAX_PV_PLIES, is_trainable, shards};
use kiln::types::{Bitboard, Bound, Color, Square};
use kiln_gen::network::{Asset, equal_output_buckets};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// One game in this many is a validation game.
const GAMES_PER_VALIDATION_GAME: u64 = 100;
/// Shards that are read at once. More would need more memory: their positions are then in memory twice.
const SHARDS_AT_ONCE: usize = 64;

/// Centipawns per unit of σ where scores are mixed with results. With these the evaluation of kiln-g14b is nearest to
/// the results that a stronger engine expects.
const RESULT_SCALE: f32 = 125.0;

/// Which trainable positions of games are left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// Only the first so many positions of each variation, which are those in a row with the same score, are kept.
    /// Where each position has a score of its own, that leaves out few.
    pub plies: Option<usize>,
    /// Positions of search trees with fewer pieces are left out.
    pub tree_pieces: u32,
}

/// Training and validation positions in memory, 32 bytes each.
#[derive(Default)]
pub struct Dataset {
    /// Training positions.
    pub training: Vec<ChessBoard>,
    /// Validation positions, from games that contribute no training position.
    pub validation: Vec<ChessBoard>,
}

impl Dataset {
    /// Reads the trainable positions ([`is_trainable`]) of shards, given as files or folders of shards, except those
    /// that `filter` leaves out.
    ///
    /// Without `validation`, which are shards too, one game in a hundred is a validation game. Which one does not
    /// depend on the files.
    ///
    /// # Errors
    /// If a file cannot be read or is not a shard of games.
    pub fn read(training: &[PathBuf], validation: &[PathBuf], filter: Filter) -> Result<Self> {
        let mut data = Self::default();
        let mut read = |paths, is_validation: fn(&Game) -> bool| -> Result<()> {
            for files in files(paths)?.chunks(SHARDS_AT_ONCE) {
                let parts = files.par_iter().map(|file| read_shard(file, filter, is_validation));
                for part in parts.collect::<Result<Vec<_>>>()? {
                    data.training.extend(part.training);
                    data.validation.extend(part.validation);
                }
            }
            Ok(())
        };
        read(training, if validation.is_empty() { is_validation } else { |_| false })?;
        read(validation, |_| true)?;
        Ok(data)
    }

    /// Mixes the scores of the training positions with a network's evaluation, in expected points: those of a score are
    /// σ(score / `scale`). `trust` is the part of the score, from 0 to 1, by the ply of the variation; the last is also
    /// that of all later plies. A score that is a bound is replaced by the evaluation where it allows that, and is no
    /// bound any more.
    ///
    /// # Errors
    /// If the network has another quantisation than that of the trainer.
    ///
    /// # Panics
    /// If `trust` is empty.
    pub fn mix_scores(&mut self, teacher: &Asset, trust: &[f32], scale: f32) -> Result<()> {
        let network = Network::from_asset(teacher, false)?;
        let positions = &mut self.training;
        let scores = BatchProcessor::new(&network).evaluate(&network, positions.len(), |i| positions[i]);
        for (board, taught) in positions.iter_mut().zip(scores) {
            let trust = trust[ply(board).min(trust.len() - 1)];
            let [searched, taught] = [f32::from(board.score), taught].map(|score| sigmoid(score / scale));
            let points = match bound(board) {
                Some(Bound::Upper) => taught.min(searched),
                Some(Bound::Lower) => taught.max(searched),
                Some(Bound::Exact) | None => trust * searched + (1.0 - trust) * taught,
            };
            board.extra[1] = Bound::code(None);
            board.score = score(points, scale);
        }
        Ok(())
    }

    /// Mixes the scores of the training positions of games that were played out with their results, in expected points.
    /// `parts` are the results' parts, from 0 to 1, by the number of pieces: of 2 to 5, 6 to 9, and so on to 32.
    pub fn mix_results(&mut self, parts: [f32; 8]) {
        let buckets = equal_output_buckets(8);
        for board in self.training.iter_mut().filter(|board| is_played(board)) {
            let part = parts[usize::from(buckets[board.occ.count_ones() as usize])];
            if part > 0.0 {
                let points = part * board.result() + (1.0 - part) * sigmoid(f32::from(board.score) / RESULT_SCALE);
                board.score = score(points, RESULT_SCALE);
            }
        }
    }
}

/// Returns the score with these expected points, with `scale` centipawns per unit of σ.
fn score(points: f32, scale: f32) -> i16 {
    // An `f32` cannot tell points from one much closer to it.
    let points = points.clamp(1e-6, 1.0 - 1e-6);
    (scale * (points / (1.0 - points)).ln()).round() as i16
}

/// Returns whether a training position belongs to a game that was played out, which [`read_shard`] notes.
fn is_played(board: &ChessBoard) -> bool {
    board.extra[2] != 0
}

/// Returns the ply of a training position in its variation, which [`read_shard`] notes.
fn ply(board: &ChessBoard) -> usize {
    board.extra[0].into()
}

/// Returns the bound of a position's score, which [`Dataset::read`] notes; `None` if the position was played.
pub fn bound(board: &ChessBoard) -> Option<Bound> {
    Bound::from_code(board.extra[1])
}

/// Returns the SHA-256 of the concatenated SHA-256 hashes of shards, given as files or folders of shards.
///
/// # Errors
/// If a file cannot be read.
pub fn hash(paths: &[PathBuf]) -> Result<[u8; 32]> {
    let hash = |file: &PathBuf| -> Result<_> {
        let bytes = fs::read(file).with_context(|| format!("the shard {} cannot be read", file.display()))?;
        Ok(Sha256::digest(bytes))
    };
    let hashes: Vec<_> = files(paths)?.par_iter().map(hash).collect::<Result<_>>()?;
    Ok(Sha256::digest(hashes.concat()).into())
}

/// Returns the shards at these paths, in order.
///
/// # Errors
/// If a folder cannot be read.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let files: Vec<_> = paths.iter().map(|path| shards(path)).collect::<Result<_, _>>()?;
    Ok(files.concat())
}

/// Reads one shard. Positions of search trees are for training only.
fn read_shard(file: &Path, filter: Filter, is_validation: fn(&Game) -> bool) -> Result<Dataset> {
    let mut data = Dataset::default();
    for game in kiln::data::read(file)? {
        let game = game?;
        if game.bound.is_some() && game.start.occupied().len() < filter.tree_pieces {
            continue;
        }
        let positions = match is_validation(&game) {
            // The caller's validation shards may have some.
            true if game.bound.is_some() => continue,
            true => &mut data.validation,
            false => &mut data.training,
        };
        // The result of a branch is only what its search says. No branch is longer than a variation.
        let is_played = game.moves.len() > MAX_PV_PLIES;
        let (mut score, mut ply) = (None, 0);
        for (position, scored) in game.positions() {
            ply = if score.replace(scored.score) == Some(scored.score) { ply + 1 } else { 0 };
            if filter.plies.is_none_or(|plies| ply < plies) && is_trainable(&position, scored.mv, scored.score) {
                let mut board = pack(&position, scored.score, game.outcome.points());
                board.extra[0] = ply.min(usize::from(u8::MAX)) as u8;
                board.extra[1] = Bound::code(game.bound);
                board.extra[2] = is_played.into();
                positions.push(board);
            }
        }
    }
    Ok(data)
}

/// Returns whether a game is a validation game. This depends on the game alone, so no run trains on a game that another
/// run validates on. A position of a search tree never is.
fn is_validation(game: &Game) -> bool {
    if game.bound.is_some() {
        return false;
    }
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

/// The order in which training draws positions: each epoch is another random permutation of all positions.
///
/// The index of a position is computed, which needs no memory, and a resumed run continues where it stopped.
pub struct EpochOrder {
    /// Positions in an epoch.
    count: u64,
    seed: u64,
}

impl EpochOrder {
    /// Returns the order for `count` positions, at least 1. The same `seed` gives the same order.
    pub fn new(count: usize, seed: u64) -> Self {
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
            epochs[usize::from(place >= count)].index(place % count) as usize
        }
    }

    fn epoch(&self, number: u64) -> Permutation {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (number + 1).wrapping_mul(FACTOR));
        Permutation { count: self.count, keys: std::array::from_fn(|_| rng.next_u64()) }
    }
}

/// An odd number with bits of no pattern: the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random permutation of the numbers below `count`: a Feistel network on the numbers of as many bits. A number that
/// it maps to `count` or above is mapped again.
struct Permutation {
    count: u64,
    keys: [u64; 8],
}

impl Permutation {
    fn index(&self, mut place: u64) -> u64 {
        let bits = u64::BITS - (self.count - 1).leading_zeros();
        let widths = [bits / 2, bits - bits / 2];
        loop {
            let mut halves = [place & ((1 << widths[0]) - 1), place >> widths[0]];
            for (round, key) in self.keys.into_iter().enumerate() {
                let (from, to) = (round % 2, 1 - round % 2);
                let mixed = (halves[from] ^ key).wrapping_mul(FACTOR);
                halves[to] ^= (mixed >> 32) & ((1 << widths[to]) - 1);
            }
            place = halves[1] << widths[0] | halves[0];
            if place < self.count {
                return place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{SCALE, with_quantisation};
    use crate::synthetic;
    use kiln::data::ScoredMove;
    use kiln::types::PieceType;
    use kiln_gen::network::Header;

    /// Writes a shard of random games. Returns its folder, which lasts as long as this value, and its path.
    fn games(count: usize) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("games.viri.zst");
        fs::write(&file, synthetic::shard(count, 1).unwrap()).unwrap();
        (folder, file)
    }

    /// Replaces each game of a shard by others.
    fn rewrite(file: &Path, others: impl Fn(Game) -> Vec<Game>) {
        let mut raw = Vec::new();
        for game in kiln::data::read(file).unwrap() {
            others(game.unwrap()).iter().for_each(|game| game.write(&mut raw));
        }
        fs::write(file, zstd::encode_all(&raw[..], 1).unwrap()).unwrap();
    }

    /// Returns a game of one move for each of these positions of a game, with the bounds in turn.
    fn single_moves(
        game: &Game,
        positions: impl Iterator<Item = (Position, ScoredMove)>,
        bounds: &[Option<Bound>],
    ) -> Vec<Game> {
        let outcome = game.outcome;
        let single = |((start, scored), &bound)| Game { start, outcome, bound, moves: vec![scored] };
        positions.zip(bounds.iter().cycle()).map(single).collect()
    }

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
    fn validation_games_of_their_own_and_first_plies() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = [1, 2].map(|seed| {
            let file = folder.path().join(format!("{seed}.viri.zst"));
            fs::write(&file, synthetic::shard(300, seed).unwrap()).unwrap();
            file
        });
        let read = |training: &PathBuf, validation: &[PathBuf], plies| {
            let filter = Filter { plies, ..Filter::default() };
            let data = Dataset::read(std::slice::from_ref(training), validation, filter).unwrap();
            (data.training, data.validation)
        };
        let (some, rest) = read(&first, &[], None);
        let (all, others) = read(&first, std::slice::from_ref(&second), None);
        assert_eq!(all.len(), some.len() + rest.len());
        assert!(others == read(&second, std::slice::from_ref(&first), None).0);

        // Positions that the score does not tell from the one before are left out.
        let mut counts = [0; 2];
        for game in kiln::data::read(&first).unwrap() {
            let scored: Vec<_> = game.as_ref().unwrap().positions().collect();
            for (number, (position, ply)) in scored.iter().enumerate() {
                let before = |back| number.checked_sub(back).map(|number| scored[number].1.score);
                let trainable = usize::from(is_trainable(position, ply.mv, ply.score));
                counts[0] += if before(1) == Some(ply.score) { 0 } else { trainable };
                counts[1] += if [before(1), before(2)] == [Some(ply.score); 2] { 0 } else { trainable };
            }
        }
        assert!(counts[0] < counts[1] && counts[1] < all.len(), "{counts:?}");
        for (plies, count) in (1..).zip(counts) {
            assert_eq!(read(&first, std::slice::from_ref(&second), Some(plies)).0.len(), count);
        }
    }

    #[test]
    fn a_teacher_has_its_part_by_ply() {
        let (_folder, file) = games(300);
        let teacher = Asset::random(with_quantisation(Header::plain(32)), 1);
        let network = Network::from_asset(&teacher, false).unwrap();
        let with = |trust: &[f32]| {
            let mut data = Dataset::read(std::slice::from_ref(&file), &[], Filter::default()).unwrap();
            data.mix_scores(&teacher, trust, SCALE.into()).unwrap();
            data
        };
        let data = Dataset::read(std::slice::from_ref(&file), &[], Filter::default()).unwrap();
        let positions = &data.training;
        let taught = BatchProcessor::new(&network).evaluate(&network, positions.len(), |i| positions[i]);
        let within = |score: f32| score.clamp(-5000.0, 5000.0);
        let close = |score: i16, other: f32| (within(score.into()) - within(other)).abs() <= 1.0 + other.abs() / 50.0;
        let (searched, learnt, by_ply, half) = (with(&[1.0]), with(&[0.0]), with(&[1.0, 0.0]), with(&[0.5]));
        let mut plies = [0; 2];
        for (number, board) in positions.iter().enumerate() {
            let [searched, learnt, by_ply, half] =
                [&searched, &learnt, &by_ply, &half].map(|data| data.training[number].score);
            assert!(close(searched, board.score.into()), "{searched} {}", board.score);
            assert!(close(learnt, taught[number]), "{learnt} {}", taught[number]);
            assert!((searched.min(learnt)..=searched.max(learnt)).contains(&half), "{searched} {half} {learnt}");
            plies[ply(board).min(1)] += 1;
            assert_eq!(by_ply, if ply(board) == 0 { searched } else { learnt });
        }
        assert!(plies[0] > 0 && plies[1] > 0, "{plies:?}");
        assert!(with(&[0.0]).validation == data.validation, "what is validated is the search");
    }

    #[test]
    fn results_have_their_part_where_games_were_played_out() {
        let (_folder, file) = games(300);
        let read = || Dataset::read(std::slice::from_ref(&file), &[], Filter::default()).unwrap();
        let of_few = |board: &ChessBoard| board.occ.count_ones() <= 21;
        let with = |few: f32, many: f32| {
            let mut data = read();
            data.mix_results([few, few, few, few, few, many, many, many]);
            data.training
        };
        let before = read().training;
        assert!(with(0.0, 0.0) == before);
        let mut seen = [0; 3];
        for ((board, whole), half) in before.iter().zip(with(1.0, 0.0)).zip(with(0.0, 0.5)) {
            if !of_few(board) {
                assert_eq!(whole.score, board.score);
                let points = |board: &ChessBoard| sigmoid(f32::from(board.score) / RESULT_SCALE);
                assert!((points(&half) - (points(board) + board.result()) / 2.0).abs() < 0.01);
                continue;
            }
            assert_eq!(half.score, board.score);
            let halves = usize::from(board.result);
            assert!(
                [i16::MIN..=-1000, 0..=0, 1000..=i16::MAX][halves].contains(&whole.score),
                "{halves} {}",
                whole.score
            );
            seen[halves] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");

        // A branch is as short as a variation, and its result is no more than its score.
        for plies in [MAX_PV_PLIES + 1, MAX_PV_PLIES] {
            rewrite(&file, |mut game| {
                game.moves.truncate(plies);
                vec![game]
            });
            assert_eq!(with(1.0, 1.0) != read().training, plies > MAX_PV_PLIES);
        }
    }

    #[test]
    fn positions_of_trees_with_few_pieces_are_left_out() {
        let (_folder, file) = games(300);
        let bounds = [Some(Bound::Exact), None];
        rewrite(&file, |game| single_moves(&game, game.positions(), &bounds));
        let read = |tree_pieces| {
            let filter = Filter { tree_pieces, ..Filter::default() };
            Dataset::read(std::slice::from_ref(&file), &[], filter).unwrap().training
        };
        let all = read(0);
        let is_kept = |board: &ChessBoard| bound(board).is_none() || board.occ.count_ones() >= 20;
        let kept: Vec<ChessBoard> = all.iter().copied().filter(is_kept).collect();
        assert!(kept.len() < all.len() && read(20) == kept);
    }

    #[test]
    fn bounds_are_trained_on_and_give_way_to_a_teacher() {
        let (_folder, file) = games(600);
        let bounds = [None, Some(Bound::Upper), Some(Bound::Lower)];
        let trainable = |(position, scored): &(Position, ScoredMove)| is_trainable(position, scored.mv, scored.score);
        rewrite(&file, |game| single_moves(&game, game.positions().filter(trainable), &bounds));
        let read = || Dataset::read(std::slice::from_ref(&file), &[], Filter::default()).unwrap();
        let data = read();
        let count = |wanted| data.training.iter().filter(|board| bound(board) == wanted).count();
        assert!(bounds.iter().all(|&bound| count(bound) > data.training.len() / 4));
        assert!(data.validation.len() > 1 && data.validation.iter().all(|board| bound(board).is_none()));

        let teacher = Asset::random(with_quantisation(Header::plain(32)), 1);
        let network = Network::from_asset(&teacher, false).unwrap();
        let mut mixed = read();
        mixed.mix_scores(&teacher, &[1.0], SCALE.into()).unwrap();
        let positions = &data.training;
        let taught = BatchProcessor::new(&network).evaluate(&network, positions.len(), |i| positions[i]);
        let mut moved = 0;
        for ((before, after), taught) in positions.iter().zip(&mixed.training).zip(taught) {
            let score = f32::from(before.score);
            let expected = match bound(before) {
                Some(Bound::Upper) => score.min(taught),
                Some(Bound::Lower) => score.max(taught),
                _ => score,
            };
            let within = |score: f32| score.clamp(-5000.0, 5000.0);
            let difference = within(f32::from(after.score)) - within(expected);
            assert!(difference.abs() <= 1.0 + expected.abs() / 50.0, "{expected} {}", after.score);
            assert_eq!(bound(after), None);
            moved += usize::from(after.score != before.score);
        }
        assert!(moved > positions.len() / 10 && moved < positions.len() / 2, "{moved} of {}", positions.len());
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
