//! Network assets: a self-describing file, checked and arranged for the engine at build time.
//!
//! An asset is the eight bytes [`MAGIC`], the format version as `u16`, the length of the header as `u32`, the [`Header`] in bincode, and the
//! payload compressed by zstd. All numbers are little-endian. The payload holds the tensors in their
//! canonical order, whatever the target: the feature weights by (colour, type, square, neuron), the feature
//! biases, the output weights of the side to move and of the other side, all `i16`, and the output bias as `i32`.

mod arrange;
mod material;

pub use arrange::Arranged;
pub use material::material;

use alloc::{string::String, vec::Vec};
use bincode::{Decode, Encode};
use core::fmt;
use sha2::{Digest, Sha256};

/// The first bytes of an asset.
pub const MAGIC: [u8; 8] = *b"KILNNNUE";
/// The version of the format that is written and read. In version 1 the hash left out the header.
pub const VERSION: u16 = 2;
/// Accumulator widths that the engine can be built for, in steps of 32.
pub const HIDDEN_RANGE: core::ops::RangeInclusive<u32> = 32..=2048;
/// Inputs: two colours, six types, 64 squares.
const INPUTS: usize = 768;
/// Longest header that is read.
const HEADER_LIMIT: usize = 1 << 16;

/// What an asset says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Header {
    /// Name of the network.
    pub name: String,
    /// How it came about.
    pub provenance: String,
    /// Whether the board is mirrored left to right when the king stands on files e to h.
    pub mirrored: bool,
    /// Width of an accumulator.
    pub hidden: u32,
    /// Quantisation of feature weights and activations: 1.0 is stored as this number.
    pub qa: u16,
    /// Quantisation of output weights.
    pub qb: u16,
    /// Centipawns per unit of output.
    pub scale: u16,
    /// SHA-256 of this header with zeros in this place, followed by the uncompressed payload.
    pub sha256: [u8; 32],
}

impl Header {
    /// Length of the payload in bytes.
    pub fn payload_length(&self) -> usize {
        let hidden = self.hidden as usize;
        2 * (INPUTS * hidden + hidden + 2 * hidden) + 4
    }

    fn to_bytes(&self) -> Vec<u8> {
        bincode::encode_to_vec(self, bincode::config::standard()).expect("a header always encodes")
    }

    /// What [`Self::sha256`] should be.
    fn hash(&self, payload: &[u8]) -> [u8; 32] {
        let header = Self { sha256: [0; 32], ..self.clone() };
        Sha256::new_with_prefix(header.to_bytes()).chain_update(payload).finalize().into()
    }

    fn check(&self) -> Result<(), Fault> {
        let wrong = |field, value: u32, allowed| Err(Fault::Dimension { field, value, allowed });
        if !HIDDEN_RANGE.contains(&self.hidden) || !self.hidden.is_multiple_of(32) {
            return wrong("hidden", self.hidden, "32 to 2048 in steps of 32");
        }
        if !self.mirrored {
            return wrong("mirrored", 0, "1");
        }
        if !(1..=255).contains(&self.qa) {
            return wrong("qa", self.qa.into(), "1 to 255");
        }
        if !(1..=1024).contains(&self.qb) {
            return wrong("qb", self.qb.into(), "1 to 1024");
        }
        if !(1..=4096).contains(&self.scale) {
            return wrong("scale", self.scale.into(), "1 to 4096");
        }
        Ok(())
    }
}

/// Why an asset is refused.
#[derive(Debug)]
pub enum Fault {
    /// The file does not begin with [`MAGIC`].
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
    /// A dimension that the engine cannot be built for.
    Dimension {
        /// Name of the header's field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// What it may be.
        allowed: &'static str,
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
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NotAnAsset => write!(f, "not a network asset: it does not begin with KILNNNUE"),
            Self::Version(found) => write!(f, "format version {found}, only version {VERSION} is known"),
            Self::Truncated => write!(f, "the file ends within its header"),
            Self::Header(error) => write!(f, "unreadable header: {error}"),
            Self::HeaderLength { stated, read } => write!(f, "the header has {read} bytes, the file states {stated}"),
            Self::Dimension { field, value, allowed } => write!(f, "{field} is {value}, allowed is {allowed}"),
            Self::Payload(error) => write!(f, "the payload cannot be decompressed: {error}"),
            Self::Length { found, expected } => {
                write!(f, "the payload has {found} bytes, the dimensions in the header ask for {expected}")
            }
            Self::Hash => write!(f, "the contents do not have the SHA-256 that the header states: the file is damaged"),
            Self::Weight { tensor, found, limit } => {
                write!(f, "the {tensor} can overflow: {found} was found, the limit is {limit}")
            }
        }
    }
}

impl core::error::Error for Fault {}

/// A network in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its description.
    pub header: Header,
    /// Weights by (colour, type, square, neuron).
    pub features: Vec<i16>,
    /// Bias by neuron.
    pub feature_bias: Vec<i16>,
    /// Output weights: the side to move's neurons, then the other side's.
    pub output: Vec<i16>,
    /// Output bias, in units of `qa * qb`.
    pub output_bias: i32,
}

impl Asset {
    /// Reads an asset; the hash, the dimensions and the size of the weights are checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(Fault::NotAnAsset)?;
        let (version, rest) = rest.split_first_chunk().ok_or(Fault::Truncated)?;
        let version = u16::from_le_bytes(*version);
        if version != VERSION {
            return Err(Fault::Version(version));
        }
        let (length, rest) = rest.split_first_chunk().ok_or(Fault::Truncated)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (header, payload) = rest.split_at_checked(length).ok_or(Fault::Truncated)?;
        let config = bincode::config::standard().with_limit::<HEADER_LIMIT>();
        let (header, read) = bincode::decode_from_slice::<Header, _>(header, config).map_err(Fault::Header)?;
        if read != length {
            return Err(Fault::HeaderLength { stated: length, read });
        }
        header.check()?;

        let expected = header.payload_length();
        // The capacity bounds what is decompressed, however much the stream claims to hold.
        let payload = zstd::bulk::decompress(payload, expected).map_err(Fault::Payload)?;
        if payload.len() != expected {
            return Err(Fault::Length { found: payload.len(), expected });
        }
        if header.hash(&payload) != header.sha256 {
            return Err(Fault::Hash);
        }
        let hidden = header.hidden as usize;
        let (tensors, bias) = payload.split_last_chunk().expect("the length was checked");
        let mut values = tensors.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]]));
        let mut take = |n: usize| values.by_ref().take(n).collect::<Vec<i16>>();
        let asset = Self {
            features: take(INPUTS * hidden),
            feature_bias: take(hidden),
            output: take(2 * hidden),
            output_bias: i32::from_le_bytes(*bias),
            header,
        };
        asset.check_weights()?;
        Ok(asset)
    }

    /// The file that [`Asset::from_bytes`] reads. The hash in the header is computed, not taken over.
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload = self.payload();
        let header = Header { sha256: self.header.hash(&payload), ..self.header.clone() }.to_bytes();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        bytes.extend(zstd::bulk::compress(&payload, 19).expect("compression to memory does not fail"));
        bytes
    }

    fn payload(&self) -> Vec<u8> {
        let tensors = self.features.iter().chain(&self.feature_bias).chain(&self.output);
        tensors.flat_map(|w| w.to_le_bytes()).chain(self.output_bias.to_le_bytes()).collect()
    }

    /// No accumulator may leave `i16`, however many pieces of whatever kind stand on the board (32 at most), and the product of an
    /// activation with its output weight must fit `i16` too, as the vector kernels rely on it, and their sum over one accumulator `i32`.
    fn check_weights(&self) -> Result<(), Fault> {
        let hidden = self.header.hidden as usize;
        for (neuron, &bias) in self.feature_bias.iter().enumerate() {
            let column = self.features[neuron..].iter().step_by(hidden);
            let largest = column.map(|w| i64::from(w.unsigned_abs())).max().unwrap_or(0);
            let sum = i64::from(bias.unsigned_abs()) + 32 * largest;
            // One more piece is present for a moment while a move is applied.
            let limit = i64::from(i16::MAX) - largest;
            if sum > limit {
                return Err(Fault::Weight { tensor: "feature weights", found: sum, limit });
            }
        }
        let limit = i64::from(i16::MAX) / i64::from(self.header.qa);
        let largest = self.output.iter().map(|w| i64::from(w.unsigned_abs())).max().unwrap_or(0);
        if largest > limit {
            return Err(Fault::Weight { tensor: "output weights", found: largest, limit });
        }
        let limit = i64::from(i32::MAX);
        for half in self.output.chunks(hidden) {
            let sum = half.iter().map(|w| i64::from(w.unsigned_abs())).sum::<i64>();
            let found = sum * i64::from(self.header.qa).pow(2);
            if found > limit {
                return Err(Fault::Weight { tensor: "output sum", found, limit });
            }
        }
        Ok(())
    }
}
