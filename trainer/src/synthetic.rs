//! Synthetic data: random games scored by material, to test and time the trainer without self-play data.

use kiln::board::Position;
use kiln::data::{Game, Outcome, ScoredMove};
use kiln::types::{Color, PieceType};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::io;

/// Maximum length of a game in plies.
const MAX_PLIES: usize = 160;

/// Returns the material balance in centipawns from White's view.
fn material_balance(position: &Position) -> i16 {
    let kinds = PieceType::ALL.into_iter().zip([100, 300, 300, 500, 900, 0]);
    let of = |color, kind| position.pieces(color, kind).len() as i16;
    kinds.map(|(kind, value)| value * (of(Color::White, kind) - of(Color::Black, kind))).sum()
}

/// Returns a compressed shard of `games` games. The same `seed` gives the same bytes.
///
/// # Errors
/// If compression fails.
pub fn shard(games: usize, seed: u64) -> io::Result<Vec<u8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut bytes = Vec::new();
    for _ in 0..games {
        let start = Position::startpos();
        let mut position = start.clone();
        let mut plies = Vec::new();
        while plies.len() < MAX_PLIES && position.occupied().len() > 5 {
            let moves = position.moves();
            if moves.is_empty() {
                break;
            }
            let best = moves[random.next_u64() as usize % moves.len()];
            plies.push(ScoredMove { mv: best, score: material_balance(&position) });
            position = position.make(best);
        }
        let outcome = match material_balance(&position) {
            200.. => Outcome::WhiteWins,
            ..=-200 => Outcome::BlackWins,
            _ => Outcome::Draw,
        };
        Game { start, outcome, bound: None, moves: plies }.write(&mut bytes);
    }
    zstd::encode_all(&bytes[..], 3)
}
