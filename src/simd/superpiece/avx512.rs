//! The superpiece method for AVX-512 with 512-bit vectors: a board of bytes in one register, a board of words in two.

use super::{Places, SLIDER_STEP, Superpiece};
use crate::simd::Wordboard;
use crate::tables::{pseudo_attacks, superpiece};
use crate::types::{Color, Piece, Square};
use std::arch::x86_64::*;

/// The method with AVX-512 F and BW, and VBMI where the target has it.
pub struct Avx512;

/// All slots of the superpiece but those of its knight.
const WITHOUT_KNIGHTS: u64 = !0x0101_0101_0101_0101;

/// What the sliders of both sides gain or lose.
#[derive(Clone, Copy)]
pub struct Toggles {
    square: Square,
    /// The squares that any slider gains or loses.
    squares: u64,
    /// By lane: one bit, 16 times its color plus its id, of the slider that sees the square along the lane, or 0.
    sliders: __m512i,
}

/// What the superpiece sees from a square.
struct View {
    square: Square,
    /// By slot: the places, without those of the knight's squares.
    places: __m512i,
    /// By slot: differs from the places up to the first piece of each ray, included, and on the knight's squares.
    borrowed: __m512i,
    /// By square: not 0 up to the first piece of each ray, included, and on the knight's squares.
    seen: __m512i,
}

impl View {
    #[inline(always)]
    fn new(board: __m512i, square: Square) -> Self {
        let geometry = superpiece();
        let [rays, inverse] = [&geometry.rays[square], &geometry.inverse[square]];
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the loads read 64 bytes of the
        // tables.
        unsafe {
            let slots = geometry.valid[square] & WITHOUT_KNIGHTS;
            let places = permute(slots, _mm512_loadu_si512(rays.as_ptr().cast()), board);
            // In each lane a borrow runs from the knight's slot, which is empty here, through empty squares up to the
            // first piece, which stops it: places are at least 2.
            let borrowed = _mm512_sub_epi64(places, _mm512_set1_epi64(0x0101));
            let changed = _mm512_xor_si512(places, borrowed);
            let seen = permute(!0, _mm512_loadu_si512(inverse.as_ptr().cast()), changed);
            Self { square, places, borrowed, seen }
        }
    }

    /// Returns which of `squares` are seen.
    #[inline(always)]
    fn seen_of(&self, squares: u64) -> u64 {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
        unsafe { _mm512_mask_test_epi8_mask(squares, self.seen, self.seen) }
    }

    #[inline(always)]
    fn toggles(&self) -> Toggles {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the load reads 64 aligned bytes.
        let sliders = unsafe {
            // The first piece of each lane, alone in it, becomes the lane's number.
            let first = _mm512_maskz_mov_epi8(_mm512_cmpneq_epi8_mask(self.places, self.borrowed), self.places);
            let first = _mm512_sad_epu8(first, _mm512_setzero_si512());
            let steps = _mm512_load_si512(SLIDER_STEP.0.as_ptr().cast());
            let bits = _mm512_or_si512(steps, _mm512_set1_epi64(0x20));
            let is_slider = _mm512_cmpeq_epi64_mask(_mm512_and_si512(first, bits), steps);
            // Rotating takes the color and id, the lower six bits: bit 5 of a slider is clear.
            _mm512_maskz_rolv_epi64(is_slider, _mm512_set1_epi64(1), first)
        };
        Toggles { square: self.square, squares: self.seen_of(superpiece().queen_reach[self.square]), sliders }
    }

    #[inline(always)]
    fn attacked(&self, piece: Piece) -> u64 {
        self.seen_of(pseudo_attacks(piece, self.square).0)
    }
}

impl Superpiece for Avx512 {
    type Board = __m512i;
    type Toggles = Toggles;
    type Squares = u64;

    #[inline(always)]
    fn load(places: &Places) -> __m512i {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; the 64 bytes are aligned to 64.
        unsafe { _mm512_load_si512(places.0.as_ptr().cast()) }
    }

    #[inline(always)]
    fn with(board: __m512i, square: Square, byte: u8) -> __m512i {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
        unsafe { _mm512_mask_set1_epi8(board, 1 << square as u8, byte as i8) }
    }

    #[inline(always)]
    fn through(board: __m512i, square: Square) -> Toggles {
        View::new(board, square).toggles()
    }

    #[inline(always)]
    fn attacked(board: __m512i, square: Square, piece: Piece) -> u64 {
        View::new(board, square).attacked(piece)
    }

    #[inline(always)]
    fn update<const N: usize>(
        table: &Wordboard,
        color: Color,
        toggles: &[Toggles; N],
        cleared: u16,
        squares: u64,
        bits: u16,
    ) -> Wordboard {
        // SAFETY: this module is compiled only if the target has AVX-512 F and BW; each half of the table is aligned to
        // 64 bytes, and the loads of lanes read 32 words. Two vectors are 64 words.
        unsafe {
            let mut sums = [0, 32].map(|start| _mm512_load_si512(table.0.as_ptr().add(start).cast()));
            for (i, sum) in sums.iter_mut().enumerate() {
                for &Toggles { square, squares, sliders } in toggles {
                    let lanes = _mm512_loadu_si512(superpiece().opposite[square].as_ptr().add(32 * i).cast());
                    let sliders = if color == Color::White { sliders } else { _mm512_srli_epi64::<16>(sliders) };
                    let toggled = _mm512_maskz_permutexvar_epi16((squares >> (32 * i)) as u32, lanes, sliders);
                    *sum = _mm512_xor_si512(*sum, toggled);
                }
                let kept = _mm512_andnot_si512(_mm512_set1_epi16(cleared as i16), *sum);
                *sum = _mm512_or_si512(kept, _mm512_maskz_set1_epi16((squares >> (32 * i)) as u32, bits as i16));
            }
            std::mem::transmute(sums)
        }
    }
}

/// Returns for each of the bytes in `mask` the byte of `table` at its index, else 0.
#[cfg(target_feature = "avx512vbmi")]
#[inline(always)]
fn permute(mask: u64, index: __m512i, table: __m512i) -> __m512i {
    // SAFETY: this function is compiled only if the target has AVX-512 VBMI.
    unsafe { _mm512_maskz_permutexvar_epi8(mask, index, table) }
}

/// Returns for each of the bytes in `mask` the byte of `table` at its index, else 0.
#[cfg(not(target_feature = "avx512vbmi"))]
#[inline(always)]
fn permute(mask: u64, index: __m512i, table: __m512i) -> __m512i {
    // SAFETY: this module is compiled only if the target has AVX-512 F and BW.
    unsafe {
        let [a, b, c, d] = [
            _mm512_shuffle_i32x4::<0b00_00_00_00>(table, table),
            _mm512_shuffle_i32x4::<0b01_01_01_01>(table, table),
            _mm512_shuffle_i32x4::<0b10_10_10_10>(table, table),
            _mm512_shuffle_i32x4::<0b11_11_11_11>(table, table),
        ];
        let bit4 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(16));
        let bit5 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(32));
        let low = _mm512_mask_shuffle_epi8(_mm512_maskz_shuffle_epi8(mask, a, index), bit4 & mask, b, index);
        let high = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(c, index), bit4, d, index);
        _mm512_mask_mov_epi8(low, bit5 & mask, high)
    }
}
