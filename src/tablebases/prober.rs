//! The crate `pyrrhic-rs` behind the engine's types. It does not check its preconditions; the callers do.

use super::{TablebaseError, Wdl};
use crate::board::Position;
use crate::tables;
use crate::types::{Bitboard, Color, Move, PieceType, Square};
use pyrrhic_rs::{DtzProbeValue, DtzResult, EngineAdapter, TBError, TableBases, WdlProbeResult};

pub(super) struct Prober(TableBases<Adapter>);

impl Prober {
    /// Opens the tables in folders separated by colons. There must be at least one: otherwise the crate fails
    /// permanently.
    pub(super) fn open(folders: &str) -> Result<Self, TablebaseError> {
        TableBases::new(folders).map(Self).map_err(|error| match error {
            TBError::AlreadyInitialized => TablebaseError::InUse,
            _ => TablebaseError::Refused,
        })
    }

    /// Returns the WDL result of a position without castling rights, ignoring its halfmove clock.
    pub(super) fn probe_wdl(&self, position: &Position) -> Option<Wdl> {
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

    /// Returns the signed DTZ of a position and those of its moves, all counted from the position. It must have a legal
    /// move, and there must be a DTZ table for its material.
    pub(super) fn probe_root_dtz(&self, position: &Position) -> Option<(i32, Vec<(Move, i32)>)> {
        let Pieces { colors: [white, black], pawns, knights, bishops, rooks, queens, kings } = Pieces::of(position);
        let (en_passant, is_white) = (en_passant(position), position.side_to_move() == Color::White);
        // The clock only affects the WDL result derived from a DTZ, which the caller derives itself.
        let clock = 0;
        let probed =
            self.0.probe_root(white, black, kings, queens, rooks, bishops, knights, pawns, clock, en_passant, is_white);
        let probed = probed.ok()?;
        let DtzProbeValue::DtzResult(root) = probed.root else { return None };
        let dtz_of = |mv: &Move| {
            probed.moves[..probed.num_moves].iter().find_map(|value| match value {
                DtzProbeValue::DtzResult(result) if is_same_move(result, *mv) => Some((*mv, signed_dtz(result))),
                _ => None,
            })
        };
        Some((signed_dtz(&root), position.moves().iter().map(dtz_of).collect::<Option<_>>()?))
    }
}

fn is_same_move(result: &DtzResult, mv: Move) -> bool {
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

fn signed_dtz(result: &DtzResult) -> i32 {
    match result.wdl {
        WdlProbeResult::Loss | WdlProbeResult::BlessedLoss => -i32::from(result.dtz),
        _ => i32::from(result.dtz),
    }
}

/// The bitboards that the prober takes.
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

/// Returns the en passant square's number, or 0 (a1, never an en passant square) for none.
fn en_passant(position: &Position) -> u32 {
    position.en_passant().map_or(0, |square| square.index() as u32)
}

/// Provides the engine's attack tables to the prober.
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
