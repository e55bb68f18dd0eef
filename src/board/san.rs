//! Standard algebraic notation (SAN).

use super::Position;
use crate::types::{CastlingSide, Color, Move, MoveKind, PieceType, Square};

impl Position {
    /// Writes a legal move in standard algebraic notation, such as `Nbxd7+`.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let position = Position::startpos();
    /// let mv = position.parse_move("g1f3").unwrap();
    /// assert_eq!(position.san(mv), "Nf3");
    /// ```
    pub fn san(&self, mv: Move) -> String {
        let after = self.make(mv);
        let check = match (after.in_check(), after.has_legal_move()) {
            (true, false) => "#",
            (true, true) => "+",
            _ => "",
        };
        if mv.kind() == MoveKind::Castle {
            return format!("{}{check}", if mv.castling_side() == CastlingSide::King { "O-O" } else { "O-O-O" });
        }
        let (from, to) = (mv.from(), mv.to());
        let kind = |square| self.piece_on(square).map(|piece| piece.kind());
        let capture = if mv.is_capture() { "x" } else { "" };
        if kind(from) == Some(PieceType::Pawn) {
            let file = if mv.is_capture() { from.file().letter().to_string() } else { String::new() };
            let promotion = mv.promotion().map(|kind| format!("={}", kind.letter().to_ascii_uppercase()));
            return format!("{file}{capture}{to}{}{check}", promotion.unwrap_or_default());
        }
        // If other pieces of the same type can move to the square, the file disambiguates, else the rank, else both.
        let moves = self.moves();
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

    /// Parses a move in standard algebraic notation, with or without the symbols for captures, promotions, check and
    /// mate, and with castling written with letters or zeros. Returns `None` if no legal move matches.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let position: Position = "2r5/1P2k3/8/8/8/8/8/4K2R w K - 0 1".parse().unwrap();
    /// assert_eq!(position.parse_san("bxc8=Q"), position.parse_move("b7c8q"));
    /// assert_eq!(position.parse_san("0-0"), position.parse_move("e1g1"));
    /// assert_eq!(position.parse_san("Nf3"), None);
    /// ```
    pub fn parse_san(&self, text: &str) -> Option<Move> {
        let plain = |text: &str| text.replace(['x', '+', '#', '=', '!', '?'], "").replace('0', "O");
        let wanted = plain(text);
        // Writing the notation takes long, so only for moves to the square in the text: its last two characters, before
        // the piece of a promotion.
        let squares = wanted.trim_end_matches(|c: char| c.is_ascii_uppercase());
        let to = squares.len().checked_sub(2).and_then(|start| Square::from_name(squares.get(start..)?));
        let may_match = |mv: &&Move| mv.kind() == MoveKind::Castle || Some(mv.to()) == to;
        let moves = self.moves();
        moves.iter().filter(may_match).copied().find(|&mv| plain(&self.san(mv)) == wanted)
    }

    /// Writes a line of legal moves with move numbers: `12. Nf3 Nc6 13. Bb5`, or `12... Nc6 13. Bb5`.
    pub fn san_line(&self, moves: &[Move]) -> String {
        let mut position = self.clone();
        let mut words = Vec::new();
        for &mv in moves {
            let number = position.fullmove_number();
            match position.side_to_move() {
                Color::White => words.push(format!("{number}.")),
                Color::Black if words.is_empty() => words.push(format!("{number}...")),
                Color::Black => {}
            }
            words.push(position.san(mv));
            position.play(mv);
        }
        words.join(" ")
    }
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
            assert_eq!(position.san(mv), expected);
            for text in [expected, expected.trim_end_matches(['+', '#'])] {
                assert_eq!(position.parse_san(text), Some(mv), "{text}");
            }
            assert_eq!(position.parse_san("Nh8"), None);
        }
    }

    #[test]
    fn every_legal_move_has_its_own_notation() {
        let position: Position = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1".parse().unwrap();
        for &mv in &position.moves()[..] {
            assert_eq!(position.parse_san(&position.san(mv)), Some(mv));
        }
    }

    #[test]
    fn lines_are_numbered() {
        let position: Position = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 12".parse().unwrap();
        let mut current = position.clone();
        let mut moves = Vec::new();
        for text in ["e8d7", "e2e4", "d7d6"] {
            moves.push(current.parse_move(text).unwrap());
            current = current.make(moves[moves.len() - 1]);
        }
        assert_eq!(position.san_line(&moves), "12... Kd7 13. e4 Kd6");
    }
}
