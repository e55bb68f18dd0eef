//! Legal move generation.

use super::make::castling_targets;
use super::{Ids, MoveList, Position};
use crate::simd::native;
use crate::tables::{between, king_attacks, line, pawn_attacks, pseudo_attacks};
use crate::types::{Bitboard, CastlingSide, Color, File, Move, MoveKind, Piece, PieceType, Rank, Square};

/// The target squares of the legal moves of one side's pawns, except en passant captures.
struct PawnTargets {
    single: Bitboard,
    double: Bitboard,
    /// Captures towards the h-file.
    east: Bitboard,
    /// Captures towards the a-file.
    west: Bitboard,
}

impl PawnTargets {
    /// Returns the step in square numbers to `single`, `east` and `west`.
    const fn steps(side: Color) -> [i8; 3] {
        match side {
            Color::White => [8, 9, 7],
            Color::Black => [-8, -7, -9],
        }
    }
}

impl Position {
    /// Returns all legal moves.
    #[inline]
    pub fn moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.list_moves(&mut list);
        list
    }

    /// Appends all legal moves to a list. This is faster than [`Position::moves`], which copies the whole list.
    pub fn list_moves(&self, list: &mut MoveList) {
        self.generate::<true, true>(list);
    }

    /// Appends the legal noisy moves: captures and promotions to a queen.
    pub fn list_noisy_moves(&self, list: &mut MoveList) {
        self.generate::<true, false>(list);
    }

    /// Appends the legal quiet moves: all that are not noisy.
    pub fn list_quiet_moves(&self, list: &mut MoveList) {
        self.generate::<false, true>(list);
    }

    /// Returns the number of legal moves, without listing them.
    pub fn count_moves(&self) -> usize {
        let (us, them) = (self.side, !self.side);
        let checkers = self.checkers();
        let danger = self.attacked(them);
        let count = self.king_targets(checkers, danger).len();
        if checkers.more_than_one() {
            return count as usize;
        }
        let pinned = self.pinned(us);
        let check_mask = self.check_mask(checkers);
        let targets = check_mask - self.colors[us];

        let pinned_ids = pinned.into_iter().fold(0, |ids, square| ids | self.place(square).bit());
        let non_pawn_ids = self.non_pawn_ids(us);
        let mut count = count + native::count(&self.attacks[us], targets.0, non_pawn_ids & !pinned_ids);
        for id in Ids(non_pawn_ids & pinned_ids) {
            let ray = line(self.king(us), self.squares[us][id]);
            count += native::count(&self.attacks[us], (targets & ray).0, 1 << id);
        }

        let pawns = self.pawn_targets(pinned, check_mask);
        let last = Bitboard::from(Rank::Eighth.relative(us));
        for targets in [pawns.single, pawns.east, pawns.west] {
            // A promotion is four moves, of which `len` counts one.
            count += targets.len() + 3 * (targets & last).len();
        }
        count += pawns.double.len();
        if let Some(to) = self.en_passant {
            let capturers = pawn_attacks(them, to) & self.pieces(us, PieceType::Pawn);
            count += capturers.into_iter().filter(|&from| self.is_legal_en_passant(from, to)).count() as u32;
        }
        if checkers.is_empty() && self.castling.any(us) {
            count += self.castling_moves(danger, pinned).count() as u32;
        }
        count as usize
    }

    /// Returns whether the side to move has a legal move.
    pub fn has_legal_move(&self) -> bool {
        self.count_moves() > 0
    }

    #[inline]
    fn generate<const NOISY: bool, const QUIET: bool>(&self, list: &mut MoveList) {
        let (us, them) = (self.side, !self.side);
        let (king, enemy, occupied) = (self.king(us), self.colors[them], self.occupied());
        let checkers = self.checkers();
        let danger = self.attacked(them);
        let king_targets = self.king_targets(checkers, danger);
        if NOISY {
            list.push_from(king, king_targets & enemy, MoveKind::Capture);
        }
        if QUIET {
            list.push_from(king, king_targets - occupied, MoveKind::Quiet);
        }
        if checkers.more_than_one() {
            return;
        }
        let check_mask = self.check_mask(checkers);
        let pinned = self.pinned(us);
        let non_pawn_ids = self.non_pawn_ids(us);
        let pawns = self.pawn_targets(pinned, check_mask);
        let last = Bitboard::from(Rank::Eighth.relative(us));
        let [forward, east, west] = PawnTargets::steps(us);

        if NOISY {
            // Looping over victims is faster than looping over attackers: there are fewer.
            let table = &self.attacks[us];
            for to in enemy & check_mask & Bitboard(native::any(table, non_pawn_ids)) {
                for id in Ids(table.0[to] & non_pawn_ids) {
                    let from = self.squares[us][id];
                    if !pinned.has(from) || line(king, from).has(to) {
                        list.push(Move::new(from, to, MoveKind::Capture));
                    }
                }
            }
            for (step, targets) in [(east, pawns.east), (west, pawns.west)] {
                list.push_step(step, targets - last, MoveKind::Capture);
                for to in targets & last {
                    let from = Square::wrapping((to as usize).wrapping_add_signed(-isize::from(step)));
                    push_promotions(list, from, to, true, true, true);
                }
            }
            if let Some(to) = self.en_passant {
                for from in pawn_attacks(them, to) & self.pieces(us, PieceType::Pawn) {
                    if self.is_legal_en_passant(from, to) {
                        list.push(Move::new(from, to, MoveKind::EnPassant));
                    }
                }
            }
        }
        for to in pawns.single & last {
            push_promotions(list, to.forward(them), to, false, NOISY, QUIET);
        }
        if QUIET {
            for id in Ids(non_pawn_ids) {
                let from = self.squares[us][id];
                let ray = if pinned.has(from) { line(king, from) } else { Bitboard::FULL };
                list.push_from(from, (self.attacked_by_id(us, id) & check_mask & ray) - occupied, MoveKind::Quiet);
            }
            list.push_step(forward, pawns.single - last, MoveKind::Quiet);
            list.push_step(2 * forward, pawns.double, MoveKind::DoublePush);
            if checkers.is_empty() && self.castling.any(us) {
                self.castling_moves(danger, pinned).for_each(|castle| list.push(castle));
            }
        }
    }

    /// Returns the ids of a side's knights, bishops, rooks and queens.
    #[inline]
    fn non_pawn_ids(&self, color: Color) -> u16 {
        self.slider_ids(color) | self.ids[color][PieceType::Knight]
    }

    /// Returns the squares to which the king of the side to move can go, castling aside. `danger` is the set of squares
    /// that the enemy attacks.
    #[inline]
    pub(super) fn king_targets(&self, checkers: Bitboard, danger: Bitboard) -> Bitboard {
        let us = self.side;
        let king = self.king(us);
        let mut targets = king_attacks(king) - self.colors[us] - danger;
        // In the attack tables the king blocks sliders, but it cannot escape along the ray of a checker.
        for slider in checkers - self.kinds[PieceType::Pawn] - self.kinds[PieceType::Knight] {
            targets = targets - (line(king, slider) - slider.into());
        }
        targets
    }

    /// Returns the squares to which a piece other than the king must go, to block or capture a single checker: all
    /// squares if there is no check.
    #[inline]
    pub(super) fn check_mask(&self, checkers: Bitboard) -> Bitboard {
        let king = self.king(self.side);
        checkers.first().map_or(Bitboard::FULL, |checker| between(king, checker) | checker.into())
    }

    /// Returns the pinned pieces of `color`: the only blockers between their king and an enemy slider.
    #[inline]
    pub(super) fn pinned(&self, color: Color) -> Bitboard {
        let king = self.king(color);
        let occupied = self.occupied();
        let mut pinned = Bitboard::EMPTY;
        for sniper in self.snipers(king, !color) {
            let blockers = between(king, sniper) & occupied;
            if !blockers.more_than_one() {
                pinned |= blockers & self.colors[color];
            }
        }
        pinned
    }

    /// Returns the snipers: sliders of `color` that would attack `square` on an otherwise empty board.
    #[inline]
    pub(super) fn snipers(&self, square: Square, color: Color) -> Bitboard {
        let queens = self.kinds[PieceType::Queen];
        let straight = pseudo_attacks(Piece::WhiteRook, square) & (self.kinds[PieceType::Rook] | queens);
        let diagonal = pseudo_attacks(Piece::WhiteBishop, square) & (self.kinds[PieceType::Bishop] | queens);
        (straight | diagonal) & self.colors[color]
    }

    #[inline]
    fn pawn_targets(&self, pinned: Bitboard, check_mask: Bitboard) -> PawnTargets {
        let us = self.side;
        let king = self.king(us);
        let pawns = self.pieces(us, PieceType::Pawn);
        let (empty, enemy) = (!self.occupied(), self.colors[!us] & check_mask);
        // No pawn is on a rank from which this would wrap around.
        let rotation = if us == Color::White { 8 } else { 56 };
        let forward = |pawns: Bitboard| Bitboard(pawns.0.rotate_left(rotation));
        let [mut pushers, mut to_east, mut to_west] = [pawns; 3];
        if !pinned.is_empty() {
            // A pinned pawn must stay on the line of its pin, which goes through the king.
            let (east, west) = match us {
                Color::White => (diagonal(king), antidiagonal(king)),
                Color::Black => (antidiagonal(king), diagonal(king)),
            };
            pushers = pawns - (pinned - king.file().into());
            to_east = pawns - (pinned - east);
            to_west = pawns - (pinned - west);
        }
        let (east, west) = (forward(to_east - File::H.into()), forward(to_west - File::A.into()));
        let single = forward(pushers) & empty;
        let double = forward(single & Rank::Third.relative(us).into()) & empty;
        PawnTargets {
            single: single & check_mask,
            double: double & check_mask,
            east: Bitboard(east.0 << 1) & enemy,
            west: Bitboard(west.0 >> 1) & enemy,
        }
    }

    /// Returns whether the king is safe after the pawn on `from` captures en passant on `to`. Pins are not enough to
    /// decide this, because two pawns leave their rank at once.
    pub(super) fn is_legal_en_passant(&self, from: Square, to: Square) -> bool {
        let victim = Bitboard::from(to.forward(!self.side));
        let occupied = (self.occupied() - from.into() - victim) | to.into();
        let attackers = self.attackers(self.king(self.side), occupied) & self.colors[!self.side];
        (attackers - victim).is_empty()
    }

    /// Returns the legal castling moves of the side to move, which must not be in check. `danger` is the set of squares
    /// that the enemy attacks.
    #[inline]
    fn castling_moves(&self, danger: Bitboard, pinned: Bitboard) -> impl Iterator<Item = Move> {
        let king = self.king(self.side);
        let rooks = CastlingSide::ALL.into_iter().filter_map(move |side| self.castling.rook(self.side, side));
        let rooks = rooks.map(move |file| Square::new(file, king.rank()));
        // Usually a piece is between king and rook, which is cheap to detect.
        let occupied = self.occupied();
        let rooks = rooks.filter(move |&rook| !between(king, rook).intersects(occupied));
        let moves = rooks.map(move |rook| Move::new(king, rook, MoveKind::Castle));
        moves.filter(move |&castle| self.is_legal_castle(castle, danger, pinned))
    }

    /// Returns whether king and rook have a free path and the king passes no attacked square. The side to move must
    /// have the castling right and must not be in check.
    #[inline]
    pub(super) fn is_legal_castle(&self, castle: Move, danger: Bitboard, pinned: Bitboard) -> bool {
        let (king, rook) = (castle.from(), castle.to());
        let (king_to, rook_to) = castling_targets(castle);
        let others = self.occupied() - king.into() - rook.into();
        let king_path = between(king, king_to) | king_to.into();
        let rook_path = between(rook, rook_to) | rook_to.into();
        // In Chess960 the rook may be pinned: without it the king's target square is attacked.
        !others.intersects(king_path | rook_path) && !danger.intersects(king_path - king.into()) && !pinned.has(rook)
    }
}

/// Returns the diagonal through a square, parallel to a1–h8.
const fn diagonal(square: Square) -> Bitboard {
    Bitboard(0x8040_2010_0804_0201).shift_ranks(square.rank() as i32 - square.file() as i32)
}

/// Returns the antidiagonal through a square, parallel to a8–h1.
const fn antidiagonal(square: Square) -> Bitboard {
    Bitboard(0x0102_0408_1020_4080).shift_ranks(square.rank() as i32 + square.file() as i32 - 7)
}

/// Appends the promotions of one pawn move: to a queen if `queen`, to the other pieces if `others`.
#[inline]
fn push_promotions(list: &mut MoveList, from: Square, to: Square, capture: bool, queen: bool, others: bool) {
    for piece in PieceType::PROMOTIONS {
        if if piece == PieceType::Queen { queen } else { others } {
            let kind = MoveKind::promotion(piece, capture).expect("a pawn can promote to these pieces");
            list.push(Move::new(from, to, kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonals_are_lines() {
        for a in Square::ALL {
            for b in Square::ALL {
                let step = (b.rank() as i32 - a.rank() as i32, b.file() as i32 - a.file() as i32);
                assert_eq!(diagonal(a).has(b), step.0 == step.1);
                assert_eq!(antidiagonal(a).has(b), step.0 == -step.1);
            }
        }
    }
}
