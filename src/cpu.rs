//! Checks whether this processor has the features that the binary was built for. The check runs first and is written in
//! assembly, because the compiler may use these features anywhere, even in the standard library's start-up code and in
//! this check.

/// Bits of features, in the words that the list below names.
pub type Words = [u32; 7];

macro_rules! required {
    ($($feature:literal $word:literal $bit:literal,)*) => {
        /// The name of each feature that the compiler may use, and an empty text for each other feature. A feature
        /// with several bits is listed several times.
        const NAMES: &[&str] = &[$(if cfg!(target_feature = $feature) { concat!(" ", $feature) } else { "" }),*];
        /// Their bits in the words below.
        pub const REQUIRED: Words = {
            let mut words: Words = [0; _];
            $(if cfg!(target_feature = $feature) {
                words[$word] |= 1 << $bit;
            })*
            words
        };
    };
}
// Word 0 is ecx of leaf 1, words 1 and 2 are ebx and ecx of leaf 7, word 3 is ecx of leaf 0x80000001, word 4 is the
// state that the system saves (XCR0), word 5 is eax of leaf 7.1, and word 6 is edx of leaf 7. Features that neither the
// compiler nor a crate uses unasked are left out, such as rdrand, rdseed, sse4a, key locker, and xsave with its kin.
// Sources: Intel's and AMD's manuals on CPUID.
required! {
    "sse3" 0 0, "pclmulqdq" 0 1, "ssse3" 0 9, "fma" 0 12, "cmpxchg16b" 0 13, "sse4.1" 0 19, "sse4.2" 0 20,
    "movbe" 0 22, "popcnt" 0 23, "aes" 0 25, "avx" 0 27, "avx" 0 28, "avx" 4 1, "avx" 4 2, "f16c" 0 29,
    "bmi1" 1 3, "avx2" 1 5, "bmi2" 1 8, "avx512f" 1 16, "avx512f" 4 5, "avx512f" 4 6, "avx512f" 4 7, "avx512dq" 1 17,
    "adx" 1 19, "avx512ifma" 1 21, "avx512cd" 1 28, "sha" 1 29, "avx512bw" 1 30, "avx512vl" 1 31,
    "avx512vbmi" 2 1, "avx512vbmi2" 2 6, "gfni" 2 8, "vaes" 2 9, "vpclmulqdq" 2 10, "avx512vnni" 2 11,
    "avx512bitalg" 2 12, "avx512vpopcntdq" 2 14, "lzcnt" 3 5, "avxvnni" 5 4, "avx512bf16" 5 5, "avxifma" 5 23,
    "avx512vp2intersect" 6 8, "avx512fp16" 6 23,
}

// fn kiln_cpu_lacks(required: *const Words) -> u32: returns nonzero if a bit is missing. Uses only baseline x86-64
// instructions.
std::arch::global_asm!(
    ".globl kiln_cpu_lacks",
    "kiln_cpu_lacks:",
    "push rbx",
    "mov r8, rdi",
    "xor r9d, r9d",
    // Leaves above the highest supported one are undefined and count as zero.
    "xor eax, eax",
    "cpuid",
    "mov r10d, eax",
    "mov eax, 1",
    "xor ecx, ecx",
    "cpuid",
    "mov r11d, ecx",
    "not ecx",
    "and ecx, dword ptr [r8]",
    "or r9d, ecx",
    "xor eax, eax",
    "xor ebx, ebx",
    "xor ecx, ecx",
    "xor edx, edx",
    "cmp r10d, 7",
    "jb 2f",
    "mov eax, 7",
    "cpuid",
    "2:",
    "not ebx",
    "and ebx, dword ptr [r8 + 4]",
    "or r9d, ebx",
    "not ecx",
    "and ecx, dword ptr [r8 + 8]",
    "or r9d, ecx",
    "not edx",
    "and edx, dword ptr [r8 + 24]",
    "or r9d, edx",
    // eax is the number of the last subleaf.
    "cmp eax, 1",
    "mov eax, 0",
    "jb 5f",
    "mov eax, 7",
    "mov ecx, 1",
    "cpuid",
    "5:",
    "not eax",
    "and eax, dword ptr [r8 + 20]",
    "or r9d, eax",
    "mov eax, 0x80000000",
    "cpuid",
    "xor ecx, ecx",
    "cmp eax, 0x80000001",
    "jb 3f",
    "mov eax, 0x80000001",
    "cpuid",
    "3:",
    "not ecx",
    "and ecx, dword ptr [r8 + 12]",
    "or r9d, ecx",
    // xgetbv may be executed only if the system has enabled it (OSXSAVE).
    "xor eax, eax",
    "test r11d, 0x8000000",
    "jz 4f",
    "xor ecx, ecx",
    "xgetbv",
    "4:",
    "not eax",
    "and eax, dword ptr [r8 + 16]",
    "or r9d, eax",
    "mov eax, r9d",
    "pop rbx",
    "ret",
);

// SAFETY: the assembly above defines this function, with the argument in `rdi` and the result in `eax`.
unsafe extern "sysv64" {
    // The name as it is: on macOS the compiler would put an underscore before it.
    #[link_name = "\x01kiln_cpu_lacks"]
    fn kiln_cpu_lacks(required: *const Words) -> u32;
}

/// One line that says which features the binary was built for.
pub const MESSAGE: &str = {
    const PARTS: [&str; 2] = [
        "kiln: this processor cannot run this binary, which was built for one with",
        "; build it on this machine, or take a build for an older one\n",
    ];
    /// Writes the text to `out` if that is large enough; returns its length.
    const fn write(out: &mut [u8]) -> usize {
        let mut length = 0;
        let mut part = 0;
        while part < NAMES.len() + 2 {
            let text = match part {
                0 => PARTS[0],
                part if part > NAMES.len() => PARTS[1],
                part => NAMES[part - 1],
            };
            let repeated = part > 1 && part <= NAMES.len() && same(NAMES[part - 2], text);
            let mut i = 0;
            while i < text.len() && !repeated {
                if length < out.len() {
                    out[length] = text.as_bytes()[i];
                }
                length += 1;
                i += 1;
            }
            part += 1;
        }
        length
    }
    const fn same(a: &str, b: &str) -> bool {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len()
    }
    const LENGTH: usize = write(&mut []);
    const BYTES: [u8; LENGTH] = {
        let mut bytes = [0; LENGTH];
        write(&mut bytes);
        bytes
    };
    match str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => unreachable!(),
    }
};

/// Returns whether the processor or the system lacks one of these features.
#[inline(never)]
pub fn lacks(required: &Words) -> bool {
    // SAFETY: the assembly above follows the calling convention and reads only the words.
    unsafe { kiln_cpu_lacks(required) != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

    #[target_feature(enable = "xsave")]
    fn state() -> u32 {
        // SAFETY: the caller has checked OSXSAVE.
        unsafe { _xgetbv(0) as u32 }
    }

    #[test]
    fn each_bit_is_checked() {
        let (basic, extended) = (__cpuid(1), __cpuid_count(7, 0));
        let more = if extended.eax >= 1 { __cpuid_count(7, 1).eax } else { 0 };
        // SAFETY: OSXSAVE is set.
        let state = if basic.ecx >> 27 & 1 != 0 { unsafe { state() } } else { 0 };
        let has = [basic.ecx, extended.ebx, extended.ecx, __cpuid(0x8000_0001).ecx, state, more, extended.edx];
        for (word, has) in has.into_iter().enumerate() {
            for bit in 0..32 {
                let mut required: Words = [0; _];
                required[word] = 1 << bit;
                assert_eq!(lacks(&required), has >> bit & 1 == 0, "word {word}, bit {bit}");
            }
        }
        assert!(!lacks(&REQUIRED));
        assert_eq!(MESSAGE.lines().count(), 1);
        let names: Vec<&str> = MESSAGE.split_ascii_whitespace().filter(|word| word.starts_with("avx512f")).collect();
        assert!(names.len() <= 1, "{MESSAGE}");
    }
}
