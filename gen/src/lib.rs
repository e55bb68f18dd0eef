//! Computes the tables of a chess engine in the engine's build script and writes them as little-endian blobs, which the
//! engine embeds and reads in place.
//!
//! Squares are numbered a1 = 0, b1 = 1, …, h8 = 63 (`rank * 8 + file`); a bitboard is a `u64` whose bit *n* stands for
//! square *n*. Everything here is safe, scalar Rust that runs on any build host, and every generator returns the same
//! bytes on each of them.
//!
//! Without features the crate is `no_std` and holds only what the engine needs to read the blobs: their types in
//! [`layout`], and the macros [`embed!`], [`embed_list!`] and [`attacks!`].
//!
//! # Attack sets
//!
//! A build script writes the tables, and a macro defines functions that look attack sets up in them, such as
//! `attacks::rook_attacks(square, occupied)` ([`attacks!`]):
//!
#![cfg_attr(feature = "generate", doc = "```no_run")]
#![cfg_attr(not(feature = "generate"), doc = "```ignore")]
//! // build.rs
//! let out = std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR");
//! kiln_gen::blob::write_attacks(out, 1)?;
//! # std::io::Result::Ok(())
//! ```
//!
//! ```ignore
//! // main.rs
//! kiln_gen::attacks!(mod attacks);
//!
//! fn main() {
//!     println!("{:#x}", attacks::rook_attacks(28, 1 << 44 | 1 << 30));
//! }
//! ```
//!
//! # Tables of your own choice
//!
//! A build script searches the magics and writes them:
//!
#![cfg_attr(feature = "generate", doc = "```no_run")]
#![cfg_attr(not(feature = "generate"), doc = "```ignore")]
//! use kiln_gen::{blob, magic};
//!
//! let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
//! let tables = magic::search(1);
//! blob::write(out.join("sliders.bin"), &tables.sliders)?;
//! blob::write_list(out.join("slider_attacks.bin"), &tables.attacks)?;
//! # std::io::Result::Ok(())
//! ```
//!
//! The engine embeds them and looks up attack sets:
//!
//! ```ignore
//! use kiln_gen::layout::Sliders;
//! use kiln_gen::{embed, embed_list};
//!
//! static SLIDERS: &Sliders = embed!("sliders");
//! static SLIDER_ATTACKS: &[u64] = embed_list!("slider_attacks");
//!
//! fn rook_attacks(square: usize, occupied: u64) -> u64 {
//!     SLIDER_ATTACKS[SLIDERS.rook[square].index(occupied)]
//! }
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(feature = "generate", feature = "manifest", feature = "network"))]
extern crate alloc;
#[cfg(any(feature = "generate", feature = "network"))]
extern crate std;

mod attacks;
pub mod embed;
pub mod layout;

#[cfg(feature = "manifest")]
pub mod manifest;

#[cfg(feature = "generate")]
pub mod blob;
#[cfg(feature = "generate")]
pub mod cuckoo;
#[cfg(any(feature = "generate", feature = "network"))]
pub mod geometry;
#[cfg(feature = "generate")]
pub mod magic;
#[cfg(feature = "generate")]
pub mod reductions;
#[cfg(feature = "generate")]
pub mod zobrist;

#[cfg(feature = "network")]
pub mod network;

/// Returns `bytes` in lower-case hexadecimal, the form in which hashes are shown.
#[cfg(any(feature = "manifest", feature = "network"))]
pub fn hexadecimal(bytes: &[u8]) -> alloc::string::String {
    bytes.iter().map(|byte| alloc::format!("{byte:02x}")).collect()
}
