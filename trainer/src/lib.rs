//! Trains Kiln's networks on the CPU. `docs/training.md` tells how to use it.

pub mod checkpoint;
pub mod config;
pub mod data;
pub mod network;
pub mod run;
pub mod step;
pub mod synthetic;
