//! Arranges a network for the engine: blobs of the types in [`crate::layout`], and the constants on which those depend.
//!
//! Where pairwise products follow the accumulators, neurons may be reordered as long as both halves of a row and the
//! weights of the products move together: the sums are the same integers. So they are put in the order that the
//! instruction set packs without a permutation.

use super::{Asset, Head, Header, Weights};
use crate::layout::{Packing, Plain};
use alloc::{format, string::String, vec::Vec};

/// One blob of a network.
pub struct NetworkBlob {
    /// Its name.
    pub name: &'static str,
    /// The name of its type in [`crate::layout`].
    pub element: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The 32-bit numbers in a cache line, to which the biases of the output buckets are padded.
const BIASES: usize = 16;

fn write<T: Plain>(out: &mut Vec<u8>, values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(|value| value.write_le(out));
}

/// Returns the biases of all buckets, followed by zeros.
fn padded<T: Plain + Default>(biases: &[T]) -> [T; BIASES] {
    core::array::from_fn(|bucket| biases.get(bucket).copied().unwrap_or_default())
}

impl Asset {
    /// Returns the three blobs that the engine reads, `network_features`, `network_pairs` (empty without
    /// [`Threats::Pairs`](super::Threats::Pairs)) and `network_head`, for an instruction set with this packing.
    pub fn arrange(&self, packing: Packing) -> [NetworkBlob; 3] {
        let Header { hidden, ref inputs, .. } = self.header;
        let pairs = match self.header.head {
            Head::Single => None,
            Head::Layers { .. } => Some(self.pairs_by_activation_frequency()),
        };
        let places = pairs.as_deref().map(|pairs| {
            let packing = packing.for_width(hidden as usize);
            let half = (0..pairs.len()).map(|place| pairs[packing.number_at(place)]);
            half.clone().chain(half.map(|pair| pairs.len() + pair)).collect::<Vec<usize>>()
        });
        [
            NetworkBlob {
                name: "network_features",
                element: format!("Features<{hidden}, {}>", self.header.feature_set_count()),
                bytes: self.arranged_features(places.as_deref()),
            },
            NetworkBlob {
                name: "network_pairs",
                element: format!("[[u8; {hidden}]; {}]", inputs.threats.pairs()),
                bytes: self.arranged_pairs(places.as_deref(), packing.for_row(hidden as usize)),
            },
            NetworkBlob {
                name: "network_head",
                element: self.header.shape().head_type(),
                bytes: self.arranged_head(pairs.as_deref().unwrap_or_default()),
            },
        ]
    }

    /// Returns twelve planes for each set, with the plane of merged kings twice. `places` are the neurons in their new
    /// order, if they are reordered.
    fn arranged_features(&self, places: Option<&[usize]>) -> Vec<u8> {
        let hidden = self.header.hidden as usize;
        let mut bytes = Vec::new();
        let planes = self.header.planes();
        for set in self.features.chunks_exact(planes * 64 * hidden) {
            bytes.extend(self.arranged_rows(set, places));
            if planes < 12 {
                bytes.extend(self.arranged_rows(&set[5 * 64 * hidden..6 * 64 * hidden], places));
            }
        }
        bytes.extend(self.arranged_rows(&self.feature_bias, places));
        bytes
    }

    /// Returns the rows of pairs, each weight plus 128, in an order that unpacks to the order of the features' words.
    fn arranged_pairs(&self, places: Option<&[usize]>, packing: Packing) -> Vec<u8> {
        let mut order = alloc::vec![0; self.header.hidden as usize];
        for place in 0..order.len() {
            order[packing.number_at(place)] = places.map_or(place, |places| places[place]);
        }
        let mut bytes = self.arranged_rows(&self.pairs, Some(&order));
        bytes.iter_mut().for_each(|byte| *byte ^= 128);
        bytes
    }

    fn arranged_rows<T: Plain>(&self, rows: &[T], places: Option<&[usize]>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size_of_val(rows));
        match places {
            None => write(&mut bytes, rows.iter().copied()),
            Some(places) => {
                let rows = rows.chunks_exact(self.header.hidden as usize);
                rows.for_each(|row| write(&mut bytes, places.iter().map(|&neuron| row[neuron])));
            }
        }
        bytes
    }

    /// Returns the head. `pairs` is the order of the products of one side.
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
            (Weights::Layers { .. }, Head::Single) => unreachable!("the weights follow the header"),
        }
        bytes
    }

    /// Returns the Rust source of the constants that the engine's types depend on, without weights.
    ///
    /// `packing` must be the one that [`Self::arrange`] is called with.
    pub fn constants(&self, packing: Packing) -> String {
        let Header { name, win_draw_loss, .. } = &self.header;
        let shape = self.header.shape();
        // With these names imported, the derived `Debug` form of a shape is a Rust expression.
        format!(
            "use kiln_gen::network::{{Head::*, Inputs, NetworkShape, Threats::*}};\n\
             /// The shape that the engine is compiled for.\n\
             pub const SHAPE: NetworkShape = {shape:?};\n\
             /// The type of the layers after the accumulators.\n\
             pub type Head = kiln_gen::layout::{head};\n\
             /// The order of the weights.\n\
             pub const PACKING: kiln_gen::layout::Packing = kiln_gen::layout::{packing:?};\n\
             /// The name of the embedded network.\n\
             pub const NAME: &str = {name:?};\n\
             /// The SHA-256 of the embedded network's header and weights.\n\
             pub const SHA256: &str = {sha256:?};\n\
             /// The constants of the embedded network's win-draw-loss model, zeros if not known.\n\
             pub const WIN_DRAW_LOSS: [i32; 4] = {win_draw_loss:?};\n",
            head = shape.head_type(),
            sha256 = crate::hexadecimal(&self.header.sha256),
        )
    }
}
