//! Checkpoints: the whole state of a training run in a file. A run resumed from one gives the same bits as an
//! uninterrupted run.

use crate::network::Network;
use anyhow::{Context, Result, bail, ensure};
use bincode::{Decode, Encode};
use kiln::data::replace;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// First 8 bytes of the file, the last of which is the version. The SHA-256 of the body (32 bytes) and the body follow.
const MAGIC: &[u8; 8] = b"KILNTRN5";

/// Log entry of one superbatch. The field names are the keys of the JSON log.
#[derive(Clone, Debug, Decode, Encode, PartialEq, Serialize)]
pub struct SuperbatchRecord {
    /// Superbatch number, from 1.
    pub superbatch: u64,
    /// Learning rate in the last batch.
    pub rate: f32,
    /// WDL proportion λ in the last batch, 0 to 1.
    pub wdl: f32,
    /// Mean training loss per position, each batch's computed before its weight update.
    pub training_loss: f64,
    /// Mean validation loss per position after the superbatch.
    pub validation_loss: f64,
    /// Mean validation loss of the averaged weights, if any are averaged yet.
    pub average_loss: Option<f64>,
    /// Mean validation loss of the network that is written, averaged or not, with the WDL proportion of the run's last
    /// batch. Those of superbatches with the same data can be compared.
    pub selection_loss: f64,
    /// Training speed in positions per second.
    pub positions_per_second: f64,
}

/// State of a training run, except for the network.
#[derive(Clone, Debug, Default, Decode, Encode, PartialEq)]
pub struct Progress {
    /// Batches completed since the start of the run.
    pub batches: u64,
    /// Sum of the losses of all positions so far in the unfinished superbatch.
    pub loss_sum: f64,
    /// Seconds spent on the unfinished superbatch.
    pub seconds: f64,
    /// One record per finished superbatch.
    pub records: Vec<SuperbatchRecord>,
    /// Number of training positions by stage, of the stages begun.
    pub positions: Vec<u64>,
    /// Averages of the values of each tensor, in the order of [`Network::tensors_mut`], over the last superbatches that
    /// are averaged. Empty before.
    pub averages: Vec<Vec<f32>>,
}

#[derive(Decode, Encode)]
struct Checkpoint {
    /// Hash of everything that determines the run: settings, data, and the asset it started from.
    run_hash: [u8; 32],
    progress: Progress,
    /// Values, first and second moments of each tensor, in the order of [`Network::tensors_mut`].
    tensors: Vec<[Vec<f32>; 3]>,
    /// `Network::updated`.
    updated: Vec<u64>,
}

/// Writes a checkpoint atomically, by [`replace`]. `run_hash` identifies the run; [`load`] compares it.
///
/// # Errors
/// If the file cannot be written.
pub fn save(file: &Path, run_hash: [u8; 32], progress: &Progress, network: &mut Network) -> Result<()> {
    let tensors = network.tensors_mut().into_iter();
    let tensors = tensors
        .map(|tensor| [&tensor.values, &tensor.first_moment, &tensor.second_moment].map(|values| values.to_vec()));
    let tensors = tensors.collect();
    let checkpoint = Checkpoint { run_hash, progress: progress.clone(), tensors, updated: network.updated.clone() };
    let body = bincode::encode_to_vec(&checkpoint, bincode::config::standard())?;
    write(file, &[MAGIC, &*Sha256::digest(&body), &body].concat())
}

/// Restores `network` from a checkpoint and returns the progress, or `None` if the file does not exist.
///
/// # Errors
/// If the file cannot be read, is damaged, or belongs to a run with another `run_hash` or other tensor shapes.
pub fn load(file: &Path, run_hash: [u8; 32], network: &mut Network) -> Result<Option<Progress>> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", file.display())),
    };
    ensure!(
        bytes.starts_with(MAGIC) || !bytes.starts_with(&MAGIC[..7]),
        "{} was written by another version of the trainer; remove it to restart the training",
        file.display()
    );
    let body = bytes.strip_prefix(MAGIC).and_then(|rest| rest.split_at_checked(32));
    let Some((_, body)) = body.filter(|(hash, body)| **hash == *Sha256::digest(body)) else {
        bail!("{} is not a complete checkpoint; remove it to restart the training", file.display());
    };
    let (found, _): (Checkpoint, _) = bincode::decode_from_slice(body, bincode::config::standard())
        .with_context(|| format!("{} is not a checkpoint of this version", file.display()))?;
    ensure!(
        found.run_hash == run_hash,
        "{} belongs to a run with other settings or data: compare the run file with its copy (.toml) beside it; remove \
         the checkpoint, or choose another output folder",
        file.display()
    );
    let features = network.updated.len();
    let tensors = network.tensors_mut();
    let length = |values: &Vec<f32>| values.len();
    let expected = tensors.iter().map(|tensor| [tensor.values.len(); 3]);
    ensure!(
        found.tensors.iter().map(|tensor| tensor.each_ref().map(length)).eq(expected)
            && found.updated.len() == features,
        "{} has tensors of other shapes; remove it to restart the training",
        file.display()
    );
    for (tensor, [values, first, second]) in tensors.into_iter().zip(&found.tensors) {
        tensor.values.copy_from_slice(values);
        tensor.first_moment.copy_from_slice(first);
        tensor.second_moment.copy_from_slice(second);
    }
    network.updated = found.updated;
    network.refresh();
    Ok(Some(found.progress))
}

/// Writes a file atomically, by [`replace`].
///
/// # Errors
/// If the file cannot be written; the error names it.
pub fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    replace(file, bytes).with_context(|| format!("{} cannot be written", file.display()))
}
