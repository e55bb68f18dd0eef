//! `kiln net`, tested through the built binary.

use crate::common::bad_networks::bad_networks;
use crate::common::{default_header, default_network, kiln, run, scratch};
use kiln_gen::network::{Activations, Asset, Expected, Head, Header, Inputs, Threats, equal_output_buckets, material};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Returns these words with `net` before them.
fn words<T: AsRef<OsStr>>(words: &[T]) -> Vec<&OsStr> {
    [OsStr::new("net")].into_iter().chain(words.iter().map(AsRef::as_ref)).collect()
}

fn net<T: AsRef<OsStr>>(after: &[T]) -> String {
    kiln(&words(after))
}

fn refusal<T: AsRef<OsStr>>(after: &[T]) -> String {
    crate::common::refusal(&words(after))
}

/// Returns a large network with king buckets, mirroring, merged kings and output buckets.
fn large(head: Head) -> Asset {
    let king_buckets = std::array::from_fn(|square| (square % 8).min(7 - square % 8) as u8);
    let inputs = Inputs { mirrored: true, merged_kings: true, king_buckets, threats: Threats::None };
    let output_buckets = equal_output_buckets(8);
    Asset::random(Header { inputs, output_buckets, hidden: 64, head, ..material().header }, 5)
}

#[test]
fn headers_are_shown() {
    let info = net(&["info".as_ref(), default_network().as_os_str()]);
    let Header { name, expected, .. } = &default_header();
    let shape = default_header().shape();
    for line in [
        format!("name            {name}\n"),
        format!("shape           {shape}\n"),
        format!("expected scores {}\n", expected.len()),
    ] {
        assert!(info.contains(&line), "{line}{info}");
    }

    let folder = scratch("info");
    let file = folder.join("small.zst");
    fs::write(&file, material().to_bytes()).unwrap();
    let info = net(&["info".as_ref(), file.as_os_str()]);
    assert!(!info.contains("buckets"), "{info}");

    let file = folder.join("large network.zst");
    let mut asset = large(Head::Layers { inputs: Activations::Products, first: 16, second: 32 });
    asset.header.provenance.commit = "0123abc".into();
    asset.header.win_draw_loss = [-1500, 20, 0, 7];
    fs::write(&file, asset.to_bytes()).unwrap();
    let info = net(&["info".as_ref(), file.as_os_str()]);
    for line in [
        "shape           (704x4hm -> 64 pairwise)x2 -> 16 -> 32 -> 1, 8 output buckets\n",
        "king buckets    0 1 2 3 3 2 1 0\n                0 1 2 3 3 2 1 0\n",
        "output buckets  0 0 0 0 0 0 1 1 1 1 2 ",
        "win, draw, loss -1.500 0.020 0.000 0.007\n",
        "zero groups     ",
        "commit          0123abc\n",
        "data            unknown\n",
    ] {
        assert!(info.contains(line), "no {line:?} in {info}");
    }
}

#[test]
fn expected_scores_are_verified() {
    let found = net(&["verify".as_ref(), default_network().as_os_str()]);
    assert_eq!(found.lines().filter(|line| line.starts_with("right  found ")).count(), 4, "{found}");
    assert!(found.ends_with("\nthe hash and 4 of 4 expected scores are right\n"), "{found}");

    let file = scratch("verify").join("network");
    let verify = |asset: &Asset| {
        fs::write(&file, asset.to_bytes()).unwrap();
        run(&words(&["verify".as_ref(), file.as_os_str()]))
    };
    let mut asset = material();
    asset.header.expected[1].score += 1;
    let (succeeded, found, error) = verify(&asset);
    assert!(!succeeded && found.contains("\nwrong  found 50, expected 51: r3k2r/"), "{found}");
    assert_eq!(error, "kiln: 1 of 4 expected scores differ from those of the network\n");

    // Floating point may be off by one.
    let mut asset = large(Head::Layers { inputs: Activations::Squares, first: 32, second: 32 });
    let fen = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1";
    let pieces = [(0, 5, 4), (1, 0, 12), (1, 5, 20)];
    let score = asset.evaluate(&pieces, false) as i32;
    for (difference, is_right) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
        asset.header.expected = vec![Expected { fen: fen.into(), score: score + difference }];
        assert_eq!(verify(&asset).0, is_right, "{difference}");
    }
    asset.header.expected[0].fen = "8/8 w".into();
    let (succeeded, _, error) = verify(&asset);
    assert!(!succeeded && error.starts_with("kiln: an expected score has a bad "), "{error}");
}

#[test]
fn exchange_with_bullet() {
    let folder = scratch("bullet");
    let [quantised, asset, again] = ["quantised.bin", "asset", "again.bin"].map(|name| folder.join(name));
    let mut original = large(Head::Single);
    original.header.inputs.merged_kings = false;
    original = Asset::random(original.header, 6);
    fs::write(&quantised, original.export().unwrap()).unwrap();

    let king_buckets = "0 1 2 3 3 2 1 0\n".repeat(8);
    let list = folder.join("king buckets");
    fs::write(&list, &king_buckets).unwrap();
    for buckets in
        [OsStr::new(&king_buckets), OsStr::new(&king_buckets.trim_end().replace([' ', '\n'], ",")), list.as_os_str()]
    {
        let mut words =
            vec!["import".as_ref(), quantised.as_os_str(), asset.as_os_str(), "--king-buckets".as_ref(), buckets];
        words.extend(["--hidden=64", "--mirrored", "--output-buckets", "8", "--name", "try"].map(OsStr::new));
        let printed = net(&words);
        assert!(printed.ends_with(": (768x4hm -> 64)x2 -> 1, 8 output buckets\n"), "{printed}");
        let imported = Asset::from_bytes(&fs::read(&asset).unwrap()).unwrap();
        assert_eq!((&imported.features, &imported.weights), (&original.features, &original.weights));
        assert_eq!((&imported.header.name[..], imported.header.qb), ("try", 64));
        assert_eq!(imported.header.output_buckets, original.header.output_buckets);
    }
    assert!(net(&["verify".as_ref(), asset.as_os_str()]).ends_with("the hash and 8 of 8 expected scores are right\n"));
    net(&["export".as_ref(), asset.as_os_str(), again.as_os_str()]);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&quantised).unwrap());

    let refused = |options: &[&str]| {
        let files = ["import".as_ref(), quantised.as_os_str(), asset.as_os_str()];
        refusal(&[&files[..], &options.iter().map(OsStr::new).collect::<Vec<_>>()].concat())
    };
    for (options, reason) in [
        (&[][..], "net import needs --hidden, "),
        (&["--hidden", "wide"], "bad value \"wide\" for --hidden: expected a whole number from 0 to 4294967295"),
        (&["--hidden", "33"], "hidden is 33, expected 32 to 2048 in steps of 32"),
        (&["--hidden", "64", "--qa", "65536"], "expected a whole number from 0 to 65535"),
        (&["--hidden", "64", "--qa", "256"], "qa is 256, expected 1 to 255"),
        (&["--hidden", "64", "--output-buckets", "0"], "expected a whole number from 1 to 8"),
        (&["--hidden", "64", "--layers", "16"], "bad value \"16\" for --layers: expected two widths, as in 16,32"),
        (&["--hidden", "64", "--threats", "x"], "bad value \"x\" for --threats: expected none, states or pairs"),
        (&["--hidden", "64", "--layers", "8,32"], "first is 8, expected 16 or 32"),
        (&["--hidden", "64", "--pairwise"], "--pairwise is for networks with --layers"),
        (&["--hidden", "64", "--king-buckets", "0,1"], "expected 64 numbers from 0 to 63 "),
        (&["--hidden", "64", "--king-buckets", "no file"], "cannot read the king buckets from no file: "),
        (&["--hidden", "64", "--name", "a\nb"], "name holds '\\n', "),
        (&["--hidden", "64"], "the file has 395456 bytes, expected 98690 for this shape, or 98752 with padding"),
        (&["--hidden"], "missing argument for option '--hidden'"),
        (&["--width", "64"], "invalid option '--width'"),
    ] {
        let error = refused(options);
        assert!(error.contains(reason), "{options:?}: {error}");
    }
    // The existing file is untouched.
    assert!(Asset::from_bytes(&fs::read(&asset).unwrap()).is_ok());

    // Layers and merged kings.
    let layers = large(Head::Layers { inputs: Activations::Products, first: 16, second: 32 });
    fs::write(&quantised, layers.export().unwrap()).unwrap();
    let options = format!(
        "--hidden=64 --layers=16,32 --pairwise --merged-kings --mirrored --output-buckets=8 --king-buckets={}",
        king_buckets.trim_end().replace([' ', '\n'], ",")
    );
    let words: Vec<&OsStr> = ["import".as_ref(), quantised.as_os_str(), asset.as_os_str()]
        .into_iter()
        .chain(options.split(' ').map(OsStr::new))
        .collect();
    assert!(net(&words).ends_with(": (704x4hm -> 64 pairwise)x2 -> 16 -> 32 -> 1, 8 output buckets\n"));
    let imported = Asset::from_bytes(&fs::read(&asset).unwrap()).unwrap();
    assert_eq!((&imported.features, &imported.weights), (&layers.features, &layers.weights));
    net(&["export".as_ref(), asset.as_os_str(), again.as_os_str()]);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&quantised).unwrap());
}

#[test]
fn bad_files_are_refused() {
    let folder = scratch("none");
    let file = folder.join("file");
    for action in ["info", "verify"] {
        let refused = |path: &Path| refusal(&[action.as_ref(), path.as_os_str()]);
        let missing = folder.join("missing");
        assert!(refused(&missing).starts_with(&format!("cannot use {}: it cannot be read: ", missing.display())));
        assert_eq!(refused(&folder), format!("cannot use {}: it is not a regular file", folder.display()));
        for (bytes, reason) in bad_networks() {
            fs::write(&file, bytes).unwrap();
            let error = refused(&file);
            assert!(error.starts_with(&format!("cannot use {}: {reason}", file.display())), "{error}");
        }
        fs::File::create(&file).unwrap().set_len((1 << 29) + 1).unwrap();
        assert!(refused(&file).ends_with(": it has 536870913 bytes, expected at most 536870912"));
    }
    let nowhere = folder.join("missing/out");
    let error = refusal(&["export".as_ref(), default_network().as_os_str(), nowhere.as_os_str()]);
    assert!(error.starts_with(&format!("cannot write {}: ", nowhere.display())), "{error}");
}

#[test]
fn the_yardstick_measures_a_network() {
    let network = default_network().display().to_string();
    let folder = scratch("yardstick");
    let positions = folder.join("positions").display().to_string();
    // The network sees that a queen wins, so that its error is small, and large if the judge says otherwise.
    let queen = "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1";
    fs::write(&positions, format!("{queen};1000,0,0\n")).unwrap();
    let text = net(&["yardstick", &network, &positions]);
    let error_of_one = |text: &str| {
        let row: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        let ["2", "to", "8", "1", _, error] = row[..] else { panic!("{text}") };
        error.parse::<f64>().unwrap()
    };
    assert!(error_of_one(&text) < 0.01 && text.contains("\nall  "), "{text}");
    fs::write(&positions, format!("{queen};0,0,1000\n")).unwrap();
    let text = net(&["yardstick", &network, &positions]);
    let error: f64 = text.split_whitespace().last().unwrap().parse().unwrap();
    assert!(error > 0.3, "{text}");

    // The score of another engine is in the line.
    assert_eq!(
        refusal(&["yardstick", &positions]),
        format!("cannot use {positions}: position 1 has no score after a second semicolon, and no network is given")
    );
    fs::write(&positions, format!("{queen};1000,0,0;1500\n")).unwrap();
    assert!(error_of_one(&net(&["yardstick", &positions])) < 1e-4);

    fs::write(&positions, format!("{queen};1,2,3\n")).unwrap();
    let reason = refusal(&["yardstick", &network, &positions]);
    let expected = format!("cannot use {positions}: line 1: expected FEN;W,D,L with three numbers that sum to 1000");
    assert_eq!(reason, expected);
}

#[test]
fn bad_arguments_are_refused() {
    for (words, reason) in [
        (&[][..], "bad net command \"\": expected info, verify, yardstick, import or export"),
        (&["show", "file"], "bad net command \"show\": expected info, verify, yardstick, import or export"),
        (&["info"], "net info needs one file, as in: kiln net info FILE"),
        (&["verify", "a", "b"], "net verify needs one file, as in: kiln net verify FILE"),
        (&["import", "a"], "net import needs two files, as in: kiln net import FROM TO"),
        (&["yardstick"], "net yardstick needs one or two files, as in: kiln net yardstick NETWORK POSITIONS"),
        (&["export", "a"], "net export needs two files, as in: kiln net export FROM TO"),
        (&["info", "a", "--hidden", "64"], "--hidden is for kiln net import"),
        (&["info", "a", "--nonsense"], "invalid option '--nonsense'"),
        (&["info", "a", "--divide"], "invalid option '--divide'"),
    ] {
        assert_eq!(refusal(words), reason, "{words:?}");
    }
    assert!(net(&["--help"]).contains("kiln net info FILE"));
}
