//! Kiln, a chess engine whose tables are fired at build time.
//!
//! The rooms of the house, each of which uses only those before it: [`types`], [`tables`], [`simd`], [`board`], [`data`], [`nnue`],
//! [`search`], [`tools`], [`uci`].

pub mod board;
pub mod data;
pub mod nnue;
pub mod search;
pub mod simd;
pub mod tables;
pub mod tools;
pub mod types;
pub mod uci;
