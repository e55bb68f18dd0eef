//! The evaluation is symmetrical, and correct in clear cases.

use kiln::board::Position;
use kiln::nnue::{Evaluator, Network};

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
