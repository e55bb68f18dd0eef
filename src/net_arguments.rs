//! The arguments after `kiln net`.

use kiln::tools::net::Task;
use kiln_gen::network::{Head, Header, MAX_OUTPUT_BUCKETS, equal_output_buckets};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// All that may be given to `kiln net import`.
#[derive(Default)]
struct Options {
    mirrored: bool,
    merged_kings: bool,
    layers: Option<Head>,
    hidden: Option<u32>,
    king_buckets: Option<[u8; 64]>,
    output_buckets: Option<u8>,
    qa: Option<u16>,
    qb: Option<u16>,
    scale: Option<u16>,
    name: Option<String>,
}

/// Reads what follows `net`; nothing if help is asked for.
pub fn parse(arguments: &mut lexopt::Parser) -> Result<Option<Task>, lexopt::Error> {
    let mut words = Vec::new();
    let mut options = Options::default();
    let mut last_option = None;
    while let Some(argument) = arguments.next()? {
        if let Long(name) = argument {
            last_option = Some(name.to_owned());
        }
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("mirrored") => options.mirrored = true,
            Long("merged-kings") => options.merged_kings = true,
            Long("layers") => options.layers = Some(arguments.value()?.parse_with(read_layers)?),
            Long("hidden") => options.hidden = Some(arguments.value()?.parse_with(|text| read_number(text, u32::MAX))?),
            Long("king-buckets") => options.king_buckets = Some(read_king_buckets(arguments.value()?)?),
            Long("output-buckets") => {
                options.output_buckets = Some(arguments.value()?.parse_with(read_output_buckets)?);
            }
            Long("qa") => options.qa = Some(arguments.value()?.parse_with(|text| read_number(text, u16::MAX))?),
            Long("qb") => options.qb = Some(arguments.value()?.parse_with(|text| read_number(text, u16::MAX))?),
            Long("scale") => options.scale = Some(arguments.value()?.parse_with(|text| read_number(text, u16::MAX))?),
            Long("name") => options.name = Some(arguments.value()?.string()?),
            Value(word) => words.push(word),
            _ => return Err(argument.unexpected()),
        }
    }
    let mut words = words.into_iter();
    let action = words.next().unwrap_or_default();
    let files: Vec<PathBuf> = words.map(PathBuf::from).collect();
    if let Some(option) = last_option.filter(|_| action != "import") {
        return Err(format!("--{option} is for kiln net import").into());
    }
    Ok(Some(match (action.to_str(), &files[..]) {
        (Some("info"), [file]) => Task::Info(file.clone()),
        (Some("verify"), [file]) => Task::Verify(file.clone()),
        (Some("import"), [quantised, out]) => {
            let header = Box::new(options.header()?);
            Task::Import { quantised: quantised.clone(), out: out.clone(), header }
        }
        (Some("export"), [asset, out]) => Task::Export { asset: asset.clone(), out: out.clone() },
        (Some(action @ ("info" | "verify")), _) => {
            return Err(format!("net {action} needs one file, as in: kiln net {action} FILE").into());
        }
        (Some(action @ ("import" | "export")), _) => {
            return Err(format!("net {action} needs two files, as in: kiln net {action} FROM TO").into());
        }
        _ => return Err(format!("bad net command {action:?}: expected info, verify, import or export").into()),
    }))
}

impl Options {
    fn header(self) -> Result<Header, String> {
        let hidden = self.hidden.ok_or("net import needs --hidden, the width of an accumulator, as in --hidden 256")?;
        let mut header = Header::plain(hidden);
        header.provenance.description = "imported from bullet's quantised.bin".into();
        header.inputs.mirrored = self.mirrored;
        header.inputs.merged_kings = self.merged_kings;
        header.head = self.layers.unwrap_or(header.head);
        header.inputs.king_buckets = self.king_buckets.unwrap_or(header.inputs.king_buckets);
        header.output_buckets = self.output_buckets.map_or(header.output_buckets, equal_output_buckets);
        header.qa = self.qa.unwrap_or(header.qa);
        header.qb = self.qb.unwrap_or(header.qb);
        header.scale = self.scale.unwrap_or(header.scale);
        header.name = self.name.unwrap_or(header.name);
        Ok(header)
    }
}

fn read_number<T: TryFrom<u64> + Into<u64>>(text: &str, limit: T) -> Result<T, String> {
    let number = text.parse().ok().and_then(|number: u64| number.try_into().ok());
    number.ok_or_else(|| format!("expected a whole number up to {}", limit.into()))
}

fn read_layers(text: &str) -> Result<Head, String> {
    let widths = text.split_once(',').and_then(|(first, second)| Some((first.parse().ok()?, second.parse().ok()?)));
    let (first, second) = widths.ok_or(format!("bad layers {text:?}: expected their widths, as in 16,32"))?;
    Ok(Head::Layers { first, second })
}

fn read_output_buckets(text: &str) -> Result<u8, String> {
    let count = text.parse().ok().filter(|&count| (1..=MAX_OUTPUT_BUCKETS).contains(&usize::from(count)));
    count.ok_or(format!("expected a whole number from 1 to {MAX_OUTPUT_BUCKETS}"))
}

/// The buckets from a1 to h8, in one argument or in a file.
fn read_king_buckets(value: OsString) -> Result<[u8; 64], String> {
    let is_list = |text: &&str| text.chars().all(|c| c.is_ascii_digit() || c == ',' || c.is_whitespace());
    let text = match value.to_str().filter(is_list) {
        Some(list) => list.into(),
        None => std::fs::read_to_string(&value)
            .map_err(|error| format!("cannot read the king buckets from {}: {error}", value.display()))?,
    };
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    let numbers: Option<Vec<u8>> = words.map(|word| word.parse().ok()).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| {
        "bad king buckets: expected 64 numbers from 0 to 31 for a1 to h8, with commas or spaces between".into()
    })
}
