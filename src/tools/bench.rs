//! A fixed amount of search whose node count is the engine's signature: the same on every run, machine and backend.

use crate::board::Position;
use crate::nnue::Network;
use crate::search::{Limits, MAX_PLY, Session, Signals};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The default depth in plies: two to three seconds, long enough to measure the speed of a machine.
pub const DEFAULT_DEPTH: u32 = 17;
/// Megabytes of the transposition table. The signature depends on it.
const HASH: usize = 16;

/// Openings, middlegames, endgames, positions with checks and promotions, and one of Chess960.
const POSITIONS: [&str; 16] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - 1 5",
    "rnbq1rk1/pp2ppbp/3p1np1/2pP4/2P1P3/2N2N2/PP2BPPP/R1BQK2R b KQ - 1 7",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "8/8/1p1k4/p1p2p2/P1P2P2/1P1K4/8/8 w - - 0 1",
    "8/5pk1/6p1/R6p/7P/1r3PP1/6K1/8 b - - 0 40",
    "6k1/5ppp/8/3Q4/8/5q2/5P1P/6K1 w - - 0 1",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1",
    "3r2k1/p4p1p/1p2p1p1/8/1P1B4/P3P1P1/5P1P/2b3K1 b - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
];

/// Searches fixed positions to the same depth, each with an empty transposition table. Passes lines of text to `print`;
/// the last is `N nodes N nps`.
///
/// # Errors
/// If the depth is 0 or exceeds [`MAX_PLY`], the system refuses the memory, or `signals` stop it before its end.
pub fn bench(
    depth: Option<u32>,
    network: &Network,
    signals: &Arc<Signals>,
    mut print: impl FnMut(&str),
) -> Result<(), String> {
    let depth = depth.unwrap_or(DEFAULT_DEPTH);
    if !(1..=MAX_PLY as u32).contains(&depth) {
        return Err(format!("the depth of bench must be from 1 to {MAX_PLY}"));
    }
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let mut session = Session::new(network, HASH, 1).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let mut nodes = 0;
    for fen in POSITIONS {
        let position: Position = fen.parse().expect("bench positions are legal");
        session.new_game();
        let result = session.position(&position).limits(&limits).with_signals(Arc::clone(signals)).run();
        // The nodes of a part must not look like a signature.
        if signals.stop.load(Relaxed) {
            return Err("bench was stopped".into());
        }
        nodes += result.nodes;
        print(&format!("{:>10} nodes  {fen}", result.nodes));
    }
    #[cfg(feature = "stats")]
    print(crate::search::statistics_table().trim_end());
    let nps = (nodes as f64 / start.elapsed().as_secs_f64()) as u64;
    print(&format!("{nodes} nodes {nps} nps"));
    Ok(())
}
