//! Properties of any input, shared by the tests with proptest and the fuzzers in `fuzz/`: nothing panics, accepted
//! input is sound, and rejected input is rejected with a message of one line.

use kiln::board::Position;
use kiln::data::{self, Sidecar};
use kiln::nnue::Network;
use kiln::tablebases::{Files, MAX_PIECES};
use kiln::tools::paint::Paint;
use kiln::tools::{eval, net};
use kiln::uci::{Command, Engine, SetPosition, parse};
use kiln_gen::network::{Asset, AssetError, MAGIC, VERSION};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Starting positions: the second and the fourth have many moves, the fifth has promotions and a halfmove clock near
/// its end.
pub const FENS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 99 120",
    "8/8/8/8/8/4k3/4p3/4K3 w - - 12 80",
];

/// Returns the position after random moves from a FEN: each choice, modulo the number of legal moves, selects one.
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

/// Returns whether a message is one line that is not blank.
fn is_one_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\n')
}

/// Any text parses as a sound position or is rejected. Lenient parsing accepts more, and the same positions.
pub fn fen(text: &str) {
    match Position::from_fen_lenient(text) {
        Ok((position, ignored)) => {
            assert!(position.is_consistent());
            assert_eq!(text.parse::<Position>().is_ok(), ignored.is_empty());
        }
        Err(error) => assert_eq!(text.parse::<Position>(), Err(error)),
    }
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
        Err(error) => assert!(is_one_line(&error.to_string())),
    }
}

/// Words parse as moves if and only if a legal move is written so, perhaps with a capital for the piece of a promotion,
/// and every move is parsed from its notation.
pub fn moves(position: &Position, words: &[&str]) {
    let moves = position.moves();
    let with_capital = |text: String| text[..4].to_owned() + &text[4..].to_ascii_uppercase();
    let written: BTreeSet<String> =
        moves.iter().flat_map(|mv| [mv.uci(false), mv.uci(true), with_capital(mv.uci(false))]).collect();
    for word in written.iter().map(String::as_str).chain(words.iter().copied()) {
        let read = position.parse_move(word);
        assert_eq!(read.is_some(), written.contains(word), "{word} at {}", position.fen(true));
        assert!(read.is_none_or(|mv| moves.contains(&mv)));
    }
    for word in words {
        assert!(position.parse_san(word).is_none_or(|mv| moves.contains(&mv)));
    }
    // SAN is unique, so that parsing inverts it.
    let algebraic: BTreeSet<String> = moves.iter().map(|&mv| position.san(mv)).collect();
    assert_eq!(algebraic.len(), moves.len(), "{algebraic:?} at {}", position.fen(true));
    if let Some(&mv) = moves.first() {
        let text = position.san(mv);
        assert_eq!(position.parse_san(&text), Some(mv), "{text} at {}", position.fen(true));
    }
}

/// Uncompressed games: all are read, or the last item is an error that locates itself. Games that were read are written
/// and read again.
pub fn games(raw: &[u8]) {
    let read: Vec<_> = data::Reader::new(Path::new("games"), raw).collect();
    let mut written = Vec::new();
    for game in &read {
        match game {
            Ok(game) => {
                game.write(&mut written);
                assert!(game.trainable() <= game.moves.len());
                assert!(game.check_outcome().is_ok() || is_one_line(&game.check_outcome().unwrap_err()));
            }
            Err(error) => assert!(is_one_line(&error.to_string()) && error.place.is_some(), "{error}"),
        }
    }
    assert!(read.iter().rev().skip(1).all(Result::is_ok));
    assert!(written.len() <= raw.len());
    let again: Vec<_> = data::Reader::new(Path::new("games"), &written[..]).map(Result::unwrap).collect();
    assert!(read.into_iter().flatten().eq(again));
}

/// Any file is read as compressed games, up to the first error.
pub fn shard(compressed: &[u8], file: &Path) {
    fs::write(file, compressed).unwrap();
    let mut errors = 0;
    // A few bytes of zstd can decompress to any number of games.
    for game in data::read(file).unwrap().take(10_000) {
        assert_eq!(errors, 0, "iteration ends after an error");
        if let Err(error) = game {
            assert!(is_one_line(&error.to_string()), "{error}");
            errors += 1;
        }
    }
}

/// Any text is a sidecar that survives writing and reading, or is rejected.
pub fn sidecar(json: &[u8], shard: &Path) {
    fs::write(data::sidecar_path(shard), json).unwrap();
    match Sidecar::read(shard) {
        Ok(sidecar) => {
            let again = serde_json::to_vec(&sidecar).unwrap();
            assert_eq!(serde_json::from_slice::<Option<Sidecar>>(&again).unwrap(), sidecar);
        }
        Err(error) => assert!(is_one_line(&error.to_string()), "{error}"),
    }
}

fn is_rejection(error: &AssetError) -> bool {
    is_one_line(&error.to_string())
}

/// Any file is a sound network or is rejected.
pub fn asset(bytes: &[u8]) {
    match Asset::from_bytes(bytes) {
        Ok(asset) => sound_asset(&asset),
        Err(error) => assert!(is_rejection(&error), "{error}"),
    }
}

fn sound_asset(asset: &Asset) {
    assert_eq!(asset.header.check().map_err(|error| error.to_string()), Ok(()));
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

/// A header is rejected, or it makes a network with `weights`, repeated to the length that it asks for, or these are
/// rejected. Large networks are skipped because they are slow to write.
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
                Err(error) => assert!(is_rejection(&error), "{error}"),
            }
        }
        Ok(_) => {}
        Err(error) => assert!(is_rejection(&error), "{error}"),
    }
}

/// A network and its cache file, which the tests damage.
pub struct Cache {
    network: PathBuf,
    folder: PathBuf,
    file: PathBuf,
    whole: Vec<u8>,
    scores: String,
}

impl Cache {
    /// Caches the network in an empty folder.
    pub fn new(network: &Path, folder: &Path) -> Self {
        let loaded = Network::load_with_cache(network, Some(folder)).unwrap();
        let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        let (whole, scores) = (fs::read(&file).unwrap(), Self::scores(&loaded));
        Self { network: network.into(), folder: folder.into(), file, whole, scores }
    }

    fn scores(network: &Network) -> String {
        FENS.map(|fen| eval::describe(&fen.parse().unwrap(), network, Paint::Plain)).concat()
    }

    /// Overwrites bytes of the cache file, then changes its length. See [`Cache::replaced`].
    pub fn damaged(&self, edits: &[(usize, u8)], length: Option<usize>) {
        let mut bytes = self.whole.clone();
        for &(index, byte) in edits {
            bytes[index % self.whole.len()] = byte;
        }
        if let Some(length) = length {
            bytes.resize(length % (2 * self.whole.len()), 0);
        }
        self.replaced(&bytes);
    }

    /// Replaces the cache file. Loading still gives the same network, and writes the file again.
    pub fn replaced(&self, bytes: &[u8]) {
        // Not overwritten in place, because an earlier network may still map the file.
        fs::remove_file(&self.file).unwrap();
        fs::write(&self.file, bytes).unwrap();
        let loaded = Network::load_with_cache(&self.network, Some(&self.folder)).unwrap();
        assert_eq!(Self::scores(&loaded), self.scores);
        assert!(fs::read(&self.file).unwrap() == self.whole);
        assert_eq!(fs::read_dir(&self.folder).unwrap().count(), 1);
    }
}

/// In a folder of these files, tablebases are found or an error says why not. `@` in the path stands for the folder.
pub fn tables(path: &str, files: &[(String, Vec<u8>)], folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let mut written = 0;
    for (name, contents) in files {
        // Skips what cannot be a file name.
        let is_name = !name.contains(['/', '\\', '\0']);
        written += usize::from(is_name && fs::write(folder.join(name), contents).is_ok());
    }
    match Files::find(&path.replace('@', folder.to_str().unwrap())) {
        Ok(found) => {
            assert!((3..=MAX_PIECES).contains(&found.max_pieces()));
            assert!((1..=written).contains(&found.count()));
            // Opening succeeds, because tables are mapped only when they are probed.
            drop(found.open().unwrap());
        }
        Err(error) => assert!(is_one_line(&error.to_string()), "{error}"),
    }
}

/// An engine's output, readable after it has exited.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether a command is quick, needs little memory and does not touch the file system.
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

/// Whatever the input, the engine answers each `isready`, answers each search with a legal move, and exits when it
/// ends.
pub fn session(input: &[u8]) {
    let mut sent = Vec::new();
    let mut ready = 0;
    // The legal moves of each search, in both notations of castling.
    let mut searches: Vec<BTreeSet<String>> = Vec::new();
    let mut position = Position::startpos();
    for line in input.split(|&byte| byte == b'\n') {
        let command = parse(&String::from_utf8_lossy(line));
        if !command.as_ref().is_ok_and(|command| command.as_ref().is_none_or(is_harmless)) && command.is_ok() {
            continue;
        }
        match command {
            // Commands before a `quit` may remain unanswered.
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
    // Ends infinite searches and those with distant limits.
    sent.extend(b"stop");
    let output = Output::default();
    Engine::with_output(output.clone()).run(Cursor::new(sent));
    let output = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    assert_eq!(output.lines().filter(|&line| line == "readyok").count(), ready, "{output}");
    let best: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("bestmove ")).collect();
    assert_eq!(best.len(), searches.len(), "{output}");
    for (best, allowed) in best.iter().zip(&searches) {
        let best = best.split(' ').next().unwrap();
        assert!(if best == "(none)" { allowed.is_empty() } else { allowed.contains(best) }, "{best}: {output}");
    }
}

/// Returns the position that the engine should set up, or `None` if a move is illegal.
fn play(set: SetPosition) -> Option<Position> {
    set.moves.iter().try_fold(set.start, |position, text| Some(position.make(position.parse_move(text)?)))
}
