//! Network assets: self-describing files of weights, checked and arranged for the engine.
//!
//! An asset is the eight bytes [`MAGIC`], the format version as `u16`, the length of the header as `u32`, the
//! [`Header`] in bincode, and the payload compressed by zstd. All numbers are little-endian. The payload holds the
//! tensors in canonical order on every target:
//!
//! - feature weights, `i16`, by (king bucket, threat state with [`Threats::States`], plane, square, neuron), and
//!   feature biases, `i16`, by neuron; with pairs of pieces, their weights, `i8`, by (feature, neuron);
//! - for [`Head::Single`]: output weights, `i16`, by (output bucket, side to move or other side, neuron), and output
//!   biases, `i32`, by output bucket in units of `qa * qb`;
//! - for [`Head::Layers`]: weights of the first layer, `i8`, by (output bucket, neuron, input), where the inputs are
//!   the [`Activations`] of the side to move, then those of the other side; the first biases, `f32`, by (output bucket,
//!   neuron); the second weights, `f32`, by (output bucket, neuron, input), where the inputs are the first layer's
//!   neurons clipped, then the same squared; the second biases; the third weights, `f32`, by (output bucket, input),
//!   where the inputs are the second layer's neurons, then the first layer's; the third biases, by output bucket.
//!
//! [`Asset::evaluate`] is the reference evaluation.
//!
//! ```
//! use kiln_gen::network::{Asset, material};
//! let bytes = material().to_bytes();
//! let asset = Asset::from_bytes(&bytes)?;
//! assert_eq!(asset.header.shape().to_string(), "(768hm -> 32)x2 -> 1");
//! // White: king e1 and queen d1; Black: king e8. Pieces are color, type and square.
//! let pieces = [(0, 5, 4), (0, 4, 3), (1, 5, 60)];
//! assert!(asset.evaluate(&pieces, false) > 900);
//! # Ok::<(), kiln_gen::network::AssetError>(())
//! ```

mod arrange;
mod bullet;
mod error;
mod header;
mod material;
#[cfg(feature = "generate")]
mod random;
mod reference;
mod shape;

pub use arrange::NetworkBlob;
pub use error::AssetError;
pub use header::{
    Activations, DESCRIPTION_LIMIT, Expected, HIDDEN_RANGE, HIDDEN_STEP, Head, Header, Inputs, MAX_EXPECTED,
    MAX_FEATURE_SETS, MAX_OUTPUT_BUCKETS, Provenance, QA_RANGE, QB_RANGE, SCALE_RANGE, TEXT_LIMIT, THREAT_STATES,
    Threats, equal_king_buckets, equal_output_buckets, is_less, threat_state,
};
pub use material::material;
pub use shape::NetworkShape;

use alloc::{format, vec::Vec};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The first bytes of an asset.
pub const MAGIC: [u8; 8] = *b"KILNNNUE";
/// The version of the format, which did not change when [`Threats::Pairs`] and [`Activations`] came. The hash of
/// version 1 did not cover the header, version 2 had a fixed shape, and version 3 had no threats.
pub const VERSION: u16 = 4;
/// The bytes before the header: magic, version, length.
const HEADER_START: usize = MAGIC.len() + 2 + 4;
/// The most bytes of a file. The widest network, with 64 king buckets and pairs, has 325 MB.
const FILE_LIMIT: u64 = 1 << 29;
/// The most bytes of a header.
const HEADER_LIMIT: usize = 1 << 16;
/// The most features of pairs of pieces that a position is taken to have. In games there are 16 on average, and 48 were
/// seen.
const MOST_PAIRS: i64 = 96;
/// The largest magnitude of a floating-point weight: sums stay finite and precise enough.
const FLOAT_LIMIT: f32 = 65536.0;

/// A network in canonical form. The module's documentation has the order of each tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// The description of the network.
    pub header: Header,
    /// Weights of the input features.
    pub features: Vec<i16>,
    /// The value of an accumulator without features.
    pub feature_bias: Vec<i16>,
    /// Weights of the features of [`Threats::Pairs`], empty without them.
    pub pairs: Vec<i8>,
    /// Weights of the layers after the accumulators.
    pub weights: Weights,
}

/// The weights of a [`Head`].
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// The weights of [`Head::Single`].
    Single {
        /// Weights of the activations.
        output: Vec<i16>,
        /// Added to the output, in units of `qa * qb`.
        output_bias: Vec<i32>,
    },
    /// The weights of [`Head::Layers`].
    Layers {
        /// First layer: weights of the [`Activations`].
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

/// Reads a file of weights.
///
/// # Errors
/// If the path is not a regular file (a device or a pipe may never end), the file is longer than any network, or it
/// cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<u8>, AssetError> {
    // Checked first: opening a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(AssetError::Read)?.is_file() {
        return Err(AssetError::NotAFile);
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
    /// Reads and checks the header of an asset, but not the payload, which [`Asset::from_bytes`] checks.
    ///
    /// # Errors
    /// If the bytes do not begin with a valid header.
    pub fn read_header(bytes: &[u8]) -> Result<Header, AssetError> {
        Self::split(bytes).map(|(header, _)| header)
    }

    /// Splits an asset into its header and the compressed payload.
    fn split(bytes: &[u8]) -> Result<(Header, &[u8]), AssetError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(AssetError::NotAnAsset)?;
        let truncated = |expected| AssetError::Truncated { found: bytes.len(), expected };
        let (version, rest) = rest.split_first_chunk().ok_or(truncated(HEADER_START))?;
        let version = u16::from_le_bytes(*version);
        if version != VERSION {
            return Err(AssetError::Version(version));
        }
        let (length, rest) = rest.split_first_chunk().ok_or(truncated(HEADER_START))?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > HEADER_LIMIT {
            let expected = format!("at most {HEADER_LIMIT}");
            return Err(AssetError::Dimension { field: "length of the header", value: length as u32, expected });
        }
        let (header, payload) = rest.split_at_checked(length).ok_or(truncated(HEADER_START.saturating_add(length)))?;
        let config = bincode::config::standard().with_limit::<HEADER_LIMIT>();
        let (header, read) = bincode::decode_from_slice::<Header, _>(header, config).map_err(AssetError::Header)?;
        if read != length {
            return Err(AssetError::HeaderLength { stated: length, read });
        }
        header.check()?;
        Ok((header, payload))
    }

    /// Reads an asset and checks its hash, its shape and the magnitude of its weights.
    ///
    /// # Errors
    /// If the bytes are not a valid asset.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, AssetError> {
        let (header, compressed) = Self::split(bytes)?;
        let expected = header.payload_length();
        // To zstd, nothing is a payload without contents.
        if compressed.is_empty() {
            return Err(AssetError::Cut { length: bytes.len(), found: 0, expected });
        }
        let payload = decompress(bytes.len(), compressed, expected)?;
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

    /// Splits a payload of the correct length into its tensors.
    fn from_payload(header: Header, payload: &[u8]) -> Self {
        let hidden = header.hidden as usize;
        let buckets = header.output_bucket_count();
        let mut rest = Tensors(payload);
        let features = rest.take(header.input_count() * hidden, i16::from_le_bytes);
        let feature_bias = rest.take(hidden, i16::from_le_bytes);
        let pairs = rest.take(header.inputs.threats.pairs() * hidden, i8::from_le_bytes);
        let weights = match header.head {
            Head::Single => Weights::Single {
                output: rest.take(buckets * 2 * hidden, i16::from_le_bytes),
                output_bias: rest.take(buckets, i32::from_le_bytes),
            },
            Head::Layers { inputs, first, second } => {
                let (inputs, first, second) = (2 * inputs.count(hidden), first as usize, second as usize);
                Weights::Layers {
                    first: rest.take(buckets * first * inputs, i8::from_le_bytes),
                    first_bias: rest.take(buckets * first, f32::from_le_bytes),
                    second: rest.take(buckets * second * 2 * first, f32::from_le_bytes),
                    second_bias: rest.take(buckets * second, f32::from_le_bytes),
                    third: rest.take(buckets * (second + first), f32::from_le_bytes),
                    third_bias: rest.take(buckets, f32::from_le_bytes),
                }
            }
        };
        debug_assert!(rest.0.is_empty(), "the length of the payload is not that of its tensors");
        Self { header, features, feature_bias, pairs, weights }
    }

    /// Encodes the asset for [`Asset::from_bytes`], with a new hash in the header. Not in WebAssembly.
    #[cfg(not(target_family = "wasm"))]
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload = self.payload();
        let header = Header { sha256: self.header.hash(&payload), ..self.header.clone() }.to_bytes();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        // Level 19 makes the file of a trained network 7 % smaller and takes 14 times as long.
        bytes.extend(zstd::bulk::compress(&payload, 9).expect("compression to memory does not fail"));
        bytes
    }

    fn payload(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        append(&mut bytes, &self.features, i16::to_le_bytes);
        append(&mut bytes, &self.feature_bias, i16::to_le_bytes);
        append(&mut bytes, &self.pairs, i8::to_le_bytes);
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

    /// Checks that no sum can overflow.
    ///
    /// No accumulator may leave `i16` with any 32 pieces on the board and [`MOST_PAIRS`] pairs of them. With a single
    /// layer, the product of an activation and its output weight must fit `i16`, as the vector kernels require, and the
    /// sum over one accumulator must fit `i32`. The sums of the first of several layers always fit: at most 4096
    /// products of at most 127 · 128.
    fn check_weights(&self) -> Result<(), AssetError> {
        let hidden = self.header.hidden as usize;
        let mut largest_pairs = alloc::vec![0_i64; hidden];
        raise(&mut largest_pairs, &self.pairs);
        // One chunk per king bucket: all threat states of a bucket may occur in one position.
        for bucket in self.features.chunks_exact(self.features.len() / self.header.inputs.king_bucket_count()) {
            let mut largest = alloc::vec![0_i64; hidden];
            raise(&mut largest, bucket);
            for ((largest, pair), bias) in largest.into_iter().zip(&largest_pairs).zip(&self.feature_bias) {
                let found = i64::from(bias.unsigned_abs()) + 32 * largest + MOST_PAIRS * pair;
                // While a move is applied, one more piece may be present.
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

/// Decompresses the payload of a file of `file` bytes. `expected` bounds what it may take in memory, whatever length
/// the stream claims.
#[cfg(not(target_family = "wasm"))]
fn decompress(file: usize, compressed: &[u8], expected: usize) -> Result<Vec<u8>, AssetError> {
    zstd::bulk::decompress(compressed, expected).map_err(|_| diagnose(file, compressed, expected))
}

/// WebAssembly has no C library, which zstd needs.
#[cfg(target_family = "wasm")]
fn decompress(_: usize, _: &[u8], _: usize) -> Result<Vec<u8>, AssetError> {
    Err(AssetError::Read(std::io::Error::new(ErrorKind::Unsupported, "WebAssembly cannot load networks")))
}

/// Returns why a payload cannot be decompressed to `expected` bytes: decompresses it again, piece by piece. zstd itself
/// says neither what is missing nor where; built to be small, it has no messages at all.
#[cfg(not(target_family = "wasm"))]
fn diagnose(file: usize, compressed: &[u8], expected: usize) -> AssetError {
    let mut found = 0;
    let mut piece = alloc::vec![0; 1 << 16];
    let Ok(decoder) = zstd::Decoder::with_buffer(compressed) else {
        return AssetError::Payload { place: file - compressed.len(), found, expected };
    };
    let mut decoder = decoder.single_frame();
    loop {
        match decoder.read(&mut piece) {
            Ok(0) => break,
            Ok(_) if found > expected => break,
            Ok(length) => found += length,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return AssetError::Cut { length: file, found, expected };
            }
            Err(_) => return AssetError::Payload { place: file - decoder.get_ref().len(), found, expected },
        }
    }
    match decoder.get_ref().len() {
        _ if found > expected => AssetError::TooMuch { expected },
        0 => AssetError::Length { found, expected },
        more => AssetError::Trailing { more, place: file - more },
    }
}

/// The tensors of a payload that are not yet read.
struct Tensors<'a>(&'a [u8]);

impl Tensors<'_> {
    /// Reads the next `count` numbers. The length of the payload was checked.
    fn take<T, const SIZE: usize>(&mut self, count: usize, read: fn([u8; SIZE]) -> T) -> Vec<T> {
        let (numbers, rest) = self.0.split_at(count * SIZE);
        self.0 = rest;
        numbers.as_chunks().0.iter().map(|&bytes| read(bytes)).collect()
    }
}

/// Raises each neuron's number to the largest magnitude of its weights in all rows.
fn raise<T: Copy + Into<i64>>(largest: &mut [i64], rows: &[T]) {
    for row in rows.chunks_exact(largest.len()) {
        largest.iter_mut().zip(row).for_each(|(largest, &weight)| *largest = weight.into().abs().max(*largest));
    }
}

fn append<T: Copy, const SIZE: usize>(bytes: &mut Vec<u8>, numbers: &[T], write: fn(T) -> [u8; SIZE]) {
    bytes.extend(numbers.iter().flat_map(|&number| write(number)));
}

fn check_floats(tensor: &'static str, values: &[f32]) -> Result<(), AssetError> {
    // No range contains NaN.
    match values.iter().find(|value| !(-FLOAT_LIMIT..=FLOAT_LIMIT).contains(*value)) {
        Some(&found) => Err(AssetError::Float { tensor, found, limit: FLOAT_LIMIT }),
        None => Ok(()),
    }
}
