//! Networks that are read while the program runs.
//!
//! An asset is decoded and arranged once, into a file in the user's cache folder, which is then mapped: all processes that use a network share
//! one copy of it in memory.

use super::dimensions::{DIMENSIONS, Head, PACKING};
use super::{FEATURE_SETS, HIDDEN, Network, SHAPE};
use crate::types::WinModel;
use kiln_gen::hexadecimal;
use kiln_gen::layout::{ALIGN, Features, Plain};
use kiln_gen::network::{Asset, AssetError, Header, read_file};
use memmap2::{Mmap, MmapMut};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Changes with everything that changes the arrangement of weights, so that files of other versions are not taken.
const ARRANGEMENT: u32 = 2;
const FEATURES_LENGTH: usize = size_of::<Features<HIDDEN, FEATURE_SETS>>();
const HEAD_LENGTH: usize = size_of::<Head>();
/// Both parts of the network, then the hash of both.
const FILE_LENGTH: usize = FEATURES_LENGTH + HEAD_LENGTH + 32;

const _: () = assert!(FEATURES_LENGTH.is_multiple_of(ALIGN) && HEAD_LENGTH.is_multiple_of(ALIGN));

/// Why a network is not loaded.
#[derive(Debug)]
pub enum LoadError {
    /// It is not a sound asset.
    Asset(AssetError),
    /// It is a network of another shape than the engine is built for.
    Shape(String),
    /// There is no memory for it.
    Memory(io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Asset(fault) => write!(f, "{fault}"),
            Self::Shape(shape) => write!(
                f,
                "it is a network of shape {shape}, and this engine is built for {SHAPE}; \
                 EVALFILE=path cargo build --release builds one for it"
            ),
            Self::Memory(error) => write!(f, "there is no memory for it: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// Where arranged networks are kept: none if the environment names no folder of the user's.
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
    /// Loads an asset of the shape that the engine is built for.
    ///
    /// The arranged weights come from the cache folder if they are there and undamaged, and are else put there. If that is not possible, this
    /// process has a copy of its own.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_with_cache(path, cache_folder().as_deref())
    }

    /// [`Network::load`] with the folder in which arranged networks are kept, if any.
    pub fn load_with_cache(path: &Path, folder: Option<&Path>) -> Result<Self, LoadError> {
        let bytes = read_file(path).map_err(LoadError::Asset)?;
        let header = Asset::read_header(&bytes).map_err(LoadError::Asset)?;
        if header.dimensions() != DIMENSIONS {
            return Err(LoadError::Shape(header.shape()));
        }
        // The name of the cached file is the hash of header and weights, and their arrangement: what it holds was found sound when it was written.
        let hash = hexadecimal(&header.sha256);
        let cached = folder.map(|folder| folder.join(format!("{hash}-{ARRANGEMENT}-{}.bin", PACKING.vector)));
        if let Some(map) = cached.as_deref().and_then(open) {
            return Ok(Self::mapped(map, &header, &hash));
        }
        let asset = Asset::from_bytes(&bytes).map_err(LoadError::Asset)?;
        let mut contents: Vec<u8> = asset.arrange(PACKING).into_iter().flat_map(|blob| blob.bytes).collect();
        contents.extend(<[u8; 32]>::from(Sha256::digest(&contents)));
        // A cache that cannot be written is no reason to play without the network.
        if let Some(cached) = cached
            && save(&cached, &contents).is_ok()
            && let Some(map) = open(&cached)
        {
            return Ok(Self::mapped(map, &header, &hash));
        }
        let mut memory = MmapMut::map_anon(FILE_LENGTH).map_err(LoadError::Memory)?;
        memory.copy_from_slice(&contents);
        let map = memory.make_read_only().map_err(LoadError::Memory)?;
        Ok(Self::mapped(map, &header, &hash))
    }

    fn mapped(map: Mmap, header: &Header, hash: &str) -> Self {
        fn view<T: Plain>(map: &Mmap, offset: usize) -> &'static T {
            let bytes = &map[offset..offset + size_of::<T>()];
            assert!(bytes.as_ptr().addr().is_multiple_of(ALIGN) && align_of::<T>() <= ALIGN);
            // SAFETY: the bytes are as many as T has, aligned (asserted above), and valid whatever they are, since T is `Plain`. They live as long as the map,
            // which `Network` and its clones keep beside the reference, in fields private to this room, which lends it out for the life of a network alone.
            unsafe { &*bytes.as_ptr().cast::<T>() }
        }
        Self {
            features: view(&map, 0),
            head: view(&map, FEATURES_LENGTH),
            name: header.name.as_str().into(),
            win_model: WinModel::new(header.win_draw_loss),
            sha256: hash.into(),
            map: Some(Arc::new(map)),
        }
    }
}

/// Maps a file of arranged weights if it is whole.
fn open(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: nothing of ours changes such a file once it has its name: it is written aside and renamed. What somebody else writes to it would be seen as
    // other weights, all of which are valid; whoever cuts it short while it is mapped stops the program.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    let (contents, hash) = map.split_last_chunk::<32>()?;
    (map.len() == FILE_LENGTH && <[u8; 32]>::from(Sha256::digest(contents)) == *hash).then_some(map)
}

/// Writes aside and renames, so that other processes see a whole file or none.
fn save(path: &Path, contents: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    let written = fs::write(&aside, contents).and_then(|()| fs::rename(&aside, path));
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}
