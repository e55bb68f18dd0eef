//! Positions of random games for the tests.

use bulletformat::ChessBoard;
use kiln_trainer::data::Dataset;
use kiln_trainer::synthetic;

/// Returns `count` packed positions, determined by `seed`.
pub fn positions(count: usize, seed: u64) -> Vec<ChessBoard> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.viri.zst"), synthetic::shard(120, seed).unwrap()).unwrap();
    let mut positions = Dataset::read(&[folder.path().into()], seed).unwrap().training;
    assert!(positions.len() >= count, "only {} positions", positions.len());
    positions.truncate(count);
    positions
}
