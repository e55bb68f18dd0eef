//! One binary for every x86-64 processor: chooses the engine built for the highest level that the processor supports.
//!
//! Each level is the whole engine, with tables and network arranged for its vectors. All are in the binary's read-only
//! data: the system loads only the pages of the level in use, once for all processes. `make universal` compiles this
//! file with baseline instructions and links it with the levels.

#[allow(dead_code)]
#[path = "../src/cpu.rs"]
mod cpu;

use std::process::ExitCode;

/// A level of the binary.
struct Level {
    required: &'static cpu::Words,
    start: unsafe extern "C" fn() -> u8,
}

macro_rules! levels {
    ($($required:ident $start:ident,)*) => {
        // SAFETY: each level defines both with these types (`level.rs`), under names of its own.
        unsafe extern "C" {
            $(
                static $required: cpu::Words;
                fn $start() -> u8;
            )*
        }

        /// Returns all levels, the best first.
        fn levels() -> impl IntoIterator<Item = Level> {
            // SAFETY: the levels define these words, and nothing writes them.
            unsafe { [$(Level { required: &$required, start: $start },)*] }
        }
    };
}

levels! {
    KILN_REQUIRED_v4_vbmi kiln_start_v4_vbmi,
    KILN_REQUIRED_v4 kiln_start_v4,
    KILN_REQUIRED_v3 kiln_start_v3,
    KILN_REQUIRED_v2 kiln_start_v2,
}

fn main() -> ExitCode {
    match levels().into_iter().find(|level| !cpu::lacks(level.required)) {
        // SAFETY: the processor and the system have all features that the level needs.
        Some(level) => ExitCode::from(unsafe { (level.start)() }),
        None => {
            eprintln!("kiln: this processor is too old; Kiln needs x86-64-v2, that is SSE4.2 and POPCNT");
            ExitCode::FAILURE
        }
    }
}
