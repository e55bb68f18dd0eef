//! Measures the training speed in positions per second: `speed [states|pairs] [HIDDEN [FIRST]]`, with
//! `RAYON_NUM_THREADS` threads. With `FIRST`, 16 or 32, the network has pairwise products and layers of `FIRST` and 32
//! neurons.

use kiln_gen::network::{Head, Header, Inputs, Threats, equal_output_buckets, material};
use kiln_trainer::batch::{BatchProcessor, TargetBlend};
use kiln_trainer::data::{Dataset, EpochOrder};
use kiln_trainer::network::{Network, OptimiserStep};
use kiln_trainer::synthetic;
use std::time::Instant;

const BATCH: usize = 16384;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let threats = arguments.next_if(|argument| argument.parse::<Threats>().is_ok());
    let threats = threats.map_or(Threats::None, |argument| argument.parse().expect("it was parsed before"));
    let mut arguments = arguments.map(|argument| argument.parse::<u32>());
    let hidden = arguments.next().unwrap_or(Ok(256))?;
    let head = match arguments.next() {
        Some(first) => Head::Layers { first: first?, second: 32 },
        None => Head::Single,
    };
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("games.viri.zst"), synthetic::shard(4000, 1)?)?;
    let data = Dataset::read(&[folder.path().into()], 1)?;
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
        let (start, batches) = (Instant::now(), 4);
        let mut loss = 0.0;
        for i in 0..batches {
            let number = round * batches + i;
            let index = order.starting_at(number * BATCH as u64);
            let step = OptimiserStep { learning_rate: 1e-3, number: number + 1, weight_decay: 0.01 };
            let blend = TargetBlend { wdl: 0.0 };
            loss += processor.train_batch(&mut network, BATCH, |i| data.training[index(i)], blend, step);
        }
        let positions = batches as f64 * BATCH as f64;
        println!("{:8.0} positions/s, loss {:.6}", positions / start.elapsed().as_secs_f64(), loss / positions);
    }
    Ok(())
}
