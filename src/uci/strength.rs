//! Limited strength (`UCI_LimitStrength`).
//!
//! A limited engine errs as people do. It overlooks moves, quiet ones more often than captures and checks. It searches
//! few nodes, and so overlooks replies. And it misjudges: it may play a move that scores a little less than the best.
//!
//! The numbers are such that each level scores 65 to 85 % against the one 200 Elo below, and that level 1800 is about
//! as strong as Stockfish 15.1 with the same `UCI_Elo` (docs/results.md).

use super::output::Line;
use crate::board::Position;
use crate::types::{Move, PieceType, Score, Square};
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

/// The range of `UCI_Elo`. The upper end is full strength.
pub const ELO: RangeInclusive<u64> = 200..=3200;

/// For some Elo numbers, the node limit and the share of the ordinary quiet moves that is seen. Both are interpolated
/// geometrically.
const LEVELS: [(u64, f64, f64); 4] =
    [(*ELO.start(), 16.0, 0.18), (1600, 300.0, 0.84), (2000, 1000.0, 1.0), (*ELO.end(), 80_000.0, 1.0)];

/// Below this share of moves seen, moves are misjudged too.
const MISJUDGING: f64 = 0.7;

/// How the engine plays at an Elo number.
#[derive(Clone, Debug)]
pub struct Level {
    /// The node limit of a search.
    pub nodes: u64,
    /// The probability of seeing an ordinary quiet move.
    sight: f64,
    /// In centipawns. A move is played e times less often than one that scores this much more.
    temperature: f64,
}

impl Level {
    /// Returns the level of an Elo number, or `None` for full strength.
    pub fn new(elo: u64) -> Option<Self> {
        let elo = elo.max(*ELO.start());
        let segment = LEVELS.windows(2).find(|levels| elo < levels[1].0)?;
        let ((start, low_nodes, low_sight), (end, high_nodes, high_sight)) = (segment[0], segment[1]);
        let share = (elo - start) as f64 / (end - start) as f64;
        let between = |low: f64, high: f64| low * (high / low).powf(share);
        let sight = between(low_sight, high_sight);
        let temperature = (100.0 * (MISJUDGING - sight)).max(0.0);
        Some(Self { nodes: between(low_nodes, high_nodes) as u64, sight, temperature })
    }

    /// Returns the number of best moves to choose from. More lines cost nodes, so that few suffice where noise is
    /// small.
    pub fn choices(&self) -> usize {
        1 + self.temperature as usize / 10
    }

    /// Removes the moves that are overlooked, but never all. `last_target` is the target square of the opponent's move.
    pub fn overlook(&self, position: &Position, last_target: Option<Square>, moves: &mut Vec<Move>) {
        // A move is seen if this is at least 1.
        let visibility = |mv| random() / self.overlooking(looks(position, last_target, mv));
        let visibilities: Vec<(Move, f64)> = moves.iter().map(|&mv| (mv, visibility(mv))).collect();
        let Some(&(clearest, _)) = visibilities.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return };
        let seen = visibilities.iter().filter(|&&(mv, visibility)| mv == clearest || visibility >= 1.0);
        *moves = seen.map(|&(mv, _)| mv).collect();
    }

    /// Returns the probability of overlooking a move with so many looks.
    fn overlooking(&self, looks: f64) -> f64 {
        (1.0 - self.sight).powf(looks)
    }

    /// Returns the index of the line to play, one of the first [`Level::choices`], or `None` if there are no lines.
    pub fn choose(&self, lines: &[Line]) -> Option<usize> {
        self.choose_score(lines.iter().map(Line::score))
    }

    fn choose_score(&self, scores: impl Iterator<Item = Score>) -> Option<usize> {
        // The best after adding noise of the Gumbel distribution: the same as a choice by softmax.
        let noise = || -self.temperature * (-random().ln()).ln();
        let noisy = scores.take(self.choices()).map(|score| f64::from(score.value()) + noise());
        noisy.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(index, _)| index)
    }
}

/// Returns how often a player looks at a move; at an ordinary quiet move once. Recaptures are seen best, then captures,
/// checks and moves of attacked pieces. Moves backward are seen less than others.
fn looks(position: &Position, last_target: Option<Square>, mv: Move) -> f64 {
    let (us, from, to) = (position.side_to_move(), mv.from(), mv.to());
    if mv.is_capture() && last_target == Some(to) {
        return 4.0;
    }
    let is_conspicuous = mv.is_noisy() || position.is_attacked(from, !us) || position.gives_check(mv);
    let is_pawn = position.pieces(us, PieceType::Pawn).has(from);
    let is_retreat = !is_pawn && to.rank().relative(us) < from.rank().relative(us);
    (if is_conspicuous { 2.0 } else { 1.0 }) * (if is_retreat { 0.7 } else { 1.0 })
}

/// Returns a random number above 0 and below 1.
fn random() -> f64 {
    // The random keys of a hasher suffice.
    let bits = RandomState::new().hash_one(0) >> 12;
    (bits as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(elo: u64) -> Level {
        Level::new(elo).unwrap()
    }

    #[test]
    fn levels_grow_with_strength() {
        assert!(Level::new(*ELO.end()).is_none() && Level::new(u64::MAX).is_none());
        let levels: Vec<Level> = (*ELO.start()..*ELO.end()).step_by(10).map(level).collect();
        for pair in levels.windows(2) {
            let [weak, strong] = pair else { unreachable!() };
            assert!(weak.nodes <= strong.nodes && weak.sight <= strong.sight, "{weak:?} {strong:?}");
            assert!(weak.temperature >= strong.temperature && weak.choices() >= strong.choices());
        }
        for elo in (*ELO.start()..*ELO.end() - 200).step_by(200) {
            assert!(level(elo).nodes < level(elo + 200).nodes, "{elo}");
        }
        assert_eq!([0, 200, 1600, 2000].map(|elo| level(elo).nodes), [16, 16, 300, 1000]);
    }

    #[test]
    fn conspicuous_moves_are_overlooked_less_often() {
        // The rook on d4 is attacked; the pawn on e5 has just captured.
        let position: Position = "4k3/8/8/4p3/3R4/2N5/8/4K3 w - - 0 1".parse().unwrap();
        let last_target = Some(Square::E5);
        let looks = |text| looks(&position, last_target, position.parse_move(text).unwrap());
        // The king's step, the knight's retreat, a check, a move of the attacked rook, its retreat.
        assert_eq!(["e1f2", "c3b1", "d4d8", "d4a4", "d4d1"].map(looks), [1.0, 0.7, 2.0, 2.0, 1.4]);
        let capture: Position = "4k3/8/8/4p3/8/2N2N2/8/4K3 w - - 0 1".parse().unwrap();
        let take = capture.parse_move("f3e5").unwrap();
        assert_eq!([last_target, None].map(|target| super::looks(&capture, target, take)), [4.0, 2.0]);
        for elo in [200, 1000, 1800] {
            let overlooking = [0.7, 1.0, 1.4, 2.0, 4.0].map(|looks| level(elo).overlooking(looks));
            assert!(overlooking.is_sorted_by(|quiet, loud| quiet > loud), "{overlooking:?}");
        }
    }

    #[test]
    fn some_moves_are_overlooked_but_never_all() {
        let position = Position::startpos();
        let all = position.moves().to_vec();
        let seen = |elo, moves: &[Move]| {
            let mut moves = moves.to_vec();
            level(elo).overlook(&position, None, &mut moves);
            moves
        };
        let mut total = 0;
        for _ in 0..500 {
            assert_eq!(seen(*ELO.start(), &all[3..4]), all[3..4]);
            assert_eq!(seen(2000, &all), all);
            let weak = seen(*ELO.start(), &all);
            assert!(!weak.is_empty() && weak.iter().all(|mv| all.contains(mv)));
            total += weak.len();
        }
        // Each of the 20 ordinary moves is seen with a probability of 0.18: 1800 in all, with a deviation of 38.
        assert!((1600..2000).contains(&total), "{total}");
        let mut none = Vec::new();
        level(1000).overlook(&position, None, &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn weak_play_prefers_better_moves() {
        let weakest = level(*ELO.start());
        let scores = [40, -5, -200, 40, 40, 40, 900].map(Score::centipawns);
        let scores = &scores[..];
        assert_eq!(weakest.choices(), 6);
        let mut counts = [0; 7];
        for _ in 0..1000 {
            counts[weakest.choose_score(scores.iter().copied()).unwrap()] += 1;
            // Where nothing is misjudged, only the best line counts.
            assert_eq!(level(1600).choose_score(scores.iter().copied()), Some(0));
        }
        // The first three are in the ratio 1 : e^-0.87 : e^-4.6.
        assert!(counts[0] > counts[1] && counts[1] > counts[2] && counts[6] == 0, "{counts:?}");
        assert!(weakest.choose(&[]).is_none());
    }
}
