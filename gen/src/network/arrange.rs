//! What the engine embeds: blobs of the types in [`crate::layout`], and the constants that those types depend on.

use super::Asset;
use crate::layout::Plain;
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

impl Asset {
    /// The blobs that the engine reads: the first layer and the head.
    pub fn arrange(&self) -> [Arranged; 2] {
        let hidden = self.header.hidden;
        let mut features = Vec::new();
        self.features.iter().chain(&self.feature_bias).for_each(|weight| weight.write_le(&mut features));
        let mut head = Vec::new();
        self.output.iter().for_each(|weight| weight.write_le(&mut head));
        let mut bias = [0; 16];
        bias[0] = self.output_bias;
        bias.write_le(&mut head);
        [
            Arranged { name: "network_features", element: format!("Features<{hidden}, 1>"), bytes: features },
            Arranged { name: "network_head", element: format!("SingleHead<{hidden}, 1>"), bytes: head },
        ]
    }

    /// Rust source with the dimensions as constants and the type of the head: what the engine's types depend on, no weights.
    pub fn dimensions(&self) -> String {
        let super::Header { name, hidden, qa, qb, scale, .. } = &self.header;
        format!(
            "/// The network's name.\npub const NAME: &str = {name:?};\n\
             /// Width of an accumulator.\npub const HIDDEN: usize = {hidden};\n\
             pub const KING_BUCKETS: usize = 1;pub const KING_BUCKET: [u8; 64] = [0; 64];pub const MIRRORED: bool = true;\
             pub const OUTPUT_BUCKETS: usize = 1;pub const OUTPUT_BUCKET: [u8; 33] = [0; 33];pub type Head = kiln_gen::layout::SingleHead<{hidden}, 1>;\
             /// Quantisation of activations.\npub const QA: i32 = {qa};\n\
             /// Quantisation of output weights.\npub const QB: i32 = {qb};\n\
             /// Centipawns per unit of output.\npub const SCALE: i32 = {scale};\n"
        )
    }
}
