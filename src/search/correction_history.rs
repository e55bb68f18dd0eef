//! How far the network was off in positions that share a feature with this one, as the search found out (correction history).

use super::history::{PieceTo, gravity};
use super::parameters as p;
use crate::board::Position;
use crate::types::Color;

/// Values of each feature that are told apart.
const SIZE: usize = 16_384;
/// Largest value of an entry, which stands for `LIMIT / UNIT` centipawns at a weight of 1024.
const LIMIT: i32 = 1024;
const UNIT: i32 = 16;

/// A table by side to move and feature.
type Table = [[i16; SIZE]; 2];

/// The corrections of a thread, which begin as zeros.
pub struct CorrectionHistory {
    pawn: Table,
    /// By whose pieces they are.
    non_pawn: [Table; 2],
    minor: Table,
    major: Table,
    /// By the last two moves.
    continuation: Table,
}

/// Where the entries of a position lie.
struct Places {
    side: Color,
    pawn: usize,
    non_pawn: [usize; 2],
    minor: usize,
    major: usize,
    continuation: usize,
}

impl Places {
    fn new(position: &Position, moves: [PieceTo; 2]) -> Self {
        let keys = position.keys();
        let slot = |key: u64| key as usize % SIZE;
        Self {
            side: position.side_to_move(),
            pawn: slot(keys.pawn()),
            non_pawn: Color::ALL.map(|color| slot(keys.non_pawn(color))),
            minor: slot(keys.minor()),
            major: slot(keys.major()),
            continuation: PieceTo::pair(moves) % SIZE,
        }
    }
}

impl CorrectionHistory {
    /// What to add to the network's score of a position for the side to move, in centipawns, after these moves, the last first.
    pub fn get(&self, position: &Position, moves: [PieceTo; 2]) -> i32 {
        let places = Places::new(position, moves);
        let side = places.side;
        let of = |table: &Table, place: usize| i32::from(table[side][place]);
        let sum = p::correction_pawn() * of(&self.pawn, places.pawn)
            + p::correction_non_pawn()
                * (of(&self.non_pawn[Color::White], places.non_pawn[Color::White])
                    + of(&self.non_pawn[Color::Black], places.non_pawn[Color::Black]))
            + p::correction_minor() * of(&self.minor, places.minor)
            + p::correction_major() * of(&self.major, places.major)
            + p::correction_continuation() * of(&self.continuation, places.continuation);
        sum / (1024 * UNIT)
    }

    /// Learns that a search to this depth found a score that is so many centipawns above the (corrected) static one.
    pub fn update(&mut self, position: &Position, moves: [PieceTo; 2], depth: i32, error: i32) {
        let places = Places::new(position, moves);
        let bonus = (error * depth / 8).clamp(-LIMIT / 4, LIMIT / 4);
        let entries = [
            &mut self.pawn[places.side][places.pawn],
            &mut self.minor[places.side][places.minor],
            &mut self.major[places.side][places.major],
            &mut self.continuation[places.side][places.continuation],
        ];
        let non_pawn = self.non_pawn.iter_mut().zip(places.non_pawn);
        for entry in entries.into_iter().chain(non_pawn.map(|(table, place)| &mut table[places.side][place])) {
            gravity::<LIMIT>(entry, bonus);
        }
    }
}
