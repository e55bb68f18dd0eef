//! The move picker: hands out the moves of a node in stages, the most promising first.

use super::history::{HistoryContext, MoveHistory, victim};
use super::parameters as p;
use crate::board::{MAX_MOVES, MoveList, Position, SEE_VALUES};
use crate::types::Move;
use arrayvec::ArrayVec;
use std::cell::Cell;

/// A move from the picker.
#[derive(Clone, Copy)]
pub struct Picked {
    pub mv: Move,
    /// The move's history when it was scored: [`QuietHistory::score`](super::history::QuietHistory::score) or
    /// [`MoveHistory::noisy`].
    pub history: i32,
}

/// A move and its ordering score.
#[derive(Clone, Copy)]
struct Scored {
    picked: Picked,
    score: i32,
}

/// The stages of the picker, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    TtMove,
    GenerateNoisy,
    /// Noisy moves with a sufficient static exchange evaluation (SEE).
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    /// The other noisy moves.
    BadNoisy,
}

/// Hands out the legal moves of a position: the TT move, good noisy moves, quiet moves, bad noisy moves.
///
/// Each kind is generated when the one before is used up. The SEE of a noisy move is computed when its turn comes.
pub struct MovePicker {
    stage: Stage,
    tt_move: Option<Move>,
    /// The SEE threshold of good noisy moves; if `None`, it depends on the move's score. If it is given, the only quiet
    /// moves are safe checks, and there are no bad noisy moves.
    threshold: Option<i32>,
    skip_quiets: bool,
    /// Bad noisy moves in `..bad`, stale ones in `bad..next`, moves to come in `next..`. In the last stage `next`
    /// counts the bad noisy moves that were handed out.
    moves: ArrayVec<Scored, MAX_MOVES>,
    next: usize,
    bad: usize,
}

impl MovePicker {
    /// Creates a picker of all legal moves. The TT move must be legal.
    pub fn new(tt_move: Option<Move>) -> Self {
        Self {
            stage: Stage::TtMove,
            tt_move,
            threshold: None,
            skip_quiets: false,
            moves: ArrayVec::new(),
            next: 0,
            bad: 0,
        }
    }

    /// Creates a picker of noisy moves whose SEE is at least `threshold` centipawns. The TT move is handed out
    /// untested.
    pub fn noisy(tt_move: Option<Move>, threshold: i32) -> Self {
        Self { threshold: Some(threshold), skip_quiets: true, ..Self::new(tt_move) }
    }

    /// Creates a picker that hands out, after the moves of [`MovePicker::noisy`], the quiet moves that give check
    /// directly and lose nothing by SEE.
    pub fn noisy_and_checks(tt_move: Option<Move>, threshold: i32) -> Self {
        Self { threshold: Some(threshold), ..Self::new(tt_move) }
    }

    /// Leaves out the quiet moves that are still to come.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Returns the stage of the last move; [`Stage::GenerateNoisy`] after the TT move.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the next move.
    pub fn next(&mut self, position: &Position, histories: &MoveHistory, context: &HistoryContext) -> Option<Picked> {
        if self.stage == Stage::TtMove {
            self.stage = Stage::GenerateNoisy;
            if let Some(mv) = self.tt_move {
                let history = match mv.is_noisy() {
                    true => histories.noisy(position, mv),
                    false => histories.quiet(position, context).score(mv),
                };
                return Some(Picked { mv, history });
            }
        }
        if self.stage == Stage::GenerateNoisy {
            self.generate_noisy(position, histories);
            self.stage = Stage::GoodNoisy;
        }
        if self.stage == Stage::GoodNoisy {
            while let Some(scored) = self.select() {
                let threshold = self.threshold.unwrap_or(-scored.score / p::order_good_noisy());
                if position.see_ge(scored.picked.mv, threshold) {
                    return Some(scored.picked);
                }
                self.moves[self.bad] = scored;
                self.bad += 1;
            }
            self.stage = Stage::GenerateQuiet;
        }
        if self.stage == Stage::GenerateQuiet {
            if !self.skip_quiets {
                self.generate_quiets(position, histories, context);
            }
            self.stage = Stage::Quiet;
        }
        if self.stage == Stage::Quiet {
            while !self.skip_quiets
                && let Some(Scored { picked, .. }) = self.select()
            {
                if self.threshold.is_none() || position.see_ge(picked.mv, 0) {
                    return Some(picked);
                }
            }
            if self.threshold.is_some() {
                return None;
            }
            self.stage = Stage::BadNoisy;
            self.next = 0;
        }
        let next = self.moves[..self.bad].get(self.next)?;
        self.next += 1;
        Some(next.picked)
    }

    /// Moves the best of the moves to come to the front and takes it; of equal ones the first.
    ///
    /// Most nodes look at few moves, so sorting all would cost more. In a slice of cells two elements can be swapped by
    /// reference, so that neither the loop nor the swap has an index or a bounds check (from the talk "Top 10 Engine in
    /// Rust"; the assembly has none).
    #[inline]
    fn select(&mut self) -> Option<Scored> {
        let remaining = Cell::from_mut(self.moves.get_mut(self.next..)?).as_slice_of_cells();
        let (first, rest) = remaining.split_first()?;
        let (mut best, mut best_score) = (first, first.get().score);
        for cell in rest {
            let score = cell.get().score;
            // Written so that the compiler emits conditional moves: a branch would be mispredicted.
            best = if score > best_score { cell } else { best };
            best_score = best_score.max(score);
        }
        let selected = best.get();
        best.set(first.replace(selected));
        self.next += 1;
        Some(selected)
    }

    fn generate_noisy(&mut self, position: &Position, histories: &MoveHistory) {
        let mut list = MoveList::new();
        position.list_noisy_moves(&mut list);
        for &mv in list.iter().filter(|&&mv| Some(mv) != self.tt_move) {
            let captured = if mv.is_capture() { SEE_VALUES[victim(position, mv)] } else { 0 };
            let promoted = mv.promotion().map_or(0, |kind| SEE_VALUES[kind]);
            let history = histories.noisy(position, mv);
            let score = p::order_mvv() * (captured + promoted) + history;
            self.moves.push(Scored { picked: Picked { mv, history }, score });
        }
    }

    fn generate_quiets(&mut self, position: &Position, histories: &MoveHistory, context: &HistoryContext) {
        let quiet_history = histories.quiet(position, context);
        let side = position.side_to_move();
        let checks = position.check_squares(side);
        let mut list = MoveList::new();
        if self.threshold.is_some() {
            position.list_quiet_moves_to(&checks, &mut list);
        } else {
            quiet_history.prefetch_pawn();
            position.list_quiet_moves(&mut list);
        }
        if list.is_empty() {
            return;
        }
        let threatened = position.attacked_by_lesser(!side);
        let [escape, enter] =
            [p::order_escape(), p::order_enter()].map(|factor| SEE_VALUES.map(|value| factor * (value / 100) / 4));
        for &mv in list.iter().filter(|&&mv| Some(mv) != self.tt_move) {
            let kind = position.piece_on(mv.from()).expect("a legal move moves a piece").kind();
            let history = quiet_history.score(mv);
            let mut score = history;
            if threatened[kind].has(mv.from()) {
                score += escape[kind];
            }
            if threatened[kind].has(mv.to()) {
                score -= enter[kind];
            } else if checks[kind].has(mv.to()) {
                score += p::order_check();
            }
            self.moves.push(Scored { picked: Picked { mv, history }, score });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::PieceTo;
    use super::super::history::tests::histories;
    use super::super::huge_pages::HugePageBox;
    use super::*;
    use crate::types::MoveKind;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use std::collections::HashSet;

    const STARTS: [&str; 5] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        // Promotions with and without capture.
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        // En passant, pins.
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        // Chess960.
        "bnrbnkrq/pppppppp/8/8/8/8/PPPPPPPP/BNRBNKRQ w GCgc - 0 1",
    ];

    /// A position after random moves, with a random context and histories that random updates have filled.
    struct Case {
        rng: Xoshiro256PlusPlus,
        position: Position,
        histories: HugePageBox<MoveHistory>,
        context: HistoryContext,
        tt_move: Option<Move>,
    }

    impl Case {
        fn new(seed: u64) -> Self {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut position: Position = STARTS[seed as usize % STARTS.len()].parse().unwrap();
            let mut previous = [PieceTo::NONE; 4];
            for _ in 0..below(60, &mut rng) {
                let moves = position.moves();
                let Some(&mv) = moves.get(below(moves.len().max(1), &mut rng)) else { break };
                previous.rotate_right(1);
                previous[0] = PieceTo::new(&position, mv);
                position = position.make(mv);
            }
            let context = HistoryContext { attacked: position.attacked(!position.side_to_move()), previous };
            let mut histories = histories();
            for &mv in &position.moves() {
                let bonus = below(4000, &mut rng) as i32 - 2000;
                match mv.is_noisy() {
                    true => histories.update_noisy(&position, mv, bonus),
                    false => histories.update_quiet(&position, &context, mv, bonus),
                }
            }
            let moves = position.moves();
            let tt_move = moves.get(below(2 * moves.len().max(1), &mut rng)).copied();
            Self { rng, position, histories, context, tt_move }
        }

        fn next(&self, picker: &mut MovePicker) -> Option<Picked> {
            picker.next(&self.position, &self.histories, &self.context)
        }
    }

    fn below(bound: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
        (rng.next_u64() % bound as u64) as usize
    }

    const CASES: u64 = if cfg!(miri) { 5 } else { 2000 };

    #[test]
    fn all_legal_moves_come_once_and_the_tt_move_first() {
        for seed in 0..CASES {
            let case = Case::new(seed);
            let mut picker = MovePicker::new(case.tt_move);
            let (mut picked, mut stage) = (Vec::new(), Stage::TtMove);
            while let Some(Picked { mv, history }) = case.next(&mut picker) {
                assert!(picker.stage() >= stage, "stages come in their order, seed {seed}");
                stage = picker.stage();
                let expected = match mv.is_noisy() {
                    true => case.histories.noisy(&case.position, mv),
                    false => case.histories.quiet(&case.position, &case.context).score(mv),
                };
                assert_eq!(history, expected, "seed {seed}");
                picked.push(mv);
            }
            if case.tt_move.is_some() {
                assert_eq!(picked.first(), case.tt_move.as_ref(), "seed {seed}");
            }
            let mut legal = case.position.moves().to_vec();
            legal.sort_by_key(|mv| mv.word());
            picked.sort_by_key(|mv| mv.word());
            assert_eq!(picked, legal, "seed {seed}, {}", case.position.fen(true));
        }
    }

    #[test]
    fn skip_quiets_leaves_out_only_quiet_moves() {
        let mut skipped = 0;
        for seed in 0..CASES {
            let mut case = Case::new(seed);
            let legal = case.position.moves().to_vec();
            let skip_after = below(legal.len() + 1, &mut case.rng);
            let mut picker = MovePicker::new(case.tt_move);
            let mut picked = HashSet::new();
            loop {
                if picked.len() == skip_after {
                    picker.skip_quiets();
                }
                let Some(Picked { mv, .. }) = case.next(&mut picker) else { break };
                assert!(legal.contains(&mv) && picked.insert(mv), "{mv:?} is legal and new, seed {seed}");
                let is_allowed = picked.len() <= skip_after || mv.is_noisy() || Some(mv) == case.tt_move;
                assert!(is_allowed, "{mv:?} comes after skip_quiets, seed {seed}");
            }
            let left_out: Vec<_> = legal.iter().filter(|mv| !picked.contains(mv)).collect();
            assert!(left_out.iter().all(|mv| !mv.is_noisy()), "a noisy move is lost, seed {seed}");
            skipped += left_out.len();
        }
        assert!(skipped > 0);
    }

    #[test]
    fn a_noisy_picker_hands_out_what_reaches_the_threshold() {
        for seed in 0..CASES {
            let mut case = Case::new(seed);
            let threshold = below(800, &mut case.rng) as i32 - 400;
            let tt_move = case.tt_move.filter(|mv| mv.is_noisy());
            let mut picker = MovePicker::noisy(tt_move, threshold);
            let picked: Vec<Move> = std::iter::from_fn(|| case.next(&mut picker)).map(|picked| picked.mv).collect();
            if tt_move.is_some() {
                assert_eq!(picked.first(), tt_move.as_ref());
            }
            let is_wanted = |mv: &Move| Some(*mv) == tt_move || (mv.is_noisy() && case.position.see_ge(*mv, threshold));
            let wanted: HashSet<Move> = case.position.moves().iter().copied().filter(is_wanted).collect();
            assert_eq!(picked.len(), wanted.len(), "seed {seed}");
            assert_eq!(picked.into_iter().collect::<HashSet<_>>(), wanted, "seed {seed}");
        }
    }

    #[test]
    fn safe_checks_follow_noisy_moves() {
        let mut checks = 0;
        for seed in 0..CASES {
            let case = Case::new(seed);
            let mut picker = MovePicker::noisy_and_checks(None, 0);
            let picked: Vec<Move> = std::iter::from_fn(|| case.next(&mut picker)).map(|picked| picked.mv).collect();
            assert!(picked.is_sorted_by_key(|mv| !mv.is_noisy()), "seed {seed}");
            let gives_check = |mv: Move| {
                let is_special = mv.kind() == MoveKind::Castle || mv.promotion().is_some();
                !is_special && case.position.make(mv).checkers().has(mv.to())
            };
            let is_wanted = |mv: &Move| case.position.see_ge(*mv, 0) && (mv.is_noisy() || gives_check(*mv));
            let wanted: HashSet<Move> = case.position.moves().iter().copied().filter(is_wanted).collect();
            checks += wanted.iter().filter(|mv| !mv.is_noisy()).count();
            let picked = picked.into_iter().collect::<HashSet<_>>();
            assert_eq!(picked, wanted, "seed {seed} {}", case.position.fen(true));
        }
        assert!(checks > 0);
    }

    #[test]
    fn good_noisy_moves_do_not_lose_material_and_bad_ones_do() {
        let (mut good, mut bad) = (0, 0);
        for seed in 0..CASES {
            // Without histories, the threshold is negative only by the value of what is captured.
            let Case { position, context, .. } = Case::new(seed);
            let histories = histories();
            let mut picker = MovePicker::new(None);
            while let Some(Picked { mv, .. }) = picker.next(&position, &histories, &context) {
                match picker.stage() {
                    Stage::GoodNoisy => good += 1,
                    Stage::BadNoisy => {
                        bad += 1;
                        assert!(!position.see_ge(mv, 0), "{mv:?} does not lose, seed {seed}");
                    }
                    _ => assert!(!mv.is_noisy()),
                }
            }
        }
        assert!(good > 0 && bad > 0);
    }

    #[test]
    fn the_best_is_selected_first_and_of_equal_ones_the_earliest() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let moves = Position::startpos().moves();
        for _ in 0..200 {
            let mut picker = MovePicker::new(None);
            for &mv in &moves {
                let score = below(10, &mut rng) as i32 - 5;
                picker.moves.push(Scored { picked: Picked { mv, history: 0 }, score });
            }
            let first_best = |left: &[Scored]| {
                let best = left.iter().map(|scored| scored.score).max()?;
                left.iter().find(|scored| scored.score == best).map(|scored| scored.picked.mv)
            };
            let mut count = 0;
            loop {
                let expected = first_best(&picker.moves[picker.next..]);
                let selected = picker.select();
                assert_eq!(selected.map(|scored| scored.picked.mv), expected);
                if selected.is_none() {
                    break;
                }
                count += 1;
            }
            assert_eq!(count, moves.len());
        }
    }
}
