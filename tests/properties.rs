//! What holds for any input: nothing panics, what is accepted is sound, and what is refused is refused with a reason.

mod common;

use common::scratch;
use kiln::board::Position;
use kiln::data;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

const FENS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 99 120",
    "8/8/8/8/8/4k3/4p3/4K3 w - - 12 80",
];

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
    (select(&FENS[..]), vec(any::<Index>(), 0..60)).prop_map(|(fen, choices)| {
        let mut position: Position = fen.parse().unwrap();
        for choice in choices {
            let moves = position.moves();
            if moves.is_empty() {
                break;
            }
            position = position.make(moves[choice.index(moves.len())]);
        }
        position
    })
}

fn check(text: &str) -> Result<(), TestCaseError> {
    match text.parse::<Position>() {
        Ok(position) => {
            prop_assert!(position.is_consistent());
            for shredder in [false, true] {
                prop_assert_eq!(&position.fen(shredder).parse::<Position>().unwrap(), &position);
            }
            for &mv in &position.moves() {
                prop_assert!(position.is_legal(mv) && position.make(mv).is_consistent());
            }
        }
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

/// Where damaged games are written, one case after the other.
static DAMAGED: LazyLock<PathBuf> = LazyLock::new(|| scratch("games").join("damaged.viri.zst"));

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

proptest! {
    #[test]
    fn fens_are_sound_or_refused(text in near_fen()) {
        check(&text)?;
    }

    #[test]
    fn any_text_is_no_trouble_as_a_fen(text in "\\PC{0,99}") {
        check(&text)?;
    }

    #[test]
    fn words_are_moves_if_they_are_in_the_list(position in position(), word in "[a-h][1-8][a-h][1-8][nbrq]?", other in "\\PC{0,6}") {
        let moves = position.moves();
        let written: BTreeSet<String> = moves.iter().flat_map(|mv| [mv.uci(false), mv.uci(true)]).collect();
        for word in written.iter().chain([&word, &other]) {
            let read = position.parse_move(word);
            prop_assert_eq!(read.is_some(), written.contains(word), "{} at {}", word, position.fen(true));
            prop_assert!(read.is_none_or(|mv| moves.contains(&mv)));
        }
    }

    #[test]
    fn damaged_games_are_faults(position in position(), bytes in vec(any::<u8>(), 0..99), edits in vec((any::<Index>(), any::<u8>()), 0..4)) {
        let mut raw = Vec::new();
        data::Game { start: position, outcome: data::Outcome::Draw, plies: Vec::new() }.write(&mut raw);
        raw.truncate(32);
        raw.extend_from_slice(&bytes);
        for (place, byte) in edits {
            let place = place.index(raw.len());
            raw[place] = byte;
        }
        fs::write(&*DAMAGED, zstd::encode_all(&raw[..], 1).unwrap()).unwrap();
        let games: Vec<_> = data::read(&DAMAGED).unwrap().collect();
        // All is read, or the last is a fault that says where it lies.
        let mut written = Vec::new();
        for game in &games {
            match game {
                Ok(game) => game.write(&mut written),
                Err(fault) => prop_assert!(fault.to_string().contains("byte"), "{}", fault),
            }
        }
        prop_assert!(games.iter().rev().skip(1).all(Result::is_ok));
        prop_assert!(written.len() <= raw.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is sent, the engine answers `isready`, and ends well when the input does.
    #[test]
    fn sessions_end_well(lines in vec(line(), 0..25)) {
        let mut input = lines.join(&b'\n');
        // A search without end, and options that take long, are over with this.
        input.extend_from_slice(b"\nstop\nisready\nquit\n");
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // Closed early by a `quit` in the middle.
        let _ = pipe.write_all(&input);
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        prop_assert!(output.status.success(), "{}: {}", output.status, error);
        prop_assert!(error.is_empty(), "{}", error);
        let out = String::from_utf8(output.stdout).unwrap();
        prop_assert!(out.contains("readyok"), "{}", out);
    }
}
