//! Networks loaded at run time.
//!
//! An asset is decoded and arranged once into a file in the user's cache folder, which is then mapped. All processes
//! that use a network share one copy of it in memory.

use super::embedded::{Head, PACKING};
use super::{FEATURE_SETS, HIDDEN, Network, PAIR_FEATURES, SHAPE};
use crate::maps::{Mmap, MmapMut};
use crate::types::WinModel;
use kiln_gen::hexadecimal;
use kiln_gen::layout::{ALIGN, Features, Plain};
use kiln_gen::network::{Asset, AssetError, Header, NetworkShape, read_file};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

/// The version of the weights' arrangement, part of a cached file's name. Increment it with every change of the order
/// or of what the name means.
const ARRANGEMENT: u32 = 5;
/// The number of files that the cache folder keeps, those used last.
const CACHED_FILES: usize = 8;
const FEATURES_LENGTH: usize = size_of::<Features<HIDDEN, FEATURE_SETS>>();
const PAIRS_LENGTH: usize = size_of::<[[u8; HIDDEN]; PAIR_FEATURES]>();
const HEAD_LENGTH: usize = size_of::<Head>();
/// Features, pairs, head, and the hash of all three.
const FILE_LENGTH: usize = FEATURES_LENGTH + PAIRS_LENGTH + HEAD_LENGTH + 32;

const _: () = assert!(FEATURES_LENGTH.is_multiple_of(ALIGN) && PAIRS_LENGTH.is_multiple_of(ALIGN));

/// Why a network cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read or is not a valid asset.
    Asset(AssetError),
    /// The network has another shape than [`SHAPE`].
    Shape(Box<NetworkShape>),
    /// The system refused an allocation.
    Memory(io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Asset(error) => error.fmt(f),
            Self::Shape(shape) => {
                write!(f, "it is a network of shape {shape}, and this engine is built for {SHAPE}")?;
                if shape.to_string() == SHAPE.to_string() {
                    write!(f, " with other buckets or quantisation")?;
                }
                write!(f, "; EVALFILE=path cargo build --release builds one for it")
            }
            Self::Memory(error) => write!(f, "there is no memory for it: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// Returns the cache folder for arranged networks, or `None` if the environment names no folder of the user.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    Some(cache?.join("kiln"))
}

impl Network {
    /// Loads an asset of the shape that the engine is compiled for, through the user's cache folder.
    ///
    /// The folder is `kiln` in `$XDG_CACHE_HOME` or `~/.cache`, on Windows in `%LOCALAPPDATA%`. The arranged weights
    /// there are used if they are those of an asset with the same bytes and undamaged; otherwise the asset is checked
    /// and its weights are written there. If they cannot be written, this process keeps a copy of its own. The folder
    /// keeps the eight networks used last.
    ///
    /// ```no_run
    /// let network = kiln::nnue::Network::load("nets/test-17.nnue.zst".as_ref())?;
    /// # Ok::<(), kiln::nnue::LoadError>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid asset, its shape differs from [`SHAPE`], or there is no memory for
    /// it.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_with_cache(path, cache_folder().as_deref())
    }

    /// Does what [`Network::load`] does, with this cache folder, or without a cache if it is `None`.
    ///
    /// # Errors
    /// As [`Network::load`].
    pub fn load_with_cache(path: &Path, folder: Option<&Path>) -> Result<Self, LoadError> {
        let bytes = read_file(path).map_err(LoadError::Asset)?;
        let header = Asset::read_header(&bytes).map_err(LoadError::Asset)?;
        let shape = header.shape();
        if shape != SHAPE {
            return Err(LoadError::Shape(shape.into()));
        }
        // The name of the cached file is the hash of the asset's bytes, all of which were checked before it was
        // written. The hash in the header is only what these bytes claim.
        let hash = hexadecimal(&Sha256::digest(&bytes));
        let cached = folder.map(|folder| folder.join(format!("{hash}-{ARRANGEMENT}-{}.bin", PACKING.vector)));
        if let Some(map) = cached.as_deref().and_then(open) {
            return Ok(Self::mapped(map, &header));
        }
        let asset = Asset::from_bytes(&bytes).map_err(LoadError::Asset)?;
        let mut contents: Vec<u8> = asset.arrange(PACKING).into_iter().flat_map(|blob| blob.bytes).collect();
        contents.extend(<[u8; 32]>::from(Sha256::digest(&contents)));
        // An unwritable cache is not an error.
        if let Some(cached) = cached
            && save(&cached, &contents).is_ok()
            && let Some(map) = open(&cached)
        {
            return Ok(Self::mapped(map, &header));
        }
        let mut memory = MmapMut::map_anon(FILE_LENGTH).map_err(LoadError::Memory)?;
        memory.copy_from_slice(&contents);
        let map = memory.make_read_only().map_err(LoadError::Memory)?;
        Ok(Self::mapped(map, &header))
    }

    fn mapped(map: Mmap, header: &Header) -> Self {
        fn view<T: Plain>(map: &Mmap, offset: usize) -> &'static T {
            let bytes = &map[offset..offset + size_of::<T>()];
            assert!(bytes.as_ptr().addr().is_multiple_of(ALIGN) && align_of::<T>() <= ALIGN);
            // SAFETY: the slice has T's size and alignment (asserted above), and any bytes are valid, since T is
            // `Plain`. The bytes live as long as the map, which `Network` and its clones hold together with the
            // reference, in fields private to this module, which lends the reference only for the life of a network.
            // That another program could change the mapped file is a risk accepted in `open`.
            unsafe { &*bytes.as_ptr().cast::<T>() }
        }
        Self {
            features: view(&map, 0),
            pairs: view(&map, FEATURES_LENGTH),
            head: view(&map, FEATURES_LENGTH + PAIRS_LENGTH),
            name: header.name.as_str().into(),
            win_model: WinModel::new(header.win_draw_loss),
            sha256: hexadecimal(&header.sha256).into(),
            _map: Some(Arc::new(map)),
        }
    }
}

/// Maps a file of arranged weights, or returns `None` if it is missing, incomplete or damaged.
fn open(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: this program never writes to a file that has its final name: `save` writes a temporary file and renames
    // it. The file is in the user's own cache folder, but another program could change it while it is mapped, and Rust
    // does not allow bytes behind a reference to change. This is an accepted risk: in practice a write appears as other
    // weights, any of which are valid, and truncation ends the process with a signal.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    let (contents, hash) = map.split_last_chunk::<32>()?;
    if map.len() != FILE_LENGTH || <[u8; 32]>::from(Sha256::digest(contents)) != *hash {
        return None;
    }
    // So that `tidy` sees that it is in use. Not every system allows it to a reader.
    let _ = file.set_modified(SystemTime::now());
    Some(map)
}

/// Writes a temporary file and renames it, so that other processes find a complete file or none. Then removes files
/// that are no longer of use.
fn save(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    // Another thread may save the same network.
    static SAVES: AtomicU64 = AtomicU64::new(0);
    let temporary = path.with_extension(format!("{}-{}.new", std::process::id(), SAVES.fetch_add(1, Relaxed)));
    let written = fs::write(&temporary, contents).and_then(|()| fs::rename(&temporary, path));
    match written {
        Ok(()) => tidy(folder),
        Err(_) => drop(fs::remove_file(&temporary)),
    }
    written
}

/// Removes the cached files of other arrangements from a folder, and of this one all but those used last. What cannot
/// be removed stays: on Windows, a file that another process maps.
fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let arrangement = arrangement(entry.file_name().to_str()?)?;
            let used = entry.metadata().ok()?.modified().ok()?;
            Some((arrangement == ARRANGEMENT, used, entry.path()))
        })
        .collect();
    files.sort_unstable();
    for (index, (is_current, _, path)) in files.iter().rev().enumerate() {
        if !is_current || index >= CACHED_FILES {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns the version of the arrangement in the name of a cached file, or of a temporary one that a killed process may
/// have left; `None` if it is the name of another file.
fn arrangement(name: &str) -> Option<u32> {
    let (stem, extension) = name.split_once('.')?;
    let [hash, arrangement, vector] = stem.split('-').collect::<Vec<_>>().try_into().ok()?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_ours = is_hash && vector.parse::<usize>().is_ok() && (extension == "bin" || extension.ends_with(".new"));
    arrangement.parse().ok().filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cached_files() {
        let hash = "0123456789abcdef".repeat(4);
        for (end, expected) in [
            ("-4-64.bin", Some(4)),
            ("-12-1.4711-3.new", Some(12)),
            (".bin", None),
            ("-4.bin", None),
            ("-4-64", None),
            ("-4-64.txt", None),
            ("-4-64-1.bin", None),
            ("-x-64.bin", None),
            ("0-4-64.bin", None),
        ] {
            assert_eq!(arrangement(&format!("{hash}{end}")), expected, "{end}");
        }
        assert_eq!(arrangement("notes-4-64.bin"), None);
    }
}
