//! How far a long command is: a bar in a terminal, and elsewhere a line now and then.

use console::{Term, truncate_str};
use std::time::{Duration, Instant};

/// The time from the start to the first line. Shorter commands print none.
const FIRST_LINE: Duration = Duration::from_secs(5);
/// The time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(30);
/// The time between two drawings of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);
/// The speed is an average in which work counts half after this many seconds.
const HALF_LIFE: f64 = 30.0;

/// The speed of work, averaged with weights that fall with age. Work of an earlier run does not count.
#[derive(Debug)]
struct Speed {
    last: Instant,
    done: u64,
    average: f64,
    /// The sum of the weights, which is less than 1 at first.
    weight: f64,
}

impl Speed {
    fn new(now: Instant, done: u64) -> Self {
        Self { last: now, done, average: 0.0, weight: 0.0 }
    }

    fn update(&mut self, now: Instant, done: u64) {
        let seconds = now.saturating_duration_since(self.last).as_secs_f64();
        if seconds < 1e-3 {
            return;
        }
        let kept = 0.5_f64.powf(seconds / HALF_LIFE);
        let speed = done.saturating_sub(self.done) as f64 / seconds;
        self.average = self.average * kept + speed * (1.0 - kept);
        self.weight = self.weight * kept + (1.0 - kept);
        (self.last, self.done) = (now, done);
    }

    /// Returns the work per second.
    fn per_second(&self) -> f64 {
        if self.weight > 0.0 { self.average / self.weight } else { 0.0 }
    }
}

/// Shows how far a command is: on standard error a bar, if that is a terminal, and otherwise lines that the caller
/// prints.
#[derive(Debug)]
pub struct ProgressDisplay {
    total: u64,
    /// Where the bar is drawn.
    terminal: Option<Term>,
    speed: Speed,
    next_line: Instant,
    next_bar: Instant,
}

impl ProgressDisplay {
    /// Starts a display of work of which an earlier run has done a part.
    pub fn new(total: u64, done: u64) -> Self {
        let terminal = Some(Term::stderr()).filter(Term::is_term);
        let now = Instant::now();
        Self { total, terminal, speed: Speed::new(now, done), next_line: now + FIRST_LINE, next_bar: now }
    }

    /// Shows that `done` of the work is done. `describe` gets the work per second and returns a text, to which the time
    /// left is appended; `print` gets a line if one is due.
    pub fn update(&mut self, done: u64, describe: impl FnOnce(f64) -> String, print: impl FnOnce(&str)) {
        let now = Instant::now();
        let (due, interval) = match self.terminal {
            Some(_) => (&mut self.next_bar, BAR_INTERVAL),
            None => (&mut self.next_line, LINE_INTERVAL),
        };
        if now < *due {
            return;
        }
        *due = now + interval;
        self.speed.update(now, done);
        let text = line(&describe(self.speed.per_second()), self.total.saturating_sub(done), &self.speed);
        match &self.terminal {
            Some(terminal) => {
                let text = format!("{} {text}", bar(done, self.total));
                // A line as wide as the terminal would wrap in some.
                let width = usize::from(terminal.size().1).saturating_sub(1);
                // Nobody may be reading.
                let _ = terminal.clear_line().and_then(|()| terminal.write_str(&truncate_str(&text, width, "")));
            }
            None => print(&text),
        }
    }

    /// Calls `print` while the bar is not on the screen.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.clear();
        print();
    }

    fn clear(&self) {
        if let Some(terminal) = &self.terminal {
            let _ = terminal.clear_line();
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Draws how much is done, ten columns wide.
fn bar(done: u64, total: u64) -> String {
    let full = (10 * u128::from(done.min(total)) / u128::from(total.max(1))) as usize;
    "█".repeat(full) + &"░".repeat(10 - full)
}

/// Appends the time left.
fn line(text: &str, left: u64, speed: &Speed) -> String {
    let seconds = left as f64 / speed.per_second();
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => format!("{text}, {} left", time_text(time)),
        // Nothing is done yet.
        Err(_) => text.into(),
    }
}

/// Formats a time by its two largest units.
fn time_text(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds @ 3600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        seconds @ 86_400..31_536_000 => format!("{} d {:02} h", seconds / 86_400, seconds / 3600 % 24),
        _ => "more than a year".into(),
    }
}

/// Formats a number with three or four digits.
pub fn short(number: f64) -> String {
    match number {
        1e12.. => format!("{:.2} T", number / 1e12),
        1e9.. => format!("{:.2} G", number / 1e9),
        1e6.. => format!("{:.2} M", number / 1e6),
        1e4.. => format!("{:.0} k", number / 1e3),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_numbers() {
        assert_eq!([7.0, 9999.0, 123_456.0, 1_234_567.0, 2.5e9].map(short), ["7", "9999", "123 k", "1.23 M", "2.50 G"]);
        let times = [59, 61, 3600, 90_061, 40_000_000].map(|seconds| time_text(Duration::from_secs(seconds)));
        assert_eq!(times, ["59 s", "1 min 01 s", "1 h 00 min", "1 d 01 h", "more than a year"]);
    }

    #[test]
    fn bars() {
        let bars =
            [(0, 0), (99, 1000), (500, 1000), (u64::MAX, u64::MAX), (7, 5)].map(|(done, total)| bar(done, total));
        assert_eq!(bars, ["░░░░░░░░░░", "░░░░░░░░░░", "█████░░░░░", "██████████", "██████████"]);
    }

    #[test]
    fn the_time_left_is_that_of_this_runs_speed() {
        let start = Instant::now();
        let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
        // Most was done by an earlier run.
        let mut speed = Speed::new(start, 900_000);
        assert_eq!(line("x", 100_000, &speed), "x");
        for second in 1..=20 {
            speed.update(after(f64::from(second)), 900_000 + 100 * second as u64);
            assert!((speed.per_second() - 100.0).abs() < 1e-6);
        }
        assert_eq!(line("x", 98_000, &speed), "x, 16 min 20 s left");
        // A pause of one second changes little, and another speed is known soon.
        speed.update(after(21.0), 902_000);
        assert!((90.0..100.0).contains(&speed.per_second()), "{}", speed.per_second());
        speed.update(after(200.0), 902_000 + 179 * 500);
        assert!((490.0..500.0).contains(&speed.per_second()), "{}", speed.per_second());
    }
}
