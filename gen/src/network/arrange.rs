//! Arranges a network for the engine: blobs of the types in [`crate::layout`], and the constants on which those depend.
//!
//! Where several layers follow the accumulators, neurons may be reordered as long as the weights of their activations
//! move with them, and with pairwise products both halves of a row: the sums are the same integers. So they are put in
//! the order that the instruction set packs without a permutation.

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
        let order = match self.header.head {
            Head::Single => None,
            Head::Layers { inputs, .. } => Some(self.inputs_by_activation_frequency(inputs)),
        };
        let places = order.as_deref().map(|order| {
            let packing = packing.for_row(order.len());
            let arranged: Vec<usize> = (0..order.len()).map(|place| order[packing.number_at(place)]).collect();
            // The second factors of products follow in the same order.
            let halves = (0..hidden as usize).step_by(order.len());
            halves.flat_map(|start| arranged.iter().map(move |input| start + input)).collect::<Vec<usize>>()
        });
        [
            NetworkBlob {
                name: "network_features",
                element: format!("Features<{hidden}, {}>", self.header.inputs.feature_set_count()),
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
                bytes: self.arranged_head(order.as_deref().unwrap_or_default()),
            },
        ]
    }

    /// Returns twelve planes for each set, with the plane of merged kings twice. `places` are the neurons in their new
    /// order, if they are reordered.
    fn arranged_features(&self, places: Option<&[usize]>) -> Vec<u8> {
        let hidden = self.header.hidden as usize;
        let mut bytes = Vec::new();
        let planes = self.header.inputs.planes();
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

    /// Returns the head. `order` is that of the inputs from one side.
    fn arranged_head(&self, order: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let inputs = 2 * order.len();
        match (&self.weights, self.header.head) {
            (Weights::Single { output, output_bias }, _) => {
                write(&mut bytes, output.iter().copied());
                padded(output_bias).write_le(&mut bytes);
            }
            (
                Weights::Layers { first, first_bias, second, second_bias, third, third_bias },
                Head::Layers { first: neurons, second: second_neurons, .. },
            ) => {
                let (neurons, second_neurons) = (neurons as usize, second_neurons as usize);
                let order: Vec<usize> =
                    order.iter().copied().chain(order.iter().map(|input| inputs / 2 + input)).collect();
                for bucket in first.chunks_exact(neurons * inputs) {
                    for quad in order.as_chunks::<4>().0 {
                        for row in bucket.chunks_exact(inputs) {
                            write(&mut bytes, quad.iter().map(|&input| row[input]));
                        }
                    }
                }
                write(&mut bytes, first_bias.iter().copied());
                for bucket in second.chunks_exact(second_neurons * 2 * neurons) {
                    for input in 0..2 * neurons {
                        write(&mut bytes, bucket.iter().copied().skip(input).step_by(2 * neurons));
                    }
                }
                write(&mut bytes, second_bias.iter().copied());
                let third = || third.chunks_exact(second_neurons + neurons);
                third().for_each(|bucket| write(&mut bytes, bucket[..second_neurons].iter().copied()));
                third().for_each(|bucket| write(&mut bytes, bucket[second_neurons..].iter().copied()));
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
            "#[allow(unused_imports)]\n\
             use kiln_gen::network::{{Activations::*, Head::*, Inputs, NetworkShape, Threats::*}};\n\
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
