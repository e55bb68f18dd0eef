//! Commands beside playing: perft, bench, tables.

pub mod bench;
pub mod perft;
pub mod tables;
