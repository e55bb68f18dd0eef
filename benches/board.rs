//! The speed of single operations on positions, compared with cozy-chess, over positions from two game trees.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use kiln::board::{MoveList, Position};
use kiln::types::Move;
use std::hint::black_box;

const ROOTS: [(&str, &str); 2] = [
    ("startpos", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
];

/// Every `STRIDE`th position after three plies is used.
const STRIDE: usize = 31;

fn collect(position: &Position, plies: u32, positions: &mut Vec<Position>) {
    if plies == 0 {
        return positions.push(position.clone());
    }
    for &mv in &position.moves() {
        collect(&position.make(mv), plies - 1, positions);
    }
}

fn peer_moves(board: &cozy_chess::Board) -> Vec<cozy_chess::Move> {
    let mut moves = Vec::new();
    board.generate_moves(|piece| {
        moves.extend(piece);
        false
    });
    moves
}

fn operations(criterion: &mut Criterion) {
    for (name, fen) in ROOTS {
        let mut all = Vec::new();
        collect(&fen.parse().expect("the position is legal"), 3, &mut all);
        let positions: Vec<Position> = all.into_iter().step_by(STRIDE).collect();
        let moves: Vec<(&Position, Vec<Move>)> =
            positions.iter().map(|position| (position, position.moves().to_vec())).collect();
        let boards: Vec<cozy_chess::Board> =
            positions.iter().map(|position| position.fen(false).parse().expect("the position is legal")).collect();
        let peer: Vec<(&cozy_chess::Board, Vec<cozy_chess::Move>)> =
            boards.iter().map(|board| (board, peer_moves(board))).collect();

        let mut group = criterion.benchmark_group(format!("position {name}"));
        group.throughput(Throughput::Elements(positions.len() as u64)).sample_size(30);
        generation(&mut group, &positions, &boards);
        drop(group);
        let mut group = criterion.benchmark_group(format!("move {name}"));
        let count: usize = moves.iter().map(|(_, moves)| moves.len()).sum();
        group.throughput(Throughput::Elements(count as u64)).sample_size(30);
        moving(&mut group, &moves, &peer);
    }
}

fn generation(group: &mut BenchmarkGroup<WallTime>, positions: &[Position], boards: &[cozy_chess::Board]) {
    let mut each = |name: &str, operation: fn(&Position, &mut MoveList) -> usize| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for position in positions {
                    black_box(operation(position, &mut MoveList::new()));
                }
            });
        });
    };
    each("list", |position, list| {
        position.list_moves(list);
        list.len()
    });
    each("list noisy", |position, list| {
        position.list_noisy_moves(list);
        list.len()
    });
    each("count", |position, _| position.count_moves());
    group.bench_function("list, cozy-chess", |bencher| {
        bencher.iter(|| {
            for board in boards {
                let mut moves = arrayvec::ArrayVec::<cozy_chess::Move, 256>::new();
                board.generate_moves(|piece| {
                    moves.extend(piece);
                    false
                });
                black_box(&moves);
            }
        });
    });
    group.bench_function("count, cozy-chess", |bencher| {
        bencher.iter(|| {
            for board in boards {
                let mut count = 0;
                board.generate_moves(|piece| {
                    count += piece.len();
                    false
                });
                black_box(count);
            }
        });
    });
}

fn moving(
    group: &mut BenchmarkGroup<WallTime>,
    moves: &[(&Position, Vec<Move>)],
    peer: &[(&cozy_chess::Board, Vec<cozy_chess::Move>)],
) {
    let mut each = |name: &str, operation: fn(&Position, Move) -> bool| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for (position, moves) in moves {
                    for &mv in moves {
                        black_box(operation(position, mv));
                    }
                }
            });
        });
    };
    each("make", |position, mv| {
        black_box(&position.make(mv));
        true
    });
    each("is legal", Position::is_legal);
    each("gives check", Position::gives_check);
    each("SEE at threshold 0", |position, mv| position.see_ge(mv, 0));
    group.bench_function("make, cozy-chess", |bencher| {
        bencher.iter(|| {
            for (board, moves) in peer {
                for &mv in moves {
                    let mut next = (*board).clone();
                    next.play_unchecked(mv);
                    black_box(&next);
                }
            }
        });
    });
    group.bench_function("is legal, cozy-chess", |bencher| {
        bencher.iter(|| {
            for (board, moves) in peer {
                for &mv in moves {
                    black_box(board.is_legal(mv));
                }
            }
        });
    });
}

criterion_group!(benches, operations);
criterion_main!(benches);
