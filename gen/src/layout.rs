//! The types of the blobs, shared by the writer (a build script) and the reader (the engine).
//!
//! Each is `#[repr(C)]`, free of padding (checked at compile time) and valid for every bit pattern, so a reader may
//! view an aligned little-endian blob as the type itself.

/// Alignment of every blob in bytes: a cache line, and the widest vector register.
pub const ALIGN: usize = 64;

mod sealed {
    pub trait Sealed {}
}

/// A type without padding that is valid for every bit pattern. Sealed: readers rely on it for soundness.
pub trait Plain: sealed::Sealed + Copy + 'static {
    /// Does not compile if the type has padding. [`embed!`](crate::embed!) evaluates it.
    #[doc(hidden)]
    const CHECKED: () = ();

    /// Appends the little-endian bytes of `self`, `size_of::<Self>()` of them.
    fn write_le(&self, out: &mut impl Extend<u8>);
}

macro_rules! plain_numbers {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl Plain for $t {
            fn write_le(&self, out: &mut impl Extend<u8>) {
                out.extend(self.to_le_bytes());
            }
        }
    )*};
}
plain_numbers!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64);

impl<T: Plain, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Plain, const N: usize> Plain for [T; N] {
    const CHECKED: () = T::CHECKED;

    fn write_le(&self, out: &mut impl Extend<u8>) {
        for element in self {
            element.write_le(out);
        }
    }
}

macro_rules! plain_structs {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $t:ty,)* })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $t,)* }

        const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$t>())*, "a blob type has padding");
        impl sealed::Sealed for $name {}
        impl Plain for $name {
            fn write_le(&self, out: &mut impl Extend<u8>) {
                $(self.$field.write_le(out);)*
            }
        }
    )*};
}

plain_structs! {
    /// The magic of one slider on one square. [`Magic::index`] leads to the attack set in the attack table.
    pub struct Magic {
        /// The relevant occupancy mask: the squares whose occupancy matters, edges excluded.
        pub mask: u64,
        /// The magic factor.
        pub factor: u64,
        /// Index of this square's first entry in the attack table.
        pub offset: u32,
        /// 64 minus the number of index bits, 1 to 63.
        pub shift: u32,
    }

    /// The magics of both slider types, by square. The attack table is a blob of its own: a list of `u64`.
    pub struct Sliders {
        /// Rook magics.
        pub rook: [Magic; 64],
        /// Bishop magics.
        pub bishop: [Magic; 64],
    }

    /// One slider on one square for processors with PEXT. [`Pext::index`] leads to the attack set in the attack table.
    pub struct Pext {
        /// The relevant occupancy mask: the squares whose occupancy matters, edges excluded.
        pub mask: u64,
        /// Index of this square's first entry in the attack table.
        pub offset: u64,
    }

    /// Both slider types by square, for processors with PEXT. The attack table is a blob of its own: a list of `u64`.
    pub struct PextSliders {
        /// Rooks.
        pub rook: [Pext; 64],
        /// Bishops.
        pub bishop: [Pext; 64],
    }

    /// Attack sets of the leapers: pawns, knights and kings.
    pub struct Leapers {
        /// Pawn captures by color (white first) and square.
        pub pawn: [[u64; 64]; 2],
        /// Knight attacks by square.
        pub knight: [u64; 64],
        /// King attacks by square.
        pub king: [u64; 64],
    }

    /// Attack sets of all pieces on an empty board.
    pub struct PseudoAttacks {
        /// By color (white first), piece type (pawn, knight, bishop, rook, queen, king) and square.
        pub pieces: [[[u64; 64]; 6]; 2],
    }

    /// Squares between two squares and on their common rank, file or diagonal; 0 for pairs that share none, and for a
    /// square with itself.
    pub struct Lines {
        /// The squares strictly between the two.
        pub between: [[u64; 64]; 64],
        /// The whole line through both, from edge to edge, both included.
        pub line: [[u64; 64]; 64],
    }

    /// Random keys, combined by exclusive or into the Zobrist key of a position.
    pub struct Zobrist {
        /// By color (white first), piece type (pawn, knight, bishop, rook, queen, king) and square.
        pub pieces: [[[u64; 64]; 6]; 2],
        /// Castling rights by color and file of the rook, as Chess960 needs.
        pub castling: [[u64; 8]; 2],
        /// Possible en passant capture by file.
        pub en_passant: [u64; 8],
        /// Black to move.
        pub black_to_move: u64,
    }

    /// Superpiece geometry: the targets from each square of a queen and knight in one, in 8 lanes of 8 slots.
    ///
    /// Lane *d* (N, NE, E, SE, S, SW, W, NW) holds slots 8*d*…8*d*+7: first one knight square, counterclockwise of the
    /// direction, then the squares at distance 1…7. The idea is from the articles on incremental attack tables by the
    /// author of the engine Rose.
    pub struct Superpiece {
        /// The square of each slot, [`NO_SLOT`] where the slot leaves the board.
        pub rays: [[u8; 64]; 64],
        /// One bit per slot: the slot is on the board.
        pub valid: [u64; 64],
        /// The slot of each square, [`NO_SLOT`] where the superpiece does not reach.
        pub inverse: [[u8; 64]; 64],
        /// The squares that the superpiece attacks on an empty board.
        pub reach: [u64; 64],
        /// The squares that a queen attacks on an empty board.
        pub queen_reach: [u64; 64],
        /// Four times the lane opposite to that of [`Superpiece::inverse`], 0 where the superpiece does not reach: the
        /// index of the lane's first word in a vector of words.
        pub opposite: [[u16; 64]; 64],
        /// For AVX2 and NEON, by square and target, with the ranks of the targets in the order of [`AVX2_RANKS`]: 16
        /// times the distance less 1, plus where the target's lane is in a vector of 16 bytes (see [`avx2_lane`]);
        /// [`NO_SLOT`] where a queen does not reach.
        pub avx2_lanes: [[u8; 64]; 64],
        /// [`Superpiece::pieces`] with the ranks of the targets in the order of [`AVX2_RANKS`].
        pub avx2_pieces: [[u8; 64]; 64],
        /// By square and target: which pieces on the square attack the target on an empty board, as a set of the bits
        /// in [`pieces`]. With the two pawns exchanged, which pieces on the target attack the square.
        pub pieces: [[u8; 64]; 64],
    }

    /// Numbers the features of pairs of pieces, in which one attacks or defends the other.
    ///
    /// Pieces are relative to a perspective: their types, plus 6 if they are the other side's. Squares are those that
    /// the perspective sees. Kings neither attack nor count. Pawns attacking bishops and queens, and bishops and rooks
    /// attacking queens, are left out, because these attack back; so are pawns attacking pawns. Of two equal pieces
    /// only the one on the higher square counts. The selection is that of the engines Stockfish, PlentyChess and
    /// Viridithas.
    pub struct ThreatPairs {
        /// By attacker, victim, and whether the attacker's square is higher: the first feature of such pairs, or
        /// [`ThreatPairs::NONE`].
        pub bases: [[[u32; 2]; 12]; 12],
        /// By attacker and its square: the number of targets from all lower squares, on an empty board.
        pub offsets: [[u32; 64]; 12],
        /// By attacker and its square: its targets on an empty board.
        pub targets: [[u64; 64]; 12],
    }

    /// All reversible moves, found by the difference of the Zobrist keys before and after.
    ///
    /// Marcel van Kervinck's method: each difference is in one of two slots, so a look-up reads two numbers.
    pub struct Cuckoo {
        /// The exclusive or of the keys of the piece on both squares and of the side to move; 0 in an empty slot.
        pub keys: [u64; Cuckoo::SLOTS],
        /// The two squares of that move, the lower first.
        pub squares: [[u8; 2]; Cuckoo::SLOTS],
    }
}

impl Magic {
    /// Returns the index in the attack table of the attack set for `occupied`.
    ///
    /// It is at least [`offset`](Self::offset) and below [`end`](Self::end).
    ///
    /// ```
    /// use kiln_gen::layout::Magic;
    /// // A bishop on a1: the factor brings each square of the mask to an index bit of its own.
    /// let a1 = Magic { mask: 0x0040_2010_0804_0200, factor: 0x0202_0202_0202_0200, offset: 0, shift: 58 };
    /// let b2_and_d4 = 1 << 9 | 1 << 27;
    /// assert_eq!(a1.index(b2_and_d4), 0b101);
    /// // Squares off the mask do not matter.
    /// assert_eq!(a1.index(b2_and_d4 | 1 << 1), 0b101);
    /// assert_eq!((a1.index(!0), a1.end()), (63, 64));
    /// ```
    #[inline]
    pub const fn index(&self, occupied: u64) -> usize {
        self.offset as usize + ((occupied & self.mask).wrapping_mul(self.factor) >> self.shift) as usize
    }

    /// Returns the index after the last one of this square's window: `offset + 2^(64 - shift)`.
    ///
    /// # Panics
    /// In debug builds and constant expressions, if the shift is not 1 to 63.
    pub const fn end(&self) -> usize {
        self.offset as usize + (1 << (64 - self.shift))
    }
}

impl Pext {
    /// Returns the index of the attack set in the attack table, given the occupied squares: the bits of `occupied` on
    /// the mask, put side by side.
    ///
    /// This is the reference, a slow loop, because this crate has no `unsafe` code. On a processor with BMI2 the index
    /// is `offset + _pext_u64(occupied, mask)`, one instruction.
    ///
    /// ```
    /// use kiln_gen::layout::Pext;
    /// let a1 = Pext { mask: 0b1011_0000, offset: 100 };
    /// assert_eq!(a1.index(0b1001_1111), 100 + 0b101);
    /// ```
    pub const fn index(&self, occupied: u64) -> usize {
        let (mut mask, mut index, mut place) = (self.mask, self.offset as usize, 0);
        while mask != 0 {
            index += ((occupied >> mask.trailing_zeros() & 1) as usize) << place;
            place += 1;
            mask &= mask - 1;
        }
        index
    }
}

impl ThreatPairs {
    /// The number of features.
    pub const FEATURES: usize = 59_808;
    /// Marks pairs without a feature.
    pub const NONE: u32 = u32::MAX;

    /// Returns the feature of an attacker on `from` and a victim on `to`, which it attacks, or `None` if the pair has
    /// none.
    #[inline]
    pub const fn feature(&self, attacker: usize, from: usize, victim: usize, to: usize) -> Option<usize> {
        match self.bases[attacker][victim][(from > to) as usize] {
            Self::NONE => None,
            base => {
                let before = self.targets[attacker][from] & ((1 << to) - 1);
                Some((base + self.offsets[attacker][from] + before.count_ones()) as usize)
            }
        }
    }
}

impl Cuckoo {
    /// The number of slots.
    pub const SLOTS: usize = 8192;

    /// Returns the two slots in which a key difference may be.
    #[inline]
    pub const fn slots(key: u64) -> [usize; 2] {
        [key as usize % Self::SLOTS, (key >> 16) as usize % Self::SLOTS]
    }

    /// Returns the squares of the reversible move with this key difference, the lower first, or `None` if no move has
    /// it.
    #[inline]
    pub fn find(&self, key: u64) -> Option<[u8; 2]> {
        let slot = Self::slots(key).into_iter().find(|&slot| self.keys[slot] == key)?;
        // A difference of 0 would find an empty slot.
        (key != 0).then(|| self.squares[slot])
    }
}

/// Late move reductions in 1/1024 ply, by depth and move number.
pub type Reductions = [[i16; 64]; 64];

/// The order of the ranks in tables for AVX2 and NEON, counted from 0.
///
/// Unpacking the low and the high bytes of 32-byte vectors works on halves of 16 bytes. With this order the low bytes
/// of both vectors give the words of ranks 1 to 4, and the high bytes those of ranks 5 to 8 (from the engine
/// Clockwork).
pub const AVX2_RANKS: [usize; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// Returns where the byte of a lane, 0 to 7, is in a vector of 16 bytes that AVX2 and NEON code makes of all lanes. A
/// second byte of the opposite lane is at the index with the lowest two bits inverted.
pub const fn avx2_lane(lane: usize) -> u8 {
    // Two lanes to a group of four bytes; of the eight bytes of a 64-bit number the upper half is two lanes further.
    [0, 8, 4, 12][lane % 4] + 2 + (lane / 4) as u8
}

/// The bits in [`Superpiece::pieces`].
pub mod pieces {
    /// A white pawn on any rank, the first and last included.
    pub const WHITE_PAWN: u8 = 1;
    /// A black pawn, likewise.
    pub const BLACK_PAWN: u8 = 2;
    /// A knight.
    pub const KNIGHT: u8 = 4;
    /// A bishop.
    pub const BISHOP: u8 = 8;
    /// A rook.
    pub const ROOK: u8 = 16;
    /// A queen.
    pub const QUEEN: u8 = 32;
    /// A king.
    pub const KING: u8 = 64;
}

/// Marks a square in [`Superpiece::inverse`] that no slot holds, and a slot in [`Superpiece::rays`] off the board. Byte
/// shuffles give 0 where the top bit of the index is set.
pub const NO_SLOT: u8 = 0x80;

/// An order of neurons in memory from which an instruction set packs two vectors of 16-bit numbers into one vector of
/// bytes in natural order.
///
/// x86 packs in 16-byte parts: eight numbers of the first vector, then eight of the second, and so on with the next
/// part of each. So the first vector must hold the groups of eight with even numbers, the second those with odd
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Bytes of a vector: 16, 32 or 64. With 16 the order is the natural one.
    pub vector: usize,
}

impl Packing {
    /// The natural order.
    pub const PLAIN: Self = Self { vector: 16 };

    /// Returns this packing for rows of `count` bytes that are packed from words or unpacked into words, or the natural
    /// order if they do not fill vectors.
    #[inline]
    pub const fn for_row(self, count: usize) -> Self {
        if count.is_multiple_of(self.vector) { self } else { Self::PLAIN }
    }

    /// Returns the natural index of the number at `place` in memory.
    #[inline]
    pub const fn number_at(self, place: usize) -> usize {
        // `vector` bytes are packed from as many 16-bit numbers, in two vectors.
        let (start, eight) = (place / self.vector * self.vector, place % self.vector / 8);
        let parts = self.vector / 16;
        let eight = if eight < parts { 2 * eight } else { 2 * (eight - parts) + 1 };
        start + 8 * eight + place % 8
    }
}

/// The feature transformer, the first layer of a network: `HIDDEN` weights for each input feature (a piece on a
/// square). An accumulator is the sum of the bias and the weights of one perspective's active features.
///
/// Rows start at multiples of 64 bytes if `HIDDEN` is a multiple of 32. If a [`LayersHead`] follows, the neurons are
/// not in the asset's order: the most frequently active ones come first, in the order of a [`Packing`] within pairs of
/// vectors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Features<const HIDDEN: usize, const SETS: usize> {
    /// By feature set (king bucket of the perspective and state of the piece), the piece's color (0 = the
    /// perspective's own), its type, and its square from the perspective's side.
    pub weights: [[[[[i16; HIDDEN]; 64]; 6]; 2]; SETS],
    /// The value of an accumulator without features.
    pub bias: [i16; HIDDEN],
}

/// The head of a network that has one layer after the accumulators.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SingleHead<const HIDDEN: usize, const BUCKETS: usize> {
    /// By output bucket: the weights of the side to move's accumulator, then of the other side's.
    pub weights: [[[i16; HIDDEN]; 2]; BUCKETS],
    /// By output bucket, in units of `qa * qb`; the rest is zero.
    pub bias: [i32; 16],
}

/// The head of a network that has three layers after the accumulators.
///
/// Its inputs are the [`Activations`](crate::network::Activations) of each accumulator, the side to move's first, in
/// `QUADS` groups of four. Each side's are ordered by how often they are non-zero, so that most groups are either busy
/// or all zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayersHead<const QUADS: usize, const FIRST: usize, const SECOND: usize, const BUCKETS: usize> {
    /// By output bucket, group and neuron: the weights of four consecutive inputs, as byte dot products need them.
    pub first: [[[[i8; 4]; FIRST]; QUADS]; BUCKETS],
    /// Bias of the first layer.
    pub first_bias: [[f32; FIRST]; BUCKETS],
    /// By output bucket, input and neuron: the weights of the first layer's neurons clipped, then of the same squared.
    pub second: [[[[f32; SECOND]; FIRST]; 2]; BUCKETS],
    /// Bias of the second layer.
    pub second_bias: [[f32; SECOND]; BUCKETS],
    /// Weights of the second layer's neurons in the output.
    pub third: [[f32; SECOND]; BUCKETS],
    /// Weights of the first layer's neurons in the output.
    pub skip: [[f32; FIRST]; BUCKETS],
    /// Bias of the output; the rest is zero.
    pub third_bias: [f32; 16],
}

macro_rules! plain_layers {
    ($($name:ident<$(const $parameter:ident),*> { $($field:ident),* }, if $condition:expr, size $size:expr;)*) => {$(
        impl<$(const $parameter: usize),*> sealed::Sealed for $name<$($parameter),*> {}
        impl<$(const $parameter: usize),*> Plain for $name<$($parameter),*> {
            const CHECKED: () = {
                assert!($condition, "rows must fill cache lines");
                assert!(size_of::<Self>() == $size, "a blob type has padding");
            };

            fn write_le(&self, out: &mut impl Extend<u8>) {
                $(self.$field.write_le(out);)*
            }
        }
    )*};
}
plain_layers! {
    Features<const HIDDEN, const SETS> { weights, bias },
        if HIDDEN.is_multiple_of(32), size 2 * HIDDEN * (768 * SETS + 1);
    SingleHead<const HIDDEN, const BUCKETS> { weights, bias },
        if HIDDEN.is_multiple_of(32), size 4 * HIDDEN * BUCKETS + 64;
    LayersHead<const QUADS, const FIRST, const SECOND, const BUCKETS> {
        first, first_bias, second, second_bias, third, skip, third_bias
    },
        if FIRST.is_multiple_of(16) && SECOND.is_multiple_of(16),
        size BUCKETS * (4 * QUADS * FIRST + 4 * (2 * FIRST + 2 * FIRST * SECOND + 2 * SECOND)) + 64;
}
