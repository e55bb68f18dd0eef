//! What holds for any input, for the tests by proptest and for the fuzzers in `fuzz/`: nothing panics, what is accepted is sound, and what is refused is
//! refused in one line.

use kiln::board::Position;
use kiln::data::{self, Sidecar};
use kiln::nnue::Network;
use kiln::tablebases::{Files, MAX_PIECES};
use kiln::tools::{eval, net};
use kiln::uci::{Command, Engine, SetPosition, parse};
use kiln_gen::network::{Asset, AssetError, MAGIC, VERSION};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Positions to begin with, the second and fourth full of moves, the fifth of promotions, with a clock near its end.
pub const FENS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 99 120",
    "8/8/8/8/8/4k3/4p3/4K3 w - - 12 80",
];

/// Where a game has come to in which these choices were made, each of any size.
pub fn walk(fen: &str, choices: impl IntoIterator<Item = usize>) -> Position {
    let mut position: Position = fen.parse().unwrap();
    for choice in choices {
        let moves = position.moves();
        if moves.is_empty() {
            break;
        }
        position = position.make(moves[choice % moves.len()]);
    }
    position
}

/// A reason is one line that says something.
fn is_reason(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\n')
}

/// Any text is a sound position or refused.
pub fn fen(text: &str) {
    match text.parse::<Position>() {
        Ok(position) => {
            assert!(position.is_consistent());
            for shredder in [false, true] {
                assert_eq!(position.fen(shredder).parse::<Position>().unwrap(), position);
            }
            for &mv in &position.moves() {
                assert!(position.is_legal(mv) && position.make(mv).is_consistent());
            }
        }
        Err(error) => assert!(is_reason(&error.to_string())),
    }
}

/// Words are moves if they are in the list, and each move is found by how it is written.
pub fn moves(position: &Position, words: &[&str]) {
    let moves = position.moves();
    let written: BTreeSet<String> = moves.iter().flat_map(|mv| [mv.uci(false), mv.uci(true)]).collect();
    for word in written.iter().map(String::as_str).chain(words.iter().copied()) {
        let read = position.parse_move(word);
        assert_eq!(read.is_some(), written.contains(word), "{word} at {}", position.fen(true));
        assert!(read.is_none_or(|mv| moves.contains(&mv)));
    }
    for word in words {
        assert!(position.parse_san(word).is_none_or(|mv| moves.contains(&mv)));
    }
    // Which is read as the first that is written so.
    let algebraic: BTreeSet<String> = moves.iter().map(|&mv| position.san(mv)).collect();
    assert_eq!(algebraic.len(), moves.len(), "{algebraic:?} at {}", position.fen(true));
    if let Some(&mv) = moves.first() {
        let text = position.san(mv);
        assert_eq!(position.parse_san(&text), Some(mv), "{text} at {}", position.fen(true));
    }
}

/// Games, not compressed: all is read, or the last is a fault that says where it lies; what was read is written and read again.
pub fn games(raw: &[u8]) {
    let read: Vec<_> = data::Reader::new(Path::new("games"), raw).collect();
    let mut written = Vec::new();
    for game in &read {
        match game {
            Ok(game) => {
                game.write(&mut written);
                assert!(game.trainable() <= game.moves.len());
                assert!(game.check_outcome().is_ok() || is_reason(&game.check_outcome().unwrap_err()));
            }
            Err(fault) => assert!(is_reason(&fault.to_string()) && fault.place.is_some(), "{fault}"),
        }
    }
    assert!(read.iter().rev().skip(1).all(Result::is_ok));
    assert!(written.len() <= raw.len());
    let again: Vec<_> = data::Reader::new(Path::new("games"), &written[..]).map(Result::unwrap).collect();
    assert!(read.into_iter().flatten().eq(again));
}

/// The same of a whole file, whatever its compression says.
pub fn shard(compressed: &[u8], file: &Path) {
    fs::write(file, compressed).unwrap();
    let mut faults = 0;
    // A few bytes of zstd may stand for any number of games.
    for game in data::read(file).unwrap().take(10_000) {
        assert_eq!(faults, 0, "nothing follows a fault");
        if let Err(fault) = game {
            assert!(is_reason(&fault.to_string()), "{fault}");
            faults += 1;
        }
    }
}

/// What stands beside a shard is read as it was written, or refused.
pub fn sidecar(json: &[u8], shard: &Path) {
    fs::write(data::sidecar_path(shard), json).unwrap();
    match Sidecar::read(shard) {
        Ok(sidecar) => {
            let again = serde_json::to_vec(&sidecar).unwrap();
            assert_eq!(serde_json::from_slice::<Option<Sidecar>>(&again).unwrap(), sidecar);
        }
        Err(fault) => assert!(is_reason(&fault.to_string()), "{fault}"),
    }
}

fn is_refusal(fault: &AssetError) -> bool {
    is_reason(&fault.to_string())
}

/// A whole file is a sound network or refused.
pub fn asset(bytes: &[u8]) {
    match Asset::from_bytes(bytes) {
        Ok(asset) => sound_asset(&asset),
        Err(fault) => assert!(is_refusal(&fault), "{fault}"),
    }
}

fn sound_asset(asset: &Asset) {
    assert_eq!(asset.header.check().map_err(|fault| fault.to_string()), Ok(()));
    let again = Asset::from_bytes(&asset.to_bytes()).unwrap();
    let unhashed = |asset: &Asset| {
        let mut asset = asset.clone();
        asset.header.sha256 = [0; 32];
        asset
    };
    assert!(unhashed(&again) == unhashed(asset));
    for fen in FENS {
        net::reference(asset, &fen.parse().unwrap());
    }
}

/// A header is refused, or weights of its dimensions make a network or are refused: these bytes over and over. Networks that take long to
/// write are left out.
pub fn header(header: &[u8], weights: &[u8]) {
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend((header.len() as u32).to_le_bytes());
    file.extend(header);
    match Asset::read_header(&file) {
        Ok(header) if header.payload_length() <= 1 << 17 && !weights.is_empty() => {
            let payload: Vec<u8> =
                weights.iter().copied().cycle().take(header.payload_length().next_multiple_of(64)).collect();
            match Asset::import(header.clone(), &payload)
                .or_else(|_| Asset::import(header, &payload[..payload.len() - 64]))
            {
                Ok(asset) => sound_asset(&asset),
                Err(fault) => assert!(is_refusal(&fault), "{fault}"),
            }
        }
        Ok(_) => {}
        Err(fault) => assert!(is_refusal(&fault), "{fault}"),
    }
}

/// A network with the folder in which it is cached, to be damaged.
pub struct Cache {
    network: PathBuf,
    folder: PathBuf,
    file: PathBuf,
    whole: Vec<u8>,
    scores: String,
}

impl Cache {
    /// Caches the network in this folder, which is empty.
    pub fn new(network: &Path, folder: &Path) -> Self {
        let loaded = Network::load_with_cache(network, Some(folder)).unwrap();
        let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        let (whole, scores) = (fs::read(&file).unwrap(), Self::scores(&loaded));
        Self { network: network.into(), folder: folder.into(), file, whole, scores }
    }

    fn scores(network: &Network) -> String {
        FENS.map(|fen| eval::describe(&fen.parse().unwrap(), network)).concat()
    }

    /// Whatever becomes of the file, the network that is loaded is the same, and the file is whole again: bytes at some places are another, then the length
    /// is.
    pub fn damaged(&self, edits: &[(usize, u8)], length: Option<usize>) {
        let mut bytes = self.whole.clone();
        for &(place, byte) in edits {
            bytes[place % self.whole.len()] = byte;
        }
        if let Some(length) = length {
            bytes.resize(length % (2 * self.whole.len()), 0);
        }
        self.replaced(&bytes);
    }

    /// The same if these bytes are the file.
    pub fn replaced(&self, bytes: &[u8]) {
        // Not in place: an earlier network may be mapped.
        fs::remove_file(&self.file).unwrap();
        fs::write(&self.file, bytes).unwrap();
        let loaded = Network::load_with_cache(&self.network, Some(&self.folder)).unwrap();
        assert_eq!(Self::scores(&loaded), self.scores);
        assert!(fs::read(&self.file).unwrap() == self.whole);
        assert_eq!(fs::read_dir(&self.folder).unwrap().count(), 1);
    }
}

/// Files of these names and contents in a folder, and a path in which `@` stands for it: either tables are found, or it is said why not.
pub fn tables(path: &str, files: &[(String, Vec<u8>)], folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let mut written = 0;
    for (name, contents) in files {
        // What no name can be is not written.
        let is_name = !name.contains(['/', '\\', '\0']);
        written += usize::from(is_name && fs::write(folder.join(name), contents).is_ok());
    }
    match Files::find(&path.replace('@', folder.to_str().unwrap())) {
        Ok(found) => {
            assert!((3..=MAX_PIECES).contains(&found.max_pieces()));
            assert!((1..=written).contains(&found.count()));
            // Found, they can be opened: nothing is read before it is asked for.
            drop(found.open().unwrap());
        }
        Err(error) => assert!(is_reason(&error.to_string()), "{error}"),
    }
}

/// What an engine says, to be read when it has ended.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a command takes neither long nor much, and leaves other people's files alone.
fn is_harmless(command: &Command) -> bool {
    match command {
        Command::Bench(_) | Command::GenFens(_) => false,
        Command::Perft(depth) => *depth <= 2,
        Command::SetOption { name, value } => {
            let most = match name.to_ascii_lowercase().as_str() {
                "hash" => 32,
                "threads" => 4,
                "debug log file" => return false,
                "evalfile" | "syzygypath" => return !value.contains(['/', '.']),
                _ => u64::MAX,
            };
            value.parse().is_ok_and(|value: u64| value <= most) || !value.bytes().any(|byte| byte.is_ascii_digit())
        }
        _ => true,
    }
}

/// Whatever is sent, each `isready` and each search is answered, the latter by a legal move, and the session ends with the input.
pub fn session(input: &[u8]) {
    let mut sent = Vec::new();
    let mut ready = 0;
    // The legal moves of each search, as they may be written.
    let mut searches: Vec<BTreeSet<String>> = Vec::new();
    let mut position = Position::startpos();
    for line in input.split(|&byte| byte == b'\n') {
        let command = parse(&String::from_utf8_lossy(line));
        if !command.as_ref().is_ok_and(|command| command.as_ref().is_none_or(is_harmless)) && command.is_ok() {
            continue;
        }
        match command {
            // What comes before it may or may not be answered.
            Ok(Some(Command::Quit)) => continue,
            Ok(Some(Command::IsReady)) => ready += 1,
            Ok(Some(Command::Position(set))) => position = play(*set).unwrap_or(position),
            Ok(Some(Command::Go(go))) => {
                let legal = |text: &String| position.parse_move(text);
                let mut allowed: Vec<_> = go.search_moves.iter().filter_map(legal).collect();
                if allowed.is_empty() {
                    allowed = position.moves().iter().copied().collect();
                }
                searches.push(allowed.iter().flat_map(|mv| [mv.uci(false), mv.uci(true)]).collect());
            }
            _ => {}
        }
        sent.extend(line);
        sent.push(b'\n');
    }
    // A search without end, and limits that are far away, are over with this.
    sent.extend(b"stop");
    let said = Said::default();
    Engine::with_output(said.clone()).run(Cursor::new(sent));
    let said = String::from_utf8(said.0.lock().unwrap().clone()).unwrap();
    assert_eq!(said.lines().filter(|&line| line == "readyok").count(), ready, "{said}");
    let best: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("bestmove ")).collect();
    assert_eq!(best.len(), searches.len(), "{said}");
    for (best, allowed) in best.iter().zip(&searches) {
        let best = best.split(' ').next().unwrap();
        assert!(if best == "(none)" { allowed.is_empty() } else { allowed.contains(best) }, "{best}: {said}");
    }
}

/// The position that the engine should set up, if it should.
fn play(set: SetPosition) -> Option<Position> {
    set.moves.iter().try_fold(set.start, |position, text| Some(position.make(position.parse_move(text)?)))
}
