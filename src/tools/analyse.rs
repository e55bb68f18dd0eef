//! Analysis for a person at a terminal.

use super::session::Session;
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::search::{Bound, Limits, Report, Sink};
use crate::types::{Color, File, Move, Rank, Score, Square, WinModel};
use console::{Term, measure_text_width, truncate_str};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The picture changes no more often: more cannot be read, and terminals flicker.
const REFRESH: Duration = Duration::from_millis(50);

/// What is to be analysed, and how.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The position.
    pub position: Position,
    /// The positions of the game before it.
    pub history: GameHistory,
    /// When to stop; with no limit on Ctrl-C.
    pub limits: Limits,
    /// How many of the best lines are shown, at least 1.
    pub lines: usize,
    /// The hash in megabytes, at least 1.
    pub megabytes: usize,
    /// How many threads, at least 1.
    pub threads: usize,
}

/// Draws the board and searches; the lines change in place in a terminal, and are printed one after another elsewhere. Ctrl-C ends the search, and the result is printed.
///
/// # Errors
/// If there is no memory for the hash, or nobody reads the output.
pub fn analyse(analysis: &Analysis, network: &Network) -> io::Result<()> {
    let Analysis { position, history, limits, lines, megabytes, threads } = analysis;
    let term = Term::stdout();
    write!(&term, "{}", board(position))?;
    if position.count_moves() == 0 {
        let winner = if position.in_check() { Some(!position.side_to_move()) } else { None };
        return writeln!(
            &term,
            "{}",
            winner.map_or("Stalemate.".into(), |winner| format!("Checkmate: {winner:?} has won."))
        );
    }
    let mut session = Session::new(network, *megabytes, *threads).map_err(io::Error::other)?;
    let signals = session.signals();
    // Without the handler Ctrl-C ends the program at once, with what has been shown so far.
    let _ = ctrlc::set_handler(move || signals.stop.store(true, Relaxed));
    if !limits.is_bounded() {
        writeln!(&term, "Ctrl-C ends the analysis.")?;
    }
    let mut display = Display::new(term, position, network.win_model(), *lines);
    let outcome = session.search(position, history, *lines, limits, &mut display);
    display.finish(outcome.best, outcome.nodes)
}

/// One of the best lines, as last reported.
struct Found {
    depth: u32,
    score: Score,
    moves: Vec<Move>,
}

/// What a person sees of a search.
struct Display<'a> {
    term: Term,
    position: &'a Position,
    win_model: WinModel,
    /// By rank.
    lines: Vec<Option<Found>>,
    /// The line above the moves.
    state: String,
    start: Instant,
    last_drawn: Option<Instant>,
    /// How many rows of the terminal are to be overwritten.
    rows: usize,
    /// Nobody reads any more.
    broken: Option<io::Error>,
}

impl<'a> Display<'a> {
    fn new(term: Term, position: &'a Position, win_model: WinModel, lines: usize) -> Self {
        let lines = std::iter::repeat_with(|| None).take(lines).collect();
        Self {
            term,
            position,
            win_model,
            lines,
            state: String::new(),
            start: Instant::now(),
            last_drawn: None,
            rows: 0,
            broken: None,
        }
    }

    /// A line of the picture: the number among several, the score, the chances, the moves.
    fn describe(&self, rank: usize, found: &Found) -> String {
        let number = if self.lines.len() > 1 { format!("{rank:>3}. ") } else { String::new() };
        format!("{number}{}  {}", self.verdict(found.score), self.position.san_line(&found.moves))
    }

    /// Score and chances as White sees them.
    fn verdict(&self, score: Score) -> String {
        let white = if self.position.side_to_move() == Color::White { score } else { -score };
        let [win, draw, loss] = percents(self.win_model.wdl(white, self.position.material()));
        format!("{:>7}  White {win:>3} %, draw {draw:>3} %, Black {loss:>3} %", pawns(white))
    }

    fn draw(&mut self) -> io::Result<()> {
        let columns = usize::from(self.term.size().1).max(20);
        let found = self.lines.iter().enumerate().filter_map(|(index, found)| Some((index + 1, found.as_ref()?)));
        let mut rows = vec![self.state.clone()];
        rows.extend(found.map(|(rank, found)| self.describe(rank, found)));
        // A row that wraps would be two when it is overwritten.
        let rows: Vec<_> = rows.iter().map(|row| truncate_str(row, columns - 1, "…")).collect();
        debug_assert!(rows.iter().all(|row| measure_text_width(row) < columns));
        self.term.clear_last_lines(self.rows)?;
        self.term.write_str(&(rows.join("\n") + "\n"))?;
        self.rows = rows.len();
        self.last_drawn = Some(Instant::now());
        self.term.flush()
    }

    /// Shows the last picture, and below it the result.
    fn finish(mut self, best: Option<Move>, nodes: u64) -> io::Result<()> {
        if self.term.is_term() {
            self.draw()?;
        }
        if let Some(error) = self.broken {
            return Err(error);
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let best = best.map_or("none".into(), |mv| format!("{} ({})", self.position.san(mv), mv.uci(false)));
        let verdict = self.lines[0].as_ref().map_or(String::new(), |found| {
            format!(" {}, depth {},", self.verdict(found.score).trim_start(), found.depth)
        });
        writeln!(self.term, "Best move: {best};{verdict} {} nodes in {seconds:.1} s", short(nodes as f64))
    }
}

impl Sink for Display<'_> {
    fn report(&mut self, report: &Report) {
        // Bounds are for machines: what counts is soon known exactly.
        if report.bound != Bound::Exact || report.multipv > self.lines.len() {
            return;
        }
        let &Report { depth, selective_depth, score, nodes, elapsed, hashfull, .. } = report;
        let speed = nodes as f64 / elapsed.as_secs_f64().max(1e-6);
        let seconds = elapsed.as_secs_f64();
        self.state = format!(
            "depth {depth}/{selective_depth}, {seconds:.1} s, {} nodes, {} a second, hash {} % full",
            short(nodes as f64),
            short(speed),
            hashfull / 10
        );
        let found = Found { depth, score, moves: report.pv.to_vec() };
        let drawn = if self.term.is_term() {
            self.lines[report.multipv - 1] = Some(found);
            if self.last_drawn.is_none_or(|last| last.elapsed() >= REFRESH) { self.draw() } else { Ok(()) }
        } else {
            let row = format!("depth {depth:>2}, {seconds:>6.1} s  {}", self.describe(report.multipv, &found));
            self.lines[report.multipv - 1] = Some(found);
            writeln!(self.term, "{row}")
        };
        self.broken = drawn.err().or(self.broken.take());
    }
}

/// A score in pawns, or the number of moves to mate.
fn pawns(score: Score) -> String {
    match score.to_string().strip_prefix("mate ") {
        Some(moves) => format!("#{moves}"),
        None => format!("{:+.2}", f64::from(score.value()) / 100.0),
    }
}

/// Thousandths that sum up to 1000 as percents that sum up to 100.
fn percents([win, draw, _]: [u32; 3]) -> [u32; 3] {
    let [win, not_lost] = [win, win + draw].map(|thousandths| (thousandths + 5) / 10);
    [win, not_lost - win, 100 - not_lost]
}

/// A large number in three or four digits.
fn short(number: f64) -> String {
    match number {
        1e9.. => format!("{:.2} G", number / 1e9),
        1e6.. => format!("{:.2} M", number / 1e6),
        1e4.. => format!("{:.0} k", number / 1e3),
        _ => format!("{number:.0}"),
    }
}

/// The board with coordinates, White below, and who is to move.
fn board(position: &Position) -> String {
    let mut text = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        let _ = write!(text, "{} ", rank.index() + 1);
        for file in File::ALL {
            let piece = position.piece_on(Square::new(file, rank)).map_or('.', |piece| piece.letter());
            let _ = write!(text, " {piece}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "   a b c d e f g h\n\n{}", position.fen(false));
    let _ = writeln!(text, "{:?} to move, scores as White sees them", position.side_to_move());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!([Score::centipawns(34), Score::centipawns(-210)].map(pawns), ["+0.34", "-2.10"]);
        assert_eq!([-Score::mated_in(5), Score::mated_in(4)].map(pawns), ["#3", "#-2"]);
        assert_eq!(percents([505, 0, 495]), [51, 0, 49]);
        assert_eq!([[35, 930, 35], [0, 0, 1000], [1000, 0, 0]].map(percents), [[4, 93, 3], [0, 0, 100], [100, 0, 0]]);
        assert_eq!([7.0, 9999.0, 123_456.0, 1_234_567.0, 2.5e9].map(short), ["7", "9999", "123 k", "1.23 M", "2.50 G"]);
    }
}
