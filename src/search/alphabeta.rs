use super::driver::Search;
use super::history::Butterfly;
use super::picker::MovePicker;
use super::table::{Bound, Entry};
use super::time::Timer;
use super::{Line, MAX_PLY};
use crate::board::{History, MoveList, Position};
use crate::nnue::Evaluator;
use crate::types::{Move, Score};
use std::sync::atomic::Ordering::Relaxed;

/// Nodes between two looks at the clock.
const CLOCK_INTERVAL: u64 = 1024;

/// The search is to stop: results on the way back mean nothing.
struct Stopped;

/// One thread's search of the tree.
pub struct Worker<'a> {
    search: &'a Search<'a>,
    timer: Timer,
    /// Keys of the game and of the line being searched.
    history: History,
    /// Where the search began in `history`.
    root: usize,
    evaluator: Evaluator,
    butterfly: Butterfly,
    nodes: u64,
    selective_depth: usize,
    stopped: bool,
    /// The best score of the iteration so far.
    root_score: Option<Score>,
    /// The first iteration is finished whatever happens, so that there is a move.
    has_move: bool,
}

impl<'a> Worker<'a> {
    pub fn new(search: &'a Search<'a>) -> Self {
        let history = search.history.clone();
        Self {
            timer: Timer::new(search.limits),
            root: history.len(),
            history,
            evaluator: Evaluator::new(search.network.clone(), search.position),
            butterfly: Butterfly::new(),
            nodes: 0,
            selective_depth: 0,
            stopped: false,
            has_move: false,
            root_score: None,
            search,
        }
    }

    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    pub fn selective_depth(&self) -> usize {
        self.selective_depth
    }

    pub fn timer(&self) -> &Timer {
        &self.timer
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// One iteration. If it is cut short, the score and `line` are those of the best move that was finished, if any was.
    pub fn search_root(&mut self, depth: i32, line: &mut Line) -> Option<Score> {
        self.selective_depth = 0;
        self.root_score = None;
        let window = (-Score::INFINITE, Score::INFINITE);
        let result = self.node::<true>(self.search.position, window, depth, 0, line);
        self.has_move |= !line.is_empty();
        result.ok().or(self.root_score)
    }

    /// The score of a position within a window: principal variation search. Steps that do not apply to a node are passed over.
    ///
    /// `line` receives the best line if the score is inside the window.
    fn node<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, mut beta): (Score, Score),
        depth: i32,
        ply: usize,
        line: &mut Line,
    ) -> Result<Score, Stopped> {
        line.clear();
        // 1. At the horizon, captures only.
        if depth <= 0 {
            return self.quiescence(position, (alpha, beta), ply);
        }
        // 2. Stop?
        self.count_node(ply)?;

        let mut moves = MoveList::new();
        position.list_moves(&mut moves);
        if ply > 0 {
            // 3. Draws, unless the fifty-move rule meets a mate.
            if self.is_draw(position) && !(moves.is_empty() && position.in_check()) {
                return Ok(Score::DRAW);
            }
            // 4. A mate already found nearer the root cannot be bettered.
            alpha = alpha.max(Score::mated_in(ply));
            beta = beta.min(-Score::mated_in(ply + 1));
            if alpha >= beta {
                return Ok(alpha);
            }
        }
        if moves.is_empty() {
            return Ok(if position.in_check() { Score::mated_in(ply) } else { Score::DRAW });
        }
        if ply >= MAX_PLY - 1 {
            return Ok(self.evaluator.evaluate(position));
        }

        // 5. The transposition table.
        let known = self.search.table.probe(position.key(), ply);
        if let Some(entry) = known
            && !PV
            && entry.depth >= depth
            && match entry.bound {
                Bound::Exact => true,
                Bound::Lower => entry.score >= beta,
                Bound::Upper => entry.score <= alpha,
            }
        {
            return Ok(entry.score);
        }

        // 6. The moves, the best first.
        let before = alpha;
        let mut best = -Score::INFINITE;
        let mut best_move = None;
        let mut tried_quiets = Line::new();
        let mut child_line = Line::new();
        let mut picker = MovePicker::new();
        picker.fill(position, &moves, known.and_then(|entry| entry.best), &self.butterfly);
        self.evaluator.prepare(position);
        self.history.push(position);
        for (number, mv) in picker.by_ref().enumerate() {
            let mut next = position.clone();
            self.evaluator.play(&mut next, mv);
            // 7. All moves but the first are expected to fail low, which a window of no width proves faster.
            let mut score = alpha;
            if !PV || number > 0 {
                let window = (-(alpha + 1), -alpha);
                score = -self.node::<false>(&next, window, depth - 1, ply + 1, &mut child_line)?;
            }
            if PV && (number == 0 || score > alpha) {
                score = -self.node::<true>(&next, (-beta, -alpha), depth - 1, ply + 1, &mut child_line)?;
            }
            self.evaluator.take_back();

            if score > best {
                best = score;
                if ply == 0 {
                    self.root_score = Some(best);
                }
                if score > alpha {
                    alpha = score;
                    best_move = Some(mv);
                    if PV {
                        line.clear();
                        line.push(mv);
                        line.extend(child_line.iter().copied().take(MAX_PLY - 1));
                    }
                    if score >= beta {
                        self.reward(position, mv, &tried_quiets, depth);
                        break;
                    }
                }
            }
            if !mv.is_noisy() {
                let _ = tried_quiets.try_push(mv);
            }
        }
        self.history.pop();

        // 8. Remember the result.
        let bound = match best {
            best if best >= beta => Bound::Lower,
            best if best > before => Bound::Exact,
            _ => Bound::Upper,
        };
        let entry = Entry { best: best_move, score: best, depth, bound };
        self.search.table.store(position.key(), ply, entry);
        Ok(best)
    }

    /// The score of a position once the captures are played out; the side to move may also leave it as it is.
    fn quiescence(
        &mut self,
        position: &Position,
        (mut alpha, beta): (Score, Score),
        ply: usize,
    ) -> Result<Score, Stopped> {
        self.count_node(ply)?;
        if self.is_draw(position) {
            return Ok(Score::DRAW);
        }
        let in_check = position.in_check();
        let mut best = -Score::INFINITE;
        if !in_check || ply >= MAX_PLY - 1 {
            best = self.evaluator.evaluate(position);
            if best >= beta || ply >= MAX_PLY - 1 {
                return Ok(best);
            }
            alpha = alpha.max(best);
        }
        let mut moves = MoveList::new();
        if in_check {
            position.list_moves(&mut moves);
        } else {
            position.list_noisy_moves(&mut moves);
        }
        if in_check && moves.is_empty() {
            return Ok(Score::mated_in(ply));
        }
        self.history.push(position);
        let mut picker = MovePicker::new();
        picker.fill(position, &moves, None, &self.butterfly);
        for mv in picker.by_ref() {
            let mut next = position.clone();
            self.evaluator.play(&mut next, mv);
            let score = -self.quiescence(&next, (-beta, -alpha), ply + 1)?;
            self.evaluator.take_back();
            best = best.max(score);
            if score >= beta {
                break;
            }
            alpha = alpha.max(score);
        }
        self.history.pop();
        Ok(best)
    }

    fn is_draw(&self, position: &Position) -> bool {
        position.halfmove_clock() >= 100
            || position.is_insufficient_material()
            || self.history.is_repetition(position, self.root)
    }

    /// Counts the node, and fails if a limit is reached.
    fn count_node(&mut self, ply: usize) -> Result<(), Stopped> {
        let limits = self.search.limits;
        let over = limits.nodes.is_some_and(|nodes| self.nodes >= nodes)
            || self.search.signals.stop.load(Relaxed)
            || (self.nodes.is_multiple_of(CLOCK_INTERVAL) && self.timer.is_hard_over());
        if self.has_move && over {
            self.stopped = true;
            return Err(Stopped);
        }
        self.nodes += 1;
        self.selective_depth = self.selective_depth.max(ply);
        Ok(())
    }

    /// A quiet move that refuted its predecessor is tried earlier elsewhere, and those tried before it in vain later.
    fn reward(&mut self, position: &Position, mv: Move, tried: &[Move], depth: i32) {
        if mv.is_noisy() {
            return;
        }
        let bonus = (16 * depth * depth).min(1600);
        let side = position.side_to_move();
        self.butterfly.update(side, mv, bonus);
        for &other in tried {
            self.butterfly.update(side, other, -bonus);
        }
    }
}
