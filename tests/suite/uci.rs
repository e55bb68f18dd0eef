//! The UCI protocol, tested through the built binary.

use crate::common::bad_networks::{bad_networks, good_network};
use crate::common::{default_header, kiln, refusal, scratch, test_data};
use kiln::board::{GameHistory, Position};
use kiln_gen::network::{Asset, Header};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// A running engine, killed when dropped.
struct Kiln {
    process: Child,
    /// `None` once it is closed.
    input: Option<ChildStdin>,
    /// Lines of output, read by another thread so that waiting for one can time out.
    output: Receiver<String>,
}

impl Drop for Kiln {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The longest wait for a line.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Kiln {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
            // Keep test networks out of the user's cache.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, input, output }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").expect("the engine reads its input");
    }

    /// Returns the lines up to the first that begins with `start`.
    fn until(&mut self, start: &str) -> Vec<String> {
        self.until_matching(|line| line.starts_with(start))
    }

    /// Returns the lines up to the first for which `is_last` holds.
    #[track_caller]
    fn until_matching(&mut self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| is_last(line)) {
            let line = self.output.recv_timeout(TIMEOUT);
            lines.push(line.unwrap_or_else(|error| panic!("{error} after {lines:?}")));
        }
        lines
    }

    /// Asserts that no move comes for a while.
    fn expect_no_move(&mut self) {
        let until = Instant::now() + Duration::from_millis(150);
        while let Ok(line) = self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
            assert!(!line.starts_with("bestmove"), "{line}");
        }
    }

    /// Sends a line and returns the first line of output that begins with `start`.
    fn ask(&mut self, line: &str, start: &str) -> String {
        self.send(line);
        self.until(start).pop().unwrap()
    }

    fn quit(mut self) {
        self.send("quit");
        assert!(self.process.wait().unwrap().success());
    }
}

/// Runs the binary on this input and returns its output.
fn feed(input: &str) -> String {
    let mut kiln = Kiln::start();
    kiln.send(input);
    kiln.input = None;
    let mut text = String::new();
    loop {
        match kiln.output.recv_timeout(TIMEOUT) {
            Ok(line) => text += &(line + "\n"),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("still running: {text}"),
        }
    }
    assert!(kiln.process.wait().unwrap().success());
    text
}

#[test]
fn a_whole_game() {
    let mut kiln = Kiln::start();
    assert_eq!(kiln.ask("uci", "uciok"), "uciok");
    kiln.send("ucinewgame");
    kiln.ask("isready", "readyok");
    let (mut position, mut history) = (Position::startpos(), GameHistory::new());
    let mut game = String::from("position startpos moves");
    let mut plies = 0;
    while position.has_legal_move()
        && position.halfmove_clock() < 100
        && !position.is_insufficient_material()
        && !history.is_repetition(&position, history.len())
    {
        kiln.send(&game);
        kiln.send("go nodes 3000");
        let lines = kiln.until("bestmove");
        let mut reports = 0;
        for line in lines.iter().filter(|line| line.starts_with("info depth")) {
            let (_, line) = line.split_once(" pv ").expect("a report has a principal variation");
            let mut at = position.clone();
            for text in line.split(' ') {
                let mv = at.parse_move(text).unwrap_or_else(|| panic!("illegal {text} in {} pv {line}", at.fen(false)));
                at = at.make(mv);
            }
            reports += 1;
        }
        assert!(reports > 0, "no report before {lines:?}");
        let best = lines.last().unwrap().split(' ').nth(1).unwrap();
        let mv = position.parse_move(best).unwrap_or_else(|| panic!("illegal {best} in {}", position.fen(false)));
        history.push(&position);
        position = position.make(mv);
        game = format!("{game} {best}");
        plies += 1;
        assert!(plies < 1000, "the game does not end");
    }
    assert!(plies > 20, "{game}");
    kiln.quit();
}

#[test]
fn answers_while_it_searches() {
    let mut kiln = Kiln::start();
    kiln.send("go infinite");
    kiln.until("info depth 3");
    let sent = Instant::now();
    kiln.ask("isready", "readyok");
    assert!(sent.elapsed() < Duration::from_secs(5));
    kiln.ask("stop", "bestmove");
    // `stop` without a search has no effect.
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
    assert!(!kiln.until("readyok").iter().any(|line| line.starts_with("bestmove")));
    assert_eq!(kiln.ask("stop", "bestmove"), "bestmove (none)");
    // It waits even if it reaches its depth limit.
    kiln.send("position startpos\ngo infinite depth 1");
    kiln.until("info depth 1 ");
    kiln.expect_no_move();
    kiln.ask("stop", "bestmove");
    kiln.quit();
}

#[test]
fn quit_ends_a_search_with_its_move() {
    for commands in
        ["go infinite\nquit", "go ponder wtime 1 btime 1\nquit", "go depth 60\ngo infinite\ngo depth 3\nquit"]
    {
        // Queued searches do not start.
        assert_eq!(feed(commands).matches("bestmove ").count(), 1, "{commands}");
    }
    // A GUI may send anything between searches.
    let out = feed("stop\ngo depth 1\nstop\nstop\nponderhit\ngo infinite\nstop\nquit\nisready");
    assert!(out.matches("bestmove ").count() >= 1 && !out.contains("readyok"), "{out}");
}

#[test]
fn pondering_waits_for_the_opponent() {
    let mut kiln = Kiln::start();
    kiln.send("go ponder depth 2 wtime 1000 btime 1000");
    kiln.until("info depth 2 ");
    kiln.expect_no_move();
    kiln.ask("ponderhit", "bestmove");
    kiln.send("go ponder depth 2");
    kiln.until("info depth 2 ");
    kiln.ask("stop", "bestmove");
    // `ponderhit` without a search has no effect.
    kiln.send("ponderhit\nstop\nponderhit\ngo depth 1");
    kiln.until("bestmove");
    // A search that has not begun gets it too.
    kiln.send("go infinite\nstop\nposition startpos moves e2e4\ngo ponder wtime 100 btime 100\nponderhit");
    kiln.until("bestmove");
    kiln.until("bestmove");
    // At mate and stalemate it waits too.
    kiln.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo ponder wtime 100 btime 100");
    kiln.expect_no_move();
    assert_eq!(kiln.ask("ponderhit", "bestmove"), "bestmove (none)");
    kiln.quit();
}

#[test]
fn commands_wait_for_the_search_in_order() {
    let mut kiln = Kiln::start();
    // Both searches send a move, and the option is set in between.
    kiln.send("go nodes 200000\nsetoption name UCI_ShowWDL value true\nposition startpos moves e2e4\nd\ngo depth 2");
    let first = kiln.until("bestmove");
    assert!(!first.iter().any(|line| line.contains(" wdl ")), "{first:?}");
    assert!(first.iter().any(|line| line.starts_with("info string the option will be set")), "{first:?}");
    let second = kiln.until("Fen:");
    assert!(second.last().unwrap().contains("/8/4P3/8/"), "{second:?}");
    let second = kiln.until("bestmove");
    assert!(second.iter().all(|line| !line.starts_with("info depth") || line.contains(" wdl ")), "{second:?}");
    kiln.quit();
}

#[test]
fn a_new_search_stops_an_unbounded_one() {
    let mut kiln = Kiln::start();
    kiln.send("go infinite\ngo ponder depth 3\ngo mate 3\ngo\ngo searchmoves e2e4\ngo depth 1");
    for _ in 0..6 {
        kiln.until("bestmove");
    }
    // `stop` stops all searches sent before it.
    kiln.send("go depth 30\ngo infinite\nsetoption name Hash value 1\ngo depth 40\nstop\ngo depth 1\nisready");
    for _ in 0..4 {
        kiln.until("bestmove");
    }
    kiln.ask("isready", "readyok");
    kiln.quit();
}

#[test]
fn go_with_any_limit() {
    let mut kiln = Kiln::start();
    for limits in [
        "depth 3",
        "depth 0",
        "depth -1",
        "nodes 1",
        "nodes 500 depth 50",
        "movetime 20",
        "movetime 0",
        "movetime -50",
        "wtime 100",
        "btime 100",
        "binc 10 wtime 100 winc 10 btime 100",
        "winc 10 wtime 100",
        "wtime 100 btime 100 movestogo 1",
        "wtime 100 btime 100 movestogo 0",
        "wtime -100 btime -100 movestogo -3",
        "wtime 0 btime 0 winc 0 binc 0",
        "wtime 99999999999999999999999999 btime 1e300 winc 18446744073709551615 binc 9e99 movestogo 4294967296 depth 2",
        "movetime 18446744073709551615 depth 2",
        "wtime x btime 100 depth 2",
        "searchmoves e2e4 zzzz depth 2",
        "searchmoves e2e5 depth 2",
        "mate 2 depth 2",
        "unknown words depth 2 and more",
    ] {
        kiln.send(&format!("go {limits}"));
        let lines = kiln.until("bestmove");
        let best = lines.last().unwrap().split(' ').nth(1).unwrap();
        assert!(Position::startpos().parse_move(best).is_some(), "{limits}: {lines:?}");
        let is_report = |line: &&String| line.starts_with("info depth ") && line.contains(" score cp ");
        assert!(lines.iter().find(is_report).is_some(), "{limits}: {lines:?}");
    }
    kiln.quit();
}

#[test]
fn illegal_search_moves_are_reported() {
    let out = feed("go searchmoves e2e4 e2e5 e2e4 depth 1\ngo depth 1 searchmoves a1a8");
    assert!(out.contains("info string illegal move \"e2e5\" after \"searchmoves\" is skipped"), "{out}");
    assert!(out.contains("info string no legal move after \"searchmoves\": all moves are searched"), "{out}");
    assert_eq!(out.matches("bestmove").count(), 2, "{out}");
}

#[test]
fn only_search_moves_are_searched() {
    let out = feed("go depth 4 searchmoves a2a3 h2h3\ngo searchmoves h2h4 nodes 5000");
    assert!(matches!(best_moves(&out)[..], ["a2a3" | "h2h3", "h2h4"]), "{out}");
}

#[test]
fn castling_is_sent_as_the_option_says() {
    let go = "go depth 1 searchmoves e1g1";
    let out = feed(&format!(
        "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\n{go}\nsetoption name UCI_Chess960 value true\n{go}"
    ));
    assert_eq!(best_moves(&out), ["e1g1", "e1h1"], "{out}");
    assert!(out.contains(" pv e1g1") && out.contains(" pv e1h1"), "{out}");
}

#[test]
fn repetitions_of_the_game_count() {
    // Black, who is lost otherwise, repeats the position for the third time.
    let out = feed(
        "position fen 4k3/8/8/8/8/8/8/Q3K3 w - - 0 1 moves e1d1 e8d8 d1e1 d8e8 e1d1 e8d8 d1e1\n\
         go depth 4 searchmoves d8e8",
    );
    let reports: Vec<&str> = out.lines().filter(|line| line.starts_with("info depth")).collect();
    let is_draw =
        |line: &&str| [" score cp -1 ", " score cp 0 ", " score cp 1 "].iter().any(|text| line.contains(text));
    assert!(!reports.is_empty() && reports.iter().all(is_draw), "{out}");
}

#[test]
fn a_new_game_forgets_the_last() {
    let go = "go depth 8\n";
    let out = feed(&format!("{go}ucinewgame\n{go}setoption name Clear Hash\n{go}{go}"));
    let reports = out.lines().filter(|line| line.starts_with("info depth 8 "));
    let nodes: Vec<u64> = reports.map(|line| field(line, "nodes")).collect();
    assert!(nodes.len() == 4 && nodes[0] == nodes[1] && nodes[1] == nodes[2] && nodes[3] != nodes[0], "{nodes:?}");
}

#[test]
fn the_search_uses_the_network_of_the_option() {
    let file = scratch("a searched network").join("network");
    std::fs::write(&file, good_network()).unwrap();
    let set = "setoption name EvalFile value";
    let out = feed(&format!(
        "position fen 4k3/pppppppp/8/8/8/8/PPPPPPPP/3QK3 w - - 0 1\ngo depth 1\n{set} {}\ngo depth 1\n{set} none\n\
         go depth 1",
        file.display()
    ));
    let reports = out.lines().filter(|line| line.starts_with("info depth 1 "));
    let score = |line: &str| line.split(" score ").nth(1).unwrap().split(" nodes ").next().unwrap().to_owned();
    let scores: Vec<String> = reports.map(score).collect();
    assert!(scores.len() == 3 && scores[0] == scores[2] && scores[0] != scores[1], "{out}");
}

/// GUIs resend options. What has been learnt stays.
#[test]
fn the_same_network_again_clears_nothing() {
    let nodes = |between: &str| {
        let out = feed(&format!("go depth 8\n{between}go depth 8"));
        let last = out.lines().rfind(|line| line.starts_with("info depth 8 ")).unwrap().to_owned();
        last.split(" nodes ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(nodes("setoption name EvalFile value <empty>\n"), nodes(""));
    assert!(nodes("ucinewgame\n") > nodes(""));
}

#[cfg(target_os = "linux")]
#[test]
fn all_threads_search() {
    let running = |count: usize| {
        let mut kiln = Kiln::start();
        kiln.send(&format!("setoption name Threads value {count}\ngo infinite"));
        kiln.until("info depth 4 ");
        let tasks = std::fs::read_dir(format!("/proc/{}/task", kiln.process.id())).unwrap().count();
        kiln.ask("stop", "bestmove");
        kiln.quit();
        tasks
    };
    assert_eq!(running(4) - running(1), 3);
}

#[test]
fn several_principal_variations() {
    let mut kiln = Kiln::start();
    kiln.send("setoption name multipv value 3\ngo depth 5");
    let lines = kiln.until("bestmove");
    let word = |line: &str, after: &str| {
        let mut words = line.split(' ').skip_while(|word| *word != after);
        words.nth(1).unwrap_or_else(|| panic!("no {after} in {line}")).to_owned()
    };
    let last: Vec<&String> = lines.iter().filter(|line| line.starts_with("info depth 5 ")).collect();
    let last = &last[last.len() - 3..];
    assert_eq!([0, 1, 2].map(|i| word(last[i], "multipv")), ["1", "2", "3"]);
    let scores = [0, 1, 2].map(|i| word(last[i], "cp").parse::<i32>().unwrap());
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let mut moves: Vec<String> = last.iter().map(|line| word(line, "pv")).collect();
    assert_eq!(word(lines.last().unwrap(), "bestmove"), moves[0]);
    moves.sort_unstable();
    moves.dedup();
    assert_eq!(moves.len(), 3);
    // MultiPV above the number of moves.
    kiln.send("setoption name MultiPV value 256\nposition fen 7k/8/8/8/8/8/r7/7K w - - 0 1\ngo depth 3");
    let lines = kiln.until("bestmove");
    assert!(lines.iter().all(|line| !line.contains(" multipv 2 ")), "{lines:?}");
    kiln.quit();
}

#[test]
fn time_counts_from_the_start_of_pondering() {
    let mut kiln = Kiln::start();
    kiln.send("go ponder movetime 2000");
    std::thread::sleep(Duration::from_millis(2100));
    kiln.expect_no_move();
    let ponder_hit = Instant::now();
    kiln.ask("ponderhit", "bestmove");
    assert!(ponder_hit.elapsed() < Duration::from_millis(1500), "{:?}", ponder_hit.elapsed());
    kiln.quit();
}

#[test]
fn go_mate_ends_at_a_mate() {
    let out = feed("position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1\ngo mate 1 depth 30");
    assert!(out.contains("score mate 1 ") && !out.contains("info depth 30 ") && out.contains("bestmove e1e8"), "{out}");
}

#[test]
fn current_moves_are_sent_after_a_while() {
    let mut kiln = Kiln::start();
    let start = Instant::now();
    kiln.send("position fen r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10\ngo infinite");
    let lines = kiln.until_matching(|line| line.contains(" currmove "));
    assert!(start.elapsed() > Duration::from_secs(2));
    assert!(lines.last().unwrap().contains(" currmovenumber "), "{lines:?}");
    kiln.ask("stop", "bestmove");
    kiln.quit();
}

#[test]
fn mate_and_stalemate() {
    let out = feed("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\ngo depth 3");
    assert_eq!(out, "info depth 0 score mate 0\nbestmove (none)\n");
    let out = feed("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo wtime 100 btime 100");
    assert_eq!(out, "info depth 0 score cp 0\nbestmove (none)\n");
    let out = feed("position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1\ngo depth 4");
    assert!(out.contains("score mate 1 ") && out.ends_with("bestmove e1e8\n"), "{out}");
    let out = feed("position fen 8/8/8/8/8/1k6/8/K2r4 w - - 0 1\nd");
    assert!(out.contains("Fen: 8/8/8/8/8/1k6/8/K2r4 w - - 0 1"), "{out}");
}

#[test]
fn the_end_of_input_finishes_a_bounded_search() {
    let out = feed("position startpos moves e2e4\ngo depth 5");
    assert!(out.contains("info depth 5 ") && out.contains("bestmove "), "{out}");
    // An unbounded search is stopped.
    for go in ["go infinite", "go", "go ponder depth 3", "go mate 30"] {
        assert_eq!(feed(go).matches("bestmove ").count(), 1, "{go}");
    }
    // Queued commands are executed first.
    let out = feed("go depth 4\nposition startpos moves e2e4\ngo infinite\ngo depth 3\nsetoption name Hash value 3\nd");
    assert_eq!(out.matches("bestmove ").count(), 3, "{out}");
    assert!(out.contains("4P3/8/PPPP1PPP"), "{out}");
}

#[test]
fn bad_input_is_reported_and_changes_nothing() {
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

/// FENs edited by hand keep castling rights and en passant squares. A GUI that sends one would play on with it.
#[test]
fn what_is_not_in_place_in_a_fen_is_ignored() {
    let out = feed(
        "position fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR b KQkq e3 1 2 moves g8f6\nd\n\
         position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e3 0 2\nd",
    );
    let notes: Vec<&str> = out.lines().filter(|line| line.starts_with("info string ")).collect();
    assert_eq!(
        notes,
        [
            "info string ignored in the FEN: bad castling rights \"KQ\": expected castling rights only for a king on \
             its own first rank",
            "info string ignored in the FEN: bad en passant square \"e3\": expected an empty square, with the empty \
             square behind it from which the pawn came",
            "info string ignored in the FEN: bad en passant square \"e3\": expected a square on the third rank with \
             Black to move, or on the sixth with White to move",
        ]
    );
    assert!(out.contains("Fen: rnbqkb1r/pppp1ppp/5n2/4p3/4P3/8/PPPPKPPP/RNBQ1BNR w kq - 2 3\n"), "{out}");
    assert!(out.contains("Fen: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2\n"), "{out}");
}

/// Without the option too, castling is told from the king's move to the same square.
#[test]
fn chess960_castling_is_divided_as_king_takes_rook() {
    let fen = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
    let divided = kiln(&["perft", "1", fen, "--divide"]);
    let out = feed(&format!("position fen {fen}\ngo perft 1\nd"));
    for text in [&divided, &out] {
        assert_eq!((text.matches("f1g1: 1\n").count(), text.matches("f1h1: 1\n").count()), (1, 1), "{text}");
    }
    assert!(out.contains(&format!("Fen: {fen}\n")), "{out}");
    let out = kiln(&["perft", "1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "--divide"]);
    assert!(out.contains("e1g1: 1\n") && !out.contains("e1h1"), "{out}");
}

#[test]
fn long_bad_input_is_not_echoed_whole() {
    let long = "é".repeat(1_000_000);
    for command in [
        "",
        "go depth ",
        "go searchmoves ",
        "go ",
        "bench ",
        "bench 1 ",
        "position startpos moves ",
        "position fen ",
        "position fen 8/8/8/8/8/4k3/4p3/4K3 b - ",
        "setoption name ",
        "setoption name Hash value ",
        "setoption name EvalFile value ",
        "setoption name SyzygyPath value ",
        "setoption name Debug Log File value ",
        "genfens ",
        "genfens 1 seed 1 book ",
    ] {
        let out = feed(&format!("{command}{long}\nstop"));
        let reason = out.lines().find(|line| line.starts_with("info string ")).unwrap_or_else(|| panic!("{command}"));
        assert!(reason.contains("é\"...") && reason.chars().count() < 400, "{command}: {reason}");
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
    let default = default_header();
    let folder = scratch("a folder of  networks");
    let write = |name: &str, hidden: u32| {
        let header = Header { name: name.into(), hidden, ..default.clone() };
        let (path, shape) = (folder.join(name), header.shape().to_string());
        std::fs::write(&path, Asset::random(header, 1).to_bytes()).unwrap();
        (path.display().to_string(), shape)
    };
    let (same, shape) = write("same shape", default.hidden);
    let (other, other_shape) = write("other shape", default.hidden + 32);
    let set = |path: &str| format!("setoption name EvalFile value {path}\neval\n");
    let script = [set(&same), set(&other), set("no such file"), set("<empty>"), set(&same), set("none")].concat();
    let out = feed(&script);
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("network ")).collect();
    let says = |line: &str| line.split(" says ").next().unwrap().to_owned();
    let (is_used, name) =
        (format!("info string network {} is used", default.name), format!("network {}", default.name));
    let expected = [
        ("info string network same shape is used", "network same shape"),
        (&other_shape, "network same shape"),
        ("it cannot be read", "network same shape"),
        (&is_used, &name),
        ("info string network same shape is used", "network same shape"),
        (&is_used, &name),
    ];
    assert_eq!(lines.len(), 2 * expected.len(), "{out}");
    for (pair, (answer, evaluation)) in lines.chunks(2).zip(expected) {
        assert!(pair[0].contains(answer), "{}", pair[0]);
        assert_eq!(says(pair[1]), evaluation);
    }
    assert!(lines[2].contains(&shape) && lines[2].contains("network same shape stays"), "{}", lines[2]);
}

/// Whatever is wrong with a network file, one sentence says so and the network stays, even if the good network from
/// which it was made is in the cache.
#[test]
fn bad_network_files() {
    let folder = scratch("bad networks");
    let name = default_header().name;
    let good = folder.join("good");
    std::fs::write(&good, good_network()).unwrap();
    let out = feed(&format!("setoption name EvalFile value {}", good.display()));
    assert_eq!(out, "info string network to be broken is used\n");
    let mut expected = vec![(folder.clone(), "it is not a regular file")];
    for (i, (bytes, reason)) in bad_networks().into_iter().enumerate() {
        let file = folder.join(format!("file {i}"));
        std::fs::write(&file, bytes).unwrap();
        expected.push((file, reason));
    }
    expected.push((folder.join("file 0/inside"), "it cannot be read: "));
    let script: String =
        expected.iter().map(|(path, _)| format!("setoption name EvalFile value {}\neval\n", path.display())).collect();
    let out = feed(&script);
    let lines: Vec<&str> =
        out.lines().filter(|line| line.trim_start_matches("info string ").starts_with("network")).collect();
    assert_eq!(lines.len(), 2 * expected.len(), "{out}");
    for (pair, (path, reason)) in lines.chunks(2).zip(&expected) {
        let start = format!("info string network {:?} is not used: {reason}", path.display().to_string());
        assert!(
            pair[0].starts_with(&start) && pair[0].ends_with(&format!("; network {name} stays")),
            "{start}: {}",
            pair[0]
        );
        assert!(pair[1].starts_with(&format!("network {name} says ")), "{}", pair[1]);
    }
}

/// A flipped bit is reported, or has no meaning and changes nothing, even if the good network is in the cache.
#[test]
fn bits_flipped_in_a_network() {
    let folder = scratch("flipped networks");
    let asset = Asset::random(Header { name: "to be flipped".into(), ..default_header() }, 1000);
    let good = asset.to_bytes();
    let good_file = folder.join("good");
    std::fs::write(&good_file, &good).unwrap();
    let expected = asset.evaluate(&[(0, 5, 4), (0, 0, 8), (1, 5, 60)], false);
    let bits = (0..8 * good.len()).step_by(8 * good.len() / 60);
    let files = bits.enumerate().map(|(i, bit)| {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let file = folder.join(i.to_string());
        std::fs::write(&file, bytes).unwrap();
        file
    });
    let mut script = String::from("position fen 4k3/8/8/8/8/8/P7/4K3 w - - 0 1\n");
    let files: Vec<_> = std::iter::once(good_file).chain(files).collect();
    for file in &files {
        script +=
            &format!("setoption name EvalFile value {}\neval\nsetoption name EvalFile value none\n", file.display());
    }
    let out = feed(&script);
    let lines: Vec<&str> =
        out.lines().filter(|line| line.trim_start_matches("info string ").starts_with("network")).collect();
    assert_eq!(lines.len(), 3 * files.len(), "{out}");
    let mut refused = 0;
    for lines in lines.chunks(3) {
        if lines[0].contains(" is not used: ") {
            refused += 1;
            let name = default_header().name;
            assert!(lines[1].starts_with(&format!("network {name} says ")), "{}", lines[1]);
        } else {
            assert!(
                lines[1].starts_with("network to be flipped says ") && lines[1].contains(&format!(", cp {expected} ")),
                "{}",
                lines[1]
            );
        }
    }
    assert!(refused > 50, "only {refused} flips were refused");
}

#[test]
fn options_are_listed_set_and_checked() {
    let listed = feed("uci");
    for line in [
        "option name Hash type spin default 16 min 1 max 1048576",
        "option name Clear Hash type button",
        "option name Threads type spin default 1 min 1 max ",
        "option name MultiPV type spin default 1 min 1 max 256",
        "option name Move Overhead type spin default 30 min 0 max 10000",
        "option name Ponder type check default false",
        "option name UCI_Chess960 type check default false",
        "option name UCI_ShowWDL type check default false",
        "option name UCI_LimitStrength type check default false",
        "option name UCI_Elo type spin default 1500 min 200 max 3200",
        "option name EvalFile type string default <empty>",
        "option name SyzygyPath type string default <empty>",
        "option name SyzygyProbeDepth type spin default 1 min 1 max 100",
        "option name SyzygyProbeLimit type spin default 7 min 0 max 7",
        "option name Syzygy50MoveRule type check default true",
        "option name Debug Log File type string default <empty>",
    ] {
        assert!(listed.contains(line), "{line} is not in {listed}");
    }
    // Every option accepts its default, ignores case in its name, and refuses bad values.
    let options = listed.lines().filter_map(|line| line.strip_prefix("option name ")?.split_once(" type "));
    let mut count = 0;
    for (name, kind) in options {
        count += 1;
        let default = kind.split(' ').skip_while(|word| *word != "default").nth(1).unwrap_or_default();
        let out = feed(&format!("setoption name {} value {default}\nisready", name.to_uppercase()));
        let answers: Vec<&str> = out.lines().filter(|line| !line.ends_with(" is used")).collect();
        assert_eq!(answers, ["readyok"], "{name}");
        let least = kind.split_once(" min ").map_or(0, |(_, rest)| rest.split(' ').next().unwrap().parse().unwrap());
        // Only parameters of the search may be negative.
        let too_small = (least.min(0i64) - 1).to_string();
        let (bad, allowed) = match kind.split(' ').next().unwrap() {
            "check" => (vec!["", "maybe", "1"], "expected \"true\" or \"false\""),
            "spin" => (vec!["", "x", &too_small, "1.5", "99999999999999999999999"], "expected a whole number from "),
            _ => continue,
        };
        for value in bad {
            let out = feed(&format!("setoption name {name} value {value}"));
            let start = format!("info string bad value {value:?} for option {name}: {allowed}");
            assert!(out.starts_with(&start) && out.lines().count() == 1, "{out}");
        }
    }
    let out = feed("help");
    assert_eq!(out.lines().skip_while(|line| *line != "options:").skip(1).count(), count, "{out}");
}

#[test]
fn tablebases_are_probed() {
    let out = feed("setoption name SyzygyPath value /no such folder/at all\nsetoption name SyzygyPath value .");
    let start = "info string SyzygyPath stays as it was: ";
    let lines: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix(start)).collect();
    assert!(lines[0].starts_with("cannot read the folder \"/no such folder/at all\": "), "{out}");
    assert!(lines[1].starts_with("no Syzygy tables "), "{out}");

    let Some(folder) = test_data("syzygy") else { return };
    let set = format!("setoption name SyzygyPath value {folder}\n");
    // The root position is in a tablebase.
    for (fen, score, moves) in [
        ("8/8/8/8/8/2k5/8/K1q5 w - - 0 1", "", &["a1a2"][..]),
        ("8/8/8/8/8/1k6/1p6/1K5R b - - 0 1", "score cp -30900", &[][..]),
        ("6k1/8/8/8/8/8/6PK/8 w - - 0 1", "score cp 30900", &["h2g3", "h2h3"][..]),
    ] {
        let out = feed(&format!("{set}position fen {fen}\ngo depth 8"));
        let report = out.lines().rev().find(|line| line.starts_with("info depth")).unwrap();
        let best = out.lines().last().unwrap().split(' ').nth(1).unwrap();
        assert!(report.contains(score) && (moves.is_empty() || moves.contains(&best)), "{fen}: {out}");
        // The root's moves count as hits, each of which is looked up once.
        let root_moves = fen.parse::<Position>().unwrap().moves().len();
        assert_eq!(field(report, "tbhits"), root_moves as u64, "{fen}: {out}");
    }
    // A level that chooses by scores needs those of the search.
    let weak = "setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value";
    let is_known = |elo| {
        let out = feed(&format!("{set}{weak} {elo}\nposition fen 8/8/8/4k3/8/8/8/KQ6 w - - 0 1\ngo depth 3"));
        out.lines().rfind(|line| line.starts_with("info depth")).unwrap().contains("score cp 30900")
    };
    assert!(is_known(2000) && !is_known(1000));
    // One capture from the tablebases: the search probes them, unless the limit forbids it.
    let fen = "8/8/2k5/8/3r4/2K5/1P1N4/8 w - - 0 1";
    let hits = |option: &str| {
        let out = feed(&format!("{set}{option}position fen {fen}\ngo depth 10"));
        let report = out.lines().rev().find(|line| line.starts_with("info depth")).unwrap().to_owned();
        let hits: u64 = report.split(' ').skip_while(|word| *word != "tbhits").nth(1).unwrap().parse().unwrap();
        (hits, report)
    };
    let (all_hits, report) = hits("");
    assert!(all_hits > 0 && report.contains(" pv c3d4"), "{report}");
    assert_eq!(hits("setoption name SyzygyProbeLimit value 0\n").0, 0);
    // Smaller tablebases are probed at any depth.
    assert!(hits("setoption name SyzygyProbeDepth value 100\n").0 < all_hits);
}

#[test]
fn wdl_is_sent_if_set() {
    let out =
        feed("setoption name UCI_ShowWDL value true\ngo depth 3\nsetoption name UCI_ShowWDL value false\ngo depth 1");
    let reports: Vec<&str> = out.lines().filter(|line| line.starts_with("info depth")).collect();
    let (last, with) = reports.split_last().unwrap();
    assert!(!last.contains("wdl") && with.len() == 3);
    for line in with {
        let words: Vec<&str> = line.split(' ').skip_while(|word| *word != "wdl").collect();
        let wdl: Vec<u32> = words[1..4].iter().map(|word| word.parse().unwrap()).collect();
        assert_eq!(wdl.iter().sum::<u32>(), 1000, "{line}");
    }
}

/// Returns the output of a search with limited strength.
fn limited(elo: u32, go: &str) -> String {
    feed(&format!("setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value {elo}\n{go}"))
}

/// Returns the move of a `bestmove` line, the last of an output.
fn best_move(out: &str) -> &str {
    out.lines().last().unwrap().strip_prefix("bestmove ").unwrap().split(' ').next().unwrap()
}

#[test]
fn limited_strength_limits_nodes() {
    let nodes = |elo: u32, go: &str| {
        let out = limited(elo, go);
        let report = out.lines().rev().find(|line| line.starts_with("info depth")).unwrap();
        assert!(report.contains(&format!(" pv {}", best_move(&out))), "{out}");
        field(report, "nodes")
    };
    let clock = "go wtime 60000 btime 60000";
    let [weak, strong] = [200, 2400].map(|elo| nodes(elo, clock));
    assert!(weak <= 100 && strong > 1000 && strong <= 4400, "{weak} {strong}");
    // Helper threads do not add nodes.
    assert!(nodes(200, &format!("setoption name Threads value 4\n{clock}")) <= 100);
    // The greatest level has no limit but that of the command.
    assert_eq!(nodes(3200, "go nodes 90000"), 90_000);
    assert!(nodes(3190, "go nodes 90000") < 80_000);
}

/// Weak levels overlook moves, but only those that the command allows are played, and the lines agree with the move.
#[test]
fn limited_strength_overlooks_moves() {
    let mut played: Vec<String> = (0..20).map(|_| best_move(&limited(200, "go depth 3")).to_owned()).collect();
    played.sort_unstable();
    played.dedup();
    assert!(played.len() > 3, "{played:?}");
    for _ in 0..5 {
        assert_eq!(best_move(&limited(200, "go depth 2 searchmoves a2a3")), "a2a3");
        let out = limited(200, "setoption name MultiPV value 20\ngo movetime 1000 searchmoves a2a3 h2h3 g1h3");
        assert!(["a2a3", "h2h3", "g1h3"].contains(&best_move(&out)), "{out}");
        let first = out.lines().rev().find(|line| line.contains(" multipv 1 ")).unwrap();
        assert!(first.contains(&format!(" pv {}", best_move(&out))), "{out}");
    }
    let mated = "position fen R6k/6pp/8/8/8/8/8/7K b - - 0 1\ngo depth 2";
    assert_eq!(best_move(&limited(200, mated)), "(none)");
}

#[test]
fn analysis_is_not_limited_in_strength() {
    let mut kiln = Kiln::start();
    kiln.send("setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 200\ngo infinite");
    kiln.until_matching(|line| field(line, "nodes") > 1000);
    kiln.send("stop");
    let lines = kiln.until("bestmove");
    let (best, reports) = lines.split_last().unwrap();
    let report = reports.last().unwrap();
    assert!(report.contains(&format!(" pv {}", best.split(' ').nth(1).unwrap())), "{lines:?}");
    assert!(reports.is_sorted_by_key(|line| field(line, "time")), "{lines:?}");
    kiln.quit();
}

/// Returns a number of an `info` line, or 0 if it has none of this name.
fn field(line: &str, name: &str) -> u64 {
    line.split(' ').skip_while(|&word| word != name).nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Returns the moves that were sent.
fn best_moves(out: &str) -> Vec<&str> {
    out.lines().filter_map(|line| line.strip_prefix("bestmove ")?.split(' ').next()).collect()
}

/// A search that has ended while it pondered, or at `ponderhit`, shows its lines again before the move.
#[test]
fn lines_are_sent_again_after_a_wait() {
    let mut kiln = Kiln::start();
    kiln.send("setoption name MultiPV value 2");
    for (go, wait) in [
        ("go ponder depth 3", "ponderhit"),
        ("go ponder wtime 1000 btime 1000", "ponderhit"),
        ("go ponder depth 3", "stop"),
        ("go infinite depth 3", "stop"),
    ] {
        kiln.send(go);
        kiln.until_matching(|line| line.starts_with("info depth 3") && line.contains(" multipv 2 "));
        thread::sleep(Duration::from_millis(100));
        while kiln.output.try_recv().is_ok() {}
        kiln.send(wait);
        let lines = kiln.until("bestmove");
        let [.., first, second, best] = &lines[..] else { panic!("{go}, {wait}: {lines:?}") };
        let best = format!(" pv {}", best.split(' ').nth(1).unwrap());
        assert!(first.contains(" multipv 1 ") && first.contains(&best), "{go}, {wait}: {lines:?}");
        assert!(second.contains(" multipv 2 ") && !second.contains(&best), "{go}, {wait}: {lines:?}");
    }
    kiln.quit();
}

/// A search that is stopped inside an iteration shows all lines, each with another move.
#[test]
fn each_move_has_one_line_at_the_end() {
    let mut kiln = Kiln::start();
    kiln.send("setoption name MultiPV value 3");
    for fen in [
        "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    ] {
        for nodes in (2000..12_000).step_by(700) {
            kiln.send(&format!("position fen {fen}\ngo nodes {nodes}"));
            let lines = kiln.until("bestmove");
            let [.., first, second, third, best] = &lines[..] else { panic!("{lines:?}") };
            let moves =
                [first, second, third].map(|line| line.split(" pv ").nth(1).unwrap().split(' ').next().unwrap());
            assert!(moves[0] != moves[1] && moves[0] != moves[2] && moves[1] != moves[2], "{fen}, {nodes}: {lines:?}");
            assert_eq!(moves[0], best.split(' ').nth(1).unwrap(), "{fen}, {nodes}: {lines:?}");
            for (number, line) in (1..).zip([first, second, third]) {
                assert_eq!(field(line, "multipv"), number, "{fen}, {nodes}: {lines:?}");
                assert!(!line.contains("bound"), "{fen}, {nodes}: {lines:?}");
            }
        }
    }
    kiln.quit();
}

#[test]
fn bad_limits_are_reported_and_the_search_ends() {
    for (go, word) in [("go depth x", "\"x\" after \"depth\""), ("go banana", "\"banana\" after \"go\"")] {
        let start = Instant::now();
        let out = feed(&format!("{go}\nisready"));
        assert!(out.lines().next().unwrap().contains(word) && out.contains("\nbestmove "), "{out}");
        assert_eq!(out.matches("info string").count(), 2, "{out}");
        assert!(start.elapsed() > Duration::from_millis(900), "{out}");
    }
    // Another limit counts.
    let out = feed("go depth x nodes 500");
    assert!(out.contains("\nbestmove ") && !out.contains("1000 ms"), "{out}");
}

#[test]
fn perft_refuses_depths_out_of_range() {
    let expected = "the depth of perft must be from 1 to 99";
    for command in ["perft 100", "go perft 99999", "perft 4294967296", "perft 0", "go perft -1"] {
        assert_eq!(feed(command), format!("info string {expected}\n"), "{command}");
    }
    for depth in ["3000", "0", "99999999999"] {
        assert_eq!(refusal(&["perft", depth]), expected);
    }
}

#[test]
fn bench_refuses_depths_out_of_range_and_further_words() {
    let range = "the depth of bench must be from 1 to 200";
    let extra = "unexpected word \"2\": \"bench\" takes only a depth";
    for (words, expected) in [("bench 0", range), ("bench 201", range), ("bench 1 2", extra)] {
        assert_eq!(feed(words), format!("info string {expected}\n"));
        assert_eq!(refusal(&words.split(' ').collect::<Vec<_>>()), expected);
    }
}

#[test]
fn perft_bench_and_genfens_can_be_stopped() {
    let mut kiln = Kiln::start();
    for (command, stopped) in [
        ("go perft 50", "info string perft was stopped"),
        ("bench 200", "info string bench was stopped"),
        ("genfens 1000000000 seed 1 book None", "info string stopped after "),
    ] {
        kiln.send(command);
        kiln.ask("isready", "readyok");
        kiln.send("stop");
        let lines = kiln.until(stopped);
        assert!(!lines.iter().any(|line| line.ends_with(" nps")), "{lines:?}");
        kiln.ask("go depth 2", "bestmove");
    }
    // Work stops within a position too.
    kiln.send("bench 40");
    thread::sleep(Duration::from_millis(100));
    kiln.ask("stop", "info string bench was stopped");
    kiln.quit();
}

/// Scripts send a command and `quit` at once.
#[test]
fn quit_waits_for_perft_bench_and_genfens_but_a_second_does_not() {
    assert!(feed("perft 5\nquit").ends_with("Nodes searched: 4865609\n"));
    let bench = feed("bench 5\nquit");
    assert!(bench.ends_with(" nps\n") && bench.lines().count() == 17, "{bench}");
    assert_eq!(feed("genfens 50 seed 1 book None\nquit").matches("info string genfens ").count(), 50);
    for command in ["perft 50", "bench 200", "genfens 1000000000 seed 1 book None"] {
        let mut kiln = Kiln::start();
        kiln.send(command);
        kiln.send("quit");
        kiln.ask("isready", "readyok");
        kiln.send("quit");
        kiln.until_matching(|line| line.contains(" stopped"));
        assert!(kiln.process.wait().unwrap().success());
    }
}

#[test]
fn the_debug_log_has_input_and_output() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("debug log {}", std::process::id()));
    let name = path.display();
    let set = "setoption name Debug Log File value";
    feed(&format!("{set} {name}\nisready\n{set} <empty>\nuci\n{set} {name}\ngo depth 1"));
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let (times, entries): (Vec<&str>, Vec<&str>) = log.lines().map(|line| line.split_at(13)).unzip();
    assert!(times.iter().all(|time| time.bytes().filter(u8::is_ascii_digit).count() == 9), "{log}");
    assert_eq!(entries[..3], [">> isready", "<< readyok", ">> setoption name Debug Log File value <empty>"], "{log}");
    assert_eq!(entries[3], ">> go depth 1", "{log}");
    assert!(entries[4].starts_with("<< info depth 1 ") && entries.last().unwrap().starts_with("<< bestmove"), "{log}");
    let out = feed(&format!("{set} {}", env!("CARGO_TARGET_TMPDIR")));
    assert!(out.starts_with("info string cannot write the debug log "), "{out}");
}

#[test]
fn own_commands() {
    let out = feed("perft 3\nlicense\neval\nbench 1\ndebug on\nregister later\nnonsense eval");
    assert!(out.contains("Nodes searched: 8902") && out.contains("Permission is hereby granted"), "{out}");
    assert!(out.contains("Copyright (c) Meta Platforms, Inc. and affiliates."), "{out}");
    assert_eq!(out.matches(&format!("network {} says ", default_header().name)).count(), 2, "{out}");
    assert!(out.contains(" nps\n") && !out.contains("info string"), "{out}");
}

#[test]
fn a_game_of_a_hundred_thousand_plies() {
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(25_000).join(" ");
    let mut kiln = Kiln::start();
    kiln.ask("isready", "readyok");
    let start = Instant::now();
    kiln.send(&format!("position startpos moves {moves}\nd"));
    let lines = kiln.until("Fen:");
    assert!(lines.last().unwrap().ends_with("KQkq - 65535 50001"), "{lines:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    kiln.ask("go depth 2", "bestmove");
    kiln.quit();
}

#[test]
fn stop_stops_all_threads() {
    let mut kiln = Kiln::start();
    kiln.send("setoption name Threads value 4");
    for _ in 0..5 {
        kiln.send("go infinite");
        kiln.until("info depth 4 ");
        let sent = Instant::now();
        kiln.ask("stop", "bestmove");
        // 0.5 ms is usual, but tests run in parallel.
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
    }
    kiln.quit();
}

#[test]
fn every_search_sends_one_move() {
    const COMMANDS: [&str; 16] = [
        "stop",
        "ponderhit",
        "isready",
        "go depth 3",
        "go nodes 300",
        "go infinite",
        "go ponder depth 2",
        "go ponder wtime 50 btime 50",
        "go searchmoves e2e4 a7a5 depth 2",
        "go wtime 60 winc 3",
        "position startpos moves e2e4",
        "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "setoption name MultiPV value 3",
        "setoption name Threads value 2",
        "setoption name UCI_LimitStrength value true",
        "ucinewgame",
    ];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    for _ in 0..40 {
        let script: Vec<&str> = (0..20).map(|_| COMMANDS[random.next_u32() as usize % COMMANDS.len()]).collect();
        let out = feed(&script.join("\n"));
        let count =
            |start: &str, lines: &mut dyn Iterator<Item = &str>| lines.filter(|line| line.starts_with(start)).count();
        let searches = count("go", &mut script.iter().copied());
        assert_eq!(count("bestmove", &mut out.lines()), searches, "{script:?}\n{out}");
        assert_eq!(count("readyok", &mut out.lines()), count("isready", &mut script.iter().copied()));
    }
}

/// The first access to a page waits for the system, which must not happen during a search.
#[cfg(target_os = "linux")]
#[test]
fn the_hash_is_in_memory_before_a_search() {
    let mut kiln = Kiln::start();
    for (line, megabytes) in [("ucinewgame", 16), ("setoption name Hash value 64", 64)] {
        kiln.send(line);
        kiln.ask("isready", "readyok");
        let resident = crate::common::resident_kilobytes(&kiln.process);
        assert!(resident >= megabytes << 10, "{line}: {resident} kB");
    }
    kiln.quit();
}

#[test]
fn short_clocks_end_the_search() {
    let start = Instant::now();
    let out = feed("setoption name Move Overhead value 0\ngo wtime 300 btime 1 winc 0 binc 0");
    assert!(out.contains("bestmove"), "{out}");
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn commands_as_arguments() {
    assert!(kiln(&["perft", "3"]).starts_with("8902 nodes "));
    let divided = kiln(&["perft", "3", "--divide", "--threads", "3"]);
    assert!(divided.contains("b1c3: 440\n") && divided.contains("\n8902 nodes "));
    assert_eq!(divided.lines().count(), 22);
    assert!(kiln(&["perft", "2", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"]).starts_with("191 nodes "));
    assert!(kiln(&["tables"]).contains("slider_attacks"));
    for (bad, reason) in [
        (&["perft", "x"][..], "bad depth \"x\": expected a whole number"),
        (&["perft", "1", "8/8"], "four to six fields"),
        (&["perft", "1", "--threads", "0"], "bad value \"0\" for --threads: expected a whole number from 1 to 1024"),
        (&["bench", "--divide"], "are for perft"),
        (&["nonsense"], "unknown command \"nonsense\""),
        (&["analyze", "--depth", "3"], "unknown command \"analyze\""),
        (&["--nonsense"], "--nonsense"),
    ] {
        let error = refusal(bad);
        assert!(error.contains(reason), "{bad:?}: {error}");
    }
}

/// The signature of this version. A refactoring does not change it, and all backends agree.
#[test]
fn bench_signature() {
    const SIGNATURE: u64 = 2_244_871;
    let text = kiln(&["bench"]);
    let last: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert_eq!((last[0].parse(), last[1], last[3]), (Ok(SIGNATURE), "nodes", "nps"), "{text}");
}
