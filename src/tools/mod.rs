//! Commands beside playing: perft, bench, eval, tables, net.

pub mod bench;
pub mod eval;
pub mod net;
pub mod perft;
pub mod tables;
