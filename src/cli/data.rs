//! The arguments after `kiln datagen` and `kiln data`.

use super::Arguments;
use kiln::data::MAX_PV_PLIES;
use kiln::tools::MAX_THREADS;
use kiln::tools::data::Task;
use kiln::tools::datagen::Settings;
use lexopt::prelude::*;
use std::path::PathBuf;

/// The most shards of a run.
const MAX_SHARDS: u64 = 1_000_000;

/// The arguments of `kiln datagen`.
pub struct Datagen {
    /// What to generate.
    pub settings: Settings,
    /// The network's file; `None` for the embedded network.
    pub network: Option<PathBuf>,
}

/// Parses the arguments after `datagen`. Returns `None` if they ask for help.
pub fn datagen(arguments: &mut Arguments) -> Result<Option<Box<Datagen>>, lexopt::Error> {
    let mut folder = None;
    let mut network = None;
    let mut positions = None;
    let mut book_percent = None;
    let mut settings = Settings { commit: option_env!("KILN_COMMIT").map(String::from), ..Settings::default() };
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("positions") => positions = Some(arguments.number(1..=1_000_000_000_000)?),
            Long("shard") => settings.shard_positions = arguments.number(1..=2_000_000)?,
            Long("nodes") => settings.soft_nodes = arguments.number(1..=1_000_000_000)?,
            Long("threads") => settings.threads = arguments.number(1..=MAX_THREADS)?,
            Long("seed") => settings.seed = arguments.number(0..=u64::MAX)?,
            Long("frc") => settings.frc_percent = arguments.number(0..=100)?,
            Long("book") => settings.book = Some(PathBuf::from(arguments.value()?)),
            Long("book-percent") => book_percent = Some(arguments.number(0..=100)?),
            Long("adjudicate-pieces") => settings.adjudicate_pieces = arguments.number(0..=32)?,
            Long("pv-plies") => settings.pv_plies = arguments.number(1..=MAX_PV_PLIES)?,
            Long("branches") => settings.branches = arguments.number(0..=1000)?,
            Long("tree-nodes") => settings.tree_nodes = arguments.number(0..=1_000_000)?,
            Long("backward-nodes") => settings.backward_nodes = arguments.number(0..=1_000_000_000)?,
            Long("backward-every") => settings.backward_every = arguments.number(1..=1000)?,
            Long("end-pieces") => settings.end_pieces = arguments.number(0..=32)?,
            Long("hash") => settings.hash = arguments.number(1..=1024)?,
            Long("commit") => settings.commit = Some(arguments.value()?.string()?),
            Long("network") => network = Some(PathBuf::from(arguments.value()?)),
            Value(path) if folder.is_none() => folder = Some(PathBuf::from(path)),
            _ => return Err(argument.unexpected()),
        }
    }
    let example = "as in: kiln datagen games --positions 1000000";
    settings.folder = folder.ok_or(format!("datagen needs a folder for its shards, {example}"))?;
    settings.positions = positions.ok_or(format!("datagen needs --positions, the number of positions, {example}"))?;
    let shards = settings.positions.div_ceil(settings.shard_positions);
    if shards > MAX_SHARDS {
        return Err(format!(
            "--positions {} in shards of --shard {} are {shards} files: allowed are {MAX_SHARDS}",
            settings.positions, settings.shard_positions
        )
        .into());
    }
    match (&settings.book, book_percent) {
        (None, Some(_)) => return Err("--book-percent needs --book, a file with a FEN or EPD in each line".into()),
        (Some(_), percent) => settings.book_percent = percent.unwrap_or(settings.book_percent),
        (None, None) => {}
    }
    if settings.backward_every > 1 && settings.backward_nodes == 0 {
        return Err("--backward-every needs --backward-nodes, the nodes of each search".into());
    }
    let [book, frc] = [settings.book_percent, settings.frc_percent];
    if settings.book.is_some() && book + frc > 100 {
        let what = format!("{book} % of the games from the book and {frc} % from Chess960 are more than all: lower");
        return Err(format!("{what} --book-percent or --frc").into());
    }
    Ok(Some(Box::new(Datagen { settings, network })))
}

/// Parses the arguments after `data`. Returns `None` if they ask for help.
pub fn data(arguments: &mut Arguments) -> Result<Option<Task>, lexopt::Error> {
    let mut words = Vec::new();
    let (mut seed, mut svg) = (None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("seed") => seed = Some(arguments.number(0..=u64::MAX)?),
            Long("svg") => svg = Some(PathBuf::from(arguments.value()?)),
            Value(word) => words.push(word),
            _ => return Err(argument.unexpected()),
        }
    }
    let mut words = words.into_iter();
    let action = words.next().unwrap_or_default();
    let mut files: Vec<PathBuf> = words.map(PathBuf::from).collect();
    if seed.is_some() && action != "shuffle" {
        return Err("--seed is for kiln data shuffle".into());
    }
    if svg.is_some() && action != "stat" {
        return Err("--svg is for kiln data stat".into());
    }
    Ok(Some(match (action.to_str(), files.len()) {
        (Some("stat"), 1..) => Task::Stat { files, svg },
        (Some("verify"), 1..) => Task::Verify(files),
        (Some("merge"), 2..) => Task::Merge { folder: files.remove(0), files },
        (Some("import"), 2..) => Task::Import { folder: files.remove(0), files },
        (Some("shuffle"), 2..) => Task::Shuffle { folder: files.remove(0), files, seed: seed.unwrap_or(1) },
        (Some(action @ ("stat" | "verify")), _) => {
            return Err(
                format!("data {action} needs files or folders of games, as in: kiln data {action} FILE…").into()
            );
        }
        (Some(action @ ("merge" | "shuffle")), _) => {
            return Err(format!(
                "data {action} needs a folder to write to and files or folders of games, as in: kiln data {action} FOLDER FILE…"
            )
            .into());
        }
        (Some("import"), _) => {
            return Err(
                "data import needs a folder to write to and files in PGN, as in: kiln data import FOLDER PGN…".into()
            );
        }
        _ => return Err(format!("bad data command {action:?}: expected stat, verify, merge, shuffle or import").into()),
    }))
}
