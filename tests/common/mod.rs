//! What several tests use, each of them some of it.
#![allow(dead_code)]

pub mod bad_networks;

use kiln_gen::network::{Asset, Header};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An empty folder for one test of this file.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file or folder of the test data; none, which is said, if it is not there.
pub fn test_data(name: &str) -> Option<String> {
    let folder =
        std::env::var("KILN_TEST_DATA").unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data").into());
    let path = format!("{folder}/{name}");
    let is_there = Path::new(&path).exists();
    if !is_there {
        eprintln!("skipped: there is no {path}; set KILN_TEST_DATA to a folder with {name}");
    }
    is_there.then_some(path)
}

/// The file of the default network.
pub fn default_network() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/kiln.nnue.zst")
}

/// What it says of itself.
pub fn default_header() -> Header {
    Asset::read_header(&fs::read(default_network()).unwrap()).unwrap()
}

/// Runs `kiln` with these arguments: whether it succeeds, what it prints, and its error.
pub fn run<T: AsRef<OsStr>>(arguments: &[T]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// What it prints where nothing is wrong.
#[track_caller]
pub fn kiln<T: AsRef<OsStr>>(arguments: &[T]) -> String {
    let (succeeded, out, error) = run(arguments);
    assert!(succeeded && error.is_empty(), "{error}");
    out
}

/// The one sentence with which it fails.
#[track_caller]
pub fn refusal<T: AsRef<OsStr>>(arguments: &[T]) -> String {
    let (succeeded, _, error) = run(arguments);
    assert!(!succeeded && error.lines().count() == 1, "{error}");
    error.strip_prefix("kiln: ").expect("the name of the program").trim_end().into()
}
