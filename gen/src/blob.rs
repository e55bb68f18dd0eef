//! Writing blobs: alignment, hash and manifest.

use crate::layout::{ALIGN, Plain};
use crate::manifest::{Entry, Manifest};
use alloc::{format, string::String, vec::Vec};
use sha2::{Digest, Sha256};
use std::io;
use std::path::PathBuf;

/// A batch of blobs on its way to a folder: one file `NAME.bin` for each, and at the end `manifest.bin`.
#[derive(Debug)]
pub struct Firing {
    folder: PathBuf,
    manifest: Manifest,
}

impl Firing {
    /// Starts a batch that goes to `folder`, usually `OUT_DIR`. The folder must exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), manifest: Manifest::default() }
    }

    /// Writes a single value.
    pub fn value<T: Plain>(&mut self, name: &str, value: &T) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(size_of::<T>());
        value.write_le(&mut bytes);
        self.bytes(name, type_name::<T>(), &bytes)
    }

    /// Writes a list whose length is known only now.
    pub fn list<T: Plain>(&mut self, name: &str, list: &[T]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(size_of_val(list));
        for element in list {
            element.write_le(&mut bytes);
        }
        self.bytes(name, format!("[{}; {}]", type_name::<T>(), list.len()), &bytes)
    }

    /// Writes bytes that already have the layout of the type called `element`.
    pub fn bytes(&mut self, name: &str, element: String, bytes: &[u8]) -> io::Result<()> {
        std::fs::write(self.folder.join(name).with_extension("bin"), bytes)?;
        self.manifest.blobs.push(Entry {
            name: name.into(),
            element,
            length: bytes.len() as u64,
            alignment: ALIGN as u32,
            sha256: Sha256::digest(bytes).into(),
        });
        Ok(())
    }

    /// Writes the manifest and returns it.
    pub fn finish(self) -> io::Result<Manifest> {
        std::fs::write(self.folder.join("manifest.bin"), self.manifest.to_bytes())?;
        Ok(self.manifest)
    }
}

fn type_name<T>() -> String {
    core::any::type_name::<T>().replace("kiln_gen::layout::", "")
}
