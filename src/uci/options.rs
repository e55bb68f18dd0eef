//! The options in one table, which `uci`, `setoption` and `help` read.

use super::engine::Engine;
use super::strength;
#[cfg(feature = "tune")]
use crate::search::Parameter;
use crate::search::{MAX_MEGABYTES, Probing};
use std::fmt;
use std::fs::OpenOptions;
use std::ops::RangeInclusive;
use std::path::Path;
#[cfg(feature = "tune")]
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

/// Hash in megabytes unless the GUI says otherwise.
pub const DEFAULT_HASH: usize = 16;

/// What the options say, but for those that change something at once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many of the best lines are wanted.
    pub lines: u64,
    /// Time set aside for what happens between engine and clock.
    pub overhead: Duration,
    /// Castling is written as king takes rook.
    pub chess960: bool,
    /// Chances are shown beside scores.
    pub show_chances: bool,
    /// Whether to play as weak as `elo` says.
    pub is_limited: bool,
    /// Strength to play with.
    pub elo: u64,
    /// How endgame tables are used.
    pub probing: Probing,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lines: 1,
            overhead: Duration::from_millis(30),
            chess960: false,
            show_chances: false,
            is_limited: false,
            elo: 1500,
            probing: Probing::default(),
        }
    }
}

type Done = Result<(), String>;

/// An option: its name, what it is for, its type with the values that are allowed, and what to do with one.
pub struct Definition {
    pub name: &'static str,
    pub help: &'static str,
    kind: Kind,
}

enum Kind {
    Check(bool, fn(&mut Engine, bool)),
    Spin(u64, RangeInclusive<u64>, fn(&mut Engine, u64) -> Done),
    /// Empty unless set; the function gets an empty text for `<empty>` and the like.
    Text(fn(&mut Engine, &str) -> Done),
    Button(fn(&mut Engine)),
}

/// All options in the order in which they are listed.
pub fn options() -> [Definition; 16] {
    use Kind::{Button, Check, Spin, Text};
    let Settings { lines, overhead, chess960, show_chances, is_limited, elo, probing } = Settings::default();
    let processors = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let definition = |name, help, kind| Definition { name, help, kind };
    [
        definition(
            "Hash",
            "megabytes for the transposition table",
            Spin(DEFAULT_HASH as u64, 1..=MAX_MEGABYTES as u64, |engine, size| engine.set_hash(size as usize)),
        ),
        definition("Clear Hash", "forgets all results of earlier searches", Button(Engine::forget)),
        definition(
            "Threads",
            "threads that search",
            Spin(1, 1..=(4 * processors).max(1024), |engine, count| engine.set_threads(count as usize)),
        ),
        definition(
            "MultiPV",
            "how many of the best lines to show",
            Spin(lines, 1..=256, |engine, lines| {
                engine.settings.lines = lines;
                Ok(())
            }),
        ),
        definition(
            "Move Overhead",
            "milliseconds kept back on each move for what happens between engine and clock",
            Spin(overhead.as_millis() as u64, 0..=10_000, |engine, time| {
                engine.settings.overhead = Duration::from_millis(time);
                Ok(())
            }),
        ),
        // It tells the GUI that pondering is possible; that it is on, `go ponder` says.
        definition(
            "Ponder",
            "whether the GUI may let the engine think on the opponent's time",
            Check(false, |_, _| ()),
        ),
        definition(
            "UCI_Chess960",
            "castling is written as king takes rook; both notations are always understood",
            Check(chess960, |engine, on| engine.settings.chess960 = on),
        ),
        definition(
            "UCI_ShowWDL",
            "shows chances to win, draw and lose in thousandths",
            Check(show_chances, |engine, on| engine.settings.show_chances = on),
        ),
        definition(
            "UCI_LimitStrength",
            "plays weaker, as UCI_Elo says",
            Check(is_limited, |engine, on| engine.settings.is_limited = on),
        ),
        definition(
            "UCI_Elo",
            "the strength to play with; the scale is a guess and not measured",
            Spin(elo, strength::ELO, |engine, elo| {
                engine.settings.elo = elo;
                Ok(())
            }),
        ),
        definition(
            "EvalFile",
            "a network's file of the shape the engine is built for, if not the embedded one",
            Text(Engine::set_network),
        ),
        definition("SyzygyPath", "folders with Syzygy tables", Text(Engine::set_tablebases)),
        definition(
            "SyzygyProbeDepth",
            "the least depth at which the largest Syzygy tables are asked",
            Spin(probing.depth.into(), 1..=100, |engine, depth| {
                engine.settings.probing.depth = depth as u32;
                Ok(())
            }),
        ),
        definition(
            "SyzygyProbeLimit",
            "the most pieces for which Syzygy tables are asked",
            Spin(probing.pieces.into(), 0..=7, |engine, pieces| {
                engine.settings.probing.pieces = pieces as u32;
                Ok(())
            }),
        ),
        definition(
            "Syzygy50MoveRule",
            "whether wins that the fifty-move rule spoils are draws",
            Check(probing.fifty_move_rule, |engine, on| engine.settings.probing.fifty_move_rule = on),
        ),
        definition("Debug Log File", "adds all that is said and heard to this file", Text(set_log)),
    ]
}

/// The parameters of the search as options, a line each. All numbers are allowed, as testers (fastchess) leave out what is beyond the range that is told: those beyond
/// the range that is worth trying turn a step of the search off.
#[cfg(feature = "tune")]
pub fn parameters() -> Vec<String> {
    let line = |parameter: &Parameter| {
        let Parameter { name, default, .. } = parameter;
        format!("option name {name} type spin default {default} min {} max {}", i32::MIN, i32::MAX)
    };
    crate::search::parameters().iter().map(line).collect()
}

/// The parameters of the search as OpenBench's form for SPSA takes them: name, type, start, least, most, the last step, the learning rate.
#[cfg(feature = "tune")]
pub fn spsa() -> Vec<String> {
    let line = |parameter: &Parameter| {
        let (least, most) = (*parameter.range.start(), *parameter.range.end());
        let step = (f64::from(most - least) / 20.0).max(0.5);
        format!("{}, int, {}, {least}, {most}, {step}, 0.002", parameter.name, parameter.default)
    };
    crate::search::parameters().iter().map(line).collect()
}

/// Sets a parameter of the search, if this is the name of one.
#[cfg(feature = "tune")]
fn set_parameter(name: &str, value: &str) -> Option<Done> {
    let parameter = crate::search::parameters().into_iter().find(|parameter| parameter.name == name)?;
    let number =
        value.parse().map_err(|_| format!("bad value {value:?} for parameter {name}: expected a whole number"));
    Some(number.map(|number| parameter.value.store(number, Relaxed)))
}

/// Sets an option by its name, in whatever case. If the value is not allowed, or what it asks for cannot be had, nothing changes.
pub fn set(engine: &mut Engine, name: &str, value: &str) -> Done {
    #[cfg(feature = "tune")]
    if let Some(done) = set_parameter(name, value) {
        return done;
    }
    let definition = options().into_iter().find(|definition| definition.name.eq_ignore_ascii_case(name));
    let Definition { name, kind, .. } =
        definition.ok_or_else(|| format!("there is no option {name:?}; \"uci\" lists them"))?;
    let bad = |expected: fmt::Arguments| format!("bad value {value:?} for option {name}: expected {expected}");
    match kind {
        Kind::Check(_, set) => set(
            engine,
            match value.to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                _ => return Err(bad(format_args!("\"true\" or \"false\""))),
            },
        ),
        Kind::Spin(_, range, set) => {
            let number = value.parse().ok().filter(|number| range.contains(number));
            let number =
                number.ok_or_else(|| bad(format_args!("a whole number from {} to {}", range.start(), range.end())))?;
            set(engine, number)?;
        }
        // Some GUIs send one of these words for nothing.
        Kind::Text(set) if matches!(value.to_ascii_lowercase().as_str(), "<empty>" | "none") => set(engine, "")?,
        Kind::Text(set) => set(engine, value)?,
        Kind::Button(press) => press(engine),
    }
    Ok(())
}

/// The line that `uci` shows.
impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match &self.kind {
            Kind::Check(default, _) => write!(f, "check default {default}"),
            Kind::Spin(default, range, _) => {
                write!(f, "spin default {default} min {} max {}", range.start(), range.end())
            }
            Kind::Text(_) => write!(f, "string default <empty>"),
            Kind::Button(_) => write!(f, "button"),
        }
    }
}

fn set_log(engine: &mut Engine, path: &str) -> Done {
    let file = match path {
        "" => None,
        path => {
            let file = OpenOptions::new().append(true).create(true).open(Path::new(path));
            Some(file.map_err(|error| format!("cannot write the debug log {path:?}: {error}"))?)
        }
    };
    engine.output.set_log(file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_allowed() {
        for Definition { name, help, kind } in options() {
            assert!(!help.is_empty() && !name.contains(" value"));
            if let Kind::Spin(default, range, _) = kind {
                assert!(range.contains(&default), "{name}");
            }
            let same = options().iter().filter(|other| other.name.eq_ignore_ascii_case(name)).count();
            assert_eq!(same, 1, "{name}");
        }
    }
}
