//! What the fuzzers share: the properties, which the tests try too, and a folder to write in.

#[path = "../../tests/common/properties.rs"]
pub mod properties;

use std::fs;
use std::path::PathBuf;

/// An empty folder for this process.
pub fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kiln-fuzz-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
