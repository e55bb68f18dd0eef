//! The crate `pyrrhic-rs` in the engine's terms. What it lacks is seen to by the caller: that there are files, and what it may be asked.

use super::{TablebaseError, Wdl};
use crate::board::Position;
use crate::tables;
use crate::types::{Bitboard, Color, Move, PieceType, Square};
use pyrrhic_rs::{DtzProbeValue, DtzResult, EngineAdapter, TBError, TableBases, WdlProbeResult};

pub(super) struct Prober(TableBases<Adapter>);

impl Prober {
    /// Opens what lies in folders separated by colons. There must be a table among it: the crate fails for good where there is none.
    pub(super) fn open(folders: &str) -> Result<Self, TablebaseError> {
        TableBases::new(folders).map(Self).map_err(|error| match error {
            TBError::AlreadyInitialized => TablebaseError::InUse,
            _ => TablebaseError::Refused,
        })
    }

    /// How a position without castling rights ends, whatever its clock.
    pub(super) fn outcome(&self, position: &Position) -> Option<Wdl> {
        let Pieces { colors: [white, black], pawns, knights, bishops, rooks, queens, kings } = Pieces::of(position);
        let (en_passant, is_white) = (en_passant(position), position.side_to_move() == Color::White);
        match self.0.probe_wdl(white, black, kings, queens, rooks, bishops, knights, pawns, en_passant, is_white) {
            Ok(WdlProbeResult::Loss) => Some(Wdl::Loss),
            Ok(WdlProbeResult::BlessedLoss) => Some(Wdl::BlessedLoss),
            Ok(WdlProbeResult::Draw) => Some(Wdl::Draw),
            Ok(WdlProbeResult::CursedWin) => Some(Wdl::CursedWin),
            Ok(WdlProbeResult::Win) => Some(Wdl::Win),
            Err(_) => None,
        }
    }

    /// Signed distances of a position that is not over and of its moves, counted from the position. There must be a table of distances for its material.
    pub(super) fn distances(&self, position: &Position) -> Option<(i32, Vec<(Move, i32)>)> {
        let Pieces { colors: [white, black], pawns, knights, bishops, rooks, queens, kings } = Pieces::of(position);
        let (en_passant, is_white) = (en_passant(position), position.side_to_move() == Color::White);
        // The clock only matters for what comes of a distance, and that is not decided here.
        let clock = 0;
        let probed =
            self.0.probe_root(white, black, kings, queens, rooks, bishops, knights, pawns, clock, en_passant, is_white);
        let probed = probed.ok()?;
        let DtzProbeValue::DtzResult(root) = probed.root else { return None };
        let found = |mv: &Move| {
            probed.moves[..probed.num_moves].iter().find_map(|value| match value {
                DtzProbeValue::DtzResult(result) if is_same(result, *mv) => Some((*mv, signed(result))),
                _ => None,
            })
        };
        Some((signed(&root), position.moves().iter().map(found).collect::<Option<_>>()?))
    }
}

fn is_same(result: &DtzResult, mv: Move) -> bool {
    let promotion = match result.promotion {
        pyrrhic_rs::Piece::Queen => Some(PieceType::Queen),
        pyrrhic_rs::Piece::Rook => Some(PieceType::Rook),
        pyrrhic_rs::Piece::Bishop => Some(PieceType::Bishop),
        pyrrhic_rs::Piece::Knight => Some(PieceType::Knight),
        _ => None,
    };
    (usize::from(result.from_square), usize::from(result.to_square), promotion)
        == (mv.from().index(), mv.to().index(), mv.promotion())
}

fn signed(result: &DtzResult) -> i32 {
    match result.wdl {
        WdlProbeResult::Loss | WdlProbeResult::BlessedLoss => -i32::from(result.dtz),
        _ => i32::from(result.dtz),
    }
}

/// A position as the prober wants it.
struct Pieces {
    colors: [u64; 2],
    pawns: u64,
    knights: u64,
    bishops: u64,
    rooks: u64,
    queens: u64,
    kings: u64,
}

impl Pieces {
    fn of(position: &Position) -> Self {
        Self {
            colors: Color::ALL.map(|color| position.color(color).0),
            pawns: position.kind(PieceType::Pawn).0,
            knights: position.kind(PieceType::Knight).0,
            bishops: position.kind(PieceType::Bishop).0,
            rooks: position.kind(PieceType::Rook).0,
            queens: position.kind(PieceType::Queen).0,
            kings: position.kind(PieceType::King).0,
        }
    }
}

/// a1 stands for none: no pawn is ever taken there so.
fn en_passant(position: &Position) -> u32 {
    position.en_passant().map_or(0, |square| square.index() as u32)
}

/// The prober moves pieces by the engine's attacks.
#[derive(Clone)]
struct Adapter;

impl EngineAdapter for Adapter {
    fn pawn_attacks(color: pyrrhic_rs::Color, square: u64) -> u64 {
        let color = if color == pyrrhic_rs::Color::White { Color::White } else { Color::Black };
        tables::pawn_attacks(color, Square::wrapping(square as usize)).0
    }

    fn knight_attacks(square: u64) -> u64 {
        tables::knight_attacks(Square::wrapping(square as usize)).0
    }

    fn bishop_attacks(square: u64, occupied: u64) -> u64 {
        tables::bishop_attacks(Square::wrapping(square as usize), Bitboard(occupied)).0
    }

    fn rook_attacks(square: u64, occupied: u64) -> u64 {
        tables::rook_attacks(Square::wrapping(square as usize), Bitboard(occupied)).0
    }

    fn queen_attacks(square: u64, occupied: u64) -> u64 {
        tables::queen_attacks(Square::wrapping(square as usize), Bitboard(occupied)).0
    }

    fn king_attacks(square: u64) -> u64 {
        tables::king_attacks(Square::wrapping(square as usize)).0
    }
}
