//! The trainer of Kiln's networks, on the CPU. `docs/training.md` describes how to use it.

pub mod batch;
pub mod checkpoint;
pub mod config;
pub mod data;
pub mod factoriser;
pub mod floats;
pub mod grow;
pub mod network;
pub mod pairs;
pub mod run;
pub mod synthetic;
