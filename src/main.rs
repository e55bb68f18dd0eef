//! The binary: UCI on standard input, or one command given as arguments.

mod cli;
#[cfg(target_arch = "x86_64")]
mod cpu;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cpu_at_start;
mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(target_arch = "x86_64")]
    if cpu::lacks(&cpu::REQUIRED) {
        // If the message cannot be written, the exit status still tells.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), cpu::MESSAGE.as_bytes());
        return ExitCode::FAILURE;
    }
    ExitCode::from(program::start())
}
