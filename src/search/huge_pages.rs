//! Large zeroed allocations in huge pages.

use crate::maps::MmapMut;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The size of a huge page on x86-64.
const HUGE_PAGE: usize = 2 << 20;

/// The system refused an allocation.
#[derive(Debug)]
pub struct OutOfMemory {
    what_for: String,
    error: io::Error,
}

impl OutOfMemory {
    /// Names what the memory was for and keeps the system's error.
    pub(super) fn new(what_for: String, error: io::Error) -> Self {
        Self { what_for, error }
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cannot allocate {}: {}", self.what_for, self.error)
    }
}

impl std::error::Error for OutOfMemory {}

/// Maps this many bytes, which the system zeroes when they are first touched, in huge pages where the system has them.
///
/// # Errors
/// If the system refuses the allocation.
pub fn map(bytes: usize) -> io::Result<MmapMut> {
    let memory = MmapMut::map_anon(bytes)?;
    // A system without huge pages ignores the advice. Miri lacks the call.
    #[cfg(all(target_os = "linux", not(miri)))]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Ok(memory)
}

/// A large value that begins as zeros, lives in huge pages and never lies on the stack.
pub struct HugePageBox<T> {
    memory: MmapMut,
    holds: PhantomData<T>,
}

impl<T> HugePageBox<T> {
    /// Allocates a zeroed value.
    ///
    /// # Errors
    /// If the system refuses the allocation.
    ///
    /// # Safety
    /// All zero bits must be a valid `T`. `T` must not need to be dropped, and its alignment must be at most that of a
    /// page.
    pub unsafe fn zeroed() -> io::Result<Self> {
        Ok(Self { memory: map(size_of::<T>().next_multiple_of(HUGE_PAGE))?, holds: PhantomData })
    }

    /// Zeroes the value and thereby touches all of its pages.
    pub fn clear(&mut self) {
        self.memory.fill(0);
    }
}

impl<T> Deref for HugePageBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the mapping is page-aligned, at least as long as a `T` (see `zeroed`) and lives as long as `self`. It
        // began as zeros, which the caller of `zeroed` guarantees is a valid `T`. Since then it was only written as a
        // `T` through `deref_mut` and zeroed by `clear`.
        unsafe { &*self.memory.as_ptr().cast() }
    }
}

impl<T> DerefMut for HugePageBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; and there is no other reference, since `self` is borrowed mutably.
        unsafe { &mut *self.memory.as_mut_ptr().cast() }
    }
}
