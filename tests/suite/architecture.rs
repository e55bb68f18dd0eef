//! The order of the modules, each of which depends only on those below it, and the notices of the crates in a binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules of the library, lowest first; see `docs/architecture.md`.
const LIBRARY: &[&str] =
    &["maps", "quote", "types", "tables", "simd", "board", "data", "nnue", "tablebases", "search", "tools", "uci"];

/// The modules inside `search`, lowest first.
const SEARCH: &[&str] = &[
    "statistics",
    "parameters",
    "huge_pages",
    "transposition",
    "mate_line",
    "time",
    "history",
    "correction_history",
    "reductions",
    "picker",
    "shared",
    "worker",
    "quiescence",
    "alphabeta",
    "driver",
    "session",
];

/// The modules inside `uci`, lowest first.
const UCI: &[&str] = &["command", "output", "strength", "options", "engine"];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns all files in a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let (folders, files): (Vec<_>, Vec<_>) = entries.map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
    files.into_iter().chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}

/// Returns the files of the module `name` in `folder`: `name.rs` and all files in `name/`, at least one in total.
fn module_files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let (file, subfolder) = (folder.join(name).with_extension("rs"), folder.join(name));
    let mut found = if subfolder.is_dir() { files(&subfolder) } else { Vec::new() };
    found.extend(file.is_file().then_some(file));
    assert!(!found.is_empty(), "{} has no module {name}", folder.display());
    found
}

/// Returns the paths that follow `prefix` (`crate::` or `super::`) in a source: `{a::{B, c}, d}` stands for `a::B`,
/// `a::c` and `d`.
fn paths_after(prefix: &str, source: &str) -> Vec<String> {
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.split(prefix).skip(1).flat_map(expand).collect()
}

/// Expands the path, or the list of paths in braces, that a text begins with.
fn expand(text: &str) -> Vec<String> {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('{') {
        let (mut depth, mut begin, mut paths) = (0, 0, Vec::new());
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    paths.extend(expand(&list[begin..i]));
                    begin = i + 1;
                    if c == '}' {
                        return paths;
                    }
                }
                _ => {}
            }
        }
        panic!("braces are not closed: {text}");
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    match path {
        "" => Vec::new(),
        _ if rest.starts_with('{') => expand(rest).into_iter().map(|inner| format!("{path}{inner}")).collect(),
        _ => vec![path.into()],
    }
}

/// Returns the first segment of a path.
fn first(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}

/// Returns the names that a `mod.rs` re-exports, each with the module it comes from.
fn re_exports(mod_rs: &str) -> Vec<(String, String)> {
    let paths = paths_after("pub use ", mod_rs).into_iter().chain(paths_after("pub(crate) use ", mod_rs));
    paths
        .filter_map(|path| {
            let (module, name) = path.split_once("::")?;
            Some((name.to_owned(), module.to_owned()))
        })
        .collect()
}

/// Fails if a module in `folder` depends on one that follows it in `order`. `dependencies` returns the names that a
/// source uses; those that are not in `order` are ignored. Returns the number of dependencies.
fn check_order(folder: &Path, order: &[&str], dependencies: impl Fn(&str) -> Vec<String>) -> usize {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (height, module) in order.iter().enumerate() {
        for file in module_files(folder, module) {
            for used in dependencies(&read(&file)) {
                let Some(used_height) = order.iter().position(|&other| other == used) else { continue };
                count += usize::from(used_height != height);
                if used_height > height {
                    wrong.push(format!("{} uses {used}, which is above {module}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    count
}

/// Fails unless a source declares exactly the modules of `order`.
fn check_complete(source: &str, order: &[&str]) {
    let declaration = |line: &str| -> Option<String> {
        let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';').map(String::from)
    };
    let mut declared: Vec<String> = source.lines().filter_map(declaration).collect();
    let mut order = order.to_vec();
    declared.sort_unstable();
    order.sort_unstable();
    assert_eq!(declared, order);
}

/// Checks the modules inside a module of the library. They name each other by `super::x` or `crate::name::x`, or use
/// what their `mod.rs` re-exports; other items of `mod.rs` are free for all of them.
fn check_inside(name: &str, order: &[&str]) {
    let folder = src().join(name);
    let mod_rs = read(&folder.join("mod.rs"));
    check_complete(&mod_rs, order);
    let re_exports = re_exports(&mod_rs);
    let count = check_order(&folder, order, |source| dependencies_inside(name, &re_exports, source));
    assert!(count >= order.len() - 2, "only {count} dependencies were found: does the test still read the sources?");
}

/// Returns the modules of `name` that a source of it uses, and other items that it names by `super::`.
fn dependencies_inside(name: &str, re_exports: &[(String, String)], source: &str) -> Vec<String> {
    let absolute = paths_after("crate::", source);
    let absolute = absolute.iter().filter_map(|path| path.strip_prefix(name)?.strip_prefix("::"));
    let relative = paths_after("super::", source);
    let used = absolute.chain(relative.iter().map(String::as_str)).map(first);
    let origin = |used: &str| re_exports.iter().find(|(name, _)| name == used).map(|(_, module)| module.clone());
    used.map(|used| origin(used).unwrap_or_else(|| used.into())).collect()
}

#[test]
fn modules_depend_only_on_those_below() {
    check_complete(&read(&src().join("lib.rs")), LIBRARY);
    let count = check_order(&src(), LIBRARY, |source| {
        paths_after("crate::", source).iter().map(|path| first(path).to_owned()).collect()
    });
    assert!(count > 20, "only {count} dependencies were found: does the test still read the sources?");
}

#[test]
fn modules_inside_search_depend_only_on_those_below() {
    check_inside("search", SEARCH);
}

#[test]
fn modules_inside_uci_depend_only_on_those_below() {
    check_inside("uci", UCI);
}

#[test]
fn all_forms_of_paths_are_found() {
    let source = "use crate::board::X;\nuse crate::{nnue::{a, b::C}, uci,};\nfn f() { crate::types::Y::z() }\n\
                  // crate::search";
    let expected = ["board::X", "nnue::a", "nnue::b::C", "uci", "types::Y::z"];
    assert_eq!(paths_after("crate::", source), expected);

    let re_exports = re_exports("pub use driver::{STACK, Threads};\npub use time::Timer;\npub struct Limits;\n");
    let source = "use super::picker::{MovePicker, Stage};\nuse super::{Limits, history::{A, B}, Timer};\n\
                  use crate::search::{Threads, worker::W};\nuse super::super::shared::S;\nuse crate::board::time::X;";
    let used = dependencies_inside("search", &re_exports, source);
    for module in ["picker", "history", "time", "driver", "worker", "shared"] {
        assert!(used.iter().any(|used| used == module), "{module} is not in {used:?}");
    }
    assert!(used.iter().any(|used| used == "Limits") && !used.iter().any(|used| used == "board"), "{used:?}");
}

#[test]
#[should_panic = "uses transposition, which is above statistics"]
fn a_dependency_on_a_module_above_is_reported() {
    check_order(&src().join("search"), &["statistics", "transposition"], |_| vec!["transposition".into()]);
}

/// Wall clocks jump when people or the network set them, so durations are measured by `Instant`. Only the debug log
/// shows the time of day, and only files of cached networks are marked with it.
#[test]
fn only_the_log_and_the_cache_read_the_time_of_day() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> =
        ["src", "trainer/src", "gen/src"].into_iter().flat_map(|folder| files(&root.join(folder))).collect();
    let mut users: Vec<_> = files.into_iter().filter(|file| read(file).contains("SystemTime")).collect();
    users.sort_unstable();
    assert_eq!(users, ["src/nnue/file.rs", "src/uci/output.rs"].map(|file| root.join(file)));
}

/// The notices name every crate of the binary.
#[test]
fn notices_name_all_crates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Command::new(env!("CARGO"))
        .args("tree --offline --locked -p kiln -e normal,no-proc-macro --prefix none -f {p}".split(' '))
        .current_dir(root)
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let notices = read(&root.join("LICENSE-THIRD-PARTY"));
    let named: Vec<&str> =
        notices.lines().filter_map(|line| line.split_once(": ")).flat_map(|(names, _)| names.split(", ")).collect();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"zstd") && names.len() > 10, "{tree}");
    for name in names.into_iter().filter(|name| !name.starts_with("kiln")) {
        assert!(named.contains(&name), "LICENSE-THIRD-PARTY does not name {name}");
    }
}
