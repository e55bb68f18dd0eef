//! The search for dense tables: right, the same every time, and as good with breaks as without.
#![cfg(feature = "generate")]

use kiln_gen::magic::dense::{Damaged, Search};
use kiln_gen::magic::{self, Tables};

/// Enough for what is tested here, and soon done.
const PATIENCE: u32 = 100;

fn searched(seed: u64, steps: u64) -> Search {
    let mut search = Search::new(seed, PATIENCE);
    (0..steps).for_each(|_| search.step());
    search
}

#[test]
fn starts_with_a_plain_table() {
    let search = Search::new(1, PATIENCE);
    assert_eq!((search.seed(), search.steps(), search.size()), (1, 0, 107_648));
    assert_eq!(magic::verify(&search.tables()), Ok(()));
}

#[test]
fn finds_the_same_every_time_with_breaks_or_without() {
    let whole = searched(3, 16);
    let text = whole.to_text();
    assert_eq!(text, searched(3, 16).to_text());
    assert_ne!(text, searched(4, 16).to_text());
    let mut broken = searched(3, 0);
    for _ in 0..16 {
        broken = Search::from_text(&broken.to_text()).unwrap();
        broken.step();
    }
    assert_eq!(text, broken.to_text());
    assert_eq!((broken.steps(), broken.size(), broken.tables()), (16, whole.size(), whole.tables()));
}

#[test]
fn tables_shrink_and_stay_right() {
    let mut search = Search::new(1, PATIENCE);
    let mut size = search.size();
    for _ in 0..160 {
        search.step();
        assert!(search.size() <= size);
        size = search.size();
    }
    let tables = search.tables();
    assert!(size < 107_648, "{size}");
    assert_eq!((magic::verify(&tables), tables.attacks.len()), (Ok(()), size));
    assert_eq!(magic::from_text(&magic::to_text(&tables.sliders)), Ok(tables));
}

#[test]
fn damaged_states_are_refused() {
    let text = searched(1, 2).to_text();
    let refused = |text: &str| Search::from_text(text).err().expect("this is no state");
    assert_eq!(refused(""), Damaged { line: 1 });
    assert_eq!(refused(&text[..text.len() / 2]).line, 1);
    // A factor that is right as well is noticed, too.
    let window = text.lines().nth(2).unwrap();
    assert_eq!(refused(&text.replacen(&format!("{window}\n"), "", 1)).line, 1);
    assert_eq!(refused(&text.replace("steps 2", "steps 3")).line, 1);
    let message = "this is no state of a search for dense magics, or a damaged one: line 1 is wrong";
    assert_eq!(refused("checksum 0\n").to_string(), message);
}

/// Rooks on the upper two ranks whose windows are half as long as their masks ask for, found by the search.
const HALVED: [(usize, u64, u32); 9] = [
    (48, 0x48ff_ff39_ff54_6a00, 54),
    (49, 0xb37f_ff7f_8aca_8200, 55),
    (50, 0xecff_ff55_ff68_d600, 55),
    (51, 0x351f_ffd1_ffcf_1e00, 55),
    (52, 0x65af_ffa9_ffa7_0a00, 55),
    (54, 0x0e8f_ffd7_d870_58c0, 55),
    (56, 0x37ff_fda9_fd9f_2f02, 53),
    (57, 0xa57f_fe3f_fe44_d465, 54),
    (58, 0xc23f_ffb1_ffaf_ead6, 54),
];

#[test]
fn windows_may_be_narrower_than_masks() {
    let mut sliders = magic::search(1).sliders;
    for (square, factor, shift) in HALVED {
        let magic = &mut sliders.rook[square];
        assert_eq!(shift, 64 - magic.mask.count_ones() + 1);
        (magic.factor, magic.shift) = (factor, shift);
    }
    let tables = Tables::assemble(sliders).unwrap();
    assert_eq!(magic::verify(&tables), Ok(()));
}
