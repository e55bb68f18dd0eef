//! A training run from the run file to the asset, and the comparison of the trained network with its quantised asset.

use crate::batch::{BatchProcessor, Objective};
use crate::checkpoint::{self, Progress, SuperbatchRecord};
use crate::config::{Config, Stage, Teacher, TrainingConfig, read_asset};
use crate::data::{self, Dataset, EpochOrder, Filter};
use crate::network::{Network, OptimiserStep, SCALE};
use anyhow::{Context, Result, ensure};
use bulletformat::ChessBoard;
use kiln::tools::datagen::lock;
use kiln::tools::net::{SAMPLES, expected};
use kiln_gen::hexadecimal;
use kiln_gen::network::{Asset, Head, Header, Provenance};
use plotters::prelude::*;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, iter, mem};

/// File ending of the asset.
const ASSET: &str = ".nnue.zst";
/// File ending of the asset of the superbatch that was best on the validation games.
const BEST: &str = ".best.nnue.zst";
/// Superbatches in a row with a rising validation loss that cause a warning of overfitting.
const OVERFITTING: usize = 3;
/// File ending of the checkpoint.
const CHECKPOINT: &str = ".checkpoint";

/// The [`SAMPLES`] whose expected scores are stored in the asset, to test implementations.
pub(crate) const EXPECTED: [&str; 4] = [SAMPLES[0], SAMPLES[1], SAMPLES[2], SAMPLES[5]];

/// A training run with the dataset of its stage in memory.
pub struct Training {
    config: Config,
    /// The network of the `[teacher]` section.
    teacher: Option<Asset>,
    /// Number of the stage, from 0.
    stage: usize,
    data: Dataset,
    /// Whether the scores of `data` are mixed, by [`Self::mix`].
    is_mixed: bool,
    /// SHA-256 of the shards of all stages.
    data_sha256: [u8; 32],
    /// Commit of the trainer.
    commit: String,
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
    /// Training positions by stage.
    positions: &'a [u64],
    /// Validation positions of the stage.
    held_out: usize,
    data_sha256: String,
    commit: String,
    /// Superbatch of the best asset.
    best: Option<u64>,
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
        let stages = config.all_stages();
        // The first stage's shards and those that others name themselves.
        let own_data = || iter::once(&config.data).chain(config.stages.iter().map(|stage| &stage.data));
        let data_sha256 = data::hash(&own_data().flatten().cloned().collect::<Vec<_>>())?;
        // The hash does not tell where the shards of a stage end.
        let shard_counts = own_data().map(|paths| Ok(data::files(paths)?.len())).collect::<Result<Vec<_>>>()?;
        let validation_sha256 = data::hash(&config.validation)?;
        let Config { seed, plies, tree_pieces, results, ref training, .. } = config;
        let mut network = match &start {
            Some(asset) => Network::from_asset(&Asset { header, ..asset.clone() }, training.factoriser)?,
            None => Network::new(header, training.factoriser, seed)?,
        };
        network.round();
        ensure!(!training.anchor || start.is_some(), "training.anchor is set, but there is no start to pull toward");
        if training.anchor {
            network.anchor();
        }
        let is_single = network.header().head == Head::Single;
        ensure!(training.sparsity == 0.0 || !is_single, "training.sparsity is set, but without layers has no effect");
        // Neither the checkpoint interval nor the paths of the data affect the result.
        let settings = TrainingConfig { checkpoint_seconds: 0, ..training.clone() };
        let schedules: Vec<_> = stages.iter().map(|stage| (stage.superbatches, stage.rate, stage.wdl)).collect();
        let shape = network.header().shape().key();
        let settings =
            serde_json::to_vec(&(&settings, schedules, shard_counts, seed, plies, tree_pieces, results, shape))?;
        let start = start.map_or([0; 32], |asset| asset.header.sha256);
        let run_hash = Sha256::new_with_prefix(settings).chain_update(start).chain_update(data_sha256);
        let mut run_hash = run_hash.chain_update(validation_sha256);
        let teacher = config.teacher.as_ref().map(|teacher| read_asset(&teacher.network)).transpose()?;
        if let (Some(asset), Some(Teacher { trust, .. })) = (&teacher, &config.teacher) {
            run_hash.update(asset.header.sha256);
            run_hash.update(serde_json::to_vec(trust)?);
        }
        let run_hash = run_hash.finalize().into();
        let progress = checkpoint::load(&config.output(CHECKPOINT), run_hash, &mut network)?.unwrap_or_default();
        let last = config.superbatches() * training.batches - 1;
        let stage = config.batch_settings(progress.batches.min(last)).stage;
        let data = dataset(&config, &stages[stage])?;
        let mut run = Self {
            config,
            teacher,
            stage,
            data,
            is_mixed: false,
            data_sha256,
            commit: commit(),
            run_hash,
            network,
            progress,
        };
        run.count_positions();
        Ok(run)
    }

    /// Notes the number of training positions of the stage.
    fn count_positions(&mut self) {
        if self.progress.positions.len() == self.stage {
            self.progress.positions.push(self.data.training.len() as u64);
        }
    }

    /// Goes on to a stage: reads its dataset if it differs.
    fn enter(&mut self, stage: usize) -> Result<()> {
        let stages = self.config.all_stages();
        if stages[stage].data != stages[self.stage].data {
            // Frees the memory first.
            self.data = Dataset::default();
            self.data = dataset(&self.config, &stages[stage])?;
            self.is_mixed = false;
        }
        self.stage = stage;
        self.count_positions();
        Ok(())
    }

    /// Mixes the scores of the training positions with the teacher's and with results, once for each dataset.
    fn mix(&mut self) -> Result<()> {
        if mem::replace(&mut self.is_mixed, true) {
            return Ok(());
        }
        if let (Some(asset), Some(Teacher { trust, .. })) = (&self.teacher, &self.config.teacher) {
            self.data.mix_scores(asset, trust, self.config.training.scale)?;
        }
        self.data.mix_results(self.config.results);
        Ok(())
    }

    /// Returns the network that the asset has: the averaged one if `training.average` says so.
    fn result(&self) -> Option<Network> {
        let averages = &self.progress.averages;
        (!averages.is_empty()).then(|| self.network.with_values(averages))
    }

    /// Adds the weights to the averages if this superbatch is one of the last.
    fn average(&mut self) {
        let before = self.config.superbatches().saturating_sub(self.config.training.average);
        let superbatch = self.progress.batches / self.config.training.batches;
        let Some(count @ 1..) = superbatch.checked_sub(before) else { return };
        let averages = &mut self.progress.averages;
        let tensors = self.network.tensors_mut();
        averages.resize(tensors.len(), Vec::new());
        for (average, tensor) in averages.iter_mut().zip(tensors) {
            average.resize(tensor.values.len(), 0.0);
            for (average, value) in average.iter_mut().zip(tensor.values.iter()) {
                *average += (value - *average) / count as f32;
            }
        }
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
            Some(record) => format!("{} batches done, {}", progress.batches, losses(record)),
            None => format!("{} batches done", progress.batches),
        };
        format!("{shape}; {training} training and {validation} validation positions; {state}")
    }

    /// Returns the record of the superbatch with the lowest validation loss, among those of the current validation
    /// games: losses of others cannot be compared.
    pub fn best(&self) -> Option<&SuperbatchRecord> {
        self.comparable().iter().min_by(|a, b| a.selection_loss.total_cmp(&b.selection_loss))
    }

    /// Returns the records of the superbatches with the current validation games.
    fn comparable(&self) -> &[SuperbatchRecord] {
        let stages = self.config.all_stages();
        let has_other_games =
            |&stage: &usize| self.config.validation.is_empty() && stages[stage].data != stages[stage - 1].data;
        let first = (1..=self.stage).rev().find(has_other_games);
        let before = first.map_or(0, |first| self.stage_ends()[first - 1]);
        let records = &self.progress.records;
        &records[records.partition_point(|record| record.superbatch <= before)..]
    }

    /// Trains to the end of the run, or until `stop`, called after each batch, returns true. Passes a line for each
    /// superbatch, and warnings, to `print`.
    ///
    /// Writes the asset, log and loss curves after each superbatch, and a checkpoint after each superbatch, at every
    /// checkpoint interval and on stopping. The asset with the lowest validation loss is kept as well.
    ///
    /// # Errors
    /// If a file cannot be written or the loss is not finite.
    pub fn fit(&mut self, mut print: impl FnMut(&str), mut stop: impl FnMut(&Progress) -> bool) -> Result<()> {
        let output = &self.config.output;
        fs::create_dir_all(output).with_context(|| format!("the folder {} cannot be created", output.display()))?;
        let _lock = lock(output, "kiln-trainer fit")?;
        let training = self.config.training.clone();
        let (size, total) = (training.batch_size, training.batches * self.config.superbatches());
        let mut processor = BatchProcessor::new(&self.network);
        let mut saved = Instant::now();
        while self.progress.batches < total {
            let batch = self.progress.batches;
            let settings = self.config.batch_settings(batch);
            if settings.stage != self.stage {
                self.enter(settings.stage)?;
            }
            self.mix()?;
            let batch_start = Instant::now();
            let order = EpochOrder::new(self.data.training.len(), self.config.seed ^ settings.stage as u64);
            let index = order.starting_at(settings.batch * size as u64);
            let TrainingConfig { scale, power, sparsity, .. } = training;
            let objective = Objective { wdl: settings.wdl, scale, power, sparsity };
            let step = OptimiserStep {
                learning_rate: settings.learning_rate,
                number: batch + 1,
                weight_decay: training.decay,
                epsilon: training.epsilon,
            };
            let positions = &self.data.training;
            let loss = processor.train_batch(&mut self.network, size, |i| positions[index(i)], objective, step);
            ensure!(loss.is_finite(), "the loss is not finite in batch {batch}; try a lower training.rate");
            self.progress.batches += 1;
            self.progress.loss_sum += loss;
            self.progress.seconds += batch_start.elapsed().as_secs_f64();
            let ends_superbatch = self.progress.batches.is_multiple_of(training.batches);
            if ends_superbatch {
                self.average();
                self.record_superbatch(&mut processor, step, settings.wdl);
                self.describe_superbatch(&mut print);
            }
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

    /// Prints the losses of the last superbatch, and a warning if the validation loss keeps rising.
    fn describe_superbatch(&self, mut print: impl FnMut(&str)) {
        let Some(record) = self.progress.records.last() else { return };
        let best = self.best().filter(|best| best.superbatch < record.superbatch);
        let best = best.map_or("the best so far".into(), |best| format!("superbatch {} is better", best.superbatch));
        print(&format!(
            "superbatch {} of {}: {}, {best}",
            record.superbatch,
            self.config.superbatches(),
            losses(record)
        ));
        match overfitting(self.comparable()) {
            0 => {}
            count if count.is_multiple_of(OVERFITTING) => print(&format!(
                "warning: the network may be overfitting: in the last {count} superbatches the validation loss rose while the \
                 training loss fell; more games help, or a shorter run"
            )),
            _ => {}
        }
    }

    /// Returns the number of positions in `batches` batches.
    fn positions(&self, batches: u64) -> f64 {
        batches as f64 * self.config.training.batch_size as f64
    }

    /// Computes the validation loss and appends the record of the finished superbatch.
    fn record_superbatch(&mut self, processor: &mut BatchProcessor, step: OptimiserStep, wdl: f32) {
        let validation = &self.data.validation;
        let mut loss = |network: &Network, wdl| {
            let objective = Objective { wdl, scale: self.config.training.scale, ..Objective::default() };
            processor.loss(network, validation.len(), |i| validation[i], objective) / validation.len() as f64
        };
        let averaged = self.result();
        let validation_loss = loss(&self.network, wdl);
        let average_loss = averaged.as_ref().map(|network| loss(network, wdl));
        let last_batch = self.config.superbatches() * self.config.training.batches - 1;
        let last_wdl = self.config.batch_settings(last_batch).wdl;
        let selection_loss = if wdl == last_wdl {
            average_loss.unwrap_or(validation_loss)
        } else {
            loss(averaged.as_ref().unwrap_or(&self.network), last_wdl)
        };
        let positions = self.positions(self.config.training.batches);
        self.progress.records.push(SuperbatchRecord {
            superbatch: self.progress.batches / self.config.training.batches,
            rate: step.learning_rate,
            wdl,
            training_loss: self.progress.loss_sum / positions,
            validation_loss,
            average_loss,
            selection_loss,
            positions_per_second: positions / self.progress.seconds,
        });
        (self.progress.loss_sum, self.progress.seconds) = (0.0, 0.0);
    }

    /// Writes the asset, which may also be the best, a copy of the run file, the log and the loss curves.
    fn write_results(&self) -> Result<()> {
        let Self { config, data, data_sha256, commit, network, progress, .. } = self;
        let mut asset = self.result().as_ref().unwrap_or(network).to_asset();
        let superbatches = progress.records.len();
        let sources = if config.description.is_empty() { String::new() } else { format!("{}; ", config.description) };
        asset.header.provenance = Provenance {
            description: format!(
                "{sources}kiln-trainer, {superbatches} superbatches of {} x {}",
                config.training.batches, config.training.batch_size
            ),
            generation: config.generation,
            positions: self.own_positions(),
            data_sha256: *data_sha256,
            commit: commit.clone(),
            seed: config.seed,
        };
        asset.header.expected = expected(&asset, &EXPECTED);
        let bytes = asset.to_bytes();
        Asset::from_bytes(&bytes).context("the trained network is not a valid asset")?;
        checkpoint::write(&config.output(ASSET), &bytes)?;
        if self.best() == progress.records.last() {
            checkpoint::write(&config.output(BEST), &bytes)?;
        }
        checkpoint::write(&config.output(".toml"), config.text.as_bytes())?;
        let log = Log {
            config,
            shape: network.header().shape().to_string(),
            positions: &progress.positions,
            held_out: data.validation.len(),
            data_sha256: hexadecimal(data_sha256),
            commit: commit.clone(),
            best: self.best().map(|record| record.superbatch),
            records: &progress.records,
        };
        checkpoint::write(&config.output(".json"), serde_json::to_string_pretty(&log)?.as_bytes())?;
        checkpoint::write(&config.output(".svg"), loss_curves(&progress.records, &self.stage_ends())?.as_bytes())
    }

    /// Returns the last superbatch of each stage.
    fn stage_ends(&self) -> Vec<u64> {
        let lengths = self.config.all_stages().into_iter().map(|stage| stage.superbatches);
        lengths
            .scan(0, |end, length| {
                *end += length;
                Some(*end)
            })
            .collect()
    }

    /// Returns the number of training positions of the stages begun, those of the same data once.
    fn own_positions(&self) -> u64 {
        let stages = self.config.all_stages();
        let is_new = |stage: &usize| *stage == 0 || stages[*stage].data != stages[stage - 1].data;
        (0..self.progress.positions.len()).filter(is_new).map(|stage| self.progress.positions[stage]).sum()
    }

    /// Measures the quantisation error of the asset in the output folder on at most `count` validation positions.
    ///
    /// # Errors
    /// If the asset cannot be read or was not made from the checkpoint's network.
    pub fn check_asset(&self, count: usize) -> Result<QuantisationError> {
        let file = self.config.output(ASSET);
        let asset = read_asset(&file)?;
        let averaged = self.result();
        let network = averaged.as_ref().unwrap_or(&self.network);
        ensure!(
            network.to_asset().features == asset.features,
            "{} differs from the checkpoint's network; finish the superbatch first",
            file.display()
        );
        let positions = &self.data.validation[..count.min(self.data.validation.len())];
        Ok(quantisation_error(network, &asset, positions))
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

/// Reads the dataset of a stage.
fn dataset(config: &Config, stage: &Stage) -> Result<Dataset> {
    let Config { plies, tree_pieces, .. } = *config;
    let data = Dataset::read(&stage.data, &config.validation, Filter { plies, tree_pieces })?;
    ensure!(
        !data.training.is_empty() && !data.validation.is_empty(),
        "the data has {} training and {} validation positions; at least 1 of each is needed",
        data.training.len(),
        data.validation.len()
    );
    Ok(data)
}

/// Returns the losses as text.
fn losses(record: &SuperbatchRecord) -> String {
    let SuperbatchRecord { training_loss, validation_loss, average_loss, .. } = record;
    let average = average_loss.map_or(String::new(), |loss| format!(" ({loss:.6} averaged)"));
    format!("training loss {training_loss:.6}, validation loss {validation_loss:.6}{average}")
}

/// Draws the losses by superbatch as SVG: one curve for each stage, which may have other data and another target.
/// `stage_ends` are the last superbatches of the stages.
fn loss_curves(records: &[SuperbatchRecord], stage_ends: &[u64]) -> Result<String> {
    type Loss = fn(&SuperbatchRecord) -> Option<f64>;
    let curves: [(&str, RGBColor, Loss); 3] = [
        ("training", BLUE, |record| Some(record.training_loss)),
        ("validation", RED, |record| Some(record.validation_loss)),
        ("validation, averaged weights", GREEN, |record| record.average_loss),
    ];
    let losses = || curves.iter().flat_map(|(.., loss)| records.iter().filter_map(loss));
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
        for (name, color, loss) in curves {
            let stages = records.chunk_by(|record, _| !stage_ends.contains(&record.superbatch));
            let points = |stage: &[SuperbatchRecord]| -> Vec<_> {
                stage.iter().filter_map(|record| Some((record.superbatch as f64, loss(record)?))).collect()
            };
            for (number, points) in stages.map(points).filter(|points| !points.is_empty()).enumerate() {
                chart.draw_series(points.iter().map(|&point| Circle::new(point, 2, color.filled())))?;
                let line = chart.draw_series(LineSeries::new(points, color))?;
                if number == 0 {
                    line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
                }
            }
        }
        chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw()?;
        area.present()?;
    }
    Ok(picture)
}

/// Returns in how many of the last superbatches the validation loss rose without a break, if the training loss fell
/// over them.
fn overfitting(records: &[SuperbatchRecord]) -> usize {
    let rises = |pair: &&[SuperbatchRecord]| pair[1].selection_loss > pair[0].selection_loss;
    let count = records.windows(2).rev().take_while(rises).count();
    let fell = records.last().is_some_and(|last| last.training_loss < records[records.len() - 1 - count].training_loss);
    if count >= OVERFITTING && fell { count } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overfitting_is_rising_validation_loss_with_falling_training_loss() {
        let records = |losses: &[(f64, f64)]| -> Vec<SuperbatchRecord> {
            let record = |(superbatch, &(training_loss, selection_loss))| SuperbatchRecord {
                superbatch,
                rate: 1e-3,
                wdl: 0.1,
                training_loss,
                validation_loss: selection_loss,
                average_loss: None,
                selection_loss,
                positions_per_second: 1.0,
            };
            (1..).zip(losses).map(record).collect()
        };
        let count = |losses: &[(f64, f64)]| overfitting(&records(losses));
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[(5.0, 5.0), (4.0, 4.0), (3.0, 3.0), (2.0, 2.0)]), 0);
        assert_eq!(count(&[(5.0, 5.0), (4.0, 4.0), (3.0, 4.1), (2.0, 4.2)]), 0);
        assert_eq!(count(&[(5.0, 5.0), (4.0, 4.0), (3.0, 4.1), (2.0, 4.2), (1.0, 4.3)]), 3);
        assert_eq!(count(&[(4.0, 4.0), (3.0, 4.1), (2.0, 4.2), (1.0, 4.3), (0.5, 4.4)]), 4);
        // Both rise: the learning rate is too high, say.
        assert_eq!(count(&[(4.0, 4.0), (4.1, 4.1), (4.2, 4.2), (4.3, 4.3)]), 0);
    }
}
