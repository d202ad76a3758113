//! `wake`: a program outside tells the agent something (R2-30 … R2-32). It decides nothing: whatever it
//! says is a message.

use gangline_api::ipc::WakeData;
use gangline_core::{Tier, wake::Draft};
use gangline_os::change_notice;
use gangline_store::NewWake;

use super::requests::{Reply, Requests};
use crate::{texts, tokens::Who};

impl Requests {
    /// Stores the wake; the agent loop and a `recv` that waits see it by the change notice.
    pub(super) async fn wake(
        &self,
        who: Who,
        (from, body, key): (&str, &str, Option<String>),
    ) -> Result<Reply, String> {
        let draft = Draft::read(from, body, key.as_deref()).map_err(|error| error.to_string())?;
        let tier = match who {
            Who::Owner => Tier::Owner,
            Who::Agent | Who::Somebody => Tier::Agent,
        };
        let agent = self.me.agent.clone();
        let body = self.me.redactor.redact(&draft.body);
        let new = NewWake { agent, label: draft.label, tier, body, key: draft.key };
        let woken = self.speaker.store.wake(new).await.map_err(|error| texts::whole(&error))?;
        let notice = self.speaker.paths.change_notice(self.me.agent.folded());
        change_notice::notify(&notice);
        Reply::new(&WakeData { message: woken.id, duplicate: woken.duplicate })
    }
}
