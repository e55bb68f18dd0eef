//! The network: the embedded weights, the accumulators that follow the board, and the score.
//!
//! Each side sees the board its own way: ranks counted from its side, files mirrored (if the network wants that) when its king stands on files e
//! to h, own pieces first; where its king stands chooses among sets of weights. What both see is summed up in an accumulator each, and the head of the network
//! makes a score of the two, that of the side to move first. All dimensions come from the asset.

mod accumulator;
mod head;
mod dimensions {
    include!(concat!(env!("OUT_DIR"), "/network_dimensions.rs"));
}

pub use accumulator::Evaluator;
pub use dimensions::{HIDDEN, KING_BUCKETS, NAME, OUTPUT_BUCKETS, QA, QB, SCALE};

use dimensions::{Head, OUTPUT_BUCKET};
use kiln_gen::embed;
use kiln_gen::layout::Features;

/// Weights of the shape that the engine is built for.
#[derive(Clone, Copy)]
pub struct Network {
    features: &'static Features<HIDDEN, KING_BUCKETS>,
    head: &'static Head,
}

impl Network {
    /// The network that is part of the program.
    pub fn embedded() -> Self {
        static FEATURES: &Features<HIDDEN, KING_BUCKETS> = embed!("network_features");
        static HEAD: &Head = embed!("network_head");
        Self { features: FEATURES, head: HEAD }
    }
}
