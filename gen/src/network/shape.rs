//! The shape of a network, for which an engine is compiled.

use super::{Activations, Head, Header, Inputs, THREAT_STATES, Threats};
use alloc::{format, string::String};
use core::fmt;

/// Everything about a network that an engine is compiled for: all of its [`Header`] but name, provenance,
/// win-draw-loss model and expected scores.
///
/// An engine can load a network at run time if and only if its shape equals the compiled one. `Display` writes the
/// trainers' notation, such as `(768x4hm -> 512 pairwise)x2 -> 16 -> 32 -> 1, 8 output buckets`, or `(6x768x4hm -> …`
/// with threat states and `(768x4hm + 59808 -> …` with pairs. It leaves out which squares share a bucket and the
/// quantisation; [`NetworkShape::key`] has everything.
///
/// ```
/// use kiln_gen::network::{Header, equal_output_buckets};
/// let header = Header { output_buckets: equal_output_buckets(8), ..Header::plain(256) };
/// assert_eq!(header.shape().to_string(), "(768 -> 256)x2 -> 1, 8 output buckets");
/// assert_ne!(header.shape(), Header { scale: 200, ..header.clone() }.shape());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    /// The input features.
    pub inputs: Inputs,
    /// Width of an accumulator.
    pub hidden: u32,
    /// The layers after the accumulators.
    pub head: Head,
    /// The output bucket by the number of pieces on the board, from 0 to 32.
    pub output_buckets: [u8; 33],
    /// Quantisation of feature weights and activations.
    pub qa: u16,
    /// Quantisation of the weights that multiply the activations.
    pub qb: u16,
    /// Centipawns per unit of output.
    pub scale: u16,
}

impl NetworkShape {
    /// Returns the number of output buckets.
    pub const fn output_bucket_count(&self) -> usize {
        bucket_count(&self.output_buckets)
    }

    /// Returns all fields as text. The text does not change between versions, so its hash may be kept in files.
    pub fn key(&self) -> String {
        let Self { inputs, hidden, head, output_buckets, qa, qb, scale } = self;
        format!("{inputs:?} {hidden} {head:?} {output_buckets:?} {qa} {qb} {scale}")
    }

    /// Returns the name of the head's type in [`crate::layout`].
    pub(super) fn head_type(&self) -> String {
        let Self { hidden, head, .. } = self;
        let buckets = self.output_bucket_count();
        match head {
            Head::Single => format!("SingleHead<{hidden}, {buckets}>"),
            Head::Layers { inputs, first, second } => {
                let quads = 2 * inputs.count(*hidden as usize) / 4;
                format!("LayersHead<{quads}, {first}, {second}, {buckets}>")
            }
        }
    }
}

impl fmt::Display for NetworkShape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { inputs, hidden, head, .. } = self;
        write!(f, "(")?;
        if inputs.threats == Threats::States {
            write!(f, "{THREAT_STATES}x")?;
        }
        write!(f, "{}", 64 * inputs.planes())?;
        if inputs.king_bucket_count() > 1 {
            write!(f, "x{}", inputs.king_bucket_count())?;
        }
        write!(f, "{}", if inputs.mirrored { "hm" } else { "" })?;
        if inputs.threats == Threats::Pairs {
            write!(f, " + {}", inputs.threats.pairs())?;
        }
        write!(f, " -> {hidden}")?;
        if let Head::Layers { inputs: Activations::Products, .. } = head {
            write!(f, " pairwise")?;
        }
        write!(f, ")x2")?;
        if let Head::Layers { first, second, .. } = head {
            write!(f, " -> {first} -> {second}")?;
        }
        write!(f, " -> 1")?;
        match self.output_bucket_count() {
            1 => Ok(()),
            buckets => write!(f, ", {buckets} output buckets"),
        }
    }
}

impl Inputs {
    /// Returns the number of king buckets.
    pub const fn king_bucket_count(&self) -> usize {
        bucket_count(&self.king_buckets)
    }

    /// Returns the number of sets of feature weights: king buckets, times the states of a piece.
    pub const fn feature_set_count(&self) -> usize {
        self.king_bucket_count() * self.threats.states()
    }

    /// Returns the number of planes of 64 features in each set.
    pub const fn planes(&self) -> usize {
        if self.merged_kings { 11 } else { 12 }
    }
}

impl Header {
    /// Returns the shape of the network.
    pub fn shape(&self) -> NetworkShape {
        let Self { ref inputs, hidden, head, output_buckets, qa, qb, scale, .. } = *self;
        NetworkShape { inputs: inputs.clone(), hidden, head, output_buckets, qa, qb, scale }
    }
}

/// Returns one more than the highest bucket number.
pub(super) const fn bucket_count(buckets: &[u8]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < buckets.len() {
        if buckets[i] as usize >= count {
            count = buckets[i] as usize + 1;
        }
        i += 1;
    }
    count
}
