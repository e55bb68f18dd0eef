//! Statistics of the search, for development.
//!
//! `track!(value)` is the identity. With the feature `stats` it also counts the values, and `kiln bench` ends with a
//! table of them. The idea and the use of `linkme` are from the talk "Top 10 Engine in Rust".

/// Returns the value of an expression, a `bool` or an integer of at most 64 bits, and counts it: under the expression's
/// text, or under the name in `track!("name", value)`.
#[cfg(not(feature = "stats"))]
macro_rules! track {
    ($name:literal, $value:expr) => {
        $value
    };
    ($value:expr) => {
        $value
    };
}

#[cfg(feature = "stats")]
macro_rules! track {
    ($name:expr, $value:expr) => {{
        #[linkme::distributed_slice($crate::search::statistics::TRACKED)]
        static ENTRY: $crate::search::statistics::Tracked = $crate::search::statistics::Tracked::new($name);
        let value = $value;
        ENTRY.add(i64::from(value));
        value
    }};
    ($value:expr) => {
        track!(stringify!($value), $value)
    };
}

pub(super) use track;

#[cfg(feature = "stats")]
pub use counted::table;
#[cfg(feature = "stats")]
pub(super) use counted::{TRACKED, Tracked};

#[cfg(feature = "stats")]
mod counted {
    use std::fmt::Write;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicI64, AtomicU64};

    /// All uses of `track!` in the program.
    #[linkme::distributed_slice]
    pub static TRACKED: [Tracked];

    /// Bars of the histogram: negative, 0, 1, 2–3, 4–7, …, 64 and more.
    const BARS: usize = 9;

    /// The values of one `track!`.
    pub struct Tracked {
        name: &'static str,
        count: AtomicU64,
        sum: AtomicI64,
        squares: AtomicU64,
        least: AtomicI64,
        most: AtomicI64,
        bars: [AtomicU64; BARS],
    }

    impl Tracked {
        pub const fn new(name: &'static str) -> Self {
            Self {
                name,
                count: AtomicU64::new(0),
                sum: AtomicI64::new(0),
                squares: AtomicU64::new(0),
                least: AtomicI64::new(i64::MAX),
                most: AtomicI64::new(i64::MIN),
                bars: [const { AtomicU64::new(0) }; BARS],
            }
        }

        pub fn add(&self, value: i64) {
            self.count.fetch_add(1, Relaxed);
            self.sum.fetch_add(value, Relaxed);
            self.squares.fetch_add(value.unsigned_abs().pow(2), Relaxed);
            self.least.fetch_min(value, Relaxed);
            self.most.fetch_max(value, Relaxed);
            let bar = match value {
                ..0 => 0,
                0 => 1,
                1.. => (2 + value.ilog2() as usize).min(BARS - 1),
            };
            self.bars[bar].fetch_add(1, Relaxed);
        }
    }

    /// Returns a line for each `track!` that was reached: count, mean, standard deviation, least and greatest value,
    /// and the share of each bar of the histogram in per cent.
    pub fn table() -> String {
        let mut text = format!(
            "{:32} {:>11} {:>11} {:>11} {:>8} {:>8}  <0  0  1 2- 4- 8- 16- 32- 64-\n",
            "tracked", "count", "mean", "deviation", "least", "most"
        );
        let mut entries: Vec<&Tracked> = TRACKED.iter().filter(|entry| entry.count.load(Relaxed) > 0).collect();
        entries.sort_by_key(|entry| entry.name);
        for entry in entries {
            let count = entry.count.load(Relaxed) as f64;
            let mean = entry.sum.load(Relaxed) as f64 / count;
            let variance = entry.squares.load(Relaxed) as f64 / count - mean * mean;
            let bars = entry.bars.each_ref().map(|bar| format!("{:.0}", 100.0 * bar.load(Relaxed) as f64 / count));
            let (least, most) = (entry.least.load(Relaxed), entry.most.load(Relaxed));
            let deviation = variance.max(0.0).sqrt();
            writeln!(
                text,
                "{:32} {count:>11} {mean:>11.3} {deviation:>11.3} {least:>8} {most:>8}  {}",
                entry.name,
                bars.join(" ")
            )
            .expect("writing to a string cannot fail");
        }
        text
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn values_go_through_and_are_counted() {
            let mut sum = 0;
            for value in [-3, 0, 1, 5, 5, 100_000] {
                sum += crate::search::statistics::track!("values of a test", value);
            }
            assert_eq!(sum, 100_008);
            let table = table();
            let line = table.lines().find(|line| line.starts_with("values of a test")).unwrap();
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            assert_eq!(words[4..6], ["6", "16668.000"]);
            assert_eq!(words[7..9], ["-3", "100000"]);
            assert_eq!(words[9..], ["17", "17", "17", "0", "33", "0", "0", "0", "17"]);
        }
    }
}
