//! The commands other than playing: perft, bench, speedtest, eval, genfens, analyse, tables, net, datagen, data, version;
//! and what they share: interruption, progress, colours.

pub mod analyse;
pub mod bench;
pub mod data;
pub mod datagen;
pub mod eval;
pub mod genfens;
pub mod interrupt;
pub mod net;
mod opening;
pub mod paint;
pub mod perft;
pub mod progress;
pub mod speedtest;
pub mod tables;
pub mod version;
pub mod yardstick;

/// The most threads that options and arguments allow.
pub const MAX_THREADS: usize = 1024;
/// The most principal variations that options and arguments allow. No legal position is known to have more than 218
/// moves.
pub const MAX_MULTI_PV: usize = 256;
