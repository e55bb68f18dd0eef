#![no_main]
//! Looks for Syzygy tables in folders of files that may be tables, by any path.

use arbitrary::Arbitrary;
use kiln_fuzz::{properties, scratch};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| scratch("tables"));

#[derive(Debug, Arbitrary)]
enum Name<'a> {
    Any(&'a str),
    /// The pieces of both sides, and whether it is a WDL table.
    Table(Vec<u8>, Vec<u8>, bool),
}

#[derive(Debug, Arbitrary)]
enum Contents<'a> {
    Any(&'a [u8]),
    /// Whether it is a WDL table, the number of blocks, and the number of bytes too many or too few.
    Table(bool, u8, i8),
}

fuzz_target!(|input: (&str, Vec<(Name, Contents)>)| {
    let (path, files) = input;
    let files: Vec<_> =
        files.into_iter().take(20).map(|(name, contents)| (name_of(name), bytes_of(contents))).collect();
    properties::tables(path, &files, &FOLDER);
});

fn name_of(name: Name) -> String {
    let side = |pieces: Vec<u8>| pieces.into_iter().map(|piece| char::from(b"QRBNP"[usize::from(piece) % 5])).collect();
    match name {
        Name::Any(name) => name.into(),
        Name::Table(strong, weak, is_wdl) => {
            let (strong, weak): (String, String) = (side(strong), side(weak));
            format!("K{strong}vK{weak}.{}", if is_wdl { "rtbw" } else { "rtbz" })
        }
    }
}

fn bytes_of(contents: Contents) -> Vec<u8> {
    match contents {
        Contents::Any(bytes) => bytes.into(),
        Contents::Table(is_wdl, blocks, excess) => {
            let start: [u8; 4] = if is_wdl { [0x71, 0xe8, 0x23, 0x5d] } else { [0xd7, 0x66, 0x0c, 0xa5] };
            let length = (64 * i32::from(blocks) + 16 + i32::from(excess)).max(0) as usize;
            start.into_iter().chain(std::iter::repeat(0)).take(length).collect()
        }
    }
}
