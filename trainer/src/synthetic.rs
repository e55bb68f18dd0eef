//! Games of random moves, scored by material: to try and time the trainer without an engine's data.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::io;
use viriformat::chess::board::{Board, DrawType, GameOutcome, WinType};
use viriformat::chess::piece::{Colour, PieceType};
use viriformat::dataformat::Game;

/// Longest game in plies.
const LONGEST: usize = 160;

/// White's balance of material in centipawns.
fn balance(board: &Board) -> i16 {
    let kinds = [PieceType::Pawn, PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];
    let values = [100, 300, 300, 500, 900];
    let difference = |kind| {
        let of = |colour| (board.pieces.of_type(kind) & board.pieces.occupied_co(colour)).count() as i16;
        of(Colour::White) - of(Colour::Black)
    };
    kinds.into_iter().zip(values).map(|(kind, value)| value * difference(kind)).sum()
}

/// A shard of `games` games, compressed. The same seed gives the same bytes.
pub fn shard(games: usize, seed: u64) -> io::Result<Vec<u8>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut encoder = zstd::Encoder::new(Vec::new(), 3)?;
    for _ in 0..games {
        let mut board = Board::default();
        let mut game = Game::new(&board);
        for _ in 0..LONGEST {
            let moves = board.legal_moves();
            if moves.is_empty() || board.pieces.occupied().count() < 6 {
                break;
            }
            let mv = moves[random.next_u64() as usize % moves.len()];
            game.add_move(mv, balance(&board));
            board.make_move_simple(mv);
        }
        game.set_outcome(match balance(&board) {
            200.. => GameOutcome::WhiteWin(WinType::Adjudication),
            ..=-200 => GameOutcome::BlackWin(WinType::Adjudication),
            _ => GameOutcome::Draw(DrawType::Adjudication),
        });
        game.serialise_into(&mut encoder)?;
    }
    encoder.finish()
}
