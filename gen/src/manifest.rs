//! The manifest: which blobs were fired, and how they look. bincode, so that the engine can embed and print it.

use alloc::{string::String, vec::Vec};
use bincode::{Decode, Encode};

/// One blob.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Entry {
    /// Name, and file stem in the build's output folder.
    pub name: String,
    /// The Rust type whose bytes these are, for instance `[u64; 107648]`; structs are those of [`crate::layout`].
    pub element: String,
    /// Length in bytes.
    pub length: u64,
    /// Alignment in bytes.
    pub alignment: u32,
    /// SHA-256 of the bytes.
    pub sha256: [u8; 32],
}

/// All blobs of a build, in the order in which they were fired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Manifest {
    /// The blobs.
    pub blobs: Vec<Entry>,
}

/// Bytes that are no manifest.
#[derive(Debug)]
pub struct ManifestError(bincode::error::DecodeError);

impl core::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "not a manifest of blobs: {}", self.0)
    }
}

impl core::error::Error for ManifestError {}

impl Manifest {
    /// The bytes that [`Manifest::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        bincode::encode_to_vec(self, bincode::config::standard()).expect("strings and numbers always encode")
    }

    /// Reads what [`Manifest::to_bytes`] wrote; fails on anything else, trailing bytes included.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestError> {
        let (manifest, read) = bincode::decode_from_slice(bytes, bincode::config::standard()).map_err(ManifestError)?;
        if read == bytes.len() {
            Ok(manifest)
        } else {
            Err(ManifestError(bincode::error::DecodeError::OtherString(alloc::format!(
                "{} bytes follow its end",
                bytes.len() - read
            ))))
        }
    }
}
