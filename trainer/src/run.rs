//! A training from its file to the asset, and the comparison of what came out with what was learnt.

use crate::checkpoint::{self, Progress, Record};
use crate::config::Config;
use crate::data::{Data, Order};
use crate::network::{Network, SCALE, Step};
use crate::step::{Target, Worker};
use anyhow::{Context, Result, ensure};
use bulletformat::ChessBoard;
use indicatif::{ProgressBar, ProgressStyle};
use kiln::tools::net::{SAMPLES, expected};
use kiln_gen::hexadecimal;
use kiln_gen::network::{Asset, Header, Provenance};
use plotters::prelude::*;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Ending of the asset's name.
const ASSET: &str = ".nnue.zst";
/// Ending of the checkpoint's name.
const CHECKPOINT: &str = ".checkpoint";

/// The [`SAMPLES`] whose scores an asset tells, to try an implementation.
const EXPECTED: [&str; 4] = [SAMPLES[0], SAMPLES[1], SAMPLES[2], SAMPLES[5]];

/// A training with its data in memory.
pub struct Training {
    config: Config,
    data: Data,
    /// Hash of all that determines the network.
    identity: [u8; 32],
    network: Network,
    progress: Progress,
}

/// The log in JSON.
#[derive(Serialize)]
struct Log<'a> {
    config: &'a Config,
    shape: String,
    positions: usize,
    held_out: usize,
    data_sha256: String,
    commit: String,
    records: &'a [Record],
}

impl Training {
    /// Reads the data and, if there is one, the checkpoint.
    pub fn open(config: Config) -> Result<Self> {
        let (start, header) = config.start()?;
        let header = Header { name: config.name.clone(), ..header };
        let data = Data::read(&config.data, config.seed)?;
        let Config { seed, ref training, .. } = config;
        let mut network = match &start {
            Some(asset) => Network::from_asset(&Asset { header, ..asset.clone() }, training.factoriser)?,
            None => Network::new(header, training.factoriser, seed)?,
        };
        let settings = crate::config::Training { checkpoint_seconds: 0, ..training.clone() };
        let settings = serde_json::to_vec(&(&settings, seed, network.header().dimensions()))?;
        let start = start.map_or([0; 32], |asset| asset.header.sha256);
        let identity = Sha256::new_with_prefix(settings).chain_update(start).chain_update(data.sha256).finalize();
        let identity = identity.into();
        let progress = checkpoint::load(&config.output(CHECKPOINT), identity, &mut network)?.unwrap_or_default();
        Ok(Self { config, data, identity, network, progress })
    }

    /// The network as it is now.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What happened so far.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// A line about shape, data and what came out.
    pub fn summary(&self) -> String {
        let Self { data, network, progress, .. } = self;
        let (learnt, held_out) = (data.training.len(), data.validation.len());
        let shape = network.header().shape();
        let state = match progress.records.last() {
            Some(record) => format!(
                "{} batches done, loss {:.6}, held out {:.6}",
                progress.batches, record.training_loss, record.validation_loss
            ),
            None => format!("{} batches done", progress.batches),
        };
        format!("{shape}; {learnt} positions to train_batch from, {held_out} held out; {state}")
    }

    /// Trains to the end, or until `stop` says so after a batch; then a checkpoint is written, as it is now and then anyway.
    pub fn fit(&mut self, bar: &ProgressBar, stop: impl Fn(&Progress) -> bool) -> Result<()> {
        let output = &self.config.output;
        fs::create_dir_all(output).with_context(|| format!("the folder {} cannot be made", output.display()))?;
        let training = self.config.training.clone();
        let (size, total) = (training.batch_size, training.batches * training.superbatches);
        let order = Order::new(self.data.training.len(), self.config.seed);
        let mut worker = Worker::new(&self.network);
        bar.set_length(total);
        bar.set_position(self.progress.batches);
        bar.reset_eta();
        let mut saved = Instant::now();
        while self.progress.batches < total {
            let begun = Instant::now();
            let batch = self.progress.batches;
            let place = order.from(batch * size as u64);
            let target = Target { result: training.wdl_at(batch) };
            let step = Step { rate: training.rate_at(batch), number: batch + 1, decay: training.decay };
            let positions = &self.data.training;
            let loss = worker.train_batch(&mut self.network, size, |i| positions[place(i)], target, step);
            ensure!(loss.is_finite(), "the loss is not finite in batch {batch}; a lower training.rate may help");
            self.progress.batches += 1;
            self.progress.loss += loss;
            self.progress.seconds += begun.elapsed().as_secs_f64();
            bar.inc(1);
            let is_end = self.progress.batches.is_multiple_of(training.batches);
            if is_end {
                self.record(&mut worker, step, target);
            }
            self.show(bar);
            let is_stopped = stop(&self.progress);
            // Before the checkpoint: a kill in between leads here again, and one after it would leave the asset of the superbatch before for good.
            if is_end {
                self.publish()?;
            }
            if is_end || is_stopped || saved.elapsed() >= Duration::from_secs(training.checkpoint_seconds) {
                let file = self.config.output(CHECKPOINT);
                checkpoint::save(&file, self.identity, &self.progress, &mut self.network)?;
                saved = Instant::now();
            }
            if is_stopped {
                break;
            }
        }
        Ok(())
    }

    fn show(&self, bar: &ProgressBar) {
        let Progress { batches, seconds, .. } = self.progress;
        let done = batches % self.config.training.batches;
        if let Some(record) = self.progress.records.last() {
            let Record { training_loss, validation_loss, superbatch, .. } = record;
            bar.set_prefix(format!("{superbatch}: loss {training_loss:.6}, held out {validation_loss:.6}"));
        }
        if done > 0 {
            bar.set_message(format!("{:.0}", self.positions(done) / seconds));
        }
    }

    fn positions(&self, batches: u64) -> f64 {
        batches as f64 * self.config.training.batch_size as f64
    }

    /// Ends a superbatch.
    fn record(&mut self, worker: &mut Worker, step: Step, target: Target) {
        let held_out = &self.data.validation;
        let validation = worker.loss(&self.network, held_out.len(), |i| held_out[i], target);
        let positions = self.positions(self.config.training.batches);
        self.progress.records.push(Record {
            superbatch: self.progress.batches / self.config.training.batches,
            rate: step.rate,
            wdl: target.result,
            training_loss: self.progress.loss / positions,
            validation_loss: validation / held_out.len() as f64,
            positions_per_second: positions / self.progress.seconds,
        });
        (self.progress.loss, self.progress.seconds) = (0.0, 0.0);
    }

    /// Writes the asset, the settings, the log and the picture of the losses.
    fn publish(&self) -> Result<()> {
        let Self { config, data, network, progress, .. } = self;
        let commit = commit();
        let mut asset = network.to_asset()?;
        let superbatches = progress.records.len();
        let sources = if config.description.is_empty() { String::new() } else { format!("{}; ", config.description) };
        asset.header.provenance = Provenance {
            description: format!(
                "{sources}kiln-trainer, {superbatches} superbatches of {} x {}",
                config.training.batches, config.training.batch_size
            ),
            generation: config.generation,
            positions: data.training.len() as u64,
            data_sha256: data.sha256,
            commit: commit.clone(),
            seed: config.seed,
        };
        asset.header.expected = expected(&asset, &EXPECTED);
        checkpoint::write(&config.output(ASSET), &asset.to_bytes())?;
        checkpoint::write(&config.output(".toml"), config.text.as_bytes())?;
        let log = Log {
            config,
            shape: network.header().shape(),
            positions: data.training.len(),
            held_out: data.validation.len(),
            data_sha256: hexadecimal(&data.sha256),
            commit,
            records: &progress.records,
        };
        checkpoint::write(&config.output(".json"), serde_json::to_string_pretty(&log)?.as_bytes())?;
        checkpoint::write(&config.output(".svg"), curves(&progress.records)?.as_bytes())
    }

    /// Compares the trained network with its asset on at most `count` positions held out.
    pub fn check(&self, count: usize) -> Result<Comparison> {
        let file = self.config.output(ASSET);
        let bytes = fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        let asset = Asset::from_bytes(&bytes).with_context(|| format!("{} cannot be used", file.display()))?;
        ensure!(
            self.network.to_asset()?.features == asset.features,
            "{} is not what the checkpoint holds; let the superbatch be finished first",
            file.display()
        );
        let positions = &self.data.validation[..count.min(self.data.validation.len())];
        Ok(compare(&self.network, &asset, positions))
    }
}

/// How far the quantised network is from the trained one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Positions compared.
    pub positions: usize,
    /// Mean of the differences' magnitudes in centipawns.
    pub mean: f64,
    /// The largest of them.
    pub largest: f64,
    /// Mean difference between the chances to win, of 1.
    pub mean_chance: f64,
    /// The largest difference between them.
    pub largest_chance: f64,
}

impl Comparison {
    /// Largest mean difference of the chances to win that is right.
    pub const MEAN: f64 = 0.005;
    /// Largest difference of them that is right.
    pub const LARGEST: f64 = 0.05;

    /// Whether the quantised network is as near to the trained one as it should be.
    pub fn is_right(&self) -> bool {
        self.mean_chance <= Self::MEAN && self.largest_chance <= Self::LARGEST
    }
}

/// Compares the network with an asset, as the reference evaluates it.
pub fn compare(network: &Network, asset: &Asset, positions: &[ChessBoard]) -> Comparison {
    let exact = Worker::new(network).evaluate(network, positions.len(), |i| positions[i]);
    let quantised: Vec<i64> = positions.par_iter().map(|board| asset.evaluate(&pieces(board), false)).collect();
    let chance = |score: f64| 1.0 / (1.0 + (-score / f64::from(SCALE)).exp());
    let mut found =
        Comparison { positions: positions.len(), mean: 0.0, largest: 0.0, mean_chance: 0.0, largest_chance: 0.0 };
    for (&exact, &quantised) in exact.iter().zip(&quantised) {
        let (exact, quantised) = (f64::from(exact), quantised as f64);
        let difference = (exact - quantised).abs();
        found.mean += difference / positions.len() as f64;
        found.largest = found.largest.max(difference);
        let difference = (chance(exact) - chance(quantised)).abs();
        found.mean_chance += difference / positions.len() as f64;
        found.largest_chance = found.largest_chance.max(difference);
    }
    found
}

/// The pieces as the reference wants them, the side to move being White.
fn pieces(board: &ChessBoard) -> Vec<(usize, usize, usize)> {
    let pieces = board.into_iter();
    pieces.map(|(piece, square)| (usize::from(piece >> 3), usize::from(piece & 7), square.into())).collect()
}

/// The commit of the sources that this program was built from, with a mark if they were changed; empty if there is no repository.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "HEAD"]) else { return String::new() };
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    commit + if is_changed { "-changed" } else { "" }
}

/// The losses by superbatch as a picture in SVG.
fn curves(records: &[Record]) -> Result<String> {
    let losses = || records.iter().flat_map(|record| [record.training_loss, record.validation_loss]);
    let (least, largest) = losses().fold((f64::MAX, f64::MIN), |(a, b), loss| (a.min(loss), b.max(loss)));
    let margin = (largest - least).max(largest * 0.01) * 0.05;
    let last = records.last().map_or(1, |record| record.superbatch) as f64;
    let mut picture = String::new();
    {
        let area = SVGBackend::with_string(&mut picture, (800, 500)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(72)
            .build_cartesian_2d(1.0..last.max(1.5), least - margin..largest + margin)?;
        let label = |loss: &f64| format!("{loss:.5}");
        chart.configure_mesh().x_desc("superbatch").y_desc("loss").y_label_formatter(&label).draw()?;
        let curves = [("learnt from", BLUE), ("held out", RED)];
        for (number, (name, colour)) in curves.into_iter().enumerate() {
            let loss = |record: &Record| [record.training_loss, record.validation_loss][number];
            let points: Vec<_> = records.iter().map(|record| (record.superbatch as f64, loss(record))).collect();
            let dots = points.iter().map(|&point| Circle::new(point, 2, colour.filled()));
            chart.draw_series(dots)?;
            let line = chart.draw_series(LineSeries::new(points.iter().copied(), colour))?;
            line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
        }
        chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
        area.present()?;
    }
    Ok(picture)
}

/// A bar for [`Training::fit`].
pub fn bar() -> ProgressBar {
    let template = "{prefix} [{wide_bar}] {pos}/{len} batches, {msg} positions/s, {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is right");
    ProgressBar::new(0).with_style(style)
}
