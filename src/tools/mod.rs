//! Commands beside playing: perft, bench, eval, tables, net, datagen, data.

pub mod bench;
pub mod data;
pub mod datagen;
pub mod eval;
pub mod net;
pub mod perft;
pub mod tables;
