//! `kiln net`: describes, verifies and measures network files, and exchanges networks with the trainer bullet.

use super::yardstick;
use crate::board::Position;
use crate::data::replace;
use crate::types::{Color, Square};
use kiln_gen::hexadecimal;
use kiln_gen::network::{Asset, Expected, Head, Header, read_file};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Print the header.
    Info(PathBuf),
    /// Compare the expected scores with those of the reference evaluation.
    Verify(PathBuf),
    /// Compare the scores of judged positions with the results that the judge expects; see
    /// [`parse`](super::yardstick::parse).
    Yardstick {
        /// The network file, of any shape; `None` to measure the scores in the lines.
        asset: Option<PathBuf>,
        /// The judged positions.
        positions: PathBuf,
    },
    /// Convert bullet's `quantised.bin` into a network file.
    Import {
        /// The file that bullet wrote.
        quantised: PathBuf,
        /// The network file to write.
        out: PathBuf,
        /// The header, which bullet's file lacks.
        header: Box<Header>,
    },
    /// Convert a network file into `quantised.bin`.
    Export {
        /// The network file.
        asset: PathBuf,
        /// The file to write.
        out: PathBuf,
    },
}

/// Runs a command and passes lines of text to `print`.
///
/// # Errors
/// In one sentence, if a file cannot be read or written or is invalid, or a score differs from the expected one.
pub fn run(task: &Task, mut print: impl FnMut(&str)) -> Result<(), String> {
    match task {
        Task::Info(path) => print(&describe(&load(path)?, fs::metadata(path).map_or(0, |file| file.len()))),
        Task::Verify(path) => verify(&load(path)?, print)?,
        Task::Yardstick { asset, positions } => {
            let asset = asset.as_deref().map(load).transpose()?;
            let judged = fs::read_to_string(positions).map_err(|error| error.to_string());
            let judged = judged.and_then(|text| yardstick::parse(&text));
            let report = judged.and_then(|judged| yardstick::report(asset.as_ref(), &judged));
            print(report.map_err(|error| format!("cannot use {}: {error}", positions.display()))?.trim_end());
        }
        Task::Import { quantised, out, header } => {
            let imported = read_file(quantised).and_then(|bytes| Asset::import(Header::clone(header), &bytes));
            let mut asset = imported.map_err(|error| format!("cannot import {}: {error}", quantised.display()))?;
            asset.header.expected = expected(&asset, &SAMPLES);
            write(out, &asset.to_bytes())?;
            print(&format!("{}: {}", out.display(), asset.header.shape()));
        }
        Task::Export { asset: path, out } => {
            let exported = load(path)?.export();
            let bytes = exported.map_err(|error| format!("cannot export {}: {error}", path.display()))?;
            write(out, &bytes)?;
            print(&format!("{}: {} bytes", out.display(), bytes.len()));
        }
    }
    Ok(())
}

/// Reads a network file.
fn load(path: &Path) -> Result<Asset, String> {
    let asset = read_file(path).and_then(|bytes| Asset::from_bytes(&bytes));
    asset.map_err(|error| format!("cannot use {}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    replace(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Positions whose scores are recorded in imported networks: much and little material, kings on both halves, Black to
/// move.
pub const SAMPLES: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/2KR3R w kq - 0 1",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "r1bqk2r/ppp2ppp/2n2n2/2bpp3/4P3/2NP1N2/PPP1BPPP/R1BQK2R b KQkq - 0 6",
    "6k1/5ppp/1r6/8/3R4/1P4P1/5P1P/6K1 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
    "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 99 50",
    "8/8/4k3/8/3q4/8/8/4K3 w - - 0 1",
];

/// Returns the reference scores of these positions, except those that do not fit into the file format.
///
/// # Panics
/// If a FEN is invalid.
pub fn expected(asset: &Asset, fens: &[&str]) -> Vec<Expected> {
    let score = |fen: &&str| {
        let score = reference(asset, &fen.parse().expect("the FEN is valid"));
        Some(Expected { fen: (*fen).into(), score: score.try_into().ok()? })
    };
    fens.iter().filter_map(score).collect()
}

/// Returns the reference score of a position, by [`Asset::evaluate`].
pub fn reference(asset: &Asset, position: &Position) -> i64 {
    let pieces = Square::ALL.into_iter().filter_map(|square| {
        let piece = position.piece_on(square)?;
        Some((piece.color().index(), piece.kind().index(), square.index()))
    });
    asset.evaluate(&pieces.collect::<Vec<_>>(), position.side_to_move() == Color::Black)
}

fn verify(asset: &Asset, mut print: impl FnMut(&str)) -> Result<(), String> {
    // Later layers are computed in floating point, perhaps in another order.
    let tolerance = if asset.header.head == Head::Single { 0 } else { 1 };
    let mut wrong_count = 0;
    for Expected { fen, score } in &asset.header.expected {
        let position = fen.parse().map_err(|error| format!("an expected score has a {error}"))?;
        let found = reference(asset, &position);
        let is_wrong = found.abs_diff((*score).into()) > tolerance;
        wrong_count += usize::from(is_wrong);
        print(&format!("{}  found {found}, expected {score}: {fen}", if is_wrong { "wrong" } else { "right" }));
    }
    let all = asset.header.expected.len();
    if wrong_count > 0 {
        return Err(format!("{wrong_count} of {all} expected scores differ from those of the network"));
    }
    print(&format!("the hash and {all} of {all} expected scores are right"));
    Ok(())
}

/// Formats the header with one field per line.
fn describe(asset: &Asset, file_length: u64) -> String {
    let header = &asset.header;
    let Header { provenance, inputs, .. } = header;
    let numbers = |buckets: &[u8]| buckets.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
    let or_unknown = |is_known: bool, text: String| if is_known { text } else { "unknown".into() };

    let mut text = String::new();
    let mut line =
        |field: &str, value: String| writeln!(text, "{field:<16}{value}").expect("writing to a string never fails");
    line("name", header.name.clone());
    line("shape", header.shape().to_string());
    line("mirrored", (if inputs.mirrored { "yes" } else { "no" }).into());
    line("merged kings", (if inputs.merged_kings { "yes" } else { "no" }).into());
    line("threats", inputs.threats.to_string());
    if header.inputs.king_bucket_count() > 1 {
        for (rank, buckets) in inputs.king_buckets.chunks(8).enumerate().rev() {
            line(if rank == 7 { "king buckets" } else { "" }, numbers(buckets));
        }
    }
    if header.output_bucket_count() > 1 {
        line(
            "output buckets",
            format!("{} for 0 to {} pieces", numbers(&header.output_buckets), header.output_buckets.len() - 1),
        );
    }
    if let Some([before, after]) = asset.zero_groups() {
        let [before, after] = [before, after].map(|share| format!("{:.1} %", 100.0 * share));
        line(
            "zero groups",
            format!("{before} of the groups of four inputs to the first layer, {after} as the build arranges them"),
        );
    }
    line("quantisation", format!("qa {}, qb {}, scale {}", header.qa, header.qb, header.scale));
    let model = header.win_draw_loss;
    let constants = model.map(|constant| format!("{:.3}", f64::from(constant) / 1000.0)).join(" ");
    line("win, draw, loss", or_unknown(model != [0; 4], constants));
    line("provenance", provenance.description.clone());
    line("generation", provenance.generation.to_string());
    line("positions", provenance.positions.to_string());
    line("data", or_unknown(provenance.data_sha256 != [0; 32], hexadecimal(&provenance.data_sha256)));
    line("commit", or_unknown(!provenance.commit.is_empty(), provenance.commit.clone()));
    line("seed", provenance.seed.to_string());
    line("expected scores", header.expected.len().to_string());
    line("sha256", hexadecimal(&header.sha256));
    line("size", format!("{file_length} bytes, weights of {} bytes", header.payload_length()));
    // The caller prints a final newline.
    text.trim_end().into()
}
