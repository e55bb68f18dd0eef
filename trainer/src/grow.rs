//! Growth: a network gets more neurons, king buckets, output buckets or layers, and evaluates as before at first.

use crate::network::{NEW_WEIGHT, QA, SECOND_BIAS, UniformRng, second_range};
use anyhow::{Context, Result, ensure};
use kiln_gen::network::{Activations, Asset, Head, Header, Inputs, Weights};

/// Maximum magnitude of a weight of a new neuron in the first of several layers. Other values were not tried.
const NEW_FIRST: f32 = 0.15;

/// Returns the network with the shape of `wanted`. New buckets start with the weights of the bucket that they are a
/// part of. New neurons start with random weights, determined by `seed`; the head does not read them yet.
///
/// # Errors
/// If the shape of the network is no part of that of `wanted`: it is wider, has other inputs or layers, or has buckets
/// whose borders `wanted` lacks.
pub fn grow(asset: Asset, wanted: &Header, seed: u64) -> Result<Asset> {
    let Asset { header: old, features, feature_bias, pairs, weights } = asset;
    let inputs = Inputs { king_buckets: wanted.inputs.king_buckets, ..old.inputs.clone() };
    let mut random = UniformRng::new(seed);
    let (head, weights) = match (wanted.head, weights) {
        (
            head @ Head::Layers { inputs: Activations::Squares, first, second },
            Weights::Single { output, output_bias },
        ) => (head, layers(&old, &output, &output_bias, [first, second].map(|width| width as usize), &mut random)?),
        (_, weights) => (old.head, weights),
    };
    ensure!(
        inputs == wanted.inputs && head == wanted.head,
        "its shape is {}, not {}; only neurons, buckets and layers that read squares can be added, no inputs",
        old.shape(),
        wanted.shape()
    );
    let [width, new_width] = [&old, wanted].map(|header| header.hidden as usize);
    ensure!(width <= new_width, "it is {width} neurons wide; a network cannot shrink");
    let kings = parents(&old.inputs.king_buckets, &inputs.king_buckets, wanted.inputs.king_bucket_count(), "king")?;
    let outputs = parents(&old.output_buckets, &wanted.output_buckets, wanted.output_bucket_count(), "output")?;
    // King buckets and threat states start with the same weights.
    let new = random.floats(old.inputs.planes() * 64 * (new_width - width), 0.0, NEW_WEIGHT);
    let new: Vec<i16> = new.into_iter().map(|weight| (weight * f32::from(QA)).round() as i16).collect();
    let (sets, buckets) = (old.inputs.king_bucket_count(), old.output_bucket_count());
    let weights = match weights {
        Weights::Single { output, output_bias } => Weights::Single {
            output: widen(&copy(&output, buckets, &outputs), width, new_width, &[0]),
            output_bias: copy(&output_bias, buckets, &outputs),
        },
        Weights::Layers { first, first_bias, second, second_bias, third, third_bias } => {
            let copy_floats = |values: Vec<f32>| copy(&values, buckets, &outputs);
            Weights::Layers {
                first: widen(&copy(&first, buckets, &outputs), width, new_width, &[0]),
                first_bias: copy_floats(first_bias),
                second: copy_floats(second),
                second_bias: copy_floats(second_bias),
                third: copy_floats(third),
                third_bias: copy_floats(third_bias),
            }
        }
    };
    let features = widen(&copy(&features, sets, &kings), width, new_width, &new);
    let (feature_bias, pairs) = (widen(&feature_bias, width, new_width, &[0]), widen(&pairs, width, new_width, &[0]));
    let header = Header { hidden: wanted.hidden, inputs, head, output_buckets: wanted.output_buckets, ..old };
    Ok(Asset { header, features, feature_bias, pairs, weights })
}

/// Returns several layers with the output of a single one, which becomes the first neuron of the first layer. At first
/// the output reads this neuron alone. The other neurons have random weights.
fn layers(
    old: &Header,
    output: &[i16],
    output_bias: &[i32],
    [first, second]: [usize; 2],
    random: &mut UniformRng,
) -> Result<Weights> {
    let (inputs, buckets) = (2 * old.hidden as usize, old.output_bucket_count());
    let mut first_weights = Vec::new();
    let range = NEW_FIRST * f32::from(old.qb);
    for output in output.chunks_exact(inputs) {
        for &weight in output {
            first_weights.push(i8::try_from(weight).ok().with_context(|| {
                format!("an output weight is {weight}; in the first of several layers at most 127 are allowed")
            })?);
        }
        first_weights
            .extend(random.floats((first - 1) * inputs, 0.0, range).into_iter().map(|weight| weight.round() as i8));
    }
    let unit = f32::from(old.qa) * f32::from(old.qb);
    let bias = |&bias: &i32| (0..first).map(move |neuron| if neuron == 0 { bias as f32 / unit } else { 0.0 });
    let second_weights = random.floats(second * 2 * first, 0.0, second_range(first));
    let third = (0..second + first).map(|input| f32::from(u8::from(input == second)));
    Ok(Weights::Layers {
        first: first_weights,
        first_bias: output_bias.iter().flat_map(bias).collect(),
        second: second_weights.repeat(buckets),
        second_bias: vec![SECOND_BIAS; second * buckets],
        third: third.collect::<Vec<f32>>().repeat(buckets),
        third_bias: vec![0.0; buckets],
    })
}

/// Returns, for each of `count` new buckets, the old one that it is a part of.
fn parents(old: &[u8], new: &[u8], count: usize, name: &str) -> Result<Vec<usize>> {
    let mut parents = vec![None; count];
    for (&old, &new) in old.iter().zip(new) {
        let parent = parents[usize::from(new)].get_or_insert(usize::from(old));
        ensure!(
            *parent == usize::from(old),
            "{name} bucket {new} would be a part of its {name} buckets {parent} and {old}"
        );
    }
    Ok(parents.into_iter().flatten().collect())
}

/// Joins these parts of `values`, which has `count` equal ones.
fn copy<T: Copy>(values: &[T], count: usize, parts: &[usize]) -> Vec<T> {
    let length = values.len() / count;
    parts.iter().flat_map(|&part| &values[part * length..(part + 1) * length]).copied().collect()
}

/// Widens rows of `old` numbers by those of `new`, which is repeated as often as necessary. Each half of a row grows by
/// itself: with pairwise products, a neuron of one half is multiplied by that of the other half.
fn widen<T: Copy>(values: &[T], old: usize, new_width: usize, new: &[T]) -> Vec<T> {
    let added = (new_width - old) / 2;
    let mut new = new.iter().cycle();
    let halves = values.chunks_exact(old / 2);
    halves.flat_map(|half| half.iter().chain(new.by_ref().take(added)).copied().collect::<Vec<_>>()).collect()
}
