//! The superpiece method for NEON: a board of bytes in four registers, which one instruction can index, and a board of
//! words in eight.
//!
//! It reads the tables of the AVX2 backend: there the ranks of a vector of bytes are such that its lower half gives
//! words of one vector and its upper half those of another, which is as good here.

use super::bytes::{STEPS, WINDOW_BITS};
use super::{Places, Superpiece};
use crate::simd::{SQUARES, Wordboard};
use crate::tables::superpiece;
use crate::types::{Color, Piece, Square};
use kiln_gen::layout::avx2_lane;
use std::arch::aarch64::*;
use std::array::from_fn;

/// The method with NEON.
pub struct Neon;

/// Bytes of all slots or squares.
type Bytes = [uint8x16_t; 4];

/// Where [`View::to_board`] finds what the tables promise: the opposite lane's slider at the index of a lane with the
/// lowest two bits inverted, and at the index itself how far the lane is seen.
static PLACES_OF_LANES: [u8; 16] = {
    let mut places = [0; 16];
    let mut lane = 0;
    while lane < 8 {
        let index = avx2_lane(lane) as usize;
        places[index ^ 3] = (lane ^ 4) as u8;
        places[index] = 8 + lane as u8;
        lane += 1;
    }
    places
};

/// The lower bytes of `1 << id`, but 0 for the id 0: no slider has the king's id.
static LOW_BITS: [u8; 16] = [0, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
/// The upper bytes.
static HIGH_BITS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128];

#[inline(always)]
fn load(bytes: &[u8; 64]) -> Bytes {
    // SAFETY: this module is compiled only if the target has NEON; each quarter has 16 bytes.
    from_fn(|quarter| unsafe { vld1q_u8(bytes.as_chunks::<16>().0[quarter].as_ptr()) })
}

#[inline(always)]
fn set(byte: u8) -> uint8x16_t {
    // SAFETY: this module is compiled only if the target has NEON.
    unsafe { vdupq_n_u8(byte) }
}

/// What the superpiece sees from a square, by slot.
struct View {
    square: Square,
    places: Bytes,
    /// All ones beyond the first piece of each ray; never on knight's squares.
    unseen: Bytes,
}

impl View {
    #[inline(always)]
    fn new([a, b, c, d]: Bytes, square: Square) -> Self {
        // Slots that are not on the board get 0, as do all indices beyond a table.
        // SAFETY: this module is compiled only if the target has NEON.
        let places = load(&superpiece().rays[square]).map(|rays| unsafe { vqtbl4q_u8(uint8x16x4_t(a, b, c, d), rays) });
        // SAFETY: this module is compiled only if the target has NEON.
        let unseen = places.map(|places| unsafe {
            // In each lane a borrow runs from distance 1 through empty squares up to the first piece. The slot of the
            // knight always changes and borrows only if it is empty; places are at least 2, so that even both
            // subtractions leave the first piece without a borrow.
            let borrowed = vsubq_u64(vreinterpretq_u64_u8(places), vdupq_n_u64(0x0101));
            vceqq_u8(places, vreinterpretq_u8_u64(borrowed))
        });
        Self { square, places, unseen }
    }

    /// Returns by slot the color and id of the slider that sees the square along the slot's lane, and 0 elsewhere: at
    /// most one byte of a lane is not 0.
    #[inline(always)]
    fn sliders(&self) -> Bytes {
        let steps = load(&STEPS.0);
        // SAFETY: this module is compiled only if the target has NEON.
        from_fn(|i| unsafe {
            let places = self.places[i];
            let slides = vceqq_u8(vandq_u8(places, vorrq_u8(steps[i], set(0x20))), steps[i]);
            vandq_u8(vbicq_u8(slides, self.unseen[i]), vandq_u8(places, set(0x1f)))
        })
    }

    /// Returns by square what is in the lane opposite to the square's, and all ones if the square is seen or not in
    /// reach of a queen.
    #[inline(always)]
    fn to_board(&self, sliders: Bytes) -> (Bytes, Bytes) {
        let lanes = load(&superpiece().avx2_lanes[self.square]);
        // SAFETY: this module is compiled only if the target has NEON; the load reads all 16 bytes.
        unsafe {
            // 16 times the distance to which a lane is seen, when added up.
            let weights = vreinterpretq_u8_u64(vdupq_n_u64(0x1010_1010_1010_1000));
            // Three times the sums of neighbours leave one byte of each lane.
            let sums = |[a, b, c, d]: Bytes| vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            let both = vpaddq_u8(sums(sliders), sums(self.unseen.map(|unseen| vbicq_u8(weights, unseen))));
            let table = vqtbl1q_u8(both, vld1q_u8(PLACES_OF_LANES.as_ptr()));
            // Indices beyond the table give 0: those of squares that a queen does not reach.
            let index = lanes.map(|lane| vandq_u8(lane, set(0x8f)));
            (
                index.map(|index| vqtbl1q_u8(table, veorq_u8(index, set(3)))),
                from_fn(|i| {
                    let seen = vqtbl1q_u8(table, index[i]);
                    vcgtq_s8(vreinterpretq_s8_u8(seen), vreinterpretq_s8_u8(lanes[i]))
                }),
            )
        }
    }
}

/// Returns the toggles of the sliders `to_board` gives.
#[inline(always)]
fn toggles((sliders, seen): (Bytes, Bytes)) -> Bytes {
    // SAFETY: this module is compiled only if the target has NEON.
    from_fn(|i| unsafe { vandq_u8(sliders[i], seen[i]) })
}

/// Returns all ones in the seen squares that a piece attacks.
#[inline(always)]
fn attacked_of(seen: Bytes, square: Square, piece: Piece) -> Bytes {
    let window = load(&superpiece().avx2_pieces[square]);
    let bit = set(WINDOW_BITS[piece as usize]);
    // SAFETY: this module is compiled only if the target has NEON.
    from_fn(|i| unsafe { vandq_u8(vtstq_u8(window[i], bit), seen[i]) })
}

impl Superpiece for Neon {
    type Board = Bytes;
    /// The color and id of a slider, by square in the order of [`AVX2_RANKS`](kiln_gen::layout::AVX2_RANKS), or 0.
    type Toggles = Bytes;
    /// All ones in the bytes of the squares, in the same order.
    type Squares = Bytes;

    #[inline(always)]
    fn load(places: &Places) -> Bytes {
        load(&places.0)
    }

    #[inline(always)]
    fn with(board: Bytes, square: Square, byte: u8) -> Bytes {
        let squares = load(&SQUARES.0);
        // SAFETY: this module is compiled only if the target has NEON.
        from_fn(|i| unsafe { vbslq_u8(vceqq_u8(squares[i], set(square as u8)), set(byte), board[i]) })
    }

    #[inline(always)]
    fn through(board: Bytes, square: Square) -> Bytes {
        let view = View::new(board, square);
        toggles(view.to_board(view.sliders()))
    }

    #[inline(always)]
    fn attacked(board: Bytes, square: Square, piece: Piece) -> Bytes {
        let (_, seen) = View::new(board, square).to_board([set(0); 4]);
        attacked_of(seen, square, piece)
    }

    #[inline(always)]
    fn through_and_attacked(board: Bytes, square: Square, piece: Piece) -> (Bytes, Bytes) {
        let view = View::new(board, square);
        let (sliders, seen) = view.to_board(view.sliders());
        (toggles((sliders, seen)), attacked_of(seen, square, piece))
    }

    #[inline(always)]
    fn update<const N: usize>(
        table: &Wordboard,
        color: Color,
        toggles: &[Bytes; N],
        cleared: u16,
        squares: Bytes,
        bits: u16,
    ) -> Wordboard {
        let mut out = Wordboard([0; 64]);
        let (ranks, out_ranks) = (table.0.as_chunks::<8>().0, out.0.as_chunks_mut::<8>().0);
        // SAFETY: this module is compiled only if the target has NEON; each rank has 8 words, the tables 16 bytes.
        unsafe {
            let (low, high) = (vld1q_u8(LOW_BITS.as_ptr()), vld1q_u8(HIGH_BITS.as_ptr()));
            // Brings the index beyond the tables, which gives 0, to sliders of the other color.
            let base = set(if color == Color::White { 0 } else { 0x10 });
            let (cleared, bits) = (vdupq_n_u16(cleared), vdupq_n_u16(bits));
            for i in 0..4 {
                let mut toggled = [set(0); 2];
                for toggles in toggles {
                    let ids = veorq_u8(toggles[i], base);
                    toggled[0] = veorq_u8(toggled[0], vqtbl1q_u8(low, ids));
                    toggled[1] = veorq_u8(toggled[1], vqtbl1q_u8(high, ids));
                }
                let [low, high] = toggled;
                let all = squares[i];
                for (rank, toggled, all) in
                    [(i, vzip1q_u8(low, high), vzip1q_u8(all, all)), (i + 4, vzip2q_u8(low, high), vzip2q_u8(all, all))]
                {
                    let [toggled, all] = [toggled, all].map(|bytes| vreinterpretq_u16_u8(bytes));
                    let kept = vbicq_u16(veorq_u16(vld1q_u16(ranks[rank].as_ptr()), toggled), cleared);
                    vst1q_u16(out_ranks[rank].as_mut_ptr(), vorrq_u16(kept, vandq_u16(all, bits)));
                }
            }
        }
        out
    }
}
