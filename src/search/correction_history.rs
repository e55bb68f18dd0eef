//! Correction history ("corrhist"): how far the static evaluation was off in positions that share a feature with this
//! one.

use super::history::{PieceTo, gravity};
use super::parameters as p;
use crate::board::Position;
use crate::simd;
use crate::types::Color;
use std::array;

/// Number of entries by feature.
const SIZE: usize = 16_384;
/// Largest absolute value of an entry, which stands for `LIMIT / UNIT` centipawns at a weight of 1024.
const LIMIT: i32 = 1024;
const UNIT: i32 = 16;

/// By side to move and feature.
type Table = [[i16; SIZE]; 2];

/// The corrections of a thread, which begin as zeros.
pub struct CorrectionHistory {
    /// Of pawns, White's and Black's other pieces, minor pieces, and major pieces.
    features: [Table; 5],
    /// By side to move, which the moves do not tell at the root, and the last two moves, the latest first.
    continuation: [[[i16; PieceTo::COUNT]; PieceTo::COUNT]; 2],
}

/// Returns the indices of a position's entries in the tables of features.
#[inline]
fn indices(position: &Position) -> [usize; 5] {
    let keys = position.keys();
    let [white, black] = Color::ALL.map(|color| keys.non_pawn(color));
    [keys.pawn(), white, black, keys.minor(), keys.major()].map(|key| key as usize % SIZE)
}

impl CorrectionHistory {
    /// Returns a position's entries: those of features, and that of the last moves.
    #[inline]
    fn entries(&self, position: &Position, [last, before]: [PieceTo; 2]) -> [&i16; 6] {
        let (side, indices) = (position.side_to_move(), indices(position));
        let [pawn, white, black, minor, major] = array::from_fn(|i| &self.features[i][side][indices[i]]);
        [pawn, white, black, minor, major, &self.continuation[side][last.index()][before.index()]]
    }

    /// Prefetches what [`CorrectionHistory::get`] reads.
    #[inline]
    pub fn prefetch(&self, position: &Position, last_moves: [PieceTo; 2]) {
        self.entries(position, last_moves).into_iter().for_each(simd::prefetch);
    }

    /// Returns the correction of a position's static evaluation in centipawns for the side to move. `last_moves` are
    /// the last two moves, the latest first.
    pub fn get(&self, position: &Position, last_moves: [PieceTo; 2]) -> i32 {
        let [pawn, white, black, minor, major, continuation] =
            self.entries(position, last_moves).map(|&entry| i32::from(entry));
        let sum = p::correction_pawn() * pawn
            + p::correction_non_pawn() * (white + black)
            + p::correction_minor() * minor
            + p::correction_major() * major
            + p::correction_continuation() * continuation;
        sum / (1024 * UNIT)
    }

    /// Records that a search to `depth` scored the position `error` centipawns above its corrected static evaluation.
    pub fn update(&mut self, position: &Position, [last, before]: [PieceTo; 2], depth: i32, error: i32) {
        let limit = p::correction_bonus_limit();
        let bonus = (error * depth / p::correction_bonus_divisor()).clamp(-limit, limit);
        let side = position.side_to_move();
        for (table, index) in self.features.iter_mut().zip(indices(position)) {
            gravity::<LIMIT>(&mut table[side][index], bonus);
        }
        gravity::<LIMIT>(&mut self.continuation[side][last.index()][before.index()], bonus);
    }
}

#[cfg(test)]
mod tests {
    use super::super::huge_pages::HugePageBox;
    use super::*;

    fn corrections() -> HugePageBox<CorrectionHistory> {
        // SAFETY: CorrectionHistory consists of i16: zeros are valid, nothing is dropped, the alignment is 2.
        unsafe { HugePageBox::zeroed() }.unwrap()
    }

    const NONE: [PieceTo; 2] = [PieceTo::NONE; 2];

    fn position(fen: &str) -> Position {
        fen.parse().unwrap()
    }

    #[test]
    fn a_correction_has_the_sign_of_the_error() {
        let start = Position::startpos();
        for error in [300, -300] {
            let mut corrections = corrections();
            assert_eq!(corrections.get(&start, NONE), 0);
            let mut last = 0;
            for _ in 0..3 {
                corrections.update(&start, NONE, 6, error);
                let now = corrections.get(&start, NONE);
                assert_eq!(now.signum(), error.signum());
                assert!(now.abs() > last, "the correction grows");
                last = now.abs();
            }
        }
    }

    #[test]
    fn corrections_stay_within_their_limit_and_decay() {
        let start = Position::startpos();
        let mut corrections = corrections();
        let weights = p::correction_pawn()
            + 2 * p::correction_non_pawn()
            + p::correction_minor()
            + p::correction_major()
            + p::correction_continuation();
        for _ in 0..1000 {
            corrections.update(&start, NONE, 100, 20_000);
        }
        let most = corrections.get(&start, NONE);
        assert!(most > 0 && most <= LIMIT * weights / (1024 * UNIT));
        // A large entry gives way to an error of the other sign faster than a small one grows.
        corrections.update(&start, NONE, 1, -800);
        let decay = most - corrections.get(&start, NONE);
        let mut fresh = self::corrections();
        fresh.update(&start, NONE, 1, -800);
        assert!(decay > -fresh.get(&start, NONE) && decay > 0);
    }

    #[test]
    fn positions_share_what_their_features_share() {
        let mut corrections = corrections();
        let start = Position::startpos();
        corrections.update(&start, NONE, 8, 200);
        let same_pawns = position("r1bqkbnr/pppppppp/2n5/8/8/2N5/PPPPPPPP/R1BQKBNR w KQkq - 2 2");
        let shared = corrections.get(&same_pawns, NONE);
        assert!(shared > 0 && shared < corrections.get(&start, NONE));
        let black_to_move = position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(corrections.get(&black_to_move, NONE), 0, "each side has its own corrections");
        let moved = [PieceTo::new(&start, start.parse_move("g1f3").unwrap()), PieceTo::NONE];
        assert!(corrections.get(&start, moved) < corrections.get(&start, NONE));
    }
}
