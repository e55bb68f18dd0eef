//! Why an asset is refused.

use super::VERSION;
use core::fmt;

/// Why an asset is refused, or cannot be exchanged with another program.
#[derive(Debug)]
pub enum AssetError {
    /// The file cannot be read.
    Read(std::io::Error),
    /// It is no regular file.
    NoFile,
    /// It is longer than any network.
    TooLong {
        /// Its length in bytes.
        length: u64,
        /// The most it may have.
        limit: u64,
    },
    /// The file does not begin with [`MAGIC`](super::MAGIC).
    NotAnAsset,
    /// Written by another version of the format.
    Version(u16),
    /// The file ends within the header.
    Truncated,
    /// The header is not what it should be.
    Header(bincode::error::DecodeError),
    /// The header has another length than the file states.
    HeaderLength {
        /// What the file states.
        stated: usize,
        /// What the header has.
        read: usize,
    },
    /// A dimension that no engine can be built for.
    Dimension {
        /// Name of the header's field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// What it may be.
        allowed: &'static str,
    },
    /// Buckets are not numbered one after another.
    Gap {
        /// Name of the header's field.
        field: &'static str,
        /// The first number that no entry has.
        missing: usize,
    },
    /// A text that is too long.
    Text {
        /// Name of the header's field.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The most it may have.
        limit: usize,
    },
    /// A text with a line break or another control character.
    Character {
        /// Name of the header's field.
        field: &'static str,
        /// The first of them.
        found: char,
    },
    /// The payload cannot be decompressed to the length that the header implies.
    Payload(std::io::Error),
    /// The payload has another length.
    Length {
        /// Bytes found.
        found: usize,
        /// Bytes that the dimensions in the header ask for.
        expected: usize,
    },
    /// The hash of header and payload differs from the one in the header.
    Hash,
    /// A weight so large that sums could overflow.
    Weight {
        /// Which tensor.
        tensor: &'static str,
        /// The largest sum of magnitudes or magnitude found.
        found: i64,
        /// The limit.
        limit: i64,
    },
    /// A weight in floating point that is no number or far too large.
    Float {
        /// Which tensor.
        tensor: &'static str,
        /// The weight.
        found: f32,
        /// The largest magnitude allowed.
        limit: f32,
    },
    /// A file of bullet's that has another length than the dimensions ask for.
    Quantised {
        /// Bytes found.
        found: usize,
        /// Bytes without padding.
        expected: usize,
        /// Bytes with padding.
        padded: usize,
    },
    /// An output bias that does not fit the 16 bits that bullet has for it.
    OutputBias(i32),
}

impl fmt::Display for AssetError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "it cannot be read: {error}"),
            Self::NoFile => write!(f, "it is no regular file"),
            Self::TooLong { length, limit } => write!(f, "it has {length} bytes, allowed are at most {limit}"),
            Self::NotAnAsset => write!(f, "not a network asset: it does not begin with KILNNNUE"),
            Self::Version(found) => write!(f, "format version {found}, only version {VERSION} is known"),
            Self::Truncated => write!(f, "the file ends within its header"),
            Self::Header(error) => write!(f, "unreadable header: {error}"),
            Self::HeaderLength { stated, read } => write!(f, "the header has {read} bytes, the file states {stated}"),
            Self::Dimension { field, value, allowed } => write!(f, "{field} is {value}, allowed is {allowed}"),
            Self::Gap { field, missing } => {
                write!(f, "{field} leaves out {missing}, allowed are numbers from 0 without gaps")
            }
            Self::Text { field, length, limit } => write!(f, "{field} has {length} bytes, allowed are at most {limit}"),
            Self::Character { field, found } => {
                write!(f, "{field} holds {found:?}, allowed are characters that can be seen on one line")
            }
            Self::Payload(error) => write!(f, "the payload cannot be decompressed: {error}"),
            Self::Length { found, expected } => {
                write!(f, "the payload has {found} bytes, the dimensions in the header ask for {expected}")
            }
            Self::Hash => write!(f, "the contents do not have the SHA-256 that the header states: the file is damaged"),
            Self::Weight { tensor, found, limit } => {
                write!(f, "the {tensor} can overflow: {found} was found, the limit is {limit}")
            }
            Self::Float { tensor, found, limit } => {
                write!(f, "the {tensor} hold {found}, allowed are numbers from -{limit} to {limit}")
            }
            Self::Quantised { found, expected, padded } => {
                write!(f, "the file has {found} bytes, the dimensions ask for {expected}, or {padded} with padding")
            }
            Self::OutputBias(found) => {
                write!(f, "output_bias is {found}, allowed is -32768 to 32767 in a file of bullet's")
            }
        }
    }
}

impl core::error::Error for AssetError {}
