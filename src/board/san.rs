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
            let promotion = mv.promotion().map(|kind| format!("={}", san_letter(kind)));
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
        let letter = kind(from).map_or("?", san_letter);
        format!("{letter}{origin}{capture}{to}{check}")
    }

    /// Parses a move in standard algebraic notation, with or without the symbols for captures, promotions, check and
    /// mate, and with castling written with letters or zeros. File and rank of the origin may be written even where the
    /// move is clear without them, as in `Ng1f3`. Returns `None` if no legal move matches, or several do.
    ///
    /// ```
    /// use kiln::board::Position;
    ///
    /// let position: Position = "2r5/1P2k3/8/8/8/8/8/4K2R w K - 0 1".parse().unwrap();
    /// assert_eq!(position.parse_san("bxc8=Q"), position.parse_move("b7c8q"));
    /// assert_eq!(position.parse_san("0-0"), position.parse_move("e1g1"));
    /// assert_eq!(position.parse_san("Rhh2"), position.parse_move("h1h2"));
    /// assert_eq!(position.parse_san("Nf3"), None);
    /// ```
    pub fn parse_san(&self, text: &str) -> Option<Move> {
        let text = text.replace(['x', '+', '#', '=', '!', '?'], "").replace('0', "O");
        let castling = match text.as_str() {
            "O-O" => Some(CastlingSide::King),
            "O-O-O" => Some(CastlingSide::Queen),
            _ => None,
        };
        let moves = self.moves();
        if castling.is_some() {
            let side = |mv: &&Move| (mv.kind() == MoveKind::Castle).then(|| mv.castling_side());
            return moves.iter().find(|mv| side(mv) == castling).copied();
        }
        // The text is the letter of the piece, its origin, the target and the letter of a promotion.
        let squares = text.trim_end_matches(|c: char| c.is_ascii_uppercase());
        let promotion = &text[squares.len()..];
        let (front, target) = squares.split_at_checked(squares.len().checked_sub(2)?)?;
        let target = Square::from_name(target)?;
        let origin = front.trim_start_matches(['N', 'B', 'R', 'Q', 'K']);
        let letter = &front[..front.len() - origin.len()];
        let is_origin = |from: Square, kind| match origin {
            // A pawn that captures is told by its file.
            "" => kind != PieceType::Pawn || from.file() == target.file(),
            _ => {
                let name = from.to_string();
                [&name[..], &name[..1], &name[1..]].contains(&origin)
            }
        };
        let matches = |mv: &&Move| {
            let kind = self.place(mv.from()).kind();
            mv.to() == target
                && mv.kind() != MoveKind::Castle
                && san_letter(kind) == letter
                && mv.promotion().map_or("", san_letter) == promotion
                && is_origin(mv.from(), kind)
        };
        let mut matching = moves.iter().filter(matches);
        let mv = matching.next().copied();
        if matching.next().is_some() { None } else { mv }
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

/// Returns the letter of a piece in the notation: none for a pawn.
fn san_letter(kind: PieceType) -> &'static str {
    ["", "N", "B", "R", "Q", "K"][kind]
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

    /// Some programs write the origin where it is not needed.
    #[test]
    fn more_of_the_origin_than_needed() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let pinned = "4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1";
        let rooks = "4k3/8/8/8/8/8/4K3/R6R w - - 0 1";
        let en_passant = "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3";
        let promotion = "2r5/1P2k3/8/8/8/8/8/4K3 w - - 0 1";
        for (fen, text, expected) in [
            (start, "Ngf3", Some("g1f3")),
            (start, "N1f3", Some("g1f3")),
            (start, "Ng1f3", Some("g1f3")),
            (start, "Nbf3", None),
            (start, "NNf3", None),
            (start, "e2e4", Some("e2e4")),
            // The other knight is pinned.
            (pinned, "Nge2", Some("g1e2")),
            (pinned, "Nce2", None),
            // File or rank still decides, and without them it is not clear which is meant.
            (rooks, "Ra1d1", Some("a1d1")),
            (rooks, "R1d1", None),
            (rooks, "Rd1", None),
            (en_passant, "e5xd6", Some("e5d6")),
            (en_passant, "d6", None),
            (promotion, "b7xc8=N+", Some("b7c8n")),
            (promotion, "b7xc8", None),
            (promotion, "b7xc8=NQ", None),
            // Castling, which takes the rook, is no move of the king to h1.
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "Kh1", None),
        ] {
            let position: Position = fen.parse().unwrap();
            let expected = expected.map(|uci| position.parse_move(uci).unwrap());
            assert_eq!(position.parse_san(text), expected, "{text} in {fen}");
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
