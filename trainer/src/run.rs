//! A training run from the run file to the asset, and the comparison of the trained network with its quantised asset.

use crate::batch::{BatchProcessor, TargetBlend};
use crate::checkpoint::{self, Progress, SuperbatchRecord};
use crate::config::{Config, TrainingConfig};
use crate::data::{Dataset, EpochOrder};
use crate::network::{Network, OptimiserStep, SCALE};
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

/// File ending of the asset.
const ASSET: &str = ".nnue.zst";
/// File ending of the checkpoint.
const CHECKPOINT: &str = ".checkpoint";

/// The [`SAMPLES`] whose expected scores are stored in the asset, to test implementations.
const EXPECTED: [&str; 4] = [SAMPLES[0], SAMPLES[1], SAMPLES[2], SAMPLES[5]];

/// A training run with its dataset in memory.
pub struct Training {
    config: Config,
    data: Dataset,
    /// Hash of everything that determines the trained network.
    run_hash: [u8; 32],
    network: Network,
    progress: Progress,
}

/// The JSON log.
#[derive(Serialize)]
struct Log<'a> {
    config: &'a Config,
    shape: String,
    /// Training positions.
    positions: usize,
    /// Validation positions.
    held_out: usize,
    data_sha256: String,
    commit: String,
    records: &'a [SuperbatchRecord],
}

impl Training {
    /// Opens a run: reads the dataset and, if one exists, the checkpoint.
    ///
    /// # Errors
    /// If the data, the start asset or the checkpoint cannot be read, or the checkpoint belongs to another run.
    pub fn open(config: Config) -> Result<Self> {
        let (start, header) = config.start()?;
        let header = Header { name: config.name.clone(), ..header };
        let data = Dataset::read(&config.data, config.seed)?;
        let Config { seed, ref training, .. } = config;
        let mut network = match &start {
            Some(asset) => Network::from_asset(&Asset { header, ..asset.clone() }, training.factoriser)?,
            None => Network::new(header, training.factoriser, seed)?,
        };
        // The checkpoint interval does not affect the result.
        let settings = TrainingConfig { checkpoint_seconds: 0, ..training.clone() };
        let settings = serde_json::to_vec(&(&settings, seed, network.header().shape().key()))?;
        let start = start.map_or([0; 32], |asset| asset.header.sha256);
        let run_hash = Sha256::new_with_prefix(settings).chain_update(start).chain_update(data.sha256).finalize();
        let run_hash = run_hash.into();
        let progress = checkpoint::load(&config.output(CHECKPOINT), run_hash, &mut network)?.unwrap_or_default();
        Ok(Self { config, data, run_hash, network, progress })
    }

    /// Returns the network in its current state.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the progress so far.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns one line with architecture, dataset size, batches done and the last losses.
    pub fn summary(&self) -> String {
        let Self { data, network, progress, .. } = self;
        let (training, validation) = (data.training.len(), data.validation.len());
        let shape = network.header().shape();
        let state = match progress.records.last() {
            Some(record) => format!(
                "{} batches done, training loss {:.6}, validation loss {:.6}",
                progress.batches, record.training_loss, record.validation_loss
            ),
            None => format!("{} batches done", progress.batches),
        };
        format!("{shape}; {training} training and {validation} validation positions; {state}")
    }

    /// Trains to the end of the run, or until `stop`, called after each batch, returns true.
    ///
    /// Writes the asset, log and loss curves after each superbatch, and a checkpoint after each superbatch, at every
    /// checkpoint interval and on stopping.
    ///
    /// # Errors
    /// If a file cannot be written or the loss is not finite.
    pub fn fit(&mut self, bar: &ProgressBar, stop: impl Fn(&Progress) -> bool) -> Result<()> {
        let output = &self.config.output;
        fs::create_dir_all(output).with_context(|| format!("the folder {} cannot be created", output.display()))?;
        let training = self.config.training.clone();
        let (size, total) = (training.batch_size, training.batches * training.superbatches);
        let order = EpochOrder::new(self.data.training.len(), self.config.seed);
        let mut processor = BatchProcessor::new(&self.network);
        bar.set_length(total);
        bar.set_position(self.progress.batches);
        bar.reset_eta();
        let mut saved = Instant::now();
        while self.progress.batches < total {
            let batch_start = Instant::now();
            let batch = self.progress.batches;
            let index = order.starting_at(batch * size as u64);
            let blend = TargetBlend { wdl: training.wdl_proportion(batch) };
            let step = OptimiserStep {
                learning_rate: training.learning_rate(batch),
                number: batch + 1,
                weight_decay: training.decay,
            };
            let positions = &self.data.training;
            let loss = processor.train_batch(&mut self.network, size, |i| positions[index(i)], blend, step);
            ensure!(loss.is_finite(), "the loss is not finite in batch {batch}; try a lower training.rate");
            self.progress.batches += 1;
            self.progress.loss_sum += loss;
            self.progress.seconds += batch_start.elapsed().as_secs_f64();
            bar.inc(1);
            let ends_superbatch = self.progress.batches.is_multiple_of(training.batches);
            if ends_superbatch {
                self.record_superbatch(&mut processor, step, blend);
            }
            self.update_bar(bar);
            let is_stopped = stop(&self.progress);
            // Before the checkpoint: a run killed between the two writes repeats this batch and writes both. In the
            // other order it would resume after the superbatch and keep the asset of the previous one.
            if ends_superbatch {
                self.write_results()?;
            }
            if ends_superbatch || is_stopped || saved.elapsed() >= Duration::from_secs(training.checkpoint_seconds) {
                let file = self.config.output(CHECKPOINT);
                checkpoint::save(&file, self.run_hash, &self.progress, &mut self.network)?;
                saved = Instant::now();
            }
            if is_stopped {
                break;
            }
        }
        Ok(())
    }

    fn update_bar(&self, bar: &ProgressBar) {
        let Progress { batches, seconds, .. } = self.progress;
        let done = batches % self.config.training.batches;
        if let Some(record) = self.progress.records.last() {
            let SuperbatchRecord { training_loss, validation_loss, superbatch, .. } = record;
            bar.set_prefix(format!(
                "{superbatch}: training loss {training_loss:.6}, validation loss {validation_loss:.6}"
            ));
        }
        if done > 0 {
            bar.set_message(format!("{:.0}", self.positions(done) / seconds));
        }
    }

    /// Returns the number of positions in `batches` batches.
    fn positions(&self, batches: u64) -> f64 {
        batches as f64 * self.config.training.batch_size as f64
    }

    /// Computes the validation loss and appends the record of the finished superbatch.
    fn record_superbatch(&mut self, processor: &mut BatchProcessor, step: OptimiserStep, blend: TargetBlend) {
        let validation = &self.data.validation;
        let validation_loss = processor.loss(&self.network, validation.len(), |i| validation[i], blend);
        let positions = self.positions(self.config.training.batches);
        self.progress.records.push(SuperbatchRecord {
            superbatch: self.progress.batches / self.config.training.batches,
            rate: step.learning_rate,
            wdl: blend.wdl,
            training_loss: self.progress.loss_sum / positions,
            validation_loss: validation_loss / validation.len() as f64,
            positions_per_second: positions / self.progress.seconds,
        });
        (self.progress.loss_sum, self.progress.seconds) = (0.0, 0.0);
    }

    /// Writes the asset, a copy of the run file, the log and the loss curves.
    fn write_results(&self) -> Result<()> {
        let Self { config, data, network, progress, .. } = self;
        let commit = commit();
        let mut asset = network.to_asset();
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
        let bytes = asset.to_bytes();
        Asset::from_bytes(&bytes).context("the trained network is not a valid asset")?;
        checkpoint::write(&config.output(ASSET), &bytes)?;
        checkpoint::write(&config.output(".toml"), config.text.as_bytes())?;
        let log = Log {
            config,
            shape: network.header().shape().to_string(),
            positions: data.training.len(),
            held_out: data.validation.len(),
            data_sha256: hexadecimal(&data.sha256),
            commit,
            records: &progress.records,
        };
        checkpoint::write(&config.output(".json"), serde_json::to_string_pretty(&log)?.as_bytes())?;
        checkpoint::write(&config.output(".svg"), loss_curves(&progress.records)?.as_bytes())
    }

    /// Measures the quantisation error of the asset in the output folder on at most `count` validation positions.
    ///
    /// # Errors
    /// If the asset cannot be read or was not made from the checkpoint's network.
    pub fn check_asset(&self, count: usize) -> Result<QuantisationError> {
        let file = self.config.output(ASSET);
        let bytes = fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        let asset =
            Asset::from_bytes(&bytes).with_context(|| format!("{} is not a usable network asset", file.display()))?;
        ensure!(
            self.network.to_asset().features == asset.features,
            "{} differs from the checkpoint's network; finish the superbatch first",
            file.display()
        );
        let positions = &self.data.validation[..count.min(self.data.validation.len())];
        Ok(quantisation_error(&self.network, &asset, positions))
    }
}

/// Differences between the evaluations of a trained network and of its quantised asset.
///
/// Win probabilities are σ(score / [`SCALE`]), from 0 to 1, a draw counting half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantisationError {
    /// Positions compared.
    pub positions: usize,
    /// Mean absolute difference of the scores in centipawns.
    pub mean_centipawns: f64,
    /// Maximum absolute difference of the scores in centipawns.
    pub max_centipawns: f64,
    /// Mean absolute difference of the win probabilities.
    pub mean_probability: f64,
    /// Maximum absolute difference of the win probabilities.
    pub max_probability: f64,
}

impl QuantisationError {
    /// Limit of [`Self::mean_probability`].
    pub const MEAN_LIMIT: f64 = 0.005;
    /// Limit of [`Self::max_probability`].
    pub const MAX_LIMIT: f64 = 0.05;

    /// Returns whether the win probabilities differ by no more than the limits.
    pub fn is_acceptable(&self) -> bool {
        self.mean_probability <= Self::MEAN_LIMIT && self.max_probability <= Self::MAX_LIMIT
    }
}

/// Compares the evaluations of `network` with the reference evaluations of `asset`.
pub fn quantisation_error(network: &Network, asset: &Asset, positions: &[ChessBoard]) -> QuantisationError {
    let exact = BatchProcessor::new(network).evaluate(network, positions.len(), |i| positions[i]);
    let quantised: Vec<i64> = positions.par_iter().map(|board| asset.evaluate(&pieces(board), false)).collect();
    let win_probability = |score: f64| 1.0 / (1.0 + (-score / f64::from(SCALE)).exp());
    let mut found = QuantisationError {
        positions: positions.len(),
        mean_centipawns: 0.0,
        max_centipawns: 0.0,
        mean_probability: 0.0,
        max_probability: 0.0,
    };
    for (&exact, &quantised) in exact.iter().zip(&quantised) {
        let (exact, quantised) = (f64::from(exact), quantised as f64);
        let difference = (exact - quantised).abs();
        found.mean_centipawns += difference / positions.len() as f64;
        found.max_centipawns = found.max_centipawns.max(difference);
        let difference = (win_probability(exact) - win_probability(quantised)).abs();
        found.mean_probability += difference / positions.len() as f64;
        found.max_probability = found.max_probability.max(difference);
    }
    found
}

/// Converts a position to the (color, piece type, square) triples of [`Asset::evaluate`], with White to move.
fn pieces(board: &ChessBoard) -> Vec<(usize, usize, usize)> {
    let pieces = board.into_iter();
    pieces.map(|(piece, square)| (usize::from(piece >> 3), usize::from(piece & 7), square.into())).collect()
}

/// Returns the commit of the source tree, with `-changed` if tracked files differ from it; empty without a repository.
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

/// Draws the losses by superbatch as SVG.
fn loss_curves(records: &[SuperbatchRecord]) -> Result<String> {
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
        let curves = [("training", BLUE), ("validation", RED)];
        for (number, (name, color)) in curves.into_iter().enumerate() {
            let loss = |record: &SuperbatchRecord| [record.training_loss, record.validation_loss][number];
            let points: Vec<_> = records.iter().map(|record| (record.superbatch as f64, loss(record))).collect();
            let dots = points.iter().map(|&point| Circle::new(point, 2, color.filled()));
            chart.draw_series(dots)?;
            let line = chart.draw_series(LineSeries::new(points.iter().copied(), color))?;
            line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
        }
        chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
        area.present()?;
    }
    Ok(picture)
}

/// Returns a progress bar for [`Training::fit`].
pub fn progress_bar() -> ProgressBar {
    let template = "{prefix} [{wide_bar}] {pos}/{len} batches, {msg} positions/s, {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    ProgressBar::new(0).with_style(style)
}
