//! Squares, rays, leapers, lines and superpiece lanes, by walking the board.

use crate::layout::{Leapers, Lines, NO_SLOT, Superpiece};

/// A square index, a1 = 0, h8 = 63.
pub type Square = usize;

/// A step as (files to the right, ranks up).
pub type Step = (i8, i8);

/// The eight directions in compass order: N, NE, E, SE, S, SW, W, NW.
pub const COMPASS: [Step; 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
/// How a rook moves.
pub const ROOK: [Step; 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
/// How a bishop moves.
pub const BISHOP: [Step; 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
/// How a knight moves, clockwise from NNE.
pub const KNIGHT: [Step; 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// The square one step away, or none beyond the edge.
#[inline]
pub fn step(square: Square, (files, ranks): Step) -> Option<Square> {
    let file = (square % 8) as i8 + files;
    let rank = (square / 8) as i8 + ranks;
    ((0..8).contains(&file) && (0..8).contains(&rank)).then_some((rank * 8 + file) as Square)
}

/// The squares passed from `square` (excluded) to the edge of the board, nearest first.
pub fn ray(square: Square, direction: Step) -> impl Iterator<Item = Square> {
    core::iter::successors(step(square, direction), move |&s| step(s, direction))
}

/// The attack set of a slider by walking: each ray ends at the first occupied square, which is included.
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

/// The squares whose occupancy changes a slider's attack set: its rays without their last squares.
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

/// Every subset of `mask`, the empty one first (the carry-rippler of Marcel van Kervinck).
pub fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    core::iter::successors(Some(0u64), move |&subset| {
        let next = subset.wrapping_sub(mask) & mask;
        (next != 0).then_some(next)
    })
}

fn reached(square: Square, steps: &[Step]) -> u64 {
    steps.iter().filter_map(|&s| step(square, s)).fold(0, |set, target| set | 1 << target)
}

/// Pawn, knight and king attacks.
pub fn leapers() -> Leapers {
    Leapers {
        pawn: [
            core::array::from_fn(|s| reached(s, &[(-1, 1), (1, 1)])),
            core::array::from_fn(|s| reached(s, &[(-1, -1), (1, -1)])),
        ],
        knight: core::array::from_fn(|s| reached(s, &KNIGHT)),
        king: core::array::from_fn(|s| reached(s, &COMPASS)),
    }
}

/// Between and line masks of all pairs of squares.
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

/// Superpiece rays, their valid masks and their inverses.
pub fn superpiece() -> Superpiece {
    let mut all = Superpiece { rays: [[0; 64]; 64], valid: [0; 64], inverse: [[NO_SLOT; 64]; 64], reach: [0; 64] };
    for square in 0..64 {
        let mut put = |slot: usize, target: Square| {
            all.rays[square][slot] = target as u8;
            all.valid[square] |= 1 << slot;
            all.inverse[square][target] = slot as u8;
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
    }
    all
}
