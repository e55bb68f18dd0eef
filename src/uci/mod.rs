//! The Universal Chess Interface: commands, options, the loop that answers while it searches, and the lines it prints.

mod command;
mod engine;
mod options;
mod output;
mod strength;

pub use command::{Command, Go, ParseError, SetPosition, parse};
pub use engine::Engine;
