//! Writes a network of random weights, to try how fast a shape is: `random-network FILE HIDDEN single|16|32 OUTPUT_BUCKETS`.

use kiln_gen::network::{Asset, Head, Header, equal_output_buckets, material};
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "usage: random-network FILE HIDDEN single|16|32 OUTPUT_BUCKETS";

fn main() -> ExitCode {
    match write() {
        Ok(shape) => {
            println!("{shape}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("random-network: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<String, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, hidden, head, buckets] = &arguments[..] else { return Err(USAGE.into()) };
    let head = match head.as_str() {
        "single" => Head::Single,
        first => Head::Layers { first: first.parse().map_err(|_| USAGE)?, second: 32 },
    };
    let buckets: u8 =
        buckets.parse().ok().filter(|buckets| (1..=8).contains(buckets)).ok_or("1 to 8 output buckets")?;
    let header = Header {
        name: "random weights".into(),
        hidden: hidden.parse().map_err(|_| USAGE)?,
        head,
        output_buckets: equal_output_buckets(buckets),
        ..material().header
    };
    header.check()?;
    let shape = header.shape();
    std::fs::write(file, Asset::random(header, 1).to_bytes())
        .map_err(|error| format!("cannot write {file}: {error}"))?;
    Ok(shape)
}
