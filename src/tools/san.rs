//! Moves as people write them: standard algebraic notation.

use crate::board::Position;
use crate::types::{CastlingSide, Move, MoveKind, PieceType, Square};

/// A legal move in standard algebraic notation, as in `Nbxd7+`.
pub fn san(position: &Position, mv: Move) -> String {
    let after = position.make(mv);
    let check = match (after.in_check(), after.count_moves()) {
        (true, 0) => "#",
        (true, _) => "+",
        _ => "",
    };
    if mv.kind() == MoveKind::Castle {
        return format!("{}{check}", if mv.castling_side() == CastlingSide::King { "O-O" } else { "O-O-O" });
    }
    let (from, to) = (mv.from(), mv.to());
    let kind = |square| position.piece_on(square).map(|piece| piece.kind());
    let capture = if mv.is_capture() { "x" } else { "" };
    if kind(from) == Some(PieceType::Pawn) {
        let file = if mv.is_capture() { from.file().letter().to_string() } else { String::new() };
        let promotion = mv.promotion().map(|kind| format!("={}", kind.letter().to_ascii_uppercase()));
        return format!("{file}{capture}{to}{}{check}", promotion.unwrap_or_default());
    }
    // Pieces of the same kind that could move there too: the file tells them apart, else the rank, else both.
    let moves = position.moves();
    let others =
        moves.iter().filter(|other| other.to() == to && other.kind() != MoveKind::Castle).map(|other| other.from());
    let rivals: Vec<Square> = others.filter(|&other| other != from && kind(other) == kind(from)).collect();
    let shares_file = rivals.iter().any(|rival| rival.file() == from.file());
    let shares_rank = rivals.iter().any(|rival| rival.rank() == from.rank());
    let name = from.to_string();
    let origin = match (rivals.is_empty(), shares_file, shares_rank) {
        (true, ..) => "",
        (_, false, _) => &name[..1],
        (_, true, false) => &name[1..],
        (_, true, true) => &name,
    };
    let letter = kind(from).map_or('?', PieceType::letter).to_ascii_uppercase();
    format!("{letter}{origin}{capture}{to}{check}")
}

/// The legal move written so, in UCI notation or in standard algebraic notation with or without the marks of capture, check and mate.
pub fn parse(position: &Position, text: &str) -> Option<Move> {
    let plain = |text: &str| text.replace(['x', '+', '#', '=', '!', '?'], "").replace('0', "O");
    let wanted = plain(text);
    position
        .parse_move(text)
        .or_else(|| position.moves().iter().copied().find(|&mv| plain(&san(position, mv)) == wanted))
}

/// A line of legal moves with their numbers: `12. Nf3 Nc6 13. Bb5`, or `12... Nc6 13. Bb5`.
pub fn line(position: &Position, moves: &[Move]) -> String {
    use crate::types::Color;
    let mut position = position.clone();
    let mut words = Vec::new();
    for &mv in moves {
        let number = position.fullmove_number();
        match position.side_to_move() {
            Color::White => words.push(format!("{number}.")),
            Color::Black if words.is_empty() => words.push(format!("{number}...")),
            Color::Black => {}
        }
        words.push(san(&position, mv));
        position = position.make(mv);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_of_all_kinds() {
        for (fen, uci, expected) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "Nf3"),
            ("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", "e5d6", "exd6"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "O-O-O"),
            ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+"),
            ("2r5/1P2k3/8/8/8/8/8/4K3 w - - 0 1", "b7c8q", "bxc8=Q"),
            ("4k3/8/8/8/8/8/8/N3KN2 w - - 0 1", "a1c2", "Nc2"),
            ("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1"),
            ("4k3/R7/8/8/8/8/4K3/R7 w - - 0 1", "a1a4", "R1a4"),
            ("6k1/8/8/8/Q6Q/8/4K3/Q7 w - - 0 1", "a4d4", "Qa4d4"),
            ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", "Ra8#"),
        ] {
            let position: Position = fen.parse().unwrap();
            let mv = position.parse_move(uci).unwrap_or_else(|| panic!("{uci} in {fen}"));
            assert_eq!(san(&position, mv), expected);
            for text in [uci, expected, expected.trim_end_matches(['+', '#'])] {
                assert_eq!(parse(&position, text), Some(mv), "{text}");
            }
            assert_eq!(parse(&position, "Nh8"), None);
        }
    }

    #[test]
    fn every_legal_move_has_a_name_of_its_own() {
        let position: Position = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1".parse().unwrap();
        for &mv in &position.moves()[..] {
            assert_eq!(parse(&position, &san(&position, mv)), Some(mv));
        }
    }

    #[test]
    fn numbered() {
        let position: Position = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 12".parse().unwrap();
        let mut current = position.clone();
        let mut moves = Vec::new();
        for text in ["e8d7", "e2e4", "d7d6"] {
            moves.push(current.parse_move(text).unwrap());
            current = current.make(moves[moves.len() - 1]);
        }
        assert_eq!(line(&position, &moves), "12... Kd7 13. e4 Kd6");
    }
}
