//! Large arrays of floating-point numbers in huge pages.

use kiln::search::map_huge_pages;
use memmap2::MmapMut;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// An array of floating-point numbers, in huge pages where the system has them. A tensor is read at random places, and
/// with small pages the processor would wait for their addresses.
pub struct Floats(MmapMut);

impl Floats {
    /// Returns `count` zeros.
    ///
    /// # Panics
    /// If the system refuses the memory.
    pub fn zeros(count: usize) -> Self {
        let memory = map_huge_pages(count * size_of::<f32>());
        Self(memory.unwrap_or_else(|error| panic!("no memory for {count} numbers: {error}")))
    }
}

impl Default for Floats {
    fn default() -> Self {
        Self::zeros(0)
    }
}

impl From<&[f32]> for Floats {
    fn from(values: &[f32]) -> Self {
        let mut floats = Self::zeros(values.len());
        floats.copy_from_slice(values);
        floats
    }
}

impl Deref for Floats {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Floats {
    fn deref_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

impl Clone for Floats {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl PartialEq for Floats {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Floats {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}
