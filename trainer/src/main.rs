//! The trainer's command line.

use anyhow::{Context, Result, anyhow, bail, ensure};
use kiln_trainer::config::Config;
use kiln_trainer::run::{QuantisationError, Training, progress_bar};
use lexopt::{Arg, Parser, ValueExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: kiln-trainer fit|check CONFIG.toml [--threads N]
  fit     trains as the run file says, or resumes an interrupted run
  check   compares the quantised asset with the trained network on validation positions";

/// Maximum number of positions that `check` compares.
const CHECK_POSITIONS: usize = 100_000;

#[derive(Clone, Copy)]
enum Action {
    Fit,
    Check,
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
    let (mut action, mut file, mut threads) = (None, None, 0);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => {
                println!("{USAGE}");
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
                    _ => bail!("unknown command {value:?}\n{USAGE}"),
                });
            }
            Arg::Value(value) if file.is_none() => file = Some(PathBuf::from(value)),
            other => return Err(other.unexpected()).context(USAGE),
        }
    }
    let (Some(action), Some(file)) = (action, file) else { bail!("a command and a run file are required\n{USAGE}") };
    // Rayon takes 0 as the number of logical processors.
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    match action {
        Action::Fit => fit(&file),
        Action::Check => check(&file),
    }
}

fn fit(file: &Path) -> Result<()> {
    let mut training = Training::open(Config::read(file)?)?;
    println!("{}", training.summary());
    let bar = progress_bar();
    training.fit(&bar, |_| false)?;
    bar.finish();
    println!("{}", training.summary());
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
