//! A game with scores, and its encoding in viriformat.

use super::packed;
use crate::board::{GameHistory, Position};
use crate::types::{Bound, Color, Move, MoveKind, PieceType, Square};

/// The outcome of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// Black won.
    BlackWins = 0,
    /// The game was drawn.
    Draw = 1,
    /// White won.
    WhiteWins = 2,
}

impl Outcome {
    /// Returns the outcome in which `winner` won.
    pub fn of_winner(winner: Color) -> Self {
        match winner {
            Color::White => Self::WhiteWins,
            Color::Black => Self::BlackWins,
        }
    }

    /// Returns White's points: 0, ½ or 1.
    pub fn points(self) -> f32 {
        f32::from(self as u8) / 2.0
    }
}

/// A move of a game with its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// The best move, which was played.
    pub mv: Move,
    /// The score in centipawns, from White's point of view, of a search of the position, or of one before it whose
    /// principal variation leads to it. A search after the game may have found another move with it.
    pub score: i16,
}

/// A game from its first scored position on.
///
/// ```
/// use kiln::board::Position;
/// use kiln::data::{Game, Outcome, ScoredMove};
///
/// let start = Position::startpos();
/// let mv = start.parse_move("e2e4").unwrap();
/// let game = Game { start, outcome: Outcome::Draw, bound: None, moves: vec![ScoredMove { mv, score: 30 }] };
/// let mut bytes = Vec::new();
/// game.write(&mut bytes);
/// assert_eq!(bytes.len(), 32 + 4 + 4); // The start, a move, and the zeros that end the game.
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// The first position.
    pub start: Position,
    /// The outcome.
    pub outcome: Outcome,
    /// For a position of a search tree, which has one move: how its score relates to the true one from the point of
    /// view of the side to move, unlike the score itself. `None` for games that were played.
    pub bound: Option<Bound>,
    /// All moves, each of them legal.
    pub moves: Vec<ScoredMove>,
}

/// The length in bytes of a move with its score, and of the zeros that end a game.
pub(super) const MOVE_LENGTH: usize = 4;

impl Game {
    /// Iterates over the positions in which a move was played, each with that move.
    pub fn positions(&self) -> impl Iterator<Item = (Position, ScoredMove)> {
        self.moves.iter().scan(self.start.clone(), |position, &scored| {
            let next = position.make(scored.mv);
            Some((std::mem::replace(position, next), scored))
        })
    }

    /// Returns the number of [trainable](super::is_trainable) positions.
    pub fn trainable(&self) -> usize {
        self.positions().filter(|(position, scored)| super::is_trainable(position, scored.mv, scored.score)).count()
    }

    /// Appends the game in viriformat.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(packed::pack(&self.start, self.outcome, self.bound));
        for scored in &self.moves {
            out.extend(move_word(scored.mv).to_le_bytes());
            out.extend(scored.score.to_le_bytes());
        }
        out.extend([0; MOVE_LENGTH]);
    }

    /// Checks the outcome against the end of the game.
    ///
    /// # Errors
    /// If the rules decide the game otherwise or, where they do not decide it, if the last score does not favour the
    /// winner. That of a position of a search tree is compared with its score alone.
    pub fn check_outcome(&self) -> Result<(), String> {
        let (position, history) = self.end();
        let last = self.moves.last().map_or(0, |scored| scored.score);
        let by_rule = rule_outcome(&position, &history).filter(|_| self.bound.is_none());
        let contradiction = match (by_rule, self.outcome) {
            (Some(by_rule), outcome) => (by_rule != outcome).then(|| format!("the rules say {by_rule:?}")),
            (None, Outcome::WhiteWins) => (last <= 0).then(|| format!("the last score is {last}")),
            (None, Outcome::BlackWins) => (last >= 0).then(|| format!("the last score is {last}")),
            (None, Outcome::Draw) => None,
        };
        match contradiction {
            Some(contradiction) => {
                Err(format!("the outcome is {:?}, but {contradiction} at {}", self.outcome, position.fen(true)))
            }
            None => Ok(()),
        }
    }

    /// Returns the outcome if the rules of chess end the game with its last move.
    pub fn rule_outcome(&self) -> Option<Outcome> {
        let (position, history) = self.end();
        rule_outcome(&position, &history)
    }

    /// Returns the position after the last move, and those before it.
    fn end(&self) -> (Position, GameHistory) {
        let (mut position, mut history) = (self.start.clone(), GameHistory::new());
        for scored in &self.moves {
            history.push(&position);
            position.play(scored.mv);
        }
        (position, history)
    }
}

/// Returns the outcome if the rules of chess end the game here: by mate, stalemate, insufficient material, the
/// fifty-move rule or threefold repetition. `history` holds the earlier positions of the game.
pub fn rule_outcome(position: &Position, history: &GameHistory) -> Option<Outcome> {
    if !position.has_legal_move() {
        let winner = !position.side_to_move();
        return Some(if position.in_check() { Outcome::of_winner(winner) } else { Outcome::Draw });
    }
    let drawn = position.halfmove_clock() >= 100
        || position.is_insufficient_material()
        || history.is_repetition(position, history.len());
    drawn.then_some(Outcome::Draw)
}

// Bits 14 and 15 of a move in viriformat; 0 stands for all other moves.
const EN_PASSANT: u16 = 1;
const CASTLE: u16 = 2;
const PROMOTION: u16 = 3;

fn move_word(mv: Move) -> u16 {
    let (flag, piece) = match (mv.kind(), mv.promotion()) {
        (MoveKind::EnPassant, _) => (EN_PASSANT, 0),
        (MoveKind::Castle, _) => (CASTLE, 0),
        (_, Some(piece)) => (PROMOTION, piece as u16 - PieceType::Knight as u16),
        _ => (0, 0),
    };
    mv.word() & 0xfff | piece << 12 | flag << 14
}

/// Decodes a move; returns `None` if it is not legal in `position`.
pub(super) fn read_move(word: u16, position: &Position) -> Option<Move> {
    let square = |shift: u16| Square::from_index(usize::from(word >> shift & 63));
    let (from, to) = (square(0)?, square(6)?);
    let capture = position.piece_on(to).is_some();
    let is_pawn = position.piece_on(from)?.kind() == PieceType::Pawn;
    let kind = match word >> 14 {
        EN_PASSANT => MoveKind::EnPassant,
        CASTLE => MoveKind::Castle,
        PROMOTION => MoveKind::promotion(PieceType::ALL[usize::from(word >> 12 & 3) + 1], capture)?,
        _ if capture => MoveKind::Capture,
        _ if is_pawn && (from as u8).abs_diff(to as u8) == 16 => MoveKind::DoublePush,
        _ => MoveKind::Quiet,
    };
    (from != to).then(|| Move::new(from, to, kind)).filter(|&mv| position.is_legal(mv))
}
