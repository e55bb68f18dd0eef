//! What holds for any input, tried on random ones; `fuzz/` tries the same for longer, and what it has found is here.

mod common;
#[path = "common/properties.rs"]
mod properties;

use common::{default_header, default_network, scratch};
use kiln::board::Position;
use kiln::data::{Game, Outcome};
use kiln_gen::network::{Asset, Header, material};
use properties::{Cache, FENS};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A FEN with some characters replaced, put in or left out.
fn near_fen() -> impl Strategy<Value = String> {
    let edit = (any::<Index>(), 0..3, select("rnbqkpRNBQKP12345678/wb-KQkqaAhH369 ".chars().collect::<Vec<_>>()));
    (select(&FENS[..]), vec(edit, 0..6)).prop_map(|(fen, edits)| {
        let mut text: Vec<char> = fen.chars().collect();
        for (place, kind, letter) in edits {
            let place = place.index(text.len());
            match kind {
                0 => text[place] = letter,
                1 => text.insert(place, letter),
                _ if text.len() > 1 => drop(text.remove(place)),
                _ => (),
            }
        }
        text.into_iter().collect()
    })
}

/// Where some game has come to.
fn position() -> impl Strategy<Value = Position> {
    (select(&FENS[..]), vec(any::<usize>(), 0..60)).prop_map(|(fen, choices)| properties::walk(fen, choices))
}

/// Bytes to be put in some places.
fn edits() -> impl Strategy<Value = Vec<(usize, u8)>> {
    vec((any::<usize>(), any::<u8>()), 0..4)
}

fn edited(mut bytes: Vec<u8>, edits: Vec<(usize, u8)>) -> Vec<u8> {
    let length = bytes.len();
    edits.into_iter().for_each(|(place, byte)| bytes[place % length] = byte);
    bytes
}

/// A line as a GUI might send it, or not quite.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let words = "uci isready ucinewgame position startpos fen moves e2e4 e7e5 e1g1 a7a8q 0000 go depth nodes movetime wtime btime winc binc \
                 movestogo mate infinite ponder searchmoves perft stop ponderhit setoption name value Hash Threads MultiPV Clear UCI_Chess960 \
                 UCI_Elo UCI_LimitStrength UCI_ShowWDL Move Overhead SyzygyPath EvalFile true false d eval help license debug on off register \
                 0 1 2 3 -1 99999999999999999999";
    let word = prop_oneof![
        6 => select(words.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()),
        1 => near_fen(),
        1 => "\\PC{0,8}",
    ];
    let session = prop_oneof![
        Just("position startpos moves e2e4".to_owned()),
        near_fen().prop_map(|fen| format!("position fen {fen}")),
        (1..9).prop_map(|depth| format!("go depth {depth}")),
        (0..3000).prop_map(|nodes| format!("go nodes {nodes}")),
        (-9..9, -9..9)
            .prop_map(|(time, increment)| format!("go wtime {time} btime {time} winc {increment} binc {increment}")),
        (0..20).prop_map(|time| format!("go movetime {time}")),
        Just("go infinite".to_owned()),
        Just("go ponder wtime 10 btime 10".to_owned()),
        (0..4).prop_map(|threads| format!("setoption name Threads value {threads}")),
        (0..9).prop_map(|size| format!("setoption name Hash value {size}")),
    ];
    prop_oneof![
        3 => session.prop_map(String::into_bytes),
        3 => vec(word, 0..9).prop_map(|words| words.join(" ").into_bytes()),
        1 => vec(any::<u8>(), 0..40),
    ]
}

/// A file that may be a Syzygy table: its name and its bytes.
fn table() -> impl Strategy<Value = (String, Vec<u8>)> {
    let name = prop_oneof![9 => "K[QRBNP]{0,3}vK[QRBNP]{0,3}\\.rtb[wz]", 1 => "\\PC{0,12}"];
    let start = select(vec![[0x71, 0xe8, 0x23, 0x5d], [0xd7, 0x66, 0x0c, 0xa5], [0; 4]]);
    (name, start, prop_oneof![4 => Just(16), 1 => 0..99_usize]).prop_map(|(name, start, more)| {
        let length = if more == 16 { 80 } else { more };
        (name, start.into_iter().chain([0; 99]).take(length).collect())
    })
}

/// A network that is quickly written: header and weights.
static SMALL: LazyLock<Asset> = LazyLock::new(material);
static CACHE: LazyLock<Cache> = LazyLock::new(|| Cache::new(&default_network(), &scratch("cache")));
/// Where a shard is written, one case after the other.
static SHARD: LazyLock<PathBuf> = LazyLock::new(|| scratch("games").join("damaged.viri.zst"));
static TABLES: LazyLock<PathBuf> = LazyLock::new(|| scratch("tables"));

/// The header of a file as it stands there.
fn header_bytes(header: Header) -> Vec<u8> {
    let file = Asset { header, ..SMALL.clone() }.to_bytes();
    let length = u32::from_le_bytes(*file[10..].first_chunk().unwrap()) as usize;
    file[14..][..length].to_vec()
}

proptest! {
    #[test]
    fn fens_are_sound_or_refused(text in near_fen()) {
        properties::fen(&text);
    }

    #[test]
    fn any_text_is_no_trouble_as_a_fen(text in "\\PC{0,99}") {
        properties::fen(&text);
    }

    #[test]
    fn words_are_moves_if_they_are_in_the_list(position in position(), word in "[a-h][1-8][a-h][1-8][nbrq]?", other in "\\PC{0,6}") {
        properties::moves(&position, &[&word, &other]);
    }

    #[test]
    fn damaged_games_are_faults(position in position(), bytes in vec(any::<u8>(), 0..99), edits in edits()) {
        let mut raw = Vec::new();
        Game { start: position, outcome: Outcome::Draw, moves: Vec::new() }.write(&mut raw);
        raw.truncate(32);
        raw.extend_from_slice(&bytes);
        properties::games(&edited(raw, edits));
    }

    #[test]
    fn damaged_shards_are_faults(positions in vec(position(), 1..4), edits in edits()) {
        let mut raw = Vec::new();
        for start in positions {
            Game { start, outcome: Outcome::Draw, moves: Vec::new() }.write(&mut raw);
        }
        properties::shard(&edited(zstd::encode_all(&raw[..], 1).unwrap(), edits), &SHARD);
    }

    #[test]
    fn tables_are_found_or_named(path in prop_oneof![4 => "[@:; ]{1,5}", 1 => "\\PC{0,20}"], files in vec(table(), 0..6)) {
        properties::tables(&path, &files, &TABLES);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is sent, searches and `isready` are answered, and the engine ends well when the input does.
    #[test]
    fn sessions_end_well(lines in vec(line(), 0..25)) {
        properties::session(&lines.join(&b'\n'));
    }

    #[test]
    fn damaged_networks_are_refused(edits in edits(), bytes in vec(any::<u8>(), 0..99)) {
        properties::asset(&edited(fs::read(default_network()).unwrap(), edits));
        properties::asset(&bytes);
    }

    #[test]
    fn damaged_headers_are_refused(edits in edits(), weights in vec(0..3_u8, 1..99)) {
        properties::header(&edited(header_bytes(SMALL.header.clone()), edits.clone()), &weights);
        properties::header(&edited(header_bytes(default_header()), edits), &weights);
    }

    #[test]
    fn damaged_caches_are_written_again(edits in edits(), length in option::of(any::<usize>())) {
        CACHE.damaged(&edits, length);
    }
}

/// Found by the fuzzer `games`: what a sidecar should not hold was quoted with its line breaks.
#[test]
fn what_the_fuzzers_have_found() {
    for json in [r#"{"\n": 1}"#, r#"{"games": "\n\u0085"}"#] {
        properties::sidecar(json.as_bytes(), &SHARD);
    }
}

proptest! {
    #[test]
    fn damaged_sidecars_are_refused(edits in edits(), text in "\\PC{0,20}") {
        let whole = include_bytes!("../fuzz/seeds/games/sidecar");
        let shard = SHARD.with_file_name("damaged sidecar.viri.zst");
        properties::sidecar(&edited(whole.to_vec(), edits), &shard);
        properties::sidecar(text.as_bytes(), &shard);
    }
}
