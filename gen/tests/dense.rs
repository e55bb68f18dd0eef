//! The search for dense tables: right, the same every time, and as good with breaks as without.
#![cfg(feature = "generate")]

use kiln_gen::magic;
use kiln_gen::magic::dense::{self, DenseSearch, DenseStateError};

/// Enough for what is tested here, and soon done.
const PATIENCE: u32 = 100;

fn searched(seed: u64, steps: u64) -> DenseSearch {
    let mut search = DenseSearch::new(seed, PATIENCE);
    (0..steps).for_each(|_| search.step());
    search
}

#[test]
fn starts_with_known_factors_of_half_the_width() {
    let search = DenseSearch::new(5, PATIENCE);
    assert_eq!((search.seed(), search.steps(), search.size()), (5, 0, 91_776));
    let tables = search.tables();
    let halved = tables.sliders.rook.iter().filter(|magic| 64 - magic.shift < magic.mask.count_ones());
    assert_eq!(halved.count(), 18);
    assert_eq!(magic::verify(&tables), Ok(()));
    assert_eq!(dense::search(5, 0), tables);
}

#[test]
fn finds_the_same_every_time_with_breaks_or_without() {
    let whole = searched(3, 16);
    let text = whole.to_text();
    assert_eq!(text, searched(3, 16).to_text());
    assert_ne!(text, searched(4, 16).to_text());
    let mut broken = searched(3, 0);
    for _ in 0..16 {
        broken = DenseSearch::from_text(&broken.to_text()).unwrap();
        broken.step();
    }
    assert_eq!(text, broken.to_text());
    assert_eq!((broken.steps(), broken.size(), broken.tables()), (16, whole.size(), whole.tables()));
}

#[test]
fn tables_shrink_and_stay_right() {
    let mut search = DenseSearch::new(1, PATIENCE);
    let mut size = search.size();
    for _ in 0..160 {
        search.step();
        assert!(search.size() <= size);
        size = search.size();
    }
    let tables = search.tables();
    assert!(size < 91_776, "{size}");
    assert_eq!((magic::verify(&tables), tables.attacks.len()), (Ok(()), size));
    assert_eq!(magic::from_text(&magic::to_text(&tables.sliders)), Ok(tables));
}

/// The smallest table so far, which whoever wants it may take from the repository.
#[test]
fn the_densest_magics_are_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/magics-83439.txt");
    let tables = magic::from_text(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!((magic::verify(&tables), tables.attacks.len()), (Ok(()), 83_439));
}

#[test]
fn damaged_states_are_refused() {
    let text = searched(1, 2).to_text();
    let refused = |text: &str| DenseSearch::from_text(text).err().expect("this is no state");
    assert_eq!(refused(""), DenseStateError { line: 1 });
    assert_eq!(refused(&text[..text.len() / 2]).line, 1);
    // A factor that is right as well is noticed, too.
    let window = text.lines().nth(2).unwrap();
    assert_eq!(refused(&text.replacen(&format!("{window}\n"), "", 1)).line, 1);
    assert_eq!(refused(&text.replace("steps 2", "steps 3")).line, 1);
    let message = "this is no state of a search for dense magics, or a damaged one: line 1 is wrong";
    assert_eq!(refused("checksum 0\n").to_string(), message);
}
