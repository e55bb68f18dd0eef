//! Syzygy tablebases, compared with python-chess.

use crate::common::{alone_with_tablebases, scratch, skipped, test_data};
use kiln::board::{GameHistory, Position};
use kiln::tablebases::{Files, TablebaseError, Tablebases, Wdl};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::MutexGuard;
use std::thread;

/// Returns the folder of small tables and a guard for opening a set, or `None` with a message if there is no such
/// folder.
fn tables() -> Option<(String, MutexGuard<'static, ()>)> {
    Some((test_data("syzygy")?, alone_with_tablebases()))
}

fn position(fen: &str) -> Position {
    fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn outcome(text: &str) -> Wdl {
    let all = [Wdl::Loss, Wdl::BlessedLoss, Wdl::Draw, Wdl::CursedWin, Wdl::Win];
    all[(text.parse::<i32>().unwrap() + 2) as usize]
}

/// Copies the WDL tables of three pieces, without those of DTZ.
fn copy_outcomes(from: &str, to: &Path) {
    for name in ["KPvK", "KQvK", "KRvK", "KBvK", "KNvK"] {
        fs::copy(format!("{from}/{name}.rtbw"), to.join(format!("{name}.rtbw"))).unwrap();
    }
}

/// Runs UCI commands with the tables of a folder, and returns what the engine says.
fn search(folder: &str, commands: &str) -> String {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_kiln"));
    engine.args(["setoption", "name", "SyzygyPath", "value", folder]).args(commands.split(' '));
    String::from_utf8(engine.output().unwrap().stdout).unwrap()
}

/// Compares 6,000 random positions. The environment variable `KILN_TABLEBASE_POSITIONS` overrides the number; `all`
/// means all positions with three pieces, which takes long.
#[test]
fn agrees_with_python_chess() {
    let Some((folder, _alone)) = tables() else { return };
    if !Command::new("python3").args(["-c", "import chess.syzygy"]).output().is_ok_and(|done| done.status.success()) {
        skipped("there is no python3 with the package \"chess\"");
        return;
    }
    let tables = Tablebases::open(&folder).unwrap();
    let count = std::env::var("KILN_TABLEBASE_POSITIONS").unwrap_or("6000".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tablebases.py");
    let mut other = Command::new("python3").args([script, &folder, &count]).stdout(Stdio::piped()).spawn().unwrap();
    let (mut positions, mut moves, mut outcomes) = (0, 0, [0; 5]);
    for line in BufReader::new(other.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let mut fields = line.split('\t');
        let position = position(fields.next().unwrap());
        let expected = outcome(fields.next().unwrap());
        assert_eq!(tables.probe_wdl(&position), Some(expected), "{line}");
        if position.has_legal_move() {
            let dtz: i32 = fields.next().unwrap().parse().unwrap();
            assert_eq!(tables.probe_dtz(&position), Some(dtz), "{line}");
            let ranked = tables.rank_root(&position, &GameHistory::new(), true).unwrap();
            assert_eq!(ranked.len(), position.moves().len(), "{line}");
            assert_eq!(ranked.iter().map(|ranked| ranked.wdl).max(), Some(expected), "{line}");
            assert!(ranked.is_sorted_by(|a, b| a.tb_rank >= b.tb_rank && a.wdl >= b.wdl), "{line}");
            for (text, other) in fields.map(|field| field.split_once(':').unwrap()) {
                let found = ranked.iter().find(|ranked| ranked.mv.uci(false) == text).map(|ranked| ranked.wdl);
                assert_eq!(found, Some(outcome(other)), "{line}: {text}");
                moves += 1;
            }
        }
        positions += 1;
        outcomes[expected as usize] += 1;
    }
    assert!(other.wait().unwrap().success());
    println!("{positions} positions ({outcomes:?} from loss to win) and {moves} moves agree");
    assert!(positions > 0 && moves > 0 && outcomes[0] > 0 && outcomes[2] > 0 && outcomes[4] > 0);
}

#[test]
fn positions_outside_the_tables() {
    let Some((folder, _alone)) = tables() else { return };
    let tables = Tablebases::open(&folder).unwrap();
    assert_eq!((tables.max_pieces(), tables.file_count()), (4, 70));
    let wdl = |fen| tables.probe_wdl(&position(fen));
    assert_eq!(wdl("8/8/8/4k3/8/8/8/KQ6 w - - 0 1"), Some(Wdl::Win));
    assert_eq!(wdl("8/8/8/4k3/8/8/8/KQ6 w - - 1 1"), None, "the halfmove clock runs");
    assert_eq!(wdl("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), None, "castling is possible");
    assert_eq!(wdl("4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1"), None, "there are five pieces");
    assert_eq!(tables.rank_root(&Position::startpos(), &GameHistory::new(), true), None);
    assert_eq!(
        tables.rank_root(&position("7k/5K2/6Q1/8/8/8/8/8 b - - 0 1"), &GameHistory::new(), true),
        None,
        "stalemate"
    );
    // Root ranking respects the halfmove clock: mates inside and beyond the fifty-move rule.
    let best = |fen| tables.rank_root(&position(fen), &GameHistory::new(), true).unwrap()[0];
    assert_eq!(best("k7/8/2K5/8/8/8/8/1Q6 w - - 10 90").wdl, Wdl::Win);
    assert_eq!(best("k7/8/8/3K4/8/8/8/1Q6 w - - 99 90").wdl, Wdl::CursedWin);
}

/// Without DTZ tables, the WDL tables still rank winning moves first.
#[test]
fn wdl_tables_suffice_for_ranking() {
    let Some((folder, _alone)) = tables() else { return };
    let few = scratch("outcomes");
    copy_outcomes(&folder, &few);
    let tables = Tablebases::open(few.to_str().unwrap()).unwrap();
    assert_eq!((tables.max_pieces(), tables.file_count()), (3, 5));
    let pawn = position("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1");
    let ranked = tables.rank_root(&pawn, &GameHistory::new(), true).unwrap();
    assert_eq!(ranked.len(), pawn.moves().len());
    for ranked in &ranked {
        let after = pawn.make(ranked.mv).fen(false).replace(" 1 1", " 0 1");
        let child = position(&after);
        assert_eq!(Some(-ranked.wdl), tables.probe_wdl(&child), "{after}");
    }
    let won = position("8/8/4k3/8/4K3/8/4P3/8 w - - 0 1");
    assert_eq!(tables.probe_dtz(&won), None);
    let ranked = tables.rank_root(&won, &GameHistory::new(), true).unwrap();
    assert_eq!((ranked[0].wdl, ranked.last().unwrap().wdl), (Wdl::Win, Wdl::Draw), "{ranked:?}");
}

/// Without DTZ tables, a search for a win goes on probing.
#[test]
fn searches_probe_where_moves_are_not_ranked_by_dtz() {
    let Some((folder, _alone)) = tables() else { return };
    let outcomes = scratch("outcomes alone");
    copy_outcomes(&folder, &outcomes);
    let hits = |path: &str, fen: &str| -> u64 {
        let out = search(path, &format!("position fen {fen} go depth 8"));
        let last = out.lines().rfind(|line| line.contains(" tbhits ")).unwrap();
        last.split(" tbhits ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let won = "8/8/4k3/8/4K3/8/4P3/8 w - - 0 1";
    let count = position(won).moves().len() as u64;
    assert_eq!(hits(&folder, won), count);
    assert!(hits(outcomes.to_str().unwrap(), won) > count);
    let drawn = "8/8/8/8/8/4k3/4P3/K7 w - - 0 1";
    assert_eq!(hits(outcomes.to_str().unwrap(), drawn), position(drawn).moves().len() as u64);
}

/// Several variations come in the order of their ranks, each with the score that the tables know.
#[test]
fn variations_are_ranked() {
    let Some((folder, _alone)) = tables() else { return };
    let tables = Tablebases::open(&folder).unwrap();
    for fen in ["k7/2P3K1/8/8/8/1p6/8/8 w - - 0 1", "4r3/8/7k/8/6K1/Q7/8/8 w - - 0 1"] {
        let position = position(fen);
        let ranked = tables.rank_root(&position, &GameHistory::new(), true).unwrap();
        let out = search(&folder, &format!("setoption name MultiPV value 256 position fen {fen} go depth 6"));
        let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("info depth 6 ")).collect();
        let lines = &lines[lines.len().saturating_sub(ranked.len())..];
        let found: Vec<_> = lines
            .iter()
            .map(|line| {
                let first = line.split(" pv ").nth(1).unwrap().split(' ').next().unwrap();
                let ranked = *ranked.iter().find(|ranked| ranked.mv.uci(false) == first).unwrap();
                let score = line.split(" score ").nth(1).unwrap();
                let signs = match ranked.wdl {
                    Wdl::Win => ["cp 309", "mate "],
                    Wdl::Loss => ["cp -309", "mate -"],
                    _ => ["cp 0 "; 2],
                };
                let is_loss = score.split(' ').nth(1).unwrap().starts_with('-');
                assert!(signs.iter().any(|sign| score.starts_with(sign)), "{fen}: {line}");
                assert_eq!(is_loss, ranked.wdl == Wdl::Loss, "{fen}: {line}");
                ranked
            })
            .collect();
        assert!(found.is_sorted_by(|a, b| a.tb_rank >= b.tb_rank), "{fen}: {out}");
        assert_eq!(found.first().map(|best| best.wdl), Some(Wdl::Win), "{fen}: {out}");
        assert_eq!(found.last().map(|worst| worst.wdl), Some(Wdl::Loss), "{fen}: {out}");
        assert!(ranked.iter().all(|ranked| found.contains(ranked)), "{fen}: {out}");
    }
}

/// A third occurrence is a draw, which saves the weaker side.
#[test]
fn moves_that_repeat_are_draws() {
    let Some((folder, _alone)) = tables() else { return };
    let tables = Tablebases::open(&folder).unwrap();
    let (mut position, mut history) = (position("7R/8/8/8/8/2k5/8/K7 w - - 0 1"), GameHistory::new());
    for text in ["h8g8", "c3d3", "g8h8", "d3c3", "h8g8", "c3d3", "g8h8"] {
        history.push(&position);
        position = position.make(position.parse_move(text).unwrap());
    }
    let best = |history| {
        let best = tables.rank_root(&position, history, true).unwrap()[0];
        (best.wdl, best.mv.uci(false) == "d3c3")
    };
    assert_eq!(best(&history), (Wdl::Draw, true));
    assert_eq!(best(&GameHistory::new()).0, Wdl::Loss);
}

#[test]
fn threads_share_a_set() {
    let Some((folder, _alone)) = tables() else { return };
    let tables = Tablebases::open(&folder).unwrap();
    // No file has been mapped yet, so that all threads need the same files at once.
    let sums = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| walk(&tables))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(sums.iter().all(|&sum| sum == walk(&tables)), "{sums:?}");
}

/// Follows the best ranked move from a few roots and sums up the results.
fn walk(tables: &Tablebases) -> i32 {
    let roots =
        ["8/8/8/4k3/8/8/8/KQR5 w - - 0 1", "8/3p4/8/8/4k3/8/2P5/K7 w - - 0 1", "8/8/3r4/4k3/8/8/8/KQ6 w - - 0 1"];
    let mut sum = 0;
    for root in roots {
        let (mut position, mut history) = (position(root), GameHistory::new());
        for _ in 0..12 {
            let Some(ranked) = tables.rank_root(&position, &history, true) else { break };
            sum += tables.probe_dtz(&position).unwrap() + tables.probe_wdl(&position).map_or(0, |wdl| wdl as i32);
            history.push(&position);
            position = position.make(ranked[0].mv);
        }
    }
    sum
}

#[test]
fn only_one_set_can_be_open() {
    let Some((folder, _alone)) = tables() else { return };
    let tables = Tablebases::open(&folder).unwrap();
    assert!(matches!(Tablebases::open(&folder), Err(TablebaseError::InUse)));
    // A wrong path is rejected while the old set is still open.
    assert!(Files::find("nowhere").is_err());
    let found = Files::find(&format!("{folder};{folder}")).unwrap();
    assert_eq!((found.max_pieces(), found.count()), (4, 70), "no table is counted twice");
    drop(tables);
    let tables = found.open().unwrap();
    assert_eq!(tables.probe_wdl(&position("8/8/8/8/4k3/8/8/KQ6 b - - 0 1")), Some(Wdl::Loss));
}

#[test]
fn errors_name_the_path() {
    let message = |path: &str| Files::find(path).unwrap_err().to_string();
    let empty = scratch("empty");
    let empty = empty.to_str().unwrap();
    assert!(message("no/such/folder").starts_with("cannot read the folder \"no/such/folder\": "));
    assert!(message(empty).starts_with("no Syzygy tables (files like KQvK.rtbw) in "));
    assert!(message("").starts_with("no Syzygy tables"));
    for (name, contents) in [("cut short", vec![0x71, 0xe8, 0x23, 0x5d]), ("another file", vec![1; 80])] {
        let folder = scratch(&format!("damaged, {name}"));
        fs::write(folder.join("KQvK.rtbw"), contents).unwrap();
        let expected = "KQvK.rtbw\" is not a complete Syzygy table";
        assert!(message(folder.to_str().unwrap()).ends_with(expected), "{name}");
    }
}
