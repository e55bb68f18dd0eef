//! What this build is: version, commit, network, instruction set and compiler.

use crate::nnue::Network;
use crate::simd;

/// The version, and the commit that was checked out if it is known, as in `0.1.0 (1a2b3c4d)`.
pub const VERSION: &str = env!("KILN_VERSION");

/// Returns four lines: name and version, network, instruction set, compiler.
pub fn describe(network: &Network) -> String {
    format!(
        "Kiln {VERSION}\nnetwork {} (SHA-256 {})\ninstructions {}\ncompiled by {} for {}\n",
        network.name(),
        &network.sha256()[..16],
        instructions(),
        env!("KILN_COMPILER"),
        env!("KILN_TARGET"),
    )
}

/// Returns the backend of the kernels, and what else of AVX-512 they use.
fn instructions() -> String {
    let extra = [
        ("VBMI", cfg!(target_feature = "avx512vbmi")),
        ("VBMI2", cfg!(target_feature = "avx512vbmi2")),
        ("VNNI", cfg!(target_feature = "avx512vnni")),
    ];
    let names: Vec<&str> = extra.into_iter().filter_map(|(name, is_used)| is_used.then_some(name)).collect();
    match (simd::NAME, &names[..]) {
        ("AVX-512", [_, ..]) => format!("AVX-512 with {}", names.join(", ")),
        (name, _) => name.into(),
    }
}

/// Returns one line if this processor could run a faster build, else `None`.
pub fn slow_build() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        // From the best to the least, each with whether this build and the processor have it.
        let levels = [
            (
                "AVX-512 with VBMI",
                cfg!(all(target_feature = "avx512vbmi", target_feature = "avx512vnni")),
                is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512vnni"),
            ),
            ("AVX-512", cfg!(target_feature = "avx512bw"), is_x86_feature_detected!("avx512bw")),
            (
                "AVX2",
                cfg!(all(target_feature = "avx2", target_feature = "bmi2")),
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
            ),
            ("POPCNT", cfg!(target_feature = "popcnt"), is_x86_feature_detected!("popcnt")),
        ];
        let (name, is_used, _) = levels.into_iter().find(|&(_, _, is_supported)| is_supported)?;
        (!is_used).then(|| {
            format!(
                "slow build: its instructions are {}, and this processor has {name}; `make`, or RUSTFLAGS=\"-C \
                 target-cpu=native\", builds a faster one",
                instructions()
            )
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}
