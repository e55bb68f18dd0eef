//! Helpers that several modules share.

pub mod bad_networks;
pub mod properties;

use kiln_gen::network::{Asset, Header};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns an empty folder for one test. Names must differ in a file only.
#[track_caller]
pub fn scratch(name: &str) -> PathBuf {
    let file = Path::new(Location::caller().file()).file_stem().expect("a source file has a name");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the path of a file or folder of the test data, or `None` with a message if it does not exist.
pub fn test_data(name: &str) -> Option<String> {
    let folder =
        std::env::var("KILN_TEST_DATA").unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data").into());
    let path = format!("{folder}/{name}");
    let exists = Path::new(&path).exists();
    if !exists {
        skipped(&format!("{path} does not exist; set KILN_TEST_DATA to a folder that contains {name}"));
    }
    exists.then_some(path)
}

/// Says that the running test, or the rest of it, is skipped, and why. The message is shown although the test passes:
/// the test harness captures only what macros print.
pub fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // One call, because other tests write too.
    let _ = io::stderr().write_all(format!("{test} skipped: {why}\n").as_bytes());
}

/// Returns the path of the default network.
pub fn default_network() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/kiln.nnue.zst")
}

/// Returns the header of the default network.
pub fn default_header() -> Header {
    Asset::read_header(&fs::read(default_network()).unwrap()).unwrap()
}

/// Runs `kiln` with these arguments. Returns whether it succeeded, its standard output and its standard error.
pub fn run<T: AsRef<OsStr>>(arguments: &[T]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// Runs `kiln`, which must succeed, and returns its standard output.
#[track_caller]
pub fn kiln<T: AsRef<OsStr>>(arguments: &[T]) -> String {
    let (succeeded, out, error) = run(arguments);
    assert!(succeeded && error.is_empty(), "{error}");
    out
}

/// Runs `kiln`, which must fail, and returns its error message: one line.
#[track_caller]
pub fn refusal<T: AsRef<OsStr>>(arguments: &[T]) -> String {
    let (succeeded, _, error) = run(arguments);
    assert!(!succeeded && error.lines().count() == 1, "{error}");
    error.strip_prefix("kiln: ").expect("the message begins with the name of the program").trim_end().into()
}
