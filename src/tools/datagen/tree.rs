//! Positions of the search tree as training data.
//!
//! A search knows more of the positions in its tree than the static evaluation does, though mostly only a bound of
//! their score. Learning from them is the idea of TreeStrap (Veness, Silver, Uther and Blair, "Bootstrapping from Game
//! Tree Search", 2009).

use super::selfplay::{is_quiet, outcome_of};
use crate::board::Position;
use crate::data::{Game, Run, ScoredMove, is_trainable};
use crate::search::{Report, Sink, TtEntry};
use std::collections::HashSet;

/// Collects the positions of a search tree below which `Run::tree_nodes` nodes or more are searched.
pub struct Tree<'a> {
    run: &'a Run,
    found: Vec<(Position, TtEntry)>,
}

impl Sink for Tree<'_> {
    fn listens(&self) -> bool {
        false
    }

    fn report(&mut self, _: &Report) {}

    fn least_nodes(&self) -> u64 {
        if self.run.tree_nodes == 0 { u64::MAX } else { self.run.tree_nodes }
    }

    fn searched(&mut self, position: &Position, result: &TtEntry) {
        self.found.push((position.clone(), *result));
    }
}

impl<'a> Tree<'a> {
    /// Prepares for a search.
    pub fn new(run: &'a Run) -> Self {
        Self { run, found: Vec::new() }
    }

    /// Returns the quiet positions that were found, each as a game of one move with its last result. The root, which is
    /// a position of another game, is left out.
    pub fn games(&self, root: &Position) -> impl Iterator<Item = Game> {
        let mut seen = HashSet::from([root.key()]);
        let last = self.found.iter().rev().filter(move |(position, _)| seen.insert(position.key()));
        last.filter_map(|(position, result)| self.game(position, result))
    }

    /// Returns a position as a game. Returns `None` if it is not quiet, or so good or bad that a game would be
    /// adjudicated.
    fn game(&self, position: &Position, result: &TtEntry) -> Option<Game> {
        let score = position.side_to_move().white_pov(result.score.value());
        if score.abs() >= self.run.win[0] {
            return None;
        }
        // Where all moves failed low, none is the best.
        let mv = result.best.or_else(|| position.moves().iter().copied().find(|mv| !mv.is_noisy()))?;
        let scored = ScoredMove { mv, score: score as i16 };
        (is_trainable(position, mv, scored.score) && is_quiet(position)).then(|| Game {
            start: position.clone(),
            outcome: outcome_of(score, self.run),
            bound: result.bound,
            moves: vec![scored],
        })
    }
}
