//! The arguments after `kiln analyse`.

use super::{Arguments, read_fen};
use kiln::board::{GameHistory, Position};
use kiln::quote::quote;
use kiln::search::{Limits, MAX_MEGABYTES, MAX_PLY};
use kiln::tools::analyse::Analysis;
use kiln::tools::{MAX_MULTI_PV, MAX_THREADS};
use lexopt::prelude::*;
use std::time::Duration;

/// The default of `--hash` in megabytes.
pub const DEFAULT_HASH: usize = 256;

/// Parses the arguments after `analyse`. Returns `None` if they ask for help.
pub fn parse(arguments: &mut Arguments) -> Result<Option<Box<Analysis>>, lexopt::Error> {
    let mut words = Vec::new();
    let mut limits = Limits::default();
    let (mut multi_pv, mut megabytes, mut threads) = (1, DEFAULT_HASH, 1);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("time") => limits.movetime = Some(arguments.parse(read_seconds)?),
            Long("depth") => limits.depth = Some(arguments.number(1..=MAX_PLY as u32)?),
            Long("lines") => multi_pv = arguments.number(1..=MAX_MULTI_PV)?,
            Long("hash") => megabytes = arguments.number(1..=MAX_MEGABYTES)?,
            Long("threads") => threads = arguments.number(1..=MAX_THREADS)?,
            Value(word) => words.push(word.string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    let (position, history) = read_position(&words.join(" "))?;
    let multi_pv = multi_pv.min(position.count_moves().max(1));
    Ok(Some(Box::new(Analysis { position, history, limits, multi_pv, megabytes, threads })))
}

/// Parses `[FEN | startpos] [moves MOVE …]`, with moves in UCI or standard algebraic notation (SAN), with or without
/// move numbers.
fn read_position(text: &str) -> Result<(Position, GameHistory), String> {
    let mut words = text.split_ascii_whitespace();
    let start = words.by_ref().take_while(|&word| word != "moves").collect::<Vec<_>>().join(" ");
    let mut position = read_fen(&start)?;
    let mut history = GameHistory::new();
    for word in words {
        // A word is a number ("12."), a move, or both ("12.Nf3").
        let text = word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
        let text = if word.contains('.') { text } else { word };
        if text.is_empty() {
            continue;
        }
        let mv = position.parse_move(text).or_else(|| position.parse_san(text)).ok_or_else(|| {
            format!("illegal move {} in {}: expected one like e2e4 or Nf3", quote(word), position.fen(false))
        })?;
        history.push(&position);
        position = position.make(mv);
    }
    Ok((position, history))
}

fn read_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or("expected a time in seconds, such as 10 or 0.5".into())
}
