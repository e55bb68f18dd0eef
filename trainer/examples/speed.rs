//! How many positions a second are learnt from: `speed [threats] [HIDDEN [FIRST]]`, with `RAYON_NUM_THREADS` threads. With `FIRST`, 16 or 32, the network
//! has pairwise products and three layers.

use kiln_gen::network::{Head, Header, Inputs, equal_output_buckets, material};
use kiln_trainer::data::{Data, Order};
use kiln_trainer::network::{Network, Step};
use kiln_trainer::step::{Target, Worker};
use kiln_trainer::synthetic;
use std::time::Instant;

const BATCH: usize = 16384;

fn main() -> anyhow::Result<()> {
    let (words, numbers): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|argument| argument == "threats");
    let mut arguments = numbers.into_iter().map(|argument| argument.parse::<u32>());
    let hidden = arguments.next().unwrap_or(Ok(256))?;
    let head = match arguments.next() {
        Some(first) => Head::Layers { first: first?, second: 32 },
        None => Head::Single,
    };
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("games.viri.zst"), synthetic::shard(4000, 1)?)?;
    let data = Data::read(&[folder.path().into()], 1)?;
    let buckets = if head == Head::Single { 1 } else { 8 };
    let material = material().header;
    let inputs = Inputs { threats: !words.is_empty(), ..material.inputs };
    let header = Header { hidden, head, inputs, output_buckets: equal_output_buckets(buckets), ..material };
    let mut network = Network::new(header, true, 1)?;
    println!(
        "{}, {} positions, {} threads",
        network.header().shape(),
        data.training.len(),
        rayon::current_num_threads()
    );
    let mut worker = Worker::new(&network);
    let order = Order::new(data.training.len(), 1);
    for round in 0..5 {
        let (start, batches) = (Instant::now(), 4);
        let mut loss = 0.0;
        for i in 0..batches {
            let number = round * batches + i;
            let place = order.from(number * BATCH as u64);
            let step = Step { rate: 1e-3, number: number + 1, decay: 0.01 };
            loss += worker.train_batch(&mut network, BATCH, |i| data.training[place(i)], Target { result: 0.0 }, step);
        }
        let learnt = batches as f64 * BATCH as f64;
        println!("{:8.0} positions/s, loss {:.6}", learnt / start.elapsed().as_secs_f64(), loss / learnt);
    }
    Ok(())
}
