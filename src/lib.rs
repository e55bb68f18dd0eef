//! Kiln, a UCI chess engine whose tables and network are written as binary blobs when it is built.
//!
//! # Kiln as a library
//!
//! The engine's modules are public, lowest first; each uses only those before it:
//!
//! | module | contents |
//! |---|---|
//! | [`types`] | [`Square`](types::Square), [`Piece`](types::Piece), [`Move`](types::Move), [`Bitboard`](types::Bitboard), [`Score`](types::Score) |
//! | [`tables`] | attacks, lines and keys, read in place from the blobs |
//! | [`simd`] | the kernels for AVX-512, AVX2, NEON and portable code |
//! | [`board`] | [`Position`](board::Position): FEN, SAN, legal moves, attacks, static exchange evaluation |
//! | [`data`] | games on disk, to train networks with |
//! | [`nnue`] | [`Network`](nnue::Network) and [`Evaluator`](nnue::Evaluator) |
//! | [`tablebases`] | Syzygy tablebases |
//! | [`search`] | [`Threads::search`](search::Threads::search) and its [`Sink`](search::Sink) |
//! | [`tools`] | the commands of the binary |
//! | [`uci`] | [`Engine`](uci::Engine): a UCI session from any input to any output |
//!
//! A game of the engine against itself:
//!
//! ```
//! use kiln::board::{GameHistory, Position};
//! use kiln::nnue::Network;
//! use kiln::search::{Limits, Probing, STACK, SearchRequest, Signals, Threads, TranspositionTable};
//!
//! fn play() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//!     let (mut position, mut history) = (Position::startpos(), GameHistory::new());
//!     let (mut threads, tt) = (Threads::new(1)?, TranspositionTable::new(16)?);
//!     let network = Network::embedded();
//!     let limits = Limits { nodes: Some(1000), ..Limits::default() };
//!     while position.has_legal_move() && position.halfmove_clock() < 100 && position.fullmove_number() < 20 {
//!         let request = SearchRequest {
//!             position: &position,
//!             history: &history,
//!             search_moves: &[],
//!             multi_pv: 1,
//!             limits: &limits,
//!             network: &network,
//!             tt: &tt,
//!             tablebases: None,
//!             probing: Probing::default(),
//!             signals: &Signals::default(),
//!         };
//!         let result = threads.search(&request, &mut ());
//!         let best = result.best.expect("there is a legal move");
//!         println!("{} ({})", position.san(best), result.score);
//!         history.push(&position);
//!         position = position.make(best);
//!     }
//!     println!("{position}");
//!     Ok(())
//! }
//!
//! // A search needs more stack than the main thread may have.
//! std::thread::Builder::new().stack_size(STACK).spawn(play).unwrap().join().unwrap().unwrap();
//! ```
//!
//! The tables and their generator are a crate of their own, `kiln-gen`, for other engines.

pub mod board;
pub mod data;
pub mod nnue;
pub mod search;
pub mod simd;
pub mod tablebases;
pub mod tables;
pub mod tools;
pub mod types;
pub mod uci;
