//! The starting positions of Chess960, and its castling rights.

use super::Position;
use crate::types::{CastlingSide, Color, File};

/// The number of starting positions of Chess960.
pub const CHESS960_POSITIONS: u32 = 960;

impl Position {
    /// Returns the position of double Chess960 with these numbers for White's and Black's home ranks, by Scharnagl's
    /// numbering; 518 is that of chess. Equal numbers give a position of Chess960.
    ///
    /// # Panics
    /// If a number is not below [`CHESS960_POSITIONS`].
    pub fn chess960(white: u32, black: u32) -> Self {
        let (above, below) = (home_rank(black), home_rank(white).to_ascii_uppercase());
        let castling = |rank: &str| -> String {
            rank.chars()
                .zip('A'..)
                .filter(|(piece, _)| piece.eq_ignore_ascii_case(&'r'))
                .map(|(_, file)| file)
                .collect()
        };
        let (white, black) = (castling(&below), castling(&above).to_ascii_lowercase());
        let fen = format!("{above}/pppppppp/8/8/8/8/PPPPPPPP/{below} w {white}{black} - 0 1");
        fen.parse().expect("starting positions are legal")
    }

    /// Returns whether a castling right is not one of chess, where the king is on the e-file and the rook in the
    /// corner. Castling must then be written as king takes rook: `f1g1` could also be a move of the king.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let position: Position = "4k3/8/8/8/8/8/8/5K1R w H - 0 1".parse()?;
    /// assert!(position.is_chess960() && !Position::startpos().is_chess960());
    /// let castling = position.parse_san("O-O").unwrap();
    /// assert_eq!(castling.uci(position.is_chess960()), "f1h1");
    /// # Ok::<(), kiln::board::FenError>(())
    /// ```
    pub fn is_chess960(&self) -> bool {
        Color::ALL.into_iter().any(|color| {
            [(CastlingSide::King, File::H), (CastlingSide::Queen, File::A)].into_iter().any(|(side, corner)| {
                let rook = self.castling().rook(color, side);
                rook.is_some_and(|file| file != corner || self.king(color).file() != File::E)
            })
        })
    }
}

/// Returns the pieces of a home rank from the a-file on, by Scharnagl's numbering.
fn home_rank(number: u32) -> String {
    assert!(number < CHESS960_POSITIONS, "Chess960 has {CHESS960_POSITIONS} starting positions, counted from 0");
    let mut rank = [' '; 8];
    let number = number as usize;
    rank[2 * (number % 4) + 1] = 'b';
    rank[2 * (number / 4 % 4)] = 'b';
    let put = |rank: &mut [char; 8], place: usize, piece| {
        *rank.iter_mut().filter(|square| **square == ' ').nth(place).expect("enough squares are free") = piece;
    };
    put(&mut rank, number / 16 % 6, 'q');
    // The two knights stand on two of the five squares that are left.
    let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
    let (first, second) = pairs.clone().nth(number / 96).expect("there are ten pairs");
    put(&mut rank, second, 'n');
    put(&mut rank, first, 'n');
    for piece in ['r', 'k', 'r'] {
        put(&mut rank, 0, piece);
    }
    rank.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn starting_positions() {
        assert_eq!(Position::chess960(518, 518), Position::startpos());
        let chess = (0..CHESS960_POSITIONS).filter(|&number| !Position::chess960(number, number).is_chess960());
        // One for each place of the queen and the minor pieces between king and rooks of chess.
        assert_eq!(chess.count(), 18);
        assert_eq!(home_rank(0), "bbqnnrkr");
        assert_eq!(home_rank(959), "rkrnnqbb");
        let all: HashSet<String> = (0..CHESS960_POSITIONS).map(home_rank).collect();
        assert_eq!(all.len() as u32, CHESS960_POSITIONS);
        for rank in all {
            let find = |piece| rank.match_indices(piece).map(|(place, _)| place).collect::<Vec<_>>();
            let (king, rooks, bishops) = (find("k"), find("r"), find("b"));
            assert!(rooks[0] < king[0] && king[0] < rooks[1] && (bishops[0] + bishops[1]) % 2 == 1, "{rank}");
        }
    }
}
