//! The built binary, spoken to as a GUI would.

use kiln::board::{History, Position};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

struct Kiln {
    process: Child,
    input: ChildStdin,
    /// Lines of output, read by a thread of their own so that waiting for one can time out.
    output: Receiver<String>,
}

/// Longest wait for a line.
const PATIENCE: Duration = Duration::from_secs(60);

impl Kiln {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
            // Networks are not to be cached where the user's are.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = process.stdin.take().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, input, output }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the engine reads");
    }

    /// Reads up to the first line that begins so, and returns all that was read.
    fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.output.recv_timeout(PATIENCE);
            lines.push(line.unwrap_or_else(|error| panic!("{error} before {start:?}: {lines:?}")));
            if lines.last().is_some_and(|line| line.starts_with(start)) {
                return lines;
            }
        }
    }

    fn ask(&mut self, line: &str, start: &str) -> String {
        self.send(line);
        self.until(start).pop().unwrap()
    }

    fn quit(mut self) {
        self.send("quit");
        assert!(self.process.wait().unwrap().success());
    }
}

/// Runs the binary on a whole input, which then ends.
fn feed(input: &str) -> String {
    let mut kiln = Kiln::start();
    kiln.send(input);
    drop(kiln.input);
    let mut text = String::new();
    loop {
        match kiln.output.recv_timeout(PATIENCE) {
            Ok(line) => text += &(line + "\n"),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("still running: {text}"),
        }
    }
    assert!(kiln.process.wait().unwrap().success());
    text
}

fn arguments(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kiln")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_whole_game() {
    let mut kiln = Kiln::start();
    assert_eq!(kiln.ask("uci", "uciok"), "uciok");
    kiln.send("ucinewgame");
    kiln.ask("isready", "readyok");
    let (mut position, mut history) = (Position::startpos(), History::new());
    let mut game = String::from("position startpos moves");
    let mut plies = 0;
    while !position.is_over()
        && position.halfmove_clock() < 100
        && !position.is_insufficient_material()
        && !history.is_repetition(&position, history.len())
    {
        kiln.send(&game);
        kiln.send("go nodes 3000");
        let lines = kiln.until("bestmove");
        let mut reports = 0;
        for line in lines.iter().filter(|line| line.starts_with("info depth")) {
            let (_, line) = line.split_once(" pv ").expect("a report has a line of moves");
            let mut at = position.clone();
            for text in line.split(' ') {
                let mv = at.parse_move(text).unwrap_or_else(|| panic!("illegal {text} in {} pv {line}", at.fen(false)));
                at = at.make(mv);
            }
            reports += 1;
        }
        assert!(reports > 0, "no report before {lines:?}");
        let best = lines.last().unwrap().strip_prefix("bestmove ").unwrap();
        let mv = position.parse_move(best).unwrap_or_else(|| panic!("illegal {best} in {}", position.fen(false)));
        history.push(&position);
        position = position.make(mv);
        game = format!("{game} {best}");
        plies += 1;
        assert!(plies < 1000, "a game does not last that long");
    }
    assert!(plies > 20, "{game}");
    kiln.quit();
}

#[test]
fn answers_while_it_searches() {
    let mut kiln = Kiln::start();
    kiln.send("go infinite");
    kiln.until("info depth 3");
    let asked = Instant::now();
    kiln.ask("isready", "readyok");
    assert!(asked.elapsed() < Duration::from_secs(5));
    kiln.send("setoption name Hash value 1");
    kiln.until("info string a search is running");
    kiln.ask("stop", "bestmove");
    // A `stop` too many does no harm.
    kiln.send("stop");
    assert!(kiln.ask("go depth 2", "bestmove").starts_with("bestmove "));
    kiln.quit();
}

#[test]
fn an_infinite_search_waits_for_stop() {
    let mut kiln = Kiln::start();
    kiln.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    kiln.send("go infinite");
    kiln.send("isready");
    assert_eq!(kiln.until("readyok"), ["readyok"]);
    assert_eq!(kiln.ask("stop", "bestmove"), "bestmove (none)");
    kiln.quit();
}

#[test]
fn mate_and_stalemate() {
    let out = feed("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\ngo depth 3");
    assert!(out.ends_with("bestmove (none)\n"), "{out}");
    let out = feed("position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1\ngo depth 4");
    assert!(out.contains("score mate 1 ") && out.ends_with("bestmove e1e8\n"), "{out}");
    let out = feed("position fen 8/8/8/8/8/1k6/8/K2r4 w - - 0 1\nd");
    assert!(out.contains("Fen: 8/8/8/8/8/1k6/8/K2r4 w - - 0 1"), "{out}");
}

#[test]
fn the_end_of_input_finishes_a_bounded_search() {
    let out = feed("position startpos moves e2e4\ngo depth 5");
    assert!(out.contains("info depth 5 ") && out.contains("bestmove "), "{out}");
    // One without bounds is stopped.
    assert!(feed("go infinite").contains("bestmove "));
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let out = feed(
        "position startpos moves e2e4\nposition startpos moves e2e4 e2e4\nposition fen 8/8 w - - 0 1\n\
         setoption name Hash value 0\nsetoption name Nonsense value 1\ngo depth x\nhello there\nhelp\n\u{fffd}\u{0}\nd",
    );
    for expected in [
        "info string illegal move \"e2e4\" in rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "info string bad piece placement \"8/8\": expected eight ranks",
        "info string bad value \"0\" for option Hash: expected a whole number from 1 to ",
        "info string there is no option \"Nonsense\"",
        "info string bad number \"x\" after \"depth\"",
        "info string unknown command \"hello there\"",
        "go perft N",
        "Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    ] {
        assert!(out.contains(expected), "{expected:?} is not in {out}");
    }
}

#[test]
fn chess960_castling_in_both_notations() {
    let fen = "4k3/8/8/8/8/8/8/1R2K1R1 w BG - 0 1";
    let out = feed(&format!(
        "position fen {fen} moves e1g1\nd\nposition fen {fen} moves e1b1\nd\nsetoption name UCI_Chess960 value true\n\
         position fen 5rk1/5ppp/8/8/8/8/8/K6R w H - 0 1\ngo perft 1"
    ));
    assert!(out.contains("Fen: 4k3/8/8/8/8/8/8/1R3RK1 b - - 1 1"), "{out}");
    assert!(out.contains("Fen: 4k3/8/8/8/8/8/8/2KR2R1 b - - 1 1"), "{out}");
    assert!(out.contains("a1h1: 1"), "{out}");
}

#[test]
fn perft_and_options() {
    let out = feed("uci\nsetoption name Hash value 2\nsetoption name Clear Hash\ngo perft 3");
    assert!(out.contains("option name Hash type spin default 16 min 1 max "), "{out}");
    assert!(out.contains("a2a3: 380\n") && out.ends_with("Nodes searched: 8902\n"), "{out}");
}

#[test]
fn networks_by_option() {
    use kiln_gen::network::{Asset, Header, material};
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("a folder of  networks");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, hidden: u32| {
        let header = Header { name: name.into(), hidden, ..material().header };
        let path = folder.join(name);
        std::fs::write(&path, Asset::random(header, 1).to_bytes()).unwrap();
        path.display().to_string()
    };
    let (same, other) = (write("same shape", 32), write("other shape", 64));
    let set = |path: &str| format!("setoption name EvalFile value {path}\neval\n");
    let script = [set(&same), set(&other), set("no such file"), set("<empty>"), set(&same), set("none")].concat();
    let out = feed(&script);
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("network")).collect();
    let says = |line: &str| line.split(" says ").next().unwrap().to_owned();
    let expected = [
        ("info string network same shape scores", "info string network same shape"),
        ("(768hm -> 64)x2 -> 1", "info string network same shape"),
        ("it cannot be read", "info string network same shape"),
        ("info string network material scores", "info string network material"),
        ("info string network same shape scores", "info string network same shape"),
        ("info string network material scores", "info string network material"),
    ];
    assert_eq!(lines.len(), 2 * expected.len(), "{out}");
    for (pair, (answer, evaluation)) in lines.chunks(2).zip(expected) {
        assert!(pair[0].contains(answer), "{}", pair[0]);
        assert_eq!(says(pair[1]), evaluation);
    }
    assert!(lines[2].contains("(768hm -> 32)x2 -> 1") && lines[2].contains("network same shape stays"), "{}", lines[2]);
}

#[test]
fn time_is_kept() {
    let start = Instant::now();
    let out = feed("setoption name Move Overhead value 0\ngo wtime 300 btime 1 winc 0 binc 0");
    assert!(out.contains("bestmove"), "{out}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn commands_as_arguments() {
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let perft = arguments(&["perft", "3"]);
    assert!(perft.status.success() && text(&perft).starts_with("8902 nodes "));
    let divided = arguments(&["perft", "3", "--divide", "--threads", "3"]);
    assert!(text(&divided).contains("b1c3: 440\n") && text(&divided).contains("\n8902 nodes "));
    assert_eq!(text(&divided).lines().count(), 22);
    let fen = arguments(&["perft", "2", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"]);
    assert!(text(&fen).starts_with("191 nodes "));
    let tables = arguments(&["tables"]);
    assert!(text(&tables).contains("slider_attacks"));
    for (bad, reason) in [
        (&["perft", "0"][..], "bad depth \"0\""),
        (&["perft", "1", "8/8"], "four to six fields"),
        (&["perft", "1", "--threads", "0"], "threads from 1 to 1024"),
        (&["bench", "--divide"], "are for perft"),
        (&["nonsense"], "cannot do \"nonsense\""),
        (&["--nonsense"], "--nonsense"),
    ] {
        let output = arguments(bad);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(reason), "{bad:?}: {error}");
    }
}

/// The signature of this version: a refactor leaves it as it is, and every backend gives the same.
#[test]
fn bench_signature() {
    const SIGNATURE: u64 = 456_369;
    let text = String::from_utf8(arguments(&["bench"]).stdout).unwrap();
    let last: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert_eq!((last[0].parse(), last[1], last[3]), (Ok(SIGNATURE), "nodes", "nps"), "{text}");
}
