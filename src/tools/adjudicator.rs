//! The adjudication of games whose result is clear.

use crate::board::Position;
use crate::data::Outcome;
use crate::types::Color;

/// Counts how many plies in a row the score was clear. The scores are those of both sides in turn, so a run of plies
/// means that they agree, unless a variation of several plies has the score of one search.
#[derive(Default)]
pub struct Adjudicator {
    winning_plies: [i32; 2],
    drawn_plies: i32,
}

impl Adjudicator {
    /// Returns the outcome if it is clear after a move to `position` with this score from White's point of view.
    ///
    /// `win` is the least score of a won game, and for how many plies; `draw` the largest score of a drawn game, for
    /// how many plies, and after which ply.
    pub fn adjudicate(&mut self, win: [i32; 2], draw: [i32; 3], position: &Position, score: i32) -> Option<Outcome> {
        for color in Color::ALL {
            let score = color.white_pov(score);
            self.winning_plies[color] = if score >= win[0] { self.winning_plies[color] + 1 } else { 0 };
            if self.winning_plies[color] >= win[1] {
                return Some(Outcome::of_winner(color));
            }
        }
        let [within, plies, from_ply] = draw;
        let ply = 2 * i32::from(position.fullmove_number() - 1) + position.side_to_move() as i32;
        self.drawn_plies = if ply > from_ply && score.abs() <= within { self.drawn_plies + 1 } else { 0 };
        (self.drawn_plies >= plies).then_some(Outcome::Draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adjudicate(scores: &[i32], fullmove: u16) -> Vec<Option<Outcome>> {
        let position = format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 {fullmove}").parse().unwrap();
        let mut adjudicator = Adjudicator::default();
        scores.iter().map(|&score| adjudicator.adjudicate([1500, 4], [8, 10, 70], &position, score)).collect()
    }

    #[test]
    fn clear_games_end() {
        assert_eq!(adjudicate(&[1500; 4], 1), [None, None, None, Some(Outcome::WhiteWins)]);
        assert_eq!(adjudicate(&[-1500, -31_000, -1501, -1500], 1)[3], Some(Outcome::BlackWins));
        assert_eq!(adjudicate(&[1500, 1500, 1500, -1500, 1500], 1), [None; 5]);
        assert_eq!(adjudicate(&[1500, 1500, 1499, 1500, 1500], 1), [None; 5]);
        assert_eq!(adjudicate(&[8, -8, 0, 8, 0, 0, 0, 0, 8], 40), [None; 9]);
        assert_eq!(adjudicate(&[8, -8, 0, 8, 0, 0, 0, 0, 8, 0], 40)[9], Some(Outcome::Draw));
        assert_eq!(adjudicate(&[8, -8, 0, 9, 0, 0, 0, 0, 8, 0], 40), [None; 10]);
        assert_eq!(adjudicate(&[0; 10], 20), [None; 10]);
    }
}
