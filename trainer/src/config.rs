//! The run file: the settings of one training run, in TOML.

use crate::grow::grow;
use crate::network::{EPSILON, SCALE, with_quantisation};
use anyhow::{Context, Result, anyhow, ensure};
use kiln_gen::network::{Activations, Asset, Head, Header, Inputs, Threats, equal_output_buckets};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// A run file. Paths in the file are relative to its folder; [`Config::read`] resolves them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the network, and of the files in `output` before their endings: 1 to 60 letters, digits, `-`, `_` or
    /// `.`.
    pub name: String,
    /// Free text for the asset's provenance, at most 600 bytes.
    #[serde(default)]
    pub description: String,
    /// Number of the self-play generation, for the asset's provenance.
    #[serde(default)]
    pub generation: u32,
    /// Seed of the initial weights and of the shuffling.
    #[serde(default)]
    pub seed: u64,
    /// Game shards, or folders of shards.
    pub data: Vec<PathBuf>,
    /// Shards of validation games, or folders of them; empty for one in a hundred games of `data`.
    #[serde(default)]
    pub validation: Vec<PathBuf>,
    /// How many positions in a row with the same score are used: the first plies of each variation; all if left out.
    #[serde(default)]
    pub plies: Option<usize>,
    /// Positions of search trees with fewer pieces are left out.
    #[serde(default)]
    pub tree_pieces: u32,
    /// The result's part, from 0 to 1, in the targets of games that were played out, by the number of pieces: 2 to 5,
    /// 6 to 9, and so on to 32.
    #[serde(default)]
    pub results: [f32; 8],
    /// Output folder; created if missing.
    pub output: PathBuf,
    /// Asset whose weights training starts from; random weights without it.
    #[serde(default)]
    pub start: Option<PathBuf>,
    /// Network architecture. Optional with `start`, which else [grows](grow) to it.
    #[serde(default)]
    pub network: Option<NetworkConfig>,
    /// A network whose evaluation the targets contain.
    #[serde(default)]
    pub teacher: Option<Teacher>,
    /// Training hyperparameters.
    pub training: TrainingConfig,
    /// Further stages, after the one that `data` and `training` describe.
    #[serde(default)]
    pub stages: Vec<Stage>,
    /// Text of the file, as read.
    #[serde(skip)]
    pub text: String,
}

/// The `[network]` section: the architecture.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Width of one perspective's accumulator, in neurons: a multiple of 32, from 32 to 2048.
    pub hidden: u32,
    /// Neurons of the two hidden layers that follow the accumulators. Without it, one layer leads to the output.
    #[serde(default)]
    pub layers: Option<[u32; 2]>,
    /// Whether layers read the products of both halves of an accumulator (pairwise products) instead of all squares.
    #[serde(default)]
    pub pairwise: bool,
    /// Number of output buckets, selected by piece count: 1 to 8.
    #[serde(default = "one")]
    pub output_buckets: u8,
    /// King bucket of each king square, rank by rank from the first: 32 numbers for files a to d if `mirrored`, else
    /// 64. Empty means one bucket.
    #[serde(default)]
    pub king_buckets: Vec<u8>,
    /// Whether a perspective is mirrored horizontally when its king stands on files e to h.
    #[serde(default = "yes")]
    pub mirrored: bool,
    /// Whether both kings share one plane of 64 features.
    #[serde(default)]
    pub merged_kings: bool,
    /// How features tell which pieces are attacked and defended: `none`; `states`, by separate features of a piece by
    /// threat state (attacked, attacked by a lesser piece, defended); or `pairs`, by a feature for each piece that
    /// attacks or defends another.
    #[serde(default = "none")]
    pub threats: String,
}

/// The `[teacher]` section: the score of a training position becomes a mean of what the search found and of what a
/// network says, in expected points. A search errs too, above all in later plies of its variation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Teacher {
    /// The network's asset, of any shape, with `qa` 255 and `scale` 400.
    pub network: PathBuf,
    /// The search's part, from 0 to 1, by the ply of the variation: the first is that of positions that were searched,
    /// the last also that of all later plies.
    pub trust: Vec<f32>,
}

/// A `[[stages]]` section: a part of the run with its own schedules and data.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Number of superbatches.
    pub superbatches: u64,
    /// Learning rate, 0 to 0.1.
    pub rate: Schedule,
    /// WDL proportion λ, 0 to 1.
    pub wdl: Schedule,
    /// Game shards, or folders of shards; empty for those of the stage before.
    #[serde(default)]
    pub data: Vec<PathBuf>,
}

/// What the schedules say for one batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchSettings {
    /// Number of the stage, from 0.
    pub stage: usize,
    /// Number of the batch in its stage, from 0.
    pub batch: u64,
    /// Learning rate, with warm-up.
    pub learning_rate: f32,
    /// WDL proportion λ.
    pub wdl: f32,
}

/// The `[training]` section: hyperparameters and checkpoint interval.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Number of superbatches in the first stage. After each one the losses are logged and the asset is written.
    pub superbatches: u64,
    /// Batches per superbatch.
    #[serde(default = "superbatch")]
    pub batches: u64,
    /// Positions per batch.
    #[serde(default = "batch")]
    pub batch_size: usize,
    /// Learning rate, 0 to 0.1.
    pub rate: Schedule,
    /// Batches over which the learning rate is warmed up linearly from zero to the schedule's value.
    #[serde(default)]
    pub warm_up: u64,
    /// WDL proportion λ: weight of the game result in the target, 0 to 1; the search score has weight 1 − λ.
    pub wdl: Schedule,
    /// Centipawns per unit of the logistic function that turns scores into expected points in the loss, 50 to 1000.
    /// With fewer, differences between high scores count less beside those near equality.
    #[serde(default = "scale")]
    pub scale: f32,
    /// The power of the error in the loss, 2 to 4. With more, large errors count more beside small ones. An error of
    /// 0.1 points has the gradient of the square with all powers.
    #[serde(default = "power")]
    pub power: f32,
    /// AdamW weight decay, 0 to 1: each step multiplies weights by 1 − learning rate · decay.
    #[serde(default = "decay")]
    pub decay: f32,
    /// AdamW's ε, 1e-12 to 1: what is added to the root of a weight's mean squared gradient. By default far less than
    /// that, so that each step moves a weight by about the learning rate. With more, weights with smaller gradients,
    /// such as those of rare features, move less.
    #[serde(default = "epsilon")]
    pub epsilon: f32,
    /// Whether weight decay pulls toward the weights of the asset that the run starts from, instead of zero.
    #[serde(default)]
    pub anchor: bool,
    /// The asset has the average of the weights after this many last superbatches of the run; 0 for the last weights.
    #[serde(default)]
    pub average: u64,
    /// Penalty on active neurons: the loss of a position grows by this times the mean of the inputs of the first layer.
    #[serde(default)]
    pub sparsity: f32,
    /// Whether features [share weights](crate::factoriser), which are added to their own.
    #[serde(default = "yes")]
    pub factoriser: bool,
    /// Seconds between checkpoints.
    #[serde(default = "checkpoint")]
    pub checkpoint_seconds: u64,
}

/// A hyperparameter as a function of the batch number. "Over the stage" means from its first batch to its last.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Schedule {
    /// The same value in all batches.
    Constant {
        /// The value.
        value: f64,
    },
    /// Linear interpolation over the stage.
    Linear {
        /// Value in the first batch.
        start: f64,
        /// Value in the last batch.
        end: f64,
    },
    /// Half a cosine over the stage (cosine annealing).
    Cosine {
        /// Value in the first batch.
        start: f64,
        /// Value in the last batch.
        end: f64,
    },
    /// Step decay: multiplication by a factor at fixed intervals.
    Step {
        /// Value in the first batch.
        start: f64,
        /// Factor at each step, 0 to 1.
        factor: f64,
        /// Superbatches between steps, at least 1.
        every: u64,
    },
}

fn one() -> u8 {
    1
}

fn none() -> String {
    Threats::None.to_string()
}

fn yes() -> bool {
    true
}

fn superbatch() -> u64 {
    6104
}

fn batch() -> usize {
    16384
}

fn scale() -> f32 {
    SCALE.into()
}

fn power() -> f32 {
    2.0
}

fn decay() -> f32 {
    0.01
}

fn epsilon() -> f32 {
    EPSILON
}

fn checkpoint() -> u64 {
    120
}

impl Schedule {
    /// Returns the value in `batch`, counted from 0, of a stage of `superbatches` superbatches of `batches` batches.
    fn at(self, batch: u64, superbatches: u64, batches: u64) -> f64 {
        let last = superbatches * batches - 1;
        let progress = batch as f64 / last.max(1) as f64;
        match self {
            Self::Constant { value } => value,
            Self::Linear { start, end } => start + (end - start) * progress,
            Self::Cosine { start, end } => end + (start - end) * (1.0 + (std::f64::consts::PI * progress).cos()) / 2.0,
            Self::Step { start, factor, every } => {
                start * factor.powi((batch / batches / every).try_into().unwrap_or(i32::MAX))
            }
        }
    }

    /// Checks the values that bound all others; step decay goes towards 0, which every `allowed` includes.
    fn check(self, name: &str, allowed: std::ops::RangeInclusive<f64>) -> Result<()> {
        let (values, every) = match self {
            Self::Constant { value } => ([value, value], 1),
            Self::Linear { start, end } | Self::Cosine { start, end } => ([start, end], 1),
            Self::Step { start, factor, every } => {
                ensure!((0.0..=1.0).contains(&factor), "{name}.factor is {factor}; allowed are 0 to 1");
                ([start, start], every)
            }
        };
        ensure!(every > 0, "{name}.every is 0; it must be at least 1 superbatch");
        for value in values {
            let (least, largest) = (allowed.start(), allowed.end());
            ensure!(allowed.contains(&value), "{name} has {value}; allowed are {least} to {largest}");
        }
        Ok(())
    }
}

impl TrainingConfig {
    fn check(&self) -> Result<()> {
        for (name, value) in [("batches", self.batches), ("batch_size", self.batch_size as u64)] {
            ensure!((1..=1 << 24).contains(&value), "training.{name} is {value}; allowed are 1 to 16777216");
        }
        for (name, value) in [("decay", self.decay), ("sparsity", self.sparsity)] {
            ensure!((0.0..=1.0).contains(&value), "training.{name} is {value}; allowed are 0 to 1");
        }
        ensure!((50.0..=1000.0).contains(&self.scale), "training.scale is {}; allowed are 50 to 1000", self.scale);
        ensure!((2.0..=4.0).contains(&self.power), "training.power is {}; allowed are 2 to 4", self.power);
        ensure!((1e-12..=1.0).contains(&self.epsilon), "training.epsilon is {}; allowed are 1e-12 to 1", self.epsilon);
        Ok(())
    }
}

impl Stage {
    /// Checks the values of the section called `name`.
    fn check(&self, name: &str) -> Result<()> {
        let value = self.superbatches;
        ensure!((1..=1 << 24).contains(&value), "{name}.superbatches is {value}; allowed are 1 to 16777216");
        self.rate.check(&format!("{name}.rate"), 0.0..=0.1)?;
        self.wdl.check(&format!("{name}.wdl"), 0.0..=1.0)
    }
}

impl NetworkConfig {
    fn header(&self) -> Result<Header> {
        let files = if self.mirrored { 4 } else { 8 };
        let given = &self.king_buckets;
        ensure!(
            [0, 8 * files].contains(&given.len()),
            "network.king_buckets has {} numbers; allowed are {} or none",
            given.len(),
            8 * files
        );
        let king_bucket = |square: usize| {
            let file = if self.mirrored { (square % 8).min(7 - square % 8) } else { square % 8 };
            given.get(square / 8 * files + file).copied().unwrap_or(0)
        };
        let buckets = self.output_buckets;
        ensure!((1..=8).contains(&buckets), "network.output_buckets is {buckets}; allowed are 1 to 8");
        let text = &self.threats;
        let threats = text.parse().map_err(|error| anyhow!("network.threats is {text:?}: {error}"))?;
        ensure!(self.layers.is_some() || !self.pairwise, "network.pairwise is set, but there are no network.layers");
        let header = with_quantisation(Header {
            inputs: Inputs {
                mirrored: self.mirrored,
                merged_kings: self.merged_kings,
                king_buckets: std::array::from_fn(king_bucket),
                threats,
            },
            head: match self.layers {
                Some([first, second]) => Head::Layers { inputs: Activations::new(self.pairwise), first, second },
                None => Head::Single,
            },
            output_buckets: equal_output_buckets(buckets),
            ..Header::plain(self.hidden)
        });
        header.check().context("[network] describes a shape that the engine does not support")?;
        Ok(header)
    }
}

impl Config {
    /// Reads a run file and makes its paths relative to the current folder.
    ///
    /// # Errors
    /// If the file cannot be read, is not valid TOML, or has an unknown key or a value that is not allowed.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let mut config: Self =
            toml::from_str(&text).with_context(|| format!("{} is not a valid run file", file.display()))?;
        config.text = text;
        let folder = file.parent().unwrap_or(Path::new(""));
        let data = config.stages.iter_mut().flat_map(|stage| &mut stage.data).chain(&mut config.data);
        let teacher = config.teacher.iter_mut().map(|teacher| &mut teacher.network);
        let networks = teacher.chain(&mut config.start);
        for path in data.chain(&mut config.validation).chain(networks).chain([&mut config.output]) {
            *path = folder.join(&*path);
        }
        config.check().with_context(|| format!("{} is not a valid run file", file.display()))?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        ensure!(
            (1..=60).contains(&self.name.len()) && self.name.chars().all(is_plain) && !self.name.starts_with('.'),
            "name is {:?}; allowed are 1 to 60 letters, digits and -_. (no leading .)",
            self.name
        );
        ensure!(
            self.description.len() <= 600,
            "description has {} bytes; at most 600 are allowed",
            self.description.len()
        );
        ensure!(
            self.start.is_some() || self.network.is_some(),
            "neither network nor start is given; at least one is required"
        );
        ensure!(self.plies != Some(0), "plies is 0; it must be at least 1");
        for part in self.results {
            ensure!((0.0..=1.0).contains(&part), "results has {part}; allowed are 0 to 1");
        }
        if let Some(Teacher { trust, .. }) = &self.teacher {
            ensure!(!trust.is_empty(), "teacher.trust is empty; it needs at least one number");
            for part in trust {
                ensure!((0.0..=1.0).contains(part), "teacher.trust has {part}; allowed are 0 to 1");
            }
        }
        self.training.check()?;
        for (number, stage) in self.all_stages().iter().enumerate() {
            let name = number.checked_sub(1).map_or("training".into(), |number| format!("stages[{number}]"));
            stage.check(&name)?;
        }
        Ok(())
    }

    /// Returns all stages, the first included, with their data.
    pub fn all_stages(&self) -> Vec<Stage> {
        let TrainingConfig { superbatches, rate, wdl, .. } = self.training;
        let mut all = vec![Stage { superbatches, rate, wdl, data: self.data.clone() }];
        for stage in &self.stages {
            let before = &all[all.len() - 1].data;
            let data = if stage.data.is_empty() { before.clone() } else { stage.data.clone() };
            all.push(Stage { data, ..stage.clone() });
        }
        all
    }

    /// Returns the number of superbatches of all stages.
    pub fn superbatches(&self) -> u64 {
        self.training.superbatches + self.stages.iter().map(|stage| stage.superbatches).sum::<u64>()
    }

    /// Returns what the schedules say for a batch, counted from 0 over all stages.
    ///
    /// # Panics
    /// If the run has no such batch.
    pub fn batch_settings(&self, batch: u64) -> BatchSettings {
        let TrainingConfig { batches, warm_up, .. } = self.training;
        let warm_up = ((batch + 1) as f64 / warm_up.max(1) as f64).min(1.0);
        let mut rest = batch;
        for (number, stage) in self.all_stages().iter().enumerate() {
            if rest < stage.superbatches * batches {
                let at = |schedule: Schedule| schedule.at(rest, stage.superbatches, batches);
                let (learning_rate, wdl) = ((at(stage.rate) * warm_up) as f32, at(stage.wdl) as f32);
                return BatchSettings { stage: number, batch: rest, learning_rate, wdl };
            }
            rest -= stage.superbatches * batches;
        }
        panic!("the run has no batch {batch}")
    }

    /// Returns the asset to start from, if any, and the header of the network to train.
    ///
    /// # Errors
    /// If the asset cannot be read or cannot grow to `network`, or `network` is not supported.
    pub fn start(&self) -> Result<(Option<Asset>, Header)> {
        let header = self.network.as_ref().map(NetworkConfig::header).transpose()?;
        let Some(file) = &self.start else {
            return Ok((None, header.context("neither network nor start is given")?));
        };
        let asset = read_asset(file)?;
        let asset = match &header {
            Some(header) => {
                grow(asset, header, self.seed).with_context(|| format!("{} cannot become [network]", file.display()))?
            }
            None => asset,
        };
        let header = asset.header.clone();
        Ok((Some(asset), header))
    }

    /// Returns the path of the output file with this ending: `output/name` and `ending`.
    pub fn output(&self, ending: &str) -> PathBuf {
        self.output.join(format!("{}{ending}", self.name))
    }
}

/// Reads an asset.
///
/// # Errors
/// If the file cannot be read or is no asset.
pub(crate) fn read_asset(file: &Path) -> Result<Asset> {
    let bytes = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Asset::from_bytes(&bytes).with_context(|| format!("{} is not a usable network asset", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAINING: &str = "superbatches = 2\nbatches = 10\nwarm_up = 4\n\
         rate = {kind = \"cosine\", start = 1e-3, end = 1e-5}\n\
         wdl = {kind = \"step\", start = 0.5, factor = 0.5, every = 1}";

    #[test]
    fn schedules() {
        let stages = "[[stages]]\nsuperbatches = 1\nrate = {kind = \"constant\", value = 2e-6}\n\
             wdl = {kind = \"linear\", start = 0.0, end = 0.9}";
        let text = format!("name = \"a\"\ndata = [\"d\"]\noutput = \"o\"\n[training]\n{TRAINING}\n{stages}");
        let config: Config = toml::from_str(&text).unwrap();
        let (rate, wdl) =
            (|batch| config.batch_settings(batch).learning_rate, |batch| config.batch_settings(batch).wdl);
        assert!((rate(0) - 1e-3 / 4.0).abs() < 1e-9);
        assert!((rate(19) - 1e-5).abs() < 1e-9);
        let middle = (rate(9) + rate(10)) / 2.0;
        assert!((middle - 5.05e-4).abs() < 1e-8, "{middle}");
        assert_eq!((wdl(9), wdl(10)), (0.5, 0.25));
        assert_eq!(config.superbatches(), 3);
        let last = BatchSettings { stage: 1, batch: 9, learning_rate: 2e-6, wdl: 0.9 };
        assert_eq!((config.batch_settings(29), wdl(20)), (last, 0.0));
        assert_eq!(config.all_stages()[1].data, config.data);
    }

    #[test]
    fn errors_name_the_wrong_setting() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        let refusal = |text: &str| {
            fs::write(&file, text).unwrap();
            format!("{:#}", Config::read(&file).and_then(|config| config.start()).unwrap_err())
        };
        let with = |network: &str, training: &str| {
            format!("name = \"a\"\ndata = [\"d\"]\noutput = \"o\"\n[network]\n{network}\n[training]\n{training}")
        };
        let valid = with("hidden = 32", TRAINING);
        fs::write(&file, &valid).unwrap();
        Config::read(&file).unwrap().start().unwrap();
        for (text, reason) in [
            (with("hidden = 33", TRAINING), "32 to 2048"),
            (with("hidden = 32\nking_buckets = [0, 1]", TRAINING), "allowed are 32 or none"),
            (with("hidden = 32\noutput_buckets = 9", TRAINING), "allowed are 1 to 8"),
            (with("hidden = 32\nlayers = [8, 32]", TRAINING), "16 or 32"),
            (with("hidden = 32\nwidth = 3", TRAINING), "unknown field `width`"),
            (valid.replace("1e-5", "7"), "training.rate has 7; allowed are 0 to 0.1"),
            (valid.replace("0.5, f", "1.5, f"), "training.wdl has 1.5; allowed are 0 to 1"),
            (valid.replace("every = 1", "every = 0"), "training.wdl.every is 0"),
            (valid.replace("superbatches = 2", "superbatches = 0"), "training.superbatches is 0"),
            (valid.replace("[network]", "plies = 0\n[network]"), "plies is 0"),
            (
                valid.replace("[network]", "results = [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5]\n[network]"),
                "results has 1.5; allowed are 0 to 1",
            ),
            (format!("{valid}\n[teacher]\nnetwork = \"t\"\ntrust = []"), "teacher.trust is empty"),
            (
                format!("{valid}\n[teacher]\nnetwork = \"t\"\ntrust = [0.5, 2.0]"),
                "teacher.trust has 2; allowed are 0 to 1",
            ),
            (
                with("hidden = 32", &format!("epsilon = 0.0\n{TRAINING}")),
                "training.epsilon is 0; allowed are 1e-12 to 1",
            ),
            (with("hidden = 32", &format!("scale = 2.0\n{TRAINING}")), "training.scale is 2; allowed are 50 to 1000"),
            (with("hidden = 32", &format!("power = 0.5\n{TRAINING}")), "training.power is 0.5; allowed are 2 to 4"),
            (valid.replace("\"a\"", "\"a/b\""), "name is \"a/b\""),
            (valid.replace("[network]\nhidden = 32", ""), "neither network nor start"),
            (valid.replace("name", "start = \"none.zst\"\nname"), "cannot be read"),
        ] {
            let refusal = refusal(&text);
            assert!(refusal.contains(reason), "{reason}: {refusal}");
        }
    }
}
