use memmap2::MmapMut;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// The size of a large page, where the system has any.
const LARGE: usize = 2 << 20;

/// ThreadData could not be had.
#[derive(Debug)]
pub struct OutOfMemory {
    what_for: String,
    error: io::Error,
}

impl OutOfMemory {
    /// The system's answer to who asked for memory.
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

/// So many bytes, zeroed by the system when they are first touched. Large pages, where there are any, make for fewer of them.
pub fn map(bytes: usize) -> io::Result<MmapMut> {
    let memory = MmapMut::map_anon(bytes)?;
    // Where the system has no large pages, nothing is lost. Miri has no such call.
    #[cfg(all(target_os = "linux", not(miri)))]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Ok(memory)
}

/// Anything large that begins as zeros and never lies on the stack.
pub struct HugePageBox<T> {
    memory: MmapMut,
    holds: PhantomData<T>,
}

impl<T> HugePageBox<T> {
    /// All zero.
    ///
    /// # Safety
    /// Of `T` all bits may be zero, nothing needs to be dropped, and its alignment is at most that of a page.
    pub unsafe fn zeroed() -> io::Result<Self> {
        Ok(Self { memory: map(size_of::<T>().next_multiple_of(LARGE))?, holds: PhantomData })
    }

    /// All zero again, and touched.
    pub fn clear(&mut self) {
        self.memory.fill(0);
    }
}

impl<T> Deref for HugePageBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the mapping is page-aligned, at least as long as a T (`zeroed` maps so much) and lives as long as `self`. It
        // began as zeros, which who called `zeroed` says are a T, and since then `deref_mut` has lent it as a T, and `clear` has made it zeros again.
        unsafe { &*self.memory.as_ptr().cast() }
    }
}

impl<T> DerefMut for HugePageBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; and nobody else has a reference, since `self` is borrowed mutably.
        unsafe { &mut *self.memory.as_mut_ptr().cast() }
    }
}
