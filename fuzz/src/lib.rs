//! Shared by the fuzz targets: the properties, which `tests/suite/properties.rs` tests too, and a scratch folder.

#[path = "../../tests/suite/common/properties.rs"]
pub mod properties;

use std::fs;
use std::path::PathBuf;

/// Returns an empty folder for this process.
pub fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kiln-fuzz-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
