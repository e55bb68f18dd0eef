//! The manifest: which blobs a build wrote, with their types and hashes. It is encoded by bincode, so that the engine
//! can embed and print it.

use alloc::{string::String, vec::Vec};
use bincode::{Decode, Encode};

/// The most bytes of a manifest, so that a damaged length allocates nothing.
const LIMIT: usize = 1 << 20;

/// The description of one blob.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Entry {
    /// Name, which is also the file stem in the build's output folder.
    pub name: String,
    /// The Rust type of the contents, for instance `[u64; 107648]`; structs are those of [`crate::layout`].
    pub element: String,
    /// Length in bytes.
    pub length: u64,
    /// Alignment in bytes.
    pub alignment: u32,
    /// SHA-256 of the bytes.
    pub sha256: [u8; 32],
}

/// All blobs of a build, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Manifest {
    /// The blobs.
    pub blobs: Vec<Entry>,
}

/// The error of [`Manifest::from_bytes`]: the bytes are not a manifest.
#[derive(Debug)]
pub struct ManifestError(bincode::error::DecodeError);

impl core::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "not a manifest of blobs: {}", self.0)
    }
}

impl core::error::Error for ManifestError {}

impl Manifest {
    /// Encodes the manifest for [`Manifest::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        bincode::encode_to_vec(self, bincode::config::standard()).expect("strings and numbers always encode")
    }

    /// Decodes what [`Manifest::to_bytes`] returned.
    ///
    /// # Errors
    /// If the bytes are anything else, or more bytes follow. A manifest of more than a megabyte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestError> {
        let config = bincode::config::standard().with_limit::<LIMIT>();
        let (manifest, read) = bincode::decode_from_slice(bytes, config).map_err(ManifestError)?;
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
