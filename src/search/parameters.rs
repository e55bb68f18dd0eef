//! Every tunable number of the search, the time management and the late move reductions, each written once.
//!
//! In a normal build a parameter is a constant function. With the feature `tune` it is a UCI option that a tuner may
//! set. The build script includes this file as well: it computes the table of late move reductions from `lmr_base` and
//! `lmr_divisor`.
//!
//! Where no other source is named, the numbers began as those of Reckless 0.10-dev and Viridithas 21, rounded, where
//! these have a similar step. Games have decided on changes since (`docs/results.md`).

/// A parameter as a tuner sees it.
#[cfg(feature = "tune")]
#[derive(Debug)]
pub struct Parameter {
    /// The name of the parameter and of its UCI option.
    pub name: &'static str,
    /// The current value.
    pub value: &'static std::sync::atomic::AtomicI32,
    /// The value in a normal build.
    pub default: i32,
    /// The values allowed.
    pub range: std::ops::RangeInclusive<i32>,
}

macro_rules! parameters {
    ($($(#[$attribute:meta])* $name:ident = $default:literal in $least:literal..=$most:literal;)*) => {
        $(
            $(#[$attribute])*
            #[cfg(not(feature = "tune"))]
            #[inline(always)]
            pub(super) const fn $name() -> i32 {
                const { assert!($least <= $default && $default <= $most) };
                $default
            }

            $(#[$attribute])*
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

        /// Returns all parameters in the order of the search's steps.
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

// Units: scores in centipawns, depths in plies, names that end in `_r` in 1/1024 (of a ply where they are reductions),
// `time_` in per mille unless the comment says otherwise, histories within ±16384.
parameters! {
    // Aspiration windows. The growth is in 1/128.
    aspiration_depth = 4 in 1..=8;
    aspiration_delta = 16 in 5..=50;
    aspiration_score_divisor = 30000 in 10000..=100000;
    aspiration_growth = 51 in 10..=200;
    aspiration_fail_high_reduction = 3 in 0..=6;

    // Transposition table: replacement and TT cutoff.
    tt_age_weight = 4 in 1..=16;
    tt_replace_depth = 2 in 0..=8;
    tt_replace_pv = 2 in 0..=8;
    tt_cutoff_depth = 5 in 0..=12;
    tt_cutoff_halfmove_clock = 90 in 50..=100;

    // Tablebase probe: how much deeper a result counts than the search that asked.
    tablebase_depth_bonus = 6 in 0..=12;

    // Static evaluation and correction history.
    eval_halfmove_scale = 220 in 150..=400;
    correction_pawn = 929 in 200..=3000;
    correction_non_pawn = 1034 in 200..=3000;
    correction_minor = 700 in 0..=3000;
    correction_major = 500 in 0..=3000;
    correction_continuation = 900 in 0..=3000;
    correction_bonus_divisor = 8 in 2..=32;
    correction_bonus_limit = 256 in 64..=512;

    // Eval difference: history bonus of the opponent's last quiet move, per centipawn.
    eval_difference_factor = 7 in 1..=20;
    eval_difference_limit = 1200 in 200..=4000;
    eval_difference_depth = 6 in 1..=20;

    // Hindsight extension and reduction.
    hindsight_extension_reduction = 4 in 1..=5;
    hindsight_reduction_reduction = 2 in 1..=5;
    hindsight_reduction_depth = 2 in 2..=6;
    hindsight_margin = 50 in 0..=500;

    // From this score on, a side only has to find mate: neither RFP nor FP of quiet moves hides it.
    decided_score = 1000 in 600..=4000;

    // Reverse futility pruning (RFP). `rfp_square` is in 1/128 centipawn.
    rfp_square = 1550 in 0..=3000;
    rfp_factor = 22 in 0..=100;
    rfp_improvement_r = 120 in 0..=1024;
    rfp_correction_r = 669 in 0..=2048;
    rfp_safe = 52 in 0..=200;
    rfp_base = 19 in -100..=150;
    rfp_margin_min = 15 in 0..=60;
    rfp_return_r = 463 in 0..=1024;

    // Null-move pruning (NMP).
    nmp_margin_base = 149 in 0..=500;
    nmp_margin_factor = 18 in 0..=60;
    nmp_reduction_base = 4 in 2..=6;
    nmp_reduction_divisor = 3 in 2..=6;
    nmp_reduction_score = 184 in 60..=500;
    nmp_reduction_score_limit = 4 in 0..=8;
    nmp_verification_depth = 14 in 8..=20;
    nmp_verification_r = 768 in 256..=1024;

    // Internal iterative reduction (IIR).
    iir_depth = 5 in 2..=9;

    // ProbCut.
    probcut_depth = 5 in 3..=9;
    probcut_margin = 289 in 80..=500;
    probcut_improving = 70 in 0..=200;
    probcut_reduction = 4 in 2..=6;
    probcut_tt_depth = 3 in 1..=6;

    // Late move pruning (LMP).
    lmp_base = 5 in 1..=10;
    lmp_factor_r = 1069 in 300..=3000;
    lmp_not_improving_r = 512 in 256..=1024;
    lmp_history_r = 88 in 0..=400;

    // Futility pruning (FP) of quiet and of bad noisy moves.
    fp_depth = 11 in 4..=14;
    fp_base = 62 in 0..=300;
    fp_factor = 69 in 20..=250;
    fp_history = 84 in 20..=500;
    fp_noisy_depth = 7 in 3..=14;
    fp_noisy_base = 100 in 0..=300;
    fp_noisy_factor = 120 in 10..=250;
    fp_noisy_history = 64 in 20..=500;

    // History pruning.
    history_pruning_depth = 6 in 2..=12;
    history_pruning_factor = 2616 in 500..=8000;

    // SEE pruning.
    see_quiet = 16 in 5..=80;
    see_noisy = 80 in 20..=250;
    see_noisy_history = 128 in 32..=512;

    // Singular extensions, multicut and negative extensions. `singular_margin` is in 1/64 centipawn per ply.
    singular_depth = 6 in 4..=10;
    singular_tt_depth = 3 in 1..=6;
    singular_ply_limit = 2 in 1..=4;
    singular_margin = 45 in 16..=128;
    singular_reduction_r = 512 in 256..=768;
    singular_double = 7 in 0..=60;
    singular_triple = 100 in 30..=300;
    singular_negative = 3 in 0..=4;
    singular_negative_pv = 1 in 0..=4;
    singular_negative_cut_node = 2 in 0..=4;

    // Late move reductions (LMR): lmr_base + 1024 * ln(depth) * ln(number) / (lmr_divisor / 1000), then the terms
    // below. The build script reads these two.
    #[allow(dead_code)]
    lmr_base = 1077 in 500..=2000;
    #[allow(dead_code)]
    lmr_divisor = 2364 in 1500..=4000;
    lmr_min_depth = 2 in 1..=4;
    lmr_not_pv_r = 884 in 0..=2048;
    lmr_tt_pv_r = 1133 in 0..=2560;
    lmr_tt_depth_r = 700 in 0..=2048;
    lmr_cut_node_r = 1609 in 0..=3072;
    lmr_no_tt_move_r = 300 in 0..=3072;
    lmr_not_improving_r = 893 in 0..=2048;
    lmr_noisy_tt_move_r = 767 in 0..=2048;
    lmr_check_r = 1041 in 0..=2560;
    lmr_cutoffs = 3 in 1..=8;
    lmr_cutoffs_r = 1256 in 0..=2048;
    lmr_noisy_r = 751 in 0..=2048;
    lmr_correction_r = 5 in 0..=40;
    lmr_history = 11675 in 3000..=30000;
    lmr_deeper_base = 40 in 10..=150;
    lmr_deeper_factor = 2 in 0..=8;
    lmr_shallower_factor = 1 in 0..=4;

    // Alpha-raise reduction: the remaining moves are searched a ply less between these depths.
    alpha_raise_min_depth = 3 in 2..=6;
    alpha_raise_max_depth = 11 in 6..=16;

    // Histories: bonus, malus, and the weights of a quiet move's sum.
    history_bonus_factor = 234 in 50..=400;
    history_bonus_base = 60 in 0..=300;
    history_bonus_limit = 1200 in 500..=4000;
    history_malus_factor = 231 in 50..=500;
    history_malus_base = 60 in 0..=300;
    history_malus_limit = 1432 in 500..=4000;
    history_butterfly_weight = 2 in 0..=8;
    history_pawn_weight = 1 in 0..=8;
    history_continuation1_weight = 2 in 0..=8;
    history_continuation2_weight = 2 in 0..=8;
    history_continuation4_weight = 1 in 0..=8;
    history_continuation6_divisor = 2 in 1..=8;
    history_quiet_divisor = 4 in 1..=16;
    prior_bonus_depth = 5 in 1..=10;
    prior_bonus_r = 512 in 128..=1024;

    // Quiescence search (QS).
    qs_evasions = 2 in 0..=10;
    qs_see = 40 in 0..=200;
    qs_moves = 2 in 1..=6;
    qs_fail_high_r = 512 in 0..=1024;

    // Move ordering.
    order_mvv = 20 in 5..=60;
    order_good_noisy = 47 in 10..=120;
    order_escape = 12500 in 0..=30000;
    order_enter = 8000 in 0..=30000;
    order_check = 13196 in 0..=30000;

    // Time management: a move's share of the clock if `time_expected_moves`, a count, are still to be played.
    time_expected_moves = 24 in 10..=60;
    time_increment = 750 in 0..=1000;
    time_soft = 750 in 300..=1000;
    time_hard = 5000 in 1000..=10000;
    time_most = 667 in 300..=900;
    time_most_last_move = 900 in 500..=950;
    time_reserve_ms = 20 in 0..=200;
    // Helper threads do not search if the soft limit, with `movetime` the hard one, is shorter than this.
    time_short_ms = 20 in 0..=100;
    // Factors of the soft limit; stability in iterations, scores in centipawns.
    time_node_base = 2100 in 1000..=3500;
    time_node_factor = 1500 in 500..=3000;
    time_stability_base = 1500 in 1000..=2500;
    time_stability_step = 90 in 0..=200;
    time_stability_limit = 8 in 1..=20;
    time_score_step = 8 in 0..=40;
    time_score_rise = 20 in 0..=100;
    time_score_fall = 60 in 0..=200;
    time_score_memory = 3 in 0..=15;

    // The vote of threads.
    vote_score_limit = 3000 in 500..=10000;
    vote_base = 10 in 1..=50;
}
