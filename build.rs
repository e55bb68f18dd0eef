//! The kiln: fires every table and the network into `OUT_DIR`, from where `src/tables` and `src/nnue` embed them.

use kiln_gen::blob::Firing;
use kiln_gen::network::Asset;
use kiln_gen::{cuckoo, geometry, magic, reductions, zobrist};
use std::error::Error;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The network that is embedded unless the environment variable `EVALFILE` names another.
const DEFAULT_NETWORK: &str = "assets/kiln.nnue.zst";
/// Random seeds; any number would do, a change changes the bench signature (keys) or nothing but the bytes (magics).
const MAGIC_SEED: u64 = 1;
const KEY_SEED: u64 = 2;
/// Late-move reductions start from Viridithas's .99 + ln(depth) * ln(number) / 2.6 plies, here in 1/1024 ply and in thousandths.
const REDUCTION_BASE: i16 = 1014;
const REDUCTION_DIVISOR: NonZeroU16 = NonZeroU16::new(2600).unwrap();

fn main() {
    if let Err(error) = fire() {
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn fire() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=EVALFILE");
    if std::env::var("CARGO_CFG_TARGET_ENDIAN")? != "little" {
        return Err("Kiln reads little-endian tables in place and cannot be built for a big-endian target".into());
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: this runs under Cargo")?);
    let mut firing = Firing::new(&out);

    let tables = timed("sliders", || magic::search(MAGIC_SEED));
    firing.value("sliders", &tables.sliders)?;
    firing.list("slider_attacks", &tables.attacks)?;
    firing.value("leapers", &timed("leapers", geometry::leapers))?;
    firing.value("lines", &timed("lines", geometry::lines))?;
    firing.value("superpiece", &timed("superpiece", geometry::superpiece))?;
    let keys = timed("zobrist", || zobrist::zobrist(KEY_SEED));
    firing.value("zobrist", &keys)?;
    firing.value("cuckoo", &timed("cuckoo", || cuckoo::cuckoo(&keys))?)?;
    let reductions = timed("reductions", || reductions::reductions(REDUCTION_BASE, REDUCTION_DIVISOR));
    firing.value("reductions", &reductions)?;

    let asset = timed("network", network)?;
    let (element, bytes) = asset.arrange();
    firing.bytes("network", element, &bytes)?;
    std::fs::write(out.join("network_dimensions.rs"), asset.dimensions())?;

    timed("manifest", || firing.finish())?;
    Ok(())
}

fn network() -> Result<Asset, String> {
    let chosen = std::env::var_os("EVALFILE").filter(|path| !path.is_empty());
    let path = chosen.as_deref().map_or(Path::new(DEFAULT_NETWORK), Path::new);
    println!("cargo::rerun-if-changed={}", path.display());
    let refuse = |error: &dyn Error| format!("network {}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| refuse(&error))?;
    Asset::from_bytes(&bytes).map_err(|error| refuse(&error))
}

/// Runs one stage and prints how long it took, which `cargo build -vv` shows.
fn timed<T>(name: &str, stage: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = stage();
    println!("{name}: {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}
