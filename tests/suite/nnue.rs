//! The evaluation is symmetrical, correct in clear cases, and the same whichever way accumulators are computed.

use kiln::board::Position;
use kiln::nnue::{Evaluator, Network};
use kiln::tools::net::reference;
use kiln_gen::hexadecimal;
use kiln_gen::network::{Asset, Head, read_file};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn score(fen: &str) -> i32 {
    let position: Position = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
    Evaluator::new(Network::embedded()).evaluate(&position).value()
}

/// Returns the position with colors swapped and the board flipped.
fn swapped(fen: &str) -> String {
    let fields: Vec<&str> = fen.split(' ').collect();
    let case = |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let ranks: Vec<String> = fields[0].split('/').rev().map(|rank| rank.chars().map(case).collect()).collect();
    let side = if fields[1] == "w" { "b" } else { "w" };
    format!("{} {side} - - 0 1", ranks.join("/"))
}

/// Returns the position mirrored left to right.
fn mirrored(fen: &str) -> String {
    let (placement, _) = fen.split_once(' ').unwrap();
    let ranks: Vec<String> = placement.split('/').map(|rank| rank.chars().rev().collect()).collect();
    format!("{} {} - - 0 1", ranks.join("/"), fen.split(' ').nth(1).unwrap())
}

#[test]
fn symmetrical() {
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w - - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
        "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    ] {
        assert_eq!(score(fen), score(&swapped(fen)), "{fen}");
        assert_eq!(score(fen), score(&mirrored(fen)), "{fen}");
    }
    // The first move is a small advantage at most.
    assert!(score("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").abs() < 60);
}

#[test]
fn an_extra_queen_wins() {
    let more = score("4k3/pppppppp/8/8/8/8/PPPPPPPP/3QK3 w - - 0 1");
    let less = score("4k3/pppppppp/8/8/8/8/PPPPPPPP/3QK3 b - - 0 1");
    assert!(more > 600 && less < -600, "{more} {less}");
}

/// Returns the asset that is embedded.
fn embedded() -> Asset {
    let file = std::env::var("EVALFILE").ok().filter(|path| !path.is_empty());
    let file = file.as_deref().unwrap_or("assets/kiln.nnue.zst");
    let asset = Asset::from_bytes(&read_file(file.as_ref()).unwrap()).unwrap();
    assert_eq!(hexadecimal(&asset.header.sha256), Network::embedded().sha256(), "{file} is not the embedded network");
    asset
}

/// Lines of moves and null moves, back and forth, in chess and Chess960, scored by one evaluator, which jumps from game
/// to game too. Some positions are not scored, so that the next score needs several updates.
#[test]
fn incremental_equals_from_scratch_and_the_reference() {
    let asset = embedded();
    let tolerance = i64::from(asset.header.head != Head::Single);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "1rkr4/pppppppp/8/8/8/8/PPPPPPPP/1RKR4 w DBdb - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "8/3P1k2/1n6/8/2pPp3/8/P4K1p/6N1 b - d3 0 1",
    ];
    let mut evaluator = Evaluator::new(Network::embedded());
    let mut scored = 0;
    for fen in starts.into_iter().cycle().take(40) {
        let mut line: Vec<Position> = vec![fen.parse().unwrap()];
        evaluator.restart();
        for _ in 0..150 {
            let position = line.last().unwrap();
            let moves = position.moves();
            let choice = rng.next_u32() as usize;
            let next = match choice % 16 {
                // Not in check, which a null move would leave.
                0 if !position.in_check() => position.make_null(),
                1..4 if line.len() > 1 => {
                    line.pop();
                    evaluator.pop();
                    continue;
                }
                _ if moves.is_empty() => break,
                _ => position.make(moves[choice / 16 % moves.len()]),
            };
            evaluator.push(position);
            line.push(next);
            if rng.next_u32() % 4 != 0 {
                let position = line.last().unwrap();
                let score = evaluator.evaluate(position);
                let fen = position.fen(true);
                assert_eq!(score, Evaluator::new(Network::embedded()).evaluate(position), "{fen}");
                assert!((i64::from(score.value()) - reference(&asset, position)).abs() <= tolerance, "{fen}");
                scored += 1;
            }
        }
    }
    assert!(scored > 2000, "{scored}");
}
