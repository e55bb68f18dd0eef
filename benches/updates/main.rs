//! The update of the attack tables by a move: magics, as `Position::play` uses them, against the superpiece method.
//!
//! Quiet moves and captures from random games. Before anything is measured, both results are compared with tables from
//! scratch. The superpiece method exists here for AVX2 only.

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
mod superpiece;

use criterion::{Criterion, criterion_group, criterion_main};
use kiln::board::Position;
use kiln::simd::{Aligned, Wordboard, native};
use kiln::tables::attacks;
use kiln::types::{Bitboard, Move, MoveKind, Piece, PieceType, Square};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hint::black_box;

// A place is a byte: two bits of the slider's directions, one of all other pieces, the color, and the id in four bits.
const ORTHOGONAL: u8 = 0x80;
const DIAGONAL: u8 = 0x40;
const LEAPER: u8 = 0x20;
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

fn type_bits(kind: PieceType) -> u8 {
    match kind {
        PieceType::Bishop => DIAGONAL,
        PieceType::Rook => ORTHOGONAL,
        PieceType::Queen => ORTHOGONAL | DIAGONAL,
        _ => LEAPER,
    }
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
            let (color, bits) = (piece.color() as usize, type_bits(piece.kind()));
            // The king's id is 0, so that an empty slot of slider ids can be 0 too.
            let id = if piece.kind() == PieceType::King { 0 } else { next_id[color] };
            next_id[color] += usize::from(id > 0);
            board.places.0[square] = bits | [0, BLACK][color] | id as u8;
            board.squares[color][id] = square;
            board.pieces[color][id] = piece;
            board.sliders[color] |= u16::from(bits != LEAPER) << id;
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

fn updates(criterion: &mut Criterion) {
    let cases = cases();
    let mut group = criterion.benchmark_group(format!("{} copied boards", cases.len()));
    let compare = |name: &str, make: &dyn Fn(&mut Board, &Case)| {
        for case in &cases {
            let mut board = case.board.clone();
            make(&mut board, case);
            let mut scratch = board.clone();
            scratch.recompute();
            assert!(board == scratch, "{name}: {} {}", case.from, case.to);
        }
    };
    compare("magics", &|board, case| board.make_by_magics(case.from, case.to, case.is_capture));
    group.bench_function("alone", |bencher| {
        bencher.iter(|| {
            for case in &cases {
                black_box(&case.board.clone());
            }
        });
    });
    group.bench_function("and a move by magics", |bencher| {
        bencher.iter(|| {
            for case in &cases {
                let mut board = case.board.clone();
                board.make_by_magics(case.from, case.to, case.is_capture);
                black_box(&board);
            }
        });
    });
    #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
    {
        let geometry = superpiece::Geometry::new();
        let make = |board: &mut Board, case: &Case| {
            board.make_by_superpiece(&geometry, case.from, case.to, case.is_capture);
        };
        compare("superpiece", &make);
        group.bench_function("and a move by the superpiece", |bencher| {
            bencher.iter(|| {
                for case in &cases {
                    let mut board = case.board.clone();
                    make(&mut board, case);
                    black_box(&board);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, updates);
criterion_main!(benches);
