use crate::board::{GameHistory, Position};
use crate::data::{Game, Outcome, Run, ScoredMove, rule_outcome};
use crate::nnue::Network;
use crate::search::{Limits, OutOfMemory};
use crate::tools::opening::{chance, opening};
use crate::tools::session::Session;
use crate::types::Color;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where games are played one after the other.
pub struct Table<'a> {
    run: &'a Run,
    session: Session,
    limits: Limits,
    nodes: u64,
    rng: Xoshiro256PlusPlus,
}

impl<'a> Table<'a> {
    pub fn new(run: &'a Run, network: &Network, rng: Xoshiro256PlusPlus) -> Result<Self, OutOfMemory> {
        let limits = Limits {
            soft_nodes: Some(run.soft_nodes),
            nodes: Some(run.soft_nodes.saturating_mul(run.hard_factor)),
            ..Limits::default()
        };
        Ok(Self { run, session: Session::new(network, run.hash, 1)?, limits, nodes: 0, rng })
    }

    /// Nodes searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Plays a game from an opening that is not lost for either side. The calling thread needs [`STACK`](crate::search::STACK) bytes of stack.
    pub fn play(&mut self) -> Game {
        loop {
            let start = opening(self.run.frc_percent, self.run.random_plies, &mut self.rng);
            if let Some(game) = self.play_from(start) {
                return game;
            }
        }
    }

    /// A game from this position; none if the first score is too high or low.
    fn play_from(&mut self, start: Position) -> Option<Game> {
        self.session.forget();
        let is_adjudicated = !chance(self.run.unadjudicated_percent, &mut self.rng);
        let mut referee = Referee::default();
        let mut game = Game { start: start.clone(), outcome: Outcome::Draw, moves: Vec::with_capacity(200) };
        let (mut position, mut history) = (start, GameHistory::new());
        loop {
            let outcome = self.session.search_here(&position, &history, 1, &self.limits, &mut ());
            self.nodes += outcome.nodes;
            let (best, score) = (outcome.best.expect("the game is not over"), outcome.score);
            if game.moves.is_empty() && score.value().abs() > self.run.opening_score {
                return None;
            }
            let side = position.side_to_move();
            // Scores lie within ±32,001.
            let score = if side == Color::White { score.value() } else { -score.value() } as i16;
            game.moves.push(ScoredMove { mv: best, score });
            history.push(&position);
            position = position.make(best);
            let ended = rule_outcome(&position, &history)
                .or_else(|| referee.judge(self.run, &position, score).filter(|_| is_adjudicated))
                .or_else(|| (game.moves.len() >= self.run.longest).then_some(Outcome::Draw));
            if let Some(outcome) = ended {
                game.outcome = outcome;
                return Some(game);
            }
        }
    }
}

/// Ends games whose result is clear: counts the plies for which the scores were clear, as White sees them.
#[derive(Default)]
struct Referee {
    won: [i32; 2],
    drawn: i32,
}

impl Referee {
    /// The outcome, if it is clear, after a move that was made with this score and led to `position`.
    fn judge(&mut self, run: &Run, position: &Position, score: i16) -> Option<Outcome> {
        let score = i32::from(score);
        for color in Color::ALL {
            let score = if color == Color::White { score } else { -score };
            self.won[color] = if score >= run.win[0] { self.won[color] + 1 } else { 0 };
            if self.won[color] >= run.win[1] {
                return Some(Outcome::of_winner(color));
            }
        }
        let [within, plies, from_ply] = run.draw;
        let ply = 2 * i32::from(position.fullmove_number() - 1) + position.side_to_move() as i32;
        self.drawn = if ply > from_ply && score.abs() <= within { self.drawn + 1 } else { 0 };
        (self.drawn >= plies).then_some(Outcome::Draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(scores: &[i16], fullmove: u16) -> Vec<Option<Outcome>> {
        let settings = super::super::Settings {
            folder: "".into(),
            positions: 1,
            shard_positions: 1,
            soft_nodes: 1,
            threads: 1,
            seed: 1,
            frc_percent: 0,
            hash: 1,
            commit: None,
        };
        let run = settings.run(&Network::embedded());
        let position = format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 {fullmove}").parse().unwrap();
        let mut referee = Referee::default();
        scores.iter().map(|&score| referee.judge(&run, &position, score)).collect()
    }

    #[test]
    fn clear_games_end() {
        assert_eq!(judge(&[1500; 4], 1), [None, None, None, Some(Outcome::WhiteWins)]);
        assert_eq!(judge(&[-1500, -31_000, -1501, -1500], 1)[3], Some(Outcome::BlackWins));
        assert_eq!(judge(&[1500, 1500, 1500, -1500, 1500], 1), [None; 5]);
        assert_eq!(judge(&[1500, 1500, 1499, 1500, 1500], 1), [None; 5]);
        assert_eq!(judge(&[8, -8, 0, 8, 0, 0, 0, 0, 8], 40), [None; 9]);
        assert_eq!(judge(&[8, -8, 0, 8, 0, 0, 0, 0, 8, 0], 40)[9], Some(Outcome::Draw));
        assert_eq!(judge(&[8, -8, 0, 9, 0, 0, 0, 0, 8, 0], 40), [None; 10]);
        assert_eq!(judge(&[0; 10], 20), [None; 10]);
    }
}
