//! The positions before the current one, for draws by repetition.

use super::Position;
use crate::tables::{between, black_to_move_key, cuckoo};

/// The Zobrist keys of the positions before the current one: those of the game and those of the current line of the
/// search.
///
/// ```
/// use kiln::board::{GameHistory, Position};
///
/// let (mut position, mut history) = (Position::startpos(), GameHistory::new());
/// for text in ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(2) {
///     history.push(&position);
///     position.play(position.parse_move(text).unwrap());
/// }
/// // The starting position is on the board for the third time.
/// assert!(history.is_repetition(&position, history.len()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct GameHistory {
    keys: Vec<u64>,
}

impl GameHistory {
    /// Returns an empty history: the current position is the first.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of positions before the current one.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether the current position is the first.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Appends the current position, before a move is played from it.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        self.keys.push(position.key());
    }

    /// Removes the last position, when its move is taken back.
    #[inline]
    pub fn pop(&mut self) {
        self.keys.pop();
    }

    /// Returns whether one move by the side to move can repeat a position with index `root` or later, which would be
    /// scored as a draw.
    ///
    /// The method is Marcel van Kervinck's (see [`cuckoo`]). The other side's moves must cancel out: otherwise one of
    /// its pieces stands elsewhere.
    pub fn can_repeat(&self, current: &Position, root: usize) -> bool {
        let reversible = usize::from(current.halfmove_clock()).min(self.keys.len().saturating_sub(root));
        if reversible < 3 {
            return false;
        }
        let before = |plies: usize| self.keys[self.keys.len() - plies];
        let mut by_other = current.key() ^ before(1) ^ black_to_move_key();
        (3..=reversible).step_by(2).any(|ago| {
            by_other ^= before(ago - 1) ^ before(ago) ^ black_to_move_key();
            by_other == 0
                && cuckoo(current.key() ^ before(ago))
                    .is_some_and(|(a, b)| !between(a, b).intersects(current.occupied()))
        })
    }

    /// Returns whether `current` counts as a draw by repetition: it occurred twice before, or once at index `root` or
    /// later. The search starts at `root`; a line that repeats within the search could be repeated again.
    pub fn is_repetition(&self, current: &Position, root: usize) -> bool {
        let reversible = usize::from(current.halfmove_clock()).min(self.keys.len());
        let mut seen = false;
        // The same side is to move every second ply, and fewer than four plies cannot repeat a position.
        for ago in (4..=reversible).step_by(2) {
            let index = self.keys.len() - ago;
            if self.keys[index] == current.key() {
                if seen || index >= root {
                    return true;
                }
                seen = true;
            }
        }
        false
    }

    /// Returns whether any position, `current` included, has occurred twice since the last irreversible move.
    pub fn has_repetition(&self, current: &Position) -> bool {
        let reversible = usize::from(current.halfmove_clock()).min(self.keys.len());
        let mut keys: Vec<u64> = self.keys[self.keys.len() - reversible..].to_vec();
        keys.push(current.key());
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// Whether a game goes on, or how it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The side to move has a legal move.
    Ongoing,
    /// The side to move has lost.
    Checkmate,
    /// A draw: the side to move has no legal move and is not in check.
    Stalemate,
    /// A draw: fifty moves of both sides without a capture or a pawn move.
    FiftyMoves,
    /// A draw: the position has occurred three times.
    Repetition,
    /// A draw: neither side can mate ([`Position::is_insufficient_material`]).
    InsufficientMaterial,
}

impl Position {
    /// Returns whether the game goes on in this position, given the positions before it. Draws that a player must claim
    /// count as ends.
    ///
    /// ```
    /// use kiln::board::{GameHistory, Position, Status};
    ///
    /// let (mut position, mut history) = (Position::startpos(), GameHistory::new());
    /// for text in ["f2f3", "e7e5", "g2g4", "d8h4"] {
    ///     assert_eq!(position.status(&history), Status::Ongoing);
    ///     history.push(&position);
    ///     position.play(position.parse_move(text).unwrap());
    /// }
    /// assert_eq!(position.status(&history), Status::Checkmate);
    /// ```
    pub fn status(&self, history: &GameHistory) -> Status {
        if !self.has_legal_move() {
            return if self.in_check() { Status::Checkmate } else { Status::Stalemate };
        }
        if self.is_insufficient_material() {
            Status::InsufficientMaterial
        } else if self.halfmove_clock() >= 100 {
            Status::FiftyMoves
        } else if history.is_repetition(self, history.len()) {
            Status::Repetition
        } else {
            Status::Ongoing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Move;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn one_repetition_in_the_search_or_two_in_the_game() {
        let mut position = Position::startpos();
        let mut history = GameHistory::new();
        let mut drawn = Vec::new();
        for text in ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(2) {
            history.push(&position);
            position = position.make(position.parse_move(text).unwrap());
            drawn.push((history.is_repetition(&position, 0), history.is_repetition(&position, history.len())));
            assert_eq!(history.has_repetition(&position), drawn.len() >= 4);
        }
        let expected = [false, false, false, true, true, true, true, true].map(|within| (within, false));
        assert_eq!(drawn[..7], expected[..7]);
        assert_eq!(drawn[7], (true, true));
    }

    #[test]
    fn a_repetition_is_detected_one_move_ahead() {
        let mut position = Position::startpos();
        let mut history = GameHistory::new();
        for text in ["g1f3", "g8f6", "f3g1"] {
            assert!(!history.can_repeat(&position, 0), "before {text}");
            history.push(&position);
            position = position.make(position.parse_move(text).unwrap());
        }
        // f6g8 repeats the starting position, unless that is before the root.
        assert!(history.can_repeat(&position, 0) && !history.can_repeat(&position, 1));
    }

    #[test]
    fn only_the_side_to_move_repeats() {
        // Black's rook goes from a8 to b8 in three moves. White, to move, cannot take it back in one.
        let mut position: Position = "r3k3/8/8/8/8/8/8/4K1N1 b - - 0 1".parse().unwrap();
        let mut history = GameHistory::new();
        for text in ["a8a7", "g1f3", "a7b7", "f3g1", "b7b8"] {
            history.push(&position);
            position = position.make(position.parse_move(text).unwrap());
        }
        assert!(!history.can_repeat(&position, 0));
    }

    /// `can_repeat` is true if and only if a legal move leads to an earlier position.
    #[test]
    fn repetitions_ahead_are_those_of_legal_moves() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut found = [0; 2];
        for start in ["r3k2r/8/8/8/8/8/7P/R3K2R w KQkq - 0 1", "4k3/8/2n5/1b6/8/8/8/1N2K2R b K - 0 1"] {
            for _ in 0..if cfg!(miri) { 2 } else { 300 } {
                let mut position: Position = start.parse().unwrap();
                let (mut history, mut played) = (GameHistory::new(), Vec::new());
                while position.status(&history) == Status::Ongoing && played.len() < 60 {
                    let moves = position.moves();
                    let root = rng.next_u32() as usize % (played.len() + 1);
                    let expected = moves.iter().any(|&mv| history.keys[root..].contains(&position.make(mv).key()));
                    assert_eq!(history.can_repeat(&position, root), expected, "{}", position.fen(false));
                    found[usize::from(expected)] += 1;
                    // Many moves go back, so that positions nearly repeat.
                    let last: Option<&Move> = played.len().checked_sub(2).map(|index| &played[index]);
                    let goes_back =
                        |mv: &&Move| last.is_some_and(|last| (mv.from(), mv.to()) == (last.to(), last.from()));
                    let back = moves.iter().find(goes_back).filter(|_| rng.next_u32() % 2 == 0);
                    let mv = *back.unwrap_or(&moves[rng.next_u32() as usize % moves.len()]);
                    history.push(&position);
                    played.push(mv);
                    position = position.make(mv);
                }
            }
        }
        assert!(cfg!(miri) || found.into_iter().all(|count| count > 1000), "{found:?}");
    }

    #[test]
    fn status_of_games() {
        for (fen, status) in [
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Status::Stalemate),
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 100 99", Status::Checkmate),
            ("7k/8/6K1/8/8/8/8/7R b - - 100 99", Status::FiftyMoves),
            ("7k/8/6K1/8/8/8/8/7B b - - 100 99", Status::InsufficientMaterial),
            ("7k/8/6K1/8/8/8/8/R7 b - - 99 99", Status::Ongoing),
        ] {
            assert_eq!(fen.parse::<Position>().unwrap().status(&GameHistory::new()), status, "{fen}");
        }
        let (mut position, mut history) = (Position::startpos(), GameHistory::new());
        for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"] {
            assert_eq!(position.status(&history), Status::Ongoing);
            history.push(&position);
            position.play(position.parse_move(text).unwrap());
        }
        assert_eq!(position.status(&history), Status::Repetition);
    }
}
