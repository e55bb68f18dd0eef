//! Measures this build's evaluation speed beside the lower bounds that the machine sets. `EVALFILE=path cargo bench
//! --bench nnue` measures another network, `cargo bench --bench nnue -- head` only what has this in its name.
//!
//! All measurements take turns, many times, and the fastest time of each counts, because other load can only add time.

use kiln::board::Position;
use kiln::nnue::{Evaluator, FEATURE_SETS, HIDDEN, Network, SHAPE, THREATS};
use kiln::simd::{self, Row, native};
use kiln::tables::threat_pairs;
use kiln::types::{Bitboard, Color, File, Move, Piece};
use kiln_gen::network::{Asset, Head, Threats, read_file, threat_state};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

const GAMES: usize = 40;
const PLIES: usize = 80;
const ROUNDS: usize = 60;

/// A game: its start position and moves.
type Game = (Position, Vec<Move>);

/// Returns games of random moves. King moves cause many refreshes; without them there are none.
fn games(king_moves: bool) -> Vec<Game> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut game = || {
        let mut position = Position::startpos();
        let mut moves = Vec::new();
        while moves.len() < PLIES && position.has_legal_move() {
            let king = position.king(position.side_to_move());
            let mut choice: Vec<Move> = position.moves().iter().copied().collect();
            choice.retain(|mv| king_moves || mv.from() != king);
            if choice.is_empty() {
                break;
            }
            let mv = choice[rng.next_u32() as usize % choice.len()];
            moves.push(mv);
            position = position.make(mv);
        }
        (Position::startpos(), moves)
    };
    (0..GAMES).map(|_| game()).collect()
}

/// Returns the rows of weights in both accumulators of a position, as (side, row number). The numbers of pairs' rows
/// follow those of the other features.
fn rows(position: &Position) -> BTreeSet<(usize, usize)> {
    let mut rows = BTreeSet::new();
    let piece = |square| position.piece_on(square).expect("the square is occupied");
    let threatened = Color::ALL.map(|color| position.threatened_by_lesser(color));
    for square in position.occupied() {
        let (color, kind) = (piece(square).color(), piece(square).kind());
        let by = |side| position.is_attacked(square, side);
        let state = match THREATS {
            Threats::States => threat_state(by(!color), threatened[color].has(square), by(color)),
            Threats::None | Threats::Pairs => 0,
        };
        let attackers = match THREATS {
            Threats::Pairs => position.attackers(square, position.occupied()),
            Threats::None | Threats::States => Bitboard::EMPTY,
        };
        for side in Color::ALL {
            let mirrored = SHAPE.inputs.mirrored && position.king(side).file() >= File::E;
            let flip = if side == Color::Black { 56 } else { 0 } | if mirrored { 7 } else { 0 };
            let plane = 12 * state + 6 * usize::from(color != side) + kind as usize;
            rows.insert((side as usize, 64 * plane + (square as usize ^ flip)));
            let relative = |piece: Piece| piece.kind() as usize + 6 * usize::from(piece.color() != side);
            let pairs = attackers.into_iter().filter_map(|from| {
                let (attacker, victim) = (relative(piece(from)), relative(piece(square)));
                threat_pairs().feature(attacker, from as usize ^ flip, victim, square as usize ^ flip)
            });
            rows.extend(pairs.map(|pair| (side as usize, 768 * FEATURE_SETS + pair)));
        }
    }
    rows
}

/// As many rows of weights as the network has, so that they compete for the same caches.
struct Weights {
    features: Vec<Row<HIDDEN>>,
    pairs: Vec<[i8; HIDDEN]>,
}

impl Weights {
    /// Adds up rows, the least work that an update must do with them.
    fn add_up(&self, rows: &[usize]) -> [i16; 32] {
        rows.iter().fold([0; 32], |sums, &row| match self.features.get(row) {
            Some(row) => row.0.as_chunks::<32>().0.iter().fold(sums, add),
            None => self.pairs[row - self.features.len()].as_chunks::<32>().0.iter().fold(sums, add),
        })
    }
}

fn add<T: Copy + Into<i16>>(sums: [i16; 32], part: &[T; 32]) -> [i16; 32] {
    std::array::from_fn(|i| sums[i].wrapping_add(part[i].into()))
}

const CHAINS: usize = 12;
const STEPS: usize = 1000;

/// Multiplies and adds vectors in [`CHAINS`] independent chains, [`STEPS`] times, if the target has vectors.
fn multiply_adds() {
    // SAFETY: compiled only if the target has AVX2.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2", not(target_feature = "avx512bw")))]
    unsafe {
        use std::arch::x86_64::{_mm256_madd_epi16, _mm256_set1_epi16};
        let factor = black_box(_mm256_set1_epi16(3));
        let mut sums = [black_box(_mm256_set1_epi16(1)); CHAINS];
        for _ in 0..STEPS {
            sums = sums.map(|sum| _mm256_madd_epi16(sum, factor));
        }
        black_box(sums);
    }
    // SAFETY: compiled only if the target has AVX-512 BW.
    #[cfg(all(target_arch = "x86_64", target_feature = "avx512bw"))]
    unsafe {
        use std::arch::x86_64::{_mm512_madd_epi16, _mm512_set1_epi16};
        let factor = black_box(_mm512_set1_epi16(3));
        let mut sums = [black_box(_mm512_set1_epi16(1)); CHAINS];
        for _ in 0..STEPS {
            sums = sums.map(|sum| _mm512_madd_epi16(sum, factor));
        }
        black_box(sums);
    }
}

/// Returns the number of integer vector multiplications per evaluation, at this network's share of zero groups.
fn multiplications(asset: &Asset) -> f64 {
    let lanes = native::PACKING.vector as f64 / 2.0;
    let Head::Layers { inputs, first, .. } = asset.header.head else {
        // A weight times an activation, times the activation again.
        return 2.0 * 2.0 * HIDDEN as f64 / lanes;
    };
    let inputs = 2.0 * inputs.count(HIDDEN) as f64;
    let busy = inputs / 4.0 * (1.0 - asset.zero_groups().expect("the network has layers")[1]);
    let in_dot = if cfg!(target_feature = "avx512vnni") { 1.0 } else { 2.0 };
    inputs / lanes + busy * f64::from(first) * 2.0 / lanes * in_dot
}

/// A timed operation.
struct Measurement<'a> {
    name: &'static str,
    /// Operations per call.
    count: usize,
    call: Box<dyn FnMut() + 'a>,
    fastest: Duration,
}

impl<'a> Measurement<'a> {
    fn new(name: &'static str, count: usize, call: impl FnMut() + 'a) -> Self {
        Self { name, count, call: Box::new(call), fastest: Duration::MAX }
    }

    fn nanoseconds(&self) -> f64 {
        self.fastest.as_secs_f64() * 1e9 / self.count as f64
    }
}

/// Plays the games and calls `then` after each move.
fn play(evaluator: &mut Evaluator, games: &[Game], mut then: impl FnMut(&mut Evaluator, &Position)) {
    for (start, moves) in games {
        let mut position = start.clone();
        for &mv in moves {
            evaluator.push(&position);
            position.play(mv);
            then(evaluator, &position);
        }
        moves.iter().for_each(|_| evaluator.pop());
    }
}

fn main() {
    let (random, quiet) = (games(true), games(false));
    let count = |games: &[Game]| games.iter().map(|(_, moves)| moves.len()).sum::<usize>();
    let network = Network::embedded();
    let evaluator = || Evaluator::new(network.clone());
    let positions: Vec<Position> = random
        .iter()
        .flat_map(|(start, moves)| {
            moves.iter().scan(start.clone(), |position, &mv| {
                *position = position.make(mv);
                Some(position.clone())
            })
        })
        .collect();
    let numbers = |rows: BTreeSet<(usize, usize)>| rows.into_iter().map(|(_, number)| number);
    let mut quiet_rows = Vec::new();
    for (start, moves) in &quiet {
        let (mut position, mut before) = (start.clone(), rows(start));
        for &mv in moves {
            position = position.make(mv);
            let after = rows(&position);
            quiet_rows.extend(numbers(&before ^ &after));
            before = after;
        }
    }
    let all_rows: Vec<_> = positions.iter().flat_map(|position| numbers(rows(position))).collect();
    let weights =
        Weights { features: vec![Row([1; HIDDEN]); 768 * FEATURE_SETS], pairs: vec![[1; HIDDEN]; THREATS.pairs()] };
    let [mut in_quiet, mut in_random, mut in_siblings, mut alone, mut only_moves] = [(); 5].map(|()| evaluator());
    let some: Vec<Position> = positions.iter().step_by(16).cloned().collect();
    let children = some.iter().map(|position| position.moves().len()).sum();

    let mut measurements = vec![
        Measurement::new("after a move", count(&quiet), || {
            play(&mut in_quiet, &quiet, |evaluator, position| _ = black_box(evaluator.evaluate(position)));
        }),
        Measurement::new("after a move, with king moves", count(&random), || {
            play(&mut in_random, &random, |evaluator, position| _ = black_box(evaluator.evaluate(position)));
        }),
        Measurement::new("after each move of a position", children, || {
            for position in &some {
                in_siblings.restart();
                black_box(in_siblings.evaluate(position));
                for &mv in &position.moves() {
                    in_siblings.push(position);
                    black_box(in_siblings.evaluate(&position.make(mv)));
                    in_siblings.pop();
                }
            }
        }),
        Measurement::new("moves of a position without evaluation", children, || {
            for position in &some {
                position.moves().iter().for_each(|&mv| _ = black_box(position.make(mv)));
            }
        }),
        Measurement::new("from scratch", positions.len(), || {
            for position in &positions {
                black_box(Evaluator::new(network.clone()).evaluate(position));
            }
        }),
        Measurement::new("head alone", positions.len(), || {
            // The position never changes for the evaluator, so that no accumulator is updated.
            positions.iter().for_each(|position| _ = black_box(alone.evaluate(black_box(position))));
        }),
        Measurement::new("moves without evaluation", count(&quiet), || {
            play(&mut only_moves, &quiet, |_, position| _ = black_box(position));
        }),
        Measurement::new("lower bound: rows of a move, added up", count(&quiet), || {
            black_box(weights.add_up(&quiet_rows));
        }),
        Measurement::new("lower bound: rows of a position, added up", positions.len(), || {
            black_box(weights.add_up(&all_rows));
        }),
    ];
    if simd::IS_VECTORIZED {
        measurements.push(Measurement::new("one vector multiplied and added", CHAINS * STEPS, multiply_adds));
    }
    if let Some(part) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) {
        measurements.retain(|measurement| measurement.name.contains(&part));
    }
    for _ in 0..ROUNDS {
        for measurement in &mut measurements {
            // A first call brings its weights back into the caches.
            (measurement.call)();
            let start = Instant::now();
            (measurement.call)();
            measurement.fastest = measurement.fastest.min(start.elapsed());
        }
    }
    let pairs = quiet_rows.iter().filter(|&&row| row >= 768 * FEATURE_SETS).count();
    let per_move = |rows: usize| rows as f64 / count(&quiet) as f64;
    println!(
        "{SHAPE}, {}, {:.2} rows of {} bytes and {:.2} of {HIDDEN} per move",
        simd::NAME,
        per_move(quiet_rows.len() - pairs),
        2 * HIDDEN,
        per_move(pairs)
    );
    let print = |name: &str, time: f64| println!("{name:<44}{time:>8.2} ns {:>14.0} per second", 1e9 / time);
    measurements.iter().for_each(|measurement| print(measurement.name, measurement.nanoseconds()));
    if let Some(rate) = measurements.last().filter(|last| last.name.starts_with("one vector")) {
        let file = std::env::var("EVALFILE").ok().filter(|path| !path.is_empty());
        let file = file.as_deref().unwrap_or("assets/kiln.nnue.zst");
        let asset = read_file(file.as_ref())
            .and_then(|bytes| Asset::from_bytes(&bytes))
            .expect("the embedded network is valid");
        let count = multiplications(&asset);
        print(&format!("lower bound: the head's {count:.0} multiplications"), count * rate.nanoseconds());
    }
}
