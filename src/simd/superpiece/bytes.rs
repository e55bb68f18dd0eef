//! What the backends share that keep the board in bytes until the last step.

use super::SLIDER_STEP;
use crate::simd::Aligned;
use crate::types::Piece;
use kiln_gen::layout::pieces;

/// Type bits of no piece.
const NO_STEP: u8 = 0xe0;

/// The bits of pieces in [`avx2_pieces`](kiln_gen::layout::Superpiece::avx2_pieces).
pub const WINDOW_BITS: [u8; Piece::COUNT] = {
    use pieces::{BISHOP, BLACK_PAWN, KING, KNIGHT, QUEEN, ROOK, WHITE_PAWN};
    [WHITE_PAWN, BLACK_PAWN, KNIGHT, KNIGHT, BISHOP, BISHOP, ROOK, ROOK, QUEEN, QUEEN, KING, KING]
};

/// By slot: the type bits of places that slide along it.
pub static STEPS: Aligned<[u8; 64]> = {
    let mut steps = [0; 64];
    let mut slot = 0;
    while slot < 64 {
        steps[slot] = if slot % 8 == 0 { NO_STEP } else { SLIDER_STEP.0[slot / 8] as u8 };
        slot += 1;
    }
    Aligned(steps)
};
