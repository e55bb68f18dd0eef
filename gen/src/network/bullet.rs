//! The files `quantised.bin` of the trainer bullet: the weights alone, as its simple examples write them.
//!
//! Little-endian, one tensor after another: feature weights, `i16`, by (king bucket, plane, square, neuron); feature biases, `i16`; output
//! weights, `i16`, by (output bucket, side to move or other side, neuron); output biases, `i16`, by output bucket in units of `qa * qb`; and
//! padding to a multiple of 64 bytes. The files tell nothing of their dimensions. Of networks with layers each of bullet's examples
//! writes its own order and number formats, so these are refused.

use super::{Asset, Fault, Head, Header, Tensors, Weights, append};
use alloc::vec::Vec;

/// Files are padded to a multiple of this.
const ALIGN: usize = 64;

impl Asset {
    /// Reads the `quantised.bin` of bullet's simple examples. The dimensions are those of the header; the padding may be missing and its
    /// contents do not matter.
    pub fn import(header: Header, bytes: &[u8]) -> Result<Self, Fault> {
        header.check()?;
        if header.head != Head::Single {
            return Err(Fault::Layers);
        }
        let (hidden, buckets) = (header.hidden as usize, header.output_bucket_count());
        let (inputs, outputs) = (header.input_count() * hidden, buckets * 2 * hidden);
        let expected = 2 * (inputs + hidden + outputs + buckets);
        let padded = expected.next_multiple_of(ALIGN);
        if ![expected, padded].contains(&bytes.len()) {
            return Err(Fault::Quantised { found: bytes.len(), expected, padded });
        }
        let mut rest = Tensors(bytes);
        let features = rest.take(inputs, i16::from_le_bytes);
        let feature_bias = rest.take(hidden, i16::from_le_bytes);
        let output = rest.take(outputs, i16::from_le_bytes);
        let output_bias = rest.take(buckets, |bytes| i16::from_le_bytes(bytes).into());
        let asset = Self { header, features, feature_bias, weights: Weights::Single { output, output_bias } };
        asset.check_weights()?;
        Ok(asset)
    }

    /// The file that [`Asset::import`] reads, padded as bullet does.
    pub fn export(&self) -> Result<Vec<u8>, Fault> {
        let Weights::Single { output, output_bias } = &self.weights else { return Err(Fault::Layers) };
        let mut bytes = Vec::new();
        for tensor in [&self.features, &self.feature_bias, output] {
            append(&mut bytes, tensor, i16::to_le_bytes);
        }
        for &bias in output_bias {
            bytes.extend(i16::try_from(bias).map_err(|_| Fault::OutputBias(bias))?.to_le_bytes());
        }
        let padding = bytes.len().next_multiple_of(ALIGN) - bytes.len();
        bytes.extend(b"bullet".iter().cycle().take(padding));
        Ok(bytes)
    }
}
