//! `kiln-gen` computes the tables of a chess engine at full speed in the engine's build script and writes them
//! as little-endian blobs, which the engine embeds and reads in place.
//!
//! Squares are numbered a1 = 0, b1 = 1, …, h8 = 63 (`rank * 8 + file`); a bitboard is a `u64` whose bit *n*
//! stands for square *n*. Everything here is plain, safe, scalar Rust, so that it runs on any build host, and every
//! generator gives the same bytes on each of them.
//!
//! Without features the crate is `no_std` and holds only what the reader needs: [`layout`], the types that it
//! shares with the writer, and [`embed!`] and [`embed_list!`].
#![no_std]
#![forbid(unsafe_code)]

#[cfg(any(feature = "generate", feature = "manifest", feature = "network"))]
extern crate alloc;
#[cfg(any(feature = "generate", feature = "network"))]
extern crate std;

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

/// Bytes in hexadecimal, as hashes are shown.
#[cfg(any(feature = "manifest", feature = "network"))]
pub fn hexadecimal(bytes: &[u8]) -> alloc::string::String {
    bytes.iter().map(|byte| alloc::format!("{byte:02x}")).collect()
}
