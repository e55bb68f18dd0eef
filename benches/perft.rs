//! Bulk-counting perft, compared with cozy-chess.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kiln::board::Position;
use kiln::tools::perft::perft;

const POSITIONS: [(&str, &str, u32); 2] = [
    ("startpos", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5),
];

fn peer(board: &cozy_chess::Board, depth: u32) -> u64 {
    let mut leaves = 0;
    board.generate_moves(|moves| {
        if depth == 1 {
            leaves += moves.len() as u64;
        } else {
            for mv in moves {
                let mut next = board.clone();
                next.play_unchecked(mv);
                leaves += peer(&next, depth - 1);
            }
        }
        false
    });
    leaves
}

fn bulk(criterion: &mut Criterion) {
    for (name, fen, depth) in POSITIONS {
        let position: Position = fen.parse().expect("the position is legal");
        let board: cozy_chess::Board = fen.parse().expect("the position is legal");
        let leaves = perft(&position, depth);
        assert_eq!(leaves, peer(&board, depth));
        let mut group = criterion.benchmark_group(format!("perft {name} {depth}"));
        group.throughput(Throughput::Elements(leaves)).sample_size(10);
        group.bench_function("kiln", |bencher| bencher.iter(|| perft(&position, depth)));
        group.bench_function("cozy-chess", |bencher| bencher.iter(|| peer(&board, depth)));
        group.finish();
    }
}

criterion_group!(benches, bulk);
criterion_main!(benches);
