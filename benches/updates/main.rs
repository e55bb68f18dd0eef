//! The update of the attack tables by a move: the superpiece method in its forms, and magics.
//!
//! Quiet moves and captures from random games. Before anything is measured, all results are compared with tables from
//! scratch.

#[cfg(all(target_feature = "avx512vbmi", target_feature = "avx512bitalg", target_feature = "gfni"))]
mod published;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use kiln::board::{Position, piece_code};
use kiln::simd::superpiece::{Native, Portable, Superpiece};
use kiln::simd::{Aligned, Wordboard, native};
use kiln::tables::attacks;
use kiln::types::{Bitboard, Color, Move, MoveKind, Piece, PieceType, Square};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hint::black_box;

const BLACK: u8 = 0x10;
const ID: u8 = 0x0f;

/// The part of a position that the update of the attack tables needs.
#[derive(Clone, PartialEq)]
#[repr(C, align(64))]
struct Board {
    attacks: [Wordboard; 2],
    places: Aligned<[u8; 64]>,
    occupied: Bitboard,
    /// The ids of the sliders, by color.
    sliders: [u16; 2],
    /// By color and id.
    squares: [[Square; 16]; 2],
    pieces: [[Piece; 16]; 2],
}

/// A move and the board before it.
struct Case {
    board: Board,
    from: Square,
    to: Square,
    is_capture: bool,
}

/// Returns the color and id of a place.
fn color_and_id(place: u8) -> (usize, usize) {
    (usize::from(place & BLACK != 0), usize::from(place & ID))
}

impl Board {
    fn new(position: &Position) -> Self {
        let mut board = Self {
            attacks: [Wordboard([0; 64]); 2],
            places: Aligned([0; 64]),
            occupied: position.occupied(),
            sliders: [0; 2],
            squares: [[Square::A1; 16]; 2],
            pieces: [[Piece::WhiteKing; 16]; 2],
        };
        let mut next_id = [1; 2];
        for square in position.occupied() {
            let piece = position.piece_on(square).unwrap();
            let color = piece.color() as usize;
            // The king's id is 0, so that an empty slot of slider ids can be 0 too.
            let id = if piece.kind() == PieceType::King { 0 } else { next_id[color] };
            next_id[color] += usize::from(id > 0);
            board.places.0[square] = piece_code(piece) << 4 | id as u8;
            board.squares[color][id] = square;
            board.pieces[color][id] = piece;
            let slides = matches!(piece.kind(), PieceType::Bishop | PieceType::Rook | PieceType::Queen);
            board.sliders[color] |= u16::from(slides) << id;
        }
        board.recompute();
        board
    }

    /// Computes the attack tables from scratch.
    fn recompute(&mut self) {
        self.attacks = [Wordboard([0; 64]); 2];
        for square in self.occupied {
            let (color, id) = color_and_id(self.places.0[square]);
            for target in attacks(self.pieces[color][id], square, self.occupied) {
                self.attacks[color].0[target] |= 1 << id;
            }
        }
    }

    /// Makes a move: clears every slider that the move affects from its table and sets it again by a magic look-up.
    #[inline(always)]
    fn make_by_magics(&mut self, from: Square, to: Square, is_capture: bool) {
        let place = self.places.0[from];
        let (us, id) = color_and_id(place);
        let mut changed: [u16; 2] = std::array::from_fn(|color| {
            let table = &self.attacks[color].0;
            // The occupancy of the target of a capture does not change.
            (table[from] | if is_capture { 0 } else { table[to] }) & self.sliders[color]
        });
        changed[us] |= 1 << id;
        let mut captured = 0;
        if is_capture {
            captured = 1 << (self.places.0[to] & ID);
            self.sliders[1 - us] &= !captured;
            changed[1 - us] &= !captured;
        }
        self.move_piece(from, to);
        for (color, mut ids) in changed.into_iter().enumerate() {
            let mut table = self.attacks[color];
            native::clear(&mut table, ids | if color == us { 0 } else { captured });
            while ids != 0 {
                let id = ids.trailing_zeros() as usize & 15;
                ids &= ids - 1;
                let attacked = attacks(self.pieces[color][id], self.squares[color][id], self.occupied);
                native::set(&mut table, attacked.0, 1 << id);
            }
            self.attacks[color] = table;
        }
    }

    /// Makes a move by the superpiece method.
    #[inline(always)]
    fn make_by<S: Superpiece>(&mut self, from: Square, to: Square, is_capture: bool) {
        let place = self.places.0[from];
        let (us, id) = color_and_id(place);
        let piece = self.pieces[us][id];
        let before = S::load(&self.places);
        let board = S::with(before, from, 0);
        let leave = S::through(before, from);
        let (mut cleared, mut added) = ([0; 2], [0; 2]);
        (cleared[us], added[us]) = (1 << id, 1 << id);
        let [white, black] = &self.attacks;
        self.attacks = if is_capture {
            cleared[1 - us] = 1 << (self.places.0[to] & ID);
            self.sliders[1 - us] &= !cleared[1 - us];
            let attacked = S::attacked(board, to, piece);
            [
                S::update(white, Color::White, &[leave], cleared[0], attacked, added[0]),
                S::update(black, Color::Black, &[leave], cleared[1], attacked, added[1]),
            ]
        } else {
            let (enter, attacked) = S::through_and_attacked(board, to, piece);
            [
                S::update(white, Color::White, &[leave, enter], cleared[0], attacked, added[0]),
                S::update(black, Color::Black, &[leave, enter], cleared[1], attacked, added[1]),
            ]
        };
        self.move_piece(from, to);
    }

    /// Moves a piece in all but the attack tables and the sliders' ids.
    #[inline(always)]
    fn move_piece(&mut self, from: Square, to: Square) {
        let place = std::mem::take(&mut self.places.0[from]);
        let (us, id) = color_and_id(place);
        self.places.0[to] = place;
        self.squares[us][id] = to;
        self.occupied = (self.occupied - from.into()) | to.into();
    }
}

/// Returns the moves of some random games, fewer than fill a second-level cache.
fn cases() -> Vec<Case> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut cases = Vec::new();
    for _ in 0..4 {
        let mut position = Position::startpos();
        for _ in 0..120 {
            let moves = position.moves();
            let Some(&mv): Option<&Move> = moves.get(rng.next_u64() as usize % moves.len().max(1)) else { break };
            if matches!(mv.kind(), MoveKind::Quiet | MoveKind::DoublePush | MoveKind::Capture) {
                let board = Board::new(&position);
                cases.push(Case { board, from: mv.from(), to: mv.to(), is_capture: mv.is_capture() });
            }
            position = position.make(mv);
        }
    }
    cases
}

/// Checks and measures one way to make a move.
fn measure(group: &mut BenchmarkGroup<WallTime>, cases: &[Case], name: &str, make: impl Fn(&mut Board, &Case)) {
    for case in cases {
        let mut board = case.board.clone();
        make(&mut board, case);
        let mut scratch = board.clone();
        scratch.recompute();
        assert!(board == scratch, "{name}: {} {}", case.from, case.to);
    }
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            for case in cases {
                let mut board = case.board.clone();
                make(&mut board, case);
                black_box(&board);
            }
        });
    });
}

fn updates(criterion: &mut Criterion) {
    fn by<S: Superpiece>(board: &mut Board, case: &Case) {
        board.make_by::<S>(case.from, case.to, case.is_capture);
    }
    let cases = cases();
    let mut group = criterion.benchmark_group("copied boards");
    group.throughput(Throughput::Elements(cases.len() as u64));
    group.bench_function("alone", |bencher| {
        bencher.iter(|| {
            for case in &cases {
                black_box(&case.board.clone());
            }
        });
    });
    let by_magics = |board: &mut Board, case: &Case| board.make_by_magics(case.from, case.to, case.is_capture);
    measure(&mut group, &cases, "and a move by magics", by_magics);
    measure(&mut group, &cases, "and a move by the superpiece", by::<Native>);
    measure(&mut group, &cases, "and a move by the superpiece, portable", by::<Portable>);
    #[cfg(all(target_feature = "avx512vbmi", target_feature = "avx512bitalg", target_feature = "gfni"))]
    {
        use published::Published;
        measure(&mut group, &cases, "and a move by the superpiece, bytes filled by GFNI", by::<Published<true>>);
        measure(&mut group, &cases, "and a move by the superpiece, bytes filled by sums", by::<Published<false>>);
    }
    group.finish();
}

criterion_group!(benches, updates);
criterion_main!(benches);
