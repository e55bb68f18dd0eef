//! Legal move generation.

use super::move_list::Appender;
use super::{Ids, MoveList, Position};
use crate::simd::{IS_VECTORIZED, Wordboard, native};
use crate::tables::{
    attacks, between, bishop_attacks, king_attacks, knight_attacks, line, pawn_attacks, pseudo_attacks, rook_attacks,
};
use crate::types::{Bitboard, CastlingSide, Color, File, Move, MoveKind, Piece, PieceType, Rank, Square};

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

    /// Appends the legal quiet moves of each type of piece to its `targets`, moves of the king and promotions aside.
    pub fn list_quiet_moves_to(&self, targets: &[Bitboard; 6], list: &mut MoveList) {
        let checkers = self.checkers();
        if checkers.more_than_one() {
            return;
        }
        let mut list = list.append();
        let us = self.side;
        let pinned = self.pinned(us);
        let check_mask = self.check_mask(checkers);
        let mut restricted = None;
        let table = self.pin_legal_table(pinned, &mut restricted);
        // Without the pieces' own squares, so that the list is sound even on a position that illegal moves have made.
        let own: Bitboard = Ids(self.non_pawn_ids(us)).map(|id| self.squares[us][id]).collect();
        let empty = check_mask - self.occupied() - own;
        for kind in [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen] {
            let ids = self.ids[us][kind];
            for to in empty & targets[kind] & Bitboard(native::any(table, ids)) {
                list.push_to(&self.squares[us], table.0[to] & ids, to, MoveKind::Quiet);
            }
        }
        let [forward, ..] = steps(us);
        let [single, double] = self.pawn_pushes(pinned, check_mask);
        let [single, double] =
            [single - Rank::Eighth.relative(us).into(), double].map(|to| to & targets[PieceType::Pawn]);
        list.push_step(forward, single, MoveKind::Quiet);
        list.push_step(2 * forward, double, MoveKind::DoublePush);
    }

    /// Returns by type the squares from which a piece of `color` gives check, none for the king.
    pub fn check_squares(&self, color: Color) -> [Bitboard; 6] {
        let king = self.king(!color);
        let occupied = self.occupied();
        let (orthogonal, diagonal) = (rook_attacks(king, occupied), bishop_attacks(king, occupied));
        [pawn_attacks(!color, king), knight_attacks(king), diagonal, orthogonal, orthogonal | diagonal, Bitboard::EMPTY]
    }

    /// Returns the number of legal moves, without listing them.
    pub fn count_moves(&self) -> usize {
        if self.in_check() { self.count_evasions() } else { self.count(Bitboard::EMPTY) }
    }

    /// Does [`Position::count_moves`] in check.
    #[inline(never)]
    fn count_evasions(&self) -> usize {
        self.count(self.checkers())
    }

    /// Returns the number of legal moves, given the pieces that give check. If it is known that there are none, this
    /// compiles to much less.
    #[inline(always)]
    fn count(&self, checkers: Bitboard) -> usize {
        let (us, them) = (self.side, !self.side);
        let danger = self.attacked(them);
        let mut count = self.king_targets(checkers, danger).len();
        if checkers.more_than_one() {
            return count as usize;
        }
        let pinned = self.pinned(us);
        let check_mask = self.check_mask(checkers);
        let mut restricted = None;
        let table = self.pin_legal_table(pinned, &mut restricted);
        // Pawns attack where they capture. The ids of captured pieces attack nothing.
        let (pawn_ids, king_id) = (self.ids[us][PieceType::Pawn], 1);
        let (empty, enemy) = (check_mask - self.occupied(), check_mask & self.colors[them]);
        count += native::count(table, [(empty.0, !(pawn_ids | king_id)), (enemy.0, !king_id)]);
        let [single, double] = self.pawn_pushes(pinned, check_mask);
        count += single.len() + double.len();
        if self.pieces(us, PieceType::Pawn).intersects(Rank::Seventh.relative(us).into()) {
            // A promotion is four moves, of which one is counted above.
            let last = Bitboard::from(Rank::Eighth.relative(us));
            count += 3 * ((single & last).len() + native::count(table, [((enemy & last).0, pawn_ids)]));
        }
        if let Some(to) = self.en_passant {
            count += self.en_passant_capturers(to).len();
        }
        if checkers.is_empty() && self.castling.any(us) {
            count += self.castling_moves(danger, pinned).map(|(_, is_legal)| u32::from(is_legal)).sum::<u32>();
        }
        count as usize
    }

    /// Returns whether the side to move has a legal move.
    pub fn has_legal_move(&self) -> bool {
        self.count_moves() > 0
    }

    #[inline]
    fn generate<const NOISY: bool, const QUIET: bool>(&self, list: &mut MoveList) {
        if self.in_check() {
            self.generate_evasions::<NOISY, QUIET>(list);
        } else {
            self.generate_given::<NOISY, QUIET>(list, Bitboard::EMPTY);
        }
    }

    /// Does [`Position::generate`] in check.
    #[inline(never)]
    fn generate_evasions<const NOISY: bool, const QUIET: bool>(&self, list: &mut MoveList) {
        self.generate_given::<NOISY, QUIET>(list, self.checkers());
    }

    /// Does [`Position::generate`], given the pieces that give check. If it is known that there are none, this compiles
    /// to much less.
    #[inline(always)]
    fn generate_given<const NOISY: bool, const QUIET: bool>(&self, list: &mut MoveList, checkers: Bitboard) {
        let mut list = list.append();
        let (us, them) = (self.side, !self.side);
        let (king, enemy, occupied) = (self.king(us), self.colors[them], self.occupied());
        // Mostly easy to predict: a king is rarely next to a piece that it might capture.
        let needs_danger = QUIET || king_attacks(king).intersects(enemy);
        let danger = if needs_danger { self.attacked(them) } else { Bitboard::EMPTY };
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
        let mut restricted = None;
        let table = self.pin_legal_table(pinned, &mut restricted);
        let non_pawn_ids = self.non_pawn_ids(us);
        let [single, double] = self.pawn_pushes(pinned, check_mask);
        let pawns = self.pieces(us, PieceType::Pawn);
        let last = Bitboard::from(Rank::Eighth.relative(us));
        let promotes = pawns.intersects(Rank::Seventh.relative(us).into());
        let [forward, east, west] = steps(us);

        if NOISY {
            for to in enemy & check_mask & Bitboard(native::any(table, non_pawn_ids)) {
                list.push_to(&self.squares[us], table.0[to] & non_pawn_ids, to, MoveKind::Capture);
            }
            for (step, targets) in [east, west].into_iter().zip(self.pawn_captures(pinned, check_mask)) {
                list.push_step(step, targets - last, MoveKind::Capture);
                if promotes {
                    for to in targets & last {
                        let from = Square::wrapping((to as usize).wrapping_add_signed(-isize::from(step)));
                        push_promotions(&mut list, from, to, true, true, true);
                    }
                }
            }
            if let Some(to) = self.en_passant {
                for from in self.en_passant_capturers(to) {
                    list.push(Move::new(from, to, MoveKind::EnPassant));
                }
            }
        }
        if promotes {
            for to in single & last {
                push_promotions(&mut list, to.forward(them), to, false, NOISY, QUIET);
            }
        }
        if QUIET {
            let targets = check_mask - occupied;
            for id in Ids(non_pawn_ids) {
                let from = self.squares[us][id];
                if IS_VECTORIZED {
                    list.push_attacked(from, table, 1 << id, targets, MoveKind::Quiet);
                } else {
                    let ray = if pinned.has(from) { line(king, from) } else { Bitboard::FULL };
                    let attacked = attacks(self.place(from).piece(), from, occupied);
                    list.push_from(from, attacked & targets & ray, MoveKind::Quiet);
                }
            }
            list.push_step(forward, single - last, MoveKind::Quiet);
            list.push_step(2 * forward, double, MoveKind::DoublePush);
            if checkers.is_empty() && self.castling.any(us) {
                self.castling_moves(danger, pinned).for_each(|(castle, is_legal)| {
                    if is_legal {
                        list.push(castle)
                    }
                });
            }
        }
    }

    /// Returns the attack table of the side to move without what its `pinned` pieces attack off the line of their pin.
    /// A table that differs is in `restricted`.
    #[inline(always)]
    fn pin_legal_table<'a>(&'a self, pinned: Bitboard, restricted: &'a mut Option<Wordboard>) -> &'a Wordboard {
        if pinned.is_empty() { &self.attacks[self.side] } else { restricted.insert(self.restricted_to_pins(pinned)) }
    }

    #[inline(never)]
    fn restricted_to_pins(&self, pinned: Bitboard) -> Wordboard {
        let us = self.side;
        let mut table = self.attacks[us];
        for square in pinned {
            native::restrict(&mut table, line(self.king(us), square).0, self.place(square).bit());
        }
        table
    }

    /// Returns the pawns that can legally capture en passant on `to`.
    #[inline(never)]
    fn en_passant_capturers(&self, to: Square) -> Bitboard {
        let pawns = pawn_attacks(!self.side, to) & self.pieces(self.side, PieceType::Pawn);
        pawns.into_iter().filter(|&from| self.is_legal_en_passant(from, to)).collect()
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

    /// Returns the target squares of single and double pawn pushes.
    #[inline]
    fn pawn_pushes(&self, pinned: Bitboard, check_mask: Bitboard) -> [Bitboard; 2] {
        let us = self.side;
        let empty = !self.occupied();
        // A pinned pawn must stay on the line of its pin, which goes through the king.
        let pushers = self.pieces(us, PieceType::Pawn) - (pinned - self.king(us).file().into());
        let single = forward(pushers, us) & empty;
        let double = forward(single & Rank::Third.relative(us).into(), us) & empty;
        [single & check_mask, double & check_mask]
    }

    /// Returns the target squares of pawn captures towards the h-file and towards the a-file, without en passant.
    #[inline(always)]
    fn pawn_captures(&self, pinned: Bitboard, check_mask: Bitboard) -> [Bitboard; 2] {
        let us = self.side;
        let pawns = self.pieces(us, PieceType::Pawn);
        let enemy = self.colors[!us] & check_mask;
        let [mut to_east, mut to_west] = [pawns; 2];
        if !pinned.is_empty() {
            let king = self.king(us);
            let (east, west) = match us {
                Color::White => (diagonal(king), antidiagonal(king)),
                Color::Black => (antidiagonal(king), diagonal(king)),
            };
            to_east = pawns - (pinned - east);
            to_west = pawns - (pinned - west);
        }
        let (east, west) = (forward(to_east - File::H.into(), us), forward(to_west - File::A.into(), us));
        [Bitboard(east.0 << 1) & enemy, Bitboard(west.0 >> 1) & enemy]
    }

    /// Returns whether the king is safe after the pawn on `from` captures en passant on `to`. Pins are not enough to
    /// decide this, because two pawns leave their rank at once.
    pub(super) fn is_legal_en_passant(&self, from: Square, to: Square) -> bool {
        let victim = Bitboard::from(to.forward(!self.side));
        let occupied = (self.occupied() - from.into() - victim) | to.into();
        let attackers = self.attackers(self.king(self.side), occupied) & self.colors[!self.side];
        (attackers - victim).is_empty()
    }

    /// Returns the castling moves to which the side to move has the right, and whether each is legal. The side must not
    /// be in check. `danger` is the set of squares that the enemy attacks.
    #[inline]
    fn castling_moves(&self, danger: Bitboard, pinned: Bitboard) -> impl Iterator<Item = (Move, bool)> {
        let king = self.king(self.side);
        let rooks = CastlingSide::ALL.into_iter().filter_map(move |side| self.castling.rook(self.side, side));
        let obstacles = self.castling_obstacles(danger, pinned);
        rooks.map(move |file| {
            let castle = Move::new(king, Square::new(file, king.rank()), MoveKind::Castle);
            (castle, obstacles & CASTLING_OBSTACLES[king.file()][file] == 0)
        })
    }

    /// Returns whether king and rook have a free path and the king passes no attacked square. The side to move must
    /// have the castling right and must not be in check.
    #[inline]
    pub(super) fn is_legal_castle(&self, castle: Move, danger: Bitboard, pinned: Bitboard) -> bool {
        let files = (castle.from().file(), castle.to().file());
        self.castling_obstacles(danger, pinned) & CASTLING_OBSTACLES[files.0][files.1] == 0
    }

    /// Returns what may prevent castling, on the king's rank in the order of [`CASTLING_OBSTACLES`].
    #[inline]
    fn castling_obstacles(&self, danger: Bitboard, pinned: Bitboard) -> u32 {
        let rank = 8 * self.king(self.side).rank() as u32;
        let files = |set: Bitboard| (set.0 >> rank) as u32 & 0xff;
        files(self.occupied()) | files(danger) << 8 | files(pinned) << 16
    }
}

/// By the files of king and rook: the files that must not be occupied (bits 0 to 7), that the enemy must not attack
/// (bits 8 to 15), and where no piece may be pinned (bits 16 to 23). The last is the rook's file: in Chess960 it may be
/// pinned, and without it the king's target square is attacked.
static CASTLING_OBSTACLES: [[u32; 8]; 8] = {
    /// Returns the files from one to another.
    const fn range(a: u32, b: u32) -> u32 {
        if a < b { (2 << b) - (1 << a) } else { (2 << a) - (1 << b) }
    }
    let mut obstacles = [[0; 8]; 8];
    let mut i = 0;
    while i < 64 {
        let (king, rook) = (i / 8, i % 8);
        let side = if rook > king { CastlingSide::King } else { CastlingSide::Queen };
        let (king_to, rook_to) = (side.king_target() as u32, side.rook_target() as u32);
        let path = (range(king, king_to) | range(rook, rook_to)) & !(1 << king | 1 << rook);
        obstacles[king as usize][rook as usize] = path | range(king, king_to) << 8 | 1 << rook << 16;
        i += 1;
    }
    obstacles
};

/// Returns the steps in square numbers of a single push and of captures towards the h-file and towards the a-file.
const fn steps(side: Color) -> [i8; 3] {
    match side {
        Color::White => [8, 9, 7],
        Color::Black => [-8, -7, -9],
    }
}

/// Returns the squares in front of pawns. None is on a rank from which this would wrap around.
const fn forward(pawns: Bitboard, side: Color) -> Bitboard {
    Bitboard(pawns.0.rotate_left(if matches!(side, Color::White) { 8 } else { 56 }))
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
fn push_promotions(list: &mut Appender, from: Square, to: Square, capture: bool, queen: bool, others: bool) {
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

    /// Debug builds panic at the illegal move.
    #[cfg(not(debug_assertions))]
    #[test]
    fn illegal_moves_leave_moves_between_two_squares() {
        // White captures with Black's pawn, whose id is that of White's rook, so that the rook attacks its own square.
        let captured = Position::startpos().make(Move::new(Square::B7, Square::B2, MoveKind::Capture)).make_null();
        let position = captured.make(Move::new(Square::B1, Square::A1, MoveKind::Quiet)).make_null();
        let mut quiet = MoveList::new();
        position.list_quiet_moves_to(&[Bitboard::FULL; 6], &mut quiet);
        for list in [position.moves(), quiet] {
            assert!(list.iter().all(|mv| mv.from() != mv.to()), "{:?}", list.as_ref());
        }
    }

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
