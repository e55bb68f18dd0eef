//! Random games, compared move by move with cozy-chess and with recomputation from scratch.

use kiln::board::{MoveList, Position};
use kiln::nnue::{Evaluator, Network};
use kiln::types::Move;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;

const PLIES: usize = 300;

fn peer_moves(board: &cozy_chess::Board) -> BTreeSet<String> {
    let mut moves = BTreeSet::new();
    board.generate_moves(|piece| {
        moves.extend(piece.into_iter().map(|mv| mv.to_string()));
        false
    });
    moves
}

fn pick(moves: &[Move], rng: &mut Xoshiro256PlusPlus) -> Move {
    moves[rng.next_u32() as usize % moves.len()]
}

/// Plays one game and returns the number of positions compared.
fn play(mut position: Position, mut peer: cozy_chess::Board, rng: &mut Xoshiro256PlusPlus) -> usize {
    let fresh = |position: &Position| Evaluator::new(Network::embedded()).evaluate(position);
    let mut evaluator = Evaluator::new(Network::embedded());
    for ply in 0..PLIES {
        let fen = position.fen(true);
        let moves = position.moves();
        let ours: BTreeSet<String> = moves.iter().map(|mv| mv.uci(true)).collect();
        assert_eq!(ours.len(), moves.len(), "a move is generated twice in {fen}");
        assert_eq!(ours, peer_moves(&peer), "{fen}");

        let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
        position.list_noisy_moves(&mut noisy);
        position.list_quiet_moves(&mut quiet);
        let noisy: BTreeSet<u16> = noisy.iter().map(|mv| mv.word()).collect();
        let expected: BTreeSet<u16> = moves.iter().filter(|mv| mv.is_noisy()).map(|mv| mv.word()).collect();
        assert_eq!(noisy, expected, "{fen}");

        let quiet: BTreeSet<u16> = quiet.iter().map(|mv| mv.word()).collect();
        assert_eq!(moves.len(), noisy.len() + quiet.len(), "{fen}");
        assert!(moves.iter().all(|mv| noisy.contains(&mv.word()) || quiet.contains(&mv.word())), "{fen}");
        assert_eq!(position.count_moves(), moves.len(), "{fen}");

        // Keys and attack tables are updated incrementally; parsing the FEN computes them from scratch.
        assert!(position.is_consistent(), "{fen}");
        let read: Position = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
        assert_eq!((&read, read.keys()), (&position, position.keys()), "{fen}");
        // Skipping an evaluation makes the next one update the accumulator over several plies.
        if !rng.next_u32().is_multiple_of(3) {
            assert_eq!(evaluator.evaluate(&position), fresh(&position), "{fen}");
        }

        if moves.is_empty() || position.halfmove_clock() >= 100 {
            return ply + 1;
        }
        let mv = pick(&moves, rng);
        assert_eq!(position.parse_move(&mv.uci(true)), Some(mv), "{fen}");
        evaluator.push(&position);
        position.play(mv);
        peer.play(mv.uci(true).parse().expect("both write moves alike"));
    }
    PLIES
}

#[test]
fn chess() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut positions = 0;
    // Ten million positions take minutes.
    let least = std::env::var("KILN_RANDOM_POSITIONS").map_or(20_000, |text| text.parse().expect("a number"));
    while positions < least {
        positions += play(Position::startpos(), cozy_chess::Board::default(), &mut rng);
    }
}

#[test]
fn chess960() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut castled = 0;
    for start in (0..960).step_by(4) {
        let board = cozy_chess::Board::double_chess960_startpos(start, rng.next_u32() % 960);
        let position: Position = format!("{board:#}").parse().expect("a starting position is legal");
        castled += position.castling().any(kiln::types::Color::White) as usize;
        play(position, board, &mut rng);
    }
    assert_eq!(castled, 240);
}
