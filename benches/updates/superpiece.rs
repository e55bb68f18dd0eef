//! The superpiece method on AVX2, after the articles on incremental attack tables by the author of Rose, with the byte
//! order of Clockwork: all sliders that a square uncovers or blocks change by one exclusive or for each color.

use super::{BLACK, Board, DIAGONAL, ID, LEAPER, ORTHOGONAL, color_and_id};
use kiln::simd::{Aligned, Wordboard};
use kiln::tables::superpiece;
use kiln::types::{Color, Piece, PieceType, Square};
use std::arch::x86_64::*;
use std::array::from_fn;

/// The bytes of 64 squares or slots.
type Bytes = Aligned<[u8; 64]>;
/// The same in vectors.
type Vectors = [__m256i; 2];

/// The superpiece's tables in the form that AVX2 wants.
#[repr(C, align(64))]
pub struct Geometry {
    /// The square of each slot, 0x80 off the board.
    rays: [Bytes; 64],
    /// The slot of each square, 0x80 out of reach, with the ranks in an order that unpacking to words restores.
    inverse: [Bytes; 64],
    /// All ones in the slots that a piece attacks.
    pieces: [Bytes; 12],
    /// The bit of a slider that moves in the direction of the slot's lane.
    directions: Bytes,
}

impl Geometry {
    pub fn new() -> Box<Self> {
        let source = superpiece();
        let ones = |slots: u64| Aligned(from_fn(|slot| if slots >> slot & 1 != 0 { 0xff } else { 0 }));
        let rays = |square: usize| {
            let is_valid = |slot| source.valid[square] >> slot & 1 != 0;
            Aligned(from_fn(|slot| if is_valid(slot) { source.rays[square][slot] } else { 0x80 }))
        };
        let pieces = |piece: usize| {
            let piece = Piece::ALL[piece];
            ones(match piece.kind() {
                PieceType::Pawn if piece.color() == Color::White => 0x0200_0000_0000_0200,
                PieceType::Pawn => 0x0000_0200_0200_0000,
                PieceType::Knight => 0x0101_0101_0101_0101,
                PieceType::Bishop => 0xfe00_fe00_fe00_fe00,
                PieceType::Rook => 0x00fe_00fe_00fe_00fe,
                PieceType::Queen => 0xfefe_fefe_fefe_fefe,
                PieceType::King => 0x0202_0202_0202_0202,
            })
        };
        let direction = |slot: usize| match (slot % 8, slot / 8 % 2) {
            (0, _) => 0,
            (_, 0) => ORTHOGONAL,
            _ => DIAGONAL,
        };
        Box::new(Self {
            rays: from_fn(rays),
            inverse: from_fn(|square| Aligned(source.avx2_inverse[square])),
            pieces: from_fn(pieces),
            directions: Aligned(from_fn(direction)),
        })
    }
}

/// What the superpiece sees from a square, in slots.
struct View {
    places: Vectors,
    /// All ones up to the first piece of each ray, included; on knight squares always.
    mask: Vectors,
    /// All ones where a slider sees the square.
    sliders: Vectors,
}

#[target_feature(enable = "avx2")]
fn load(bytes: &Bytes) -> Vectors {
    // SAFETY: each half of the 64 aligned bytes is aligned to 32.
    from_fn(|half| unsafe { _mm256_load_si256(bytes.0.as_chunks::<32>().0[half].as_ptr().cast()) })
}

/// Returns the byte of a table of 64 bytes at each index, or 0 for an index of 0x80. Each part of the table holds 16
/// bytes twice.
#[target_feature(enable = "avx2")]
fn permute(table: [__m256i; 4], index: __m256i) -> __m256i {
    let [a, b, c, d] = table.map(|part| _mm256_shuffle_epi8(part, index));
    let (bit4, bit5) = (_mm256_slli_epi16::<3>(index), _mm256_slli_epi16::<2>(index));
    _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, bit4), _mm256_blendv_epi8(c, d, bit4), bit5)
}

/// Repeats each 16 bytes, as [`permute`] wants its table.
#[target_feature(enable = "avx2")]
fn repeat([a, b]: Vectors) -> [__m256i; 4] {
    [
        _mm256_permute2x128_si256::<0x00>(a, a),
        _mm256_permute2x128_si256::<0x11>(a, a),
        _mm256_permute2x128_si256::<0x00>(b, b),
        _mm256_permute2x128_si256::<0x11>(b, b),
    ]
}

impl View {
    #[target_feature(enable = "avx2")]
    fn new(geometry: &Geometry, places: &Bytes, square: Square) -> Self {
        let table = repeat(load(places));
        let (rays, directions) = (load(&geometry.rays[square as usize]), load(&geometry.directions));
        let places = rays.map(|index| permute(table, index));
        let mask = from_fn(|half| {
            // In each lane a borrow runs from distance 1 through empty squares up to the first piece. The slot of the
            // knight always changes and borrows only if it is empty; places are at least 2, so that even both
            // subtractions leave the first piece without a borrow.
            let borrowed = _mm256_sub_epi64(places[half], _mm256_set1_epi64x(0x0101));
            let is_valid = _mm256_cmpgt_epi8(rays[half], _mm256_set1_epi8(-1));
            _mm256_andnot_si256(_mm256_cmpeq_epi8(places[half], borrowed), is_valid)
        });
        let sliders = from_fn(|half| {
            let direction = _mm256_and_si256(places[half], directions[half]);
            _mm256_andnot_si256(_mm256_cmpeq_epi8(direction, _mm256_setzero_si256()), mask[half])
        });
        Self { places, mask, sliders }
    }

    /// Returns in each slot the color and id of the slider that gains or loses this square, or 0: the slider in the
    /// opposite direction, if one sees the square from there.
    #[target_feature(enable = "avx2")]
    fn toggles(&self) -> Vectors {
        let spread: Vectors = from_fn(|half| {
            let seen = _mm256_and_si256(_mm256_and_si256(self.places[half], self.sliders[half]), set(BLACK | ID));
            // At most one byte of a lane is not 0; its sum is broadcast to the lane.
            let sum = _mm256_sad_epu8(seen, _mm256_setzero_si256());
            let lanes = _mm256_set_epi64x(0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808, 0);
            _mm256_shuffle_epi8(sum, lanes)
        });
        let without_knights = _mm256_set1_epi64x(!0xff);
        // Lanes are in compass order: the opposite one lies in the other half.
        from_fn(|half| _mm256_and_si256(_mm256_and_si256(spread[1 - half], self.mask[half]), without_knights))
    }
}

#[target_feature(enable = "avx2")]
fn set(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte as i8)
}

/// Brings slots back to the order of the board.
#[target_feature(enable = "avx2")]
fn to_board(geometry: &Geometry, square: Square, slots: Vectors) -> Vectors {
    let table = repeat(slots);
    load(&geometry.inverse[square as usize]).map(|index| permute(table, index))
}

/// The words of a table as vectors: exclusive or, clear, then set where `set` is all ones.
#[target_feature(enable = "avx2")]
fn update(table: &mut Wordboard, toggled: [__m256i; 4], cleared: u16, set: [__m256i; 4]) {
    let cleared = _mm256_set1_epi16(cleared as i16);
    for (i, words) in table.0.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let place: *mut __m256i = words.as_mut_ptr().cast();
        // SAFETY: a chunk of 16 words of the aligned table is aligned to 32 bytes.
        unsafe {
            let words = _mm256_andnot_si256(cleared, _mm256_xor_si256(_mm256_load_si256(place), toggled[i]));
            _mm256_store_si256(place, _mm256_or_si256(words, _mm256_and_si256(cleared, set[i])));
        }
    }
}

impl Board {
    /// Makes a move: toggles what all sliders see through its squares, removes the mover and adds it at its target.
    #[inline(always)]
    pub fn make_by_superpiece(&mut self, geometry: &Geometry, from: Square, to: Square, is_capture: bool) {
        // SAFETY: this module is compiled only if the target has AVX2.
        unsafe { self.make_with_avx2(geometry, from, to, is_capture) }
    }

    #[target_feature(enable = "avx2")]
    fn make_with_avx2(&mut self, geometry: &Geometry, from: Square, to: Square, is_capture: bool) {
        let (us, id) = color_and_id(self.places.0[from]);
        let piece = self.pieces[us][id];
        let captured = if is_capture { 1 << (self.places.0[to] & ID) } else { 0 };
        self.sliders[1 - us] &= !captured;
        let from_view = View::new(geometry, &self.places, from);
        self.move_piece(from, to);
        // The place on the square itself is not in its view.
        let to_view = View::new(geometry, &self.places, to);
        let mut info: Vectors = {
            let attacked = load(&geometry.pieces[piece as usize]);
            from_fn(|half| _mm256_and_si256(_mm256_and_si256(to_view.mask[half], attacked[half]), set(LEAPER)))
        };
        if !is_capture {
            let toggles = to_view.toggles();
            info = from_fn(|half| _mm256_or_si256(info[half], toggles[half]));
        }
        let boards = [to_board(geometry, from, from_view.toggles()), to_board(geometry, to, info)];

        // `1 << id` as two bytes; the king's id, 0, stands for no slider.
        let low = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
        let high = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128));
        let mut toggled = [[_mm256_setzero_si256(); 4]; 2];
        let mut added = [_mm256_setzero_si256(); 4];
        for half in 0..2 {
            for board in boards.map(|board| board[half]) {
                let ids = _mm256_and_si256(board, set(ID));
                let (low, high) = (_mm256_shuffle_epi8(low, ids), _mm256_shuffle_epi8(high, ids));
                let is_black = _mm256_cmpeq_epi8(_mm256_and_si256(board, set(BLACK)), set(BLACK));
                let colors = [
                    [low, high].map(|bytes| _mm256_andnot_si256(is_black, bytes)),
                    [low, high].map(|bytes| _mm256_and_si256(is_black, bytes)),
                ];
                for (toggled, [low, high]) in toggled.iter_mut().zip(colors) {
                    toggled[half] = _mm256_xor_si256(toggled[half], _mm256_unpacklo_epi8(low, high));
                    toggled[2 + half] = _mm256_xor_si256(toggled[2 + half], _mm256_unpackhi_epi8(low, high));
                }
            }
            let attacked = _mm256_cmpeq_epi8(_mm256_and_si256(boards[1][half], set(LEAPER)), set(LEAPER));
            added[half] = _mm256_unpacklo_epi8(attacked, attacked);
            added[2 + half] = _mm256_unpackhi_epi8(attacked, attacked);
        }
        update(&mut self.attacks[us], toggled[us], 1 << id, added);
        update(&mut self.attacks[1 - us], toggled[1 - us], captured, [_mm256_setzero_si256(); 4]);
    }
}
