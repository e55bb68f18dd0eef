//! The first network: material and piece-square values as weights, so that the engine needs no hand-crafted evaluation.

use super::{Asset, Expected, Header, Inputs, Provenance, Threats, Weights};
use alloc::{vec, vec::Vec};

/// Accumulator width: 16 pairs of neurons.
const HIDDEN: usize = 32;
/// Quantisation of activations.
const QA: i32 = 255;
/// Quantisation of output weights.
const QB: i32 = 64;
/// Centipawns per unit of output.
const SCALE: i32 = 400;
/// Output weight of every neuron. One unit of balance changes two squared activations by 2 * 255 in sum, in each of the
/// two accumulators, so it is worth `4 * WEIGHT * SCALE / (QA * QB)` centipawns, about 2.
const WEIGHT: i16 = 20;

/// Values in centipawns of pawn, knight, bishop, rook, queen, king.
const VALUES: [i32; 6] = [100, 320, 330, 500, 950, 0];

/// Positions with their scores: equal, kings on different wings, a middle game, and lost.
const EXPECTED: [(&str, i32); 4] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/2KR3R w kq - 0 1", 50),
    ("2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16", -54),
    ("8/8/4k3/8/3q4/8/8/4K3 w - - 0 1", -945),
];

/// Returns a piece-square bonus in centipawns for a piece type (0 = pawn … 5 = king), its rank counted from its own
/// side. Symmetrical in the files, as the network is.
fn placement(kind: usize, file: i32, rank: i32) -> i32 {
    // 0 at the edge, 3 in the middle.
    let file_centre = file.min(7 - file);
    let centre = file_centre + rank.min(7 - rank);
    match kind {
        0 => {
            [0, 0, 2, 8, 20, 45, 80, 0][rank as usize] + if file_centre == 3 && (2..5).contains(&rank) { 15 } else { 0 }
        }
        1 => 12 * centre - 40,
        2 => 5 * centre - 12 - if rank == 0 { 10 } else { 0 },
        3 => [0, 0, 0, 0, 0, 5, 15, 5][rank as usize] + 3 * file_centre,
        4 => 2 * centre - 5 - if rank == 0 { 3 } else { 0 },
        _ => match rank {
            0 => [20, 30, 10, 0][file_centre as usize],
            1 => [5, 5, -10, -15][file_centre as usize],
            // In the endgame the king belongs in the centre, so the penalty for stepping forward is small.
            _ => -20 + 3 * file_centre,
        },
    }
}

/// Returns the material network, exact up to rounding to units of 1.96 centipawns, for balances up to 40 pawns.
///
/// All neurons of one accumulator hold the same balance *b* = own − other. A pair (128 + *x*, 127 − *x*) with weights
/// +1 and −1 turns the squared clipped activations into a linear function of *x* for −128 ≤ *x* ≤ 127. The 16 pairs are
/// shifted against each other by 255, so that exactly one is in its linear range and the others are saturated.
pub fn material() -> Asset {
    let in_units = |centipawns: i32| {
        let (num, den) = (centipawns * QA * QB, 4 * i32::from(WEIGHT) * SCALE);
        (num + num.signum() * den / 2) / den
    };
    let mut features: Vec<i16> = Vec::with_capacity(768 * HIDDEN);
    for color in 0..2 {
        for (kind, worth) in VALUES.into_iter().enumerate() {
            for square in 0..64 {
                let rank = if color == 0 { square / 8 } else { 7 - square / 8 };
                let value = in_units(worth + placement(kind, square % 8, rank));
                let balance = if color == 0 { value } else { -value } as i16;
                features.extend((0..HIDDEN).map(|neuron| if neuron % 2 == 0 { balance } else { -balance }));
            }
        }
    }
    let pairs = HIDDEN as i32 / 2;
    let bias = |neuron: i32| {
        let shift = 255 * (neuron / 2) - 255 * (pairs - 1) / 2;
        if neuron % 2 == 0 { 128 - shift } else { 127 + shift }
    };
    let sign = |neuron: usize| if neuron.is_multiple_of(2) { WEIGHT } else { -WEIGHT };
    let mut output = vec![0; 2 * HIDDEN];
    for neuron in 0..HIDDEN {
        output[neuron] = sign(neuron);
        output[HIDDEN + neuron] = -sign(neuron);
    }
    Asset {
        header: Header {
            name: "material".into(),
            provenance: Provenance {
                description: "written by kiln-gen's material-network: material and piece-square values, no training"
                    .into(),
                ..Provenance::default()
            },
            inputs: Inputs { mirrored: true, merged_kings: false, king_buckets: [0; 64], threats: Threats::None },
            qa: QA as u16,
            qb: QB as u16,
            scale: SCALE as u16,
            expected: EXPECTED.map(|(fen, score)| Expected { fen: fen.into(), score }).to_vec(),
            ..Header::plain(HIDDEN as u32)
        },
        features,
        feature_bias: (0..HIDDEN as i32).map(|neuron| bias(neuron) as i16).collect(),
        pairs: Vec::new(),
        weights: Weights::Single { output, output_bias: vec![0] },
    }
}
