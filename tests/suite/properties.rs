//! Property tests on random input. `fuzz/` tests the same properties for longer; inputs that failed there are tested
//! here.

use crate::common::properties::{self, Cache, FENS};
use crate::common::{alone_with_tablebases, default_header, default_network, scratch};
use kiln::board::Position;
use kiln::data::{Game, Outcome};
use kiln_gen::network::{Asset, Header, material};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::path::PathBuf;
use std::sync::LazyLock;

/// A FEN with some characters replaced, inserted or removed.
fn near_fen() -> impl Strategy<Value = String> {
    let edit = (any::<Index>(), 0..3, select("rnbqkpRNBQKP12345678/wb-KQkqaAhH369 ".chars().collect::<Vec<_>>()));
    (select(&FENS[..]), vec(edit, 0..6)).prop_map(|(fen, edits)| {
        let mut text: Vec<char> = fen.chars().collect();
        for (index, kind, letter) in edits {
            let index = index.index(text.len());
            match kind {
                0 => text[index] = letter,
                1 => text.insert(index, letter),
                _ if text.len() > 1 => drop(text.remove(index)),
                _ => (),
            }
        }
        text.into_iter().collect()
    })
}

/// A position from a random game.
fn position() -> impl Strategy<Value = Position> {
    (select(&FENS[..]), vec(any::<usize>(), 0..60)).prop_map(|(fen, choices)| properties::walk(fen, choices))
}

/// Bytes to overwrite, as indices and values.
fn edits() -> impl Strategy<Value = Vec<(usize, u8)>> {
    vec((any::<usize>(), any::<u8>()), 0..4)
}

fn edited(mut bytes: Vec<u8>, edits: Vec<(usize, u8)>) -> Vec<u8> {
    let length = bytes.len();
    edits.into_iter().for_each(|(index, byte)| bytes[index % length] = byte);
    bytes
}

/// A line that a GUI might send, or nearly such a line.
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

/// The name and bytes of a file that may be a Syzygy table.
fn table() -> impl Strategy<Value = (String, Vec<u8>)> {
    let name = prop_oneof![9 => "K[QRBNP]{0,3}vK[QRBNP]{0,3}\\.rtb[wz]", 1 => "\\PC{0,12}"];
    let start = select(vec![[0x71, 0xe8, 0x23, 0x5d], [0xd7, 0x66, 0x0c, 0xa5], [0; 4]]);
    (name, start, prop_oneof![4 => Just(16), 1 => 0..99_usize]).prop_map(|(name, start, more)| {
        let length = if more == 16 { 80 } else { more };
        (name, start.into_iter().chain([0; 99]).take(length).collect())
    })
}

/// A network that is quick to write.
static SMALL: LazyLock<Asset> = LazyLock::new(material);
static SMALL_FILE: LazyLock<Vec<u8>> = LazyLock::new(|| SMALL.to_bytes());
static CACHE: LazyLock<Cache> = LazyLock::new(|| Cache::new(&default_network(), &scratch("cache")));
/// The file to which each case writes its shard.
static SHARD: LazyLock<PathBuf> = LazyLock::new(|| scratch("games").join("damaged.viri.zst"));
static TABLES: LazyLock<PathBuf> = LazyLock::new(|| scratch("tables"));

/// Returns the bytes of a header as they are in a file.
fn header_bytes(header: Header) -> Vec<u8> {
    let file = Asset { header, ..SMALL.clone() }.to_bytes();
    let length = u32::from_le_bytes(*file[10..].first_chunk().unwrap()) as usize;
    file[14..][..length].to_vec()
}

proptest! {
    #[test]
    fn mutated_fens_are_sound_or_rejected(text in near_fen()) {
        properties::fen(&text);
    }

    #[test]
    fn any_text_is_a_sound_fen_or_rejected(text in "\\PC{0,99}") {
        properties::fen(&text);
    }

    #[test]
    fn words_parse_as_legal_moves_only(position in position(), word in "[a-hA-H][1-8][a-hA-H][1-8][nbrqNBRQ]?", other in "\\PC{0,6}") {
        properties::moves(&position, &[&word, &other]);
    }

    #[test]
    fn damaged_games_are_errors(position in position(), bytes in vec(any::<u8>(), 0..99), edits in edits()) {
        let mut raw = Vec::new();
        Game { start: position, outcome: Outcome::Draw, bound: None, moves: Vec::new() }.write(&mut raw);
        raw.truncate(32);
        raw.extend_from_slice(&bytes);
        properties::games(&edited(raw, edits));
    }

    #[test]
    fn damaged_shards_are_errors(positions in vec(position(), 1..4), edits in edits()) {
        let mut raw = Vec::new();
        for start in positions {
            Game { start, outcome: Outcome::Draw, bound: None, moves: Vec::new() }.write(&mut raw);
        }
        properties::shard(&edited(zstd::encode_all(&raw[..], 1).unwrap(), edits), &SHARD);
    }

    #[test]
    fn tablebases_are_found_or_rejected(path in prop_oneof![4 => "[@:; ]{1,5}", 1 => "\\PC{0,20}"], files in vec(table(), 0..6)) {
        let _alone = alone_with_tablebases();
        properties::tables(&path, &files, &TABLES);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the input, the engine answers every search and `isready`, and exits cleanly when the input ends.
    #[test]
    fn sessions_end_cleanly(lines in vec(line(), 0..25)) {
        properties::session(&lines.join(&b'\n'));
    }

    #[test]
    fn damaged_networks_are_rejected(edits in edits(), bytes in vec(any::<u8>(), 0..99)) {
        properties::asset(&edited(SMALL_FILE.clone(), edits));
        properties::asset(&bytes);
    }

    #[test]
    fn damaged_headers_are_rejected(edits in edits(), weights in vec(0..3_u8, 1..99)) {
        properties::header(&edited(header_bytes(SMALL.header.clone()), edits.clone()), &weights);
        properties::header(&edited(header_bytes(default_header()), edits), &weights);
    }

    #[test]
    fn damaged_caches_are_rewritten(edits in edits(), length in option::of(any::<usize>())) {
        CACHE.damaged(&edits, length);
    }
}

/// Found by the fuzzer `games`: error messages quoted unknown fields of a sidecar with their line breaks.
#[test]
fn findings_of_the_fuzzers() {
    for json in [r#"{"\n": 1}"#, r#"{"games": "\n\u0085"}"#] {
        properties::sidecar(json.as_bytes(), &SHARD);
    }
}

proptest! {
    #[test]
    fn damaged_sidecars_are_rejected(edits in edits(), text in "\\PC{0,20}") {
        let whole = include_bytes!("../../fuzz/seeds/games/sidecar");
        let shard = SHARD.with_file_name("damaged sidecar.viri.zst");
        properties::sidecar(&edited(whole.to_vec(), edits), &shard);
        properties::sidecar(text.as_bytes(), &shard);
    }
}
