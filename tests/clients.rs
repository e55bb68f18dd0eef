//! Programs that drive engines, tried on the built binary. Each test is skipped, and says so, where its program is not installed.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const KILN: &str = env!("CARGO_BIN_EXE_kiln");

/// What the program does; none if there is no such program.
fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn python_chess(tasks: &[&str]) {
    if run("python3", &["-c", "import chess.engine"]).is_none_or(|output| !output.status.success()) {
        return eprintln!("skipped: there is no python3 with the package chess");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/python_chess.py");
    let script = script.to_str().expect("the repository lies at a path that is text");
    let output = run("python3", &[&[script, KILN], tasks].concat()).expect("python3 was there a moment ago");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), tasks);
}

#[test]
fn python_chess_analyses_and_plays() {
    python_chess(&["analysis", "chances", "play", "chess960"]);
}

#[test]
fn python_chess_asks_for_several_lines_and_few_moves() {
    python_chess(&["lines", "root_moves"]);
}

#[test]
fn fastchess_finds_it_compliant() {
    let Some(output) = run("fastchess", &["--compliance", KILN]) else {
        return eprintln!("skipped: there is no fastchess");
    };
    let text = text(&output);
    assert!(output.status.success() && text.contains("passed all compliance checks"), "{text}");
    assert!(!text.contains("Failed"), "{text}");
}
