//! Helpers that several modules share.

pub mod bad_networks;
pub mod properties;

use kiln_gen::network::{Asset, Header};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Child;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Returns how much memory a process has in use, in kB.
#[cfg(target_os = "linux")]
pub fn resident_kilobytes(process: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    resident.unwrap_or_else(|| panic!("no VmRSS in {status}")).parse().unwrap()
}

/// Waits until no other test opens tablebases: a process can have one set at a time.
pub fn alone_with_tablebases() -> MutexGuard<'static, ()> {
    static ONE_SET_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_SET_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an empty folder for one test. Names must differ in a file only.
///
/// Panics if another test uses the name: tests that share a folder fail by chance.
#[track_caller]
pub fn scratch(name: &str) -> PathBuf {
    let file = Path::new(Location::caller().file()).file_stem().expect("a source file has a name");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file).join(name);
    static OWNERS: Mutex<BTreeMap<PathBuf, ThreadId>> = Mutex::new(BTreeMap::new());
    let test = thread::current().id();
    let owner = *OWNERS.lock().unwrap().entry(folder.clone()).or_insert(test);
    assert!(owner == test, "{} is another test's, which may run now", folder.display());
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

/// Notes that the running test, or the rest of it, is skipped, and why. The notes are printed when all tests are done,
/// because the test harness calls these tests passed.
pub fn skipped(why: &str) {
    static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    extern "C" fn print() {
        let notes = NOTES.lock().unwrap();
        eprintln!("skipped, at least in part:\n{}\n", notes.join("\n"));
    }
    // SAFETY: C declares `int atexit(void (*)(void))`.
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> i32;
    }
    let mut notes = NOTES.lock().unwrap();
    if notes.is_empty() {
        // SAFETY: the function may run at any time until the program ends.
        assert_eq!(unsafe { atexit(print) }, 0);
    }
    notes.push(format!("    {}: {why}", std::thread::current().name().unwrap_or_default()));
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
