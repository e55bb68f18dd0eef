//! Which tables there are, found and checked before any is opened.

use crate::board::Position;
use crate::types::{Color, PieceType};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The largest tables of the format.
pub const MAX_PIECES: usize = 7;

/// What separates folders in a path.
#[cfg(windows)]
const SEPARATORS: &[char] = &[';'];
#[cfg(not(windows))]
const SEPARATORS: &[char] = &[':', ';'];

/// What a file may hold.
#[derive(Clone, Copy)]
struct Kind {
    /// How its name ends.
    extension: &'static str,
    /// Its first bytes.
    start: [u8; 4],
}

/// Wins, draws and losses.
const OUTCOMES: Kind = Kind { extension: "rtbw", start: [0x71, 0xe8, 0x23, 0x5d] };
/// Distances to the next capture or pawn move.
const DISTANCES: Kind = Kind { extension: "rtbz", start: [0xd7, 0x66, 0x0c, 0xa5] };

/// In the order of the names of tables.
const KINDS_OF_PIECES: [(char, PieceType); 5] = [
    ('Q', PieceType::Queen),
    ('R', PieceType::Rook),
    ('B', PieceType::Bishop),
    ('N', PieceType::Knight),
    ('P', PieceType::Pawn),
];

/// Why tablebases cannot be used.
#[derive(Debug)]
pub enum TablebaseError {
    /// A folder of the path cannot be read.
    Folder(PathBuf, io::Error),
    /// None of the folders holds a table of wins, draws and losses.
    Nothing(String),
    /// A table cannot be read.
    File(PathBuf, io::Error),
    /// A table is no table, or cut short.
    Damaged(PathBuf),
    /// Another set is open; there can be but one at a time.
    InUse,
    /// The prober does not take the files, or there is none for this kind of machine.
    Refused,
}

impl fmt::Display for TablebaseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Folder(path, error) => write!(f, "cannot read the folder {path:?}: {error}"),
            Self::Nothing(path) => write!(
                f,
                "no Syzygy tables (files like KQvK.rtbw) in {path:?}; several folders are separated by {:?}",
                SEPARATORS[0]
            ),
            Self::File(path, error) => write!(f, "cannot read the table {path:?}: {error}"),
            Self::Damaged(path) => write!(f, "{path:?} is no Syzygy table, or incomplete"),
            Self::InUse => write!(f, "other tablebases are still open, and there can be but one set at a time"),
            Self::Refused => write!(f, "the prober does not take these tables on this machine"),
        }
    }
}

impl std::error::Error for TablebaseError {}

/// The tables in some folders.
#[derive(Clone, Debug)]
pub struct Files {
    /// Folders that hold tables, in the order of the path.
    folders: Vec<PathBuf>,
    pieces: usize,
    count: usize,
    /// The material for which distances are known: `KQvKR`.
    distances: BTreeSet<String>,
}

impl Files {
    /// Looks for tables in folders separated by `;` (or `:`, except on Windows), and checks size and beginning of each.
    ///
    /// # Errors
    /// A folder that cannot be read, no table of wins, draws and losses at all, or a file with the name of a table that is none.
    pub fn find(path: &str) -> Result<Self, TablebaseError> {
        let mut folders = Vec::new();
        // By name: the same table may lie in several folders.
        let mut tables = BTreeMap::new();
        for folder in path.split(SEPARATORS).map(str::trim).filter(|folder| !folder.is_empty()).map(PathBuf::from) {
            let before = tables.len();
            let entries = fs::read_dir(&folder).map_err(|error| TablebaseError::Folder(folder.clone(), error))?;
            for entry in entries {
                let file = entry.map_err(|error| TablebaseError::Folder(folder.clone(), error))?.path();
                if let Some(table) = Table::by_name(&file) {
                    check(&file, table.kind)?;
                    tables.insert((table.material, table.kind.extension), table.pieces);
                }
            }
            if tables.len() > before {
                folders.push(folder);
            }
        }
        let of_kind = |kind: Kind| tables.iter().filter(move |((_, extension), _)| *extension == kind.extension);
        let pieces = of_kind(OUTCOMES).map(|(_, &pieces)| pieces).max();
        let pieces = pieces.ok_or_else(|| TablebaseError::Nothing(path.into()))?;
        let distances = of_kind(DISTANCES).map(|((material, _), _)| material.clone()).collect();
        Ok(Self { folders, pieces, count: tables.len(), distances })
    }

    /// Whether there is a table of distances for this material.
    pub(super) fn has_distances(&self, position: &Position) -> bool {
        let [white, black] = Color::ALL.map(|color| {
            let letters = KINDS_OF_PIECES
                .into_iter()
                .flat_map(|(letter, kind)| std::iter::repeat_n(letter, position.pieces(color, kind).len() as usize));
            std::iter::once('K').chain(letters).collect::<String>()
        });
        self.distances.contains(&format!("{white}v{black}")) || self.distances.contains(&format!("{black}v{white}"))
    }

    /// The folders that hold tables, in the form of the prober.
    pub(super) fn folders(&self) -> Result<String, TablebaseError> {
        let names: Option<Vec<&str>> = self.folders.iter().map(|folder| folder.to_str()).collect();
        names.map(|names| names.join(":")).ok_or(TablebaseError::Refused)
    }

    /// The most pieces on the board, kings included, for which there is a table.
    pub fn max_pieces(&self) -> usize {
        self.pieces
    }

    /// How many files there are, of both kinds.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// What a table is by its name, as in `KRPvKN.rtbw`.
struct Table {
    material: String,
    pieces: usize,
    kind: Kind,
}

impl Table {
    /// None if the file is no table, or has a name that the prober never asks for: it puts the larger side first, and its pieces from queen to pawn.
    fn by_name(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_str()?;
        let kind = [OUTCOMES, DISTANCES].into_iter().find(|kind| kind.extension == extension)?;
        let material = file.file_stem()?.to_str()?;
        let (strong, weak) = material.split_once('v')?;
        let ranks = |side: &str| -> Option<Vec<usize>> {
            let rank = |piece| KINDS_OF_PIECES.iter().position(|&(letter, _)| letter == piece);
            side.strip_prefix('K')?.chars().map(rank).collect()
        };
        let (strong, weak) = (ranks(strong)?, ranks(weak)?);
        let larger_first = strong.len() > weak.len() || strong.len() == weak.len() && strong <= weak;
        let pieces = 2 + strong.len() + weak.len();
        let is_asked_for = strong.is_sorted() && weak.is_sorted() && larger_first && (3..=MAX_PIECES).contains(&pieces);
        is_asked_for.then(|| Self { material: material.into(), pieces, kind })
    }
}

/// Tables are blocks of 64 bytes and a checksum of 16.
fn check(file: &Path, kind: Kind) -> Result<(), TablebaseError> {
    let unreadable = |error| TablebaseError::File(file.into(), error);
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() % 64 != 16 {
        return Err(TablebaseError::Damaged(file.into()));
    }
    let mut start = [0; 4];
    File::open(file).and_then(|mut file| file.read_exact(&mut start)).map_err(unreadable)?;
    if start == kind.start { Ok(()) } else { Err(TablebaseError::Damaged(file.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables() {
        let pieces = |name| Table::by_name(Path::new(name)).map(|table| table.pieces);
        for (name, expected) in [("KQvK.rtbw", 3), ("KRPvKN.rtbz", 5), ("KPPvKPP.rtbw", 6), ("KQvKR.rtbw", 4)] {
            assert_eq!(pieces(name), Some(expected), "{name}");
        }
        for name in ["KvK.rtbw", "KRvKQ.rtbw", "KvKQ.rtbw", "KPQvK.rtbw", "KQvK.txt", "kqvk.rtbw", "KQRBvKNPP.rtbw"] {
            assert_eq!(pieces(name), None, "{name}");
        }
    }
}
