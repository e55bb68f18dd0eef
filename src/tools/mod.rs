//! Commands beside playing: perft, bench, tables, net, datagen, data.

pub mod bench;
pub mod data;
pub mod datagen;
pub mod net;
pub mod perft;
pub mod tables;
