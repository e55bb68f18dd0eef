//! Writes a network of random weights, to test an engine on any shape: `random-network FILE [--hidden 512] [--layers
//! 16 [--pairwise]] [--king-buckets 4] [--output-buckets 8] [--merged-kings] [--threats pairs] [--seed 1]`.

use kiln_gen::network::{
    Activations, Asset, Head, Header, Inputs, Provenance, Threats, equal_king_buckets, equal_output_buckets,
};
use lexopt::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;

struct Options {
    file: PathBuf,
    hidden: u32,
    head: Head,
    king_buckets: u8,
    output_buckets: u8,
    merged_kings: bool,
    threats: Threats,
    seed: u64,
}

fn main() -> ExitCode {
    match parse().and_then(write) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("random-network: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse() -> Result<Options, lexopt::Error> {
    let mut arguments = lexopt::Parser::from_env();
    let mut file = None;
    let (mut hidden, mut layers, mut pairwise, mut seed) = (256, None, false, 1);
    let (mut king_buckets, mut output_buckets, mut merged_kings, mut threats) = (1, 1, false, Threats::None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("hidden") => hidden = arguments.value()?.parse()?,
            Long("layers") => layers = Some(arguments.value()?.parse()?),
            Long("pairwise") => pairwise = true,
            Long("king-buckets") => king_buckets = arguments.value()?.parse()?,
            Long("output-buckets") => output_buckets = arguments.value()?.parse()?,
            Long("merged-kings") => merged_kings = true,
            Long("threats") => threats = arguments.value()?.parse()?,
            Long("seed") => seed = arguments.value()?.parse()?,
            Value(name) if file.is_none() => file = Some(PathBuf::from(name)),
            _ => return Err(argument.unexpected()),
        }
    }
    for (option, value, allowed) in [
        ("--king-buckets", king_buckets, [1, 2, 4, 8, 16, 32].as_slice()),
        ("--output-buckets", output_buckets, &[1, 2, 3, 4, 5, 6, 7, 8]),
    ] {
        if !allowed.contains(&value) {
            return Err(format!("{option} is {value}, expected one of {allowed:?}").into());
        }
    }
    let file = file.ok_or("no file is given; usage: random-network FILE [--hidden 512]")?;
    let head = match layers {
        None if pairwise => return Err("--pairwise is for --layers".into()),
        None => Head::Single,
        Some(first) => Head::Layers { inputs: Activations::new(pairwise), first, second: 32 },
    };
    Ok(Options { file, hidden, head, king_buckets, output_buckets, merged_kings, threats, seed })
}

fn write(options: Options) -> Result<(), lexopt::Error> {
    let Options { file, hidden, head, king_buckets, output_buckets, merged_kings, threats, seed } = options;
    let description = format!("random weights of seed {seed}, for tests only");
    let header = Header {
        name: format!("random {seed}"),
        provenance: Provenance { description, seed, ..Provenance::default() },
        inputs: Inputs { mirrored: true, merged_kings, king_buckets: equal_king_buckets(king_buckets), threats },
        head,
        output_buckets: equal_output_buckets(output_buckets),
        ..Header::plain(hidden)
    };
    let shape = header.shape();
    // `Asset::random` takes any header.
    header.check().map_err(|error| error.to_string())?;
    let bytes = Asset::random(header, seed).to_bytes();
    std::fs::write(&file, &bytes).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    println!("{}: {shape}, {} bytes", file.display(), bytes.len());
    Ok(())
}
