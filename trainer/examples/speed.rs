//! Measures the training speed in positions per second: `speed [states|pairs] [HIDDEN [FIRST [products]]] [SHARD…]`,
//! with `RAYON_NUM_THREADS` threads. With `FIRST`, 16 or 32, the network has layers of `FIRST` and 32 neurons, which
//! read the squares of the accumulators, or with `products` pairwise products. Without shards, the positions are those
//! of random games.

use kiln_gen::network::{Activations, Head, Header, Inputs, Threats, equal_output_buckets, material};
use kiln_trainer::batch::{BatchProcessor, Objective};
use kiln_trainer::data::{Dataset, EpochOrder, Filter};
use kiln_trainer::network::{EPSILON, Network, OptimiserStep};
use kiln_trainer::synthetic;
use std::path::PathBuf;
use std::time::Instant;

const BATCH: usize = 65536;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let threats = arguments.next_if(|argument| argument.parse::<Threats>().is_ok());
    let threats = threats.map_or(Threats::None, |argument| argument.parse().expect("it was parsed before"));
    let mut number = || arguments.next_if(|argument| argument.parse::<u32>().is_ok())?.parse().ok();
    let hidden = number().unwrap_or(256);
    let first = number();
    let products = arguments.next_if(|argument| argument == "products");
    let inputs = Activations::new(products.is_some());
    let head = first.map_or(Head::Single, |first| Head::Layers { inputs, first, second: 32 });
    let folder = tempfile::tempdir()?;
    let mut shards: Vec<_> = arguments.map(PathBuf::from).collect();
    if shards.is_empty() {
        shards.push(folder.path().join("games.viri.zst"));
        std::fs::write(&shards[0], synthetic::shard(4000, 1)?)?;
    }
    let start = Instant::now();
    let data = Dataset::read(&shards, &[], Filter::default())?;
    println!("read in {:.2} s", start.elapsed().as_secs_f64());
    let buckets = if head == Head::Single { 1 } else { 8 };
    let material = material().header;
    let inputs = Inputs { threats, ..material.inputs };
    let header = Header { hidden, head, inputs, output_buckets: equal_output_buckets(buckets), ..material };
    let mut network = Network::new(header, true, 1)?;
    println!(
        "{}, {} training positions, {} threads",
        network.header().shape(),
        data.training.len(),
        rayon::current_num_threads()
    );
    let mut processor = BatchProcessor::new(&network);
    let order = EpochOrder::new(data.training.len(), 1);
    for round in 0..5 {
        let start = Instant::now();
        let index = order.starting_at(round * BATCH as u64);
        let step = OptimiserStep { learning_rate: 1e-3, number: round + 1, weight_decay: 0.01, epsilon: EPSILON };
        let objective = Objective::default();
        let loss = processor.train_batch(&mut network, BATCH, |i| data.training[index(i)], objective, step);
        let positions = BATCH as f64;
        println!("{:8.0} positions/s, loss {:.6}", positions / start.elapsed().as_secs_f64(), loss / positions);
    }
    Ok(())
}
