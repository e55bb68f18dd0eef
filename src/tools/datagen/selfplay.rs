//! Self-play: openings and games.

use crate::board::{GameHistory, Position};
use crate::data::{Game, Outcome, Run, ScoredMove, rule_outcome};
use crate::nnue::Network;
use crate::search::Session;
use crate::search::{Limits, OutOfMemory};
use crate::tools::adjudicator::Adjudicator;
use crate::tools::opening::{Book, MAX_REJECTED, chance, opening};
use crate::types::Color;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Plays one game after another.
pub struct SelfPlay<'a> {
    run: &'a Run,
    book: Option<&'a Book>,
    session: Session,
    limits: Limits,
    nodes: u64,
    rng: Xoshiro256PlusPlus,
}

impl<'a> SelfPlay<'a> {
    /// Prepares games with the settings of a run, which describe `book`.
    ///
    /// # Errors
    /// If the system refuses the memory of the transposition table.
    pub fn new(
        run: &'a Run,
        book: Option<&'a Book>,
        network: &Network,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Self, OutOfMemory> {
        let limits = Limits {
            soft_nodes: Some(run.soft_nodes),
            nodes: Some(run.soft_nodes.saturating_mul(run.hard_factor)),
            ..Limits::default()
        };
        Ok(Self { run, book, session: Session::new(network, run.hash, 1)?, limits, nodes: 0, rng })
    }

    /// Returns the number of nodes searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Plays a game from an opening that is not lost for either side. The calling thread needs
    /// [`STACK`](crate::search::STACK) bytes of stack.
    ///
    /// # Errors
    /// If a line of the book is not a valid position, or too many openings in a row are decided.
    pub fn play(&mut self) -> Result<Game, String> {
        for _ in 0..MAX_REJECTED {
            let start = opening(self.run, self.book, &mut self.rng)?;
            if let Some(game) = start.and_then(|start| self.play_from(start)) {
                return Ok(game);
            }
        }
        Err(format!("no balanced opening among {MAX_REJECTED} in a row"))
    }

    /// Plays a game from this position. Returns `None` if the first score is too high or low.
    fn play_from(&mut self, start: Position) -> Option<Game> {
        self.session.clear_histories();
        let is_adjudicated = !chance(self.run.unadjudicated_percent, &mut self.rng);
        let mut adjudicator = Adjudicator::default();
        let mut game = Game { start: start.clone(), outcome: Outcome::Draw, moves: Vec::with_capacity(200) };
        let (mut position, mut history) = (start, GameHistory::new());
        loop {
            let result = self.session.position(&position).history(&history).limits(&self.limits).run_here(&mut ());
            self.nodes += result.nodes;
            assert!(result.best().is_some(), "the game is not over");
            let score = result.score.value();
            if game.moves.is_empty() && score.abs() > self.run.opening_score {
                return None;
            }
            // All scores fit into an i16.
            let score = if position.side_to_move() == Color::White { score } else { -score } as i16;
            for &mv in result.pv.iter().take(self.run.pv_plies) {
                game.moves.push(ScoredMove { mv, score });
                history.push(&position);
                position = position.make(mv);
                let ended = rule_outcome(&position, &history)
                    .or_else(|| {
                        adjudicator
                            .adjudicate(self.run.win, self.run.draw, &position, score.into())
                            .filter(|_| is_adjudicated && position.occupied().len() >= self.run.adjudicate_pieces)
                    })
                    .or_else(|| (game.moves.len() >= self.run.longest).then_some(Outcome::Draw));
                if let Some(outcome) = ended {
                    game.outcome = outcome;
                    return Some(game);
                }
            }
        }
    }
}
