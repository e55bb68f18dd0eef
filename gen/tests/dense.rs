//! The search for dense tables is correct and deterministic, interrupted or not.
#![cfg(feature = "generate")]

use kiln_gen::magic;
use kiln_gen::magic::dense::{self, DenseSearch, DenseStateError};

/// Short local searches suffice for these tests.
const PATIENCE: u32 = 100;

fn searched(seed: u64, steps: u64) -> DenseSearch {
    let mut search = DenseSearch::new(seed, PATIENCE);
    (0..steps).for_each(|_| search.step());
    search
}

#[test]
fn starts_with_known_factors_of_half_the_width() {
    let search = DenseSearch::new(5, PATIENCE);
    assert_eq!((search.seed(), search.steps(), search.size()), (5, 0, 90_752));
    let tables = search.tables();
    let halved = tables.sliders.rook.iter().filter(|magic| 64 - magic.shift < magic.mask.count_ones());
    assert_eq!(halved.count(), 19);
    assert_eq!(magic::verify(&tables), Ok(()));
    assert_eq!(dense::search(5, 0), tables);
}

#[test]
fn a_resumed_search_finds_the_same() {
    let whole = searched(3, 16);
    let text = whole.to_text();
    assert_eq!(text, searched(3, 16).to_text());
    assert_ne!(text, searched(4, 16).to_text());
    let mut resumed = searched(3, 0);
    for _ in 0..16 {
        resumed = DenseSearch::from_text(&resumed.to_text()).unwrap();
        resumed.step();
    }
    assert_eq!(text, resumed.to_text());
    assert_eq!((resumed.steps(), resumed.size(), resumed.tables()), (16, whole.size(), whole.tables()));
}

#[test]
fn tables_shrink_and_stay_correct() {
    let mut search = DenseSearch::new(1, PATIENCE);
    let mut size = search.size();
    for _ in 0..160 {
        search.step();
        assert!(search.size() <= size);
        size = search.size();
    }
    let tables = search.tables();
    assert!(size < 90_752, "{size}");
    assert_eq!((magic::verify(&tables), tables.attacks.len()), (Ok(()), size));
    assert_eq!(magic::from_text(&magic::to_text(&tables.sliders)), Ok(tables));
}

/// The smallest table so far, which the repository holds but the build does not use.
#[test]
fn the_densest_magics_are_correct() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/magics-83439.txt");
    let tables = magic::from_text(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!((magic::verify(&tables), tables.attacks.len()), (Ok(()), 83_439));
}

#[test]
fn damaged_states_are_refused() {
    let text = searched(1, 2).to_text();
    let refused = |text: &str| DenseSearch::from_text(text).err().expect("the state is damaged");
    assert_eq!(refused(""), DenseStateError { line: 1 });
    assert_eq!(refused(&text[..text.len() / 2]).line, 1);
    // A missing window, which would still give correct tables, is detected too.
    let window = text.lines().nth(2).unwrap();
    assert_eq!(refused(&text.replacen(&format!("{window}\n"), "", 1)).line, 1);
    assert_eq!(refused(&text.replace("steps 2", "steps 3")).line, 1);
    let message = "not the state of a search for dense magics, or damaged: line 1 is wrong";
    assert_eq!(refused("checksum 0\n").to_string(), message);
}
