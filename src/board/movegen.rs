use super::Position;
use super::make::castling_targets;
use crate::tables::{
    between, bishop_attacks, king_attacks, knight_attacks, line, pawn_attacks, queen_attacks, rook_attacks,
};
use crate::types::{Bitboard, Color, Move, MoveKind, PieceType, Rank, Square, Wing};
use arrayvec::ArrayVec;

/// More than any legal position with at most 16 pieces a side has; the most known are 218.
pub const MAX_MOVES: usize = 256;

/// A list of moves without allocation.
pub type MoveList = ArrayVec<Move, MAX_MOVES>;

impl Position {
    /// All legal moves.
    pub fn moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.generate::<true, true>(&mut list);
        list
    }

    /// The legal captures and promotions to a queen.
    pub fn noisy_moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.generate::<true, false>(&mut list);
        list
    }

    /// Whether the side to move has no legal move.
    pub fn is_over(&self) -> bool {
        self.moves().is_empty()
    }

    fn generate<const NOISY: bool, const QUIET: bool>(&self, list: &mut MoveList) {
        let (us, them) = (self.side, !self.side);
        let king = self.king(us);
        let (enemy, occupied) = (self.colors[them], self.occupied());
        // What the caller asked for, by target square; pawns look after themselves.
        let mut wanted = Bitboard::EMPTY;
        if NOISY {
            wanted |= enemy;
        }
        if QUIET {
            wanted |= !occupied;
        }

        let without_king = occupied - king.into();
        for to in king_attacks(king) & wanted {
            if !self.is_attacked(to, them, without_king) {
                list.push(self.plain(king, to));
            }
        }
        if self.checkers.has_many() {
            return;
        }
        // The squares that end the check, if there is one.
        let evasions = self.checkers.first().map_or(Bitboard::FULL, |checker| between(king, checker) | checker.into());
        let pinned = self.pinned(us);
        let targets = wanted & evasions;

        for from in self.pieces(us, PieceType::Knight) - pinned {
            self.push_all(from, knight_attacks(from) & targets, list);
        }
        let sliders = [
            (PieceType::Bishop, bishop_attacks as fn(Square, Bitboard) -> Bitboard),
            (PieceType::Rook, rook_attacks),
            (PieceType::Queen, queen_attacks),
        ];
        for (kind, attacks) in sliders {
            for from in self.pieces(us, kind) {
                let ray = if pinned.has(from) { line(king, from) } else { Bitboard::FULL };
                self.push_all(from, attacks(from, occupied) & targets & ray, list);
            }
        }

        for from in self.pieces(us, PieceType::Pawn) {
            let ray = if pinned.has(from) { line(king, from) } else { Bitboard::FULL };
            let allowed = evasions & ray;
            let last = from.rank() == Rank::Seventh.relative(us);
            if NOISY {
                for to in pawn_attacks(us, from) & enemy & allowed {
                    if last {
                        push_promotions::<true, true>(from, to, true, list);
                    } else {
                        list.push(Move::new(from, to, MoveKind::Capture));
                    }
                }
            }
            let to = from.forward(us);
            if occupied.has(to) {
                continue;
            }
            if last {
                if allowed.has(to) {
                    push_promotions::<NOISY, QUIET>(from, to, false, list);
                }
            } else if QUIET {
                if allowed.has(to) {
                    list.push(Move::new(from, to, MoveKind::Quiet));
                }
                let double = to.forward(us);
                if from.rank() == Rank::Second.relative(us) && allowed.has(double) && !occupied.has(double) {
                    list.push(Move::new(from, double, MoveKind::DoublePush));
                }
            }
        }
        if NOISY && let Some(to) = self.en_passant {
            for from in pawn_attacks(them, to) & self.pieces(us, PieceType::Pawn) {
                if self.is_legal_en_passant(from, to) {
                    list.push(Move::new(from, to, MoveKind::EnPassant));
                }
            }
        }
        if QUIET && self.checkers.is_empty() {
            for wing in Wing::ALL {
                if let Some(file) = self.castling.rook(us, wing) {
                    let castle = Move::new(king, Square::new(file, king.rank()), MoveKind::Castle);
                    if self.is_legal_castle(castle) {
                        list.push(castle);
                    }
                }
            }
        }
    }

    #[inline]
    fn plain(&self, from: Square, to: Square) -> Move {
        let kind = if self.squares[to].is_some() { MoveKind::Capture } else { MoveKind::Quiet };
        Move::new(from, to, kind)
    }

    #[inline]
    fn push_all(&self, from: Square, targets: Bitboard, list: &mut MoveList) {
        for to in targets {
            list.push(self.plain(from, to));
        }
    }

    /// The pieces of `color` that alone stand between their king and an enemy slider.
    fn pinned(&self, color: Color) -> Bitboard {
        let king = self.king(color);
        let (own, enemy) = (self.colors[color], self.colors[!color]);
        let queens = self.kinds[PieceType::Queen];
        let snipers = enemy
            & ((rook_attacks(king, enemy) & (self.kinds[PieceType::Rook] | queens))
                | (bishop_attacks(king, enemy) & (self.kinds[PieceType::Bishop] | queens)));
        let mut pinned = Bitboard::EMPTY;
        for sniper in snipers {
            let blockers = between(king, sniper) & own;
            if !blockers.has_many() {
                pinned |= blockers;
            }
        }
        pinned
    }

    /// Whether the king is safe after the pawn on `from` takes en passant on `to`. Two pawns leave their
    /// rank at once, so pins do not tell.
    pub(super) fn is_legal_en_passant(&self, from: Square, to: Square) -> bool {
        let victim = Bitboard::from(to.forward(!self.side));
        let occupied = (self.occupied() - from.into() - victim) | to.into();
        let attackers = self.attackers(self.king(self.side), occupied) & self.colors[!self.side];
        (attackers - victim).is_empty()
    }

    /// Whether the way is free and the king passes no attacked square. The side to move has the right and is not in check.
    fn is_legal_castle(&self, castle: Move) -> bool {
        let (king, rook) = (castle.from(), castle.to());
        let (king_to, rook_to) = castling_targets(castle);
        let others = self.occupied() - king.into() - rook.into();
        let king_way = between(king, king_to) | king_to.into();
        let rook_way = between(rook, rook_to) | rook_to.into();
        if others.meets(king_way | rook_way) {
            return false;
        }
        // A rook that leaves its square may have shielded the king's target, in Chess960; hence `others`.
        let enemy = !self.side;
        king_way.into_iter().all(|square| !self.is_attacked(square, enemy, others | rook_to.into()))
    }
}

/// Promotions by one pawn move: the queen is noisy, the others are as the caller classes them.
fn push_promotions<const QUEEN: bool, const OTHERS: bool>(
    from: Square,
    to: Square,
    capture: bool,
    list: &mut MoveList,
) {
    for piece in PieceType::PROMOTIONS {
        if if piece == PieceType::Queen { QUEEN } else { OTHERS } {
            let kind = MoveKind::promotion(piece, capture).expect("pawns become these");
            list.push(Move::new(from, to, kind));
        }
    }
}
