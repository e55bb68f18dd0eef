//! Reads and writes `quantised.bin`, the weights that the trainer bullet's examples save.
//!
//! The tensors are little-endian, in the order of an asset's payload, padded to a multiple of 64 bytes. With a single
//! layer the output biases are `i16`, not `i32`. With several layers they are as in bullet's
//! `examples/progression/4_multi_layer.rs`: weights of the first layer are `i8` in units of `qb`, all further numbers
//! are `f32`, and weights are transposed. That example's layers have fewer inputs, since each reads only the one before
//! it, and that squared. The files do not contain their shape.

use super::{Asset, AssetError, Head, Header, Weights};
use alloc::vec::Vec;

/// Files are padded to a multiple of this.
const ALIGN: usize = 64;

impl Asset {
    /// Reads a `quantised.bin` of the shape in the header. The padding may be missing; its contents do not matter.
    ///
    /// # Errors
    /// If the header is invalid, the length differs from that of the shape, or a sum of weights could overflow.
    pub fn import(header: Header, bytes: &[u8]) -> Result<Self, AssetError> {
        header.check()?;
        // Output biases are the last tensor of the payload, and half as wide here.
        let narrow = if header.head == Head::Single { header.output_bucket_count() } else { 0 };
        let expected = header.payload_length() - 2 * narrow;
        let padded = expected.next_multiple_of(ALIGN);
        if ![expected, padded].contains(&bytes.len()) {
            return Err(AssetError::Quantised { found: bytes.len(), expected, padded });
        }
        let (same, narrow) = bytes[..expected].split_at(expected - 2 * narrow);
        let mut payload = same.to_vec();
        let wide = |&bytes: &[u8; 2]| i32::from(i16::from_le_bytes(bytes)).to_le_bytes();
        payload.extend(narrow.as_chunks().0.iter().flat_map(wide));
        let asset = Self::from_payload(header, &payload);
        asset.check_weights()?;
        Ok(asset)
    }

    /// Returns a `quantised.bin` for [`Asset::import`], padded as bullet does.
    ///
    /// # Errors
    /// If an output bias does not fit `i16`.
    pub fn export(&self) -> Result<Vec<u8>, AssetError> {
        let mut bytes = self.payload();
        if let Weights::Single { output_bias, .. } = &self.weights {
            bytes.truncate(bytes.len() - 4 * output_bias.len());
            for &bias in output_bias {
                bytes.extend(i16::try_from(bias).map_err(|_| AssetError::OutputBias(bias))?.to_le_bytes());
            }
        }
        let padding = bytes.len().next_multiple_of(ALIGN) - bytes.len();
        bytes.extend(b"bullet".iter().cycle().take(padding));
        Ok(bytes)
    }
}
