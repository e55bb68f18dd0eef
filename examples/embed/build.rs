//! Writes the tables that the program embeds.

use kiln_gen::{blob, geometry, magic};

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let tables = magic::search(1);
    blob::write(out.join("sliders.bin"), &tables.sliders)?;
    blob::write_list(out.join("slider_attacks.bin"), &tables.attacks)?;
    blob::write(out.join("leapers.bin"), &geometry::leapers())?;
    blob::write(out.join("lines.bin"), &geometry::lines())
}
