//! The error type of network assets.

use super::{MAGIC, VERSION};
use alloc::string::String;
use core::fmt;

/// Why a file cannot be used as an asset, or an asset cannot be exchanged with another program.
#[derive(Debug)]
pub enum AssetError {
    /// The file cannot be read.
    Read(std::io::Error),
    /// The path does not name a regular file.
    NotAFile,
    /// The file is longer than any network.
    TooLong {
        /// Its length in bytes.
        length: u64,
        /// The most bytes allowed.
        limit: u64,
    },
    /// The file does not begin with [`MAGIC`].
    NotAnAsset,
    /// The file has another version of the format.
    Version(u16),
    /// The file ends within the header.
    Truncated {
        /// Bytes in the file.
        found: usize,
        /// Bytes to the end of the header, as far as the file still says.
        expected: usize,
    },
    /// The header cannot be decoded.
    Header(bincode::error::DecodeError),
    /// The length of the header differs from the one stated.
    HeaderLength {
        /// The length stated.
        stated: usize,
        /// The length found.
        read: usize,
    },
    /// No engine can be built for a number in the header.
    Dimension {
        /// Name of the header's field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// The values allowed.
        expected: String,
    },
    /// A bucket number is left out.
    Gap {
        /// Name of the header's field.
        field: &'static str,
        /// The first number left out.
        missing: usize,
    },
    /// A text is too long.
    Text {
        /// Name of the header's field.
        field: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The most bytes allowed.
        limit: usize,
    },
    /// A text holds a line break or another control character.
    Character {
        /// Name of the header's field.
        field: &'static str,
        /// The first control character.
        found: char,
    },
    /// The payload cannot be decompressed.
    Payload {
        /// Offset in the file near which it is damaged.
        place: usize,
        /// Bytes that could be decompressed.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The file ends within the payload.
    Cut {
        /// Bytes in the file.
        length: usize,
        /// Bytes that could be decompressed.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The payload is longer than the header implies.
    TooMuch {
        /// Bytes expected.
        expected: usize,
    },
    /// Something follows the payload.
    Trailing {
        /// Its bytes.
        more: usize,
        /// Its offset in the file.
        place: usize,
    },
    /// The payload has another length than the header implies.
    Length {
        /// Bytes found.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The hash of header and payload differs from the one in the header.
    Hash,
    /// A weight is so large that sums could overflow.
    Weight {
        /// Name of the tensor.
        tensor: &'static str,
        /// The largest magnitude, or sum of magnitudes, found.
        found: i64,
        /// The largest allowed.
        limit: i64,
    },
    /// A floating-point weight is too large or not a number.
    Float {
        /// Name of the tensor.
        tensor: &'static str,
        /// The weight.
        found: f32,
        /// The largest magnitude allowed.
        limit: f32,
    },
    /// A `quantised.bin` of bullet has another length than the header implies.
    Quantised {
        /// Bytes found.
        found: usize,
        /// Bytes expected without padding.
        expected: usize,
        /// Bytes expected with padding.
        padded: usize,
    },
    /// An output bias does not fit the 16 bits that bullet's file has for it.
    OutputBias(i32),
}

impl fmt::Display for AssetError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "it cannot be read: {error}"),
            Self::NotAFile => write!(f, "it is not a regular file"),
            Self::TooLong { length, limit } => write!(f, "it has {length} bytes, expected at most {limit}"),
            Self::NotAnAsset => write!(f, "not a network asset: it does not begin with {}", MAGIC.escape_ascii()),
            Self::Version(found) => write!(f, "the format version is {found}, expected {VERSION}"),
            Self::Truncated { found, expected } => {
                write!(
                    f,
                    "the file ends within its header: it has {found} bytes, and at least {} are missing up to the payload",
                    expected - found
                )
            }
            Self::Header(error) => write!(f, "unreadable header: {error}"),
            Self::HeaderLength { stated, read } => {
                write!(f, "the header has {read} bytes, but the file states {stated}")
            }
            Self::Dimension { field, value, expected } => write!(f, "{field} is {value}, expected {expected}"),
            Self::Gap { field, missing } => {
                write!(f, "{field} leaves out {missing}, expected numbers from 0 without gaps")
            }
            Self::Text { field, length, limit } => write!(f, "{field} has {length} bytes, expected at most {limit}"),
            Self::Character { field, found } => {
                write!(f, "{field} holds {found:?}, expected no control characters")
            }
            Self::Payload { place, found, expected } => write!(
                f,
                "the payload cannot be decompressed: the file is damaged near byte {place}, after {found} of the \
                 {expected} bytes of weights"
            ),
            Self::Cut { length, found, expected } => write!(
                f,
                "the file is cut off after {length} bytes, within its payload: they hold {found} of the {expected} \
                 bytes of weights, {} are missing",
                expected.saturating_sub(*found)
            ),
            Self::TooMuch { expected } => {
                write!(f, "the payload has more than the {expected} bytes expected for the shape in the header")
            }
            Self::Trailing { more, place } => {
                write!(f, "{more} more bytes follow the payload, which ends at byte {place} of the file")
            }
            Self::Length { found, expected } => {
                write!(f, "the payload has {found} bytes, expected {expected} for the shape in the header")
            }
            Self::Hash => write!(f, "the contents do not have the SHA-256 that the header states: the file is damaged"),
            Self::Weight { tensor, found, limit } => {
                write!(f, "the {tensor} can overflow: {found} was found, expected at most {limit}")
            }
            Self::Float { tensor, found, limit } => {
                write!(f, "the {tensor} hold {found}, expected numbers from -{limit} to {limit}")
            }
            Self::Quantised { found, expected, padded } => {
                write!(f, "the file has {found} bytes, expected {expected} for this shape, or {padded} with padding")
            }
            Self::OutputBias(found) => {
                write!(f, "output_bias is {found}, expected {} to {} for bullet's file", i16::MIN, i16::MAX)
            }
        }
    }
}

impl core::error::Error for AssetError {}
