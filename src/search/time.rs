//! Time management: the soft and the hard limit of a search on a clock.

use super::Limits;
use super::parameters as p;
use std::time::{Duration, Instant};

/// Measures the time of a search against its limits.
#[derive(Clone, Debug)]
pub struct Timer {
    start: Instant,
    /// Whether nodes count instead of time.
    counts_nodes: bool,
    /// No new iteration begins after this time, scaled by how the search goes.
    soft: Option<Duration>,
    /// The search stops after this time.
    hard: Option<Duration>,
}

impl Timer {
    /// Starts the timer for a search with this many threads.
    pub fn new(limits: &Limits, threads: usize) -> Self {
        let per_mille = |time: Duration, factor: i32| time.saturating_mul(factor.max(0) as u32) / 1000;
        let least = Duration::from_millis(1);
        let mut soft = None;
        let mut hard = limits.movetime.map(|time| time.saturating_sub(limits.overhead).max(least));
        if let Some(clock) = &limits.clock {
            // Four threads on two busy processors ended a search up to 16 ms late.
            let reserve = if threads > 1 { p::time_reserve_ms().max(0) as u64 } else { 0 };
            let available = clock.remaining.saturating_sub(limits.overhead + Duration::from_millis(reserve)).max(least);
            let expected = p::time_expected_moves().max(1) as u32;
            let moves = clock.moves_to_go.map_or(expected, |moves| moves.clamp(1, expected));
            let share = available / moves + per_mille(clock.increment, p::time_increment());
            let most = per_mille(available, if moves == 1 { p::time_most_last_move() } else { p::time_most() });
            soft = Some(per_mille(share, p::time_soft()).min(most));
            hard = Some(hard.map_or(most, |hard| hard.min(most)).min(per_mille(share, p::time_hard())));
        }
        Self { start: Instant::now(), counts_nodes: limits.nodes_as_time, soft, hard }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns whether it is too late for another iteration after this many nodes, with the soft limit scaled by
    /// `factor`. If the move is forced, any time on the clock is too long.
    pub fn is_soft_over(&self, nodes: u64, factor: f64, is_forced: bool) -> bool {
        let spent = if self.counts_nodes { Duration::from_micros(nodes) } else { self.elapsed() };
        self.soft.is_some_and(|soft| is_forced || spent.as_secs_f64() >= soft.as_secs_f64() * factor)
    }

    /// Returns whether the time for this move is too short for helper threads to be of use.
    pub fn is_short(&self) -> bool {
        let short = Duration::from_millis(p::time_short_ms().max(0) as u64);
        self.soft.or(self.hard).is_some_and(|time| time < short)
    }

    /// Returns whether the search must stop at once.
    pub fn is_hard_over(&self) -> bool {
        !self.counts_nodes && self.hard.is_some_and(|hard| self.elapsed() >= hard)
    }

    /// Returns the nodes after which the search must stop at once, if they count instead of time.
    pub fn node_limit(&self) -> Option<u64> {
        self.hard.filter(|_| self.counts_nodes).map(|hard| u64::try_from(hard.as_micros()).unwrap_or(u64::MAX))
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
        for remaining in [0, 1, 20, 31, 100, 1000, 60_000, 10_000_000, u64::MAX] {
            for increment in [0, 10, 5000, u64::MAX] {
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
    fn the_share_follows_moves_to_go_and_increment() {
        let soft = |increment, moves_to_go| timer(60_030, increment, moves_to_go, 1).soft.unwrap();
        assert!(soft(0, Some(1)) > soft(0, Some(10)) && soft(0, Some(10)) > soft(0, None));
        assert_eq!(soft(0, Some(100)), soft(0, None));
        assert!(soft(1000, None) > soft(0, None));
        let [time, overhead] = [500, 30].map(Duration::from_millis);
        let timer = Timer::new(&Limits { movetime: Some(time), overhead, ..Limits::default() }, 1);
        assert_eq!((timer.soft, timer.hard), (None, Some(time - overhead)));
    }

    #[test]
    fn several_threads_keep_a_reserve() {
        let [alone, together] = [1, 4].map(|threads| timer(1000, 10, None, threads).hard.unwrap());
        assert!(together < alone);
        assert_eq!(timer(1000, 10, None, 4).hard, timer(980, 10, None, 1).hard);
        assert!(timer(400, 10, None, 4).is_short() && !timer(1000, 10, None, 4).is_short());
    }

    #[test]
    fn nodes_count_as_microseconds() {
        let clock = Some(Clock { remaining: Duration::from_secs(1), ..Clock::default() });
        let timer = Timer::new(&Limits { clock, nodes_as_time: true, ..Limits::default() }, 1);
        let soft = timer.soft.unwrap().as_micros() as u64;
        assert!(!timer.is_soft_over(soft - 1, 1.0, false) && timer.is_soft_over(soft + 1, 1.0, false));
        assert!((soft..1_000_000).contains(&timer.node_limit().unwrap()) && !timer.is_hard_over());
    }

    #[test]
    fn no_limit_no_end() {
        let timer = Timer::new(&Limits::default(), 1);
        assert!(!timer.is_soft_over(0, 0.0, true) && !timer.is_hard_over() && timer.node_limit().is_none());
    }
}
