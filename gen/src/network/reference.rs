//! The reference evaluation, written as the header describes it. Every fast implementation must agree with it.

use super::{Activations, Asset, Head, THREAT_STATES, Threats, Weights, is_less, threat_state};
use crate::geometry::{attacks, threat_pairs};
use crate::layout::ThreatPairs;
use alloc::vec::Vec;
use core::cmp::Reverse;
use std::sync::LazyLock;

/// Positions, as the first field of a FEN, from 34 self-play games with the material network at 2000 nodes per move
/// after eight random plies.
const POSITIONS: &str = include_str!("positions.txt");

static THREAT_PAIRS: LazyLock<ThreatPairs> = LazyLock::new(threat_pairs);

impl Asset {
    /// Returns the score of a position in centipawns for the side to move.
    ///
    /// `pieces` are color (0 = White), type (0 = pawn … 5 = king) and square (a1 = 0 … h8 = 63). A single layer is
    /// computed in integers, so that every implementation gives exactly this score. The layers after the first of
    /// several are computed in `f64`, and another implementation may differ by a centipawn.
    ///
    /// # Panics
    /// If a side has no king, there are more than 32 pieces, or the tensors do not have the sizes that the header
    /// implies.
    pub fn evaluate(&self, pieces: &[(usize, usize, usize)], black_to_move: bool) -> i64 {
        let side_to_move = usize::from(black_to_move);
        let accumulators = [side_to_move, 1 - side_to_move].map(|side| self.accumulator(pieces, side));
        let bucket = usize::from(self.header.output_buckets[pieces.len()]);
        match &self.weights {
            Weights::Single { output, output_bias } => {
                self.single(&accumulators, bucket, output, i64::from(output_bias[bucket]))
            }
            Weights::Layers { .. } => self.layers(&accumulators, bucket),
        }
    }

    /// Computes the accumulator of one side's perspective.
    fn accumulator(&self, pieces: &[(usize, usize, usize)], side: usize) -> Vec<i64> {
        let header = &self.header;
        let hidden = header.hidden as usize;
        let king = pieces.iter().find(|&&(color, kind, _)| color == side && kind == 5).expect("each side has a king").2;
        let flip = header.inputs.mirrored && king % 8 >= 4;
        let relative = |square: usize| square ^ if side == 1 { 56 } else { 0 } ^ if flip { 7 } else { 0 };
        let king_bucket = usize::from(header.inputs.king_buckets[relative(king)]);

        let mut sums: Vec<i64> = self.feature_bias.iter().map(|&bias| bias.into()).collect();
        for &(color, kind, square) in pieces {
            let is_merged = kind == 5 && header.inputs.merged_kings;
            let plane = if color == side || is_merged { kind } else { 6 + kind };
            let set = match header.inputs.threats {
                Threats::States => THREAT_STATES * king_bucket + state(pieces, color, kind, square),
                Threats::None | Threats::Pairs => king_bucket,
            };
            let feature = (set * header.inputs.planes() + plane) * 64 + relative(square);
            for (sum, &weight) in sums.iter_mut().zip(&self.features[feature * hidden..]) {
                *sum += i64::from(weight);
            }
        }
        if header.inputs.threats == Threats::Pairs {
            let relative = |&(color, kind, square): &(usize, usize, usize)| {
                (kind + if color == side { 0 } else { 6 }, relative(square))
            };
            for (attacker, victim) in attacking(pieces) {
                let ((attacker, from), (victim, to)) = (relative(attacker), relative(victim));
                let Some(feature) = THREAT_PAIRS.feature(attacker, from, victim, to) else { continue };
                for (sum, &weight) in sums.iter_mut().zip(&self.pairs[feature * hidden..]) {
                    *sum += i64::from(weight);
                }
            }
        }
        sums
    }

    /// Returns the inputs that the first of several layers has of each side, ordered by how often they are non-zero on
    /// some hundred positions, the most frequent first.
    pub(super) fn inputs_by_activation_frequency(&self, activations: Activations) -> Vec<usize> {
        let mut counts = alloc::vec![0u32; activations.count(self.header.hidden as usize)];
        self.for_each_inputs(activations, |inputs| {
            counts.iter_mut().zip(inputs).for_each(|(count, &input)| *count += u32::from(input > 0));
        });
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&input| Reverse(counts[input]));
        order
    }

    /// Returns the share of groups of four consecutive inputs of the first of several layers that are all zero, which
    /// the engine skips: in the asset's order and as [`Asset::arrange`] orders them, on the positions that it uses.
    /// `None` with a single layer.
    pub fn zero_groups(&self) -> Option<[f64; 2]> {
        let Head::Layers { inputs: activations, .. } = self.header.head else { return None };
        let order = self.inputs_by_activation_frequency(activations);
        let (mut zero, mut all) = ([0usize; 2], 0usize);
        self.for_each_inputs(activations, |inputs| {
            let arranged: Vec<i64> = order.iter().map(|&input| inputs[input]).collect();
            for (zero, inputs) in zero.iter_mut().zip([inputs, &arranged]) {
                *zero += inputs.as_chunks().0.iter().filter(|group| **group == [0; 4]).count();
            }
            all += inputs.len() / 4;
        });
        Some(zero.map(|zero| zero as f64 / all as f64))
    }

    /// Calls `visit` with the inputs that the first of several layers has of each side in each of some hundred
    /// positions.
    fn for_each_inputs(&self, activations: Activations, mut visit: impl FnMut(&[i64])) {
        for pieces in POSITIONS.lines().map(pieces) {
            for side in 0..2 {
                visit(&inputs(&self.accumulator(&pieces, side), activations));
            }
        }
    }

    fn single(&self, accumulators: &[Vec<i64>; 2], bucket: usize, output: &[i16], bias: i64) -> i64 {
        let (qa, qb) = (i64::from(self.header.qa), i64::from(self.header.qb));
        let activations = accumulators.iter().flatten().map(|sum| sum.clamp(&0, &qa).pow(2));
        let weights = &output[bucket * 2 * self.header.hidden as usize..];
        let sum: i64 = activations.zip(weights).map(|(activation, &weight)| activation * i64::from(weight)).sum();
        (sum / qa + bias) * i64::from(self.header.scale) / (qa * qb)
    }

    fn layers(&self, accumulators: &[Vec<i64>; 2], bucket: usize) -> i64 {
        let (Head::Layers { inputs: activations, first: width1, second: width2 }, weights) =
            (self.header.head, &self.weights)
        else {
            panic!("the header has a single layer");
        };
        let Weights::Layers { first, first_bias, second, second_bias, third, third_bias } = weights else {
            panic!("the weights are of a single layer");
        };
        let (width1, width2) = (width1 as usize, width2 as usize);
        let inputs: Vec<i64> = accumulators.iter().flat_map(|sums| inputs(sums, activations)).collect();

        // A product of two activations of 1.0 is 255 * 255 before it is shifted.
        let unit = 512.0 / (255.0 * 255.0 * f64::from(self.header.qb));
        let mut layer1 = Vec::new();
        for neuron in bucket * width1..(bucket + 1) * width1 {
            let row = &first[neuron * inputs.len()..(neuron + 1) * inputs.len()];
            let sum: i64 = inputs.iter().zip(row).map(|(input, &weight)| input * i64::from(weight)).sum();
            layer1.push(sum as f64 * unit + f64::from(first_bias[neuron]));
        }
        let clipped = layer1.iter().map(|sum| sum.clamp(0.0, 1.0));
        let activated: Vec<f64> = clipped.chain(layer1.iter().map(|sum| sum.clamp(-1.0, 1.0).powi(2))).collect();
        let mut layer2 = Vec::new();
        for neuron in bucket * width2..(bucket + 1) * width2 {
            let row = &second[neuron * 2 * width1..(neuron + 1) * 2 * width1];
            layer2.push((dot(&activated, row) + f64::from(second_bias[neuron])).clamp(0.0, 1.0).powi(2));
        }
        let row = &third[bucket * (width2 + width1)..(bucket + 1) * (width2 + width1)];
        let output = dot(&layer2, row) + dot(&layer1, &row[width2..]) + f64::from(third_bias[bucket]);
        (output * f64::from(self.header.scale)) as i64
    }
}

/// Returns the [`threat_state`] of one of the pieces.
fn state(pieces: &[(usize, usize, usize)], color: usize, kind: usize, square: usize) -> usize {
    let attackers: Vec<_> =
        attacking(pieces).filter(|(_, victim)| victim.2 == square).map(|(attacker, _)| attacker).collect();
    let is_attacked = attackers.iter().any(|attacker| attacker.0 != color);
    let by_less = attackers.iter().any(|attacker| attacker.0 != color && is_less(attacker.1, kind));
    threat_state(is_attacked, by_less, attackers.iter().any(|attacker| attacker.0 == color))
}

/// Returns each piece that attacks or defends another, with that piece.
fn attacking(
    pieces: &[(usize, usize, usize)],
) -> impl Iterator<Item = (&(usize, usize, usize), &(usize, usize, usize))> {
    let occupied = pieces.iter().fold(0, |set, (.., square)| set | 1 << square);
    pieces.iter().flat_map(move |attacker| {
        let targets = attacks(attacker.0, attacker.1, attacker.2, occupied);
        pieces.iter().filter(move |victim| targets >> victim.2 & 1 == 1).map(move |victim| (attacker, victim))
    })
}

/// Returns the inputs that the first of several layers has of an accumulator.
fn inputs(sums: &[i64], activations: Activations) -> Vec<i64> {
    let (left, right) = match activations {
        Activations::Squares => (sums, sums),
        Activations::Products => sums.split_at(sums.len() / 2),
    };
    left.iter().zip(right).map(|(a, b)| (a.clamp(&0, &255) * b.clamp(&0, &255)) >> 9).collect()
}

/// Returns the pieces in the first field of a FEN, as [`Asset::evaluate`] takes them.
fn pieces(placement: &str) -> Vec<(usize, usize, usize)> {
    let mut pieces = Vec::new();
    let (mut file, mut rank) = (0, 7);
    for letter in placement.chars() {
        if letter == '/' {
            (file, rank) = (0, rank - 1);
        } else if let Some(skipped) = letter.to_digit(10) {
            file += skipped as usize;
        } else {
            let kind = "pnbrqk".find(letter.to_ascii_lowercase()).expect("a letter of a piece");
            pieces.push((usize::from(letter.is_ascii_lowercase()), kind, 8 * rank + file));
            file += 1;
        }
    }
    pieces
}

fn dot(inputs: &[f64], weights: &[f32]) -> f64 {
    inputs.iter().zip(weights).map(|(input, &weight)| input * f64::from(weight)).sum()
}
