//! The network: the embedded weights, the accumulators that follow the board, and the score.
//!
//! The shape is (768 → [`HIDDEN`])x2 → 1. Each side sees the board its own way: ranks counted from its side, files
//! mirrored if its king stands on files e to h, own pieces first. Both accumulators are clipped, squared and weighted; the one of
//! the side to move comes first.

mod accumulator;
mod dimensions {
    include!(concat!(env!("OUT_DIR"), "/network_dimensions.rs"));
}

pub use accumulator::Accumulator;
pub use dimensions::{HIDDEN, NAME, QA, QB, SCALE};

use crate::simd::native;
use crate::types::{Color, Score};
use kiln_gen::embed;
use kiln_gen::layout::Network;

static NETWORK: &Network<HIDDEN> = embed!("network");

/// The score of a position for the side to move, from its accumulator.
pub fn evaluate(accumulator: &Accumulator, side: Color) -> Score {
    let [own, other] = &NETWORK.output;
    let sum = i64::from(native::screlu_dot(&accumulator[side], own, QA as i16))
        + i64::from(native::screlu_dot(&accumulator[!side], other, QA as i16));
    let (qa, qb) = (i64::from(QA), i64::from(QB));
    let output = sum / qa + i64::from(NETWORK.output_bias[0]);
    Score::centipawns((output * i64::from(SCALE) / (qa * qb)) as i32)
}
