//! What is done about the conversation between prompts: shortening it, emptying its view (C13,
//! R2-11).

use super::{Harness, Reservation, compact};
use crate::compaction::{CompactError, Compacted};
use crate::event::Status;
use crate::session::{Record, SessionError};

/// Why a conversation was not emptied. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ClearError {
    /// A prompt is running.
    #[error("a prompt is running")]
    Busy,
    /// The session log failed.
    #[error("cannot keep the session")]
    Session(#[from] SessionError),
}

impl Harness {
    /// Shortens the conversation: from now on the model is sent a summary, which it writes in one
    /// call without tools, and the last instructions word for word. The log keeps everything; the
    /// session stays the same.
    ///
    /// Cancel-safe: dropping the future leaves the conversation as it was, or shortened.
    ///
    /// # Errors
    /// [`CompactError`]; nothing has changed then.
    pub async fn compact(&self) -> Result<Compacted, CompactError> {
        let Ok(mut reserved) = self.reserve_for(super::Work::Care) else {
            return Err(CompactError::Busy);
        };
        let Reservation { harness, history, cancel } = &mut reserved;
        let outcome = compact::compact(harness, history, cancel, usize::MAX).await;
        drop(reserved);
        let message = match &outcome {
            Ok(_) => "the conversation was shortened".to_owned(),
            Err(error) => error.to_string(),
        };
        self.parts.handler.on_status(Status::Idle, &message);
        outcome
    }

    /// Empties what is sent to the model. The log keeps everything, and the session with its id
    /// stays the same: taken up again, it is empty too.
    ///
    /// # Errors
    /// [`ClearError`]; nothing has changed then.
    pub fn clear(&self) -> Result<(), ClearError> {
        let Ok(mut reserved) = self.reserve_for(super::Work::Care) else {
            return Err(ClearError::Busy);
        };
        // A call that is answered later would be answered in a view that lacks it.
        reserved.history.close("interrupted: the prompt was given up")?;
        reserved.history.append(Record::Clear)?;
        Ok(())
    }
}
