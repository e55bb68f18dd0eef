//! Self-play: openings and games.

use super::tree::Tree;
use crate::board::{GameHistory, Position};
use crate::data::random::below;
use crate::data::{Game, Outcome, Run, ScoredMove, is_trainable, rule_outcome};
use crate::nnue::{Evaluator, Network};
use crate::search::{Limits, OutOfMemory, Pv, Session, Sink};
use crate::tools::adjudicator::Adjudicator;
use crate::tools::opening::{Book, MAX_REJECTED, chance, opening};
use crate::types::{Move, Score};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A position from which a branch may start.
struct Root {
    position: Position,
    /// How much the search differs from the static evaluation, times the number of pieces.
    weight: i32,
}

/// How many positions are drawn for a branch, which starts from the one with the greatest weight.
const ROOTS_DRAWN: usize = 16;
/// How many moves are drawn for a branch that is to start from a quiet position.
const MOVES_DRAWN: usize = 8;
/// The percentage of such branches.
const QUIET_PERCENT: u32 = 75;

/// The percentage of branches that are to start from a position of the search tree.
const TREE_PERCENT: u32 = 50;
/// The most plies from the root of the tree to such a position.
const TREE_PLIES: usize = 12;

/// Plays one game after another.
pub struct SelfPlay<'a> {
    run: &'a Run,
    book: Option<&'a Book>,
    session: Session,
    evaluator: Evaluator,
    nodes: u64,
    /// Positions of the search trees since [`SelfPlay::take_trees`].
    trees: Vec<Game>,
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
        let session = Session::new(network, run.hash, 1)?;
        Ok(Self { run, book, session, evaluator: Evaluator::new(network.clone()), nodes: 0, trees: Vec::new(), rng })
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

    /// Returns the [positions of the trees](Tree) of all searches since the last call.
    pub fn take_trees(&mut self) -> Vec<Game> {
        std::mem::take(&mut self.trees)
    }

    /// Returns at most `Run::branches` branches of a game: each a short game that follows one search. Half of them
    /// start from a position of the search tree below one of the game or of a branch before, and the others after a
    /// random move there. So training sees what best play avoids, such as sacrifices and exposed kings, and how it is
    /// refuted.
    pub fn branches(&mut self, game: &Game) -> Vec<Game> {
        let mut roots = self.roots(game);
        let mut branches = Vec::new();
        for _ in 0..self.run.branches {
            if let Some(branch) = self.branch(&mut roots) {
                roots.append(&mut self.roots(&branch));
                branches.push(branch);
            }
        }
        branches
    }

    /// Returns the balanced positions of a game that are trained on, weighed.
    fn roots(&mut self, game: &Game) -> Vec<Root> {
        let bound = self.run.opening_score;
        let is_root = |(position, scored): &(Position, ScoredMove)| {
            i32::from(scored.score).abs() <= bound && is_trainable(position, scored.mv, scored.score)
        };
        let weigh = |(position, scored): (Position, ScoredMove)| {
            self.evaluator.restart();
            let eval = position.side_to_move().white_pov(self.evaluator.evaluate(&position).value());
            let error = (squash(scored.score.into()) - squash(eval)).abs();
            // Long endings would otherwise outnumber the middlegames.
            Root { weight: error * position.occupied().len() as i32, position }
        };
        game.positions().filter(is_root).map(weigh).collect()
    }

    /// Takes one of these positions and goes on to one of its search tree, or by a random move, and then plays the
    /// principal variation. Returns `None` if there is no position, or if the game is over there.
    fn branch(&mut self, roots: &mut Vec<Root>) -> Option<Game> {
        if roots.is_empty() {
            return None;
        }
        // Where the static evaluation errs, it errs nearby too, and there is more to learn.
        let drawn = [(); ROOTS_DRAWN].map(|()| below(roots.len(), &mut self.rng));
        let hardest = drawn.into_iter().max_by_key(|&index| roots[index].weight)?;
        let before = roots.swap_remove(hardest).position;
        let in_tree = if chance(TREE_PERCENT, &mut self.rng) { self.tree_position(&before) } else { None };
        let start = in_tree.unwrap_or_else(|| before.make(self.branch_move(&before)));
        let history = GameHistory::new();
        if rule_outcome(&start, &history).is_some() {
            return None;
        }
        let (pv, score) = self.search(&start, &history);
        let moves: Vec<ScoredMove> = pv.into_iter().map(|mv| ScoredMove { mv, score }).collect();
        let mut branch = Game { start, outcome: Outcome::Draw, bound: None, moves };
        self.score_backward(&mut branch);
        // The game is seldom over after the variation. It may end in a stalemate that quiescence scored as a win.
        let last_score = branch.moves.last().map_or(score, |last| last.score);
        let outcome = branch.rule_outcome().unwrap_or_else(|| outcome_of(last_score.into(), self.run));
        Some(Game { outcome, ..branch })
    }

    /// Follows a random line of the search below a position, as far as the transposition table knows balanced
    /// positions, and returns the last one that is quiet. Such positions are what the search asks the network about;
    /// training on them is Tomasz Sobczyk's idea (nodchip/Stockfish, pull request 264).
    fn tree_position(&mut self, root: &Position) -> Option<Position> {
        let is_balanced = |score: Score| score.value().abs() <= self.run.opening_score;
        let is_known = |child: &Position| self.session.stored_score(child).is_some_and(is_balanced);
        let (mut position, mut last) = (root.clone(), None);
        for _ in 0..TREE_PLIES {
            let moves = position.moves();
            let children = moves.iter().map(|&mv| position.make(mv));
            let mut known: Vec<Position> = children.filter(&is_known).collect();
            if known.is_empty() {
                break;
            }
            position = known.swap_remove(below(known.len(), &mut self.rng));
            if is_quiet(&position) {
                last = Some(position.clone());
            }
        }
        last
    }

    /// Returns a random move of a position. Most are drawn anew until one leaves a quiet position: only there is the
    /// first ply trained on, which has the most to teach. Half of the others are captures, promotions and checks.
    fn branch_move(&mut self, position: &Position) -> Move {
        let moves = position.moves();
        let drawn = [(); MOVES_DRAWN].map(|()| moves[below(moves.len(), &mut self.rng)]);
        if chance(QUIET_PERCENT, &mut self.rng) {
            return drawn.into_iter().find(|&mv| is_quiet(&position.make(mv))).unwrap_or(drawn[0]);
        }
        let is_forcing = |&mv: &Move| mv.is_noisy() || position.gives_check(mv);
        let forcing = moves.iter().copied().filter(is_forcing);
        let forcing: Vec<Move> = if chance(50, &mut self.rng) { forcing.collect() } else { Vec::new() };
        if forcing.is_empty() { drawn[0] } else { forcing[below(forcing.len(), &mut self.rng)] }
    }

    /// Searches a position that is to be played. Returns the plies of the principal variation to play, and the score
    /// from White's point of view.
    fn search(&mut self, position: &Position, history: &GameHistory) -> (Pv, i16) {
        let limits = Limits {
            soft_nodes: Some(self.run.soft_nodes),
            nodes: Some(self.run.soft_nodes.saturating_mul(self.run.hard_factor)),
            ..Limits::default()
        };
        let mut tree = Tree::new(self.run);
        let (mut pv, score) = self.search_within(&limits, position, history, &mut tree);
        self.trees.extend(tree.games(position));
        pv.truncate(self.run.pv_plies);
        (pv, score)
    }

    /// Searches a position. Returns the principal variation and the score from White's point of view.
    fn search_within(
        &mut self,
        limits: &Limits,
        position: &Position,
        history: &GameHistory,
        sink: &mut impl Sink,
    ) -> (Pv, i16) {
        let result = self.session.position(position).history(history).limits(limits).run_here(sink);
        self.nodes += result.nodes;
        assert!(result.best().is_some(), "the game is not over");
        // All scores fit into an i16.
        (result.pv, position.side_to_move().white_pov(result.score.value()) as i16)
    }

    /// Scores the trainable positions of a game again, from the last to the first, or the first and one in
    /// `Run::backward_every` of the others, unless `Run::backward_nodes` is 0. What came later is still in the
    /// transposition table.
    fn score_backward(&mut self, game: &mut Game) {
        let Some(&last) = game.moves.last().filter(|_| self.run.backward_nodes > 0) else { return };
        let limits = Limits { nodes: Some(self.run.backward_nodes), ..Limits::default() };
        let every = self.run.backward_every;
        let mut is_scored = vec![false; game.moves.len()];
        let (mut positions, mut history) = (Vec::new(), GameHistory::new());
        for (position, _) in game.positions() {
            history.push(&position);
            positions.push(position);
        }
        let moves = game.moves.iter_mut().zip(&mut is_scored);
        for (ply, (position, (scored, is_scored))) in positions.iter().zip(moves).enumerate().rev() {
            history.pop();
            let is_chosen = ply == 0 || every == 1 || below(every, &mut self.rng) == 0;
            if !is_chosen || !is_trainable(position, scored.mv, scored.score) {
                continue;
            }
            let (pv, score) = self.search_within(&limits, position, &history, &mut ());
            // The score of a capture or promotion is not one to learn for a position that counts as quiet.
            if is_trainable(position, pv[0], scored.score) {
                (scored.score, *is_scored) = (score, true);
            }
        }
        if every > 1 {
            // As in a variation, positions in a row with the same score are further and further from its search.
            let mut before = game.moves[0].score;
            for (scored, is_scored) in game.moves.iter_mut().zip(is_scored) {
                if !is_scored {
                    scored.score = before;
                }
                before = scored.score;
            }
        }
        // An adjudicated game must end with a score that agrees.
        if game.check_outcome().is_err() {
            *game.moves.last_mut().expect("there is a move") = last;
        }
    }

    /// Plays a game from this position. Returns `None` if the first score is too high or low.
    fn play_from(&mut self, start: Position) -> Option<Game> {
        self.session.clear_histories();
        let is_adjudicated = !chance(self.run.unadjudicated_percent, &mut self.rng);
        let mut adjudicator = Adjudicator::default();
        let mut game =
            Game { start: start.clone(), outcome: Outcome::Draw, bound: None, moves: Vec::with_capacity(200) };
        let (mut position, mut history) = (start, GameHistory::new());
        loop {
            let (pv, score) = self.search(&position, &history);
            if game.moves.is_empty() && i32::from(score).abs() > self.run.opening_score {
                return None;
            }
            for mv in pv {
                game.moves.push(ScoredMove { mv, score });
                history.push(&position);
                position = position.make(mv);
                let ended = rule_outcome(&position, &history)
                    .or_else(|| {
                        adjudicator
                            .adjudicate(self.run.win, self.run.draw, &position, score.into())
                            .filter(|_| is_adjudicated && position.occupied().len() >= self.run.adjudicate_pieces)
                    })
                    .or_else(|| (game.moves.len() >= self.run.longest).then_some(Outcome::Draw))
                    .or_else(|| {
                        let is_over = position.occupied().len() < self.run.end_pieces;
                        is_over.then(|| outcome_of(score.into(), self.run))
                    });
                if let Some(outcome) = ended {
                    game.outcome = outcome;
                    self.score_backward(&mut game);
                    return Some(game);
                }
            }
        }
    }
}

/// Returns whether the side to move is not in check and cannot win material by static exchange evaluation.
pub fn is_quiet(position: &Position) -> bool {
    !position.in_check() && !position.moves().iter().any(|&mv| mv.is_noisy() && position.see_ge(mv, 1))
}

/// Returns the outcome that a score, in centipawns for White, foretells.
pub fn outcome_of(score: i32, run: &Run) -> Outcome {
    match score {
        score if score > run.opening_score => Outcome::WhiteWins,
        score if score < -run.opening_score => Outcome::BlackWins,
        _ => Outcome::Draw,
    }
}

/// Returns a score as thousandths of a win, roughly: differences matter less the higher a score is.
fn squash(score: i32) -> i32 {
    1000 * score / (score.abs() + 200)
}
