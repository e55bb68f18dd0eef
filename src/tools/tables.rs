//! Shows what the build fired.

use crate::tables::manifest;

/// The manifest as a table: one blob a line.
pub fn describe() -> String {
    let mut text = format!("{:<15}{:>10}{:>7}  {:<24}sha256\n", "blob", "bytes", "align", "type");
    for blob in manifest().blobs {
        let hash: String = blob.sha256[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{:<15}{:>10}{:>7}  {:<24}{hash}\n", blob.name, blob.length, blob.alignment, blob.element);
    }
    text
}
