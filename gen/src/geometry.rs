//! Rays, leapers, lines and superpiece lanes, all computed by walking the board.

use crate::layout::{AVX2_RANKS, Leapers, Lines, NO_SLOT, PseudoAttacks, Superpiece, ThreatPairs, avx2_lane, pieces};

/// A square index, a1 = 0, h8 = 63.
pub type Square = usize;

/// A step as (files to the right, ranks up).
pub type Step = (i8, i8);

/// The eight directions in compass order: N, NE, E, SE, S, SW, W, NW.
pub const COMPASS: [Step; 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
/// The steps of a rook.
pub const ROOK: [Step; 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
/// The steps of a bishop.
pub const BISHOP: [Step; 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
/// The steps of a knight, clockwise from NNW.
pub const KNIGHT: [Step; 8] = [(-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1)];

/// Returns the square one step away, or `None` beyond the edge of the board.
#[inline]
pub fn step(square: Square, (files, ranks): Step) -> Option<Square> {
    let file = (square % 8) as i8 + files;
    let rank = (square / 8) as i8 + ranks;
    ((0..8).contains(&file) && (0..8).contains(&rank)).then_some((rank * 8 + file) as Square)
}

/// Returns the squares from `square` (excluded) to the edge of the board, nearest first.
pub fn ray(square: Square, direction: Step) -> impl Iterator<Item = Square> {
    core::iter::successors(step(square, direction), move |&s| step(s, direction))
}

/// Returns the attack set of a slider by walking its rays, each up to the first occupied square, which is included.
///
/// ```
/// use kiln_gen::geometry::{ROOK, slider_attacks};
/// // A rook on a1 with blockers on c1 and a2 attacks b1, c1 and a2.
/// assert_eq!(slider_attacks(0, &ROOK, 1 << 2 | 1 << 8), 1 << 1 | 1 << 2 | 1 << 8);
/// ```
#[inline]
pub fn slider_attacks(square: Square, directions: &[Step], occupied: u64) -> u64 {
    let mut attacks = 0;
    for &direction in directions {
        for target in ray(square, direction) {
            attacks |= 1 << target;
            if occupied >> target & 1 != 0 {
                break;
            }
        }
    }
    attacks
}

/// Returns the relevant occupancy mask of a slider: its rays without their last squares.
pub fn relevant_mask(square: Square, directions: &[Step]) -> u64 {
    let mut mask = 0;
    for &direction in directions {
        for target in ray(square, direction) {
            if step(target, direction).is_some() {
                mask |= 1 << target;
            }
        }
    }
    mask
}

/// Returns every subset of `mask`, the empty one first (Marcel van Kervinck's carry-rippler).
pub fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    core::iter::successors(Some(0u64), move |&subset| {
        let next = subset.wrapping_sub(mask) & mask;
        (next != 0).then_some(next)
    })
}

fn reached(square: Square, steps: &[Step]) -> u64 {
    steps.iter().filter_map(|&s| step(square, s)).fold(0, |set, target| set | 1 << target)
}

/// Returns the attack set of a piece. `color` is 0 for White and 1 for Black; `kind` is its type: 0 pawn, 1 knight,
/// 2 bishop, 3 rook, 4 queen, 5 king. Any other type attacks nothing.
pub fn attacks(color: usize, kind: usize, square: Square, occupied: u64) -> u64 {
    match kind {
        0 => reached(square, &PAWN[color]),
        1 => reached(square, &KNIGHT),
        2 => slider_attacks(square, &BISHOP, occupied),
        3 => slider_attacks(square, &ROOK, occupied),
        4 => slider_attacks(square, &COMPASS, occupied),
        5 => reached(square, &COMPASS),
        _ => 0,
    }
}

/// The captures of a pawn, by color.
const PAWN: [[Step; 2]; 2] = [[(-1, 1), (1, 1)], [(-1, -1), (1, -1)]];

/// Returns the attack sets of pawns, knights and kings.
pub fn leapers() -> Leapers {
    Leapers {
        pawn: PAWN.map(|steps| core::array::from_fn(|s| reached(s, &steps))),
        knight: core::array::from_fn(|s| reached(s, &KNIGHT)),
        king: core::array::from_fn(|s| reached(s, &COMPASS)),
    }
}

/// Returns the attack sets of all pieces on an empty board.
pub fn pseudo_attacks() -> PseudoAttacks {
    let attacks = |color, kind| core::array::from_fn(|square| attacks(color, kind, square, 0));
    PseudoAttacks { pieces: core::array::from_fn(|color| core::array::from_fn(|kind| attacks(color, kind))) }
}

/// Returns the squares between, and the line through, every pair of squares.
///
/// ```
/// let lines = kiln_gen::geometry::lines();
/// // Between e4 (28) and h7 (55) are f5 and g6.
/// assert_eq!(lines.between[28][55], 1 << 37 | 1 << 46);
/// assert_eq!(lines.between[28][54], 0);
/// ```
pub fn lines() -> Lines {
    let mut lines = Lines { between: [[0; 64]; 64], line: [[0; 64]; 64] };
    for a in 0..64 {
        for (i, &direction) in COMPASS.iter().enumerate() {
            let whole = ray(a, direction).chain(ray(a, COMPASS[(i + 4) % 8])).fold(1 << a, |set, s| set | 1 << s);
            let mut passed = 0;
            for b in ray(a, direction) {
                lines.between[a][b] = passed;
                lines.line[a][b] = whole;
                passed |= 1 << b;
            }
        }
    }
    lines
}

/// Returns the superpiece's rays, their valid masks and inverses, and which pieces attack which square.
pub fn superpiece() -> Superpiece {
    let mut all = Superpiece {
        rays: [[NO_SLOT; 64]; 64],
        valid: [0; 64],
        inverse: [[NO_SLOT; 64]; 64],
        reach: [0; 64],
        queen_reach: [0; 64],
        opposite: [[0; 64]; 64],
        avx2_lanes: [[NO_SLOT; 64]; 64],
        avx2_pieces: [[0; 64]; 64],
        pieces: [[0; 64]; 64],
    };
    for square in 0..64 {
        let mut put = |slot: usize, target: Square| {
            all.rays[square][slot] = target as u8;
            all.valid[square] |= 1 << slot;
            all.inverse[square][target] = slot as u8;
            all.opposite[square][target] = 4 * ((slot as u16 / 8) ^ 4);
            all.reach[square] |= 1 << target;
        };
        for lane in 0..8 {
            if let Some(target) = step(square, KNIGHT[lane]) {
                put(8 * lane, target);
            }
            for (i, target) in ray(square, COMPASS[lane]).enumerate() {
                put(8 * lane + 1 + i, target);
            }
        }
        all.queen_reach[square] = slider_attacks(square, &COMPASS, 0);
        let pawns = [pieces::WHITE_PAWN, pieces::BLACK_PAWN].into_iter().zip(PAWN.map(|steps| reached(square, &steps)));
        let others = [pieces::KNIGHT, pieces::BISHOP, pieces::ROOK, pieces::QUEEN, pieces::KING];
        let others = (1..).zip(others).map(|(kind, bit)| (bit, attacks(0, kind, square, 0)));
        for (bit, attacked) in pawns.chain(others) {
            for target in (0..64).filter(|target| attacked >> target & 1 != 0) {
                all.pieces[square][target] |= bit;
            }
        }
        for (row, rank) in AVX2_RANKS.into_iter().enumerate() {
            for file in 0..8 {
                let (at, target) = (8 * row + file, 8 * rank + file);
                all.avx2_pieces[square][at] = all.pieces[square][target];
                let slot = all.inverse[square][target];
                if slot != NO_SLOT && !slot.is_multiple_of(8) {
                    all.avx2_lanes[square][at] = (slot % 8 - 1) << 4 | avx2_lane(slot as usize / 8);
                }
            }
        }
    }
    all
}

/// Returns the numbers of the features of pairs of pieces.
pub fn threat_pairs() -> ThreatPairs {
    // The victims of pawns, knights, bishops, rooks and queens, in the order pawn, knight, bishop, rook, queen.
    const IS_VICTIM: [[bool; 5]; 5] = [
        [false, true, false, true, false],
        [true; 5],
        [true, true, true, true, false],
        [true, true, true, true, false],
        [true; 5],
    ];
    let mut all =
        ThreatPairs { bases: [[[ThreatPairs::NONE; 2]; 12]; 12], offsets: [[0; 64]; 12], targets: [[0; 64]; 12] };
    let mut features = 0;
    for (attacker, (color, kind)) in (0..2).flat_map(|color| (0..6).map(move |kind| (color, kind))).enumerate() {
        let mut offset = 0;
        for from in 0..64 {
            let is_possible = kind != 0 || (8..56).contains(&from);
            all.targets[attacker][from] = if is_possible { attacks(color, kind, from, 0) } else { 0 };
            all.offsets[attacker][from] = offset;
            offset += all.targets[attacker][from].count_ones();
        }
        let Some(is_victim) = IS_VICTIM.get(kind) else { continue };
        for victim in (0..12).filter(|victim| is_victim.get(victim % 6) == Some(&true)) {
            let lower = if victim % 6 == kind { ThreatPairs::NONE } else { features };
            all.bases[attacker][victim] = [lower, features];
            features += offset;
        }
    }
    assert_eq!(features as usize, ThreatPairs::FEATURES);
    all
}
