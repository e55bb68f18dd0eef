//! Memory maps; in WebAssembly, which has none, allocations in their place.

#[cfg(target_family = "wasm")]
pub use allocated::{Mmap, MmapMut, MmapRaw};
#[cfg(not(target_family = "wasm"))]
pub use memmap2::{Mmap, MmapMut, MmapRaw};

#[cfg(target_family = "wasm")]
mod allocated {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::fs::File;
    use std::io::{Error, ErrorKind, Result};
    use std::ops::{Deref, DerefMut};
    use std::slice;

    /// A page of other systems.
    const ALIGN: usize = 4096;

    /// Zeroed memory.
    pub struct MmapMut {
        start: *mut u8,
        layout: Layout,
    }

    /// Memory that is only read.
    pub struct Mmap(MmapMut);

    /// Memory that is used through pointers.
    pub struct MmapRaw(MmapMut);

    // SAFETY: each owns its memory.
    unsafe impl Send for MmapMut {}
    // SAFETY: as above.
    unsafe impl Sync for MmapMut {}

    impl MmapMut {
        pub fn map_anon(bytes: usize) -> Result<Self> {
            let out_of_memory = || Error::from(ErrorKind::OutOfMemory);
            let layout = Layout::from_size_align(bytes.max(1), ALIGN).map_err(|_| out_of_memory())?;
            // SAFETY: the size is not zero.
            let start = unsafe { alloc_zeroed(layout) };
            if start.is_null() { Err(out_of_memory()) } else { Ok(Self { start, layout }) }
        }

        pub fn make_read_only(self) -> Result<Mmap> {
            Ok(Mmap(self))
        }
    }

    impl Drop for MmapMut {
        fn drop(&mut self) {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.start, self.layout) }
        }
    }

    impl Deref for MmapMut {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            // SAFETY: the memory has this length, is initialised, and is borrowed through `self`.
            unsafe { slice::from_raw_parts(self.start, self.layout.size()) }
        }
    }

    impl DerefMut for MmapMut {
        fn deref_mut(&mut self) -> &mut [u8] {
            // SAFETY: as in `deref`, and `self` is borrowed mutably.
            unsafe { slice::from_raw_parts_mut(self.start, self.layout.size()) }
        }
    }

    impl Mmap {
        /// # Safety
        /// Always safe: no file can be mapped.
        pub unsafe fn map(_: &File) -> Result<Self> {
            Err(ErrorKind::Unsupported.into())
        }
    }

    impl Deref for Mmap {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    impl MmapRaw {
        pub fn len(&self) -> usize {
            self.0.layout.size()
        }

        pub fn as_mut_ptr(&self) -> *mut u8 {
            self.0.start
        }
    }

    impl From<MmapMut> for MmapRaw {
        fn from(memory: MmapMut) -> Self {
            Self(memory)
        }
    }
}
