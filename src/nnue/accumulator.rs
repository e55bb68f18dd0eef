use super::{HIDDEN, NETWORK};
use crate::board::{Observer, Position};
use crate::simd::{Row, native};
use crate::types::{Color, File, Move, Piece, PieceType, Square};
use arrayvec::ArrayVec;
use std::ops::Index;

/// The first layer's sums, as each side sees the board. They follow the moves; every update equals [`Accumulator::new`] of the new position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator([Row<HIDDEN>; 2]);

impl Index<Color> for Accumulator {
    type Output = Row<HIDDEN>;
    #[inline]
    fn index(&self, side: Color) -> &Row<HIDDEN> {
        &self.0[side]
    }
}

/// The weights that a piece contributes to what `side` sees, its king standing on `king`.
#[inline]
fn feature(side: Color, king: Square, piece: Piece, square: Square) -> &'static [i16; HIDDEN] {
    let square = if side == Color::Black { square.flip_rank() } else { square };
    let square = if is_mirrored(king) { square.flip_file() } else { square };
    let other = usize::from(piece.color() != side);
    &NETWORK.features[other][piece.kind()][square]
}

fn is_mirrored(king: Square) -> bool {
    king.file() >= File::E
}

/// What a move changes: at most two pieces come (castling) and two go.
#[derive(Default)]
struct Changes {
    put: ArrayVec<(Piece, Square), 2>,
    taken: ArrayVec<(Piece, Square), 2>,
}

impl Observer for Changes {
    fn put(&mut self, piece: Piece, square: Square) {
        self.put.push((piece, square));
    }

    fn take(&mut self, piece: Piece, square: Square) {
        self.taken.push((piece, square));
    }
}

impl Accumulator {
    /// The sums of a position from scratch.
    pub fn new(position: &Position) -> Self {
        Self(Color::ALL.map(|side| refreshed(position, side)))
    }

    /// Plays a move on the position, whose sums these are, and returns the sums of what it becomes.
    pub fn play(&self, position: &mut Position, mv: Move) -> Self {
        let mut changes = Changes::default();
        let was_mirrored = Color::ALL.map(|color| is_mirrored(position.king(color)));
        position.play(mv, &mut changes);
        let mut sums = self.clone();
        for seen_by in Color::ALL {
            let king = position.king(seen_by);
            if is_mirrored(king) != was_mirrored[seen_by] {
                sums.0[seen_by] = refreshed(position, seen_by);
                continue;
            }
            for &(piece, square) in &changes.put {
                native::add(&mut sums.0[seen_by], feature(seen_by, king, piece, square));
            }
            for &(piece, square) in &changes.taken {
                native::subtract(&mut sums.0[seen_by], feature(seen_by, king, piece, square));
            }
        }
        sums
    }
}

fn refreshed(position: &Position, side: Color) -> Row<HIDDEN> {
    let king = position.king(side);
    let mut row = Row(NETWORK.feature_bias);
    for color in Color::ALL {
        for kind in PieceType::ALL {
            for square in position.pieces(color, kind) {
                native::add(&mut row, feature(side, king, Piece::new(color, kind), square));
            }
        }
    }
    row
}
