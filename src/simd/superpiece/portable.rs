//! The superpiece method in plain Rust for any target, the reference for the other backends.

use super::{Places, SLIDER_STEP, Superpiece};
use crate::simd::{Aligned, Wordboard};
use crate::tables::superpiece;
use crate::types::{Color, Piece, Square};

/// The method in plain Rust.
pub struct Portable;

/// By piece: the slots that it attacks.
const ATTACKED_SLOTS: [u64; Piece::COUNT] = {
    const KNIGHT: u64 = 0x0101_0101_0101_0101;
    const BISHOP: u64 = 0xfe00_fe00_fe00_fe00;
    const ROOK: u64 = 0x00fe_00fe_00fe_00fe;
    const KING: u64 = 0x0202_0202_0202_0202;
    [
        0x0200_0000_0000_0200,
        0x0000_0200_0200_0000,
        KNIGHT,
        KNIGHT,
        BISHOP,
        BISHOP,
        ROOK,
        ROOK,
        BISHOP | ROOK,
        BISHOP | ROOK,
        KING,
        KING,
    ]
};

/// Returns the squares of a lane from distance 1 up to the first piece, included.
fn lane(board: &Places, square: Square, lane: usize) -> impl Iterator<Item = usize> {
    let targets = &superpiece().rays[square][8 * lane + 1..8 * lane + 8];
    let targets = targets.iter().map(|&target| usize::from(target)).take_while(|&target| target < 64);
    let end = targets.clone().position(|target| board.0[target] != 0).map_or(7, |blocker| blocker + 1);
    targets.take(end)
}

impl Superpiece for Portable {
    type Board = Places;
    /// The color and id of a slider by square, or 0.
    type Toggles = Places;
    type Squares = u64;

    fn load(places: &Places) -> Places {
        *places
    }

    fn with(mut board: Places, square: Square, byte: u8) -> Places {
        board.0[square] = byte;
        board
    }

    fn through(board: Places, square: Square) -> Places {
        let mut toggles = Aligned([0; 64]);
        for (i, &step) in SLIDER_STEP.0.iter().enumerate() {
            let Some(first) = lane(&board, square, i).last() else { continue };
            let place = board.0[first];
            if place & (step as u8 | 0x20) == step as u8 {
                lane(&board, square, (i + 4) % 8).for_each(|target| toggles.0[target] = place & 0x1f);
            }
        }
        toggles
    }

    fn attacked(board: Places, square: Square, piece: Piece) -> u64 {
        let slots = ATTACKED_SLOTS[piece as usize];
        let mut squares = 0;
        for i in 0..8 {
            let knight = superpiece().rays[square][8 * i];
            if slots >> (8 * i) & 1 != 0 && knight < 64 {
                squares |= 1 << knight;
            }
            for (slot, target) in (8 * i + 1..).zip(lane(&board, square, i)) {
                squares |= (slots >> slot & 1) << target;
            }
        }
        squares
    }

    fn update<const N: usize>(
        table: &Wordboard,
        color: Color,
        toggles: &[Places; N],
        cleared: u16,
        squares: u64,
        bits: u16,
    ) -> Wordboard {
        let mut table = *table;
        for (square, word) in table.0.iter_mut().enumerate() {
            for slider in toggles.iter().map(|toggles| toggles.0[square]).filter(|&slider| slider != 0) {
                *word ^= if slider >> 4 == color as u8 { 1 << (slider & 15) } else { 0 };
            }
            *word = *word & !cleared | if squares >> square & 1 != 0 { bits } else { 0 };
        }
        table
    }
}
