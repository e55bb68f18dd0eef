//! The numbers of the search, each written once. In a normal build they are constants; with the feature `tune` they are UCI options that a
//! tuner may set.
//!
//! Where no other source is named, the numbers began as those of Reckless 0.10-dev and Viridithas 21 (as far as they have a like step), rounded; games decided since
//! (`docs/results.md`).

/// A parameter as a tuner sees it.
#[cfg(feature = "tune")]
#[derive(Debug)]
pub struct Parameter {
    /// Its name, also that of the UCI option.
    pub name: &'static str,
    /// What it is now.
    pub value: &'static std::sync::atomic::AtomicI32,
    /// What it is in a normal build.
    pub default: i32,
    /// The least and largest values worth trying.
    pub range: std::ops::RangeInclusive<i32>,
}

macro_rules! parameters {
    ($($name:ident = $default:literal in $least:literal ..= $most:literal;)*) => {
        $(
            #[cfg(not(feature = "tune"))]
            #[inline(always)]
            pub(super) const fn $name() -> i32 {
                const { assert!($least <= $default && $default <= $most) };
                $default
            }

            #[cfg(feature = "tune")]
            #[inline(always)]
            pub(super) fn $name() -> i32 {
                values::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        #[cfg(feature = "tune")]
        #[allow(non_upper_case_globals)]
        mod values {
            use std::sync::atomic::AtomicI32;
            $(pub static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        /// All of them, in the order of the search's steps.
        #[cfg(feature = "tune")]
        pub fn parameters() -> Vec<Parameter> {
            vec![$(Parameter {
                name: stringify!($name),
                value: &values::$name,
                default: $default,
                range: $least..=$most,
            }),*]
        }
    };
}

// Scores in centipawns, depths and reductions in plies or, where the name ends with `_r`, in 1/1024 ply; histories up to 16384.
parameters! {
    // Aspiration windows.
    aspiration_delta = 16 in 5..=50;
    aspiration_score_divisor = 30000 in 10000..=100000;
    aspiration_growth = 51 in 10..=200;
    // Evaluation.
    correction_pawn = 1100 in 200..=3000;
    correction_non_pawn = 1000 in 200..=3000;
    correction_minor = 700 in 0..=3000;
    correction_major = 500 in 0..=3000;
    correction_continuation = 900 in 0..=3000;
    // Moves ordered by how the evaluation changed.
    drift_factor = 7 in 1..=20;
    drift_limit = 1200 in 200..=4000;
    // Hindsight.
    hindsight_deeper = 4 in 1..=5;
    hindsight_shallower = 2 in 1..=5;
    hindsight_margin = 125 in 0..=500;
    // Reverse futility.
    reverse_futility_depth = 9 in 4..=15;
    reverse_futility_factor = 55 in 20..=200;
    reverse_futility_improving = 70 in 0..=200;
    reverse_futility_return = 650 in 0..=1024;
    // Null move.
    null_margin_base = 150 in 0..=500;
    null_margin_factor = 18 in 0..=60;
    null_reduction_base = 4 in 2..=6;
    null_reduction_divisor = 3 in 2..=6;
    null_reduction_score = 180 in 60..=500;
    null_verification_depth = 14 in 8..=20;
    // ProbCut.
    probcut_margin = 240 in 80..=500;
    probcut_improving = 70 in 0..=200;
    // Internal reduction.
    internal_reduction_depth = 5 in 2..=9;
    // Late-move pruning.
    late_base = 5 in 1..=10;
    late_factor = 900 in 300..=3000;
    // Futility.
    futility_depth = 9 in 4..=14;
    futility_base = 90 in 0..=300;
    futility_factor = 85 in 20..=250;
    futility_history = 100 in 20..=500;
    noisy_futility_base = 100 in 0..=300;
    noisy_futility_factor = 120 in 10..=250;
    // History pruning.
    history_depth = 6 in 2..=12;
    history_factor = 2800 in 500..=8000;
    // Pruning by static exchange.
    exchange_quiet = 22 in 5..=80;
    exchange_noisy = 95 in 20..=250;
    // Singular extensions.
    singular_depth = 6 in 4..=10;
    singular_margin = 48 in 16..=128;
    singular_double = 14 in 0..=60;
    singular_triple = 100 in 30..=300;
    // Late-move reductions.
    reduction_not_pv_r = 900 in 0..=2048;
    reduction_was_pv_r = 1050 in 0..=2560;
    reduction_cut_node_r = 1600 in 0..=3072;
    reduction_not_improving_r = 600 in 0..=2048;
    reduction_noisy_table_move_r = 900 in 0..=2048;
    reduction_check_r = 1000 in 0..=2560;
    reduction_cutoffs_r = 900 in 0..=2048;
    reduction_no_table_move_r = 600 in 0..=3072;
    reduction_table_depth_r = 700 in 0..=2048;
    reduction_correction_r = 5 in 0..=40;
    reduction_noisy_r = 700 in 0..=2048;
    reduction_history = 9500 in 3000..=30000;
    deeper_margin = 38 in 10..=150;
    // MoveHistory.
    bonus_factor = 195 in 50..=400;
    bonus_base = 60 in 0..=300;
    bonus_limit = 1500 in 500..=4000;
    malus_factor = 190 in 50..=500;
    malus_base = 60 in 0..=300;
    malus_limit = 1500 in 500..=4000;
    // Quiescence.
    quiescence_exchange = 40 in 0..=200;
    // Move ordering.
    order_escape = 10000 in 0..=30000;
    order_enter = 6200 in 0..=30000;
    order_check = 9600 in 0..=30000;
    order_good_noisy = 47 in 10..=120;
    // Time, in per mille.
    time_node_base = 2100 in 1000..=3500;
    time_node_factor = 1500 in 500..=3000;
    time_stability_base = 1500 in 1000..=2500;
    time_stability_step = 90 in 0..=200;
    time_score_step = 8 in 0..=40;
}
