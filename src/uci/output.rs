use crate::search::{Report, Sink};
use std::io::{self, Write};

/// Writes a line to standard output at once. If nobody reads any more there is nobody to tell, and the end of input will end the program.
pub(super) fn write_line(line: std::fmt::Arguments) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// As `println!`, without a panic when the reader is gone.
macro_rules! say {
    ($($argument:tt)*) => { $crate::uci::output::write_line(format_args!($($argument)*)) };
}
pub(super) use say;

/// Prints reports as `info` lines.
#[derive(Debug)]
pub struct Reporter {
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
}

impl Sink for Reporter {
    fn report(&mut self, report: &Report) {
        let Report { depth, selective_depth, score, nodes, elapsed, hashfull, line, .. } = report;
        let nps = (*nodes as f64 / elapsed.as_secs_f64().max(1e-6)) as u64;
        let moves: Vec<String> = line.iter().map(|mv| mv.uci(self.chess960)).collect();
        say!(
            "info depth {depth} seldepth {selective_depth} score {score} nodes {nodes} nps {nps} hashfull {hashfull} time {} pv {}",
            elapsed.as_millis(),
            moves.join(" ")
        );
    }
}
