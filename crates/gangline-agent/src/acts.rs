//! What the agent's calls do for others, once over all attempts at a message.
//!
//! An attempt that dies has sent lines, asked, reminded; the next attempt makes the same calls again.
//! Each way in which the agent calls asks here first whether an attempt that died has made this call, and answers
//! with what that made. Only a call in a turn is known again. Start at [`Speaker::done_before`].

use gangline_core::{Epoch, act::ActKey};
use gangline_store::{ActRow, NewAct, StoreError};

use crate::speech::{Doing, Speaker, TurnContext};

impl Speaker {
    /// Returns the act of a call; `None` outside of a turn, where no attempt can be lost.
    pub(crate) fn act(&self, context: Option<&TurnContext>, doing: Doing<'_>) -> Option<NewAct> {
        let masked = |text: &&str| self.redactor.redact(text).into_string();
        let arguments: Vec<String> = doing.arguments.iter().map(masked).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Some(NewAct {
            agent: self.agent.clone(),
            turn: context?.turn,
            request: doing.request.to_owned(),
            kind: doing.kind,
            key: ActKey::new(doing.kind, &arguments),
            in_reply_to: doing.in_reply_to,
            waits: None,
        })
    }

    /// Returns what an attempt that died has done by this call, if one has. It is this call's then.
    pub(crate) async fn done_before(
        &self,
        act: Option<&NewAct>,
    ) -> Result<Option<ActRow>, StoreError> {
        let Some(act) = act else { return Ok(None) };
        let found = self.store.done_before(act.clone()).await?;
        if found.is_some() {
            self.committed.send_modify(|count| *count += 1);
        }
        Ok(found)
    }
}

/// A call that is held open for the answer to its question.
pub(crate) fn waiting(act: NewAct, epoch: Epoch) -> NewAct {
    NewAct { waits: Some(epoch), ..act }
}

/// Says for the model that a call did nothing new. `done` is what was done: `sent as o15`.
pub(crate) fn already(done: &str) -> String {
    format!(
        "already {done} by an earlier attempt at this message, which was cut off; nothing was done \
         again. If it is meant once more, use other words"
    )
}
