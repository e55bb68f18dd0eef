//! For machines that the crate `pyrrhic-rs` does not compile for.

use super::{TablebaseError, Wdl};
use crate::board::Position;
use crate::types::Move;

/// There is none.
pub(super) enum Prober {}

impl Prober {
    pub(super) fn open(_: &str) -> Result<Self, TablebaseError> {
        Err(TablebaseError::Refused)
    }

    pub(super) fn outcome(&self, _: &Position) -> Option<Wdl> {
        match *self {}
    }

    pub(super) fn distances(&self, _: &Position) -> Option<(i32, Vec<(Move, i32)>)> {
        match *self {}
    }
}
