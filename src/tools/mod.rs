//! Commands beside playing: perft, bench, tables, net.

pub mod bench;
pub mod net;
pub mod perft;
pub mod tables;
