//! The generators are correct and deterministic, and the checks detect wrong tables.
#![cfg(feature = "generate")]

use kiln_gen::geometry::{BISHOP, ROOK, attacks, relevant_mask, slider_attacks, subsets, threat_pairs};
use kiln_gen::layout::ThreatPairs;
use kiln_gen::{cuckoo, magic, zobrist};

#[test]
fn magics_are_the_same_every_time_and_complete() {
    let tables = magic::search(1);
    assert_eq!(tables, magic::search(1));
    assert_ne!(tables.sliders, magic::search(2).sliders);
    assert_eq!(tables.attacks.len(), 90_752);
    let halved = tables.sliders.rook.iter().filter(|magic| 64 - magic.shift < magic.mask.count_ones());
    assert_eq!(halved.count(), 19);
    assert_eq!(magic::verify(&tables), Ok(()));
}

#[test]
fn pext_tables_are_complete() {
    let (sliders, attacks) = magic::pext();
    assert_eq!(attacks.len(), 107_648);
    let mut indices = Vec::new();
    for (table, directions) in [(&sliders.rook, &ROOK), (&sliders.bishop, &BISHOP)] {
        for (square, entry) in table.iter().enumerate() {
            assert_eq!(entry.mask, relevant_mask(square, directions));
            for occupied in subsets(entry.mask) {
                let index = entry.index(occupied | !entry.mask);
                assert_eq!(attacks[index], slider_attacks(square, directions, occupied));
                indices.push(index);
            }
        }
    }
    indices.sort_unstable();
    assert!(indices.into_iter().eq(0..attacks.len()));
}

#[test]
fn wrong_tables_are_found() {
    let good = magic::search(1);
    let mut attacks = good.clone();
    let used = good.sliders.bishop[27].index(0);
    attacks.attacks[used] ^= 1;
    let wrong = magic::verify(&attacks).unwrap_err();
    assert_eq!((wrong.slider, wrong.square), ("bishop", 27));
    let mut factor = good.clone();
    factor.sliders.rook[5].factor += 1;
    assert_eq!(magic::verify(&factor).unwrap_err().square, 5);
    let mut offset = good.clone();
    offset.sliders.bishop[63].offset += 1 << 20;
    assert_eq!(magic::verify(&offset).unwrap_err().square, 63);
    // The index of an occupancy beyond the true mask would be another.
    let mut mask = good.clone();
    mask.sliders.rook[0].mask |= 1 << 63;
    assert_eq!(magic::verify(&mask).unwrap_err().square, 0);
    let mut shift = good.clone();
    shift.sliders.rook[7].shift = 64;
    assert_eq!(magic::verify(&shift).unwrap_err().square, 7);
}

#[test]
fn magics_as_text() {
    let tables = magic::search(1);
    let text = magic::to_text(&tables.sliders);
    assert_eq!(magic::from_text(&text), Ok(tables));
    let refusal = |text: &str| magic::from_text(text).unwrap_err().to_string();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from));
        refusal(&text.replacen(from, to, 1))
    };
    assert_eq!(refusal(""), "there is no magic for a rook on square 0");
    assert_eq!(refusal(text.trim_end().rsplit_once('\n').unwrap().0), "there is no magic for a bishop on square 63");
    assert_eq!(refusal("rook 0"), "line 1 is \"rook 0\": expected slider, square, factor, shift and offset");
    assert!(changed("rook 63 ", "queen 63 ").ends_with("expected \"rook\" or \"bishop\" first"));
    assert!(changed("rook 63 ", "rook 64 ").ends_with("expected a square from 0 to 63"));
    assert!(changed("rook 63 ", "rook 62 ").ends_with("expected each slider and square once"));
    assert!(changed("0x", "").ends_with("expected a factor such as 0x0080001020400080"));
    assert!(changed(" 52 0\n", " 47 0\n").ends_with("expected a shift from 48 to 63"));
    assert!(changed(" 52 0\n", " 52 1048576\n").ends_with("expected an offset below 1048576"));
    // The first window moved onto the second, and a factor of 0.
    assert!(changed(" 52 0\n", " 52 1\n").contains("the magic table is wrong for a rook on square 1 "));
    let zero = "rook 0 0x0000000000000000 52 0\n".to_owned() + text.split_once("52 0\n").unwrap().1;
    assert!(refusal(&zero).contains("the magic table is wrong for a rook on square 0 "));
}

/// A window may overlap another that leaves entries unused.
#[test]
fn windows_may_overlap() {
    let mut sliders = magic::search(1).sliders;
    // With an index bit more than it needs, a bishop uses half of its 128 entries.
    sliders.bishop[0].shift -= 1;
    sliders.bishop[0].offset = 200_000;
    let overlapped = (200_000..200_128).find_map(|offset| {
        sliders.bishop[1].offset = offset;
        magic::MagicTables::assemble(sliders).ok()
    });
    let tables = overlapped.expect("there are gaps between the entries");
    assert_eq!(magic::verify(&tables), Ok(()));
    // At the same offset they collide.
    sliders.bishop[1].offset = sliders.rook[0].offset;
    assert_eq!(magic::MagicTables::assemble(sliders).unwrap_err().square, 1);
}

#[test]
fn keys_depend_on_the_seed_alone() {
    assert_eq!(zobrist::zobrist(3), zobrist::zobrist(3));
    assert_ne!(zobrist::zobrist(3), zobrist::zobrist(4));
}

#[test]
fn cuckoo_tables_hold_every_move() {
    let mut tables = 0;
    for seed in 0..100 {
        let keys = zobrist::zobrist(seed);
        assert_eq!(cuckoo::reversible_moves(&keys).count(), cuckoo::MOVES);
        // About one seed in a hundred gives no table.
        let Ok(table) = cuckoo::cuckoo(&keys) else { continue };
        tables += 1;
        assert_eq!(table.keys.iter().filter(|&&key| key != 0).count(), cuckoo::MOVES);
        for (key, squares) in cuckoo::reversible_moves(&keys) {
            assert_eq!(table.find(key).map(|found| found.map(usize::from)), Some(squares), "seed {seed}");
        }
    }
    assert!(tables >= 95, "only {tables} of 100 seeds give a table");
}

#[test]
fn keys_without_a_cuckoo_table_are_refused() {
    let good = zobrist::zobrist(2);
    // All moves of the white king have one difference: they displace each other for ever.
    let mut equal = good;
    equal.pieces[0][5] = [7; 64];
    let refusal = cuckoo::cuckoo(&equal).unwrap_err();
    assert!(refusal.to_string().contains("try another seed"), "{refusal}");
    // Two moves of one difference have a slot each, but only one is found.
    let mut pair = good;
    let [a1, b1, c1] = [0, 1, 2];
    pair.pieces[1][3][b1] = pair.pieces[1][3][c1];
    assert_eq!(cuckoo::cuckoo(&pair).unwrap_err().squares[0], a1);
    // A difference of 0 looks like an empty slot.
    let mut zero = good;
    zero.pieces[0][4][9] = zero.pieces[0][4][0] ^ zero.black_to_move;
    assert_eq!(cuckoo::cuckoo(&zero).unwrap_err().squares, [0, 9]);
}

#[cfg(feature = "blob-writer")]
#[test]
fn blobs_are_named_in_the_manifest() {
    use kiln_gen::{blob::BlobWriter, geometry, manifest::Manifest};
    let folder = std::env::temp_dir().join(format!("kiln-gen-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut blobs = BlobWriter::new(&folder);
    blobs.value("leapers", &geometry::leapers()).unwrap();
    blobs.list("numbers", &[1u16, 0x0203]).unwrap();
    let manifest = blobs.finish().unwrap();

    assert_eq!(std::fs::read(folder.join("numbers.bin")).unwrap(), [1, 0, 3, 2]);
    assert_eq!(std::fs::read(folder.join("numbers.len")).unwrap(), b"2");
    let bytes = std::fs::read(folder.join("manifest.bin")).unwrap();
    assert_eq!(Manifest::from_bytes(&bytes).unwrap(), manifest);
    let [leapers, numbers] = &manifest.blobs[..] else { panic!("two blobs") };
    assert_eq!((leapers.element.as_str(), leapers.length, leapers.alignment), ("Leapers", 2048, 64));
    assert_eq!((numbers.name.as_str(), numbers.element.as_str(), numbers.length), ("numbers", "[u16; 2]", 4));
    assert!(Manifest::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    assert!(Manifest::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    // A length that no memory could hold.
    assert!(Manifest::from_bytes(&[253, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Each pair has a feature of its own; of two equal pieces that attack each other, one.
#[test]
fn threat_pairs_are_numbered_without_gaps() {
    let table = threat_pairs();
    let mut found = vec![0; ThreatPairs::FEATURES];
    let (mut left_out, mut both) = (0, 0);
    for (attacker, from) in (0..12).flat_map(|attacker| (0..64).map(move |from| (attacker, from))) {
        let (color, kind) = (attacker / 6, attacker % 6);
        if kind == 0 && !(8..56).contains(&from) {
            continue;
        }
        for to in (0..64).filter(|to| attacks(color, kind, from, 0) >> to & 1 != 0) {
            for victim in 0..12 {
                let feature = table.feature(attacker, from, victim, to);
                let victim_kind = victim % 6;
                let attacks_back = match (kind, victim_kind) {
                    (0, 2 | 4) | (2 | 3, 4) => true,
                    _ => kind == victim_kind && from < to,
                };
                let is_left_out = attacks_back || kind == 5 || victim_kind == 5 || (kind, victim_kind) == (0, 0);
                assert_eq!(feature.is_none(), is_left_out, "{attacker} {from} {victim} {to}");
                left_out += usize::from(is_left_out);
                both += usize::from(kind == victim_kind && feature.is_some());
                feature.into_iter().for_each(|feature| found[feature] += 1);
            }
        }
    }
    // Half of the numbers for equal pieces are not used.
    assert!(found.iter().all(|&count| count <= 1));
    assert_eq!(found.iter().sum::<usize>(), ThreatPairs::FEATURES - both);
    assert!(left_out > 0);
}
