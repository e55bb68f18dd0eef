//! Replaces the prober without the feature `syzygy`, and on platforms that the crate `pyrrhic-rs` does not support.

use super::{TablebaseError, Wdl};
use crate::board::Position;
use crate::types::Move;

/// Uninhabited: opening tablebases always fails.
pub(super) enum Prober {}

impl Prober {
    pub(super) fn open(_: &str) -> Result<Self, TablebaseError> {
        Err(TablebaseError::Unsupported)
    }

    pub(super) fn probe_wdl(&self, _: &Position) -> Option<Wdl> {
        match *self {}
    }

    pub(super) fn probe_root_dtz(&self, _: &Position) -> Option<(i32, Vec<(Move, i32)>)> {
        match *self {}
    }
}
