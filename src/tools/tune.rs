//! `kiln tune`: tunes the parameters of the search by SPSA in games of the engine against itself.
//!
//! The parameters are global, so two games with different ones cannot be played in one process at once. Therefore each
//! thread has a process of its own, which plays one pair of games after another. Results are applied in the order in
//! which they come back. The state of the run is a file in its folder, from which the same command goes on.

mod games;
mod player;
mod report;
mod spsa;

pub use games::{Pace, play as play_games};
pub use player::COMMAND as GAMES_COMMAND;
pub use spsa::Tunable;

use super::datagen::{create_folder, lock};
use super::opening::Book;
use super::progress::{ProgressDisplay, short};
use crate::data::replace;
use crate::nnue::Network;
use games::Request;
use player::Player;
use spsa::{Pair, Plan, Tuner};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two writes of the state.
const STATE_INTERVAL: Duration = Duration::from_secs(5);
/// The time between two writes of the list and the drawing.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);
/// The parameters that have no effect on one thread, without tablebases and without `movestogo`.
const WITHOUT_EFFECT: [&str; 5] = ["vote_", "tablebase_", "time_reserve_ms", "time_short_ms", "time_most_last_move"];
/// The parameters that have an effect only on a clock.
const ON_A_CLOCK: &str = "time_";

/// What to tune, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder for the state and the results.
    pub folder: PathBuf,
    /// The number of games; an odd one counts as the next even one.
    pub games: u64,
    /// How long the searches are.
    pub pace: Pace,
    /// The number of processes, each of which plays one game at a time.
    pub threads: usize,
    /// A file with a FEN or EPD in each line, from which games start.
    pub book: PathBuf,
    /// The parameters.
    pub parameters: Vec<Tunable>,
    /// The learning rate at the end.
    pub rate: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// The defaults of `kiln tune`; `folder`, `games` and `book` have none and must be set.
impl Default for Settings {
    fn default() -> Self {
        Self {
            folder: PathBuf::new(),
            games: 0,
            pace: Pace::Nodes(8000),
            threads: 1,
            book: PathBuf::new(),
            parameters: tunables(Pace::Nodes(8000)),
            rate: 0.002,
            seed: 1,
        }
    }
}

/// Returns all parameters that have an effect in games of this pace.
pub fn tunables(pace: Pace) -> Vec<Tunable> {
    let parameters = crate::search::parameters().into_iter();
    let has_effect = |name: &str| match pace {
        Pace::Nodes(_) if name.starts_with(ON_A_CLOCK) => false,
        _ => !WITHOUT_EFFECT.iter().any(|prefix| name.starts_with(prefix)),
    };
    let parameters = parameters.filter(|parameter| has_effect(parameter.name));
    let tunable = |parameter: crate::search::Parameter| {
        let (least, most) = parameter.range.into_inner();
        Tunable { name: parameter.name.into(), start: parameter.default, least, most }
    };
    parameters.map(tunable).collect()
}

/// Returns the parameters of a list of names, separated by commas, for games of this pace. A name may end in `*`, which
/// stands for any rest.
///
/// # Errors
/// If a name matches no parameter, or only such that have no effect in the games.
pub fn select(names: &str, pace: Pace) -> Result<Vec<Tunable>, String> {
    let matches = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    };
    let patterns: Vec<&str> = names.split(',').map(str::trim).collect();
    let mut selected = tunables(pace);
    for pattern in &patterns {
        if !selected.iter().any(|parameter| matches(pattern, &parameter.name)) {
            let exists = crate::search::parameters().iter().any(|parameter| matches(pattern, parameter.name));
            let what = match pace {
                _ if !exists => "matches no parameter; the command \"spsa\" lists them",
                Pace::Nodes(_) => "has no effect at a fixed number of nodes on one thread",
                Pace::Clock(..) => "has no effect on one thread without tablebases and \"movestogo\"",
            };
            return Err(format!("{pattern:?} {what}"));
        }
    }
    selected.retain(|parameter| patterns.iter().any(|pattern| matches(pattern, &parameter.name)));
    Ok(selected)
}

impl Settings {
    fn plan(&self, network: &Network, book: &Book) -> Plan {
        let book = book.describe(100, [0, 0]);
        Plan {
            pairs: self.games.div_ceil(2),
            nodes: self.pace.to_string(),
            rate: self.rate,
            seed: self.seed,
            book: book.file,
            book_sha256: book.sha256,
            network_sha256: network.sha256().into(),
            parameters: self.parameters.clone(),
        }
    }
}

/// Plays the games that are missing, and writes state, list and drawing. Passes lines about the progress to `print`; a
/// terminal shows a progress bar on standard error instead. When `stop` is set, the pairs that are being played are the
/// last.
///
/// # Errors
/// If the book cannot be used, a file cannot be written, the folder belongs to a run with other settings or another
/// process works in it, or a process that plays games fails. Also if games are missing because of `stop`.
pub fn tune(
    settings: &Settings,
    network: &Network,
    stop: &AtomicBool,
    mut print: impl FnMut(&str),
) -> Result<(), String> {
    let folder = &settings.folder;
    let book = Book::read(&settings.book)?;
    book.check()?;
    let _lock = create_folder(folder).and_then(|()| lock(folder, "kiln tune")).map_err(|error| error.to_string())?;
    let tuner = resume(folder, settings.plan(network, &book))?;
    let (total, before) = (2 * tuner.plan.pairs, 2 * tuner.played);
    if before > 0 {
        print(&format!("{before} of {total} games are played"));
    }
    let players = (0..settings.threads).map(|_| Player::start(&settings.parameters)).collect::<Result<Vec<_>, _>>()?;
    let run = Run { book: &book, pace: settings.pace, stop, progress: Mutex::new(Progress::new(tuner)) };
    let start = Instant::now();
    let played = run.play(players, folder, &mut print);
    let tuner = run.progress.into_inner().expect("no thread panics").tuner;
    // The results so far are worth keeping after an error too.
    let saved = save_state(folder, &tuner).and_then(|()| save_reports(folder, &tuner));
    played.and(saved)?;
    let games = 2 * tuner.played;
    if games < total {
        let what = format!("stopped after {games} of {total} games; the same command goes on");
        return Err(format!("{}: {what}", folder.display()));
    }
    let speed = (games - before) as f64 / start.elapsed().as_secs_f64();
    print(&format!("{games} games, {speed:.2} games/s; parameters.txt and paths.svg show the values"));
    Ok(())
}

/// Reads the state of a run, or starts one.
fn resume(folder: &Path, plan: Plan) -> Result<Tuner, String> {
    let path = folder.join("state.json");
    let refuse = |what: String| format!("{}: {what}", path.display());
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tuner::new(plan)),
        Err(error) => return Err(refuse(format!("it cannot be read: {error}"))),
    };
    let mut tuner: Tuner =
        serde_json::from_slice(&bytes).map_err(|error| refuse(format!("it is not the state of a run: {error}")))?;
    check(&tuner, &plan).map_err(refuse)?;
    tuner.plan = plan;
    Ok(tuner)
}

/// Checks that a run can go on with these settings, of which only the number of games may be another, a larger one.
fn check(tuner: &Tuner, plan: &Plan) -> Result<(), String> {
    let theirs = &tuner.plan;
    if plan.pairs < theirs.pairs {
        let (wanted, planned) = (2 * plan.pairs, 2 * theirs.pairs);
        return Err(format!("this run has {planned} games; it can have more, but not only {wanted}"));
    }
    let fields = |plan: &Plan| serde_json::to_value(plan).expect("a plan is plain data");
    let (ours, theirs) = (fields(plan), fields(theirs));
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (name, value) in ours.as_object().into_iter().flatten().filter(|(name, _)| *name != "pairs") {
        if theirs[name] == *value {
            continue;
        }
        return Err(match name.as_str() {
            "parameters" => {
                "this run has other parameters, or other starts or ranges of them; use another folder".into()
            }
            _ => format!("this run has {name} {}, not {}; use another folder", text(&theirs[name]), text(value)),
        });
    }
    let count = plan.parameters.len();
    if tuner.values.len() != count || tuner.history.iter().any(|row| row.values.len() != count) || tuner.interval == 0 {
        return Err("it is not the state of a run: a value is missing".into());
    }
    Ok(())
}

fn save_state(folder: &Path, tuner: &Tuner) -> Result<(), String> {
    let mut text = serde_json::to_vec(tuner).expect("a run is plain data");
    text.push(b'\n');
    save(&folder.join("state.json"), &text)
}

fn save_reports(folder: &Path, tuner: &Tuner) -> Result<(), String> {
    save(&folder.join("parameters.txt"), report::parameters(tuner).as_bytes())?;
    save(&folder.join("paths.svg"), report::paths(tuner).as_bytes())
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), String> {
    replace(path, bytes).map_err(|error| format!("{}: it cannot be written: {error}", path.display()))
}

/// What the threads share.
struct Run<'a> {
    book: &'a Book,
    pace: Pace,
    stop: &'a AtomicBool,
    progress: Mutex<Progress>,
}

struct Progress {
    tuner: Tuner,
    /// Pairs of this run that are not yet drawn.
    left: u64,
    /// Pairs that this run has played, and those of them with a winner.
    played: u64,
    decided: u64,
    first_error: Option<String>,
}

impl Progress {
    fn new(tuner: Tuner) -> Self {
        let left = tuner.plan.pairs.saturating_sub(tuner.played);
        Self { tuner, left, played: 0, decided: 0, first_error: None }
    }

    /// Returns how far the run is, with the share of pairs that had a winner. `speed` is in games per second.
    fn text(&self, speed: f64) -> String {
        let [games, total] = [self.tuner.played, self.tuner.plan.pairs].map(|pairs| short(2.0 * pairs as f64));
        let decided = 100.0 * self.decided as f64 / self.played.max(1) as f64;
        format!("{games}/{total} games, {speed:.2}/s, {decided:.0} % decided")
    }
}

impl Run<'_> {
    /// Plays the missing games, a thread for each player, and saves the state from time to time.
    fn play(&self, players: Vec<Player>, folder: &Path, print: &mut impl FnMut(&str)) -> Result<(), String> {
        thread::scope(|scope| {
            let threads: Vec<_> = players.into_iter().map(|player| scope.spawn(|| self.work(player))).collect();
            let mut display = {
                let tuner = &self.lock().tuner;
                ProgressDisplay::new(2 * tuner.plan.pairs, 2 * tuner.played)
            };
            let mut is_stopping = false;
            let mut next_state = Instant::now() + STATE_INTERVAL;
            let mut next_report = Instant::now() + REPORT_INTERVAL;
            while !threads.iter().all(|thread| thread.is_finished()) {
                thread::sleep(Duration::from_millis(50));
                if !is_stopping && self.stop.load(Relaxed) {
                    is_stopping = true;
                    let text = "stopping after the current games; Ctrl-C ends at once";
                    // Nobody may be reading.
                    display.suspend(|| drop(writeln!(io::stderr(), "{text}")));
                }
                let done = 2 * self.lock().tuner.played;
                display.update(done, |speed| self.lock().text(speed), &mut *print);
                if is_due(&mut next_state, STATE_INTERVAL) {
                    self.keep(|tuner| save_state(folder, tuner));
                }
                if is_due(&mut next_report, REPORT_INTERVAL) {
                    self.keep(|tuner| save_reports(folder, tuner));
                }
            }
        });
        self.lock().first_error.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().expect("no thread panics")
    }

    /// Plays pairs until none is left, the run is stopped or something fails.
    fn work(&self, mut player: Player) {
        while let Some(mut pair) = self.next_pair() {
            if let Err(error) = self.play_pair(&mut player, &mut pair) {
                self.lock().first_error.get_or_insert(error);
            }
        }
    }

    fn next_pair(&self) -> Option<Pair> {
        let mut progress = self.lock();
        if self.stop.load(Relaxed) || progress.first_error.is_some() {
            return None;
        }
        progress.left = progress.left.checked_sub(1)?;
        Some(progress.tuner.draw())
    }

    fn play_pair(&self, player: &mut Player, pair: &mut Pair) -> Result<(), String> {
        let start = self.book.draw(&mut pair.rng)?;
        let values = [pair.first.clone(), pair.second.clone()];
        let result = player.play(&Request { pace: self.pace, values, start })?;
        let mut progress = self.lock();
        progress.tuner.apply(pair, result);
        progress.played += 1;
        progress.decided += u64::from(result != 0);
        Ok(())
    }

    /// Calls `save` with the run as it is now. Its error ends the run.
    fn keep(&self, save: impl FnOnce(&Tuner) -> Result<(), String>) {
        // Players need not wait for the disk.
        let tuner = self.lock().tuner.clone();
        if let Err(error) = save(&tuner) {
            self.lock().first_error.get_or_insert(error);
        }
    }
}

/// Returns whether a time has come, and sets the next one.
fn is_due(next: &mut Instant, interval: Duration) -> bool {
    let is_due = Instant::now() >= *next;
    if is_due {
        *next = Instant::now() + interval;
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::spsa::tests::plan;
    use super::*;

    #[test]
    fn names_select_parameters() {
        let [nodes, clock] = [Pace::Nodes(8000), Pace::Clock(300_000, 3000)];
        let names = |list: &str| select(list, nodes).map(|found| found.into_iter().map(|p| p.name).collect::<Vec<_>>());
        assert_eq!(names("lmr_divisor,lmr_base"), Ok(vec!["lmr_base".into(), "lmr_divisor".into()]));
        assert_eq!(names("iir_*, lmp_base,lmp_*").unwrap().len(), 5);
        assert_eq!(names("*"), Ok(tunables(nodes).into_iter().map(|parameter| parameter.name).collect()));
        assert!(!tunables(nodes).iter().any(|p| p.name.starts_with("time_") || p.name.starts_with("vote_")));
        assert!(select("time_*", clock).unwrap().len() > 10 && select("vote_*", clock).is_err());
        assert!(names("lmr").unwrap_err().contains("\"lmr\" matches no parameter"));
        assert!(names("lmr_*,").unwrap_err().contains("\"\" matches no parameter"));
        assert!(names("lmr_*,time_*").unwrap_err().contains("\"time_*\" has no effect"));
    }

    #[test]
    fn a_run_goes_on_only_with_its_settings() {
        let tuner = Tuner::new(plan(100, 0.002));
        let error = |plan: &Plan| check(&tuner, plan).unwrap_err();
        assert_eq!(check(&tuner, &plan(100, 0.002)), Ok(()));
        assert_eq!(check(&tuner, &plan(150, 0.002)), Ok(()));
        assert!(error(&plan(99, 0.002)).starts_with("this run has 200 games;"));
        assert!(error(&plan(100, 0.003)).starts_with("this run has rate 0.002, not 0.003;"));
        assert!(error(&Plan { seed: 8, ..plan(100, 0.002) }).starts_with("this run has seed 7, not 8;"));
        let mut other = plan(100, 0.002);
        other.parameters[1].start += 1;
        assert!(error(&other).starts_with("this run has other parameters"));
    }

    #[test]
    fn the_progress_fits_a_terminal() {
        let mut tuner = Tuner::new(plan(999_990_000, 0.002));
        tuner.played = 99_999_000;
        let progress = Progress { played: 10, decided: 10, ..Progress::new(tuner) };
        // The bar is 10 columns wide.
        let line = format!("{}, 364 d 23 h left", progress.text(999.99));
        assert!(line.len() + 11 < 80, "{} columns: {line}", line.len() + 11);
    }
}
