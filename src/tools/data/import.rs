//! Import of games in PGN: `kiln data import`.

use super::ShardWriter;
use crate::data::{GameFileError, Import, PgnGameError, read_pgn};
use kiln_gen::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Returns a file's name and hash for the sidecars.
///
/// # Errors
/// If the file cannot be read, or not twice: once for the hash, once for its games.
pub fn provenance(file: &Path) -> Result<Import, GameFileError> {
    if std::fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(GameFileError::of_file(file, "it is not a regular file, and a file of games is read twice"));
    }
    let hash = || -> io::Result<String> {
        let mut input = BufReader::with_capacity(1 << 17, File::open(file)?);
        let mut hash = Sha256::new();
        while let length @ 1.. = input.fill_buf()?.len() {
            hash.update(input.buffer());
            input.consume(length);
        }
        Ok(hexadecimal(&hash.finalize()))
    };
    let sha256 = hash().map_err(|error| GameFileError::of_file(file, format!("it cannot be read: {error}")))?;
    Ok(Import { file: file.file_name().unwrap_or_default().to_string_lossy().into(), sha256 })
}

/// Writes the games of a file. Passes a line to `print` for each bad game, which is skipped, and one for the file.
///
/// # Errors
/// If the file cannot be read, has no game, or none that is training data; or if a shard cannot be written.
pub fn import(file: &Path, writer: &mut ShardWriter, print: &mut impl FnMut(&str)) -> Result<(), GameFileError> {
    let (mut games, mut without_scores, mut bad) = (0u64, 0u64, 0u64);
    for game in read_pgn(file)? {
        let pgn = game?;
        games += 1;
        match pgn.to_game() {
            Ok(game) => writer.push_game(&game)?,
            Err(PgnGameError::NoScores) => without_scores += 1,
            Err(PgnGameError::Bad(what)) => {
                bad += 1;
                let place = format!("{}: game {games}, line {}", file.display(), pgn.line);
                print(&format!("{place}: skipped: {what}").replace(char::is_control, " "));
            }
        }
    }
    let refuse = |what: String| Err(GameFileError::of_file(file, what));
    match games - without_scores - bad {
        0 if games == 0 => refuse("there is no game in it".into()),
        0 if bad == 0 => refuse(format!(
            "none of its {games} games has a score: expected comments after the moves, such as {{+0.35/12 0.1s}}"
        )),
        0 => refuse(format!("none of its {games} games is training data")),
        good => {
            print(&format!(
                "{}: {good} games imported, {without_scores} without scores and {bad} bad ones skipped",
                file.display()
            ));
            Ok(())
        }
    }
}
