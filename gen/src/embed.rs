//! Macros that embed a blob in the program and view it in place.
//!
//! They are macros because the file is in the output folder of the calling crate. They expand to the only `unsafe` code
//! of this crate, which is sound wherever they are used.

#[doc(hidden)]
pub use include_bytes_aligned::include_bytes_aligned;

// The macros need the alignment as a literal.
const _: () = assert!(crate::layout::ALIGN == 64);

/// Embeds the blob `NAME.bin` from `OUT_DIR` and views it as one value, without start-up work.
///
/// ```text
/// static SLIDERS: &Sliders = kiln_gen::embed!("sliders");
/// ```
///
/// The type is that of the variable; it must be [`Plain`](crate::layout::Plain). If the blob's size is not that of the
/// type, or the target is big-endian, the program does not compile.
#[macro_export]
macro_rules! embed {
    ($name:literal) => {{
        const BYTES: &[u8] =
            $crate::embed::include_bytes_aligned!(64, ::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".bin"));
        const fn view<T: $crate::layout::Plain>() -> &'static T {
            const {
                let () = <T as $crate::layout::Plain>::CHECKED;
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
            // SAFETY: the bytes live as long as the program, their number is T's size (asserted above), and they are
            // aligned to ALIGN, which T does not exceed (asserted above). `Plain` is sealed: its types hold only
            // numbers without padding (`CHECKED`), so any bytes are valid.
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
/// The length is in `NAME.len`, where the writer put it. If the blob has another size, the program does not compile.
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
