//! Kiln, a UCI chess engine whose tables and network are written as binary blobs when it is built.
//!
//! # Kiln as a library
//!
//! The engine's modules are public, lowest first; each uses only those before it:
//!
//! | module | contents |
//! |---|---|
//! | [`quote`] | quotations in messages |
//! | [`types`] | [`Square`](types::Square), [`Piece`](types::Piece), [`Move`](types::Move), [`Bitboard`](types::Bitboard), [`Score`](types::Score) |
//! | [`tables`] | attacks, lines and keys, read in place from the blobs |
//! | [`simd`] | the kernels for AVX-512, AVX2, NEON and portable code |
//! | [`board`] | [`Position`](board::Position): FEN, SAN, legal moves, attacks, static exchange evaluation |
//! | [`data`] | games on disk, to train networks with |
//! | [`nnue`] | [`Network`](nnue::Network) and [`Evaluator`](nnue::Evaluator) |
//! | [`tablebases`] | Syzygy tablebases |
//! | [`search`] | [`Session`](search::Session), its searches and their [`Sink`](search::Sink) |
//! | [`tools`] | the commands of the binary |
//! | [`uci`] | [`Engine`](uci::Engine): a UCI session from any input to any output |
//!
//! A game of the engine against itself:
//!
//! ```
//! use kiln::board::{GameHistory, Position, Status};
//! use kiln::nnue::Network;
//! use kiln::search::Session;
//!
//! let (mut position, mut history) = (Position::startpos(), GameHistory::new());
//! let mut session = Session::new(&Network::embedded(), 16, 1)?;
//! while position.status(&history) == Status::Ongoing && position.fullmove_number() < 20 {
//!     let result = session.position(&position).history(&history).nodes(1000).run();
//!     let best = result.best().expect("there is a legal move");
//!     println!("{} ({})", position.san(best), result.score);
//!     history.push(&position);
//!     position.play(best);
//! }
//! println!("{position}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tables and their generator are a crate of their own, `kiln-gen`, for other engines.

pub mod board;
#[cfg(feature = "tools")]
pub mod data;
mod maps;
pub mod nnue;
pub mod quote;
pub mod search;
pub mod simd;
pub mod tablebases;
pub mod tables;
pub mod tools;
pub mod types;
pub mod uci;
