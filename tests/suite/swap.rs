//! Networks of other shapes, built into engines or loaded at run time without a change to the source, agree with the
//! reference evaluation.

use crate::common::{default_header, scratch, skipped};
use kiln::board::Position;
use kiln::nnue::{LoadError, Network};
use kiln::tools::net::reference;
use kiln_gen::hexadecimal;
use kiln_gen::network::{
    Activations, Asset, Head, Header, Inputs, Threats, equal_king_buckets, equal_output_buckets, material,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

const POSITIONS: usize = 3000;

fn shapes() -> [Header; TESTED] {
    let plain = Inputs { mirrored: false, merged_kings: false, king_buckets: [0; 64], threats: Threats::None };
    let header = |name: &str, inputs, hidden, head, output_buckets| Header {
        name: name.into(),
        inputs,
        hidden,
        head,
        output_buckets,
        ..material().header
    };
    let mirrored =
        Inputs { mirrored: true, merged_kings: true, king_buckets: equal_king_buckets(4), threats: Threats::States };
    [
        header("wide_single", plain, 256, Head::Single, equal_output_buckets(8)),
        header(
            "kings_and_threats",
            mirrored.clone(),
            96,
            Head::Layers { inputs: Activations::Products, first: 32, second: 32 },
            equal_output_buckets(3),
        ),
        header(
            "kings_and_pairs",
            Inputs { threats: Threats::Pairs, ..mirrored.clone() },
            96,
            Head::Single,
            equal_output_buckets(2),
        ),
        header(
            "pairs_and_layers",
            Inputs { king_buckets: [0; 64], threats: Threats::Pairs, ..mirrored.clone() },
            128,
            Head::Layers { inputs: Activations::Squares, first: 16, second: 32 },
            equal_output_buckets(8),
        ),
        header(
            "wide_layers",
            Inputs { king_buckets: [0; 64], merged_kings: false, threats: Threats::None, ..mirrored },
            1024,
            Head::Layers { inputs: Activations::Products, first: 16, second: 32 },
            equal_output_buckets(1),
        ),
    ]
}

/// Returns positions of random games.
fn positions() -> Vec<Position> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut positions = Vec::new();
    while positions.len() < POSITIONS {
        let mut position = Position::startpos();
        for _ in 0..200 {
            let moves = position.moves();
            if moves.is_empty() {
                break;
            }
            position = position.make(moves[rng.next_u32() as usize % moves.len()]);
            if rng.next_u32().is_multiple_of(4) {
                positions.push(position.clone());
            }
        }
    }
    positions.truncate(POSITIONS);
    positions
}

/// Returns the scores that an engine answers to `eval` in each position.
fn scores(engine: &Path, positions: &[Position]) -> Vec<i64> {
    let mut child = Command::new(engine).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: String =
        positions.iter().map(|position| format!("position fen {}\neval\n", position.fen(true))).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    // network NAME says +0.06 for White, cp 6 for the side to move
    let score = |line: &str| line.split_once(" for White, cp ")?.1.split(' ').next()?.parse().ok();
    output.lines().filter_map(score).collect()
}

/// Builds an engine with a network and returns its path.
fn build(asset: &Asset) -> PathBuf {
    /// Held by the test whose engine is built. The others wait, or check theirs.
    static BUILDING: Mutex<()> = Mutex::new(());

    // Not a scratch folder: later builds reuse what does not depend on the network.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("swap");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.zst", asset.header.name));
    fs::write(&file, asset.to_bytes()).unwrap();
    let engine = folder.join(&asset.header.name);
    // A build that fails does not stop the others.
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let build = Command::new(env!("CARGO"))
        // The dev profile has debug assertions. Without any optimisation the engine takes longer than the compiler.
        .args(["build", "--quiet", "--offline", "--bin", "kiln"])
        .args(["--config", "profile.dev.package.kiln.opt-level=1", "--config", "profile.dev.debug=false"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("EVALFILE", &file)
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    fs::copy(folder.join("target/debug/kiln"), &engine).unwrap();
    engine
}

/// Checks an engine with random weights in the shape of this name in [`shapes`].
fn agrees_with_the_reference(name: &str) {
    let (seed, header) = (0..).zip(shapes()).find(|(_, header)| header.name == name).unwrap();
    let layers = header.head != Head::Single;
    let (asset, positions) = (Asset::random(header, seed), positions());
    let engine = build(&asset);
    let scores = scores(&engine, &positions);
    assert_eq!(scores.len(), positions.len());
    let mut spread = 0;
    for (position, score) in positions.iter().zip(scores) {
        let expected = reference(&asset, position);
        // The last layers are computed in `f32` by the engine and in `f64` by the reference.
        assert!((score - expected).abs() <= i64::from(layers), "{score} for {expected} in {}", position.fen(true));
        spread = spread.max(expected.abs());
    }
    assert!(spread > 100, "all scores are within {spread}");
    // Debug assertions compare each update of an accumulator with one from scratch.
    let search = Command::new(&engine).args(["bench", "4"]).output().unwrap();
    assert!(search.status.success(), "{}", String::from_utf8_lossy(&search.stderr));
}

macro_rules! shape_tests {
    ($($shape:ident)*) => {
        /// The number of shapes: each has its test.
        const TESTED: usize = [$(stringify!($shape)),*].len();

        $(
            #[test]
            #[ignore = "it builds an engine: cargo test --release --test suite -- --ignored"]
            fn $shape() {
                agrees_with_the_reference(stringify!($shape));
            }
        )*
    };
}

shape_tests! {
    wide_single
    kings_and_threats
    kings_and_pairs
    pairs_and_layers
    wide_layers
}

/// Returns an asset of the default network's shape with other weights.
fn other_weights() -> Asset {
    Asset::random(Header { name: "other weights".into(), ..default_header() }, 3)
}

#[test]
fn loaded_while_the_program_runs() {
    if kiln::nnue::NAME != default_header().name {
        skipped("this build has another network than the default one");
        return;
    }
    let folder = scratch("loaded");
    let (file, cache) = (folder.join("a network.zst"), folder.join("cache"));
    let asset = other_weights();
    fs::write(&file, asset.to_bytes()).unwrap();
    let agrees = |network: &Network| {
        for position in positions().iter().take(200) {
            let score = kiln::nnue::Evaluator::new(network.clone()).evaluate(position);
            assert_eq!(i64::from(score.value()), reference(&asset, position), "{}", position.fen(true));
        }
    };
    let cached = || {
        let files: Vec<PathBuf> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    };
    // Without a cached file, from the cache, and with a cached file of wrong length or contents.
    agrees(&Network::load_with_cache(&file, Some(&cache)).unwrap());
    let good = fs::read(cached()).unwrap();
    agrees(&Network::load_with_cache(&file, Some(&cache)).unwrap());
    let mut flipped = good.clone();
    flipped[1000] ^= 1;
    for damaged in [&good[..good.len() - 1], &flipped, b""] {
        // Moved, not overwritten: the old file may be mapped.
        fs::remove_file(cached()).unwrap();
        fs::write(cache.join("new"), damaged).unwrap();
        fs::rename(cache.join("new"), folder.join("moved")).unwrap();
        agrees(&Network::load_with_cache(&file, Some(&cache)).unwrap());
        fs::rename(folder.join("moved"), cached()).unwrap();
        agrees(&Network::load_with_cache(&file, Some(&cache)).unwrap());
        assert_eq!(fs::read(cached()).unwrap(), good);
    }
    // Without a cache, and where none can be written.
    agrees(&Network::load_with_cache(&file, None).unwrap());
    agrees(&Network::load_with_cache(&file, Some(&file.join("no folder"))).unwrap());
}

/// A cached network is that of an asset with the same bytes, not of one with the same header.
#[test]
fn the_cache_does_not_hide_damage() {
    let folder = scratch("damaged");
    let (file, cache) = (folder.join("network.zst"), folder.join("cache"));
    let good = Asset::random(Header { name: "good".into(), ..default_header() }, 1).to_bytes();
    let load = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        Network::load_with_cache(&file, Some(&cache))
    };
    let shape = default_header().shape();
    if kiln::nnue::SHAPE != shape {
        skipped("this build has a network of another shape than the default one");
        return;
    }
    let sha256 = load(&good).unwrap().sha256().to_owned();
    assert_eq!(sha256, hexadecimal(&Asset::read_header(&good).unwrap().sha256));
    let cut = load(&good[..good.len() / 2]).unwrap_err().to_string();
    assert!(cut.starts_with("the file is cut off after "), "{cut}");
    let name = good.windows(4).position(|bytes| bytes == b"good").unwrap();
    let mut renamed = good.clone();
    renamed[name] = b'f';
    let renamed = load(&renamed).unwrap_err().to_string();
    assert!(renamed.contains("the file is damaged"), "{renamed}");
    assert_eq!(load(&good).unwrap().sha256(), sha256);
}

/// Saving a network removes files of other arrangements and all but the eight used last, and touches no other file.
#[test]
fn the_cache_is_tidied() {
    let folder = scratch("tidied");
    let (file, cache) = (folder.join("network.zst"), folder.join("cache"));
    fs::write(&file, other_weights().to_bytes()).unwrap();
    let names = || {
        let mut names: Vec<String> =
            fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let load = || Network::load_with_cache(&file, Some(&cache));
    if matches!(load(), Err(LoadError::Shape(_))) {
        skipped("this build has a network of another shape than the default one");
        return;
    }
    let [saved] = names().try_into().unwrap();
    let rest = &saved[64..];
    // The first is the one used last.
    let others: Vec<String> = (0..9).map(|i| format!("{i:064}{rest}")).collect();
    let write = |name: &str, age: u64| {
        let file = fs::File::create(cache.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    };
    for (name, age) in others.iter().zip(10..) {
        write(name, age);
    }
    let foreign = ["notes.txt".into(), format!("{}-4.bin", "0".repeat(64))];
    foreign.iter().for_each(|name| write(name, 1000));
    // Of an older arrangement, and left by a process that was killed.
    write(&format!("{}-4-64.bin", "1".repeat(64)), 0);
    write(&format!("{}{}.4711.new", "1".repeat(64), rest.trim_end_matches(".bin")), 1000);
    fs::remove_file(cache.join(&saved)).unwrap();
    load().unwrap();
    let mut expected = [std::slice::from_ref(&saved), &others[..7], &foreign].concat();
    expected.sort();
    assert_eq!(names(), expected);
    // Using a file makes it the last used.
    #[cfg(unix)]
    {
        write("aged", 100);
        let modified = |name: &str| fs::metadata(cache.join(name)).unwrap().modified().unwrap();
        let saved_file = fs::File::open(cache.join(&saved)).unwrap();
        saved_file.set_modified(modified("aged")).unwrap();
        load().unwrap();
        assert!(modified(&saved) > modified("aged"));
    }
}

#[test]
fn networks_that_cannot_be_loaded() {
    let folder = scratch("refused");
    let refused = |path: &Path| match Network::load_with_cache(path, None) {
        Err(error) => error.to_string(),
        Ok(network) => panic!("{} was loaded", network.name()),
    };
    assert!(refused(&folder.join("nothing")).starts_with("it cannot be read: "));
    assert_eq!(refused(&folder), "it is not a regular file");
    let file = folder.join("network.zst");
    let other = Asset::random(shapes()[1].clone(), 1);
    fs::write(&file, other.to_bytes()).unwrap();
    match Network::load_with_cache(&file, None) {
        Err(LoadError::Shape(shape)) => assert_eq!(*shape, other.header.shape()),
        result => panic!("{result:?}"),
    }
    let message = refused(&file);
    let shape = other.header.shape().to_string();
    assert!(message.contains(&shape) && message.contains("this engine is built for ("), "{message}");
    // Another quantisation, which the notation of the shape does not show.
    let header = default_header();
    let scaled = Header { scale: header.scale - 1, ..header.clone() };
    fs::write(&file, Asset::random(scaled, 1).to_bytes()).unwrap();
    let message = refused(&file);
    if kiln::nnue::SHAPE == header.shape() {
        assert!(message.contains(" with other buckets or quantisation; "), "{message}");
    }
}
