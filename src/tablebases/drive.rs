//! Paths without drive letters, for Windows: the prober takes every colon for the end of a folder's name.

use std::path::{Component, Path, PathBuf, Prefix};

/// Returns a path without a colon to the same folder, or `None` if the system knows none. It is valid as long as the
/// process does not change its current drive.
pub(super) fn without_letter(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let letter = |path: &Path| match path.components().next()? {
        Component::Prefix(prefix) => match prefix.kind() {
            Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => Some(letter.to_ascii_uppercase()),
            _ => None,
        },
        _ => None,
    };
    let without = match letter(&folder) {
        None => folder,
        Some(drive) => {
            // Starts with the root, so that it is on the current drive.
            let rest: PathBuf = folder.components().skip(1).collect();
            let current = std::env::current_dir().ok().and_then(|current| letter(&current));
            if current == Some(drive) { rest } else { volume(drive)?.join(rest.strip_prefix("\\").ok()?) }
        }
    };
    (!without.to_str()?.contains(':') && without.is_dir()).then_some(without)
}

/// Returns the root of a drive by the name of its volume, which drives of the network do not have.
fn volume(drive: u8) -> Option<PathBuf> {
    // SAFETY: this is the signature of Windows: LPCWSTR, LPWSTR and DWORD, which return BOOL.
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetVolumeNameForVolumeMountPointW(mount_point: *const u16, name: *mut u16, length: u32) -> i32;
    }
    let root = [drive, b':', b'\\', 0].map(u16::from);
    let mut name = [0; 50];
    // SAFETY: the root ends with a zero, and the length is that of the name. Windows writes a name of at most 50
    // characters, with a zero at its end.
    let found = unsafe { GetVolumeNameForVolumeMountPointW(root.as_ptr(), name.as_mut_ptr(), name.len() as u32) } != 0;
    let name = String::from_utf16(name.split(|&unit| unit == 0).next()?).ok()?;
    // The prober appends a file's name with `/`, which only this kind of path allows.
    let name = name.strip_prefix(r"\\?\")?;
    found.then(|| PathBuf::from(format!(r"\\.\{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_left_out_or_named_by_its_volume() {
        let here = std::env::current_dir().unwrap();
        let without = without_letter(&here).unwrap();
        assert_eq!(std::fs::canonicalize(&without).unwrap(), std::fs::canonicalize(&here).unwrap());
        assert!(!without.to_str().unwrap().contains(':'), "{}", without.display());
        assert!(volume(b'C').is_some_and(|root| !root.to_str().unwrap().contains(':')));
        assert_eq!(volume(b'?'), None);
    }
}
