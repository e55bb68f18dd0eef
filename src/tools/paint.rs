//! Colours in a terminal, and boards drawn with them.

use crate::types::{Color, File, Piece, PieceType, Rank, Square};
#[cfg(feature = "tools")]
use console::Term;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text without any escape sequence.
    Plain,
    /// Text for a terminal.
    Colored,
}

/// What a square of a coloured board shows.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Lines of text, each at most as wide as the board's cells. All cells of a board have equally many.
    pub lines: Vec<String>,
    /// Whether the text is dark, as a black piece is, rather than light.
    pub is_dark: bool,
    /// Whether the square stands out.
    pub is_marked: bool,
}

impl Paint {
    /// Returns how to write to standard output: coloured if it is a terminal that has colours, unless the environment
    /// variable `NO_COLOR` is set. Always plain without the feature `tools`.
    pub fn of_stdout() -> Self {
        #[cfg(feature = "tools")]
        return Self::of(&Term::stdout());
        #[cfg(not(feature = "tools"))]
        Self::Plain
    }

    /// Returns how to write to a terminal, which may also be a file or pipe.
    #[cfg(feature = "tools")]
    pub fn of(term: &Term) -> Self {
        if term.is_term() && term.features().colors_supported() { Self::Colored } else { Self::Plain }
    }

    /// Returns text that stands out.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Returns text that stands back.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.into(),
            Self::Colored => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// Removes colours from text, which has none without the feature `tools`.
pub fn strip_colors(text: &str) -> Cow<'_, str> {
    #[cfg(feature = "tools")]
    return console::strip_ansi_codes(text);
    #[cfg(not(feature = "tools"))]
    Cow::Borrowed(text)
}

/// Returns the figurine of a piece. White and black ones have the same, in other colours: outlined ones are hard to
/// see.
pub fn figurine(piece: Piece) -> char {
    match piece.kind() {
        PieceType::Pawn => '♟',
        PieceType::Knight => '♞',
        PieceType::Bishop => '♝',
        PieceType::Rook => '♜',
        PieceType::Queen => '♛',
        PieceType::King => '♚',
    }
}

/// Returns the cell of a square with this piece.
pub fn piece_cell(piece: Option<Piece>) -> Cell {
    let text = piece.map_or(String::new(), |piece| figurine(piece).to_string());
    Cell { lines: vec![text], is_dark: piece.is_some_and(|piece| piece.color() == Color::Black), is_marked: false }
}

/// Draws a coloured board from White's side, with coordinates. The cells are `width` columns wide.
pub fn board(width: usize, cell: impl Fn(Square) -> Cell) -> String {
    // Numbers of the 256 colours: dark and light squares, on each of which white and black text can be read.
    const SQUARES: [u8; 2] = [60, 103];
    const MARKED: [u8; 2] = [94, 136];
    let mut text = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        let cells = File::ALL.map(|file| cell(Square::new(file, rank)));
        let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
        for line in 0..height {
            let label = if line == height / 2 { (rank.index() + 1).to_string() } else { " ".into() };
            text += &format!("{} ", Paint::Colored.dim(&label));
            for (file, cell) in File::ALL.into_iter().zip(&cells) {
                let squares = if cell.is_marked { MARKED } else { SQUARES };
                let (ground, ink) = (squares[(file.index() + rank.index()) % 2], if cell.is_dark { 16 } else { 231 });
                let content = cell.lines.get(line).map_or("", String::as_str);
                // Writing to a string never fails.
                let _ = write!(text, "\x1b[1;38;5;{ink};48;5;{ground}m{content:^width$}");
            }
            text += "\x1b[0m\n";
        }
    }
    let letters: String = File::ALL.iter().map(|file| format!("{:^width$}", file.letter())).collect();
    text + "  " + &Paint::Colored.dim(letters.trim_end()) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::{measure_text_width, strip_ansi_codes};

    #[test]
    fn boards_have_coordinates_and_equal_rows() {
        let position = crate::board::Position::startpos();
        let text = board(3, |square| piece_cell(position.piece_on(square)));
        let plain = strip_ansi_codes(&text);
        let lines: Vec<&str> = plain.lines().collect();
        assert_eq!(lines[0], "8  ♜  ♞  ♝  ♛  ♚  ♝  ♞  ♜ ");
        assert_eq!(lines[6], "2  ♟  ♟  ♟  ♟  ♟  ♟  ♟  ♟ ");
        assert_eq!((lines[8], lines.len()), ("   a  b  c  d  e  f  g  h", 9));
        assert!(lines[..8].iter().all(|line| measure_text_width(line) == 26), "{plain}");
        // a1 is dark, white pieces are white.
        let last_rank = text.lines().nth(7).unwrap();
        assert!(last_rank.contains("1\x1b[0m \x1b[1;38;5;231;48;5;60m ♜ "), "{last_rank:?}");
        assert!(text.lines().next().unwrap().contains("\x1b[1;38;5;16;48;5;103m ♜ "));
    }

    #[test]
    fn plain_text_has_no_escape_sequences() {
        assert_eq!(Paint::Plain.bold("a") + &Paint::Plain.dim("b"), "ab");
        assert_eq!(Paint::Colored.bold("a"), "\x1b[1ma\x1b[0m");
    }
}
