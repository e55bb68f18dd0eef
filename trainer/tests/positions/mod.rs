//! Positions of random games.

use bulletformat::ChessBoard;
use kiln_trainer::data::Data;
use kiln_trainer::synthetic;

/// At least `count` of them were read; this many are returned.
pub fn positions(count: usize, seed: u64) -> Vec<ChessBoard> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.viri.zst"), synthetic::shard(120, seed).unwrap()).unwrap();
    let mut positions = Data::read(&[folder.path().into()], seed).unwrap().training;
    assert!(positions.len() >= count, "only {} positions", positions.len());
    positions.truncate(count);
    positions
}
