//! The evaluation network: embedded weights or a loaded file, accumulators updated move by move, and the score.
//!
//! Each side has a perspective: ranks counted from its side, files mirrored (if the network has mirrored inputs) when
//! its king is on files e to h, own pieces first. Its king's square selects the king bucket, a set of feature weights.
//! An accumulator sums the weights of one perspective's features, and the head of the network computes the score from
//! both accumulators, the side to move's first. The network's shape comes from the asset at build time.

mod accumulator;
mod file;
mod head;
mod pairs;
mod rows;
/// The constants of the embedded network, written by `build.rs`.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/network_dimensions.rs"));
}

pub use accumulator::{Evaluator, output_bucket};
pub use embedded::{NAME, SHAPE};
pub use file::LoadError;

use crate::maps::Mmap;
use crate::simd::{RowUpdate, native};
use crate::types::WinModel;
use embedded::{Head, PACKING, SHA256, WIN_DRAW_LOSS};
use kiln_gen::embed;
use kiln_gen::layout::Features;
use kiln_gen::network::Threats;
use std::fmt;
use std::sync::Arc;

/// Width of an accumulator.
pub const HIDDEN: usize = SHAPE.hidden as usize;
/// How the features tell which pieces are attacked and defended.
pub const THREATS: Threats = SHAPE.inputs.threats;
/// Whether pairs of attacker and victim have features.
const PAIRS: bool = PAIR_FEATURES != 0;
/// The number of features of pairs.
const PAIR_FEATURES: usize = THREATS.pairs();
/// The number of sets of feature weights.
pub const FEATURE_SETS: usize = SHAPE.inputs.feature_set_count();
/// The number of output buckets.
pub const OUTPUT_BUCKETS: usize = SHAPE.output_bucket_count();
/// Quantisation of feature weights and activations.
const QA: i32 = SHAPE.qa as i32;
/// Quantisation of the weights that multiply the activations.
const QB: i32 = SHAPE.qb as i32;
/// Centipawns per unit of output.
const SCALE: i32 = SHAPE.scale as i32;

const _: () = assert!(PACKING.vector == native::PACKING.vector, "the build arranged the weights for other vectors");

/// The weights of a network of the shape that the engine is compiled for. Clones share them.
///
/// ```
/// use kiln::board::Position;
/// use kiln::nnue::{Evaluator, Network};
///
/// let network = Network::embedded();
/// let score = Evaluator::new(network.clone()).evaluate(&Position::startpos());
/// println!("{} scores the starting position at {} centipawns", network.name(), score.value());
/// ```
#[derive(Clone)]
pub struct Network {
    features: &'static Features<HIDDEN, FEATURE_SETS>,
    /// The rows of weights of pairs, each plus 128.
    pairs: &'static [[u8; HIDDEN]; PAIR_FEATURES],
    head: &'static Head,
    name: Arc<str>,
    win_model: WinModel,
    sha256: Arc<str>,
    /// The mapping that the references point into, unless they point into the program.
    _map: Option<Arc<Mmap>>,
}

impl Network {
    /// Returns the network that is embedded in the program.
    pub fn embedded() -> Self {
        static FEATURES: &Features<HIDDEN, FEATURE_SETS> = embed!("network_features");
        static PAIRS: &[[u8; HIDDEN]; PAIR_FEATURES] = embed!("network_pairs");
        static HEAD: &Head = embed!("network_head");
        Self {
            features: FEATURES,
            pairs: PAIRS,
            head: HEAD,
            name: NAME.into(),
            win_model: WinModel::new(WIN_DRAW_LOSS),
            sha256: SHA256.into(),
            _map: None,
        }
    }

    /// Updates accumulators of one position.
    #[inline]
    fn apply<const SIDES: usize>(&self, updates: [RowUpdate<HIDDEN>; SIDES]) {
        let features = self.features.weights.as_flattened().as_flattened().as_flattened();
        native::add_subtract(updates, features, self.pairs);
    }

    /// Returns the name in the asset's header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the win-draw-loss model of its scores.
    pub fn win_model(&self) -> WinModel {
        self.win_model
    }

    /// Returns the SHA-256 of its header and weights in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns whether both share the same weights in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.features, other.features) && std::ptr::eq(self.head, other.head)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Network").field("name", &self.name).finish_non_exhaustive()
    }
}
