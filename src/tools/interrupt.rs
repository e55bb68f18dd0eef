//! Ctrl-C: the first one ends a long command in good order, the second one at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Returns a flag that Ctrl-C (SIGINT) or SIGTERM sets. Once it is set, another of them ends the program with the exit
/// status of a program that the signal ended: 130 for Ctrl-C.
///
/// SIGHUP is left alone, so that `nohup` works.
pub fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order, the first signal finds the flag not set. If the system refuses, a signal ends the program at
        // once, as without handlers.
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)));
    }
    stop
}
