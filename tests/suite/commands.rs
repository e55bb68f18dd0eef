//! The commands genfens, analyse and speedtest, and UCI commands as arguments, tested through the built binary.

use crate::common::{kiln, refusal, run};
use kiln::board::Position;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the openings as OpenBench reads them: the words after `info string genfens`, the last two being numbers.
fn openings(request: &str) -> Vec<Position> {
    let out = kiln(&[request, "quit"]);
    let fens = out.lines().filter_map(|line| line.strip_prefix("info string genfens "));
    let position = |fen: &str| {
        assert!(fen.split(' ').skip(4).all(|number| number.parse::<u32>().is_ok()), "{fen}");
        fen.parse::<Position>().unwrap_or_else(|error| panic!("{fen}: {error}"))
    };
    fens.map(position).collect()
}

#[test]
fn the_version_names_network_instructions_and_compiler() {
    let text = kiln(&["--version"]);
    let lines: Vec<&str> = text.lines().collect();
    let [version, network, instructions, compiler] = lines[..] else { panic!("{text}") };
    assert!(version.starts_with(concat!("Kiln ", env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(network.starts_with("network ") && network.contains(kiln::nnue::Network::embedded().name()), "{text}");
    assert!(instructions.starts_with("instructions "), "{text}");
    assert!(instructions.ends_with(kiln::simd::NAME) || instructions.contains(" with "), "{text}");
    assert!(compiler.starts_with("compiled by rustc "), "{text}");
    assert_eq!(kiln(&["compiler"]), text);
}

#[test]
fn openings_without_a_book() {
    let found = openings("genfens 20 seed 1 book None");
    assert_eq!(found.len(), 20);
    assert_eq!(found, openings("genfens 20 seed 1 book None"), "equal seeds");
    assert_ne!(found, openings("genfens 20 seed 18446744073709551615 book None"), "other seeds");
    assert!(found.iter().all(|position| position.has_legal_move()));
    let ply = |position: &Position| 2 * usize::from(position.fullmove_number()) + position.side_to_move().index() - 2;
    assert!(found.iter().all(|position| (8..=9).contains(&ply(position))));
    assert!([8, 9].iter().all(|wanted| found.iter().any(|position| ply(position) == *wanted)), "both sides to move");
}

#[test]
fn openings_from_a_book() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    // An EPD with operations, an empty line, a FEN, and a FEN of Chess960.
    let lines = [
        "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - hmvc 3; id \"Ruy Lopez\";",
        "",
        "rnbqkbnr/pp2pppp/2p5/3p4/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    ];
    let book = folder.join("book.epd");
    fs::write(&book, lines.join("\r\n")).unwrap();
    let found = openings(&format!("genfens 12 seed 3 book {} and what else", book.display()));
    assert_eq!(found.len(), 12);
    let bad = folder.join("bad.epd");
    fs::write(&bad, "[Event \"?\"]\n").unwrap();
    let answer = |book: &str| refusal(&[&format!("genfens 1 seed 1 book {book}"), "quit"]);
    assert!(answer(bad.to_str().unwrap()).contains("is no position: "));
    assert!(answer("nowhere.epd").starts_with("cannot read the book \"nowhere.epd\": "));
    for words in
        [&["genfens 3 seed 1 book nowhere.epd"][..], &["genfens", "3", "seed", "1", "book", "nowhere.epd", "quit"]]
    {
        assert!(refusal(words).starts_with("cannot read the book \"nowhere.epd\": "), "{words:?}");
    }
    assert!(refusal(&["genfens 3", "quit"]).starts_with("expected \"genfens N seed S book FILE\""));
    assert!(refusal(&["isready", "genfens 1 seed 1 book nowhere.epd", "bench 1"]).starts_with("cannot read the book"));
    fs::write(&bad, "\n\n").unwrap();
    assert!(answer(bad.to_str().unwrap()).contains("is empty: expected a FEN or EPD in each line"));
    // A decided position.
    fs::write(&bad, "7k/8/8/8/8/8/8/KQQQQQQ1 w - - 0 1\n").unwrap();
    assert!(answer(bad.to_str().unwrap()).starts_with("no balanced opening"));
}

#[test]
fn commands_as_arguments() {
    let quoted = kiln(&["position startpos moves e2e4", "go depth 3"]);
    let best = |out: &str| out.lines().last().unwrap().split(' ').next() == Some("bestmove");
    assert!(best(&quoted) && best(&kiln(&["position", "startpos", "moves", "e2e4", "go", "depth", "3"])));
    assert!(kiln(&["uci", "quit"]).ends_with("uciok\n"));
    assert!(refusal(&["no such command"]).contains("\"kiln help\" lists the commands"));
    assert_eq!(kiln(&["help", "datagen"]), kiln(&["help"]));
    assert!(kiln(&["bench", "quit"]).contains(" nodes "));
    // The `d` in the FEN is no command.
    let drawn = kiln(&"position fen 3rk3/8/8/8/8/8/8/4K3 b d - 0 1 d".split(' ').collect::<Vec<_>>());
    assert!(drawn.contains("3rk3/8/8/8/8/8/8/4K3 b "), "{drawn}");
    for perft in ["go perft 2", "go perft 2 quit", "position startpos go perft 2"] {
        assert!(kiln(&perft.split(' ').collect::<Vec<_>>()).ends_with("\nNodes searched: 400\n"), "{perft}");
    }
    assert!(kiln(&["go", "perft 2"]).ends_with("\nNodes searched: 400\n"));
    // `quit` waits for a search that ends by itself.
    let searched = kiln(&["go", "depth", "5", "quit"]);
    assert!(searched.contains("info depth 5 ") && best(&searched), "{searched}");
    for unbounded in ["go infinite", "go infinite quit", "go infinite stop", "go depth 99 stop isready"] {
        assert_eq!(kiln(&unbounded.split(' ').collect::<Vec<_>>()).matches("bestmove ").count(), 1, "{unbounded}");
    }
}

#[test]
fn a_rejected_argument_ends_the_commands() {
    for (words, expected) in [
        ("setoption name EvalFile value missing.nnue bench 1", "network \"missing.nnue\" is not used: "),
        ("setoption name Hash value 0 go depth 1", "bad value \"0\" for option Hash: "),
        ("position fen xx go depth 1", "bad FEN \"xx\": "),
        ("position startpos moves e2e5 go depth 1", "illegal move \"e2e5\" in "),
        ("go depth x", "bad number \"x\" after \"depth\""),
        ("go banana depth 1", "unknown word \"banana\" after \"go\""),
        ("go searchmoves e2e5 depth 1", "illegal move \"e2e5\" after \"searchmoves\""),
        ("go perft 0 d", "the depth of perft must be from 1 to 99"),
        ("bench 0 d", "the depth of bench must be from 1 to 200"),
        ("bench 1 go depth x", "bad number \"x\" after \"depth\""),
    ] {
        let (succeeded, out, error) = run(&words.split(' ').collect::<Vec<_>>());
        assert!(
            !succeeded && out.is_empty() && error.starts_with(&format!("kiln: {expected}")),
            "{words}: {error}{out}"
        );
    }
    // What comes before is executed.
    let (succeeded, out, error) = run(&["go depth 2", "position startpos moves e2e5", "eval"]);
    assert!(!succeeded && out.lines().last().unwrap().starts_with("bestmove "), "{error}{out}");
}

#[test]
fn an_analysis_ends_when_nobody_reads() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let mut child = command.arg("analyse").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn an_analysis_without_a_terminal() {
    let out = kiln(&["analyse", "--depth", "4", "startpos", "moves", "1.", "e4", "e5", "2.Ngf3", "b8c6"]);
    assert!(out.contains("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\n"), "{out}");
    let depths: Vec<&str> = out.lines().filter(|line| line.starts_with("depth ")).collect();
    assert!(depths.len() >= 4 && depths.iter().all(|line| line.contains(" %  3. ")), "{out}");
    let last = out.lines().last().unwrap();
    assert!(last.starts_with("Best move: ") && last.contains("depth 4"), "{last}");
    let mate = kiln(&["analyse", "--depth", "3", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"]);
    assert!(mate.lines().last().unwrap().starts_with("Best move: Ra8# (a1a8); #1  White 100 %"), "{mate}");
    // Moves may be written with more of the origin than needed, or as UCI does, castling and promotion too.
    let moved = |fen, mv| kiln(&["analyse", "--depth", "1", fen, "moves", mv]);
    let castled = moved("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1");
    assert!(castled.contains("4k3/8/8/8/8/8/8/5RK1 b - - 1 1\n"), "{castled}");
    let promoted = moved("k7/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8n");
    assert!(promoted.contains("k3N3/8/8/8/8/8/8/4K3 b - - 0 1\n"), "{promoted}");
    let (succeeded, out, note) = run(&["analyse", "--depth", "1", "4k3/8/8/8/8/8/8/4K2R w KQkq e3 0 1"]);
    assert!(succeeded && out.contains("\n4k3/8/8/8/8/8/8/4K2R w K - 0 1\n"), "{out}");
    assert!(note.starts_with("kiln: ignored in the FEN: bad castling rights \"Qkq\": ") && note.lines().count() == 2);
    let over = |fen| kiln(&["analyse", fen]).lines().last().map(String::from);
    assert_eq!(over("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1").unwrap(), "Checkmate: White has won.");
    assert_eq!(over("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1").unwrap(), "Stalemate.");
    for (bad, expected) in [
        (vec!["8/8 w"], "bad FEN \"8/8 w\""),
        (vec!["moves", "e4", "e4"], "illegal move \"e4\""),
        (vec!["--time", "0"], "bad value \"0\" for --time: expected a time in seconds"),
        (vec!["--lines", "0"], "bad value \"0\" for --lines: expected a whole number from 1 to 256"),
    ] {
        let error = refusal(&[&["analyse"], &bad[..]].concat());
        assert!(error.contains(expected), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_an_analysis_with_its_result() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["analyse", "--hash", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut out = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("depth  3") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the analysis goes on until it is stopped");
    }
    assert!(Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.lines().last().unwrap().starts_with("Best move: "), "{rest}");
    assert!(process.wait().unwrap().success());
}

/// The first access to a page waits for the system, which must not happen while the time runs.
#[cfg(target_os = "linux")]
#[test]
fn the_hash_is_in_memory_before_a_timed_analysis() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["analyse", "--time", "1000", "--hash", "256"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let report = lines.map_while(Result::ok).find(|line| line.starts_with("depth "));
    let resident = crate::common::resident_kilobytes(&process);
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(report.is_some());
    assert!(resident >= 256 << 10, "{resident} kB");
}

#[test]
fn a_speedtest_ends_with_nodes_and_nps() {
    let out = kiln(&["speedtest", "1", "1", "1"]);
    let last: Vec<&str> = out.lines().last().unwrap().split(' ').collect();
    assert!(last.len() == 4 && last[1] == "nodes" && last[3] == "nps", "{out}");
    assert!(refusal(&["speedtest", "0"]).contains("expected a whole number from 1 to 1024"));
    assert!(refusal(&["speedtest", "1", "1", "1", "1"]).contains("kiln speedtest 2 256 30"));
}
