//! Programs that drive engines, tested with the built binary. Each test is skipped, with a message, if its program is
//! not installed.

use crate::common::skipped;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const KILN: &str = env!("CARGO_BIN_EXE_kiln");

/// Runs a program and returns its output; `None` if it cannot be started.
fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn python_chess(tasks: &[&str]) {
    if run("python3", &["-c", "import chess.engine"]).is_none_or(|output| !output.status.success()) {
        return skipped("python3 with the package chess is not installed");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/python_chess.py");
    let script = script.to_str().expect("the path of the repository is UTF-8");
    let output = run("python3", &[&[script, KILN], tasks].concat()).expect("python3 has just been started");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().collect::<Vec<_>>(), tasks);
}

#[test]
fn python_chess_analyses_and_plays() {
    python_chess(&["analysis", "wdl", "play", "chess960"]);
}

#[test]
fn python_chess_uses_multi_pv_and_searchmoves() {
    python_chess(&["multi_pv", "root_moves"]);
}

#[test]
fn fastchess_compliance() {
    let Some(output) = run("fastchess", &["--compliance", KILN]) else {
        return skipped("fastchess is not installed");
    };
    let text = text(&output);
    assert!(output.status.success() && text.contains("passed all compliance checks"), "{text}");
    assert!(!text.contains("Failed"), "{text}");
}
