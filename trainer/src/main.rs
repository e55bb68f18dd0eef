//! The trainer's command line.

use anyhow::{Context, Result, anyhow, bail, ensure};
use kiln_trainer::config::Config;
use kiln_trainer::run::{Comparison, Training, bar};
use lexopt::{Arg, Parser, ValueExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: kiln-trainer fit|check CONFIG.toml [--threads N]
  fit     trains as the file says, or goes on where it was interrupted
  check   compares the asset with the network it was made from, on positions held out";

/// Positions that `check` compares.
const COMPARED: usize = 100_000;

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
                threads = arguments.value()?.parse().map_err(|_| anyhow!("--threads wants a number from 1 to 1024"))?;
                ensure!((1..=1024).contains(&threads), "--threads is {threads}; allowed are 1 to 1024");
            }
            Arg::Value(value) if action.is_none() => {
                action = Some(match value.to_str() {
                    Some("fit") => Action::Fit,
                    Some("check") => Action::Check,
                    _ => bail!("there is no command {value:?}\n{USAGE}"),
                });
            }
            Arg::Value(value) if file.is_none() => file = Some(PathBuf::from(value)),
            other => return Err(other.unexpected()).context(USAGE),
        }
    }
    let (Some(action), Some(file)) = (action, file) else { bail!("a command and a file are needed\n{USAGE}") };
    // Without a number, or with 0, there are as many as the machine has.
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    match action {
        Action::Fit => fit(&file),
        Action::Check => check(&file),
    }
}

fn fit(file: &Path) -> Result<()> {
    let mut training = Training::open(Config::read(file)?)?;
    println!("{}", training.summary());
    let bar = bar();
    training.fit(&bar, |_| false)?;
    bar.finish();
    println!("{}", training.summary());
    Ok(())
}

fn check(file: &Path) -> Result<()> {
    let found = Training::open(Config::read(file)?)?.check(COMPARED)?;
    let Comparison { positions, mean, largest, mean_chance, largest_chance } = found;
    println!(
        "{positions} positions held out: quantised and trained network differ by {mean:.2} centipawns in the mean and {largest:.1} at \
         most; of a win by {:.3} % and {:.2} %",
        100.0 * mean_chance,
        100.0 * largest_chance
    );
    let (mean, largest) = (100.0 * Comparison::MEAN, 100.0 * Comparison::LARGEST);
    ensure!(found.is_right(), "allowed are {mean} % of a win in the mean and {largest} % at most");
    Ok(())
}
