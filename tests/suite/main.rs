//! All tests of the engine in one program, because linking takes longer than running them.

mod common;

mod architecture;
mod board;
mod build_faults;
mod clients;
mod commands;
mod datagen;
mod embed;
#[cfg(unix)]
mod faults;
mod fen;
#[cfg(unix)]
mod long_work;
mod mates;
mod net_command;
mod nnue;
mod perft;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod processor;
mod properties;
mod random_games;
mod swap;
mod tablebases;
mod tables_command;
#[cfg(feature = "tune")]
mod tune;
mod uci;
