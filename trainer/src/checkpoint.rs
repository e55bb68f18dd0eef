//! The whole state of a training in a file, so that it goes on after a kill as if nothing had happened.

use crate::network::Network;
use anyhow::{Context, Result, bail, ensure};
use bincode::{Decode, Encode};
use kiln::data::replace;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// The first bytes of the file. The hash of what follows comes next.
const MAGIC: &[u8; 8] = b"KILNTRN1";

/// What is noted after a superbatch.
#[derive(Clone, Debug, Decode, Encode, PartialEq, Serialize)]
pub struct Record {
    /// Its number, from 1.
    pub superbatch: u64,
    /// Learning rate of its last batch.
    pub rate: f32,
    /// Share of the result in what was learnt in its last batch.
    pub wdl: f32,
    /// Mean loss over its positions, each before it was learnt from.
    pub training_loss: f64,
    /// Mean loss over the positions held out, after it.
    pub validation_loss: f64,
    /// Positions learnt from in a second.
    pub positions_per_second: f64,
}

/// The state of a training but for the network.
#[derive(Clone, Debug, Default, Decode, Encode, PartialEq)]
pub struct Progress {
    /// Batches done.
    pub batches: u64,
    /// Sum of the losses in the superbatch that is not finished.
    pub loss: f64,
    /// Seconds that were spent on it.
    pub seconds: f64,
    /// What was noted.
    pub records: Vec<Record>,
}

#[derive(Decode, Encode)]
struct Checkpoint {
    /// Hash of all that determines the training.
    training: [u8; 32],
    progress: Progress,
    /// Of each tensor the values and moments.
    tensors: Vec<[Vec<f32>; 3]>,
}

/// Writes the state, as [`replace`] does.
pub fn save(file: &Path, training: [u8; 32], progress: &Progress, network: &mut Network) -> Result<()> {
    let tensors = network.tensors_mut().into_iter();
    let tensors = tensors.map(|tensor| [&tensor.values, &tensor.first_moment, &tensor.second_moment].map(Clone::clone));
    let checkpoint = Checkpoint { training, progress: progress.clone(), tensors: tensors.collect() };
    let body = bincode::encode_to_vec(&checkpoint, bincode::config::standard())?;
    write(file, &[MAGIC, &*Sha256::digest(&body), &body].concat())
}

/// Takes over the state; none if there is no file. Fails if the file is damaged or belongs to another training.
pub fn load(file: &Path, training: [u8; 32], network: &mut Network) -> Result<Option<Progress>> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", file.display())),
    };
    let body = bytes.strip_prefix(MAGIC).and_then(|rest| rest.split_at_checked(32));
    let Some((_, body)) = body.filter(|(hash, body)| **hash == *Sha256::digest(body)) else {
        bail!("{} is no whole checkpoint; remove it to begin the training anew", file.display());
    };
    let (found, _): (Checkpoint, _) = bincode::decode_from_slice(body, bincode::config::standard())
        .with_context(|| format!("{} is no checkpoint of this version", file.display()))?;
    ensure!(
        found.training == training,
        "{} belongs to a training with other settings or data; remove it, or name another output folder",
        file.display()
    );
    let tensors = network.tensors_mut();
    let lengths = |values: &Vec<f32>| values.len();
    let wanted = tensors.iter().map(|tensor| [tensor.values.len(); 3]);
    ensure!(
        found.tensors.iter().map(|tensor| tensor.each_ref().map(lengths)).eq(wanted),
        "{} has tensors of another shape; remove it to begin the training anew",
        file.display()
    );
    for (tensor, [values, first, second]) in tensors.into_iter().zip(found.tensors) {
        (tensor.values, tensor.first_moment, tensor.second_moment) = (values, first, second);
    }
    network.refresh();
    Ok(Some(found.progress))
}

/// [`replace`] with an error that names the file.
pub fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    replace(file, bytes).with_context(|| format!("{} cannot be written", file.display()))
}
