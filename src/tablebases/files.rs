//! Finding table files and checking them before any is opened.

use crate::board::Position;
use crate::quote::quote;
use crate::types::{Color, PieceType};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The most pieces of any table, kings included.
pub const MAX_PIECES: usize = 7;

/// The characters that separate folders in a path.
#[cfg(windows)]
const SEPARATORS: &[char] = &[';'];
#[cfg(not(windows))]
const SEPARATORS: &[char] = &[':', ';'];

/// A type of table file.
#[derive(Clone, Copy)]
struct TableType {
    /// The extension of the file name.
    extension: &'static str,
    /// The first bytes of the file.
    magic: [u8; 4],
}

/// Wins, draws and losses.
const WDL: TableType = TableType { extension: "rtbw", magic: [0x71, 0xe8, 0x23, 0x5d] };
/// Distance to zeroing: plies to the next capture or pawn move, which resets the halfmove clock.
const DTZ: TableType = TableType { extension: "rtbz", magic: [0xd7, 0x66, 0x0c, 0xa5] };

/// The pieces other than kings, in the order of file names.
const PIECES: [(char, PieceType); 5] = [
    ('Q', PieceType::Queen),
    ('R', PieceType::Rook),
    ('B', PieceType::Bishop),
    ('N', PieceType::Knight),
    ('P', PieceType::Pawn),
];

/// Why tablebases cannot be used.
#[derive(Debug)]
pub enum TablebaseError {
    /// A folder in the path cannot be read.
    Folder(PathBuf, io::Error),
    /// No folder in the path contains a WDL table.
    NoTables(String),
    /// A table cannot be read.
    File(PathBuf, io::Error),
    /// A file with the name of a table is not a complete table.
    Damaged(PathBuf),
    /// Another set of tablebases is open. There can be only one at a time.
    InUse,
    /// The prober cannot reach a folder. On Windows it reaches only some on other drives than the current folder's.
    OtherDrive(PathBuf),
    /// The prober rejects the files.
    Refused,
    /// The build has no prober.
    Unsupported,
}

impl fmt::Display for TablebaseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Folder(path, error) => {
                write!(f, "cannot read the folder {}: {error}", quote(&path.to_string_lossy()))
            }
            Self::NoTables(path) => write!(
                f,
                "no Syzygy tables (files like KQvK.rtbw) in {}; several folders are separated by {:?}",
                quote(path),
                SEPARATORS[0]
            ),
            Self::File(path, error) => write!(f, "cannot read the table {path:?}: {error}"),
            Self::Damaged(path) => write!(f, "{path:?} is not a complete Syzygy table"),
            Self::InUse => write!(f, "another set of tablebases is still open, and there can be only one at a time"),
            Self::OtherDrive(path) => {
                write!(f, "the tablebase prober cannot reach {path:?}: it is on another drive than the current folder")
            }
            Self::Refused => write!(f, "the tablebase prober cannot use these tables"),
            Self::Unsupported => write!(
                f,
                "this build has no tablebase prober, which needs the feature \"syzygy\" and a 64-bit system on x86-64, \
                 Windows or macOS"
            ),
        }
    }
}

impl std::error::Error for TablebaseError {}

/// The checked tables in a list of folders, not yet open.
#[derive(Clone, Debug)]
pub struct Files {
    /// The folders that contain tables, in the order of the path.
    folders: Vec<PathBuf>,
    pieces: usize,
    count: usize,
    /// The material with a DTZ table, such as `KQvKR`.
    dtz_materials: BTreeSet<String>,
}

impl Files {
    /// Finds tables in folders separated by `;` (or `:`, except on Windows), and checks the size and the first bytes of
    /// each.
    ///
    /// # Errors
    /// If a folder or table cannot be read, or a folder not be reached by the prober, if there is no WDL table, or if a
    /// file has the name of a table but is no complete table.
    pub fn find(path: &str) -> Result<Self, TablebaseError> {
        let mut folders = Vec::new();
        // Keyed by name, because several folders may contain the same table.
        let mut tables = BTreeMap::new();
        for folder in path.split(SEPARATORS).map(str::trim).filter(|folder| !folder.is_empty()).map(PathBuf::from) {
            let before = tables.len();
            let entries = fs::read_dir(&folder).map_err(|error| TablebaseError::Folder(folder.clone(), error))?;
            for entry in entries {
                let file = entry.map_err(|error| TablebaseError::Folder(folder.clone(), error))?.path();
                if let Some(table) = Table::parse_name(&file) {
                    check(&file, table.table_type)?;
                    tables.insert((table.material, table.table_type.extension), table.pieces);
                }
            }
            if tables.len() > before {
                folders.push(folder);
            }
        }
        let of_type =
            |wanted: TableType| tables.iter().filter(move |((_, extension), _)| *extension == wanted.extension);
        let pieces = of_type(WDL).map(|(_, &pieces)| pieces).max();
        let pieces = pieces.ok_or_else(|| TablebaseError::NoTables(path.into()))?;
        let dtz_materials = of_type(DTZ).map(|((material, _), _)| material.clone()).collect();
        let found = Self { folders, pieces, count: tables.len(), dtz_materials };
        // Now, because a set that is open is dropped before another is opened.
        found.folders()?;
        Ok(found)
    }

    /// Returns whether there is a DTZ table for the position's material.
    pub(super) fn has_dtz(&self, position: &Position) -> bool {
        let [white, black] = Color::ALL.map(|color| {
            let letters = PIECES
                .into_iter()
                .flat_map(|(letter, kind)| std::iter::repeat_n(letter, position.pieces(color, kind).len() as usize));
            std::iter::once('K').chain(letters).collect::<String>()
        });
        self.dtz_materials.contains(&format!("{white}v{black}"))
            || self.dtz_materials.contains(&format!("{black}v{white}"))
    }

    /// Returns the folders that contain tables, separated by colons as the prober expects.
    ///
    /// # Errors
    /// [`TablebaseError::Refused`] if a path is not valid UTF-8, [`TablebaseError::OtherDrive`] if Windows has no path
    /// without a drive letter.
    pub(super) fn folders(&self) -> Result<String, TablebaseError> {
        #[cfg(windows)]
        let folders: &Vec<PathBuf> = {
            let without = |folder: &PathBuf| {
                super::drive::without_letter(folder).ok_or_else(|| TablebaseError::OtherDrive(folder.clone()))
            };
            &self.folders.iter().map(without).collect::<Result<_, _>>()?
        };
        #[cfg(not(windows))]
        let folders = &self.folders;
        let names: Option<Vec<&str>> = folders.iter().map(|folder| folder.to_str()).collect();
        names.map(|names| names.join(":")).ok_or(TablebaseError::Refused)
    }

    /// Returns the most pieces of any WDL table found, kings included.
    pub fn max_pieces(&self) -> usize {
        self.pieces
    }

    /// Returns the number of tables, WDL and DTZ counted separately.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// What a file name such as `KRPvKN.rtbw` says about a table.
struct Table {
    material: String,
    pieces: usize,
    table_type: TableType,
}

impl Table {
    /// Parses a file name. Returns `None` if it is not the name of a table that the prober looks for: with the larger
    /// side first, and the pieces of each side from queen to pawn.
    fn parse_name(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_str()?;
        let table_type = [WDL, DTZ].into_iter().find(|table_type| table_type.extension == extension)?;
        let material = file.file_stem()?.to_str()?;
        let (strong, weak) = material.split_once('v')?;
        let indices = |side: &str| -> Option<Vec<usize>> {
            let index = |piece| PIECES.iter().position(|&(letter, _)| letter == piece);
            side.strip_prefix('K')?.chars().map(index).collect()
        };
        let (strong, weak) = (indices(strong)?, indices(weak)?);
        let larger_first = strong.len() > weak.len() || strong.len() == weak.len() && strong <= weak;
        let pieces = 2 + strong.len() + weak.len();
        let is_canonical = strong.is_sorted() && weak.is_sorted() && larger_first && (3..=MAX_PIECES).contains(&pieces);
        is_canonical.then(|| Self { material: material.into(), pieces, table_type })
    }
}

/// Checks the size of a table, which is blocks of 64 bytes and a checksum of 16, and its first bytes.
fn check(file: &Path, table_type: TableType) -> Result<(), TablebaseError> {
    let unreadable = |error| TablebaseError::File(file.into(), error);
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() % 64 != 16 {
        return Err(TablebaseError::Damaged(file.into()));
    }
    let mut magic = [0; 4];
    File::open(file).and_then(|mut file| file.read_exact(&mut magic)).map_err(unreadable)?;
    if magic == table_type.magic { Ok(()) } else { Err(TablebaseError::Damaged(file.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_parsed() {
        let pieces = |name| Table::parse_name(Path::new(name)).map(|table| table.pieces);
        for (name, expected) in [("KQvK.rtbw", 3), ("KRPvKN.rtbz", 5), ("KPPvKPP.rtbw", 6), ("KQvKR.rtbw", 4)] {
            assert_eq!(pieces(name), Some(expected), "{name}");
        }
        for name in ["KvK.rtbw", "KRvKQ.rtbw", "KvKQ.rtbw", "KPQvK.rtbw", "KQvK.txt", "kqvk.rtbw", "KQRBvKNPP.rtbw"] {
            assert_eq!(pieces(name), None, "{name}");
        }
    }
}
