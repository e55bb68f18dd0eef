//! The network: the embedded weights, the accumulators that follow the board, and the score.
//!
//! Each side sees the board its own way: ranks counted from its side, files mirrored (if the network wants that) when its king stands on files e
//! to h, own pieces first; where its king stands chooses among sets of weights. What both see is summed up in an accumulator each, and the head of the network
//! makes a score of the two, that of the side to move first. All dimensions come from the asset.

mod accumulator;
mod file;
mod head;
mod dimensions {
    include!(concat!(env!("OUT_DIR"), "/network_dimensions.rs"));
}

pub use accumulator::{Evaluator, output_bucket};
pub use dimensions::{HIDDEN, NAME, OUTPUT_BUCKETS, QA, QB, SCALE, SHAPE, THREATS};
pub use file::LoadError;

use crate::simd::native;
use crate::types::WinModel;
use dimensions::{Head, KING_BUCKETS, OUTPUT_BUCKET, SHA256, WIN_DRAW_LOSS};
use kiln_gen::embed;
use kiln_gen::layout::Features;
use kiln_gen::network::THREAT_STATES;
use memmap2::Mmap;
use std::fmt;
use std::sync::Arc;

/// States of a piece that have weights of their own.
const STATES: usize = if THREATS { THREAT_STATES } else { 1 };
/// How many sets of feature weights there are.
pub const FEATURE_SETS: usize = KING_BUCKETS * STATES;

const _: () =
    assert!(dimensions::PACKING.vector == native::PACKING.vector, "the build arranged weights for other vectors");

/// Weights of the shape that the engine is built for. Clones share them.
#[derive(Clone)]
pub struct Network {
    features: &'static Features<HIDDEN, FEATURE_SETS>,
    head: &'static Head,
    name: Arc<str>,
    win_model: WinModel,
    sha256: Arc<str>,
    /// What the references point into, if not into the program itself.
    map: Option<Arc<Mmap>>,
}

impl Network {
    /// The network that is part of the program.
    pub fn embedded() -> Self {
        static FEATURES: &Features<HIDDEN, FEATURE_SETS> = embed!("network_features");
        static HEAD: &Head = embed!("network_head");
        Self {
            features: FEATURES,
            head: HEAD,
            name: NAME.into(),
            win_model: WinModel::new(WIN_DRAW_LOSS),
            sha256: SHA256.into(),
            map: None,
        }
    }

    /// Its name, as the asset says.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its scores turn into chances to win, draw and lose, as the asset says.
    pub fn win_model(&self) -> WinModel {
        self.win_model
    }

    /// The hash of its header and weights, as the asset says, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Whether both have the same weights in the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.features, other.features) && std::ptr::eq(self.head, other.head)
    }

    /// Whether it is the one that is part of the program.
    pub fn is_embedded(&self) -> bool {
        self.map.is_none()
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Network").field("name", &self.name).finish_non_exhaustive()
    }
}
