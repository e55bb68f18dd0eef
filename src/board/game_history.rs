use super::Position;
use crate::tables::{between, cuckoo};

/// The keys of the positions before the current one, of the game and of the line that is searched.
#[derive(Clone, Debug, Default)]
pub struct GameHistory {
    keys: Vec<u64>,
}

impl GameHistory {
    /// An empty one: the current position has no past.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many positions lie before the current one.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the current position is the first.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Remembers the position that is about to be left by a move.
    #[inline]
    pub fn push(&mut self, position: &Position) {
        self.keys.push(position.key());
    }

    /// Forgets the last one, when the move is taken back.
    #[inline]
    pub fn pop(&mut self) {
        self.keys.pop();
    }

    /// Whether the side to move can bring about a position that was there before with one move, and that would be scored as drawn: one since
    /// position number `root`.
    ///
    /// The method is Marcel van Kervinck's (see [`cuckoo`]).
    pub fn can_repeat(&self, current: &Position, root: usize) -> bool {
        let reversible = usize::from(current.halfmove_clock()).min(self.keys.len().saturating_sub(root));
        (3..=reversible).step_by(2).any(|ago| {
            let difference = current.key() ^ self.keys[self.keys.len() - ago];
            cuckoo(difference).is_some_and(|(a, b)| !between(a, b).intersects(current.occupied()))
        })
    }

    /// Whether `current` is to be scored as drawn by repetition: it was there twice before, or once since position number
    /// `root`, from which the search started (a line that repeats within the search would go round again).
    pub fn is_repetition(&self, current: &Position, root: usize) -> bool {
        let reversible = usize::from(current.halfmove_clock()).min(self.keys.len());
        let mut seen = false;
        // The same side is to move every second ply; less than four plies bring nothing back.
        for ago in (4..=reversible).step_by(2) {
            let place = self.keys.len() - ago;
            if self.keys[place] == current.key() {
                if seen || place >= root {
                    return true;
                }
                seen = true;
            }
        }
        false
    }

    /// Whether `current` or a position before it has come again since the last move that cannot be taken back.
    pub fn has_repetition(&self, current: &Position) -> bool {
        let reversible = usize::from(current.halfmove_clock()).min(self.keys.len());
        let mut keys: Vec<u64> = self.keys[self.keys.len() - reversible..].to_vec();
        keys.push(current.key());
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_repetition_is_seen_a_move_ahead() {
        let mut position = Position::startpos();
        let mut history = GameHistory::new();
        for text in ["g1f3", "g8f6", "f3g1"] {
            assert!(!history.can_repeat(&position, 0), "before {text}");
            history.push(&position);
            position = position.make(position.parse_move(text).unwrap());
        }
        // f6g8 brings back the start, unless that lies before the root.
        assert!(history.can_repeat(&position, 0) && !history.can_repeat(&position, 1));
    }
}
