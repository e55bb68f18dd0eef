use super::packed;
use crate::board::{GameHistory, Position};
use crate::types::{Color, Move, MoveKind, PieceType, Square};

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// Black won.
    BlackWins = 0,
    /// Nobody won.
    Draw = 1,
    /// White won.
    WhiteWins = 2,
}

impl Outcome {
    /// The side that won.
    pub fn of_winner(winner: Color) -> Self {
        match winner {
            Color::White => Self::WhiteWins,
            Color::Black => Self::BlackWins,
        }
    }

    /// What White has of it: 0, ½ or 1.
    pub fn points(self) -> f32 {
        f32::from(self as u8) / 2.0
    }
}

/// A move of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// What was found best and played.
    pub mv: Move,
    /// The score of the search in centipawns, as White sees it.
    pub score: i16,
}

/// A game from its first scored position on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Where it begins.
    pub start: Position,
    /// How it ended.
    pub outcome: Outcome,
    /// All moves, each legal.
    pub moves: Vec<ScoredMove>,
}

/// Bytes of a ply, and of the zeros after the last.
pub(super) const MOVE_LENGTH: usize = 4;

impl Game {
    /// The positions in which a move was made, each with that move.
    pub fn positions(&self) -> impl Iterator<Item = (Position, ScoredMove)> {
        self.moves.iter().scan(self.start.clone(), |position, &ply| {
            let next = position.make(ply.mv);
            Some((std::mem::replace(position, next), ply))
        })
    }

    /// How many positions a network should learn from.
    pub fn trainable(&self) -> usize {
        self.positions().filter(|(position, ply)| super::is_trainable(position, ply.mv, ply.score)).count()
    }

    /// Appends the game in viriformat.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(packed::pack(&self.start, self.outcome));
        for ply in &self.moves {
            out.extend(move_word(ply.mv).to_le_bytes());
            out.extend(ply.score.to_le_bytes());
        }
        out.extend([0; MOVE_LENGTH]);
    }

    /// Compares the outcome with how the game ends: by the rules if they end it, and else by the last score, which must not favour the loser.
    pub fn check_outcome(&self) -> Result<(), String> {
        let (mut position, mut history) = (self.start.clone(), GameHistory::new());
        for ply in &self.moves {
            history.push(&position);
            position = position.make(ply.mv);
        }
        let last = self.moves.last().map_or(0, |ply| ply.score);
        let contradiction = match (rule_outcome(&position, &history), self.outcome) {
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
}

/// The outcome if the rules of chess end the game here: mate, stalemate, insufficient material, fifty moves, threefold
/// repetition within `history`.
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

/// The marks of en passant captures, castling and promotions in bits 14 and 15.
const EN_PASSANT: u16 = 1;
const CASTLE: u16 = 2;
const PROMOTION: u16 = 3;

fn move_word(mv: Move) -> u16 {
    let (mark, piece) = match (mv.kind(), mv.promotion()) {
        (MoveKind::EnPassant, _) => (EN_PASSANT, 0),
        (MoveKind::Castle, _) => (CASTLE, 0),
        (_, Some(piece)) => (PROMOTION, piece as u16 - PieceType::Knight as u16),
        _ => (0, 0),
    };
    mv.word() & 0xfff | piece << 12 | mark << 14
}

/// The legal move of these 16 bits.
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
