//! The lines that the engine sends, and the debug log.

use crate::board::Position;
use crate::nnue::Network;
use crate::search::{Report, Sink};
use crate::tools::paint;
use crate::types::{Bound, Move, Score, WinModel};
use std::fmt::{self, Arguments, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The stream to the GUI, and the debug log if there is one. Clones share both.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Streams>>);

struct Streams {
    out: Box<dyn Write + Send>,
    /// The first error of `out`.
    error: Option<io::Error>,
    log: Option<File>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Output {
    /// Creates an output without a log.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Streams { out: Box::new(out), error: None, log: None })))
    }

    /// Writes a line and flushes it. Errors end nothing: if the GUI is gone, the end of input ends the program.
    pub fn send(&self, text: Arguments) {
        self.send_after(|| (), text);
    }

    /// Calls `before`, then writes a line, with no other line in between.
    pub fn send_after(&self, before: impl FnOnce(), text: Arguments) {
        let mut streams = self.lock();
        before();
        streams.write(text);
    }

    /// Returns the first error since the last call, unless it is that nobody reads.
    pub fn take_error(&self) -> Option<io::Error> {
        self.lock().error.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// Waits until the line that another thread is writing is complete.
    pub fn wait(&self) {
        drop(self.lock());
    }

    /// Writes a line of input to the log.
    pub fn log_input(&self, line: &str) {
        self.lock().log(">>", format_args!("{line}"));
    }

    /// Sets or closes the log, to which all later input and output is appended.
    pub fn set_log(&self, file: Option<File>) {
        self.lock().log = file;
    }

    /// Locks the streams, which are valid even after a panic while they were locked.
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn write(&mut self, text: Arguments) {
        if let Err(error) = writeln!(self.out, "{text}").and_then(|()| self.out.flush()) {
            self.error.get_or_insert(error);
        }
        self.log("<<", text);
    }

    /// Writes a log entry. Closes the log if it cannot be written, for instance because the disk is full.
    fn log(&mut self, direction: &str, text: Arguments) {
        let Some(file) = &mut self.log else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, millis) = (now.as_secs() % 86_400, now.subsec_millis());
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let entry = format!("{hours:02}:{minutes:02}:{seconds:02}.{millis:03} {direction} {text}\n");
        // Colours are for terminals.
        let entry = paint::strip_colors(&entry);
        if let Err(error) = file.write_all(entry.as_bytes()) {
            self.log = None;
            self.write(format_args!("info string the debug log is closed: it cannot be written: {error}"));
        }
    }
}

/// Sends a line to an [`Output`]; arguments as for `println!`.
macro_rules! send {
    ($output:expr, $($argument:tt)*) => { $output.send(format_args!($($argument)*)) };
}
pub(super) use send;

/// How `info` lines are written.
#[derive(Clone, Debug)]
pub struct InfoFormat {
    /// Castling is written as king takes rook.
    pub chess960: bool,
    /// The number of principal variations to send.
    pub multi_pv: usize,
    /// The model for WDL in thousandths, and the material at the root; `None` if WDL is not sent.
    pub wdl: Option<(WinModel, u32)>,
}

impl InfoFormat {
    /// Returns the value of the field `wdl` for searches of a position.
    pub fn wdl(position: &Position, network: &Network) -> (WinModel, u32) {
        (network.win_model(), position.material())
    }

    /// Returns the `info` line of a report.
    fn line(&self, report: &Report) -> String {
        let Report { depth, selective_depth, multipv, score, nodes, elapsed, hashfull, tablebase_hits, pv, .. } =
            *report;
        let mut text = format!("info depth {depth} seldepth {selective_depth} multipv {multipv} score {score}");
        text += match report.bound {
            Bound::Exact => "",
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
        };
        // Writing to a string never fails.
        if let Some((model, material)) = self.wdl {
            let [win, draw, loss] = model.wdl(score, material);
            let _ = write!(text, " wdl {win} {draw} {loss}");
        }
        let nps = (nodes as f64 / elapsed.as_secs_f64().max(1e-6)) as u64;
        let time = elapsed.as_millis();
        let _ = write!(text, " nodes {nodes} nps {nps} hashfull {hashfull} tbhits {tablebase_hits} time {time}");
        if !pv.is_empty() {
            text += " pv";
            for mv in pv {
                text.push(' ');
                text += &mv.uci(self.chess960);
            }
        }
        text
    }
}

/// Sends reports as `info` lines, and keeps the last of each principal variation.
#[derive(Debug)]
pub struct InfoPrinter<W> {
    output: Output,
    format: InfoFormat,
    must_wait: W,
    lines: Vec<Line>,
    is_final: bool,
}

/// The last report of a principal variation.
#[derive(Clone, Debug)]
pub struct Line {
    /// The report; its principal variation is empty.
    report: Report<'static>,
    pv: Vec<Move>,
}

impl Line {
    /// Returns the score for the side to move.
    pub fn score(&self) -> Score {
        self.report.score
    }

    /// Returns the principal variation.
    pub fn pv(&self) -> &[Move] {
        &self.pv
    }
}

impl<W: Fn() -> bool> InfoPrinter<W> {
    /// Creates a printer without lines. `must_wait` returns whether the move must still wait for `ponderhit` or `stop`.
    pub fn new(output: Output, format: InfoFormat, must_wait: W) -> Self {
        Self { output, format, must_wait, lines: Vec::new(), is_final: true }
    }

    /// Returns the last line of each principal variation that was searched, the best first. After the end of a search
    /// each begins with another move.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Moves a line to the front, before the better ones.
    pub fn put_first(&mut self, index: usize) {
        self.lines[..=index].rotate_right(1);
        self.is_final &= index == 0;
    }

    /// Sends the last lines again, with the latest counts, if their order has changed or if the last of them may have
    /// been sent before `ponderhit` or `stop`: some GUIs read only what follows.
    pub fn finish(&self) {
        if self.is_final {
            return;
        }
        let Some(latest) = self.lines.iter().map(|line| &line.report).max_by_key(|report| report.nodes) else { return };
        let &Report { nodes, elapsed, hashfull, tablebase_hits, .. } = latest;
        for (index, Line { report, pv }) in self.lines.iter().take(self.format.multi_pv).enumerate() {
            let multipv = index + 1;
            let report = Report { multipv, nodes, elapsed, hashfull, tablebase_hits, pv, ..report.clone() };
            send!(self.output, "{}", self.format.line(&report));
        }
    }
}

impl<W: Fn() -> bool> Sink for InfoPrinter<W> {
    fn report(&mut self, report: &Report) {
        self.is_final = !(self.must_wait)();
        if report.multipv <= self.format.multi_pv {
            send!(self.output, "{}", self.format.line(report));
        }
        let line = Line { report: Report { pv: &[], ..report.clone() }, pv: report.pv.to_vec() };
        match self.lines.get_mut(report.multipv - 1) {
            Some(last) => *last = line,
            None => self.lines.push(line),
        }
    }

    fn current_move(&mut self, depth: u32, mv: Move, number: usize) {
        let mv = mv.uci(self.format.chess960);
        send!(self.output, "info depth {depth} currmove {mv} currmovenumber {number}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MoveKind, Square};
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn info_lines() {
        let format = InfoFormat { chess960: false, multi_pv: 1, wdl: None };
        let line =
            [Move::new(Square::E1, Square::H1, MoveKind::Castle), Move::new(Square::A7, Square::A6, MoveKind::Quiet)];
        let report = Report {
            depth: 7,
            selective_depth: 12,
            multipv: 2,
            score: Score::centipawns(-34),
            bound: Bound::Exact,
            nodes: 5000,
            elapsed: Duration::from_millis(50),
            hashfull: 3,
            tablebase_hits: 9,
            pv: &line,
        };
        let counts = "nodes 5000 nps 100000 hashfull 3 tbhits 9 time 50";
        let expected = format!("info depth 7 seldepth 12 multipv 2 score cp -34 {counts} pv e1g1 a7a6");
        assert_eq!(format.line(&report), expected);
        assert!(InfoFormat { chess960: true, ..format.clone() }.line(&report).ends_with(" pv e1h1 a7a6"));
        let mated = Report { bound: Bound::Upper, score: Score::mated_in(4), pv: &[], ..report };
        let format = InfoFormat { wdl: Some((WinModel::DEFAULT, 78)), ..format };
        let expected = format!("info depth 7 seldepth 12 multipv 2 score mate -2 upperbound wdl 0 0 1000 {counts}");
        assert_eq!(format.line(&mated), expected);
        assert!(format.line(&Report { bound: Bound::Lower, ..mated }).contains("score mate -2 lowerbound wdl"));
    }

    #[test]
    fn the_last_lines_are_kept_and_sent_again() {
        let must_wait = Cell::new(false);
        let moves = [Square::A2, Square::B2, Square::C2].map(|to| Move::new(Square::A1, to, MoveKind::Quiet));
        let sent = Arc::new(Mutex::new(Vec::new()));
        let format = InfoFormat { chess960: false, multi_pv: 2, wdl: None };
        let new_printer =
            || InfoPrinter::new(Output::new(Shared(Arc::clone(&sent))), format.clone(), || must_wait.get());
        let mut printer = new_printer();
        let report = |printer: &mut InfoPrinter<_>, nodes, (depth, multipv, mv, score)| {
            printer.report(&Report {
                depth,
                selective_depth: 1,
                multipv,
                score: Score::centipawns(score),
                bound: Bound::Exact,
                nodes,
                elapsed: Duration::from_millis(nodes),
                hashfull: 0,
                tablebase_hits: 0,
                pv: &moves[mv..=mv],
            });
        };
        let reports = [(1, 1, 0, 9), (1, 2, 1, 8), (1, 3, 2, 7), (2, 1, 1, 6), (2, 2, 2, 5), (2, 3, 0, 4)];
        for (nodes, fields) in (1..).zip(reports) {
            report(&mut printer, nodes, fields);
        }
        let found: Vec<_> =
            printer.lines().iter().map(|line| (line.pv().first().copied(), line.score().value())).collect();
        assert_eq!(found, [(Some(moves[1]), 6), (Some(moves[2]), 5), (Some(moves[0]), 4)]);
        let sent_at_the_end = |printer: &InfoPrinter<_>| {
            sent.lock().unwrap().clear();
            printer.finish();
            String::from_utf8(sent.lock().unwrap().clone()).unwrap()
        };
        assert_eq!(sent_at_the_end(&printer), "");
        printer.put_first(0);
        assert_eq!(sent_at_the_end(&printer), "");
        printer.put_first(2);
        let sent = sent_at_the_end(&printer);
        let counts = "nodes 6 nps 1000 hashfull 0 tbhits 0 time 6";
        let line = |multipv, score, mv| {
            format!("info depth 2 seldepth 1 multipv {multipv} score cp {score} {counts} pv {mv}\n")
        };
        assert_eq!(sent, line(1, 4, "a1a2") + &line(2, 6, "a1b2"));
        // `ponderhit` comes after a report, and before another.
        let mut printer = new_printer();
        must_wait.set(true);
        report(&mut printer, 6, (2, 1, 1, 6));
        must_wait.set(false);
        assert_eq!(sent_at_the_end(&printer), line(1, 6, "a1b2"));
        report(&mut printer, 6, (2, 1, 1, 6));
        assert_eq!(sent_at_the_end(&printer), "");
    }

    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
