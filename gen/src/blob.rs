//! Writes blobs that [`embed!`](crate::embed!) and [`embed_list!`](crate::embed_list!) embed.

use crate::layout::Plain;
use crate::{geometry, magic};
use alloc::{format, string::ToString, vec::Vec};
use std::io;
use std::path::Path;

/// Writes one value to `path`, usually `NAME.bin` in `OUT_DIR`.
///
/// ```no_run
/// let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
/// kiln_gen::blob::write(out.join("lines.bin"), &kiln_gen::geometry::lines())?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// If the file cannot be written; the message names it.
pub fn write<T: Plain>(path: impl AsRef<Path>, value: &T) -> io::Result<()> {
    put(path.as_ref(), &bytes(core::slice::from_ref(value)))
}

/// Writes a list to `path`, usually `NAME.bin` in `OUT_DIR`, and its length to `NAME.len`.
///
/// For lists whose length only the generator knows; the reader gets a slice.
///
/// # Errors
/// If a file cannot be written; the message names it.
pub fn write_list<T: Plain>(path: impl AsRef<Path>, list: &[T]) -> io::Result<()> {
    put_list(path.as_ref(), &bytes(list), list.len())
}

/// Writes the tables that [`attacks!`](crate::attacks!) reads to a folder, usually `OUT_DIR`: magics from a search with
/// this seed, leapers and lines.
///
/// ```no_run
/// let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR");
/// kiln_gen::blob::write_attacks(out, 1)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// If a file cannot be written; the message names it.
pub fn write_attacks(folder: impl AsRef<Path>, seed: u64) -> io::Result<()> {
    let file = |name: &str| folder.as_ref().join(name);
    let tables = magic::search(seed);
    write(file("sliders.bin"), &tables.sliders)?;
    write_list(file("slider_attacks.bin"), &tables.attacks)?;
    write(file("leapers.bin"), &geometry::leapers())?;
    write(file("lines.bin"), &geometry::lines())
}

fn bytes<T: Plain>(list: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(list));
    list.iter().for_each(|element| element.write_le(&mut bytes));
    bytes
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    std::fs::write(path, bytes)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
}

fn put_list(path: &Path, bytes: &[u8], length: usize) -> io::Result<()> {
    put(path, bytes)?;
    put(&path.with_extension("len"), length.to_string().as_bytes())
}

#[cfg(feature = "blob-writer")]
pub use writer::BlobWriter;

#[cfg(feature = "blob-writer")]
mod writer {
    use super::{bytes, put, put_list};
    use crate::layout::{ALIGN, Plain};
    use crate::manifest::{Entry, Manifest};
    use alloc::{format, string::String, vec, vec::Vec};
    use sha2::{Digest, Sha256};
    use std::io;
    use std::path::PathBuf;

    /// Writes blobs to a folder, one file `NAME.bin` each, and at the end `manifest.bin` with their hashes.
    ///
    /// ```no_run
    /// use kiln_gen::{blob::BlobWriter, geometry, zobrist};
    /// let mut blobs = BlobWriter::new(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    /// blobs.value("lines", &geometry::lines())?;
    /// blobs.value("zobrist", &zobrist::zobrist(2))?;
    /// blobs.finish()?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// All methods that write fail if the file cannot be written; the message names it.
    #[derive(Debug)]
    pub struct BlobWriter {
        folder: PathBuf,
        manifest: Manifest,
        /// The names of the files written.
        files: Vec<String>,
    }

    impl BlobWriter {
        /// Returns a writer to `folder`, usually `OUT_DIR`, which must exist.
        pub fn new(folder: impl Into<PathBuf>) -> Self {
            Self { folder: folder.into(), manifest: Manifest::default(), files: vec![] }
        }

        /// Writes one value.
        pub fn value<T: Plain>(&mut self, name: &str, value: &T) -> io::Result<()> {
            self.bytes(name, type_name::<T>(), &bytes(core::slice::from_ref(value)))
        }

        /// Writes a list and its length, as [`write_list`](super::write_list) does.
        pub fn list<T: Plain>(&mut self, name: &str, list: &[T]) -> io::Result<()> {
            let bytes = bytes(list);
            put_list(&self.path(name), &bytes, list.len())?;
            self.files.push(format!("{name}.len"));
            self.record(name, format!("[{}; {}]", type_name::<T>(), list.len()), &bytes);
            Ok(())
        }

        /// Writes bytes that already have the layout of the type named `element`.
        pub fn bytes(&mut self, name: &str, element: String, bytes: &[u8]) -> io::Result<()> {
            put(&self.path(name), bytes)?;
            self.record(name, element, bytes);
            Ok(())
        }

        /// Writes text, such as constants for `include!`, to a file that is no blob and not in the manifest.
        pub fn text(&mut self, file: &str, text: &str) -> io::Result<()> {
            put(&self.folder.join(file), text.as_bytes())?;
            self.files.push(file.into());
            Ok(())
        }

        /// Writes the manifest as a list of bytes and returns it.
        pub fn finish(self) -> io::Result<Manifest> {
            let bytes = self.manifest.to_bytes();
            put_list(&self.path("manifest"), &bytes, bytes.len())?;
            Ok(self.manifest)
        }

        /// Does what [`BlobWriter::finish`] does, then removes all other files from the folder, which must be this
        /// writer's alone. Cargo never empties `OUT_DIR`: a blob that has been renamed would stay there under its old
        /// name, and the program that still embeds it would compile in this folder and in no other.
        pub fn finish_alone(mut self) -> io::Result<Manifest> {
            let folder = self.folder.clone();
            let mut written = core::mem::take(&mut self.files);
            written.extend(["manifest.bin", "manifest.len"].map(String::from));
            let manifest = self.finish()?;
            let remove = || -> io::Result<()> {
                for entry in std::fs::read_dir(&folder)? {
                    let entry = entry?;
                    let is_written = entry.file_name().to_str().is_some_and(|name| written.iter().any(|w| w == name));
                    if is_written || entry.file_type()?.is_dir() {
                        continue;
                    }
                    match std::fs::remove_file(entry.path()) {
                        // Another build in the same folder was faster.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        result => result?,
                    }
                }
                Ok(())
            };
            remove().map_err(|error| {
                io::Error::new(error.kind(), format!("cannot remove old files from {}: {error}", folder.display()))
            })?;
            Ok(manifest)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.join(format!("{name}.bin"))
        }

        fn record(&mut self, name: &str, element: String, bytes: &[u8]) {
            self.files.push(format!("{name}.bin"));
            self.manifest.blobs.push(Entry {
                name: name.into(),
                element,
                length: bytes.len() as u64,
                alignment: ALIGN as u32,
                sha256: Sha256::digest(bytes).into(),
            });
        }
    }

    fn type_name<T>() -> String {
        core::any::type_name::<T>().replace("kiln_gen::layout::", "")
    }
}
