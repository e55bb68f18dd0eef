//! Writes the tables that the program embeds.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    kiln_gen::blob::write_attacks(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"), 1)
}
