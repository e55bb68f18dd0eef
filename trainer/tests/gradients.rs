//! Gradients agree with finite differences of the loss, for all tensors of all architectures.

use bulletformat::ChessBoard;
use kiln::types::Bound;
use kiln_gen::network::{Activations, Head, Header, Inputs, Threats, equal_output_buckets, material};
use kiln_trainer::batch::{BatchProcessor, Objective};
use kiln_trainer::network::Network;

mod positions;

fn four_king_buckets() -> [u8; 64] {
    std::array::from_fn(|square| ((square % 8).min(7 - square % 8) / 2 + 2 * (square / 32)) as u8)
}

fn check(header: Header, objective: Objective, positions: &[ChessBoard]) {
    let shape = header.shape();
    let mut network = Network::new(header, true, 5).unwrap();
    // Perturb the initial weights, so that buckets differ, biases are not zero and activations reach all ranges. A
    // weight has up to ten parts, so the mean is near zero.
    let mut number = 1_u32;
    for tensor in network.tensors_mut() {
        for value in tensor.values.iter_mut() {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *value += (number >> 8) as f32 / (1 << 24) as f32 * 0.1 - 0.048;
        }
    }
    network.refresh();
    let mut processor = BatchProcessor::new(&network);
    let objective = Objective { wdl: 0.3, scale: 250.0, ..objective };
    let count = positions.len();
    processor.gradient(&mut network, count, |i| positions[i], objective);
    // The factoriser's gradient is otherwise summed by `Tile::update`.
    for tile in &mut network.tiles {
        tile.sum_factoriser_gradient();
    }
    let gradients: Vec<Vec<f32>> = network.tensors_mut().iter().map(|tensor| tensor.gradient.to_vec()).collect();
    for (tensor, gradient) in gradients.iter().enumerate() {
        let Some(largest) = gradient.iter().map(|g| g.abs()).reduce(f32::max) else { continue };
        assert!(largest > 3e-5, "{shape}: tensor {tensor} has gradients up to {largest:e}");
        // The largest gradients have the smallest relative error.
        let mut order: Vec<usize> = (0..gradient.len()).collect();
        order.sort_by(|&a, &b| gradient[b].abs().total_cmp(&gradient[a].abs()));
        for &place in order.iter().take(3) {
            let mut losses = [0.0; 2];
            let step = 2e-4;
            for (loss, change) in losses.iter_mut().zip([step, -step]) {
                let mut changed = network.clone();
                changed.tensors_mut()[tensor].values[place] += change;
                changed.refresh();
                *loss = processor.loss(&changed, count, |i| positions[i], objective) / count as f64;
            }
            let difference = (losses[0] - losses[1]) / f64::from(2.0 * step);
            let found = f64::from(gradient[place]);
            let error = (difference - found).abs();
            // Some activation may enter or leave the clipped range within a step.
            assert!(
                error <= 0.08 * found.abs() + 3e-6,
                "{shape}: tensor {tensor}, index {place}: gradient {found:e}, finite difference {difference:e}"
            );
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    let positions = positions::positions(150, 11);
    let plain = material().header;
    let buckets =
        Inputs { mirrored: true, merged_kings: true, king_buckets: four_king_buckets(), threats: Threats::States };
    let pairs = Inputs { threats: Threats::Pairs, ..plain.inputs.clone() };
    let single = Header { hidden: 64, output_buckets: equal_output_buckets(4), ..plain.clone() };
    let usual = Objective::default();
    check(single.clone(), usual, &positions);
    check(single.clone(), Objective { power: 2.5, ..usual }, &positions);
    check(Header { inputs: buckets.clone(), ..single.clone() }, usual, &positions);
    check(Header { inputs: pairs.clone(), ..single.clone() }, usual, &positions);
    // Of scores that are bounds, some allow the output and others do not.
    let mut bounds = positions.clone();
    for (board, bound) in bounds.iter_mut().zip([Bound::Upper, Bound::Lower, Bound::Exact].into_iter().cycle()) {
        board.extra[1] = bound as u8;
    }
    check(single.clone(), usual, &bounds);
    let layers = [
        (Activations::Squares, 16),
        (Activations::Squares, 32),
        (Activations::Products, 16),
        (Activations::Products, 32),
    ];
    for (inputs, first) in layers {
        let head = Head::Layers { inputs, first, second: 32 };
        check(Header { head, ..single.clone() }, usual, &positions);
        check(Header { head, inputs: buckets.clone(), ..single.clone() }, usual, &positions);
        check(
            Header { head, inputs: pairs.clone(), ..single.clone() },
            Objective { sparsity: 0.02, ..usual },
            &positions,
        );
    }
}
