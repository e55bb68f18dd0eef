//! `kiln tune`, tested through the built binary.

use crate::common::{kiln, refusal, scratch};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::{thread, time::Duration};

const RUY_LOPEZ: &str = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq -";
const CARO_KANN: &str = "rnbqkbnr/pp2pppp/2p5/3p4/3PP3/8/PPP2PPP/RNBQKBNR w KQkq -";

/// Returns the arguments of a small run into a folder, followed by more. The book is in the folder.
fn words(folder: &Path, more: &str) -> Vec<String> {
    let book = folder.join("book.epd");
    fs::write(&book, format!("{RUY_LOPEZ}\n{CARO_KANN}\n")).unwrap();
    let [folder, book] = [folder, &book].map(|path| path.to_str().unwrap());
    let words = ["tune", folder, "--book", book, "--nodes", "40", "--rate", "0.1"];
    words.into_iter().chain(more.split(' ')).map(String::from).collect()
}

fn state(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(folder.join("state.json")).unwrap()).unwrap()
}

#[test]
fn a_run_resumes_extends_and_refuses_other_settings() {
    let folder = scratch("run");
    let text = kiln(&words(&folder, "--games 11 --parameters lmr_*,iir_depth"));
    assert!(text.starts_with("12 games, "), "{text}");
    let list = fs::read_to_string(folder.join("parameters.txt")).unwrap();
    assert!(list.contains("iir_depth = ") && list.lines().all(|line| line.split("  ").count() == 3), "{list}");
    assert_eq!(
        fs::read_to_string(folder.join("paths.svg")).unwrap().matches("<polyline").count(),
        list.lines().count()
    );
    let text = kiln(&words(&folder, "--games 20 --parameters lmr_*,iir_depth --threads 2"));
    assert!(text.starts_with("12 of 20 games are played\n20 games, "), "{text}");
    assert_eq!((&state(&folder)["played"], &state(&folder)["drawn"]), (&10.into(), &10.into()));
    // Nothing is left to do.
    let text = kiln(&words(&folder, "--games 20 --parameters lmr_*,iir_depth"));
    assert!(text.starts_with("20 of 20 games are played\n20 games, "), "{text}");
    let error = refusal(&words(&folder, "--games 20 --parameters lmr_*"));
    assert!(error.contains("state.json: this run has other parameters"), "{error}");
    let error = refusal(&words(&folder, "--games 20 --parameters lmr_*,iir_depth --nodes 41"));
    assert!(error.ends_with("state.json: this run has nodes 40, not 41; use another folder"), "{error}");
    fs::write(folder.join("state.json"), "{}").unwrap();
    let error = refusal(&words(&folder, "--games 20"));
    assert!(error.contains("state.json: it is not the state of a run: "), "{error}");
}

/// Both runs have one thread, so that their pairs and the order of the results are the same.
#[cfg(unix)]
#[test]
fn a_run_that_was_stopped_ends_like_one_that_was_not() {
    let [stopped, other] = ["stopped", "not stopped"].map(scratch);
    let games = "--games 300";
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let process = command.args(words(&stopped, games)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The file is made when a signal no longer ends the process at once.
    while !stopped.join("lock").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(300));
    assert!(refusal(&words(&stopped, games)).ends_with("another kiln tune is working in this folder"));
    assert!(Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap().success());
    let error = String::from_utf8(process.wait_with_output().unwrap().stderr).unwrap();
    assert!(error.ends_with(" of 300 games; the same command goes on\n"), "{error}");
    let played = state(&stopped)["played"].as_u64().unwrap();
    assert!(played < 150 && state(&stopped)["drawn"] == played);
    for folder in [&stopped, &other] {
        kiln(&words(folder, games));
    }
    let lists = [&stopped, &other].map(|folder| fs::read_to_string(folder.join("parameters.txt")).unwrap());
    assert_eq!(lists[0], lists[1]);
}

#[test]
fn sides_that_change_places_change_the_sign() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["tune-games", "lmr_base", "rfp_factor"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    for nodes in 200..220 {
        for values in ["500,20 2000,200", "2000,200 500,20", "500,20 500,20"] {
            writeln!(input, "{nodes} {values} {RUY_LOPEZ} 0 1").unwrap();
        }
    }
    drop(input);
    let output = String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap();
    let results: Vec<i32> = output.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(results.len(), 60);
    assert!(results.chunks(3).all(|of| of[0] == -of[1] && of[2] == 0), "{results:?}");
    assert!(results.iter().any(|&result| result != 0), "the values have an effect");
}

#[test]
fn the_side_that_keeps_its_clock_wins_pairs() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["tune-games", "time_most", "time_hard", "time_soft"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The second side may search ten times the nodes on its clock, and soon has none left.
    let (good, bad) = ("667,5000,750", "10000,100000,100000");
    let mut input = process.stdin.take().unwrap();
    for values in [format!("{good} {bad}"), format!("{bad} {good}")] {
        writeln!(input, "2000+40 {values} {RUY_LOPEZ} 0 1").unwrap();
    }
    drop(input);
    let output = String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(output, "2\n-2\n");
}

#[test]
fn spsa_is_in_the_help() {
    assert!(kiln(&["compiler", "help"]).contains("\nspsa  "));
    assert!(kiln(&["spsa"]).contains("lmr_base, int, "));
}

#[test]
fn bad_arguments_are_refused() {
    let folder = scratch("arguments");
    for (more, expected) in [
        ("--games 1", "bad value \"1\" for --games: expected a whole number from 2 to 1000000000"),
        ("--games 4 --rate 0", "bad value \"0\" for --rate: expected a number above 0, at most 1"),
        ("--games 4 --rate NaN", "expected a number above 0, at most 1"),
        ("--games 4 --parameters lmr_*,nonsense", "\"nonsense\" matches no parameter"),
        ("--games 4 --parameters time_soft", "\"time_soft\" has no effect at a fixed number of nodes"),
        ("--games 4 --parameters time_soft,vote_base --nodes 9000+90", "\"vote_base\" has no effect on one thread"),
        ("--games 4 --nodes 9000+", "such as 8000 or 300000+3000"),
        ("--games 4 --threads 0", "expected a whole number from 1 to "),
        ("--games 4 --jobs 2", "invalid option '--jobs'"),
        ("--games 4 --book none.epd", "cannot read the book \"none.epd\""),
        ("--nodes 50", "tune needs --games"),
    ] {
        let error = refusal(&words(&folder, more));
        assert!(error.contains(expected), "{more}: {error}");
    }
    assert!(refusal(&["tune"]).starts_with("tune needs a folder"));
    assert!(refusal(&["tune", "folder", "--games", "4"]).starts_with("tune needs --book"));
    assert!(kiln(&["tune", "--help"]).contains("kiln tune FOLDER"));
}
