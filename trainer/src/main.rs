//! The trainer's command line.

use anyhow::{Context, Result, anyhow, bail, ensure};
use kiln::tools::interrupt;
use kiln::tools::progress::{ProgressDisplay, short};
use kiln_trainer::config::Config;
use kiln_trainer::pairs;
use kiln_trainer::run::{QuantisationError, Training};
use lexopt::{Arg, Parser, ValueExt};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

const USAGE: &str = "usage: kiln-trainer fit|check CONFIG.toml [--threads N], \
                     or pairs STATES NEW SHARDS... [--threads N]; \"kiln-trainer help\" says more";

const HELP: &str = "\
Trains networks for Kiln on the CPU.

  kiln-trainer fit CONFIG.toml [--threads N]
                          train as the run file says, or go on with a run that was
                          stopped. Ctrl-C saves a checkpoint and stops; a second one
                          ends at once. The folder \"output\" of the run file gets, by
                          the run's NAME:
                            NAME.nnue.zst       the network after the last superbatch
                            NAME.best.nnue.zst  the best one on the validation games
                            NAME.json, .svg     losses as a log and as curves
                            NAME.toml           a copy of the run file
                            NAME.checkpoint     the state, from which a run goes on
  kiln-trainer check CONFIG.toml [--threads N]
                          compare the quantised NAME.nnue.zst with the trained network
                          on validation positions
  kiln-trainer pairs STATES.nnue.zst NEW.nnue.zst SHARDS... [--threads N]
                          give a network with threat states features of pairs of pieces
                          in their place, so that it evaluates nearly the same in the
                          positions of these shards or folders of shards
  kiln-trainer help | --help | -h
                          show this text

--threads is 1 to 1024, by default the number of logical processors; the result does not
depend on it. docs/training.md describes the run file.
";

/// Maximum number of positions that `check` compares.
const CHECK_POSITIONS: usize = 100_000;
/// Number of positions that `pairs` draws.
const PAIRS_POSITIONS: usize = 6_000_000;

#[derive(Clone, Copy)]
enum Action {
    Fit,
    Check,
    Pairs,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kiln-trainer: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let (mut action, mut files, mut threads) = (None, Vec::new(), 0);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            Arg::Long("threads") => {
                threads = arguments.value()?.parse().map_err(|_| anyhow!("--threads needs a number from 1 to 1024"))?;
                ensure!((1..=1024).contains(&threads), "--threads is {threads}; allowed are 1 to 1024");
            }
            Arg::Value(value) if action.is_none() => {
                action = Some(match value.to_str() {
                    Some("fit") => Action::Fit,
                    Some("check") => Action::Check,
                    Some("pairs") => Action::Pairs,
                    Some("help") => {
                        print!("{HELP}");
                        return Ok(());
                    }
                    _ => bail!("unknown command {value:?}\n{USAGE}"),
                });
            }
            Arg::Value(value) => files.push(PathBuf::from(value)),
            other => return Err(other.unexpected()).context(USAGE),
        }
    }
    let Some(action) = action else { bail!("a command and a run file are required\n{USAGE}") };
    // Rayon takes 0 as the number of logical processors.
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    match (action, &files[..]) {
        (Action::Fit, [file]) => fit(file),
        (Action::Check, [file]) => check(file),
        (Action::Pairs, [states, new, shards @ ..]) if !shards.is_empty() => {
            pairs::convert(states, new, shards, PAIRS_POSITIONS, |line| println!("{line}"))
        }
        (Action::Pairs, _) => bail!("pairs needs two networks and shards\n{USAGE}"),
        (_, []) => bail!("a command and a run file are required\n{USAGE}"),
        (_, [_, rest @ ..]) => bail!("unexpected argument {:?}\n{USAGE}", rest[0]),
    }
}

fn fit(file: &Path) -> Result<()> {
    let config = Config::read(file)?;
    let [per_superbatch, superbatches, size] =
        [config.training.batches, config.superbatches(), config.training.batch_size as u64];
    let mut training = Training::open(config)?;
    println!("{}", training.summary());
    let total = per_superbatch * superbatches;
    let stop = interrupt::stop_flag();
    let display = RefCell::new(ProgressDisplay::new(total, training.progress().batches));
    let print = |line: &str| display.borrow().suspend(|| println!("{line}"));
    training.fit(print, |progress| {
        let done = progress.batches;
        let text = |speed: f64| {
            let superbatch = (done / per_superbatch + 1).min(superbatches);
            let (speed, share) = (short(speed * size as f64), 100.0 * done as f64 / total as f64);
            format!("superbatch {superbatch}/{superbatches}, {share:.1} %, {speed} positions/s")
        };
        display.borrow_mut().update(done, text, |line| println!("{line}"));
        stop.load(Relaxed)
    })?;
    drop(display);
    println!("{}", training.summary());
    if let Some(best) = training.best() {
        println!("superbatch {} is the best on the validation games", best.superbatch);
    }
    let done = training.progress().batches;
    ensure!(done == total, "stopped: the checkpoint holds {done} of {total} batches; the same command goes on");
    Ok(())
}

fn check(file: &Path) -> Result<()> {
    let found = Training::open(Config::read(file)?)?.check_asset(CHECK_POSITIONS)?;
    let QuantisationError { positions, mean_centipawns, max_centipawns, mean_probability, max_probability } = found;
    println!(
        "{positions} validation positions: the quantised network differs from the trained one by {mean_centipawns:.2} \
         centipawns on average and {max_centipawns:.1} at most, in win probability by {:.3} % and {:.2} %",
        100.0 * mean_probability,
        100.0 * max_probability
    );
    let (mean, max) = (100.0 * QuantisationError::MEAN_LIMIT, 100.0 * QuantisationError::MAX_LIMIT);
    ensure!(
        found.is_acceptable(),
        "the quantisation error is too large; allowed are {mean} % win probability on average and {max} % at most"
    );
    Ok(())
}
