use crate::board::Position;
use crate::nnue::Network;
use crate::search::{Bound, Report, Sink};
use crate::types::{Move, Score, WinModel};
use std::fmt::{self, Arguments, Write as _};
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where lines go, and perhaps a log of all that is said and heard. Clones write to the same places.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Places>>);

struct Places {
    out: Box<dyn Write + Send>,
    log: Option<File>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Output {
    /// An output without a log.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Places { out: Box::new(out), log: None })))
    }

    /// Writes a line at once. If nobody reads any more there is nobody to tell, and the end of input will end the program.
    pub fn line(&self, text: Arguments) {
        self.line_after(|| (), text);
    }

    /// Does something and writes a line, with no other line in between.
    pub fn line_after(&self, before: impl FnOnce(), text: Arguments) {
        let mut places = self.lock();
        before();
        places.write(text);
    }

    /// Waits until a line that is being written is out.
    pub fn wait(&self) {
        drop(self.lock());
    }

    /// Notes a line of input.
    pub fn heard(&self, line: &str) {
        self.lock().note(">>", format_args!("{line}"));
    }

    /// From now on all is added to this file; none for no log.
    pub fn set_log(&self, file: Option<File>) {
        self.lock().log = file;
    }

    /// What is behind the lock is sound at any time.
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    fn write(&mut self, text: Arguments) {
        let _ = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        self.note("<<", text);
    }

    /// A log that cannot be written, for want of space perhaps, is given up.
    fn note(&mut self, direction: &str, text: Arguments) {
        let Some(file) = &mut self.log else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, millis) = (now.as_secs() % 86_400, now.subsec_millis());
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let entry = format!("{hours:02}:{minutes:02}:{seconds:02}.{millis:03} {direction} {text}\n");
        if let Err(error) = file.write_all(entry.as_bytes()) {
            self.log = None;
            self.write(format_args!("info string the debug log is closed: it cannot be written: {error}"));
        }
    }
}

/// As `println!`, to an [`Output`].
macro_rules! say {
    ($output:expr, $($argument:tt)*) => { $output.line(format_args!($($argument)*)) };
}
pub(super) use say;

/// What is wanted of `info` lines.
#[derive(Clone, Debug)]
pub struct Style {
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// How many of the best lines are shown.
    pub lines: usize,
    /// Turns scores into chances, with the material at the root, if they are wanted.
    pub chances: Option<(WinModel, u32)>,
}

impl Style {
    /// The model for the chances in a position.
    pub fn chances(position: &Position, network: &Network) -> (WinModel, u32) {
        (network.win_model(), position.material())
    }

    /// The `info` line of a report.
    fn text(&self, report: &Report) -> String {
        let Report { depth, selective_depth, multipv, score, nodes, elapsed, hashfull, tablebase_hits, pv, .. } =
            *report;
        let mut text = format!("info depth {depth} seldepth {selective_depth} multipv {multipv} score {score}");
        text += match report.bound {
            Bound::Exact => "",
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
        };
        if let Some((model, material)) = self.chances {
            let [win, draw, loss] = model.wdl(score, material);
            // A string takes all that is written to it.
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

/// A move with the last that was heard of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The first move of the line.
    pub best: Move,
    /// The second.
    pub ponder: Option<Move>,
    /// The score of the line.
    pub score: Score,
    /// The depth in plies that the score is from.
    pub depth: u32,
    /// The `info` line that shows it as the best line.
    pub text: String,
}

/// Prints reports as `info` lines, and remembers the lines it was told.
#[derive(Debug)]
pub struct Reporter {
    output: Output,
    style: Style,
    candidates: Vec<Candidate>,
}

impl Reporter {
    /// One that has heard nothing.
    pub fn new(output: Output, style: Style) -> Self {
        Self { output, style, candidates: Vec::new() }
    }

    /// The moves of the lines that were heard of in the last iteration or the one before, each once.
    pub fn into_candidates(self) -> Vec<Candidate> {
        let mut candidates = self.candidates;
        let deepest = candidates.iter().map(|candidate| candidate.depth).max().unwrap_or(0);
        candidates.retain(|candidate| candidate.depth + 1 >= deepest);
        candidates
    }
}

impl Sink for Reporter {
    fn report(&mut self, report: &Report) {
        let &Report { depth, score, pv, .. } = report;
        if let (Bound::Exact, Some(&best)) = (report.bound, pv.first()) {
            self.candidates.retain(|candidate| candidate.best != best);
            let text = self.style.text(&Report { multipv: 1, ..report.clone() });
            self.candidates.push(Candidate { best, ponder: pv.get(1).copied(), score, depth, text });
        }
        if report.multipv <= self.style.lines {
            say!(self.output, "{}", self.style.text(report));
        }
    }

    fn current_move(&mut self, depth: u32, mv: Move, number: usize) {
        let mv = mv.uci(self.style.chess960);
        say!(self.output, "info depth {depth} currmove {mv} currmovenumber {number}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MoveKind, Square};
    use std::time::Duration;

    #[test]
    fn info_lines() {
        let style = Style { chess960: false, lines: 1, chances: None };
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
        assert_eq!(style.text(&report), expected);
        assert!(Style { chess960: true, ..style.clone() }.text(&report).ends_with(" pv e1h1 a7a6"));
        let mated = Report { bound: Bound::Upper, score: Score::mated_in(4), pv: &[], ..report };
        let style = Style { chances: Some((WinModel::DEFAULT, 78)), ..style };
        let expected = format!("info depth 7 seldepth 12 multipv 2 score mate -2 upperbound wdl 0 0 1000 {counts}");
        assert_eq!(style.text(&mated), expected);
        assert!(style.text(&Report { bound: Bound::Lower, ..mated }).contains("score mate -2 lowerbound wdl"));
    }

    #[test]
    fn candidates_are_the_last_word_on_each_move() {
        let moves = [Square::A2, Square::B2, Square::C2].map(|to| Move::new(Square::A1, to, MoveKind::Quiet));
        let mut reporter =
            Reporter::new(Output::new(std::io::sink()), Style { chess960: false, lines: 0, chances: None });
        let mut report = |depth, multipv, mv: usize, score, bound| {
            reporter.report(&Report {
                depth,
                selective_depth: 1,
                multipv,
                score: Score::centipawns(score),
                bound,
                nodes: 1,
                elapsed: Duration::ZERO,
                hashfull: 0,
                tablebase_hits: 0,
                pv: &moves[mv..=mv],
            });
        };
        // The third move falls behind after the first iteration, and only a bound is heard of the second in the last.
        for (depth, multipv, mv, score, bound) in [
            (1, 1, 2, 90, Bound::Exact),
            (2, 1, 0, 50, Bound::Exact),
            (2, 2, 1, 40, Bound::Exact),
            (3, 1, 0, 20, Bound::Exact),
            (3, 2, 1, 99, Bound::Lower),
        ] {
            report(depth, multipv, mv, score, bound);
        }
        let mut heard: Vec<_> =
            reporter.into_candidates().into_iter().map(|candidate| (candidate.best, candidate.score.value())).collect();
        heard.sort_by_key(|&(_, score)| score);
        assert_eq!(heard, [(moves[0], 20), (moves[1], 40)]);
    }
}
