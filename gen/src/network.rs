//! Network assets: a self-describing file, checked and arranged for the engine.
//!
//! An asset is the eight bytes [`MAGIC`], the format version as `u16`, the length of the header as `u32`, the [`Header`] in bincode, and the
//! payload compressed by zstd. All numbers are little-endian. The payload holds the tensors in their canonical order, whatever the target:
//!
//! - feature weights, `i16`, by (king bucket, state if there are threats, plane, square, neuron), and feature biases, `i16`, by neuron;
//! - for [`Head::Single`]: output weights, `i16`, by (output bucket, side to move or other side, neuron), and output biases, `i32`, by
//!   output bucket in units of `qa * qb`;
//! - for [`Head::Layers`]: weights of the first layer, `i8`, by (output bucket, neuron, input), where the inputs are the products of the
//!   side to move, then those of the other side; the first biases, `f32`, by (output bucket, neuron); the second weights, `f32`, by (output
//!   bucket, neuron, input); the second biases; the third weights, `f32`, by (output bucket, input); the third biases, by output bucket.
//!
//! What the network makes of them is written out in [`Asset::evaluate`].

mod arrange;
mod bullet;
mod error;
mod header;
mod material;
#[cfg(feature = "generate")]
mod random;
mod reference;

pub use arrange::Arranged;
pub use error::AssetError;
pub use header::{
    Expected, HIDDEN_RANGE, Head, Header, Inputs, MAX_EXPECTED, MAX_FEATURE_SETS, MAX_OUTPUT_BUCKETS, Provenance,
    THREAT_STATES, equal_king_buckets, equal_output_buckets, is_less, threat_state,
};
pub use material::material;

use alloc::vec::Vec;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first bytes of an asset.
pub const MAGIC: [u8; 8] = *b"KILNNNUE";
/// The version of the format that is written and read. In version 1 the hash left out the header; version 2 knew one shape, version 3 no threats.
pub const VERSION: u16 = 4;
/// Longest file that is read. The widest network with the most buckets has 101 MB.
const FILE_LIMIT: u64 = 1 << 27;
/// Longest header that is read.
const HEADER_LIMIT: usize = 1 << 16;
/// Largest magnitude of a weight in floating point: sums of any number of them stay finite, and exact enough.
const FLOAT_LIMIT: f32 = 65536.0;

/// A network in canonical form. The order of each tensor is told in the documentation of this module.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// Its description.
    pub header: Header,
    /// Weights of the inputs.
    pub features: Vec<i16>,
    /// Where each accumulator starts.
    pub feature_bias: Vec<i16>,
    /// What follows the accumulators.
    pub weights: Weights,
}

/// The weights of a [`Head`].
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// Those of [`Head::Single`].
    Single {
        /// Weights of the activations.
        output: Vec<i16>,
        /// Added to the output, in units of `qa * qb`.
        output_bias: Vec<i32>,
    },
    /// Those of [`Head::Layers`].
    Layers {
        /// First layer: weights of the products.
        first: Vec<i8>,
        /// First layer: biases.
        first_bias: Vec<f32>,
        /// Second layer: weights.
        second: Vec<f32>,
        /// Second layer: biases.
        second_bias: Vec<f32>,
        /// Third layer: weights.
        third: Vec<f32>,
        /// Third layer: biases.
        third_bias: Vec<f32>,
    },
}

/// The contents of a file of weights. A device or a pipe, which could be read without end, is refused, and what is longer than any network.
pub fn read_file(path: &Path) -> Result<Vec<u8>, AssetError> {
    // Opening a pipe would wait for whoever writes to it.
    if !std::fs::metadata(path).map_err(AssetError::Read)?.is_file() {
        return Err(AssetError::NoFile);
    }
    let file = File::open(path).map_err(AssetError::Read)?;
    let length = file.metadata().map_err(AssetError::Read)?.len();
    if length > FILE_LIMIT {
        return Err(AssetError::TooLong { length, limit: FILE_LIMIT });
    }
    let mut bytes = Vec::new();
    file.take(FILE_LIMIT).read_to_end(&mut bytes).map_err(AssetError::Read)?;
    Ok(bytes)
}

impl Asset {
    /// Reads what an asset says of itself, and checks the dimensions. Whether it keeps it, only [`Asset::from_bytes`] finds out.
    pub fn read_header(bytes: &[u8]) -> Result<Header, AssetError> {
        Self::split(bytes).map(|(header, _)| header)
    }

    /// The header and the compressed payload.
    fn split(bytes: &[u8]) -> Result<(Header, &[u8]), AssetError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(AssetError::NotAnAsset)?;
        let (version, rest) = rest.split_first_chunk().ok_or(AssetError::Truncated)?;
        let version = u16::from_le_bytes(*version);
        if version != VERSION {
            return Err(AssetError::Version(version));
        }
        let (length, rest) = rest.split_first_chunk().ok_or(AssetError::Truncated)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (header, payload) = rest.split_at_checked(length).ok_or(AssetError::Truncated)?;
        let config = bincode::config::standard().with_limit::<HEADER_LIMIT>();
        let (header, read) = bincode::decode_from_slice::<Header, _>(header, config).map_err(AssetError::Header)?;
        if read != length {
            return Err(AssetError::HeaderLength { stated: length, read });
        }
        header.check()?;
        Ok((header, payload))
    }

    /// Reads an asset; the hash, the dimensions and the size of the weights are checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AssetError> {
        let (header, payload) = Self::split(bytes)?;
        let expected = header.payload_length();
        // The capacity bounds what is decompressed, however much the stream claims to hold.
        let payload = zstd::bulk::decompress(payload, expected).map_err(AssetError::Payload)?;
        if payload.len() != expected {
            return Err(AssetError::Length { found: payload.len(), expected });
        }
        if header.hash(&payload) != header.sha256 {
            return Err(AssetError::Hash);
        }
        let asset = Self::from_payload(header, &payload);
        asset.check_weights()?;
        Ok(asset)
    }

    /// Cuts a payload of the right length into its tensors.
    fn from_payload(header: Header, payload: &[u8]) -> Self {
        let hidden = header.hidden as usize;
        let buckets = header.output_bucket_count();
        let mut rest = Tensors(payload);
        let features = rest.take(header.input_count() * hidden, i16::from_le_bytes);
        let feature_bias = rest.take(hidden, i16::from_le_bytes);
        let weights = match header.head {
            Head::Single => Weights::Single {
                output: rest.take(buckets * 2 * hidden, i16::from_le_bytes),
                output_bias: rest.take(buckets, i32::from_le_bytes),
            },
            Head::Layers { first, second } => {
                let (first, second) = (first as usize, second as usize);
                Weights::Layers {
                    first: rest.take(buckets * first * hidden, i8::from_le_bytes),
                    first_bias: rest.take(buckets * first, f32::from_le_bytes),
                    second: rest.take(buckets * second * first, f32::from_le_bytes),
                    second_bias: rest.take(buckets * second, f32::from_le_bytes),
                    third: rest.take(buckets * second, f32::from_le_bytes),
                    third_bias: rest.take(buckets, f32::from_le_bytes),
                }
            }
        };
        debug_assert!(rest.0.is_empty(), "the length of the payload is not that of its tensors");
        Self { header, features, feature_bias, weights }
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
        let mut bytes = Vec::new();
        append(&mut bytes, &self.features, i16::to_le_bytes);
        append(&mut bytes, &self.feature_bias, i16::to_le_bytes);
        match &self.weights {
            Weights::Single { output, output_bias } => {
                append(&mut bytes, output, i16::to_le_bytes);
                append(&mut bytes, output_bias, i32::to_le_bytes);
            }
            Weights::Layers { first, first_bias, second, second_bias, third, third_bias } => {
                append(&mut bytes, first, i8::to_le_bytes);
                for tensor in [first_bias, second, second_bias, third, third_bias] {
                    append(&mut bytes, tensor, f32::to_le_bytes);
                }
            }
        }
        bytes
    }

    /// Refuses weights with which a sum could overflow.
    ///
    /// No accumulator may leave `i16`, however many pieces of whatever kind stand on the board (32 at most). With a single layer, the product of
    /// an activation with its output weight must fit `i16` too, as the vector kernels rely on it, and their sum over one accumulator `i32`. The sums of
    /// the first of several layers always fit: 2048 products of at most 127 · 128.
    fn check_weights(&self) -> Result<(), AssetError> {
        let hidden = self.header.hidden as usize;
        // Whatever states they are in.
        for bucket in self.features.chunks_exact(self.features.len() / self.header.king_bucket_count()) {
            let mut largest = alloc::vec![0_i64; hidden];
            for row in bucket.chunks_exact(hidden) {
                for (largest, weight) in largest.iter_mut().zip(row) {
                    *largest = i64::from(weight.unsigned_abs()).max(*largest);
                }
            }
            for (largest, bias) in largest.into_iter().zip(&self.feature_bias) {
                let found = i64::from(bias.unsigned_abs()) + 32 * largest;
                // One more piece is present for a moment while a move is applied.
                let limit = i64::from(i16::MAX) - largest;
                if found > limit {
                    return Err(AssetError::Weight { tensor: "feature weights", found, limit });
                }
            }
        }
        match &self.weights {
            Weights::Single { output, .. } => self.check_output(output),
            Weights::Layers { first_bias, second, second_bias, third, third_bias, .. } => [
                ("first biases", first_bias),
                ("second weights", second),
                ("second biases", second_bias),
                ("third weights", third),
                ("third biases", third_bias),
            ]
            .into_iter()
            .try_for_each(|(tensor, values)| check_floats(tensor, values)),
        }
    }

    fn check_output(&self, output: &[i16]) -> Result<(), AssetError> {
        let limit = i64::from(i16::MAX) / i64::from(self.header.qa);
        let largest = output.iter().map(|w| i64::from(w.unsigned_abs())).max().unwrap_or(0);
        if largest > limit {
            return Err(AssetError::Weight { tensor: "output weights", found: largest, limit });
        }
        let limit = i64::from(i32::MAX);
        for half in output.chunks(self.header.hidden as usize) {
            let sum = half.iter().map(|w| i64::from(w.unsigned_abs())).sum::<i64>();
            let found = sum * i64::from(self.header.qa).pow(2);
            if found > limit {
                return Err(AssetError::Weight { tensor: "output sum", found, limit });
            }
        }
        Ok(())
    }
}

/// What is left of a payload.
struct Tensors<'a>(&'a [u8]);

impl Tensors<'_> {
    /// The next `count` numbers. The length of the payload was checked.
    fn take<T, const SIZE: usize>(&mut self, count: usize, read: fn([u8; SIZE]) -> T) -> Vec<T> {
        let (numbers, rest) = self.0.split_at(count * SIZE);
        self.0 = rest;
        numbers.as_chunks().0.iter().map(|&bytes| read(bytes)).collect()
    }
}

fn append<T: Copy, const SIZE: usize>(bytes: &mut Vec<u8>, numbers: &[T], write: fn(T) -> [u8; SIZE]) {
    bytes.extend(numbers.iter().flat_map(|&number| write(number)));
}

fn check_floats(tensor: &'static str, values: &[f32]) -> Result<(), AssetError> {
    // No range holds what is no number.
    match values.iter().find(|value| !(-FLOAT_LIMIT..=FLOAT_LIMIT).contains(*value)) {
        Some(&found) => Err(AssetError::Float { tensor, found, limit: FLOAT_LIMIT }),
        None => Ok(()),
    }
}
