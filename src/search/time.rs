use super::Limits;
use std::time::{Duration, Instant};

/// Moves that a game is expected to last when no time control says so.
const EXPECTED_MOVES: u32 = 24;
/// What several threads leave on the clock besides the overhead: eight of them, busy on two processors, ended a search up to 50 ms too late.
const RESERVE: Duration = Duration::from_millis(50);

/// When to stop by the clock.
#[derive(Clone, Debug)]
pub struct Timer {
    start: Instant,
    /// No new iteration after this.
    soft: Option<Duration>,
    /// Not a moment longer.
    hard: Option<Duration>,
}

impl Timer {
    /// Starts now, for so many threads.
    pub fn new(limits: &Limits, threads: usize) -> Self {
        let least = Duration::from_millis(1);
        let mut soft = None;
        let mut hard = limits.movetime.map(|time| time.saturating_sub(limits.overhead).max(least));
        if let Some(clock) = &limits.clock {
            let reserve = if threads > 1 { RESERVE } else { Duration::ZERO };
            let left = clock.remaining.saturating_sub(limits.overhead + reserve).max(least);
            let moves = clock.moves_to_go.map_or(EXPECTED_MOVES, |moves| moves.clamp(1, EXPECTED_MOVES));
            let share = left / moves + clock.increment * 3 / 4;
            let most = if moves == 1 { left * 9 / 10 } else { left * 2 / 3 };
            soft = Some((share * 3 / 4).min(most));
            hard = Some(hard.map_or(most, |hard| hard.min(most)).min(share * 5));
        }
        Self { start: Instant::now(), soft, hard }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Whether it is too late for another iteration, if `factor` times the usual time is to be spent; where no choice is left, any time
    /// on the clock is too long.
    pub fn is_soft_over(&self, factor: f64, is_forced: bool) -> bool {
        self.soft.is_some_and(|soft| is_forced || self.elapsed().as_secs_f64() >= soft.as_secs_f64() * factor)
    }

    /// Whether there are but some milliseconds in all.
    pub fn is_short(&self) -> bool {
        self.hard.is_some_and(|hard| hard < Duration::from_millis(10))
    }

    /// Whether the search must stop at once.
    pub fn is_hard_over(&self) -> bool {
        self.hard.is_some_and(|hard| self.elapsed() >= hard)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Clock;
    use super::*;

    fn timer(remaining: u64, increment: u64, moves_to_go: Option<u32>, threads: usize) -> Timer {
        let [remaining, increment] = [remaining, increment].map(Duration::from_millis);
        let clock = Some(Clock { remaining, increment, moves_to_go });
        Timer::new(&Limits { clock, overhead: Duration::from_millis(30), ..Limits::default() }, threads)
    }

    #[test]
    fn never_more_than_is_left() {
        for remaining in [0, 1, 20, 31, 100, 1000, 60_000, 10_000_000] {
            for increment in [0, 10, 5000] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40), Some(u32::MAX)] {
                    let timer = timer(remaining, increment, moves_to_go, 1);
                    let most = Duration::from_millis(remaining.saturating_sub(30).max(1));
                    assert!(
                        timer.hard.unwrap() <= most && timer.soft.unwrap() <= most,
                        "{remaining} {increment} {moves_to_go:?}"
                    );
                    assert!(timer.soft <= timer.hard);
                }
            }
        }
    }

    #[test]
    fn several_threads_keep_a_reserve() {
        let [alone, together] = [1, 4].map(|threads| timer(1000, 10, None, threads).hard.unwrap());
        assert!(together < alone);
        assert_eq!(timer(1000, 10, None, 4).hard, timer(950, 10, None, 1).hard);
        assert!(timer(80, 10, None, 4).is_short() && !timer(80, 10, None, 1).is_short());
    }

    #[test]
    fn no_limit_no_end() {
        let timer = Timer::new(&Limits::default(), 1);
        assert!(!timer.is_soft_over(0.0, true) && !timer.is_hard_over());
    }
}
