//! Searches magics whose windows lie in each other's gaps, for as long as one likes.

use indicatif::{ProgressBar, ProgressStyle};
use kiln_gen::magic::{self, dense::DenseSearch};
use lexopt::prelude::*;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Searches dense magics and writes them as text, which Kiln's build takes from assets/magics.txt.

  densify [--seed N] [--steps N] [--state FILE] [--out FILE]

  --seed N      where random numbers start, 1 if not given; a state has its own
  --steps N     stop when so many steps were done in all, 20000 if not given
  --state FILE  go on from this file if it exists; it is written after each step
  --out FILE    where the magics go, assets/magics.txt if not given; written
                whenever a smaller table is found

The same seed and number of steps give the same magics, with or without breaks.
";
/// Trials without success until a local search gives up: about 10 ms for a rook.
const PATIENCE: u32 = 6000;

struct Options {
    seed: Option<u64>,
    steps: u64,
    state: Option<PathBuf>,
    out: PathBuf,
}

fn main() -> ExitCode {
    let done = parse().and_then(|options| match options {
        Some(options) => densify(&options),
        None => {
            print!("{HELP}");
            Ok(())
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("densify: {error}");
            ExitCode::FAILURE
        }
    }
}

/// None if help is wanted.
fn parse() -> Result<Option<Options>, Box<dyn Error>> {
    let mut options = Options { seed: None, steps: 20_000, state: None, out: "assets/magics.txt".into() };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("seed") => options.seed = Some(arguments.value()?.parse()?),
            Long("steps") => options.steps = arguments.value()?.parse()?,
            Long("state") => options.state = Some(arguments.value()?.into()),
            Long("out") => options.out = arguments.value()?.into(),
            _ => return Err(argument.unexpected().into()),
        }
    }
    Ok(Some(options))
}

fn densify(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut search = match options.state.as_deref().map(resume).transpose()?.flatten() {
        Some(search) if options.seed.is_some_and(|seed| seed != search.seed()) => {
            return Err(format!("the state has seed {}: take this or another file", search.seed()).into());
        }
        Some(search) => search,
        None => DenseSearch::new(options.seed.unwrap_or(1), PATIENCE),
    };
    // Written at once, so that a wrong path is known before the work.
    let save_magics = |search: &DenseSearch| save(&options.out, &magic::to_text(&search.tables().sliders));
    save_magics(&search)?;

    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} steps, {eta} left")?;
    let bar = ProgressBar::new(options.steps).with_style(style).with_position(search.steps());
    bar.set_message(format!("{} entries", search.size()));
    while search.steps() < options.steps {
        let size = search.size();
        search.step();
        if let Some(state) = &options.state {
            save(state, &search.to_text())?;
        }
        if search.size() < size {
            save_magics(&search)?;
            bar.set_message(format!("{} entries", search.size()));
        }
        bar.inc(1);
    }
    bar.finish();
    magic::verify(&search.tables())?;
    // Steps may have moved windows without making the table smaller.
    save_magics(&search)?;
    println!("{} entries after {} steps, in {}", search.size(), search.steps(), options.out.display());
    Ok(())
}

/// Reads a state, none if there is no such file yet.
fn resume(path: &Path) -> Result<Option<DenseSearch>, String> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        result => result.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
    };
    let search =
        DenseSearch::from_text(&text).map_err(|error| format!("cannot go on from {}: {error}", path.display()))?;
    Ok(Some(search))
}

/// Writes aside and renames, so that the file is always whole, whenever the program is stopped.
fn save(path: &Path, text: &str) -> Result<(), String> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    fs::write(&aside, text)
        .and_then(|()| fs::rename(&aside, path))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
