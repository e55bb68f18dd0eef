//! Reading: macros that embed a blob in the program and view it in place.
//!
//! They are macros because the file is in the output folder of the crate that embeds it. The only `unsafe` code that
//! comes from this crate is theirs, and it is sound wherever they are used.

#[doc(hidden)]
pub use include_bytes_aligned::include_bytes_aligned;

// The macros name the alignment by a literal.
const _: () = assert!(crate::layout::ALIGN == 64);

/// Embeds the blob `NAME.bin` from `OUT_DIR` and views it as one value, without start-up work.
///
/// ```text
/// static SLIDERS: &Sliders = kiln_gen::embed!("sliders");
/// ```
///
/// The type is that of the variable; it must be [`Plain`](crate::layout::Plain). A blob of another size than the type's does
/// not compile.
#[macro_export]
macro_rules! embed {
    ($name:literal) => {{
        const BYTES: &[u8] =
            $crate::embed::include_bytes_aligned!(64, ::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".bin"));
        const fn view<T: $crate::layout::Plain>() -> &'static T {
            const {
                ::core::assert!(
                    ::core::cfg!(target_endian = "little"),
                    "blobs are little-endian and cannot be read in place on a big-endian target"
                );
                ::core::assert!(
                    BYTES.len() == ::core::mem::size_of::<T>(),
                    ::core::concat!(
                        "the blob \"",
                        $name,
                        "\" has another size than its type: run \"cargo clean\" and build again"
                    )
                );
                ::core::assert!(
                    ::core::mem::align_of::<T>() <= $crate::layout::ALIGN,
                    "the type needs more alignment than blobs have"
                );
            }
            // SAFETY: the bytes live as long as the program, are as many as T has, and are aligned to ALIGN. `Plain` is
            // sealed: its types hold only numbers without padding, so any bytes are valid.
            unsafe { &*BYTES.as_ptr().cast::<T>() }
        }
        view()
    }};
}

/// Embeds the list `NAME.bin` from `OUT_DIR` and views it as a slice, without start-up work.
///
/// ```text
/// static SLIDER_ATTACKS: &[u64] = kiln_gen::embed_list!("slider_attacks");
/// ```
///
/// The writer has noted the length in `NAME.len`; a blob of another size does not compile.
#[macro_export]
macro_rules! embed_list {
    ($name:literal) => {{
        const LENGTH: usize = ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".len"));
        const fn slice<T: $crate::layout::Plain>(array: &'static [T; LENGTH]) -> &'static [T] {
            array
        }
        slice($crate::embed!($name))
    }};
}
