//! The order of the rooms: each may use only those before it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up; see `docs/architecture.md`.
const ORDER: [&str; 10] = ["types", "tables", "simd", "board", "data", "nnue", "tablebases", "search", "tools", "uci"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let (folders, files): (Vec<_>, Vec<_>) = entries.map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
    files.into_iter().chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// The rooms that a source names, by `crate::room` or `use crate::{room, …}`.
fn rooms_used(source: &str) -> Vec<String> {
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut rooms = Vec::new();
    for after in code.split("crate::").skip(1) {
        let names = match after.strip_prefix('{') {
            // The first name of each member of the braces, at depth one.
            Some(list) => {
                let mut depth = 1;
                let end = list.find(|c| {
                    depth += (c == '{') as i32 - (c == '}') as i32;
                    depth == 0
                });
                list[..end.expect("braces are closed")].split(',').map(str::trim).map(String::from).collect()
            }
            None => vec![String::from(after)],
        };
        for name in names {
            let word: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            rooms.push(word);
        }
    }
    rooms
}

#[test]
fn no_arrow_runs_back() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut arrows = 0;
    for (height, room) in ORDER.iter().enumerate() {
        let files = sources(&src.join(room));
        assert!(!files.is_empty(), "there is no room {room}");
        for file in files {
            for used in rooms_used(&fs::read_to_string(&file).unwrap()) {
                let Some(depth) = ORDER.iter().position(|&other| other == used) else { continue };
                arrows += 1;
                assert!(depth <= height, "{} uses {used}, which comes after {room}", file.display());
            }
        }
    }
    assert!(arrows > 20, "only {arrows} arrows were found: does the test still read the sources?");
}

#[test]
fn all_rooms_are_in_the_order() {
    let library = include_str!("../src/lib.rs");
    let mut rooms: Vec<&str> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let mut order = ORDER;
    rooms.sort_unstable();
    order.sort_unstable();
    assert_eq!(rooms, order);
}

#[test]
fn the_reader_sees_all_forms() {
    let source = "use crate::board::X;\nuse crate::{nnue::{a, b}, uci};\nfn f() { crate::types::Y }\n// crate::search";
    assert_eq!(rooms_used(source), ["board", "nnue", "b", "uci", "types"]);
}

/// A clock that people or the network set may jump: what is measured is measured by `Instant`. Only the log tells the time of day.
#[test]
fn no_time_is_measured_by_the_time_of_day() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> =
        ["src", "trainer/src", "gen/src"].into_iter().flat_map(|folder| sources(&root.join(folder))).collect();
    let users = files.iter().filter(|file| fs::read_to_string(file).unwrap().contains("SystemTime"));
    assert!(users.eq([&root.join("src/uci/output.rs")]));
}
