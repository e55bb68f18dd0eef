//! Evaluations of the network that this build has; `EVALFILE=path cargo bench --bench nnue` measures another.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kiln::board::Position;
use kiln::nnue::{Evaluator, Network, SHAPE};
use kiln::types::Move;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hint::black_box;

const GAMES: usize = 40;
const PLIES: usize = 80;

/// The moves of random games from the starting position.
fn games() -> Vec<Vec<(Position, Move)>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut game = || {
        let mut position = Position::startpos();
        let mut game = Vec::new();
        while game.len() < PLIES && !position.is_over() {
            let moves = position.moves();
            let mv = moves[rng.next_u32() as usize % moves.len()];
            game.push((position.clone(), mv));
            position = position.make(mv);
        }
        game
    };
    (0..GAMES).map(|_| game()).collect()
}

fn evaluations(criterion: &mut Criterion) {
    let games = games();
    let count: usize = games.iter().map(Vec::len).sum();
    let network = Network::embedded();
    let mut group = criterion.benchmark_group(SHAPE);
    group.throughput(Throughput::Elements(count as u64)).sample_size(30);
    let mut evaluator = Evaluator::new(network.clone(), &Position::startpos());
    group.bench_function("head alone", |bencher| {
        bencher.iter(|| {
            for (position, _) in games.iter().flatten() {
                // The accumulators of the start, whatever the position: what the sums are makes little difference.
                black_box(evaluator.evaluate(black_box(position)));
            }
        });
    });
    group.bench_function("after a move", |bencher| {
        bencher.iter(|| {
            for game in &games {
                let mut position = game[0].0.clone();
                let mut evaluator = Evaluator::new(network.clone(), &position);
                for &(_, mv) in game {
                    evaluator.play(&mut position, mv);
                    black_box(evaluator.evaluate(&position));
                }
            }
        });
    });
    group.bench_function("from scratch", |bencher| {
        bencher.iter(|| {
            for (position, _) in games.iter().flatten() {
                black_box(Evaluator::new(network.clone(), position).evaluate(position));
            }
        });
    });
    group.bench_function("moves without evaluation", |bencher| {
        bencher.iter(|| {
            for game in &games {
                let mut position = game[0].0.clone();
                for &(_, mv) in game {
                    position.play(mv, &mut ());
                    black_box(&position);
                }
            }
        });
    });
    group.finish();
}

criterion_group!(benches, evaluations);
criterion_main!(benches);
