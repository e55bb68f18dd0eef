//! The commands other than playing: perft, bench, speedtest, eval, genfens, analyse, tables, net, datagen, data,
//! version, and tune with the feature of that name; and what they share: interruption, progress, colours.

#[cfg(feature = "tools")]
mod adjudicator;
#[cfg(feature = "tools")]
pub mod analyse;
pub mod bench;
#[cfg(feature = "tools")]
pub mod data;
#[cfg(feature = "tools")]
pub mod datagen;
pub mod eval;
#[cfg(feature = "tools")]
pub mod genfens;
#[cfg(feature = "tools")]
pub mod interrupt;
#[cfg(feature = "tools")]
pub mod net;
#[cfg(feature = "tools")]
mod opening;
pub mod paint;
pub mod perft;
#[cfg(feature = "tools")]
pub mod progress;
#[cfg(feature = "tools")]
pub mod speedtest;
#[cfg(feature = "tools")]
pub mod tables;
#[cfg(all(feature = "tools", feature = "tune"))]
pub mod tune;
pub mod version;
#[cfg(feature = "tools")]
pub mod yardstick;

/// The most threads that arguments allow. The option `Threads` allows four for each processor if that is more.
pub const MAX_THREADS: usize = 1024;
/// The most principal variations that options and arguments allow. No legal position is known to have more than 218
/// moves.
pub const MAX_MULTI_PV: usize = 256;
