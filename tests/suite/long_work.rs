//! Long commands: how they end by Ctrl-C, what they print meanwhile, and colours in a terminal.

use crate::common::{kiln, scratch, skipped};
use kiln::data::{SUFFIX, Sidecar, shards};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn spawn<T: AsRef<OsStr>>(arguments: &[T]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Starts data generation in a folder and waits until it is at work.
fn start_datagen(folder: &Path, settings: &str) -> Child {
    let _ = fs::remove_file(folder.join("lock"));
    let mut words = vec!["datagen", folder.to_str().unwrap()];
    words.extend(settings.split(' '));
    let child = spawn(&words);
    let start = Instant::now();
    while !folder.join("lock").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the run does not start");
        thread::sleep(Duration::from_millis(1));
    }
    child
}

/// Returns the number of positions in the shards of a folder, after checking them.
fn positions(folder: &Path) -> u64 {
    kiln(&["data".as_ref(), "verify".as_ref(), folder.as_os_str()]);
    let files = shards(folder).unwrap();
    files.iter().map(|file| Sidecar::read(file).unwrap().unwrap().positions).sum()
}

#[test]
fn ctrl_c_keeps_the_games_of_unfinished_shards() {
    let (stopped, whole) = (scratch("stopped"), scratch("whole"));
    let settings = "--positions 1600 --shard 800 --nodes 1000 --hash 1 --threads 2";
    let mut kept = 0;
    // The second run is stopped sooner, and what the first has kept stays.
    for milliseconds in [400, 100] {
        let child = start_datagen(&stopped, settings);
        thread::sleep(Duration::from_millis(milliseconds));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.starts_with("stopping after the current games; Ctrl-C ends at once\n"), "{error}");
        let last = error.lines().last().unwrap();
        let expected = format!("kiln: {}: stopped: 0 of 2 shards are complete, with 0 positions; ", stopped.display());
        assert!(last.starts_with(&expected) && last.contains("the same command goes on with the others; "), "{last}");
        let found = positions(&stopped);
        assert!(last.contains(&format!(" unfinished with {found} positions are kept until then")), "{found}: {last}");
        assert!(found > 0 && found >= kept, "{found} of {kept} positions are left");
        kept = found;
    }
    for folder in [&stopped, &whole] {
        let words: Vec<&str> = settings.split(' ').collect();
        kiln(&[&["datagen", folder.to_str().unwrap()], &words[..]].concat());
    }
    for file in shards(&whole).unwrap() {
        assert!(file.to_str().unwrap().ends_with(SUFFIX));
        let name = file.file_name().unwrap();
        assert!(fs::read(&file).unwrap() == fs::read(stopped.join(name)).unwrap(), "{name:?}");
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let folder = scratch("at once");
    // The first move alone takes longer than this test.
    let mut child = start_datagen(&folder, "--positions 1000 --nodes 1000000000 --hash 1");
    // Off a terminal, a line comes now and then.
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("0/1000, 0/s, 0 % drawn, "), "{line}");
    interrupt(&child);
    let mut error = BufReader::new(child.stderr.take().unwrap());
    line.clear();
    error.read_line(&mut line).unwrap();
    assert_eq!(line, "stopping after the current games; Ctrl-C ends at once\n");
    assert_eq!(child.try_wait().unwrap(), None);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn perft_tells_how_far_it_is() {
    let mut child = spawn(&["perft", "12"]);
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    assert!(line.contains(" of 400 parts, ") && line.contains(" leaves"), "{line}");
    assert_eq!(out, "", "standard output is for the result");
}

/// Runs `kiln` in a pseudoterminal and returns its output, or `None` without the program `script`.
#[cfg(target_os = "linux")]
fn in_a_terminal(arguments: &str, no_color: bool) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("'{}' {arguments}", env!("CARGO_BIN_EXE_kiln")), "/dev/null"]);
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").stdin(Stdio::null());
    if no_color {
        command.env("NO_COLOR", "1");
    }
    let Ok(output) = command.output() else {
        skipped("the program script is not installed");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}

#[cfg(target_os = "linux")]
#[test]
fn boards_are_coloured_in_a_terminal_only() {
    for words in ["d", "eval", "tables rook e4 e6", "tables superpiece d4", "tables"] {
        let plain = kiln(&words.split(' ').collect::<Vec<_>>());
        assert!(!plain.contains('\x1b') && plain.is_ascii(), "{plain}");
        let (Some(colored), Some(uncolored)) = (in_a_terminal(words, false), in_a_terminal(words, true)) else {
            return;
        };
        assert_eq!(uncolored, plain, "{words}");
        assert!(colored.contains("\x1b["), "{words}: {colored:?}");
        let has_board = words != "tables";
        assert_eq!(colored.contains("\x1b[1;38;5;231;48;5;"), has_board, "{words}: {colored:?}");
        let has_figurines = ["d", "eval"].contains(&words);
        assert_eq!(colored.contains('♞'), has_figurines, "{words}: {colored:?}");
        // What is below the board stays.
        let last = plain.lines().last().unwrap();
        let text = console::strip_ansi_codes(&colored).into_owned();
        assert!(text.trim_end().ends_with(last), "{words}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80 || plain.contains(line)), "{text}");
    }
    let Some(analysis) = in_a_terminal("analyse --depth 4", false) else { return };
    assert!(analysis.contains('♚') && analysis.contains("\x1b[1;38;5;231;48;5;60m ♜ "), "{analysis:?}");
    let last = console::strip_ansi_codes(analysis.trim_end().lines().last().unwrap()).into_owned();
    assert!(last.starts_with("Best move: ") && last.contains("depth 4"), "{last}");
    let Some(analysis) = in_a_terminal("analyse --depth 4", true) else { return };
    // The lines are redrawn, but not coloured.
    let is_coloured = ["\x1b[1m", "\x1b[2m", "\x1b[1;"].iter().any(|code| analysis.contains(code));
    assert!(analysis.contains("8  r n b q k b n r\n") && !is_coloured, "{analysis:?}");
}
