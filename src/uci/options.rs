//! The options in one table, which `uci`, `setoption` and `help` read.

use super::strength;
use crate::quote::quote;
#[cfg(feature = "tune")]
use crate::search::Parameter;
use crate::search::{MAX_MEGABYTES, Probing};
use crate::tablebases::MAX_PIECES;
use crate::tools::{MAX_MULTI_PV, MAX_THREADS};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
#[cfg(feature = "tune")]
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

/// The default of `Hash` in megabytes.
pub const DEFAULT_HASH: usize = 16;

/// The values of the options that later commands read. Other options take effect when they are set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of principal variations to search.
    pub multi_pv: usize,
    /// Time set aside on each move for communication with the GUI.
    pub overhead: Duration,
    /// Castling is written as king takes rook.
    pub chess960: bool,
    /// WDL is sent beside scores.
    pub show_wdl: bool,
    /// Strength is limited to `elo`.
    pub limit_strength: bool,
    /// The strength to play with if it is limited; see [`strength::ELO`].
    pub elo: u64,
    /// How endgame tablebases are used.
    pub probing: Probing,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            multi_pv: 1,
            overhead: Duration::from_millis(30),
            chess960: false,
            show_wdl: false,
            limit_strength: false,
            elo: 1500,
            probing: Probing::default(),
        }
    }
}

/// An option with its new value. Texts are empty for `<empty>` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOption {
    /// Megabytes of the transposition table.
    Hash(u64),
    ClearHash,
    Threads(u64),
    MultiPv(u64),
    /// Milliseconds.
    MoveOverhead(u64),
    Ponder(bool),
    Chess960(bool),
    ShowWdl(bool),
    LimitStrength(bool),
    Elo(u64),
    /// A path.
    EvalFile(String),
    /// Folders, as [`Files::find`](crate::tablebases::Files::find) takes them.
    SyzygyPath(String),
    SyzygyProbeDepth(u64),
    SyzygyProbeLimit(u64),
    Syzygy50MoveRule(bool),
    /// A path.
    DebugLogFile(String),
}

/// An option: its name, what it is for, its type with the default and the allowed values.
pub struct Definition {
    pub name: &'static str,
    pub help: &'static str,
    kind: Kind,
}

/// The type of an option, with its default if that varies, its range, and the [`SetOption`] it makes of a value.
enum Kind {
    Check(bool, fn(bool) -> SetOption),
    Spin(u64, RangeInclusive<u64>, fn(u64) -> SetOption),
    /// Empty by default.
    Text(fn(String) -> SetOption),
    Button(SetOption),
}

/// Returns all options in the order in which they are listed.
pub fn options() -> [Definition; 16] {
    use Kind::{Button, Check, Spin, Text};
    let Settings { multi_pv, overhead, chess960, show_wdl, limit_strength, elo, probing } = Settings::default();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let max_threads = (4 * processors).max(MAX_THREADS);
    let definition = |name, help, kind| Definition { name, help, kind };
    [
        definition(
            "Hash",
            "megabytes of the transposition table",
            Spin(DEFAULT_HASH as u64, 1..=MAX_MEGABYTES as u64, SetOption::Hash),
        ),
        definition("Clear Hash", "clears the transposition table and histories", Button(SetOption::ClearHash)),
        definition("Threads", "threads that search", Spin(1, 1..=max_threads as u64, SetOption::Threads)),
        definition(
            "MultiPV",
            "number of best lines to show",
            Spin(multi_pv as u64, 1..=MAX_MULTI_PV as u64, SetOption::MultiPv),
        ),
        definition(
            "Move Overhead",
            "milliseconds set aside on each move, also from movetime, for communication with the GUI",
            Spin(overhead.as_millis() as u64, 0..=10_000, SetOption::MoveOverhead),
        ),
        // It only tells the GUI that the engine can ponder; `go ponder` starts it.
        definition("Ponder", "allows thinking on the opponent's time", Check(false, SetOption::Ponder)),
        definition(
            "UCI_Chess960",
            "writes castling as king takes rook; both notations are always understood",
            Check(chess960, SetOption::Chess960),
        ),
        definition(
            "UCI_ShowWDL",
            "shows win, draw and loss probabilities in thousandths",
            Check(show_wdl, SetOption::ShowWdl),
        ),
        definition(
            "UCI_LimitStrength",
            "limits the strength to UCI_Elo",
            Check(limit_strength, SetOption::LimitStrength),
        ),
        definition(
            "UCI_Elo",
            "strength if limited; the greatest is full strength",
            Spin(elo, strength::ELO, SetOption::Elo),
        ),
        definition(
            "EvalFile",
            "network file of the built shape, arranged in the user's cache folder; empty for the embedded one",
            Text(SetOption::EvalFile),
        ),
        definition("SyzygyPath", "folders with Syzygy tablebases", Text(SetOption::SyzygyPath)),
        definition(
            "SyzygyProbeDepth",
            "least depth at which the tablebases with the most pieces are probed",
            Spin(probing.depth.into(), 1..=100, SetOption::SyzygyProbeDepth),
        ),
        definition(
            "SyzygyProbeLimit",
            "most pieces for which tablebases are probed",
            Spin(probing.pieces.into(), 0..=MAX_PIECES as u64, SetOption::SyzygyProbeLimit),
        ),
        definition(
            "Syzygy50MoveRule",
            "counts tablebase wins that the fifty-move rule prevents as draws",
            Check(probing.fifty_move_rule, SetOption::Syzygy50MoveRule),
        ),
        definition("Debug Log File", "appends all input and output to this file", Text(SetOption::DebugLogFile)),
    ]
}

/// Returns the `uci` lines of the search parameters.
#[cfg(feature = "tune")]
pub fn parameters() -> Vec<String> {
    let line = |parameter: &Parameter| {
        let Parameter { name, default, range, .. } = parameter;
        format!("option name {name} type spin default {default} min {} max {}", range.start(), range.end())
    };
    crate::search::parameters().iter().map(line).collect()
}

/// Returns the search parameters in the format of OpenBench's SPSA form: name, type, start, minimum, maximum, final
/// step, learning rate.
#[cfg(feature = "tune")]
pub fn spsa() -> Vec<String> {
    let line = |parameter: &Parameter| {
        let (min, max) = (*parameter.range.start(), *parameter.range.end());
        let step = (f64::from(max - min) / 20.0).max(0.5);
        format!("{}, int, {}, {min}, {max}, {step}, 0.002", parameter.name, parameter.default)
    };
    crate::search::parameters().iter().map(line).collect()
}

/// Sets a search parameter to a number in its range. Names are case-insensitive. Returns `None` if there is none of
/// this name.
#[cfg(feature = "tune")]
pub fn set_parameter(name: &str, value: &str) -> Option<Result<(), String>> {
    let parameter = crate::search::parameters().into_iter().find(|it| it.name.eq_ignore_ascii_case(name))?;
    let number = parse_number(parameter.name, value, &parameter.range);
    Some(number.map(|number| parameter.value.store(number, Relaxed)))
}

/// Parses the arguments of `setoption`. Names and the values of check options are case-insensitive.
///
/// # Errors
/// If there is no option of this name, or the value is not allowed.
pub fn parse_set_option(name: &str, value: &str) -> Result<SetOption, String> {
    let definition = options().into_iter().find(|definition| definition.name.eq_ignore_ascii_case(name));
    let Definition { name, kind, .. } =
        definition.ok_or_else(|| format!("there is no option {}; \"uci\" lists them", quote(name)))?;
    Ok(match kind {
        Kind::Check(_, setting) => match value.to_ascii_lowercase().as_str() {
            "true" => setting(true),
            "false" => setting(false),
            _ => return Err(bad_value(name, value, "\"true\" or \"false\"")),
        },
        Kind::Spin(_, range, setting) => setting(parse_number(name, value, &range)?),
        // Some GUIs send one of these words for an empty text.
        Kind::Text(setting) if matches!(value.to_ascii_lowercase().as_str(), "<empty>" | "none") => {
            setting(String::new())
        }
        Kind::Text(setting) => setting(value.into()),
        Kind::Button(setting) => setting,
    })
}

/// Parses the value of a spin option or of a search parameter.
fn parse_number<T: FromStr + PartialOrd + fmt::Display>(
    name: &str,
    value: &str,
    range: &RangeInclusive<T>,
) -> Result<T, String> {
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| bad_value(name, value, &format!("a whole number from {} to {}", range.start(), range.end())))
}

/// Returns the error of a value that an option does not allow.
fn bad_value(name: &str, value: &str, expected: &str) -> String {
    format!("bad value {} for option {name}: expected {expected}", quote(value))
}

/// Formats the line that `uci` prints.
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

    #[test]
    fn values_become_settings() {
        assert_eq!(parse_set_option("hash", "3"), Ok(SetOption::Hash(3)));
        assert_eq!(parse_set_option("Clear Hash", ""), Ok(SetOption::ClearHash));
        assert_eq!(parse_set_option("UCI_Chess960", "TRUE"), Ok(SetOption::Chess960(true)));
        for (value, path) in [("a b", "a b"), ("", ""), ("<EMPTY>", ""), ("none", "")] {
            assert_eq!(parse_set_option("EvalFile", value), Ok(SetOption::EvalFile(path.into())));
        }
    }
}
