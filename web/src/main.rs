//! The engine: UCI on standard input and output.

use std::io::{BufReader, stdin};

fn main() {
    kiln::uci::Engine::new().run(BufReader::new(stdin()));
}
