//! The header of an asset: its description of the network, and the checks that an engine can be built for it.

use super::AssetError;
use super::shape::bucket_count;
use crate::layout::ThreatPairs;
use alloc::{format, string::String, vec::Vec};
use bincode::{Decode, Encode};
use core::fmt;
use core::ops::RangeInclusive;
use core::str::FromStr;
use sha2::{Digest, Sha256};

/// Accumulator widths that are allowed, in steps of [`HIDDEN_STEP`].
pub const HIDDEN_RANGE: RangeInclusive<u32> = 32..=2048;
/// Accumulator widths are multiples of this.
pub const HIDDEN_STEP: u32 = 32;
/// Values of [`Header::qa`] that are allowed.
pub const QA_RANGE: RangeInclusive<u16> = 1..=255;
/// The only value of [`Header::qa`] with [`Head::Layers`], whose products are shifted, not divided.
const LAYERS_QA: u16 = 255;
/// Values of [`Header::qb`] that are allowed.
pub const QB_RANGE: RangeInclusive<u16> = 1..=1024;
/// Values of [`Header::scale`] that are allowed.
pub const SCALE_RANGE: RangeInclusive<u16> = 1..=4096;
/// Widths of the first of several layers that are allowed.
const FIRST_WIDTHS: [u32; 2] = [16, 32];
/// The width of the second of several layers.
const SECOND_WIDTH: u32 = 32;
/// The most sets of feature weights, as many as have row numbers of 16 bits: king buckets, times [`THREAT_STATES`] with
/// [`Threats::States`].
pub const MAX_FEATURE_SETS: usize = (1 << 16) / (64 * 12);
/// The number of states of a piece with [`Threats::States`].
pub const THREAT_STATES: usize = 6;
/// The most output buckets.
pub const MAX_OUTPUT_BUCKETS: usize = 8;
/// The most positions with expected scores.
pub const MAX_EXPECTED: usize = 16;
/// The most bytes of a name, a commit and a FEN.
pub const TEXT_LIMIT: usize = 100;
/// The most bytes of a description.
pub const DESCRIPTION_LIMIT: usize = 1000;

/// The header of an asset, which describes the network.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Header {
    /// Name of the network: at most [`TEXT_LIMIT`] bytes without control characters, as of all texts here.
    pub name: String,
    /// How it was made.
    pub provenance: Provenance,
    /// The input features.
    pub inputs: Inputs,
    /// Width of an accumulator, in [`HIDDEN_RANGE`], a multiple of [`HIDDEN_STEP`].
    pub hidden: u32,
    /// The layers after the accumulators.
    pub head: Head,
    /// The output bucket by the number of pieces on the board, from 0 to 32.
    pub output_buckets: [u8; 33],
    /// Quantisation of feature weights and activations: 1.0 is stored as this number, in [`QA_RANGE`], 255 with
    /// [`Head::Layers`].
    pub qa: u16,
    /// Quantisation of the weights that multiply the activations, in [`QB_RANGE`].
    pub qb: u16,
    /// Centipawns per unit of output, in [`SCALE_RANGE`].
    pub scale: u16,
    /// Constants of the win-draw-loss model, all zero if not known. The probability of winning at a score of x pawns is
    /// σ((x − a) / b), where a and b are linear in the material on the board (pawns, knights, bishops, rooks, queens
    /// count 1, 3, 3, 5, 9). In thousandths of a pawn: a without material, a per pawn's worth of material, and the same
    /// for b.
    pub win_draw_loss: [i32; 4],
    /// Positions with the scores that the network gives them, to test an implementation; at most [`MAX_EXPECTED`].
    pub expected: Vec<Expected>,
    /// SHA-256 of this header with zeros in this field, followed by the uncompressed payload.
    pub sha256: [u8; 32],
}

/// How a network was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Provenance {
    /// A description in words, at most [`DESCRIPTION_LIMIT`] bytes.
    pub description: String,
    /// How many generations of networks before this one produced training data.
    pub generation: u32,
    /// Number of training positions.
    pub positions: u64,
    /// SHA-256 of the training data, zeros if there is none.
    pub data_sha256: [u8; 32],
    /// Commit of the trainer, empty if not known.
    pub commit: String,
    /// Random seed of the training.
    pub seed: u64,
}

/// The input features of a perspective: one for each king bucket, threat state (with [`Threats::States`]), plane and
/// square, and, with [`Threats::Pairs`], those of pairs of pieces.
///
/// The planes are the perspective's own pawns, knights, bishops, rooks, queens and king, then those of the other side.
/// Squares are relative to the perspective: ranks are flipped for Black, and files if the inputs are mirrored and the
/// perspective's king is on files e to h.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Inputs {
    /// Whether the board is mirrored left to right when the perspective's king is on files e to h.
    pub mirrored: bool,
    /// Whether both kings share one plane, that of the perspective's king, which leaves 11 planes.
    pub merged_kings: bool,
    /// The bucket by the relative square of the perspective's king. If the board is mirrored, files e to h repeat files
    /// d to a.
    pub king_buckets: [u8; 64],
    /// How the features tell which pieces are attacked and defended.
    pub threats: Threats,
}

/// How input features tell which pieces are attacked and defended.
///
/// The texts are `none`, `states` and `pairs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Threats {
    /// They do not.
    None,
    /// A piece on a square has [`THREAT_STATES`] features, one for each [`threat_state`].
    States,
    /// There is one more feature for each piece that attacks or defends another, by [`ThreatPairs`].
    Pairs,
}

impl Threats {
    const ALL: [(&str, Self); 3] = [("none", Self::None), ("states", Self::States), ("pairs", Self::Pairs)];

    /// Returns the number of states of a piece on a square.
    pub const fn states(self) -> usize {
        if matches!(self, Self::States) { THREAT_STATES } else { 1 }
    }

    /// Returns the number of features of pairs of pieces.
    pub const fn pairs(self) -> usize {
        if matches!(self, Self::Pairs) { ThreatPairs::FEATURES } else { 0 }
    }
}

impl fmt::Display for Threats {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        Self::ALL.into_iter().filter(|(_, threats)| threats == self).try_for_each(|(text, _)| f.write_str(text))
    }
}

impl FromStr for Threats {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(known, _)| *known == text);
        known.map(|(_, threats)| threats).ok_or_else(|| "expected none, states or pairs".into())
    }
}

/// Returns the state of a piece with [`Threats::States`], 0 to 5: whether the other side attacks it, whether a piece of
/// lower value does ([`is_less`]), and whether its own side defends it.
///
/// Sliders attack up to the first piece of either side. Pinned pieces attack like others. Features for attacked and
/// defended pieces are an idea of the engine Monty.
#[inline]
pub const fn threat_state(is_attacked: bool, by_less: bool, is_defended: bool) -> usize {
    2 * (is_attacked as usize + by_less as usize) + is_defended as usize
}

/// Returns whether a piece type has a lower value than another, both from 0 = pawn to 5 = king. Knights and bishops are
/// equal; kings have no value and compare false.
pub fn is_less(kind: usize, than: usize) -> bool {
    const VALUES: [u8; 5] = [1, 3, 3, 5, 9];
    kind < 5 && than < 5 && VALUES[kind] < VALUES[than]
}

/// The layers after the accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Head {
    /// One layer with SCReLU (squared clipped ReLU) activations.
    Single,
    /// Three layers. The second reads each neuron of the first twice, clipped and squared; the third reads the second's
    /// neurons squared, and those of the first as they are, all three as Stockfish does since version 14.
    Layers {
        /// The inputs of the first layer.
        inputs: Activations,
        /// Neurons of the first layer.
        first: u32,
        /// Neurons of the second layer.
        second: u32,
    },
}

/// What the first of several layers reads of the accumulators. Each input is a product of two clipped activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Activations {
    /// The square of each neuron (SCReLU).
    Squares,
    /// The products of each neuron of the first half of an accumulator and its partner in the second half (pairwise
    /// products).
    Products,
}

/// A position and its score.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Expected {
    /// The position.
    pub fen: String,
    /// Its score in centipawns for the side to move.
    pub score: i32,
}

/// Returns `count` output buckets, 1 to 8, of equal width by the number of pieces on the board, 2 to 32.
///
/// # Panics
/// If `count` is 0.
pub fn equal_output_buckets(count: u8) -> [u8; 33] {
    let width = 32_usize.div_ceil(count.into());
    core::array::from_fn(|pieces| (pieces.saturating_sub(2) / width) as u8)
}

/// Returns `count` king buckets, a power of two up to 32, of equal size for mirrored inputs: the 32 squares of files a
/// to d, rank by rank.
pub fn equal_king_buckets(count: u8) -> [u8; 64] {
    let half_board = |square: usize| square / 8 * 4 + (square % 8).min(7 - square % 8);
    core::array::from_fn(|square| (half_board(square) * usize::from(count) / 32) as u8)
}

impl Activations {
    /// Returns the products, or otherwise the squares.
    pub const fn new(pairwise: bool) -> Self {
        if pairwise { Self::Products } else { Self::Squares }
    }

    /// Returns the number of inputs from an accumulator of this width.
    pub const fn count(self, hidden: usize) -> usize {
        match self {
            Self::Squares => hidden,
            Self::Products => hidden / 2,
        }
    }
}

impl Header {
    /// Returns the header of an unnamed network with one layer after the accumulators, without mirroring or buckets,
    /// and with the usual quantisation of the trainer bullet.
    pub fn plain(hidden: u32) -> Self {
        Self {
            name: "unnamed".into(),
            provenance: Provenance::default(),
            inputs: Inputs { mirrored: false, merged_kings: false, king_buckets: [0; 64], threats: Threats::None },
            hidden,
            head: Head::Single,
            output_buckets: equal_output_buckets(1),
            qa: 255,
            qb: 64,
            scale: 400,
            win_draw_loss: [0; 4],
            expected: Vec::new(),
            sha256: [0; 32],
        }
    }

    /// Returns the number of output buckets.
    pub fn output_bucket_count(&self) -> usize {
        bucket_count(&self.output_buckets)
    }

    /// Returns the number of input features without those of pairs of pieces.
    pub(super) fn input_count(&self) -> usize {
        self.inputs.feature_set_count() * self.inputs.planes() * 64
    }

    /// Returns the length of the uncompressed payload in bytes.
    pub fn payload_length(&self) -> usize {
        let hidden = self.hidden as usize;
        let bucket = match self.head {
            Head::Single => 2 * 2 * hidden + 4,
            Head::Layers { inputs, first, second } => {
                let (inputs, first, second) = (2 * inputs.count(hidden), first as usize, second as usize);
                first * inputs + 4 * (first + second * 2 * first + second + (second + first) + 1)
            }
        };
        (2 * (self.input_count() + 1) + self.inputs.threats.pairs()) * hidden + self.output_bucket_count() * bucket
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        bincode::encode_to_vec(self, bincode::config::standard()).expect("a header always encodes")
    }

    /// Returns the correct value of [`Self::sha256`].
    pub(super) fn hash(&self, payload: &[u8]) -> [u8; 32] {
        let header = Self { sha256: [0; 32], ..self.clone() };
        Sha256::new_with_prefix(header.to_bytes()).chain_update(payload).finalize().into()
    }

    /// Checks that an engine can be built for this header, as [`Asset::from_bytes`](super::Asset::from_bytes) does.
    ///
    /// # Errors
    /// On the first field that is out of range.
    pub fn check(&self) -> Result<(), AssetError> {
        self.check_texts()?;
        self.check_buckets()?;
        let wrong = |field, value: u32, expected| Err(AssetError::Dimension { field, value, expected });
        if !HIDDEN_RANGE.contains(&self.hidden) || !self.hidden.is_multiple_of(HIDDEN_STEP) {
            let (least, most) = HIDDEN_RANGE.into_inner();
            return wrong("hidden", self.hidden, format!("{least} to {most} in steps of {HIDDEN_STEP}"));
        }
        for (field, value, range) in
            [("qa", self.qa, QA_RANGE), ("qb", self.qb, QB_RANGE), ("scale", self.scale, SCALE_RANGE)]
        {
            if !range.contains(&value) {
                return wrong(field, value.into(), format!("{} to {}", range.start(), range.end()));
            }
        }
        if let Head::Layers { first, second, .. } = self.head {
            if !FIRST_WIDTHS.contains(&first) {
                return wrong("first", first, FIRST_WIDTHS.map(|width| format!("{width}")).join(" or "));
            }
            if second != SECOND_WIDTH {
                return wrong("second", second, format!("{SECOND_WIDTH}"));
            }
            if self.qa != LAYERS_QA {
                return wrong("qa", self.qa.into(), format!("{LAYERS_QA} with several layers"));
            }
        }
        Ok(())
    }

    /// Checks the texts, which the engine prints on single lines of UCI output.
    fn check_texts(&self) -> Result<(), AssetError> {
        if self.expected.len() > MAX_EXPECTED {
            let value = self.expected.len() as u32;
            let expected = format!("0 to {MAX_EXPECTED}");
            return Err(AssetError::Dimension { field: "number of scored positions", value, expected });
        }
        let Provenance { description, commit, .. } = &self.provenance;
        let texts = [("name", &self.name), ("description", description), ("commit", commit)];
        for (field, text) in texts.into_iter().chain(self.expected.iter().map(|expected| ("fen", &expected.fen))) {
            let limit = if field == "description" { DESCRIPTION_LIMIT } else { TEXT_LIMIT };
            if text.len() > limit {
                return Err(AssetError::Text { field, length: text.len(), limit });
            }
            if let Some(found) = text.chars().find(|c| c.is_control()) {
                return Err(AssetError::Character { field, found });
            }
        }
        Ok(())
    }

    fn check_buckets(&self) -> Result<(), AssetError> {
        let Inputs { mirrored, king_buckets, threats, .. } = &self.inputs;
        let condition = if *threats == Threats::States { " with threat states" } else { "" };
        let limit = (MAX_FEATURE_SETS / threats.states()).min(king_buckets.len());
        check_numbers("king_buckets", king_buckets, limit, condition)?;
        check_numbers("output_buckets", &self.output_buckets, MAX_OUTPUT_BUCKETS, "")?;
        for square in (0..64).filter(|square| *mirrored && square % 8 >= 4) {
            let (value, expected) = (king_buckets[square], king_buckets[square ^ 7]);
            if value != expected {
                let expected = format!("{expected} as in its mirror image");
                let field = "a king bucket on files e to h";
                return Err(AssetError::Dimension { field, value: value.into(), expected });
            }
        }
        Ok(())
    }
}

/// Checks that buckets are numbered from 0 below `limit` and that no number is left out, whose weights would be unused.
fn check_numbers(field: &'static str, buckets: &[u8], limit: usize, condition: &str) -> Result<(), AssetError> {
    let buckets_used = bucket_count(buckets);
    if buckets_used > limit {
        let expected = format!("0 to {}{condition}", limit - 1);
        return Err(AssetError::Dimension { field, value: buckets_used as u32 - 1, expected });
    }
    match (0..buckets_used).find(|&number| !buckets.contains(&(number as u8))) {
        Some(missing) => Err(AssetError::Gap { field, missing }),
        None => Ok(()),
    }
}
