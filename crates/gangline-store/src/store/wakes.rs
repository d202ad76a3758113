//! Wakes from outside.

use super::Store;
use crate::{
    error::WakeError,
    op,
    sqlite::{Writer, wakes},
    types::{Accepted, NewWake},
};

impl Store {
    /// Stores a wake, which waits for a turn like every message and is a root cause of its own. The
    /// same key of the same label again is the same wake, and is not counted. The caller notifies the
    /// agent's daemon ([`gangline_os::change_notice`]).
    ///
    /// # Errors
    /// [`WakeError::TooMany`] if the label has woken the agent
    /// [`PER_PERIOD`](gangline_core::wake::PER_PERIOD) times within a minute; nothing is stored then.
    pub async fn wake(&self, new: NewWake) -> Result<Accepted, WakeError> {
        self.sqlite.write(&op::WAKE, move |w: &mut Writer| wakes::put(w, new)).await?
    }
}
