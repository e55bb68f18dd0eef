//! The rules of chess for the page: legal moves, notation, the end of a game, PGN. The page asks in JSON and gets an
//! answer in JSON (`rules.js`).

use kiln::board::{CHESS960_POSITIONS, GameHistory, PgnGame, PgnReader, Position, Status};
use kiln::types::{Color, Move, MoveKind, Square};
use serde_json::{Value, json};
use std::cell::RefCell;

/// The most bytes of PGN that are read.
const PGN_LIMIT: usize = 1 << 20;

thread_local! {
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns memory for a question of this many bytes, which [`answer`] frees.
// SAFETY: nothing else in the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Answers a question and returns the length of the answer, which [`answer_text`] returns.
///
/// # Safety
/// The question must lie in memory from [`allocate`] with the same length, which nobody uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(question: *mut u8, length: usize) -> usize {
    // SAFETY: the caller guarantees that this is a box that `allocate` has leaked.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(question, length)) };
    let answer = answer_json(&question).to_string().into_bytes();
    let length = answer.len();
    ANSWER.replace(answer);
    length
}

/// Returns where the last answer lies, until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn answer_text() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// Answers a question in JSON: `{"ask": "game" | "chess960" | "read" | "write", …}`. An error is `{"error": text}`.
pub fn answer_json(question: &[u8]) -> Value {
    let answer = serde_json::from_slice(question).map_err(|error| error.to_string()).and_then(|question: Value| {
        match question["ask"].as_str() {
            Some("game") => game(&question),
            Some("chess960") => chess960(&question),
            Some("read") => read(&question),
            Some("write") => write(&question),
            _ => Err("an unknown question".into()),
        }
    });
    answer.unwrap_or_else(|error| json!({ "error": error }))
}

/// A line of moves and the position after it.
struct Line {
    start: Position,
    position: Position,
    history: GameHistory,
    moves: Vec<Move>,
    chess960: bool,
}

impl Line {
    /// Plays the question's `moves`, in UCI or standard algebraic notation, from its `fen` or the starting position.
    fn new(question: &Value) -> Result<Self, String> {
        let start = match question["fen"].as_str() {
            Some(fen) => fen.trim().parse::<Position>().map_err(|error| error.to_string())?,
            None => Position::startpos(),
        };
        let chess960 = question["chess960"].as_bool().unwrap_or(false) || start.is_chess960();
        let mut line =
            Self { position: start.clone(), start, history: GameHistory::new(), moves: Vec::new(), chess960 };
        for text in question["moves"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            line.play(text)?;
        }
        Ok(line)
    }

    fn play(&mut self, text: &str) -> Result<(), String> {
        let mv = self.position.parse_move(text).or_else(|| self.position.parse_san(text));
        let mv = mv.ok_or_else(|| format!("{text:?} is not a legal move in {}", self.position.fen(self.chess960)))?;
        self.history.push(&self.position);
        self.position.play(mv);
        self.moves.push(mv);
        Ok(())
    }
}

/// Describes a move. Castling can be played by dropping the king on its target square and on the rook.
fn describe(position: &Position, mv: Move, chess960: bool) -> Value {
    let mut targets = vec![mv.to().to_string()];
    if mv.kind() == MoveKind::Castle {
        targets.push(Square::new(mv.castling_side().king_target(), mv.from().rank()).to_string());
    }
    json!({
        "uci": mv.uci(chess960),
        "san": position.san(mv),
        "from": mv.from().to_string(),
        "targets": targets,
        "promotion": mv.promotion().map(|kind| kind.letter().to_string()),
    })
}

/// Describes a game: the moves so far, each with the position after it, the legal moves, and whether it has ended.
fn game(question: &Value) -> Result<Value, String> {
    let line = Line::new(question)?;
    let mut position = line.start.clone();
    let mut played = Vec::new();
    for &mv in &line.moves {
        let mut described = describe(&position, mv, line.chess960);
        position.play(mv);
        described["fen"] = position.fen(line.chess960).into();
        played.push(described);
    }
    let (status, result) = match (position.status(&line.history), position.side_to_move()) {
        (Status::Ongoing, _) => (None, "*"),
        (Status::Checkmate, Color::White) => (Some("checkmate"), "0-1"),
        (Status::Checkmate, Color::Black) => (Some("checkmate"), "1-0"),
        (Status::Stalemate, _) => (Some("stalemate"), "1/2-1/2"),
        (Status::FiftyMoves, _) => (Some("the fifty-move rule"), "1/2-1/2"),
        (Status::Repetition, _) => (Some("threefold repetition"), "1/2-1/2"),
        (Status::InsufficientMaterial, _) => (Some("insufficient material"), "1/2-1/2"),
    };
    let side = |position: &Position| if position.side_to_move() == Color::White { "w" } else { "b" };
    Ok(json!({
        "start": line.start.fen(line.chess960),
        "first": { "number": line.start.fullmove_number(), "side": side(&line.start) },
        "chess960": line.chess960,
        "moves": played,
        "fen": position.fen(line.chess960),
        "side": side(&position),
        "check": position.in_check().then(|| position.king(position.side_to_move()).to_string()),
        "legal": position.moves().iter().map(|&mv| describe(&position, mv, line.chess960)).collect::<Vec<_>>(),
        "status": status,
        "result": result,
    }))
}

/// Returns the FEN of a starting position of Chess960.
fn chess960(question: &Value) -> Result<Value, String> {
    let number = question["number"].as_u64().and_then(|number| u32::try_from(number).ok());
    let number = number
        .filter(|&number| number < CHESS960_POSITIONS)
        .ok_or_else(|| format!("starting positions have numbers from 0 to {}", CHESS960_POSITIONS - 1))?;
    Ok(json!({ "fen": Position::chess960(number, number).fen(true) }))
}

/// Reads the first game of a text in PGN.
fn read(question: &Value) -> Result<Value, String> {
    let text = question["text"].as_str().unwrap_or_default();
    if text.len() > PGN_LIMIT {
        return Err(format!("the PGN has {} bytes; at most {PGN_LIMIT} are read", text.len()));
    }
    let game = PgnReader::new(text.as_bytes()).next().ok_or("there is no game in this PGN")?;
    let game = game.map_err(|error| error.to_string())?;
    if game.tags.is_empty() && game.moves.is_empty() {
        return Err("there is no game in this PGN".into());
    }
    let variant = game.tags.get("Variant").map_or(String::new(), |variant| variant.to_lowercase());
    let chess960 = variant.contains("960") || variant.contains("fischer");
    let moves: Vec<&str> = game.moves.iter().map(|(san, _)| san.as_str()).collect();
    let line = Line::new(&json!({ "fen": game.tags.get("FEN"), "chess960": chess960, "moves": moves }))?;
    Ok(json!({
        "fen": game.tags.get("FEN").map(|_| line.start.fen(line.chess960)),
        "chess960": line.chess960,
        "moves": line.moves.iter().map(|mv| mv.uci(line.chess960)).collect::<Vec<_>>(),
        "tags": game.tags,
        "result": game.result,
    }))
}

/// Writes a game as PGN.
fn write(question: &Value) -> Result<Value, String> {
    let line = Line::new(question)?;
    let tags = question["tags"].as_object().into_iter().flatten();
    let mut position = line.start.clone();
    let mut moves = Vec::new();
    for &mv in &line.moves {
        moves.push((position.san(mv), String::new()));
        position.play(mv);
    }
    let mut game = PgnGame {
        tags: tags.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.into()))).collect(),
        moves,
        result: question["result"].as_str().map(str::to_string),
        ..PgnGame::default()
    };
    if line.chess960 {
        game.tags.insert("Variant".into(), "Chess960".into());
    }
    if line.start != Position::startpos() || line.chess960 {
        game.tags.insert("SetUp".into(), "1".into());
        game.tags.insert("FEN".into(), line.start.fen(line.chess960));
    }
    Ok(json!({ "text": game.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(question: &Value) -> Value {
        answer_json(question.to_string().as_bytes())
    }

    #[test]
    fn a_game_is_described() {
        let answer = ask(&json!({ "ask": "game", "moves": ["e4", "e7e5", "Nf3"] }));
        assert_eq!(answer["moves"][2]["san"], "Nf3");
        assert_eq!(answer["fen"], "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
        assert_eq!((&answer["side"], &answer["result"], &answer["check"]), (&json!("b"), &json!("*"), &Value::Null));
        assert_eq!(answer["legal"].as_array().unwrap().len(), 29);
        let mate = ask(&json!({ "ask": "game", "moves": ["f3", "e5", "g4", "Qh4"] }));
        assert_eq!(
            (&mate["status"], &mate["result"], &mate["check"]),
            (&json!("checkmate"), &json!("0-1"), &json!("e1"))
        );
    }

    #[test]
    fn castling_has_two_targets() {
        let answer = ask(&json!({ "ask": "game", "fen": "4k3/8/8/8/8/8/8/4K2R w K - 0 1" }));
        let castling = answer["legal"].as_array().unwrap().iter().find(|mv| mv["san"] == "O-O").unwrap();
        assert_eq!((&castling["uci"], &castling["targets"]), (&json!("e1g1"), &json!(["h1", "g1"])));
        let answer = ask(&json!({ "ask": "game", "fen": "4k3/8/8/8/8/8/8/1R2K3 w B - 0 1" }));
        assert_eq!(answer["chess960"], true);
        assert!(answer["legal"].as_array().unwrap().iter().any(|mv| mv["uci"] == "e1b1"));
    }

    #[test]
    fn pgn_is_read_back() {
        let start = ask(&json!({ "ask": "chess960", "number": 0 }));
        let moves = ["g3", "g6", "f3", "f6"];
        let question =
            json!({ "ask": "write", "fen": start["fen"], "moves": moves, "tags": { "White": "A" }, "result": "1-0" });
        let text = ask(&question)["text"].clone();
        let read = ask(&json!({ "ask": "read", "text": text }));
        assert_eq!((&read["fen"], &read["chess960"], &read["result"]), (&start["fen"], &json!(true), &json!("1-0")));
        assert_eq!(read["moves"], json!(["g2g3", "g7g6", "f2f3", "f7f6"]));
        assert_eq!(read["tags"]["White"], "A");
        let plain = ask(&json!({ "ask": "write", "moves": ["e4"] }));
        assert!(!plain["text"].as_str().unwrap().contains("FEN"), "{plain}");
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (question, expected) in [
            (json!({ "ask": "game", "fen": "8/8" }), "bad "),
            (json!({ "ask": "game", "moves": ["e5"] }), "\"e5\" is not a legal move in rnbqkbnr/"),
            (json!({ "ask": "chess960", "number": 960 }), "starting positions have numbers from 0 to 959"),
            (json!({ "ask": "chess960", "number": "x" }), "starting positions have numbers from 0 to 959"),
            (json!({ "ask": "read", "text": "  " }), "there is no game in this PGN"),
            (json!({ "ask": "read", "text": "1. e4 e4 *" }), "\"e4\" is not a legal move in "),
            (json!({}), "an unknown question"),
        ] {
            let answer = ask(&question);
            let error = answer["error"].as_str().unwrap();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
