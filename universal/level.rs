//! The binary's contents for one x86-64 level, called by `main.rs`.

#![cfg(target_arch = "x86_64")]

#[path = "../src/cli/mod.rs"]
mod cli;
#[allow(dead_code)]
#[path = "../src/cpu.rs"]
mod cpu;
#[path = "../src/program.rs"]
mod program;

use std::io::Write;

/// The features that this level needs, in the words of `cpu::lacks`.
// SAFETY: `make universal` gives the symbol another name in each level.
#[unsafe(no_mangle)]
pub static KILN_REQUIRED: cpu::Words = cpu::REQUIRED;

/// Runs the engine with the arguments of the process, and returns the exit status.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_start() -> u8 {
    let status = program::start();
    // Only the outer standard library flushes its output at the end.
    let _ = std::io::stdout().flush();
    status
}
