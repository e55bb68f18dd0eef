use super::dimensions::{KING_BUCKET, MIRRORED};
use super::head::Forward;
use super::{HIDDEN, KING_BUCKETS, Network, OUTPUT_BUCKET, STATES, THREATS};
use crate::board::{Observer, Position};
use crate::simd::{Row, native};
use crate::types::{Bitboard, Color, File, Move, Piece, PieceType, Score, Square};
use arrayvec::ArrayVec;
use kiln_gen::network::threat_state;

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
    fn row(&self, view: View, Feature { piece, square, state }: Feature) -> &[i16; HIDDEN] {
        let other = usize::from(piece.color() != view.side);
        let set = STATES * view.bucket + usize::from(state);
        &self.features.weights[set][other][piece.kind()][view.square(square)]
    }
}

/// The output bucket that scores a position.
pub fn output_bucket(position: &Position) -> usize {
    usize::from(OUTPUT_BUCKET[position.occupied().len() as usize])
}

/// A piece on the board, in one of [`STATES`].
#[derive(Clone, Copy)]
struct Feature {
    piece: Piece,
    square: Square,
    state: u8,
}

/// What the states of pieces follow from; nothing where no threats are seen.
#[derive(Clone, Copy, Default)]
struct Threats {
    /// The squares that each side attacks.
    attacked: [Bitboard; 2],
    /// Pieces of each side that the other attacks with one of less value.
    by_less: [Bitboard; 2],
}

impl Threats {
    #[inline]
    fn new(position: &Position) -> Self {
        if !THREATS {
            return Self::default();
        }
        Self {
            attacked: Color::ALL.map(|side| position.attacked(side)),
            by_less: Color::ALL.map(|side| position.threatened(side)),
        }
    }

    #[inline]
    fn feature(self, piece: Piece, square: Square) -> Feature {
        let color = piece.color();
        let (is_attacked, is_defended) = (self.attacked[!color].has(square), self.attacked[color].has(square));
        let state = threat_state(is_attacked, self.by_less[color].has(square), is_defended) as u8;
        Feature { piece, square, state }
    }
}

/// What a move changes: at most two pieces come (castling) and two go, and others are in another state than before.
#[derive(Default)]
struct Changes {
    put: ArrayVec<Feature, 32>,
    taken: ArrayVec<Feature, 32>,
}

impl Observer for Changes {
    fn put(&mut self, piece: Piece, square: Square) {
        self.put.push(Feature { piece, square, state: 0 });
    }

    fn take(&mut self, piece: Piece, square: Square) {
        self.taken.push(Feature { piece, square, state: 0 });
    }
}

impl Changes {
    /// Adds what becomes of the others in the position after the move.
    #[inline]
    fn add_states(&mut self, position: &Position, before: Threats, after: Threats) {
        let mut others = position.occupied();
        for (features, threats) in [(&mut self.put, after), (&mut self.taken, before)] {
            for feature in features {
                *feature = threats.feature(feature.piece, feature.square);
                others = others - feature.square.into();
            }
        }
        let changed = Color::ALL
            .map(|side| (before.attacked[side] ^ after.attacked[side]) | (before.by_less[side] ^ after.by_less[side]));
        for square in (changed[0] | changed[1]) & others {
            let piece = position.piece_on(square).expect("the square is occupied");
            self.put.push(after.feature(piece, square));
            self.taken.push(before.feature(piece, square));
        }
    }
}

/// One position of a line.
struct Ply {
    /// The accumulators, if they are computed.
    sums: [Row<HIDDEN>; 2],
    is_computed: [bool; 2],
    views: [View; 2],
    threats: Threats,
    /// From the position before.
    changes: Changes,
}

impl Ply {
    fn new() -> Self {
        let view = View { side: Color::White, mirrored: false, bucket: 0 };
        Self {
            sums: [Row([0; HIDDEN]); 2],
            is_computed: [false; 2],
            views: [view; 2],
            threats: Threats::default(),
            changes: Changes::default(),
        }
    }

    /// Makes it that of a position whose sums are not known yet.
    #[inline]
    fn set(&mut self, position: &Position, threats: Threats) {
        self.is_computed = [false; 2];
        self.views = Color::ALL.map(|side| View::new(side, position.king(side)));
        self.threats = threats;
    }
}

/// The sums of some position with the same view, from which the next one that needs all of its sums differs little.
struct Remembered {
    sums: Row<HIDDEN>,
    pieces: [[[Bitboard; STATES]; 6]; 2],
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
        let empty = || Remembered { sums: Row(network.features.bias), pieces: [[[Bitboard::EMPTY; STATES]; 6]; 2] };
        let remembered = (0..4 * KING_BUCKETS).map(|_| empty()).collect();
        let mut evaluator = Self { network, plies: Vec::new(), current: 0, remembered };
        evaluator.restart(position);
        evaluator
    }

    /// The ply at a place of the line, without changes, which is the current one from now on.
    #[inline]
    fn ply_at(&mut self, place: usize) -> &mut Ply {
        self.current = place;
        if place == self.plies.len() {
            self.plies.push(Ply::new());
        }
        let ply = &mut self.plies[place];
        ply.changes.put.clear();
        ply.changes.taken.clear();
        ply
    }

    /// Plays a move on the current position of the line.
    pub fn play(&mut self, position: &mut Position, mv: Move) {
        let before = self.plies[self.current].threats;
        let ply = self.ply_at(self.current + 1);
        position.play(mv, &mut ply.changes);
        let after = Threats::new(position);
        if THREATS {
            ply.changes.add_states(position, before, after);
        }
        ply.set(position, after);
    }

    /// Passes in the current position of the line, after which it is `position`.
    pub fn pass(&mut self, position: &Position) {
        let threats = self.plies[self.current].threats;
        self.ply_at(self.current + 1).set(position, threats);
    }

    /// Starts another line with the same network.
    pub fn restart(&mut self, position: &Position) {
        self.ply_at(0).set(position, Threats::new(position));
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
                (put, taken) => {
                    let rows = |features: &[Feature]| features.iter().copied().map(row).collect::<ArrayVec<_, 32>>();
                    native::add_subtract_all(sums, base, &rows(put), &rows(taken));
                }
            }
            ply.is_computed[side] = true;
        }
    }

    /// Computes the current accumulator of a side from the last one with the same view, wherever that was.
    fn refresh(&mut self, view: View, position: &Position) {
        let place = (2 * view.side as usize + usize::from(view.mirrored)) * KING_BUCKETS + view.bucket;
        let Remembered { sums, pieces } = &mut self.remembered[place];
        let (mut put, mut taken) = (ArrayVec::<_, 32>::new(), ArrayVec::<_, 32>::new());
        let ply = &mut self.plies[self.current];
        let mut now = [[[Bitboard::EMPTY; STATES]; 6]; 2];
        for square in position.occupied() {
            let piece = position.piece_on(square).expect("the square is occupied");
            let state = ply.threats.feature(piece, square).state;
            now[piece.color()][piece.kind()][usize::from(state)] |= square.into();
        }
        for color in Color::ALL {
            for kind in PieceType::ALL {
                let piece = Piece::new(color, kind);
                for (state, (then, now)) in pieces[color][kind].iter().zip(now[color][kind]).enumerate() {
                    let row = |square| self.network.row(view, Feature { piece, square, state: state as u8 });
                    put.extend((now - *then).into_iter().map(row));
                    taken.extend((*then - now).into_iter().map(row));
                }
            }
        }
        *pieces = now;
        native::add_subtract_all(&mut ply.sums[view.side], sums, &put, &taken);
        *sums = ply.sums[view.side];
        ply.is_computed[view.side] = true;
    }
}
