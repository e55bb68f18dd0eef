//! The arguments after `kiln net`.

use super::Arguments;
use kiln::tools::net::Task;
use kiln_gen::network::{Activations, Head, Header, MAX_OUTPUT_BUCKETS, Threats, equal_output_buckets};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Parses the arguments after `net`. Returns `None` if they ask for help.
pub fn parse(arguments: &mut Arguments) -> Result<Option<Task>, lexopt::Error> {
    let mut words = Vec::new();
    let (mut header, mut hidden, mut pairwise) = (Header::plain(0), None, false);
    header.provenance.description = "imported from bullet's quantised.bin".into();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("mirrored") => header.inputs.mirrored = true,
            Long("merged-kings") => header.inputs.merged_kings = true,
            Long("threats") => header.inputs.threats = arguments.parse(str::parse::<Threats>)?,
            Long("layers") => header.head = arguments.parse(read_layers)?,
            Long("pairwise") => pairwise = true,
            Long("hidden") => hidden = Some(arguments.number(0..=u32::MAX)?),
            Long("king-buckets") => header.inputs.king_buckets = read_king_buckets(arguments.value()?)?,
            Long("output-buckets") => {
                header.output_buckets = equal_output_buckets(arguments.number(1..=MAX_OUTPUT_BUCKETS as u8)?);
            }
            Long("qa") => header.qa = arguments.number(0..=u16::MAX)?,
            Long("qb") => header.qb = arguments.number(0..=u16::MAX)?,
            Long("scale") => header.scale = arguments.number(0..=u16::MAX)?,
            Long("name") => header.name = arguments.value()?.string()?,
            Value(word) => words.push(word),
            _ => return Err(argument.unexpected()),
        }
    }
    let mut words = words.into_iter();
    let action = words.next().unwrap_or_default();
    let files: Vec<PathBuf> = words.map(PathBuf::from).collect();
    if let Some(option) = arguments.option.as_ref().filter(|_| action != "import") {
        return Err(format!("--{option} is for kiln net import").into());
    }
    Ok(Some(match (action.to_str(), &files[..]) {
        (Some("info"), [file]) => Task::Info(file.clone()),
        (Some("verify"), [file]) => Task::Verify(file.clone()),
        (Some("yardstick"), [asset @ .., positions]) if asset.len() <= 1 => {
            Task::Yardstick { asset: asset.first().cloned(), positions: positions.clone() }
        }
        (Some("import"), [quantised, out]) => {
            let hidden = hidden.ok_or("net import needs --hidden, the width of the accumulator, as in --hidden 256")?;
            if pairwise {
                let Head::Layers { inputs, .. } = &mut header.head else {
                    return Err("--pairwise is for networks with --layers".into());
                };
                *inputs = Activations::Products;
            }
            let header = Box::new(Header { hidden, ..header });
            Task::Import { quantised: quantised.clone(), out: out.clone(), header }
        }
        (Some("export"), [asset, out]) => Task::Export { asset: asset.clone(), out: out.clone() },
        (Some(action @ ("info" | "verify")), _) => {
            return Err(format!("net {action} needs one file, as in: kiln net {action} FILE").into());
        }
        (Some("yardstick"), _) => {
            return Err("net yardstick needs one or two files, as in: kiln net yardstick NETWORK POSITIONS".into());
        }
        (Some(action @ ("import" | "export")), _) => {
            return Err(format!("net {action} needs two files, as in: kiln net {action} FROM TO").into());
        }
        _ => {
            return Err(
                format!("bad net command {action:?}: expected info, verify, yardstick, import or export").into()
            );
        }
    }))
}

fn read_layers(text: &str) -> Result<Head, String> {
    let widths = text.split_once(',').and_then(|(first, second)| Some((first.parse().ok()?, second.parse().ok()?)));
    let (first, second) = widths.ok_or("expected two widths, as in 16,32")?;
    Ok(Head::Layers { inputs: Activations::Squares, first, second })
}

/// Parses the king buckets from a1 to h8, given as a list or as the path of a file with the list.
fn read_king_buckets(value: OsString) -> Result<[u8; 64], String> {
    let is_list = |text: &&str| text.chars().all(|c| c.is_ascii_digit() || c == ',' || c.is_whitespace());
    let text = match value.to_str().filter(is_list) {
        Some(list) => list.into(),
        None => std::fs::read_to_string(&value)
            .map_err(|error| format!("cannot read the king buckets from {}: {error}", value.display()))?,
    };
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    let numbers: Option<Vec<u8>> = words.map(|word| word.parse::<u8>().ok()).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| {
        "bad king buckets: expected 64 numbers from 0 to 63 for a1 to h8, separated by commas or spaces".into()
    })
}
