//! The superpiece method for AVX-512 as the articles by the author of Rose publish it: each lane is filled with the
//! byte of its slider, and bytes are brought back to the order of the board before they become words.

use kiln::simd::Wordboard;
use kiln::simd::superpiece::{Native, Places, Superpiece};
use kiln::tables::{pseudo_attacks, superpiece};
use kiln::types::{Color, Piece, Square};
use std::arch::x86_64::*;

const WITHOUT_KNIGHTS: u64 = !0x0101_0101_0101_0101;

/// The published method. Lanes are filled by two GFNI instructions if `GFNI`, else by a sum and a shuffle.
pub struct Published<const GFNI: bool>;

/// What the superpiece sees from a square, by slot.
struct View {
    places: __m512i,
    /// The slots up to the first piece of each ray, and the knight's.
    seen: u64,
}

#[inline(always)]
fn view(board: __m512i, square: Square) -> View {
    let rays = &superpiece().rays[square];
    // SAFETY: this module is compiled only if the target has AVX-512 VBMI; the load reads 64 bytes.
    unsafe {
        let valid = superpiece().valid[square];
        let places = _mm512_maskz_permutexvar_epi8(valid, _mm512_loadu_si512(rays.as_ptr().cast()), board);
        let borrowed = _mm512_sub_epi64(places, _mm512_set1_epi64(0x0101));
        View { places, seen: _mm512_mask_cmpneq_epi8_mask(valid, places, borrowed) }
    }
}

impl View {
    #[inline(always)]
    fn toggles<const GFNI: bool>(&self, square: Square) -> __m512i {
        let inverse = &superpiece().inverse[square];
        // SAFETY: as in `view`, and the target has GFNI.
        unsafe {
            let steps = _mm512_set_epi64(
                0x4040_4040_4040_40e0,
                0x8080_8080_8080_80e0_u64 as i64,
                0x4040_4040_4040_40e0,
                0x8080_8080_8080_80e0_u64 as i64,
                0x4040_4040_4040_40e0,
                0x8080_8080_8080_80e0_u64 as i64,
                0x4040_4040_4040_40e0,
                0x8080_8080_8080_80e0_u64 as i64,
            );
            let bits = _mm512_and_si512(self.places, _mm512_or_si512(steps, _mm512_set1_epi8(0x20)));
            let sliders = _mm512_mask_cmpeq_epi8_mask(self.seen, bits, steps);
            let sliders = _mm512_and_si512(_mm512_maskz_mov_epi8(sliders, self.places), _mm512_set1_epi8(0x1f));
            let filled = if GFNI {
                // Transposes each lane, then adds up its bits in each byte.
                let lanes = _mm512_set1_epi64(0x0102_0408_1020_4080);
                let transposed = _mm512_gf2p8affine_epi64_epi8::<0>(lanes, sliders);
                _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(-1), transposed)
            } else {
                let sums = _mm512_sad_epu8(sliders, _mm512_setzero_si512());
                _mm512_shuffle_epi8(sums, _mm512_broadcast_i32x4(_mm_set_epi64x(0x0808_0808_0808_0808, 0)))
            };
            let opposite = _mm512_shuffle_i64x2::<0b01_00_11_10>(filled, filled);
            let toggles = _mm512_maskz_mov_epi8(self.seen & WITHOUT_KNIGHTS, opposite);
            let reach = superpiece().queen_reach[square];
            _mm512_maskz_permutexvar_epi8(reach, _mm512_loadu_si512(inverse.as_ptr().cast()), toggles)
        }
    }

    #[inline(always)]
    fn attacked(&self, square: Square, piece: Piece) -> u64 {
        let inverse = &superpiece().inverse[square];
        // SAFETY: as in `view`, and the target has BITALG.
        let visible = unsafe {
            let slots = _mm512_set1_epi64(self.seen as i64);
            _mm512_bitshuffle_epi64_mask(slots, _mm512_loadu_si512(inverse.as_ptr().cast()))
        };
        visible & pseudo_attacks(piece, square).0
    }
}

impl<const GFNI: bool> Superpiece for Published<GFNI> {
    type Board = __m512i;
    /// The color and id of a slider by square, or 0.
    type Toggles = __m512i;
    type Squares = u64;

    #[inline(always)]
    fn load(places: &Places) -> __m512i {
        Native::load(places)
    }

    #[inline(always)]
    fn with(board: __m512i, square: Square, byte: u8) -> __m512i {
        Native::with(board, square, byte)
    }

    #[inline(always)]
    fn through(board: __m512i, square: Square) -> __m512i {
        view(board, square).toggles::<GFNI>(square)
    }

    #[inline(always)]
    fn attacked(board: __m512i, square: Square, piece: Piece) -> u64 {
        view(board, square).attacked(square, piece)
    }

    #[inline(always)]
    fn update<const N: usize>(
        table: &Wordboard,
        color: Color,
        toggles: &[__m512i; N],
        cleared: u16,
        squares: u64,
        bits: u16,
    ) -> Wordboard {
        // SAFETY: as in `view`; each half of the table is aligned to 64 bytes. Two vectors are 64 words.
        unsafe {
            let mut sums = [0, 32].map(|start| _mm512_load_si512(table.0.as_ptr().add(start).cast()));
            for (i, sum) in sums.iter_mut().enumerate() {
                for &toggles in toggles {
                    let wanted = if color == Color::White {
                        _mm512_mask_testn_epi8_mask(
                            _mm512_test_epi8_mask(toggles, toggles),
                            toggles,
                            _mm512_set1_epi8(0x10),
                        )
                    } else {
                        _mm512_test_epi8_mask(toggles, _mm512_set1_epi8(0x10))
                    };
                    let ids = _mm512_and_si512(toggles, _mm512_set1_epi8(15));
                    let half = if i == 0 { _mm512_castsi512_si256(ids) } else { _mm512_extracti64x4_epi64::<1>(ids) };
                    let (one, ids) = (_mm512_set1_epi16(1), _mm512_cvtepu8_epi16(half));
                    *sum = _mm512_xor_si512(*sum, _mm512_maskz_sllv_epi16((wanted >> (32 * i)) as u32, one, ids));
                }
            }
            Native::update(&std::mem::transmute::<[__m512i; 2], Wordboard>(sums), color, &[], cleared, squares, bits)
        }
    }
}
