//! Portable Game Notation (PGN).

use super::{FenError, Position};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead};

/// The tags that every game has.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// A game in PGN, as its text has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgnGame {
    /// The number of the line in which the game begins, counted from 1.
    pub line: u64,
    /// The values of the tags by their names.
    pub tags: HashMap<String, String>,
    /// The moves of the main line in standard algebraic notation, each with the comments after it.
    pub moves: Vec<(String, String)>,
    /// The result after the moves: `1-0`, `0-1`, `1/2-1/2` or `*`; `None` if the game breaks off. The game is written
    /// with this result, or `*`, whatever the tag `Result` says.
    pub result: Option<String>,
}

impl PgnGame {
    /// Returns the position in which the game begins: that of the tag `FEN`, or the starting position.
    ///
    /// # Errors
    /// If the FEN is invalid.
    pub fn start(&self) -> Result<Position, FenError> {
        self.tags.get("FEN").map_or(Ok(Position::startpos()), |fen| fen.parse())
    }
}

/// Writes the game in export format: the seven tags that every game has, the others by their names, and the moves with
/// their numbers in lines of at most 79 characters.
impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let result = self.result.as_deref().unwrap_or("*");
        let value = |name: &str| match (self.tags.get(name), name) {
            (_, "Result") => result,
            (Some(value), _) => value,
            (None, "Date") => "????.??.??",
            (None, _) => "?",
        };
        let mut others: Vec<&str> =
            self.tags.keys().map(String::as_str).filter(|name| !ROSTER.contains(name)).collect();
        others.sort_unstable();
        for name in ROSTER.into_iter().chain(others) {
            writeln!(f, "[{name} \"{}\"]", value(name).replace('\\', "\\\\").replace('"', "\\\""))?;
        }
        let start = self.start().unwrap_or(Position::startpos());
        let first = 2 * usize::from(start.fullmove_number()) + start.side_to_move() as usize;
        let mut words = Vec::new();
        let mut needs_number = true;
        for (ply, (san, comment)) in (first..).zip(&self.moves) {
            if ply % 2 == 0 || needs_number {
                words.push(format!("{}{}", ply / 2, if ply % 2 == 0 { "." } else { "..." }));
            }
            words.push(san.clone());
            needs_number = !comment.trim().is_empty();
            if needs_number {
                words.extend(format!("{{{}}}", comment.trim()).split_whitespace().map(str::to_string));
            }
        }
        words.push(result.into());
        let mut width = 0;
        for word in words {
            let space = if width > 0 && width + 1 + word.len() <= 79 { " " } else { "\n" };
            write!(f, "{space}{word}")?;
            width = word.len() + if space == " " { width + 1 } else { 0 };
        }
        writeln!(f)
    }
}

/// Iterates over the games of a text in PGN. Iteration ends after an error of reading.
///
/// The reader takes what it can: a move is any word like one, legal or not.
///
/// ```
/// use kiln::board::PgnReader;
///
/// let game = PgnReader::new("[White \"A\"]\n\n1. e4 {best} e5 (1... c5) *".as_bytes()).next().unwrap()?;
/// assert_eq!(game.tags["White"], "A");
/// assert_eq!(game.moves, [("e4".into(), " best".into()), ("e5".into(), "".into())]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct PgnReader<I> {
    input: I,
    line: String,
    number: u64,
    /// Where the text of `line` begins that is not used yet. It belongs to the next game.
    used: usize,
    failed: bool,
}

/// Where the reader is between two tokens.
#[derive(Default)]
struct State {
    /// Within a comment in braces.
    in_comment: bool,
    /// The number of variations around.
    depth: u32,
}

impl<I: BufRead> PgnReader<I> {
    /// Returns a reader of games.
    pub fn new(input: I) -> Self {
        Self { input, line: String::new(), number: 0, used: 0, failed: false }
    }

    /// Reads the next line, unless some of the last one is left; returns whether there is one.
    fn next_line(&mut self) -> io::Result<bool> {
        if self.used < self.line.len() {
            return Ok(true);
        }
        let mut bytes = Vec::new();
        self.number += 1;
        let length = self.input.read_until(b'\n', &mut bytes)?;
        // Files may begin with a byte order mark, and so may each part of a file that was joined from several.
        self.line = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').trim_end().into();
        self.used = 0;
        Ok(length > 0)
    }

    fn game(&mut self) -> io::Result<Option<PgnGame>> {
        let mut game = PgnGame::default();
        let mut state = State::default();
        let mut is_after_blank = false;
        // A comment may span lines, but a line of tags begins a game, so that one unclosed brace does not swallow the
        // rest of the file.
        'lines: while (game.result.is_none() || state.in_comment) && self.next_line()? {
            let mut rest = &self.line[self.used..];
            let is_escaped = self.used == 0 && rest.starts_with('%') && !state.in_comment;
            if rest.is_empty() || is_escaped {
                is_after_blank = rest.is_empty();
                self.used = self.line.len();
                continue;
            }
            rest = rest.trim_start();
            while let Some((name, value, after)) = tag(rest) {
                // A game may have broken off after its tags.
                let is_next = game.tags.contains_key(name) && (is_after_blank || name == "Event");
                if !game.moves.is_empty() || state.in_comment || is_next {
                    self.used = self.line.len() - rest.len();
                    break 'lines;
                }
                game.tags.insert(name.into(), value);
                rest = after;
            }
            is_after_blank = false;
            rest = movetext(rest, &mut state, &mut game);
            self.used = self.line.len() - rest.len();
            if game.line == 0 {
                game.line = self.number;
            }
        }
        Ok((game.line > 0).then_some(game))
    }
}

impl<I: BufRead> Iterator for PgnReader<I> {
    type Item = io::Result<PgnGame>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let game = self.game();
        self.failed = game.is_err();
        game.transpose()
    }
}

/// Returns the name and value of a tag, and the text after it: nothing, another tag, or what begins as moves do. A tag
/// is `[Name "value"]`, in which a backslash stands before quotes and backslashes. Alone they are text too.
fn tag(text: &str) -> Option<(&str, String, &str)> {
    let text = text.strip_prefix('[')?.trim_start();
    let (name, quoted) = text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?);
    if name.is_empty() {
        return None;
    }
    let may_follow =
        |after: &&str| after.is_empty() || after.starts_with(|c: char| c.is_ascii_digit() || "[{(;$*".contains(c));
    let mut rest = quoted.trim_start().strip_prefix('"')?;
    let mut value = String::new();
    loop {
        let (plain, special) = rest.split_at(rest.find(['"', '\\'])?);
        value += plain;
        let after = special.strip_prefix('"').and_then(|after| after.trim_start().strip_prefix(']'));
        if let Some(after) = after.map(str::trim_start).filter(may_follow) {
            return Some((name, value, after));
        }
        // The last quote ends the value, even of a folder that ends with a backslash.
        let is_escaped = |after: &&str| after.starts_with(['"', '\\']) && after[1..].trim_start() != "]";
        let escaped = special.strip_prefix('\\').filter(is_escaped);
        let (character, after) = escaped.unwrap_or(special).split_at(1);
        value += character;
        rest = after;
    }
}

/// Adds the moves and comments of a line. Returns the rest of it: a tag after the game's result.
fn movetext<'a>(line: &'a str, state: &mut State, game: &mut PgnGame) -> &'a str {
    let mut rest = line;
    if state.in_comment {
        // The line break counts as a space.
        comment(" ", state, game);
    }
    while let Some(first) = rest.chars().next() {
        if state.in_comment {
            let (text, after) = rest.split_once('}').unwrap_or((rest, ""));
            comment(text, state, game);
            state.in_comment = text.len() == rest.len();
            rest = after;
            continue;
        }
        if game.result.is_some() && tag(rest).is_some() {
            return rest;
        }
        let end = rest.find(|c: char| c.is_whitespace() || "{}();".contains(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(first.len_utf8()));
        rest = after;
        match first {
            '{' => {
                state.in_comment = true;
                comment(" ", state, game);
            }
            '(' => state.depth += 1,
            ')' => state.depth = state.depth.saturating_sub(1),
            // A comment up to the end of the line.
            ';' => return "",
            _ if state.depth > 0 || game.result.is_some() => {}
            _ if ["1-0", "0-1", "1/2-1/2", "*"].contains(&word) => game.result = Some(word.into()),
            _ => {
                // `12.Nf3` is a move after its number; `$3`, `!?` and `12...` are none.
                let san = word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
                let san = if word.starts_with("0-0") { word } else { san };
                if san.starts_with(|c: char| c.is_ascii_alphabetic() || c == '0') {
                    game.moves.push((san.into(), String::new()));
                }
            }
        }
    }
    ""
}

/// Adds text to the comments after the last move. Those in variations, before the first move and after the result do
/// not count.
fn comment(text: &str, state: &State, game: &mut PgnGame) {
    let is_counted = state.depth == 0 && game.result.is_none();
    if let Some((_, comments)) = game.moves.last_mut().filter(|_| is_counted) {
        comments.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> PgnGame {
        PgnReader::new(text.as_bytes()).next().unwrap().unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let sans = ["Nf3", "Nf6", "Ng1", "Ng8"];
        let game = PgnGame {
            line: 1,
            tags: [
                ("Event", "a \"quoted\" \\ name"),
                ("White", "A"),
                ("Round", "7"),
                ("Zone", "z"),
                ("Annotator", "b"),
            ]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
            moves: (0..40).map(|i| (sans[i % 4].into(), if i == 2 { "why not" } else { "" }.into())).collect(),
            result: Some("1/2-1/2".into()),
        };
        let text = game.to_string();
        assert!(text.lines().all(|line| line.len() < 80), "{text}");
        assert!(text.contains("1. Nf3 Nf6 2. Ng1 {why not} 2... Ng8 3. Nf3"), "{text}");
        let lines: Vec<&str> = text.lines().take(10).collect();
        assert_eq!(lines[1..3], ["[Site \"?\"]", "[Date \"????.??.??\"]"]);
        assert_eq!(lines[7..], ["[Annotator \"b\"]", "[Zone \"z\"]", ""]);
        let read = read(&text);
        assert_eq!(
            (&read.moves.iter().map(|(san, _)| san).collect::<Vec<_>>(), &read.result),
            (&game.moves.iter().map(|(san, _)| san).collect::<Vec<_>>(), &game.result)
        );
        assert_eq!(read.moves[2].1.trim(), "why not");
        assert!(game.tags.iter().all(|(name, value)| read.tags[name] == *value), "{text}");
    }

    #[test]
    fn tags_as_others_write_them() {
        let game = read(concat!(
            "\u{feff}[Event  \"a [\"b\"] c\\\\ \\d\" ]\n",
            "[Site \"C:\\games\\\"]\n",
            "[ White \"A\"] [Black \"B\"] 1. e4 {A comment with\n",
            "[Not \"a tag\"] and} e5\n",
            "[ \"x\"] *",
        ));
        let tags = [("Event", "a [\"b\"] c\\ \\d"), ("Site", "C:\\games\\"), ("White", "A"), ("Black", "B")];
        assert_eq!(game.tags, tags.map(|(name, value)| (name.into(), value.into())).into());
        assert_eq!(game.moves.iter().map(|(san, _)| san.as_str()).collect::<Vec<_>>(), ["e4", "e5"]);
        assert_eq!(game.moves[0].1.trim(), "A comment with [Not \"a tag\"] and");
    }

    #[test]
    fn games_end_where_others_begin() {
        let texts = [
            // The first game broke off after its tags.
            "[Event \"a\"]\n[FEN \"x\"]\n\n[Event \"b\"]\n\n1. e4 *",
            "[Event \"a\"]\n[FEN \"x\"]\n[Event \"b\"]\n\n1. e4 *",
            "[FEN \"x\"]\n[Event \"a\"]\n\n[FEN \"y\"]\n[Event \"b\"]\n\n1. e4 *",
            // Both in one line, or in lines that end with a carriage return alone.
            "[Event \"a\"] 1. e4 {x} * [so] it is [Event \"b\"] 1. e4 *",
            "[Event \"a\"]\r\r1. e4\r*\r\r[Event \"b\"]\r\r1. e4\r*\r",
            // Comments after a result, a tag and an escape.
            "[Event \"a\"] ; a comment\n1. e4 1-0 {it\n% is} {over\nnow}\n\n[Event \"b\"] $1\n%[Event \"c\"]\n1. e4 *",
        ];
        for text in texts {
            let games: Vec<_> = PgnReader::new(text.as_bytes()).map(Result::unwrap).collect();
            let events: Vec<_> = games.iter().map(|game| game.tags["Event"].as_str()).collect();
            assert_eq!(events, ["a", "b"], "{text}");
            assert_eq!(games[0].moves.len(), if text.contains("FEN") { 0 } else { 1 }, "{text}");
            assert!(games[0].moves.iter().all(|(_, comment)| ["", " x"].contains(&comment.as_str())), "{text}");
            assert_eq!((games[1].moves.len(), games[1].result.as_deref()), (1, Some("*")), "{text}");
        }
    }

    #[test]
    fn numbers_follow_the_fen() {
        let game = read("[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 3 20\"]\n\n20... Kd7 21. O-O");
        assert!(game.to_string().ends_with("\n\n20... Kd7 21. O-O *\n"), "{game}");
        assert!(read("[FEN \"8\"]\n\n*").start().is_err());
        assert!(read("[Result \"1-0\"]\n\n1. e4 *").to_string().contains("[Result \"*\"]"));
    }
}
