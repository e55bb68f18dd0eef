//! Random openings.

use crate::board::Position;
use crate::data::random::below;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Returns true with a probability of `percent`.
pub fn chance(percent: u32, rng: &mut Xoshiro256PlusPlus) -> bool {
    below(100, rng) < percent as usize
}

/// Returns a position with a legal move, reached by random moves; their number is drawn from the range `plies`, ends
/// included. The game starts from double Chess960 with a probability of `frc_percent`, else from the starting position.
pub fn opening(frc_percent: u32, plies: [u32; 2], rng: &mut Xoshiro256PlusPlus) -> Position {
    loop {
        let start = if chance(frc_percent, rng) {
            let mut number = || below(CHESS960_POSITIONS as usize, rng) as u32;
            chess960(number(), number())
        } else {
            Position::startpos()
        };
        let count = plies[0] as usize + below((plies[1] - plies[0]) as usize + 1, rng);
        if let Some(position) = walk(start, count, rng) {
            return position;
        }
    }
}

/// Plays random moves. Returns `None` if the game ends within them.
pub fn walk(mut position: Position, plies: usize, rng: &mut Xoshiro256PlusPlus) -> Option<Position> {
    for _ in 0..plies {
        let moves = position.moves();
        if moves.is_empty() {
            return None;
        }
        position = position.make(moves[below(moves.len(), rng)]);
    }
    position.has_legal_move().then_some(position)
}

/// The number of starting positions of Chess960.
const CHESS960_POSITIONS: u32 = 960;

/// Returns the position of double Chess960 with these numbers for White's and Black's home ranks; 518 is that of chess.
///
/// # Panics
/// If a number is not below 960.
pub fn chess960(white: u32, black: u32) -> Position {
    let (above, below) = (home_rank(black), home_rank(white).to_ascii_uppercase());
    let castling = |rank: &str| -> String {
        rank.chars().zip('A'..).filter(|(piece, _)| piece.eq_ignore_ascii_case(&'r')).map(|(_, file)| file).collect()
    };
    let (white, black) = (castling(&below), castling(&above).to_ascii_lowercase());
    let fen = format!("{above}/pppppppp/8/8/8/8/PPPPPPPP/{below} w {white}{black} - 0 1");
    fen.parse().expect("starting positions are legal")
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
        assert_eq!(chess960(518, 518), Position::startpos());
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
