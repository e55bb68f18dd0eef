//! What the engine embeds: blobs of the types in [`crate::layout`], and the constants that those types depend on.
//!
//! Where pairwise products follow the accumulators, neurons may change places as long as both halves of a row and the weights of the products go along: the sums are the
//! same integers. So they are put where the instruction set wants them.

use super::{Asset, Head, Header, Weights};
use crate::layout::{Packing, Plain};
use alloc::{format, string::String, vec::Vec};

/// A blob of a network.
pub struct Arranged {
    /// Its name.
    pub name: &'static str,
    /// The name of its type in [`crate::layout`].
    pub element: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Where a biased number of buckets ends in a blob: a cache line of 32-bit numbers.
const BIASES: usize = 16;

fn write<T: Plain>(out: &mut Vec<u8>, values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(|value| value.write_le(out));
}

/// The biases of all buckets, and zeros up to the end of a cache line.
fn padded<T: Plain + Default>(biases: &[T]) -> [T; BIASES] {
    core::array::from_fn(|bucket| biases.get(bucket).copied().unwrap_or_default())
}

impl Header {
    /// All that a program is built for, as text to be compared: everything but names, provenance and weights.
    pub fn dimensions(&self) -> String {
        let Self { inputs, hidden, head, output_buckets, qa, qb, scale, .. } = self;
        format!("{inputs:?} {hidden} {head:?} {output_buckets:?} {qa} {qb} {scale}")
    }

    /// The type of the head in [`crate::layout`].
    fn head_type(&self) -> String {
        let buckets = self.output_bucket_count();
        match self.head {
            Head::Single => format!("SingleHead<{}, {buckets}>", self.hidden),
            Head::Layers { first, second } => format!("LayersHead<{}, {first}, {second}, {buckets}>", self.hidden / 4),
        }
    }
}

impl Asset {
    /// The blobs that the engine reads: the first layer and the head, for an instruction set with this packing.
    pub fn arrange(&self, packing: Packing) -> [Arranged; 2] {
        let Header { hidden, .. } = self.header;
        let pairs = match self.header.head {
            Head::Single => None,
            Head::Layers { .. } => Some(self.pairs_by_firing()),
        };
        [
            Arranged {
                name: "network_features",
                element: format!("Features<{hidden}, {}>", self.header.feature_set_count()),
                bytes: self.arranged_features(pairs.as_deref(), packing.for_width(hidden as usize)),
            },
            Arranged {
                name: "network_head",
                element: self.header.head_type(),
                bytes: self.arranged_head(pairs.as_deref().unwrap_or_default()),
            },
        ]
    }

    /// Twelve planes for each set: what merged kings share is there twice. The pairs of neurons are in the order given, if any.
    fn arranged_features(&self, pairs: Option<&[usize]>, packing: Packing) -> Vec<u8> {
        let hidden = self.header.hidden as usize;
        let places: Option<Vec<usize>> = pairs.map(|pairs| {
            let half = (0..hidden / 2).map(|place| pairs[packing.number_at(place)]);
            half.clone().chain(half.map(|pair| hidden / 2 + pair)).collect()
        });
        let mut bytes = Vec::new();
        let mut write_rows = |rows: &[i16]| match &places {
            None => write(&mut bytes, rows.iter().copied()),
            Some(places) => {
                rows.chunks_exact(hidden).for_each(|row| write(&mut bytes, places.iter().map(|&neuron| row[neuron])))
            }
        };
        let planes = self.header.planes();
        for set in self.features.chunks_exact(planes * 64 * hidden) {
            write_rows(set);
            if planes < 12 {
                write_rows(&set[5 * 64 * hidden..6 * 64 * hidden]);
            }
        }
        write_rows(&self.feature_bias);
        bytes
    }

    /// `pairs` is the order of the products of one side.
    fn arranged_head(&self, pairs: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let inputs = self.header.hidden as usize;
        match (&self.weights, self.header.head) {
            (Weights::Single { output, output_bias }, _) => {
                write(&mut bytes, output.iter().copied());
                padded(output_bias).write_le(&mut bytes);
            }
            (
                Weights::Layers { first, first_bias, second, second_bias, third, third_bias },
                Head::Layers { first: neurons, second: second_neurons },
            ) => {
                let (neurons, second_neurons) = (neurons as usize, second_neurons as usize);
                let order: Vec<usize> =
                    pairs.iter().copied().chain(pairs.iter().map(|pair| inputs / 2 + pair)).collect();
                for bucket in first.chunks_exact(neurons * inputs) {
                    for quad in order.as_chunks::<4>().0 {
                        for row in bucket.chunks_exact(inputs) {
                            write(&mut bytes, quad.iter().map(|&input| row[input]));
                        }
                    }
                }
                write(&mut bytes, first_bias.iter().copied());
                for bucket in second.chunks_exact(second_neurons * neurons) {
                    for input in 0..neurons {
                        write(&mut bytes, bucket.iter().copied().skip(input).step_by(neurons));
                    }
                }
                write(&mut bytes, second_bias.iter().copied());
                write(&mut bytes, third.iter().copied());
                padded(third_bias).write_le(&mut bytes);
            }
            (Weights::Layers { .. }, Head::Single) => unreachable!("the weights were read as the header says"),
        }
        bytes
    }

    /// Rust source with the dimensions as constants and the type of the head: what the engine's types depend on, no weights.
    ///
    /// `packing` is what [`Self::arrange`] is called with.
    pub fn dimensions(&self, packing: Packing) -> String {
        let Header { name, inputs, hidden, output_buckets, qa, qb, scale, win_draw_loss, .. } = &self.header;
        format!(
            "/// All that the engine is built for, as [`kiln_gen::network::Header::dimensions`] writes it.\npub const DIMENSIONS: &str = {dimensions:?};\n\
             /// The shape, to be read by people.\npub const SHAPE: &str = {shape:?};\n\
             /// The network's name.\npub const NAME: &str = {name:?};\n\
             /// What the weights are arranged for.\npub const PACKING: kiln_gen::layout::Packing = kiln_gen::layout::{packing:?};\n\
             /// The network's hash, of header and weights.\npub const SHA256: &str = {sha256:?};\n\
             /// Whether files are mirrored when a king stands on files e to h.\npub const MIRRORED: bool = {mirrored};\n\
             /// How many sets of feature weights there are by king.\npub const KING_BUCKETS: usize = {king_buckets};\n\
             /// Which of them belongs to a king, by its square as its side sees it.\npub const KING_BUCKET: [u8; 64] = {king_bucket:?};\n\
             /// Whether there are several in place of each of them, by [`kiln_gen::network::threat_state`].\npub const THREATS: bool = {threats};\n\
             /// Width of an accumulator.\npub const HIDDEN: usize = {hidden};\n\
             /// The part behind the accumulators.\npub type Head = kiln_gen::layout::{head};\n\
             /// How many sets of weights it has.\npub const OUTPUT_BUCKETS: usize = {output_bucket_count};\n\
             /// Which of them is used, by the number of pieces.\npub const OUTPUT_BUCKET: [u8; 33] = {output_buckets:?};\n\
             /// Quantisation of activations.\npub const QA: i32 = {qa};\n\
             /// Quantisation of output weights.\npub const QB: i32 = {qb};\n\
             /// Centipawns per unit of output.\npub const SCALE: i32 = {scale};\n\
             /// Constants of the model of chances, zeros if they are not known.\npub const WIN_DRAW_LOSS: [i32; 4] = {win_draw_loss:?};\n",
            dimensions = self.header.dimensions(),
            shape = self.header.shape(),
            sha256 = crate::hexadecimal(&self.header.sha256),
            mirrored = inputs.mirrored,
            king_buckets = self.header.king_bucket_count(),
            king_bucket = inputs.king_buckets,
            threats = inputs.threats,
            head = self.header.head_type(),
            output_bucket_count = self.header.output_bucket_count(),
        )
    }
}
