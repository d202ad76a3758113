//! The message that tells an agent of its daemon's start.

use gangline_core::{AgentName, Epoch, MessageId, redact::Redacted};

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, restarts},
};

impl Store {
    /// Stores the message that tells an agent of its daemon's start, once for each epoch; takes back
    /// those of earlier starts that still wait. Without a text it only does the latter.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn note_restart(
        &self,
        agent: &AgentName,
        epoch: Epoch,
        text: Option<Redacted>,
    ) -> Result<Option<MessageId>, StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| restarts::put(w, (&agent, epoch), text);
        self.sqlite.write(&op::NOTE_RESTART, work).await
    }
}
