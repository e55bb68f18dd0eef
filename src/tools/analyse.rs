//! `kiln analyse`: analysis of a position, shown in a terminal.

use super::interrupt::stop_flag;
use super::paint::{self, Paint, piece_cell};
use super::progress::short;
use crate::board::{GameHistory, Position};
use crate::nnue::Network;
use crate::search::{Limits, Report, Session, Signals, Sink};
use crate::types::{Bound, File, Move, Rank, Score, Square, WinModel};
use console::{Term, measure_text_width, truncate_str};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// The least time between two redraws; terminals flicker otherwise.
const REFRESH_INTERVAL: Duration = Duration::from_millis(50);
/// The time between two looks whether Ctrl-C was pressed.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// The arguments of `kiln analyse`.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The position to analyse.
    pub position: Position,
    /// The positions of the game before it.
    pub history: GameHistory,
    /// When to stop; without a limit only on Ctrl-C.
    pub limits: Limits,
    /// The number of principal variations, at least 1.
    pub multi_pv: usize,
    /// Megabytes of the transposition table, at least 1.
    pub megabytes: usize,
    /// The number of threads, at least 1.
    pub threads: usize,
}

/// Draws the board, searches, and prints the result. In a terminal the lines are redrawn in place; elsewhere they are
/// printed one after another. Ctrl-C ends the search, and a second one the program.
///
/// # Errors
/// If the system refuses the memory of the transposition table, or the output cannot be written.
pub fn analyse(analysis: &Analysis, network: &Network) -> io::Result<()> {
    let Analysis { position, history, limits, multi_pv, megabytes, threads } = analysis;
    let term = Term::stdout();
    let paint = Paint::of(&term);
    write!(&term, "{}", board(position, paint))?;
    if position.count_moves() == 0 {
        let winner = if position.in_check() { Some(!position.side_to_move()) } else { None };
        return writeln!(
            &term,
            "{}",
            winner.map_or("Stalemate.".into(), |winner| format!("Checkmate: {winner:?} has won."))
        );
    }
    let mut session = Session::new(network, *megabytes, *threads).map_err(io::Error::other)?;
    if limits.movetime.is_some() {
        // So that the time is not spent on the first access to each page of the table.
        session.new_game();
    }
    let search = session.position(position).history(history).lines(*multi_pv).limits(limits);
    let signals = search.signals();
    let stop = stop_flag();
    // The thread ends with the program.
    thread::spawn(move || {
        while !stop.load(Relaxed) {
            thread::sleep(STOP_INTERVAL);
        }
        signals.stop.store(true, Relaxed);
    });
    if !limits.is_bounded() {
        writeln!(&term, "Ctrl-C ends the analysis.")?;
    }
    let mut display = Display::new(term, paint, position, network.win_model(), *multi_pv, search.signals());
    let result = search.run_with(&mut display);
    display.finish(result.best(), result.nodes)
}

/// A principal variation as last reported.
struct Line {
    depth: u32,
    score: Score,
    moves: Vec<Move>,
}

/// The picture of a running search.
struct Display<'a> {
    term: Term,
    paint: Paint,
    position: &'a Position,
    win_model: WinModel,
    /// The principal variations, best first.
    lines: Vec<Option<Line>>,
    /// The row above the lines.
    status: String,
    start: Instant,
    last_drawn: Option<Instant>,
    /// The number of rows that the next redraw overwrites.
    rows: usize,
    /// The first error of the output, which ends the search.
    error: Option<io::Error>,
    signals: Arc<Signals>,
}

impl<'a> Display<'a> {
    fn new(
        term: Term,
        paint: Paint,
        position: &'a Position,
        win_model: WinModel,
        multi_pv: usize,
        signals: Arc<Signals>,
    ) -> Self {
        let lines = std::iter::repeat_with(|| None).take(multi_pv).collect();
        Self {
            term,
            paint,
            position,
            win_model,
            lines,
            status: String::new(),
            start: Instant::now(),
            last_drawn: None,
            rows: 0,
            error: None,
            signals,
        }
    }

    /// Returns the row of a line: its number if there are several, score, WDL, moves.
    fn row(&self, number: usize, line: &Line) -> String {
        let number = if self.lines.len() > 1 { format!("{number:>3}. ") } else { String::new() };
        format!("{number}{}  {}", self.score(line.score, 7), self.position.san_line(&line.moves))
    }

    /// Returns score and WDL from White's point of view, the score with at least `width` characters.
    fn score(&self, score: Score, width: usize) -> String {
        let white = self.position.side_to_move().white_pov(score);
        let [win, draw, loss] = percents(self.win_model.wdl(white, self.position.material()));
        let pawns = self.paint.bold(&format!("{:>width$}", pawns(white)));
        format!("{pawns}  White {win:>3} %, draw {draw:>3} %, Black {loss:>3} %")
    }

    fn draw(&mut self, is_last: bool) -> io::Result<()> {
        let (height, width) = self.term.size();
        let columns = usize::from(width).max(20);
        let lines = self.lines.iter().enumerate().filter_map(|(index, line)| Some((index + 1, line.as_ref()?)));
        let mut rows = vec![self.paint.dim(&self.status)];
        rows.extend(lines.map(|(number, line)| self.row(number, line)));
        // A row that wraps would occupy two rows, and the next redraw would overwrite only one.
        let mut rows: Vec<_> = rows.iter().map(|row| truncate_str(row, columns - 1, "…")).collect();
        debug_assert!(rows.iter().all(|row| measure_text_width(row) < columns));
        if !is_last {
            // The cursor cannot go back to rows that have left the screen.
            rows.truncate(usize::from(height).max(2) - 1);
        }
        self.term.clear_last_lines(self.rows)?;
        self.term.write_str(&(rows.join("\n") + "\n"))?;
        self.rows = rows.len();
        self.last_drawn = Some(Instant::now());
        self.term.flush()
    }

    /// Draws a last time and prints the result.
    fn finish(mut self, best: Option<Move>, nodes: u64) -> io::Result<()> {
        if self.term.is_term() {
            self.draw(true)?;
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let best = best.map_or("none".into(), |mv| {
            let position = self.position;
            format!("{} ({})", self.paint.bold(&position.san(mv)), mv.uci(position.is_chess960()))
        });
        let score = self.lines[0]
            .as_ref()
            .map_or(String::new(), |line| format!(" {}, depth {},", self.score(line.score, 0), line.depth));
        writeln!(self.term, "Best move: {best};{score} {} nodes in {seconds:.1} s", short(nodes as f64))
    }
}

impl Sink for Display<'_> {
    fn report(&mut self, report: &Report) {
        // An exact score follows soon after a bound.
        if report.bound != Bound::Exact || report.multipv > self.lines.len() {
            return;
        }
        let &Report { depth, selective_depth, score, nodes, elapsed, hashfull, .. } = report;
        let speed = nodes as f64 / elapsed.as_secs_f64().max(1e-6);
        let seconds = elapsed.as_secs_f64();
        self.status = format!(
            "depth {depth}/{selective_depth}, {seconds:.1} s, {} nodes, {} per second, hash {} % full",
            short(nodes as f64),
            short(speed),
            hashfull / 10
        );
        let line = Line { depth, score, moves: report.pv.to_vec() };
        let drawn = if self.term.is_term() {
            self.lines[report.multipv - 1] = Some(line);
            if self.last_drawn.is_none_or(|last| last.elapsed() >= REFRESH_INTERVAL) {
                self.draw(false)
            } else {
                Ok(())
            }
        } else {
            let row = format!("depth {depth:>2}, {seconds:>6.1} s  {}", self.row(report.multipv, &line));
            self.lines[report.multipv - 1] = Some(line);
            writeln!(self.term, "{row}")
        };
        if let Err(error) = drawn {
            // Nobody reads on, as after `kiln analyse | head`.
            self.signals.stop.store(true, Relaxed);
            self.error.get_or_insert(error);
        }
    }
}

/// Formats a score in pawns, or the number of moves to mate.
fn pawns(score: Score) -> String {
    match score.to_string().strip_prefix("mate ") {
        Some(moves) => format!("#{moves}"),
        None => format!("{:+.2}", f64::from(score.value()) / 100.0),
    }
}

/// Rounds thousandths that add up to 1000 to percentages that add up to 100.
fn percents([win, draw, _]: [u32; 3]) -> [u32; 3] {
    let [win, not_lost] = [win, win + draw].map(|thousandths| (thousandths + 5) / 10);
    [win, not_lost - win, 100 - not_lost]
}

/// Draws the board from White's side, with coordinates, FEN and side to move.
fn board(position: &Position, paint: Paint) -> String {
    let mut text = match paint {
        Paint::Plain => plain_board(position),
        Paint::Colored => paint::board(3, |square| piece_cell(position.piece_on(square))),
    };
    let _ = writeln!(text, "\n{}", position.fen(position.is_chess960()));
    let _ = writeln!(text, "{:?} to move, scores from White's point of view", position.side_to_move());
    text
}

fn plain_board(position: &Position) -> String {
    let mut text = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        let _ = write!(text, "{} ", rank.index() + 1);
        for file in File::ALL {
            let piece = position.piece_on(Square::new(file, rank)).map_or('.', |piece| piece.letter());
            let _ = write!(text, " {piece}");
        }
        text.push('\n');
    }
    text + "   a b c d e f g h\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_numbers() {
        assert_eq!([Score::centipawns(34), Score::centipawns(-210)].map(pawns), ["+0.34", "-2.10"]);
        assert_eq!([-Score::mated_in(5), Score::mated_in(4)].map(pawns), ["#3", "#-2"]);
        assert_eq!(percents([505, 0, 495]), [51, 0, 49]);
        assert_eq!([[35, 930, 35], [0, 0, 1000], [1000, 0, 0]].map(percents), [[4, 93, 3], [0, 0, 100], [100, 0, 0]]);
    }
}
