//! Static exchange evaluation (SEE).

use super::Position;
use crate::tables::{between, bishop_attacks, line, rook_attacks};
use crate::types::{Bitboard, Color, Move, MoveKind, PieceType, Square};

/// The value of each piece type in exchanges, in centipawns. The king's is 0: it is never captured.
pub const SEE_VALUES: [i32; 6] = [100, 300, 300, 500, 900, 0];

impl Position {
    /// Returns whether the static exchange evaluation (SEE) of a legal move is at least `threshold` centipawns: the
    /// material won on its target square if both sides recapture with their least valuable attacker as long as that
    /// pays. A pinned piece takes part only along its pin, or once the pinning piece is gone. Castling evaluates to 0.
    ///
    /// The method is the swap algorithm with a null window (Chessprogramming wiki, "SEE - The Swap Algorithm").
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// // The rook wins a pawn, but the pawn is defended.
    /// let position: Position = "4k3/8/2p5/3p4/8/8/8/3RK3 w - - 0 1".parse().unwrap();
    /// let capture = position.parse_move("d1d5").unwrap();
    /// assert!(position.see_ge(capture, 100 - 500) && !position.see_ge(capture, 0));
    /// ```
    pub fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        let (us, them) = (self.side, !self.side);
        let (from, to) = (mv.from(), mv.to());
        if mv.kind() == MoveKind::Castle {
            return threshold <= 0;
        }
        let value = |kind: PieceType| SEE_VALUES[kind];
        let mover = self.place(from).kind();
        let mut at_risk = mover;
        let mut gain = self.board[to].map_or(0, |victim| value(victim.kind()));
        let mut occupied = (self.occupied() - from.into()) | to.into();
        if mv.kind() == MoveKind::EnPassant {
            gain = value(PieceType::Pawn);
            occupied = occupied - to.forward(them).into();
        }
        if let Some(kind) = mv.promotion() {
            gain += value(kind) - value(PieceType::Pawn);
            at_risk = kind;
        }
        // The margin by which the side that moved last exceeds its threshold: first if its piece is safe, then if it is
        // lost.
        let mut margin = gain - threshold;
        if margin < 0 {
            return false;
        }
        margin -= value(at_risk);
        if margin >= 0 {
            return true;
        }
        // The common case: nothing recaptures, and the mover does not uncover a slider that could.
        let attacks = &self.attacks[them].0;
        if attacks[to] == 0 && attacks[from] & self.slider_ids(them) == 0 && mv.kind() != MoveKind::EnPassant {
            return true;
        }

        let king = |color| if mover == PieceType::King && color == us { to } else { self.king(color) };
        let mut attackers = self.attackers(to, occupied);
        let (mut side, mut reaches) = (them, true);
        loop {
            attackers &= occupied;
            let own = attackers & self.colors[side];
            if own.is_empty() {
                return reaches;
            }
            let free = own - self.pinned_in_exchange(own, king(side), side, to, occupied);
            let least = |kind| Some((kind, (free & self.kinds[kind]).first()?));
            let Some((kind, square)) = PieceType::ALL.into_iter().find_map(least) else { return reaches };
            if kind == PieceType::King && attackers.intersects(self.colors[!side]) {
                // The king would be captured in turn.
                return reaches;
            }
            reaches = !reaches;
            // Negate the window: the other side must exceed what is enough for the first.
            margin = -margin - 1 - value(kind);
            if margin >= 0 {
                return reaches;
            }
            side = !side;
            occupied = occupied - square.into();
            // Sliders behind the piece (x-rays) join in, on the line that the piece attacked along.
            let queens = self.kinds[PieceType::Queen];
            if !matches!(kind, PieceType::Knight | PieceType::Rook) {
                attackers |= bishop_attacks(to, occupied) & (self.kinds[PieceType::Bishop] | queens);
            }
            if matches!(kind, PieceType::Rook | PieceType::Queen | PieceType::King) {
                attackers |= rook_attacks(to, occupied) & (self.kinds[PieceType::Rook] | queens);
            }
        }
    }

    /// Returns those of `pieces` that are pinned for an exchange on `to`: capturing there would expose their king.
    fn pinned_in_exchange(
        &self,
        pieces: Bitboard,
        king: Square,
        color: Color,
        to: Square,
        occupied: Bitboard,
    ) -> Bitboard {
        let mut pinned = Bitboard::EMPTY;
        // A sniper on `to` has just been captured there.
        for sniper in (self.snipers(king, !color) & occupied) - to.into() {
            let blockers = between(king, sniper) & occupied;
            if !blockers.more_than_one() && !line(king, sniper).has(to) {
                pinned |= blockers & pieces;
            }
        }
        pinned
    }
}
