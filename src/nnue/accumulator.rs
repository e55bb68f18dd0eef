use super::dimensions::{KING_BUCKET, MIRRORED};
use super::head::Forward;
use super::{HIDDEN, KING_BUCKETS, Network, OUTPUT_BUCKET};
use crate::board::{Observer, Position};
use crate::simd::{Row, native};
use crate::types::{Bitboard, Color, File, Move, Piece, PieceType, Score, Square};
use arrayvec::ArrayVec;

/// How a side sees the board, which depends on where its king stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct View {
    side: Color,
    mirrored: bool,
    bucket: usize,
}

impl View {
    #[inline]
    fn new(side: Color, king: Square) -> Self {
        let mirrored = MIRRORED && king.file() >= File::E;
        let view = Self { side, mirrored, bucket: 0 };
        Self { bucket: usize::from(KING_BUCKET[view.square(king)]), ..view }
    }

    #[inline]
    fn square(self, square: Square) -> Square {
        let square = if self.side == Color::Black { square.flip_rank() } else { square };
        if self.mirrored { square.flip_file() } else { square }
    }
}

impl Network {
    /// The weights that a piece contributes.
    #[inline]
    fn row(&self, view: View, (piece, square): (Piece, Square)) -> &[i16; HIDDEN] {
        let other = usize::from(piece.color() != view.side);
        &self.features.weights[view.bucket][other][piece.kind()][view.square(square)]
    }
}

/// The output bucket that scores a position.
pub fn output_bucket(position: &Position) -> usize {
    usize::from(OUTPUT_BUCKET[position.occupied().len() as usize])
}

/// What a move changes: at most two pieces come (castling) and two go.
#[derive(Clone, Default)]
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

/// One position of a line.
struct Ply {
    /// The accumulators, if they are computed.
    sums: [Row<HIDDEN>; 2],
    is_computed: [bool; 2],
    views: [View; 2],
    /// From the position before.
    changes: Changes,
}

/// The sums of some position with the same view, from which the next one that needs all of its sums differs little.
struct Remembered {
    sums: Row<HIDDEN>,
    pieces: [[Bitboard; 6]; 2],
}

/// Scores the positions of a line of moves. Accumulators are computed when a score is asked for, from the last position of the line where they are known.
pub struct Evaluator {
    network: Network,
    /// The line, and behind it plies that were used before.
    plies: Vec<Ply>,
    /// The place of the current position.
    current: usize,
    /// By side, mirroring and king bucket.
    remembered: Vec<Remembered>,
}

impl Evaluator {
    /// Starts a line.
    pub fn new(network: Network, position: &Position) -> Self {
        let empty = || Remembered { sums: Row(network.features.bias), pieces: [[Bitboard::EMPTY; 6]; 2] };
        let remembered = (0..4 * KING_BUCKETS).map(|_| empty()).collect();
        let mut evaluator = Self { network, plies: Vec::new(), current: 0, remembered };
        evaluator.set_ply(position, Changes::default());
        evaluator
    }

    fn set_ply(&mut self, position: &Position, changes: Changes) {
        let views = Color::ALL.map(|side| View::new(side, position.king(side)));
        match self.plies.get_mut(self.current) {
            Some(ply) => (ply.is_computed, ply.views, ply.changes) = ([false; 2], views, changes),
            None => {
                let sums = [Row([0; HIDDEN]); 2];
                self.plies.push(Ply { sums, is_computed: [false; 2], views, changes });
            }
        }
    }

    /// Plays a move on the current position of the line.
    pub fn play(&mut self, position: &mut Position, mv: Move) {
        let mut changes = Changes::default();
        position.play(mv, &mut changes);
        self.current += 1;
        self.set_ply(position, changes);
    }

    /// Passes in the current position of the line, after which it is `position`.
    pub fn pass(&mut self, position: &Position) {
        self.current += 1;
        self.set_ply(position, Changes::default());
    }

    /// Starts another line with the same network.
    pub fn restart(&mut self, position: &Position) {
        self.current = 0;
        self.set_ply(position, Changes::default());
    }

    /// Goes back to the position before the last move or pass.
    ///
    /// # Panics
    /// If there was none.
    pub fn take_back(&mut self) {
        self.current = self.current.checked_sub(1).expect("a move was played");
    }

    /// The score of the current position, which is `position`, for the side to move.
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.evaluate_in_bucket(position, output_bucket(position))
    }

    /// The score that another output bucket would give.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn evaluate_in_bucket(&mut self, position: &Position, bucket: usize) -> Score {
        for side in Color::ALL {
            self.compute(side, position);
        }
        let side = position.side_to_move();
        let sums = &self.plies[self.current].sums;
        Score::centipawns(self.network.head.forward(&sums[side], &sums[!side], bucket))
    }

    fn compute(&mut self, side: Color, position: &Position) {
        let view = self.plies[self.current].views[side];
        let mut seen_alike = self.plies[..=self.current].iter().rev().take_while(|ply| ply.views[side] == view);
        let Some(back) = seen_alike.position(|ply| ply.is_computed[side]) else {
            return self.refresh(view, position);
        };
        for place in self.current - back + 1..=self.current {
            let (before, after) = self.plies.split_at_mut(place);
            let (base, ply) = (&before[place - 1].sums[side], &mut after[0]);
            let row = |change| self.network.row(view, change);
            let sums = &mut ply.sums[side];
            match (&ply.changes.put[..], &ply.changes.taken[..]) {
                (&[put], &[taken]) => native::add_subtract(sums, base, [row(put)], [row(taken)]),
                (&[put], &[a, b]) => native::add_subtract(sums, base, [row(put)], [row(a), row(b)]),
                (&[a, b], &[c, d]) => native::add_subtract(sums, base, [row(a), row(b)], [row(c), row(d)]),
                ([], []) => *sums = *base,
                _ => unreachable!("a move puts one piece or two, and takes as many or one more"),
            }
            ply.is_computed[side] = true;
        }
    }

    /// Computes the current accumulator of a side from the last one with the same view, wherever that was.
    fn refresh(&mut self, view: View, position: &Position) {
        let place = (2 * view.side as usize + usize::from(view.mirrored)) * KING_BUCKETS + view.bucket;
        let Remembered { sums, pieces } = &mut self.remembered[place];
        let (mut put, mut taken) = (ArrayVec::<_, 64>::new(), ArrayVec::<_, 64>::new());
        for color in Color::ALL {
            for kind in PieceType::ALL {
                let (then, now) = (&mut pieces[color][kind], position.pieces(color, kind));
                let row = |square| self.network.row(view, (Piece::new(color, kind), square));
                put.extend((now - *then).into_iter().map(row));
                taken.extend((*then - now).into_iter().map(row));
                *then = now;
            }
        }
        native::add_subtract_all(sums, &put, &taken);
        let ply = &mut self.plies[self.current];
        ply.sums[view.side] = *sums;
        ply.is_computed[view.side] = true;
    }
}
