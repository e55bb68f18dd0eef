//! The superpiece method for AVX2: a board of bytes in two registers, a board of words in four. The order of the bytes
//! is from the engine Clockwork.

use super::bytes::{STEPS, WINDOW_BITS};
use super::{Places, Superpiece};
use crate::simd::{SQUARES, Wordboard};
use crate::tables::superpiece;
use crate::types::{Color, Piece, Square};
use std::arch::x86_64::*;
use std::array::from_fn;

/// The method with AVX2.
pub struct Avx2;

/// Bytes of all slots or squares.
type Bytes = [__m256i; 2];

#[inline(always)]
fn load(bytes: &[u8; 64]) -> Bytes {
    // SAFETY: this module is compiled only if the target has AVX2; each half has 32 bytes.
    from_fn(|half| unsafe { _mm256_loadu_si256(bytes.as_chunks::<32>().0[half].as_ptr().cast()) })
}

#[inline(always)]
fn set(byte: u8) -> __m256i {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe { _mm256_set1_epi8(byte as i8) }
}

/// Returns for each index from 0 to 63 the byte of the table, and 0 for 0x80.
#[inline(always)]
fn permute([a, b]: Bytes, indices: Bytes) -> Bytes {
    // SAFETY: this module is compiled only if the target has AVX2.
    unsafe {
        let table = [
            _mm256_permute2x128_si256::<0x00>(a, a),
            _mm256_permute2x128_si256::<0x11>(a, a),
            _mm256_permute2x128_si256::<0x00>(b, b),
            _mm256_permute2x128_si256::<0x11>(b, b),
        ];
        indices.map(|index| {
            let [a, b, c, d] = table.map(|part| _mm256_shuffle_epi8(part, index));
            let (bit4, bit5) = (_mm256_slli_epi16::<3>(index), _mm256_slli_epi16::<2>(index));
            _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, bit4), _mm256_blendv_epi8(c, d, bit4), bit5)
        })
    }
}

/// What the superpiece sees from a square, by slot.
struct View {
    square: Square,
    places: Bytes,
    /// All ones up to the first piece of each ray, included; on knight's squares always.
    seen: Bytes,
}

impl View {
    #[inline(always)]
    fn new(board: Bytes, square: Square) -> Self {
        let rays = load(&superpiece().rays[square]);
        let places = permute(board, rays);
        // SAFETY: this module is compiled only if the target has AVX2.
        let seen = from_fn(|half| unsafe {
            // In each lane a borrow runs from distance 1 through empty squares up to the first piece. The slot of the
            // knight always changes and borrows only if it is empty; places are at least 2, so that even both
            // subtractions leave the first piece without a borrow.
            let borrowed = _mm256_sub_epi64(places[half], _mm256_set1_epi64x(0x0101));
            _mm256_andnot_si256(_mm256_cmpeq_epi8(places[half], borrowed), set(0xff))
        });
        Self { square, places, seen }
    }

    /// Returns by lane, in 64-bit numbers, the color and id of the slider that sees the square along it, or 0.
    #[inline(always)]
    fn sliders(&self) -> Bytes {
        let steps = load(&STEPS.0);
        // SAFETY: this module is compiled only if the target has AVX2.
        from_fn(|half| unsafe {
            let places = self.places[half];
            let slides =
                _mm256_cmpeq_epi8(_mm256_and_si256(places, _mm256_or_si256(steps[half], set(0x20))), steps[half]);
            let sliders =
                _mm256_and_si256(_mm256_and_si256(slides, self.seen[half]), _mm256_and_si256(places, set(0x1f)));
            // At most one byte of a lane is not 0.
            _mm256_sad_epu8(sliders, _mm256_setzero_si256())
        })
    }

    /// Returns by square what is in the lane opposite to the square's, and all ones if the square is seen or not in
    /// reach of a queen.
    #[inline(always)]
    fn to_board(&self, opposite: Bytes) -> (Bytes, Bytes) {
        let lanes = load(&superpiece().avx2_lanes[self.square]);
        // SAFETY: this module is compiled only if the target has AVX2.
        unsafe {
            // 16 times the distance to which a lane is seen.
            let weights = _mm256_set1_epi64x(0x1010_1010_1010_1000);
            let seen = self.seen.map(|seen| _mm256_sad_epu8(_mm256_and_si256(seen, weights), _mm256_setzero_si256()));
            // Both numbers of all lanes fit 16 bytes.
            let opposite = _mm256_or_si256(opposite[0], _mm256_slli_epi64::<8>(opposite[1]));
            let seen = _mm256_or_si256(_mm256_slli_epi64::<16>(seen[0]), _mm256_slli_epi64::<24>(seen[1]));
            let both = _mm256_or_si256(opposite, seen);
            let upper = _mm_slli_epi64::<32>(_mm256_extracti128_si256::<1>(both));
            let table = _mm256_broadcastsi128_si256(_mm_or_si128(_mm256_castsi256_si128(both), upper));
            (
                lanes.map(|lane| _mm256_shuffle_epi8(table, _mm256_xor_si256(lane, set(3)))),
                lanes.map(|lane| _mm256_cmpgt_epi8(_mm256_shuffle_epi8(table, lane), lane)),
            )
        }
    }
}

/// Returns the toggles of the sliders `to_board` gives.
#[inline(always)]
fn toggles((sliders, seen): (Bytes, Bytes)) -> Bytes {
    // SAFETY: this module is compiled only if the target has AVX2.
    from_fn(|half| unsafe { _mm256_and_si256(sliders[half], seen[half]) })
}

/// Returns all ones in the seen squares that a piece attacks.
#[inline(always)]
fn attacked_of(seen: Bytes, square: Square, piece: Piece) -> Bytes {
    let window = load(&superpiece().avx2_pieces[square]);
    let bit = set(WINDOW_BITS[piece as usize]);
    // SAFETY: this module is compiled only if the target has AVX2.
    from_fn(|half| unsafe { _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(window[half], bit), bit), seen[half]) })
}

impl Superpiece for Avx2 {
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
        // SAFETY: this module is compiled only if the target has AVX2.
        from_fn(|half| unsafe {
            let here = _mm256_cmpeq_epi8(squares[half], set(square as u8));
            _mm256_blendv_epi8(board[half], set(byte), here)
        })
    }

    #[inline(always)]
    fn through(board: Bytes, square: Square) -> Bytes {
        let view = View::new(board, square);
        toggles(view.to_board(view.sliders()))
    }

    #[inline(always)]
    fn attacked(board: Bytes, square: Square, piece: Piece) -> Bytes {
        // SAFETY: this module is compiled only if the target has AVX2.
        let none = unsafe { [_mm256_setzero_si256(); 2] };
        let (_, seen) = View::new(board, square).to_board(none);
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
        // SAFETY: this module is compiled only if the target has AVX2; each quarter of the table is aligned to 32
        // bytes. Four vectors are 64 words.
        unsafe {
            // `1 << id` as two bytes, but 0 for the id 0: no slider has the king's id.
            let low = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
            let high = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128));
            // Brings the top bit, for which the shuffle gives 0, to sliders of the other color.
            let base = set(if color == Color::White { 0x70 } else { 0xf0 });
            let (cleared, bits) = (_mm256_set1_epi16(cleared as i16), _mm256_set1_epi16(bits as i16));
            let mut words = [_mm256_setzero_si256(); 4];
            for half in 0..2 {
                let mut toggled = [_mm256_setzero_si256(); 2];
                for toggles in toggles {
                    let ids = _mm256_add_epi8(toggles[half], base);
                    toggled[0] = _mm256_xor_si256(toggled[0], _mm256_shuffle_epi8(low, ids));
                    toggled[1] = _mm256_xor_si256(toggled[1], _mm256_shuffle_epi8(high, ids));
                }
                let [low, high] = toggled;
                let all = squares[half];
                for (i, toggled, all) in [
                    (half, _mm256_unpacklo_epi8(low, high), _mm256_unpacklo_epi8(all, all)),
                    (half + 2, _mm256_unpackhi_epi8(low, high), _mm256_unpackhi_epi8(all, all)),
                ] {
                    let old = _mm256_load_si256(table.0.as_ptr().add(16 * i).cast());
                    let kept = _mm256_andnot_si256(cleared, _mm256_xor_si256(old, toggled));
                    words[i] = _mm256_or_si256(kept, _mm256_and_si256(all, bits));
                }
            }
            std::mem::transmute(words)
        }
    }
}
