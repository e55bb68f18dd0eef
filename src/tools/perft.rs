//! Counting the leaves of the tree of legal moves, the standard test of a move generator.

use crate::board::Position;
use crate::types::Move;

/// The number of move sequences of this length. The last ply is counted, not made.
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_moves() as u64,
        _ => {
            let after = |mv| {
                let mut next = position.clone();
                next.play(mv, &mut ());
                perft(&next, depth - 1)
            };
            position.moves().iter().map(|&mv| after(mv)).sum()
        }
    }
}

/// [`perft`] for each legal move; `depth` counts that move.
pub fn divide(position: &Position, depth: u32) -> impl Iterator<Item = (Move, u64)> {
    position.moves().to_vec().into_iter().map(move |mv| (mv, perft(&position.make(mv), depth.saturating_sub(1))))
}
