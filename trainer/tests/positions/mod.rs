//! Positions of random games for the tests.

use bulletformat::ChessBoard;
use kiln_trainer::data::{Dataset, EpochOrder, Filter};
use kiln_trainer::synthetic;

/// Returns `count` packed positions, determined by `seed`.
pub fn positions(count: usize, seed: u64) -> Vec<ChessBoard> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.viri.zst"), synthetic::shard(120, seed).unwrap()).unwrap();
    let all = Dataset::read(&[folder.path().into()], &[], Filter::default()).unwrap().training;
    assert!(all.len() >= count, "only {} positions", all.len());
    let order = EpochOrder::new(all.len(), seed);
    let index = order.starting_at(0);
    (0..count).map(|number| all[index(number)]).collect()
}
