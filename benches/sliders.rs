//! Compares slider look-ups per second of Kiln's magic tables with other schemes, on random and on game occupancies.

mod schemes;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use kiln::board::Position;
use kiln::types::{Bitboard, PieceType, Square};
use kiln_gen::magic::{self, MagicTables};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use schemes::Scheme;
use std::hint::black_box;
use std::time::Duration;

/// A slider's square and the occupancy.
type Query = (Square, Bitboard);

/// Few enough to fit the first-level cache beside a part of the tables.
const QUERIES: usize = 1024;

fn random_queries(rng: &mut Xoshiro256PlusPlus) -> Vec<Query> {
    // On average a quarter of the squares is occupied.
    (0..QUERIES)
        .map(|_| (Square::wrapping(rng.next_u32() as usize), Bitboard(rng.next_u64() & rng.next_u64())))
        .collect()
}

/// Returns the sliders of random games with the occupancies of their positions, in the order of the games.
fn game_queries(rng: &mut Xoshiro256PlusPlus) -> Vec<Query> {
    let mut queries = Vec::new();
    while queries.len() < QUERIES {
        let mut position = Position::startpos();
        for _ in 0..120 {
            let sliders =
                position.kind(PieceType::Bishop) | position.kind(PieceType::Rook) | position.kind(PieceType::Queen);
            queries.extend(sliders.into_iter().map(|square| (square, position.occupied())));
            let moves = position.moves();
            if moves.is_empty() {
                break;
            }
            position = position.make(moves[rng.next_u32() as usize % moves.len()]);
        }
    }
    // From all games, not only the openings of the first ones.
    let step = queries.len() / QUERIES;
    queries.into_iter().step_by(step).take(QUERIES).collect()
}

/// Checks one scheme against Kiln's tables, then times it for each piece.
fn compare<S: Scheme>(group: &mut BenchmarkGroup<WallTime>, name: &str, scheme: &S, queries: &[Query]) {
    for &(square, occupied) in queries {
        let found = [scheme.rook(square, occupied), scheme.bishop(square, occupied), scheme.queen(square, occupied)];
        let kiln = [
            schemes::Kiln.rook(square, occupied),
            schemes::Kiln.bishop(square, occupied),
            schemes::Kiln.queen(square, occupied),
        ];
        assert_eq!(found, kiln, "{name}: rook, bishop, queen on {square} with {occupied:?}");
    }
    time(group, "rook", name, queries, |square, occupied| scheme.rook(square, occupied));
    time(group, "bishop", name, queries, |square, occupied| scheme.bishop(square, occupied));
    time(group, "queen", name, queries, |square, occupied| scheme.queen(square, occupied));
}

fn time(
    group: &mut BenchmarkGroup<WallTime>,
    piece: &str,
    scheme: &str,
    queries: &[Query],
    look_up: impl Fn(Square, Bitboard) -> Bitboard,
) {
    group.bench_function(format!("{piece}/{scheme}"), |bencher| {
        bencher.iter(|| {
            for &(square, occupied) in queries {
                // Otherwise the compiler would interleave several look-ups, which a search does not.
                black_box(look_up(square, occupied));
            }
        })
    });
}

/// Returns the densest magics found so far.
fn overlapping() -> MagicTables {
    magic::from_text(include_str!("../assets/magics-83439.txt")).expect("the file is correct")
}

fn sliders(criterion: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for (name, queries) in [("random", random_queries(&mut rng)), ("games", game_queries(&mut rng))] {
        let mut group = criterion.benchmark_group(format!("sliders {name}"));
        group.throughput(Throughput::Elements(queries.len() as u64)).sample_size(30);
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        compare(&mut group, "kiln", &schemes::Kiln, &queries);
        compare(&mut group, "sparse random", &schemes::Magics(schemes::search::sparse(1)), &queries);
        compare(&mut group, "overlapping", &schemes::Magics(overlapping()), &queries);
        compare(&mut group, "fixed shift", &schemes::FixedShift::new(), &queries);
        #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
        compare(&mut group, "pext", &schemes::Pext::new(), &queries);
        compare(&mut group, "hyperbola", &schemes::Hyperbola::new(), &queries);
        compare(&mut group, "walk", &schemes::Walk, &queries);
        compare(&mut group, "lazy", &schemes::Lazy, &queries);
        compare(&mut group, "cozy-chess", &schemes::CozyChess, &queries);
        group.finish();
    }
}

criterion_group!(benches, sliders);
criterion_main!(benches);
