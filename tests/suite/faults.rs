//! Failures of the environment: no memory, a full disk, a closed output, a kill at any moment.

use crate::common::{default_header, default_network, kiln, scratch};
use kiln_gen::network::{Asset, Header};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Runs the binary in a shell after the command `setup`. Returns whether it succeeded, its standard output and
/// its standard error.
fn after(setup: &str, arguments: &str, input: &str) -> (bool, String, String) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{setup}; exec \"$0\" {arguments}"), env!("CARGO_BIN_EXE_kiln")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Write from another thread, because the output must be read meanwhile.
    let input = input.to_owned();
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // An error means that the binary has exited.
    let _ = writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// Runs the binary as if the disk were full after `blocks` * 512 bytes of a file.
fn full_after(blocks: u32, arguments: &str) -> (bool, String, String) {
    after(&format!("trap '' XFSZ; ulimit -f {blocks}"), arguments, "")
}

/// Removes the fields that change from run to run.
fn without_times(out: &str) -> Vec<String> {
    let words = |line: &str| {
        let mut words: Vec<&str> = line.split(' ').collect();
        for timed in ["nps", "time"] {
            if let Some(place) = words.iter().position(|word| *word == timed) {
                words.drain(place..place + 2);
            }
        }
        words.join(" ")
    };
    out.lines().map(words).collect()
}

#[test]
fn options_that_need_too_much_memory_change_nothing() {
    let searches = |between: &str| format!("setoption name Hash value 8\ngo depth 9\n{between}go depth 9\n");
    let limit = "ulimit -v 2000000";
    let (_, expected, _) = after(limit, "", &searches(""));
    let asks = [("Hash value 100000", "100000 MB of hash"), ("Threads value 1024", "the histories of 1024 threads")];
    for (ask, what) in asks {
        let (succeeded, out, error) = after(limit, "", &searches(&format!("setoption name {ask}\n")));
        assert!(succeeded && error.is_empty(), "{error}");
        let (refusals, rest): (Vec<_>, Vec<_>) =
            without_times(&out).into_iter().partition(|line| line.starts_with("info string"));
        // The error comes at once, or when the search is over.
        assert!(
            refusals.iter().any(|line| line.starts_with(&format!("info string cannot allocate {what}: "))),
            "{out}"
        );
        // The second search finds the table of the first, as if no option had been set.
        assert_eq!(rest, without_times(&expected));
    }
}

/// A command fails if its result cannot be written to a full disk, but a reader that has gone is no error.
#[test]
fn closed_or_full_output() {
    let session = "uci\ngo depth 3\nisready\ngo infinite\n";
    for (words, input) in [
        ("", session),
        ("help", ""),
        ("tables", ""),
        ("bench 1", ""),
        ("perft 2 --divide", ""),
        ("go depth 3", ""),
        ("genfens 3 seed 1 book None", ""),
    ] {
        // No output at all, or a pipe without a reader.
        let (succeeded, _, error) = after("exec >&-", words, input);
        assert!(succeeded && error.is_empty(), "{words}, closed: {error}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command
            .args(words.split_ascii_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        // Commands that read no input may have exited.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words}, left: {output:?}");
        if Path::new("/dev/full").exists() {
            let (succeeded, _, error) = after("exec >/dev/full", words, input);
            assert!(!succeeded && error.starts_with("kiln: No space left on device"), "{words}, full: {error}");
        }
    }
}

#[test]
fn a_full_disk_loses_no_games() {
    let (full, whole) = (scratch("full"), scratch("whole"));
    let words = |folder: &Path| {
        format!("datagen {} --positions 300 --shard 150 --nodes 30 --hash 1 --seed 5", folder.display())
    };
    let names = |folder: &Path| -> Vec<_> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (succeeded, _, error) = full_after(1, &words(&full));
    assert!(!succeeded && error.lines().count() == 1 && error.contains("it cannot be written: "), "{error}");
    assert!(!names(&full).iter().any(|name| name.to_string_lossy().ends_with(".json")), "{:?}", names(&full));
    // With free space, the run resumes and ends with the same files.
    for folder in [&full, &whole] {
        kiln(&words(folder).split(' ').collect::<Vec<_>>());
    }
    assert_eq!(names(&full), names(&whole));
    for name in names(&full) {
        assert!(fs::read(full.join(&name)).unwrap() == fs::read(whole.join(&name)).unwrap(), "{name:?}");
    }
    // Merging to a full or read-only place leaves the inputs untouched.
    let from = whole.display();
    let merged = scratch("merged");
    for out in [merged.display().to_string(), "/proc/kiln".into(), "/dev/null/kiln".into()] {
        let (succeeded, _, error) = full_after(1, &format!("data merge {out} {from}"));
        assert!(!succeeded && error.lines().count() == 1 && error.contains(&out), "{error}");
    }
    kiln(&["data", "verify", whole.to_str().unwrap()]);
}

#[test]
fn a_full_disk_loses_no_network() {
    let folder = scratch("exported");
    let network = default_network();
    let file = folder.join("quantised.bin");
    let words = format!("net export {} {}", network.display(), file.display());
    kiln(&words.split(' ').collect::<Vec<_>>());
    let before = fs::read(&file).unwrap();
    let (succeeded, _, error) = full_after(16, &words);
    assert!(!succeeded && error.lines().count() == 1 && error.contains("cannot write "), "{error}");
    assert!(fs::read(&file).unwrap() == before);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    if Path::new("/dev/full").exists() {
        let (succeeded, _, error) = after(":", &format!("net export {} /dev/full", network.display()), "");
        assert!(!succeeded && error.starts_with("kiln: cannot write /dev/full: "), "{error}");
    }
}

#[test]
fn a_log_that_cannot_be_written_is_closed() {
    if Path::new("/dev/full").exists() {
        let (succeeded, out, _) =
            after(":", "", "setoption name Debug Log File value /dev/full\nisready\ngo depth 1\n");
        assert!(succeeded && out.contains("readyok") && out.contains("bestmove "), "{out}");
        assert_eq!(out.matches("info string the debug log is closed: it cannot be written: ").count(), 1, "{out}");
    }
}

/// A process that dies while it caches a network, or has no disk space for it, leaves no partial file in its place.
#[test]
fn a_network_is_cached_whole_or_not_at_all() {
    let folder = scratch("cache");
    let file = folder.join("network.nnue.zst");
    let asset = Asset::random(Header { name: "to be cached".into(), ..default_header() }, 1);
    fs::write(&file, asset.to_bytes()).unwrap();
    let script = format!("setoption name EvalFile value {}\neval\n", file.display());
    let cache = format!("export XDG_CACHE_HOME='{}'", folder.display());
    let (_, expected, _) = after("unset XDG_CACHE_HOME HOME", "", &script);
    assert!(expected.contains("network to be cached says "), "{expected}");
    let full = format!("{cache}; trap '' XFSZ; ulimit -f 16");
    assert_eq!(after(&full, "", &script), (true, expected.clone(), String::new()));
    let cached = || fs::read_dir(folder.join("kiln")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(cached().count(), 0, "no partial file is left");
    for moment in 0..20 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        command.env("XDG_CACHE_HOME", &folder).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let (succeeded, out, _) = after(&cache, "", &script);
        assert!(succeeded && out == expected, "{out}");
        // Let the next process write it again.
        cached()
            .filter(|path| path.extension().is_some_and(|end| end == "bin"))
            .for_each(|path| fs::remove_file(path).unwrap());
    }
}
