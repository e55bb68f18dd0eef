//! `kiln datagen` and `kiln data`, tested through the built binary, and `kiln::data` compared with the crate
//! `viriformat`.

use crate::common::{kiln, refusal, run, scratch};
use kiln::board::Position;
use kiln::data::{self, Game, Outcome, SUFFIX, ScoredMove, Shard};
use kiln::types::{Bound, Color};
use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the arguments of a small run into a folder, followed by more.
fn words(folder: &Path, more: &str) -> Vec<String> {
    let common = "--shard 150 --nodes 30 --hash 1 --seed 5";
    let folder = folder.to_str().unwrap();
    ["datagen", folder].into_iter().chain(common.split(' ')).chain(more.split(' ')).map(String::from).collect()
}

/// Returns all files in a folder except the lock.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| !path.ends_with("lock"));
    files.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

fn games(path: &Path) -> Vec<Game> {
    let files = data::shards(path).unwrap();
    files.iter().flat_map(|file| data::read(file).unwrap()).map(Result::unwrap).collect()
}

#[test]
fn the_data_do_not_depend_on_the_number_of_threads() {
    let folders = ["1 thread", "again", "2 threads"].map(|name| scratch("same").join(name));
    for (folder, threads) in folders.iter().zip([1, 1, 2]) {
        kiln(&words(folder, &format!("--positions 400 --threads {threads}")));
    }
    let all = folders.each_ref().map(|folder| contents(folder));
    assert_eq!(all[0].len(), 6, "three shards with sidecars");
    assert!(all[0] == all[1] && all[0] == all[2]);
    let other = scratch("other seed");
    let mut words = words(&other, "--positions 400");
    words.extend(["--seed".into(), "6".into()]);
    kiln(&words);
    let shard = Path::new("shard-00000.viri.zst");
    assert_ne!(contents(&other)[shard], all[0][shard]);
    assert_ne!(all[0][Path::new("shard-00001.viri.zst")], all[0][shard]);
}

#[test]
fn a_killed_run_resumes() {
    let folder = scratch("killed");
    let mut child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(words(&folder, "--positions 1000000"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let second = folder.join("shard-00001.json");
    while !second.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no shard is written");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(refusal(&words(&folder, "--positions 600")).ends_with("another kiln datagen is working in this folder"));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = contents(&folder);
    // A damaged shard is generated again.
    fs::write(folder.join("shard-00000.viri.zst"), "no games").unwrap();
    kiln(&words(&folder, "--positions 600"));
    let at_once = scratch("not killed");
    kiln(&words(&at_once, "--positions 600"));
    let (after, expected) = (contents(&folder), contents(&at_once));
    assert_eq!(expected.len(), 8);
    assert!(expected.iter().all(|(name, bytes)| after[name] == *bytes));
    assert!(before.iter().filter(|(name, _)| expected.contains_key(*name)).all(|(name, bytes)| after[name] == *bytes));
    let text = kiln(&words(&at_once, "--positions 600"));
    assert!(text.starts_with("4 of 4 shards are complete, with "), "{text}");
}

#[test]
fn a_run_may_grow_but_not_change() {
    let (grown, at_once) = (scratch("grown"), scratch("at once"));
    for positions in [50, 200, 310] {
        kiln(&words(&grown, &format!("--positions {positions}")));
    }
    kiln(&words(&at_once, "--positions 310"));
    assert!(contents(&grown) == contents(&at_once));
    let mut words = words(&grown, "--positions 310");
    words.extend(["--nodes".into(), "31".into()]);
    let error = refusal(&words);
    assert!(error.ends_with("this shard belongs to a run with soft_nodes 30, not 31; use another folder"), "{error}");
}

#[test]
fn games_start_from_a_book() {
    let book = scratch("book").join("endings.epd");
    // Four pieces at most, which the other openings have only after many plies, and balanced for any network.
    fs::write(&book, "8/5k2/6p1/8/8/6P1/5K2/8 w - - bm Kf3;\n\n8/1p6/2k5/8/8/2K5/1P6/8 w - - 3 40\n").unwrap();
    let folder = scratch("from a book");
    let arguments = format!("--positions 600 --frc 0 --book {} --book-percent", book.display());
    kiln(&words(&folder, &format!("{arguments} 60")));
    let all = games(&folder);
    let from_book = all.iter().filter(|game| game.start.occupied().len() <= 4).count();
    assert!((3..all.len() - 2).contains(&from_book), "{from_book} of {}", all.len());
    let shard = folder.join("shard-00000.viri.zst");
    let sidecar = data::Sidecar::read(&shard).unwrap().unwrap();
    let mut raw = Vec::new();
    data::read(&shard).unwrap().for_each(|game| game.unwrap().write(&mut raw));
    assert_eq!(sidecar.raw_len(), raw.len() as u64);
    let recorded = sidecar.runs[0].book.as_ref().unwrap();
    assert_eq!((&*recorded.file, recorded.percent, recorded.sha256.len()), ("endings.epd", 60, 64));
    let error = refusal(&words(&folder, &format!("{arguments} 61")));
    assert!(error.contains("this shard belongs to a run with book {") && error.contains("\"percent\":60"), "{error}");
    fs::write(&book, "8/5k2/8/8/8/8/5KPP/8 w - -\n8/6pp/5k2/8/8/3K4 w - -\n").unwrap();
    let error = refusal(&words(&scratch("bad book"), &arguments.replace(" --book-percent", "")));
    assert!(
        error.contains("line \"8/6pp/5k2/8/8/3K4 w - -\" of the book ") && error.contains(" is no position"),
        "{error}"
    );
    fs::write(&book, "6k1/8/8/8/8/8/8/KQQQQ3 w - -").unwrap();
    let error = refusal(&words(&scratch("decided book"), &format!("{arguments} 100")));
    assert!(error.ends_with("no balanced opening among 1000 in a row"), "{error}");
}

#[test]
fn few_pieces_are_not_adjudicated() {
    let ends_by_the_rules = |name: &str, more: &str| {
        let folder = scratch(name);
        kiln(&words(&folder, &format!("--positions 1000 {more}")));
        let ended = |game: Game| game.rule_outcome().is_some() || game.moves.len() == 600;
        games(&folder).into_iter().map(ended).collect::<Vec<_>>()
    };
    assert!(ends_by_the_rules("few pieces", "--adjudicate-pieces 32").iter().all(|&ended| ended));
    assert!(!ends_by_the_rules("any pieces", "--adjudicate-pieces 2").iter().all(|&ended| ended));
}

#[test]
fn plies_of_the_principal_variation_have_its_score() {
    let folder = scratch("variations");
    kiln(&words(&folder, "--positions 600 --nodes 300 --pv-plies 3"));
    let (mut plies, mut searches) = (0, 0);
    for game in games(&folder) {
        let scores: Vec<i16> = game.moves.iter().map(|scored| scored.score).collect();
        plies += scores.len();
        searches += scores.chunk_by(|a, b| a == b).count();
    }
    // A variation may be shorter, and two searches may find the same score.
    assert!((2 * plies / 7..plies / 2).contains(&searches), "{searches} scores in {plies} plies");
    let error = refusal(&words(&folder, "--positions 600 --nodes 300"));
    assert!(error.ends_with("this shard belongs to a run with pv_plies 3, not 1; use another folder"), "{error}");
}

/// Returns the outcome that a branch must have: that of the rules if they end it, else what its last score says.
fn outcome_of_branch(branch: &Game) -> Outcome {
    branch.rule_outcome().unwrap_or(match branch.moves.last().unwrap().score {
        601.. => Outcome::WhiteWins,
        ..-600 => Outcome::BlackWins,
        _ => Outcome::Draw,
    })
}

#[test]
fn branches_follow_each_game() {
    let folder = scratch("branches");
    kiln(&words(&folder, "--positions 600 --nodes 2000 --pv-plies 3 --branches 5"));
    let all = games(&folder);
    let (mut after_moves, mut in_tree) = (0, 0);
    let ply = |position: &Position| {
        2 * i32::from(position.fullmove_number()) + i32::from(position.side_to_move() == Color::Black)
    };
    for group in all.chunk_by(|_, next| next.moves.len() <= 3) {
        let balanced = |game: &Game| -> Vec<Position> {
            let balanced = game.positions().filter(|(_, scored)| scored.score.abs() <= 600);
            balanced.map(|(position, _)| position).collect()
        };
        let mut roots = balanced(&group[0]);
        for branch in &group[1..] {
            let start = &branch.start;
            let follows = |root: &Position| {
                ply(root) + 1 == ply(start) && root.moves().iter().any(|&mv| root.make(mv).fen(true) == start.fen(true))
            };
            if roots.iter().any(follows) {
                after_moves += 1;
            } else {
                let is_quiet = !start.in_check() && !start.moves().iter().any(|&mv| start.see_ge(mv, 1));
                let leads_to = |root: &Position| {
                    (2..=12).contains(&(ply(start) - ply(root))) && root.occupied().len() >= start.occupied().len()
                };
                assert!(is_quiet && roots.iter().any(leads_to), "{}", start.fen(true));
                in_tree += 1;
            }
            roots.append(&mut balanced(branch));
            let score = branch.moves[0].score;
            assert!(branch.moves.iter().all(|scored| scored.score == score));
            assert_eq!(branch.outcome, outcome_of_branch(branch), "{score}");
        }
        assert!(group.len() <= 6);
    }
    // A random move may end the game. Half of the branches are to start in the tree, but some do so one ply deep, and
    // it is not known everywhere.
    let branches = after_moves + in_tree;
    assert!(branches > all.len() / 2, "{branches} of {}", all.len());
    assert!(after_moves > branches / 4 && in_tree > branches / 8, "{after_moves}, {in_tree}");
}

#[test]
fn positions_are_scored_again_backward() {
    let [forward, backward] = ["forward", "backward"].map(scratch);
    let settings = "--positions 600 --nodes 1000 --pv-plies 6 --branches 3";
    let again = format!("{settings} --tree-nodes 50 --backward-nodes 500");
    kiln(&words(&forward, settings));
    kiln(&words(&backward, &again));
    let [before, mut after] = [&forward, &backward].map(|folder| games(folder));
    after.retain(|game| game.bound.is_none());
    // Only the first games are the same: later ones follow from other contents of the transposition table.
    let [first, same] = [&before[0], &after[0]];
    assert_eq!((&first.start, first.moves.len()), (&same.start, same.moves.len()));
    let (mut trainable, mut changed) = (0, 0);
    for ((position, old), new) in first.positions().zip(&same.moves) {
        assert_eq!(old.mv, new.mv);
        let is_trainable = data::is_trainable(&position, old.mv, old.score);
        assert!(is_trainable || old == *new, "{}", position.fen(true));
        trainable += usize::from(is_trainable);
        changed += usize::from(old != *new);
    }
    assert!(changed > trainable / 2, "{changed} of {trainable}");
    let branches = || after.iter().filter(|game| game.moves.len() <= 6);
    assert!(branches().any(|game| game.moves[0].score != game.moves.last().unwrap().score));
    for branch in branches() {
        assert_eq!(branch.outcome, outcome_of_branch(branch), "{}", branch.start.fen(true));
    }

    let text = kiln(&["data".as_ref(), "verify".as_ref(), backward.as_os_str()]);
    assert!(text.contains("files are valid"), "{text}");
    let other = scratch("on two threads");
    kiln(&words(&other, &format!("{again} --threads 2")));
    assert!(contents(&other) == contents(&backward));
    // With --backward-every, all others have the score of the position before.
    let every = scratch("every");
    kiln(&words(&every, &format!("{again} --backward-every 4")));
    let (mut own, mut trainable) = (0, 0);
    for game in games(&every).iter().filter(|game| game.bound.is_none()) {
        let plies: Vec<_> = game.positions().collect();
        // The last score may have to agree with the outcome.
        for [(_, before), (position, scored)] in plies[..plies.len() - 1].array_windows() {
            // The new score may be a mate.
            let is_trainable = data::is_trainable(position, scored.mv, 0);
            assert!(is_trainable || scored.score == before.score, "{}", position.fen(true));
            own += usize::from(scored.score != before.score);
            trainable += usize::from(is_trainable);
        }
    }
    assert!((trainable / 8..trainable * 3 / 8).contains(&own), "{own} of {trainable}");

    let error = refusal(&words(&backward, &format!("{settings} --tree-nodes 50 --backward-nodes 600")));
    assert!(error.ends_with("belongs to a run with backward_nodes 500, not 600; use another folder"), "{error}");
}

#[test]
fn games_end_with_few_pieces() {
    let folder = scratch("middlegames");
    kiln(&words(&folder, "--positions 1500 --nodes 500 --pv-plies 2 --backward-nodes 200 --end-pieces 24"));
    let (mut early, mut decided) = (0, 0);
    for game in games(&folder) {
        let positions: Vec<Position> = game.positions().map(|(position, _)| position).collect();
        let pieces = |position: &Position| position.occupied().len();
        assert!(positions.iter().all(|position| pieces(position) >= 24));
        let last = positions.last().unwrap();
        if pieces(&last.make(game.moves.last().unwrap().mv)) < 24 {
            early += 1;
            decided += usize::from(game.outcome != Outcome::Draw);
        }
    }
    assert!(early > 20 && decided > 0 && decided < early, "{decided} of {early}");
    let text = kiln(&["data".as_ref(), "verify".as_ref(), folder.as_os_str()]);
    assert!(text.contains("files are valid"), "{text}");
}

#[test]
fn positions_of_the_search_trees_follow_each_game() {
    let folder = scratch("trees");
    let settings = "--positions 1500 --nodes 2000 --branches 2";
    kiln(&words(&folder, &format!("{settings} --tree-nodes 20")));
    let all = games(&folder);
    let (trees, played): (Vec<Game>, Vec<Game>) = all.into_iter().partition(|game| game.bound.is_some());
    for game in &trees {
        let (start, [scored]) = (&game.start, &game.moves[..]) else { panic!("{} moves", game.moves.len()) };
        let is_quiet = !start.in_check() && !start.moves().iter().any(|&mv| start.see_ge(mv, 1));
        assert!(is_quiet && data::is_trainable(start, scored.mv, scored.score), "{}", start.fen(true));
        assert!(scored.score.abs() < 1500);
    }
    let count = |bound| trees.iter().filter(|game| game.bound == Some(bound)).count();
    let counts = [Bound::Upper, Bound::Lower, Bound::Exact].map(count);
    assert!(counts.iter().all(|&count| count > trees.len() / 50), "{counts:?}");
    // The games themselves do not change.
    let other = scratch("without trees");
    kiln(&words(&other, settings));
    let first = |folder: &Path| {
        let games = games(&folder.join("shard-00000.viri.zst"));
        games.into_iter().filter(|game| game.bound.is_none()).collect::<Vec<_>>()
    };
    let (with, without) = (first(&folder), first(&other));
    assert!(with.len() >= 2 && without.starts_with(&with));

    let text = kiln(&["data".as_ref(), "stat".as_ref(), folder.as_os_str()]);
    assert!(text.contains(&format!("\ntrees      {} positions more of search trees", trees.len())), "{text}");
    assert!(text.starts_with(&format!("games      {}\n", played.len())), "{text}");
    let text = kiln(&["data".as_ref(), "verify".as_ref(), folder.as_os_str()]);
    assert!(text.contains("files are valid"), "{text}");
    let error = refusal(&words(&folder, &format!("{settings} --tree-nodes 30")));
    assert!(error.ends_with("this shard belongs to a run with tree_nodes 20, not 30; use another folder"), "{error}");
}

#[test]
fn a_sidecar_from_before_the_books_is_read_and_resumed() {
    let folder = scratch("old sidecar");
    kiln(&words(&folder, "--positions 150"));
    let sidecar = folder.join("shard-00000.json");
    let mut old: serde_json::Value = serde_json::from_slice(&fs::read(&sidecar).unwrap()).unwrap();
    let run = old["runs"][0].as_object_mut().unwrap();
    assert!(
        [
            "book",
            "adjudicate_pieces",
            "pv_plies",
            "branches",
            "tree_nodes",
            "backward_nodes",
            "backward_every",
            "end_pieces"
        ]
        .iter()
        .all(|name| run.remove(*name).is_some())
    );
    fs::write(&sidecar, old.to_string()).unwrap();
    let text = kiln(&words(&folder, "--positions 300"));
    assert!(text.starts_with("1 of 2 shards are complete, with "), "{text}");
    let error = refusal(&words(&folder, "--positions 300 --adjudicate-pieces 12"));
    assert!(error.ends_with("belongs to a run with adjudicate_pieces 0, not 12; use another folder"), "{error}");
}

#[test]
fn the_crate_viriformat_reads_the_same() {
    let folder = scratch("viriformat");
    kiln(&words(&folder, "--positions 800 --frc 50"));
    let mut castlings = 0;
    for file in data::shards(&folder).unwrap() {
        let raw = zstd::decode_all(fs::File::open(&file).unwrap()).unwrap();
        let mut input = BufReader::new(&raw[..]);
        let mut written = Vec::new();
        for game in data::read(&file).unwrap().map(Result::unwrap) {
            let theirs = viriformat::dataformat::Game::deserialise_from(&mut input, Vec::new()).unwrap();
            let mut positions = Vec::new();
            theirs.visit_positions(|board, score| positions.push((board.to_string(), score)));
            assert_eq!(positions.len(), game.moves.len());
            for ((theirs, score), (position, ply)) in positions.iter().zip(game.positions()) {
                // Kiln keeps en passant squares only if a capture there is legal; the crate always keeps them.
                let fields = |fen: &str| {
                    let all: Vec<String> = fen.split(' ').map(String::from).collect();
                    [&all[..2], &all[4..]].concat()
                };
                assert_eq!((fields(theirs), *score), (fields(&position.fen(true)), ply.score.into()));
                castlings += usize::from(ply.mv.kind() == kiln::types::MoveKind::Castle);
            }
            use viriformat::dataformat::WDL;
            let outcome = match theirs.outcome() {
                WDL::Loss => Outcome::BlackWins,
                WDL::Draw => Outcome::Draw,
                WDL::Win => Outcome::WhiteWins,
            };
            assert_eq!(outcome, game.outcome);
            theirs.serialise_into(&mut written).unwrap();
        }
        assert!(written == raw);
    }
    assert!(castlings > 0, "no game has a castling move");
}

#[test]
fn games_are_read_back() {
    let position: kiln::board::Position = "4k2r/1P6/8/2pP4/8/8/p6P/RN2K2R w KQk c6 3 40".parse().unwrap();
    for (position, bound, moves) in [
        (position.clone(), None, ["d5c6", "e8h8", "b7b8q", "a2b1n", "h2h4"]),
        (position, Some(Bound::Upper), ["e1h1", "a2b1q", "b7b8r", "b1b8", "h2h4"]),
        (Position::chess960(123, 876), Some(Bound::Exact), ["a2a4", "a7a5", "h2h3", "h7h5", "b2b4"]),
    ] {
        let (start, mut current) = (position.clone(), position);
        let mut game = Game { start, outcome: Outcome::BlackWins, bound, moves: Vec::new() };
        for (score, text) in (-2..).zip(moves) {
            let best = current.parse_move(text).unwrap_or_else(|| panic!("{text} at {}", current.fen(true)));
            game.moves.push(ScoredMove { mv: best, score: score * 16_000 });
            current = current.make(best);
        }
        let mut shard = Shard::new();
        shard.push(&game);
        let file = shard.save(&scratch("read back"), 0, &[], &[]).unwrap();
        assert_eq!(games(&file), [game]);
    }
}

#[test]
fn the_rules_end_a_game() {
    // A branch that was found: the search saw a mate, and the variation ends in a stalemate.
    let start: Position = "8/3n4/8/8/kp3R2/p7/2r5/K7 w - - 0 1".parse().unwrap();
    let mut game = Game { start: start.clone(), outcome: Outcome::BlackWins, bound: None, moves: Vec::new() };
    let mut position = start;
    for text in ["f4b4", "a4b4", "a1b1", "c2b2", "b1a1", "d7c5"] {
        assert_eq!(game.rule_outcome(), None);
        let mv = position.parse_move(text).unwrap();
        game.moves.push(ScoredMove { mv, score: -977 });
        position = position.make(mv);
    }
    assert_eq!(game.rule_outcome(), Some(Outcome::Draw));
    let error = game.check_outcome().unwrap_err();
    assert!(
        error.starts_with("the outcome is BlackWins, but the rules say Draw at 8/8/8/2n5/1k6/p7/1r6/K7 w"),
        "{error}"
    );
}

/// Overwrites a shard with these games, without updating its sidecar.
fn overwrite(file: &Path, raw: &[u8]) {
    fs::write(file, zstd::encode_all(raw, 1).unwrap()).unwrap();
}

#[test]
fn verify_finds_errors() {
    let folder = scratch("faults");
    kiln(&words(&folder, "--positions 1000 --shard 500"));
    let file = folder.join("shard-00000.viri.zst");
    assert!(games(&file).len() > 1, "errors in the second game are tried too");
    let verify = ["data".as_ref(), "verify".as_ref(), folder.as_os_str()];
    let found = kiln(&verify);
    assert!(found.lines().last().unwrap().starts_with("2 files are valid, with "), "{found}");
    // One file is bad, and the other is checked all the same.
    let complaint = || {
        let (succeeded, out, error) = run(&verify);
        let lines: Vec<&str> = out.lines().collect();
        let [bad, good] = lines[..] else { panic!("{out}") };
        assert!(!succeeded && good.contains("shard-00001") && good.contains(" games, "), "{out}");
        assert!(error.starts_with("kiln: 1 of 2 files are bad; the others hold "), "{error}");
        bad.strip_prefix("BAD: ").unwrap_or_else(|| panic!("{out}")).to_string()
    };
    let valid = fs::read(&file).unwrap();
    for place in (0..valid.len()).step_by(valid.len() / 12) {
        let mut bytes = valid.clone();
        bytes[place] ^= 4;
        fs::write(&file, &bytes).unwrap();
        let error = complaint();
        assert!(error.starts_with(file.to_str().unwrap()) && !error.contains("stripped"), "{error}");
    }
    // Only the checksum is incomplete.
    fs::write(&file, &valid[..valid.len() - 1]).unwrap();
    assert!(complaint().ends_with(" games are there"), "{}", complaint());
    for length in [valid.len() / 2, 9, 1] {
        fs::write(&file, &valid[..length]).unwrap();
        let error = complaint();
        let cut = format!("the compressed file is cut off after its {length} bytes; ");
        let (_, missing) = error.split_once(&cut).unwrap_or_else(|| panic!("{length}: {error}"));
        let words: Vec<&str> = missing.split(' ').collect();
        let [count, "of", "the", all, "games", "in", "its", "sidecar", "are", "missing"] = words[..] else {
            panic!("{error}")
        };
        let at = format!(": game {}, byte ", all.parse::<u64>().unwrap() - count.parse::<u64>().unwrap() + 1);
        assert!(error.contains(&at), "{error}");
    }
    fs::write(&file, "").unwrap();
    assert!(complaint().ends_with("it is empty, expected games compressed by zstd"));

    // Errors in games are found even if the checksum of the compressed file is right.
    let raw = zstd::decode_all(&valid[..]).unwrap();
    let first = games_length(&raw);
    for (place, expected) in [
        (0, "bad start"),
        (9, "bad start"),
        (24, ""),
        (30, ""),
        (31, "129 is not a bound; bounds are 1 to 3, and 0 is none"),
        (32, "game 1, byte 32 "),
        (first + 32 + 4 * 7, &format!("game 2, byte {} ", first + 32 + 4 * 7)),
    ] {
        let mut bytes = raw.clone();
        bytes[place] ^= if place == 30 { 2 } else { 0x81 };
        // At byte 30, the outcome changes from a draw to an invalid one, or from one side to the other.
        overwrite(&file, &bytes);
        let error = complaint();
        assert!(error.contains(expected) && error.contains("shard-00000"), "{place}: {error}");
    }
    overwrite(&file, &raw[..raw.len() - 3]);
    assert!(complaint().contains("the file ends within a game; 1 of the "), "{}", complaint());
    overwrite(&file, &raw[..first]);
    assert!(complaint().contains("the sidecar counts ("), "{}", complaint());
    overwrite(&file, &raw);
    assert!(complaint().ends_with("its hash differs from that in the sidecar"));
    fs::remove_file(folder.join("shard-00000.json")).unwrap();
    assert!(kiln(&verify).contains("positions, no sidecar\n"));
    let missing = ["data", "verify", "/nowhere", file.to_str().unwrap()];
    let (succeeded, out, error) = run(&missing);
    assert!(!succeeded && out.starts_with("BAD: /nowhere: it cannot be read: "), "{out}");
    assert!(out.contains("no sidecar\n") && error.starts_with("kiln: 1 of 2 files are bad"), "{out}{error}");
}

/// Returns the length of the first game in bytes.
fn games_length(raw: &[u8]) -> usize {
    32 + 4 * (raw[32..].chunks(4).position(|ply| ply == [0; 4]).unwrap() + 1)
}

#[test]
fn merged_and_shuffled() {
    let from = scratch("from");
    kiln(&words(&from, "--positions 2000"));
    let sorted = |games: &[Game]| {
        let mut raw: Vec<Vec<u8>> = games
            .iter()
            .map(|game| {
                let mut bytes = Vec::new();
                game.write(&mut bytes);
                bytes
            })
            .collect();
        raw.sort();
        raw
    };
    let run = |action: &str, to: &str, more: &[&str]| {
        let to = scratch(to);
        let mut words = vec!["data", action, to.to_str().unwrap(), from.to_str().unwrap()];
        words.extend(more);
        kiln(&words);
        kiln(&["data", "verify", to.to_str().unwrap()]);
        (games(&to), contents(&to))
    };
    let original = games(&from);
    let (merged, files) = run("merge", "merged", &[]);
    assert_eq!((merged, files.len()), (original.clone(), 2));
    let (shuffled, files) = run("shuffle", "shuffled", &[]);
    assert_ne!(shuffled, original);
    assert_eq!(sorted(&shuffled), sorted(&original));
    assert!(run("shuffle", "shuffled again", &["--seed", "1"]).1 == files);
    assert_ne!(run("shuffle", "shuffled otherwise", &["--seed", "2"]).0, shuffled);
    let again = ["data", "merge", from.to_str().unwrap(), from.to_str().unwrap()];
    assert!(refusal(&again).ends_with("this folder already holds shards; use another folder"));
}

#[test]
fn games_in_pgn_are_imported() {
    let folder = scratch("import");
    let [pgn, unscored, to] = ["a.pgn", "b.pgn", "shards"].map(|name| folder.join(name).display().to_string());
    let game = |moves: &str| format!("[Result \"1/2-1/2\"]\n\n{moves} 1/2-1/2\n\n");
    let good = game("1. e4 {+0.30/9 0.1s} e5 {-0.20/8 0.1s}");
    fs::write(&pgn, [&good, &game("1. e4 e5"), &game("1. Ke2 {0.00}"), &*good].concat()).unwrap();
    fs::write(&unscored, game("1. e4 e5").repeat(3)).unwrap();
    let text = kiln(&["data", "import", &to, &pgn]);
    let expected = [
        format!("{pgn}: game 3, line 9: skipped: \"Ke2\" is not a legal move at "),
        format!("{pgn}: 2 games imported, 1 without scores and 1 bad ones skipped\n"),
        "2 games with 4 positions in 1 shards\n".into(),
    ];
    assert!(expected.iter().all(|line| text.contains(line)), "{text}");
    let all = games(to.as_ref());
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].moves.iter().map(|scored| scored.score).collect::<Vec<_>>(), [30, 20]);
    let imports = |shards: &str| {
        let sidecar = data::Sidecar::read(&Path::new(shards).join("shard-00000.viri.zst")).unwrap().unwrap();
        sidecar.imports.into_iter().map(|import| (import.file, import.sha256.len())).collect::<Vec<_>>()
    };
    assert_eq!(imports(&to), [("a.pgn".into(), 64)]);
    assert!(kiln(&["data", "verify", &to]).contains("1 files are valid, with 4 positions"));
    let merged = folder.join("merged").display().to_string();
    kiln(&["data", "merge", &merged, &to]);
    assert_eq!(imports(&merged), imports(&to));

    let other = folder.join("other").display().to_string();
    let refused = |file: &str| refusal(&["data", "import", &other, file]);
    let expected = "none of its 3 games has a score: expected comments after the moves, such as {+0.35/12 0.1s}";
    assert!(refused(&unscored).ends_with(expected), "{}", refused(&unscored));
    fs::write(&unscored, "").unwrap();
    assert!(refused(&unscored).ends_with("b.pgn: there is no game in it"));
    assert!(refused("/nowhere.pgn").starts_with("/nowhere.pgn: it cannot be read: "));
    for command in ["merge", "shuffle"] {
        assert!(refusal(&["data", command, &other, &pgn]).contains("not compressed by zstd"));
    }
    assert!(!Path::new(&other).exists(), "inputs are read first");
    assert!(refusal(&["data", "merge", &pgn, &to]).ends_with("a.pgn: this is not a folder"));
    assert!(refusal(&["data", "import", &to, &pgn]).ends_with("this folder already holds shards; use another folder"));
}

#[test]
fn statistics_count_what_is_there() {
    let folder = scratch("stat");
    kiln(&words(&folder, "--positions 1500 --nodes 100"));
    let text = kiln(&["data".as_ref(), "stat".as_ref(), folder.as_os_str()]);
    let all = games(&folder);
    let plies: usize = all.iter().map(|game| game.moves.len()).sum();
    let trainable: usize = all.iter().map(Game::trainable).sum();
    for line in [
        format!("games      {}\n", all.len()),
        format!("plies      {plies}, "),
        format!("positions  {trainable} for training, "),
    ] {
        assert!(text.contains(&line), "no {line:?} in {text}");
    }
    assert!(text.ends_with("The mean result rises with the score, as it should.\n"), "{text}");

    // The same games with exchanged results are reported, and so are their duplicates.
    let mut shard = Shard::new();
    for mut game in all {
        game.outcome = match game.outcome {
            Outcome::WhiteWins => Outcome::BlackWins,
            Outcome::Draw => Outcome::Draw,
            Outcome::BlackWins => Outcome::WhiteWins,
        };
        for _ in 0..40 {
            shard.push(&game);
        }
    }
    let file = shard.save(&scratch("wrong"), 0, &[], &[]).unwrap();
    let text = kiln(&["data".as_ref(), "stat".as_ref(), file.as_os_str()]);
    assert!(text.contains("WARNING: the mean result falls at the scores "), "{text}");
    let duplicates: f64 = text.split("duplicates ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((97.5..=99.9).contains(&duplicates), "{text}");
}

#[test]
fn statistics_tell_data_apart() {
    let folder = scratch("apart");
    // Games of two quiet moves, by their outcome and White's scores.
    let shard = |name: &str, list: &[(Outcome, [i16; 2])]| {
        let mut shard = Shard::new();
        for &(outcome, scores) in list {
            let start = kiln::board::Position::startpos();
            let first = start.parse_move("g1f3").unwrap();
            let second = start.make(first).parse_move("g8f6").unwrap();
            let moves = [first, second].into_iter().zip(scores).map(|(mv, score)| ScoredMove { mv, score }).collect();
            shard.push(&Game { start, outcome, bound: None, moves });
        }
        shard.save(&folder.join(name), 0, &[], &[]).unwrap()
    };
    for name in ["a&b", "c"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    use Outcome::{BlackWins, Draw, WhiteWins};
    let even = shard("a&b", &[(Draw, [74, 0]), (Draw, [75, 10]), (WhiteWins, [-74, 199]), (BlackWins, [-10, -200])]);
    let wild =
        shard("c", &[(WhiteWins, [-200, 300]), (BlackWins, [0, 200]), (BlackWins, [900, -900]), (Draw, [500, 0])]);
    let text = kiln(&["data".as_ref(), "stat".as_ref(), even.as_os_str()]);
    for line in [
        "outcomes   25.0 % White, 50.0 % drawn, 25.0 % Black\n",
        "balanced   33.3 % drawn of the 3 games with a first score below 75\n",
        "upsets     0.0 % of the decided games: the loser once stood 200 or more better\n",
        "scores     10, 74 and 75 are the quartiles of their magnitudes\n",
        "pieces     32.0 per position\n",
        "duplicates 75.000 % of the positions\n",
    ] {
        assert!(text.contains(line), "no {line:?} in {text}");
    }
    let drawing = folder.join("a.svg");
    let words =
        ["data".as_ref(), "stat".as_ref(), even.as_os_str(), wild.as_os_str(), "--svg".as_ref(), drawing.as_os_str()];
    let text = kiln(&words);
    assert!(text.contains("games      8\n") && text.contains("upsets     60.0 % of the decided games"), "{text}");
    let row = |file: &Path| text.lines().find(|line| line.ends_with(&format!("  {}", file.display()))).unwrap();
    let words: Vec<_> = row(&wild).split_whitespace().take(8).collect();
    assert_eq!(words, ["4", "2.0", "25.0%", "0.0%", "100.0%", "0", "200", "500"], "{text}");
    assert!(row(&even).trim_start().starts_with("4    2.0   50.0%     33.3%    0.0%         10 74 75"), "{text}");
    let drawing = fs::read_to_string(&drawing).unwrap();
    assert_eq!(drawing.matches("<polyline ").count(), 8, "two curves in each of four diagrams");
    assert!(drawing.contains("/a&amp;b/shard-00000"), "{drawing}");
    let nowhere = ["data".as_ref(), "stat".as_ref(), even.as_os_str(), "--svg".as_ref(), "/nowhere/a.svg".as_ref()];
    assert!(refusal(&nowhere).starts_with("/nowhere/a.svg: it cannot be written: "));
}

#[test]
fn results_that_follow_the_scores_have_their_scale() {
    // Of 1000 games at each score, as many are won as a scale of 205 centipawns says.
    let mut shard = Shard::new();
    let start = kiln::board::Position::startpos();
    let mv = start.parse_move("g1f3").unwrap();
    for score in (-1000..1000i16).step_by(40) {
        let wins = 1000.0 / (1.0 + (-f64::from(score + 5) / 205.0).exp());
        for game in 0..1000 {
            let outcome = if f64::from(game) < wins { Outcome::WhiteWins } else { Outcome::BlackWins };
            shard.push(&Game { start: start.clone(), outcome, bound: None, moves: vec![ScoredMove { mv, score }] });
        }
    }
    let file = shard.save(&scratch("scale"), 0, &[], &[]).unwrap();
    let text = kiln(&["data".as_ref(), "stat".as_ref(), file.as_os_str()]);
    assert!(text.contains("scale      205 centipawns"), "{text}");
}

#[test]
fn bad_arguments_are_refused() {
    let folder = scratch("refused");
    let path = folder.to_str().unwrap();
    for (text, expected) in [
        ("datagen", "datagen needs a folder for its shards, as in: kiln datagen games --positions 1000000"),
        (
            "datagen F",
            "datagen needs --positions, the number of positions, as in: kiln datagen games --positions 1000000",
        ),
        ("datagen F --positions 0", "bad value \"0\" for --positions: expected a whole number from 1 to 1000000000000"),
        ("datagen F --positions 1 --nodes 0", "expected a whole number from 1 to 1000000000"),
        ("datagen F --positions 1 --frc 101", "expected a whole number from 0 to 100"),
        ("datagen F --positions 1 --threads 0", "expected a whole number from 1 to 1024"),
        ("datagen F --positions 1 --shard 2000001", "expected a whole number from 1 to 2000000"),
        (
            "datagen F --positions 2000001 --shard 2",
            "--positions 2000001 in shards of --shard 2 are 1000001 files: allowed are 1000000",
        ),
        ("datagen F --positions 1 --books x", "'--books'"),
        ("datagen F --positions 1 --book /nowhere", "cannot read the book \"/nowhere\": "),
        ("datagen F --positions 1 --backward-every 2", "--backward-every needs --backward-nodes, the nodes of "),
        ("datagen F --positions 1 --book-percent 50", "--book-percent needs --book, a file with a FEN or EPD in "),
        (
            "datagen F --positions 1 --book x --book-percent 81",
            "81 % of the games from the book and 20 % from Chess960 are more than all: lower --book-percent or --frc",
        ),
        ("datagen F --positions 1 --adjudicate-pieces 33", "expected a whole number from 0 to 32"),
        ("datagen F --positions 1 --network /nowhere", "cannot use the network /nowhere: it cannot be read: "),
        ("data", "bad data command \"\": expected stat, verify, merge, shuffle or import"),
        ("data stat", "data stat needs files or folders of games, as in: kiln data stat FILE…"),
        ("data merge F", "data merge needs a folder to write to and files or folders of games, "),
        (
            "data import F",
            "data import needs a folder to write to and files in PGN, as in: kiln data import FOLDER PGN…",
        ),
        ("data stat F", "no file in this folder ends in .viri.zst"),
        ("data stat /nowhere", "/nowhere: it cannot be read: "),
        ("data verify F --svg x", "--svg is for kiln data stat"),
        ("data verify F --seed 1", "--seed is for kiln data shuffle"),
        ("data shuffle F --seed x", "bad value \"x\" for --seed: expected a whole number from 0 to "),
    ] {
        let error = refusal(&text.split(' ').map(|word| if word == "F" { path } else { word }).collect::<Vec<_>>());
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(!contents(&folder).keys().any(|name| name.to_string_lossy().ends_with(SUFFIX)));
    let new = folder.join("new");
    refusal(&["datagen", new.to_str().unwrap(), "--positions", "1", "--book", "/nowhere"]);
    assert!(!new.exists(), "the book is read first");
}
