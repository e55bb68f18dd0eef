//! Perft: counts of legal move sequences, compared with published ones.

use crate::common::test_data;
use kiln::board::Position;
use kiln::tools::perft::perft;

fn check(fen: &str, counts: &[(u32, u64)]) {
    let position: Position = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
    for &(depth, expected) in counts {
        assert_eq!(perft(&position, depth), expected, "{fen} at depth {depth}");
    }
}

/// The positions of the Chessprogramming wiki, "Perft Results".
#[test]
fn standard() {
    check("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &[(5, 4_865_609)]);
    check("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", &[(1, 48), (4, 4_085_603)]);
    check("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[(5, 674_624)]);
    check("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", &[(4, 422_333)]);
    check("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", &[(4, 2_103_487)]);
    check("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", &[(4, 3_894_594)]);
    // The most moves of any position reachable in a game, by Nenad Petrović.
    check("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", &[(1, 218)]);
}

/// Chess960 positions with castling of all kinds (Chessprogramming wiki, "Chess960 Perft Results").
#[test]
fn chess960() {
    check("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", &[(5, 8_146_062)]);
    check("qnnbbrkr/1p2ppp1/2pp3p/p7/1P5P/2NP4/P1P1PPP1/Q1NBBRKR w HFhf - 0 9", &[(5, 11_110_203)]);
    check("qnnbrk1r/1p1ppbpp/2p5/p4p2/2NP3P/8/PPP1PPP1/Q1NBRKBR w HEhe - 0 9", &[(4, 642_367)]);
    check("bnqbnr1r/p1p1ppkp/3p4/1p4p1/P7/3NP2P/1PPP1PP1/BNQB1RKR w HF - 0 9", &[(4, 832_956)]);
}

/// Checks each position of a suite to the largest depth with at most `most_leaves` leaves. The environment variable
/// `KILN_PERFT_LEAVES` overrides the limit.
fn suite(name: &str, most_leaves: u64) {
    let most_leaves = std::env::var("KILN_PERFT_LEAVES").map_or(most_leaves, |text| text.parse().expect("a number"));
    let Some(path) = test_data(&format!("perft/{name}")) else { return };
    let suite = std::fs::read_to_string(&path).unwrap();
    let mut positions = 0;
    for line in suite.lines().filter(|line| !line.trim().is_empty()) {
        let (fen, counts) = line.split_once(';').expect("a FEN, then ;D1 count ;D2 count …");
        let counts = counts.split(';').map(|count| {
            let (depth, leaves) = count.trim().split_once(' ').expect("Dn count");
            (depth[1..].parse().expect("a depth"), leaves.trim().parse().expect("a count"))
        });
        check(fen, &counts.filter(|&(_, leaves)| leaves <= most_leaves).collect::<Vec<_>>());
        positions += 1;
    }
    assert!(positions > 100, "{path} holds {positions} positions");
}

#[test]
fn standard_suite() {
    suite("standard.epd", 20_000_000);
}

#[test]
fn chess960_suite() {
    suite("chess960.epd", 2_000_000);
}
