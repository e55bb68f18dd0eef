//! The Universal Chess Interface (UCI): commands, options, output, and the engine that executes commands while it
//! searches.

mod command;
mod engine;
mod options;
mod output;
mod strength;

pub use command::{Command, Go, ParseError, SetPosition, parse};
pub use engine::Engine;
