//! Commands beside playing: perft, bench, speedtest, eval, genfens, analyse, tables, net, datagen, data.

pub mod analyse;
pub mod bench;
pub mod data;
pub mod datagen;
pub mod eval;
pub mod genfens;
pub mod net;
mod opening;
pub mod perft;
mod session;
pub mod speedtest;
pub mod tables;
