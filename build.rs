//! The kiln, in which every table and the network are fired: writes them as blobs to `OUT_DIR`, from which `src/tables`
//! and `src/nnue` embed them.

// The table of late move reductions takes its two numbers from the search's parameters.
#[allow(dead_code)]
#[path = "src/search/parameters.rs"]
mod parameters;

use kiln_gen::blob::BlobWriter;
use kiln_gen::layout::Packing;
use kiln_gen::network::{Asset, read_file};
use kiln_gen::{cuckoo, geometry, magic, reductions, zobrist};
use std::error::Error;
use std::fmt::Display;
use std::io::ErrorKind;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The network that is embedded unless the environment variable `EVALFILE` names another.
const DEFAULT_NETWORK: &str = "assets/kiln.nnue.zst";
/// Optional magics from a search longer than a build.
const MAGICS: &str = "assets/magics.txt";
/// Random seeds. Another seed of the keys changes the bench signature; another seed of the magics does not.
const MAGIC_SEED: u64 = 1;
const KEY_SEED: u64 = 2;

fn main() {
    // Cargo stops the build at this line. After a failing exit status it would also repeat the whole output.
    if let Err(error) = write_blobs() {
        println!("cargo::error={error}");
    }
}

fn write_blobs() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=EVALFILE");
    let set_by_cargo =
        |name| std::env::var_os(name).ok_or(format!("{name} is not set: only Cargo can run this program"));
    if set_by_cargo("CARGO_CFG_TARGET_ENDIAN")? != "little" {
        return Err("Kiln reads little-endian tables in place and cannot be built for a big-endian target".into());
    }
    let out = PathBuf::from(set_by_cargo("OUT_DIR")?);
    // First, because only this depends on the user's input.
    let asset = timed("network", network)?;
    let mut blobs = BlobWriter::new(&out);

    let tables = timed("sliders", || magics().unwrap_or_else(|| magic::search(MAGIC_SEED)));
    timed("sliders, verified", || magic::verify(&tables))?;
    blobs.value("sliders", &tables.sliders)?;
    blobs.list("slider_attacks", &tables.attacks)?;
    blobs.value("pseudo_attacks", &timed("pseudo_attacks", geometry::pseudo_attacks))?;
    blobs.value("threat_pairs", &timed("threat_pairs", geometry::threat_pairs))?;
    blobs.value("lines", &timed("lines", geometry::lines))?;
    blobs.value("superpiece", &timed("superpiece", geometry::superpiece))?;
    let keys = timed("zobrist", || zobrist::zobrist(KEY_SEED));
    blobs.value("zobrist", &keys)?;
    blobs.value("cuckoo", &timed("cuckoo", || cuckoo::cuckoo(&keys))?)?;
    let (base, divisor) =
        (i16::try_from(parameters::lmr_base())?, NonZeroU16::try_from(u16::try_from(parameters::lmr_divisor())?)?);
    blobs.value("reductions", &timed("reductions", || reductions::reductions(base, divisor)))?;

    let packing = packing();
    for blob in timed("network, arranged", || asset.arrange(packing)) {
        blobs.bytes(blob.name, blob.element, &blob.bytes)?;
    }
    blobs.text("network_dimensions.rs", &asset.constants(packing))?;

    timed("manifest", || blobs.finish_alone())?;
    set_version();
    Ok(())
}

/// Sets the variables that tell what the build is.
fn set_version() {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let mut version = variable("CARGO_PKG_VERSION");
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=KILN_COMMIT={commit}");
        version += &format!(" ({commit})");
    }
    let compiler = output(&variable("RUSTC"), &["--version"]).unwrap_or_default();
    for (name, value) in [("VERSION", version), ("COMPILER", compiler), ("TARGET", variable("TARGET"))] {
        println!("cargo::rustc-env=KILN_{name}={value}");
    }
}

/// Returns the short name of the commit that is checked out, if this is the root of a repository.
fn commit() -> Option<String> {
    let root = std::env::current_dir().and_then(std::fs::canonicalize).ok()?;
    let top = output("git", &["rev-parse", "--show-toplevel"])?;
    if std::fs::canonicalize(top).ok()? != root {
        return None;
    }
    // Commits and checkouts change it. Without it, Cargo would run this program every time.
    let log = output("git", &["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists())?;
    println!("cargo::rerun-if-changed={log}");
    output("git", &["rev-parse", "--short=8", "HEAD"])
}

/// Returns what a program prints, or `None` if it fails or is missing.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = std::process::Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Reads magics that are denser than the search's, if the file exists. A wrong file causes only a warning, because the
/// search can replace it.
fn magics() -> Option<magic::MagicTables> {
    // The whole folder: a single missing file would make Cargo run this program every time.
    println!("cargo::rerun-if-changed=assets");
    let text = match std::fs::read_to_string(MAGICS) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        result => result.map_err(|error| error.to_string()),
    };
    text.and_then(|text| magic::from_text(&text).map_err(|error| error.to_string()))
        .inspect_err(|error| println!("cargo::warning={MAGICS} is not used, magics are searched instead: {error}"))
        .ok()
}

/// Reads the network to embed. A relative path starts at the package's root, where Cargo runs this program.
fn network() -> Result<Asset, String> {
    let chosen = std::env::var_os("EVALFILE").filter(|path| !path.is_empty());
    let path = chosen.as_deref().map_or(Path::new(DEFAULT_NETWORK), Path::new);
    let refuse = |error: &dyn Display| {
        let path = std::path::absolute(path).unwrap_or(path.into());
        format!("cannot embed the network {}: {error}", path.display())
    };
    let bytes = read_file(path).map_err(|error| refuse(&error))?;
    // Only once it is known to be a file: Cargo would search a folder for changes.
    println!("cargo::rerun-if-changed={}", path.display());
    Asset::from_bytes(&bytes).map_err(|error| refuse(&error))
}

/// Returns the packing of the target's vectors, chosen by the same target features as in `src/simd`. The engine does
/// not compile if the two differ.
fn packing() -> Packing {
    let set_by_cargo = |name| std::env::var(name).unwrap_or_default();
    let features = set_by_cargo("CARGO_CFG_TARGET_FEATURE");
    let has =
        |name| set_by_cargo("CARGO_CFG_TARGET_ARCH") == "x86_64" && features.split(',').any(|feature| feature == name);
    let widest = [("avx512bw", 64), ("avx2", 32)].into_iter().find(|&(feature, _)| has(feature));
    Packing { vector: widest.map_or(Packing::PLAIN.vector, |(_, vector)| vector) }
}

/// Runs one stage and prints its time, which `cargo build -vv` shows.
fn timed<T>(name: &str, stage: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = stage();
    println!("{name}: {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}
