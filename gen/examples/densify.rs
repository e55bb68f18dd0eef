//! Searches for dense magics and writes them as text: `densify [--seed N] [--steps N] [--state FILE] [--out FILE]`.

use indicatif::{ProgressBar, ProgressStyle};
use kiln_gen::magic::{self, dense::DenseSearch};
use lexopt::prelude::*;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Searches for dense magics and writes them as text, which Kiln's build reads from assets/magics.txt.

  densify [--seed N] [--steps N] [--state FILE] [--out FILE]

  --seed N      seed of the random numbers, default 1; a state keeps its own
  --steps N     total number of steps after which to stop, default 20000
  --state FILE  resume from this file if it exists; written after each step
  --out FILE    output file, default assets/magics.txt; written whenever a
                smaller table is found

The same seed and number of steps give the same magics, interrupted or not.
";
/// Trials without success after which a local search stops: about 10 ms for a rook.
const PATIENCE: u32 = 6000;

struct Options {
    seed: Option<u64>,
    steps: u64,
    state: Option<PathBuf>,
    out: PathBuf,
}

fn main() -> ExitCode {
    let result = parse().and_then(|options| match options {
        Some(options) => densify(&options),
        None => {
            print!("{HELP}");
            Ok(())
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("densify: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Parses the command line. Returns `None` if it asks for help.
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
            return Err(format!("the state has seed {}: give this seed or another file", search.seed()).into());
        }
        Some(search) => search,
        None => DenseSearch::new(options.seed.unwrap_or(1), PATIENCE),
    };
    // Written at once, so that a wrong path is reported before the work.
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
    // Steps may move windows without making the table smaller.
    save_magics(&search)?;
    println!("{} entries after {} steps, in {}", search.size(), search.steps(), options.out.display());
    Ok(())
}

/// Reads a state, or returns `None` if the file does not exist.
fn resume(path: &Path) -> Result<Option<DenseSearch>, String> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        result => result.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
    };
    let search =
        DenseSearch::from_text(&text).map_err(|error| format!("cannot resume from {}: {error}", path.display()))?;
    Ok(Some(search))
}

/// Writes to a temporary file and renames it, so that the file is complete whenever the program is stopped.
fn save(path: &Path, text: &str) -> Result<(), String> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    fs::write(&temporary, text)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
