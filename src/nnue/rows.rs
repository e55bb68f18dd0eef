//! Lists of row numbers that grow without branches.

/// A list of at most `N` − 1 row numbers.
#[derive(Clone)]
pub struct Rows<const N: usize> {
    pub(super) numbers: [u16; N],
    pub(super) count: usize,
}

impl<const N: usize> Rows<N> {
    /// Returns an empty list.
    pub const fn new() -> Self {
        Self { numbers: [0; N], count: 0 }
    }

    /// Empties the list.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Appends a number if `is_row`, without a branch, which would be mispredicted. The list must not be full.
    #[inline]
    pub fn push_if(&mut self, number: u16, is_row: bool) {
        self.numbers[self.count % N] = number;
        self.count += usize::from(is_row);
    }

    /// Returns the numbers.
    #[inline]
    pub fn numbers(&self) -> &[u16] {
        &self.numbers[..self.count]
    }
}
