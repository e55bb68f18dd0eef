use super::Position;
use crate::tables::{between, bishop_attacks, line, rook_attacks};
use crate::types::{Bitboard, Color, Move, MoveKind, PieceType, Square};

/// What pieces are worth in exchanges, in centipawns, by type. The king is worth nothing: it is never taken.
pub const SEE_VALUES: [i32; 6] = [100, 300, 300, 500, 900, 0];

impl Position {
    /// Whether a legal move see_ge at least `threshold` centipawns once both sides have taken on its target square for as
    /// long as it pays them, each time with the least valuable piece (static exchange evaluation). Pinned pieces do not take part while the pinning piece
    /// is there, except along the pin. Castling see_ge nothing.
    ///
    /// The method is swapping with a changing bound (Chessprogramming wiki, "SEE - The Swap Algorithm").
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
        // By how much the side that has moved last is above what it wants, first with the piece that it moved, then without.
        let mut margin = gain - threshold;
        if margin < 0 {
            return false;
        }
        margin -= value(at_risk);
        if margin >= 0 {
            return true;
        }
        // The tables tell the common case: nobody takes back, and the mover uncovers no slider that could.
        let table = &self.attacks[them].0;
        if table[to] == 0 && table[from] & self.slider_ids(them) == 0 && mv.kind() != MoveKind::EnPassant {
            return true;
        }

        let king = |color| if mover == PieceType::King && color == us { to } else { self.king(color) };
        let mut attackers = self.attackers(to, occupied);
        let (mut side, mut reached) = (them, true);
        loop {
            attackers &= occupied;
            let own = attackers & self.colors[side];
            let free = own - self.held(own, king(side), side, to, occupied);
            let least = |kind| Some((kind, (free & self.kinds[kind]).first()?));
            let Some((kind, square)) = PieceType::ALL.into_iter().find_map(least) else { return reached };
            if kind == PieceType::King && attackers.intersects(self.colors[!side]) {
                // It would be taken in turn.
                return reached;
            }
            reached = !reached;
            // From the other side, which must do better than what the first would be content with.
            margin = -margin - 1 - value(kind);
            if margin >= 0 {
                return reached;
            }
            side = !side;
            occupied = occupied - square.into();
            // Sliders behind the piece join in.
            let queens = self.kinds[PieceType::Queen];
            attackers |= (bishop_attacks(to, occupied) & (self.kinds[PieceType::Bishop] | queens))
                | (rook_attacks(to, occupied) & (self.kinds[PieceType::Rook] | queens));
        }
    }

    /// Those of `pieces` that may not go to `to`, since that would uncover their king.
    fn held(&self, pieces: Bitboard, king: Square, color: Color, to: Square, occupied: Bitboard) -> Bitboard {
        let mut held = Bitboard::EMPTY;
        // What stands on `to` by now has been taken there.
        for sniper in (self.snipers(king, !color) & occupied) - to.into() {
            let blockers = between(king, sniper) & occupied;
            if !blockers.more_than_one() && !line(king, sniper).has(to) {
                held |= blockers & pieces;
            }
        }
        held
    }
}
