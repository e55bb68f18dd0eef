//! Games in PGN as training data, with the scores that match tools write in comments.

use super::{Game, GameFileError, Outcome, ScoredMove};
use crate::board::{PgnGame, PgnReader};
use crate::quote::quote;
use crate::types::Score;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The most plies to a mate that a comment may name.
const MAX_MATE_PLIES: usize = 1000;

/// Why a game in PGN is no training data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PgnGameError {
    /// No move has a score in a comment.
    NoScores,
    /// The game is malformed, against the rules, or was not decided on the board: what is wrong.
    Bad(String),
}

impl PgnGame {
    /// Returns the game with its scores, from the first move on that has one; the moves before come from an opening
    /// book. A comment begins with the score of the side that moves in pawns, as in `{+0.35/12 0.1s}`, or with the
    /// plies to mate, as in `{-M8}`.
    ///
    /// # Errors
    /// If a move is illegal or has no score after others had one, if the game breaks off, or if its result is missing,
    /// contradicts the rules, differs between tag and moves, or comes from a loss on time or a fault of an engine.
    pub fn to_game(&self) -> Result<Game, PgnGameError> {
        let bad = |what: String| PgnGameError::Bad(what);
        let tag = |name| self.tags.get(name).map(String::as_str);
        let outcome = match tag("Result") {
            Some("1-0") => Outcome::WhiteWins,
            Some("0-1") => Outcome::BlackWins,
            Some("1/2-1/2") => Outcome::Draw,
            Some(other) => return Err(bad(format!("its result is {}", quote(other)))),
            None => return Err(bad("it has no tag Result".into())),
        };
        if let Some(other) = tag("Termination").filter(|text| !["normal", "adjudication"].contains(text)) {
            return Err(bad(format!("its termination is {}", quote(other))));
        }
        match &self.result {
            None => return Err(bad("it breaks off without a result after the moves".into())),
            Some(result) if tag("Result") != Some(result) => {
                return Err(bad(format!("its result is {result} after the moves, but another by its tag")));
            }
            Some(_) => {}
        }
        let mut position = self.start().map_err(|error| bad(error.to_string()))?;
        let mut game =
            Game { start: position.clone(), outcome, bound: None, moves: Vec::with_capacity(self.moves.len()) };
        for (san, comment) in &self.moves {
            let here = |what| bad(format!("{what} at {}", position.fen(true)));
            let mv = position.parse_san(san).ok_or_else(|| here(format!("{} is not a legal move", quote(san))))?;
            match (score(comment), game.moves.is_empty()) {
                (Some(score), _) => {
                    let score = position.side_to_move().white_pov(score);
                    game.moves.push(ScoredMove { mv, score });
                    position.play(mv);
                }
                (None, true) => {
                    position.play(mv);
                    game.start = position.clone();
                }
                (None, false) => return Err(here(format!("the move {san} has no score"))),
            }
        }
        if game.moves.is_empty() {
            return Err(PgnGameError::NoScores);
        }
        game.check_outcome().map_err(bad)?;
        Ok(game)
    }
}

/// Returns the score with which a comment begins, in centipawns.
fn score(comment: &str) -> Option<i16> {
    let word = comment.trim_start().split(|c: char| c == '/' || c == ',' || c.is_whitespace()).next()?;
    let (sign, size) = match word.strip_prefix('-') {
        Some(size) => (-1, size),
        None => (1, word.strip_prefix('+').unwrap_or(word)),
    };
    let size = match size.strip_prefix('M') {
        Some(plies) => -Score::mated_in(plies.parse().ok().filter(|&plies: &usize| plies <= MAX_MATE_PLIES)?).value(),
        None if !size.starts_with(|c: char| c.is_ascii_digit()) => return None,
        None => Score::centipawns((100.0 * size.parse::<f64>().ok()?).round() as i32).value(),
    };
    // All scores fit into an i16.
    Some((sign * size) as i16)
}

/// Reads a file of games in PGN.
///
/// # Errors
/// If the file cannot be opened. The iterator returns errors of reading and ends after one; errors in games come from
/// [`PgnGame::to_game`].
pub fn read_pgn(file: &Path) -> Result<impl Iterator<Item = Result<PgnGame, GameFileError>>, GameFileError> {
    let failed = |error| GameFileError::of_file(file, format!("it cannot be read: {error}"));
    let input = File::open(file).map_err(failed)?;
    Ok(PgnReader::new(BufReader::with_capacity(1 << 17, input)).map(move |game| game.map_err(failed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    fn all(text: &str) -> Vec<PgnGame> {
        PgnReader::new(text.as_bytes()).map(Result::unwrap).collect()
    }

    /// Returns the only game of a text.
    fn one(text: &str) -> Result<Game, PgnGameError> {
        let games = all(text);
        assert_eq!(games.len(), 1, "{text}");
        games[0].to_game()
    }

    fn moves(game: &Game) -> Vec<(String, i16)> {
        game.moves.iter().map(|scored| (scored.mv.uci(false), scored.score)).collect()
    }

    fn pairs(list: &[(&str, i16)]) -> Vec<(String, i16)> {
        list.iter().map(|&(text, score)| (text.into(), score)).collect()
    }

    #[test]
    fn scores_of_match_tools() {
        for (comment, expected) in [
            ("+0.35/12 0.1s", Some(35)),
            ("-1.05/12 0.013s, White wins by adjudication", Some(-105)),
            ("0.00/16 0.020s", Some(0)),
            (" +0.29 12/24 100 12345", Some(29)),
            ("-12.3", Some(-1230)),
            ("+M5/20 0.1s", Some(31_995)),
            ("-M1000", Some(-31_000)),
            ("+152.65/40 1s", Some(15_265)),
            ("-9999.99/1", Some(-29_500)),
            ("book", None),
            ("", None),
            ("+M1001/2", None),
            ("M-5", None),
            ("+-5", None),
            ("NaN", None),
            ("inf", None),
            ("[%eval 0.3]", None),
        ] {
            assert_eq!(score(comment), expected, "{comment}");
        }
    }

    #[test]
    fn a_game_of_fastchess() {
        let text = "[Event \"Fastchess \\\"x\\\" \\\\\"]\n[Result \"0-1\"]\n[Termination \"normal\"]\n\n\
                    1. f3 {-0.70/9 0.019s} e5 {+0.92/8\n0.010s} 2. g4 {-M2/9 0.1s} Qh4# {+M1/3 0.001s,\nBlack mates} 0-1\n";
        let games = all(text);
        assert_eq!((games[0].line, games[0].tags["Event"].as_str()), (1, "Fastchess \"x\" \\"));
        let game = games[0].to_game().unwrap();
        assert_eq!((&game.start, game.outcome), (&Position::startpos(), Outcome::BlackWins));
        let expected = [("f2f3", -70), ("e7e5", -92), ("g2g4", -31_998), ("d8h4", -31_999)];
        assert_eq!(moves(&game), pairs(&expected));
        // As OpenBench uploads it, with CRLF.
        let text = "[Result \"0-1\"]\r\n\r\nf3 {-0.70} e5 {+0.92} g4 {-M2} Qh4# {+M1} 0-1\r\n\r\n";
        assert_eq!(one(text).unwrap(), game);
        let verbose =
            "[Result \"0-1\"]\n\nf3 {-0.70 9/12 19 4000} e5 {+0.92 8/9 1 2} g4 {-M2 1/1 1 1} Qh4# {+M1 1/1 1 1} 0-1";
        assert_eq!(one(verbose).unwrap(), game);
    }

    #[test]
    fn the_syntax_of_pgn() {
        let text = "% escaped {\n[Result \"1/2-1/2\"]\n[FEN \"4k2r/8/8/8/8/8/8/4K2R b Kk - 3 20\"]\n\n{before (} 20...0-0 $3 ; rest {\n\
                    {+0.10} (20... Kd7 {-1.00} (20... Ke7 1-0) 21. Rh7+) {more} 21.Rh7!? {-0.20/1} 1/2-1/2\n";
        let game = one(text).unwrap();
        assert_eq!(moves(&game), pairs(&[("e8g8", -10), ("h1h7", -20)]));
        assert_eq!(game.start.fen(false), "4k2r/8/8/8/8/8/8/4K2R b Kk - 3 20");
        let chess960 = "[Variant \"fischerandom\"]\n[Result \"1-0\"]\n[FEN \"4k3/8/8/8/8/8/8/1RK5 w B - 0 1\"]\n\nO-O-O {+5.00} 1-0";
        assert_eq!(one(chess960).unwrap().moves[0].mv.kind(), crate::types::MoveKind::Castle);
        assert_eq!(all("\n% no game\n\n"), []);
    }

    #[test]
    fn moves_of_the_book_come_first() {
        let game = one("[Result \"1-0\"]\n\n1. e4 {book} e5 2. Ng1f3 {+0.30/9} Nc6 {-0.20/8} 1-0").unwrap();
        assert_eq!(game.start.fen(false), "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
        assert_eq!(moves(&game), pairs(&[("g1f3", 30), ("b8c6", 20)]));
    }

    #[test]
    fn bad_games_say_why() {
        let game = |tags: &str, moves: &str| one(&format!("[Result \"1-0\"]\n{tags}\n\n{moves}\n"));
        assert_eq!(game("", "1. e4 e5 1-0"), Err(PgnGameError::NoScores));
        for (tags, moves, expected) in [
            ("", "1. e4 {+0.30} e5 {+0.30} 2. Nf6 {+0.30} 1-0", "\"Nf6\" is not a legal move at rnbqkbnr/"),
            ("", "1. e4 {+0.30} e5 2. Nf3 {+0.30} 1-0", "the move e5 has no score at rnbqkbnr/"),
            ("", "1. e4 {+0.30} e5 {-0.30} 2. Nf3 {+0.3", "it breaks off without a result after the moves"),
            ("", "1. e4 {-0.30} 1-0", "the outcome is WhiteWins, but the last score is -30 at "),
            ("[Termination \"time forfeit\"]", "1. e4 {+0.30} 1-0", "its termination is \"time forfeit\""),
            ("[FEN \"8/8/8 w\"]", "1. e4 {+0.30} 1-0", "bad "),
            ("", "1. e4 {+0.30} 0-1", "its result is 0-1 after the moves, but another by its tag"),
            ("[Result \"*\"]", "1. e4 {+0.30} *", "its result is \"*\""),
        ] {
            match game(tags, moves) {
                Err(PgnGameError::Bad(what)) => assert!(what.starts_with(expected), "{what}"),
                other => panic!("{moves}: {other:?}"),
            }
        }
        assert_eq!(one("1. e4 {+0.30} 1-0"), Err(PgnGameError::Bad("it has no tag Result".into())));
    }

    #[test]
    fn a_broken_game_does_not_spoil_the_next() {
        let good = "[Result \"1-0\"]\n\n1. e4 {+0.30} 1-0\n\n";
        let broken = "[Result \"1-0\"]\n\n1. e4 {+0.30 (\n\n";
        let games = all(&format!("{broken}{good}\n{broken}"));
        let results: Vec<_> = games.iter().map(|game| (game.line, game.to_game().is_ok())).collect();
        assert_eq!(results, [(1, false), (5, true), (10, false)]);
        // No prefix of a file is read as other games than those complete in it.
        let text = format!("{good}{good}");
        for end in 0..text.len() {
            let complete = all(&text[..end]).iter().filter(|game| game.to_game().is_ok()).count();
            assert_eq!(complete, text[..end].matches("} 1-0").count(), "{}", &text[..end]);
        }
    }
}
