//! The arguments after `kiln tune`.

use super::Arguments;
use kiln::tools::MAX_THREADS;
use kiln::tools::tune::{Settings, select, tunables};
use lexopt::prelude::*;
use std::path::PathBuf;

/// Parses the arguments after `tune`. Returns `None` if they ask for help.
pub fn tune(arguments: &mut Arguments) -> Result<Option<Box<Settings>>, lexopt::Error> {
    let (mut folder, mut games, mut book, mut parameters) = (None, None, None, None);
    let mut settings = Settings::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("games") => games = Some(arguments.number(2..=1_000_000_000)?),
            Long("nodes") => settings.pace = arguments.parse(str::parse)?,
            Long("threads") => settings.threads = arguments.number(1..=MAX_THREADS)?,
            Long("book") => book = Some(PathBuf::from(arguments.value()?)),
            Long("parameters") => parameters = Some(arguments.value()?.string()?),
            Long("rate") => settings.rate = arguments.parse(read_rate)?,
            Long("seed") => settings.seed = arguments.number(0..=u64::MAX)?,
            Value(path) if folder.is_none() => folder = Some(PathBuf::from(path)),
            _ => return Err(argument.unexpected()),
        }
    }
    let example = "as in: kiln tune FOLDER --games 60000 --book BOOK";
    settings.folder = folder.ok_or(format!("tune needs a folder for its state and results, {example}"))?;
    settings.games = games.ok_or(format!("tune needs --games, the number of games, {example}"))?;
    settings.book = book.ok_or(format!("tune needs --book, a file with a FEN or EPD in each line, {example}"))?;
    settings.parameters = match parameters {
        Some(names) => select(&names, settings.pace)?,
        None => tunables(settings.pace),
    };
    Ok(Some(Box::new(settings)))
}

/// Parses the names after `tune-games`.
pub fn names(arguments: &mut Arguments) -> Result<Vec<String>, lexopt::Error> {
    let mut names = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(name) => names.push(name.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(names)
}

fn read_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| *rate > 0.0 && *rate <= 1.0);
    rate.ok_or("expected a number above 0, at most 1, such as 0.002".into())
}
