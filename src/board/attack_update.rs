//! The incremental update of the attack tables by a move.
//!
//! A piece that leaves or enters a square opens or closes the rays of the sliders that see the square. By the
//! [superpiece method](crate::simd::superpiece) the squares beyond, up to the next piece, change in one exclusive or
//! for all sliders of both sides. The moved piece is cleared from all squares at once and added from its target.

use super::make::castling_targets;
use super::{Ids, Place, Position};
use crate::simd::superpiece::{Native, Superpiece};
use crate::simd::{IS_VECTORIZED, Wordboard, native};
use crate::tables::attacks;
use crate::types::{Color, Move, MoveKind, Square};
use arrayvec::ArrayVec;

impl Position {
    /// Returns the attack tables after a legal move, whose kind is `kind`.
    #[inline(always)]
    pub(super) fn attacks_after(&self, mv: Move, kind: MoveKind) -> [Wordboard; 2] {
        // Without vectors the superpiece method takes twice as long.
        if IS_VECTORIZED { self.attacks_by_superpiece::<Native>(mv, kind) } else { self.attacks_by_magics(mv, kind) }
    }

    #[inline(always)]
    fn attacks_by_superpiece<S: Superpiece>(&self, mv: Move, kind: MoveKind) -> [Wordboard; 2] {
        let (from, to) = (mv.from(), mv.to());
        let mover = self.place(from);
        let board = S::load(self.places());
        let leave_from = S::through(board, from);
        let board = S::with(board, from, 0);
        if kind == MoveKind::Castle {
            let rook = self.place(to);
            let (king_to, rook_to) = castling_targets(mv);
            // Both leave first: in Chess960 one may end on the other's square.
            let leave_to = S::through(board, to);
            let board = S::with(board, to, 0);
            let (enter_king_to, by_king) = S::through_and_attacked(board, king_to, mover.piece());
            let board = S::with(board, king_to, mover.byte());
            let (enter_rook_to, by_rook) = S::through_and_attacked(board, rook_to, rook.piece());
            let toggles = [leave_from, leave_to, enter_king_to, enter_rook_to];
            let tables = self.updated::<S, 4>(&self.attacks, toggles, [rook.bit(), 0], by_rook);
            return self.updated::<S, 0>(&tables, [], [mover.bit(), 0], by_king);
        }
        let piece = kind.promoted().map_or(mover, |kind| mover.promoted(kind)).piece();
        if kind == MoveKind::EnPassant {
            let square = to.forward(!self.side);
            let leave = S::through(board, square);
            let (enter, attacked) = S::through_and_attacked(S::with(board, square, 0), to, piece);
            let cleared = [mover.bit(), self.place(square).bit()];
            return self.updated::<S, 3>(&self.attacks, [leave_from, leave, enter], cleared, attacked);
        }
        if kind.is_capture() {
            // The target stays occupied, so that no slider sees a change there. What a captured slider saw through
            // `from` is cleared with all that it attacked.
            let attacked = S::attacked(board, to, piece);
            return self.updated::<S, 1>(&self.attacks, [leave_from], [mover.bit(), self.place(to).bit()], attacked);
        }
        let (enter, attacked) = S::through_and_attacked(board, to, piece);
        self.updated::<S, 2>(&self.attacks, [leave_from, enter], [mover.bit(), 0], attacked)
    }

    /// Returns the tables after toggles. `cleared` are the ids that leave their squares, first those of the side to
    /// move, which then attack `attacked`.
    #[inline(always)]
    fn updated<S: Superpiece, const N: usize>(
        &self,
        tables: &[Wordboard; 2],
        toggles: [S::Toggles; N],
        [own, captured]: [u16; 2],
        attacked: S::Squares,
    ) -> [Wordboard; 2] {
        let (mut cleared, mut added) = ([captured; 2], [0; 2]);
        (cleared[self.side], added[self.side]) = (own, own);
        // The color is a constant in each call.
        let [white, black] = tables;
        [
            S::update(white, Color::White, &toggles, cleared[0], attacked, added[0]),
            S::update(black, Color::Black, &toggles, cleared[1], attacked, added[1]),
        ]
    }

    /// Clears the bits of all sliders whose attacks may change, and sets them again by look-ups in the magic tables.
    #[inline(always)]
    fn attacks_by_magics(&self, mv: Move, kind: MoveKind) -> [Wordboard; 2] {
        let (us, them) = (self.side, !self.side);
        let (from, to) = (mv.from(), mv.to());
        let mover = self.place(from);
        let mut occupied = self.occupied() - from.into();
        let mut changed = [0; 2];
        let mut change = |square: Square| {
            for color in Color::ALL {
                changed[color] |= self.attacks[color].0[square] & self.slider_ids(color);
            }
        };
        change(from);
        let mut captured = 0;
        let mut moved: ArrayVec<(Place, Square), 2> = ArrayVec::new();
        if kind == MoveKind::Castle {
            let (king_to, rook_to) = castling_targets(mv);
            [to, king_to, rook_to].into_iter().for_each(change);
            occupied = (occupied - to.into()) | king_to.into() | rook_to.into();
            moved.extend([(mover, king_to), (self.place(to), rook_to)]);
        } else {
            occupied |= to.into();
            // A captured piece leaves its square occupied, except en passant.
            let victim = if kind == MoveKind::EnPassant { to.forward(them) } else { to };
            if kind.is_capture() {
                captured = self.place(victim).bit();
            }
            if !kind.is_capture() || victim != to {
                change(to);
            }
            if victim != to {
                change(victim);
                occupied = occupied - victim.into();
            }
            moved.push((kind.promoted().map_or(mover, |kind| mover.promoted(kind)), to));
        }
        let moved_ids = moved.iter().fold(0, |ids, (place, _)| ids | place.bit());
        let mut tables = self.attacks;
        for color in Color::ALL {
            let gone = if color == us { moved_ids } else { captured };
            native::clear(&mut tables[color], changed[color] | gone);
            for id in Ids(changed[color] & !gone) {
                let square = self.squares[color][id];
                let attacked = attacks(self.place(square).piece(), square, occupied);
                native::set(&mut tables[color], attacked.0, 1 << id);
            }
        }
        for (place, square) in moved {
            native::set(&mut tables[us], attacks(place.piece(), square, occupied).0, place.bit());
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::superpiece::Portable;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use std::io::Write;

    /// Compares three updates, and the tables computed from scratch.
    fn check(position: &Position, mv: Move) -> Position {
        let next = position.make(mv);
        let fen = position.fen(true);
        let updates = [
            position.attacks_by_superpiece::<Native>(mv, mv.kind()),
            position.attacks_by_superpiece::<Portable>(mv, mv.kind()),
            position.attacks_by_magics(mv, mv.kind()),
        ];
        for (name, update) in ["native", "portable", "magics"].into_iter().zip(updates) {
            assert_eq!(update, next.attacks, "{name}: {mv:?} on {fen}");
        }
        assert!(next.is_consistent(), "{mv:?} on {fen}");
        next
    }

    fn check_tree(position: &Position, plies: u32) {
        for &mv in &position.moves() {
            let next = check(position, mv);
            if plies > 1 {
                check_tree(&next, plies - 1);
            }
        }
    }

    #[test]
    fn attack_updates_agree_in_trees() {
        // The last positions castle onto each other's square, with a king that stays, and with a rook that stays;
        // capture sliders along their ray, and promote with discovered checks.
        let fens = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            "1rkr4/8/8/3pP3/8/8/8/1RKR4 w DBdb d6 0 1",
            "r4krb/8/8/8/8/8/8/R4KRB b GAga - 0 1",
            "5rkr/pppppppp/8/8/8/8/8/QQQQBRKR w HFhf - 0 1",
            "rrrrkrrr/8/q6q/8/8/Q6Q/8/RRRRKRRR w - - 0 1",
            "1n1n2k1/P1P5/8/8/q2Pp3/7K/5p1p/6N1 b - d3 0 1",
        ];
        let plies = if cfg!(miri) { 1 } else { 2 };
        for fen in fens {
            check_tree(&fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}")), plies);
        }
    }

    /// The perft suites, which need the test data (see `docs/testing.md`).
    #[test]
    #[cfg_attr(miri, ignore = "slow, and reads files")]
    fn attack_updates_agree_in_the_suites() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data").into();
        let folder = std::env::var("KILN_TEST_DATA").unwrap_or(folder);
        for name in ["standard.epd", "chess960.epd"] {
            let path = format!("{folder}/perft/{name}");
            let Ok(suite) = std::fs::read_to_string(&path) else {
                // Not by a macro, whose output the test harness captures.
                let _ = std::io::stderr().write_all(format!("skipped: {path} cannot be read\n").as_bytes());
                continue;
            };
            let fens = suite.lines().filter_map(|line| Some(line.split_once(';')?.0));
            let positions: Vec<Position> = fens.map(|fen| fen.parse().expect(fen)).collect();
            assert!(positions.len() > 100, "{path}");
            positions.iter().for_each(|position| check_tree(position, 2));
        }
    }

    #[test]
    fn attack_updates_agree_in_random_games() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let starts = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
            "1rkr4/pppppppp/8/8/8/8/PPPPPPPP/1RKR4 w DBdb - 0 1",
        ];
        let mut moves = if cfg!(miri) { 100 } else { 10_000 };
        for fen in starts.into_iter().cycle() {
            let mut position: Position = fen.parse().unwrap();
            for _ in 0..200 {
                let list = position.moves();
                if list.is_empty() || moves == 0 {
                    break;
                }
                position = check(&position, list[rng.next_u32() as usize % list.len()]);
                moves -= 1;
                if !position.in_check() {
                    assert_eq!(position.make_null().attacks, position.attacks);
                }
            }
            if moves == 0 {
                return;
            }
        }
    }
}
