//! `go on m12`: lets the held messages of a cause continue. Also the notice that tells the agent of
//! a limit.

use gangline_core::{MessageId, Principal, Tier, trust::Action};
use gangline_irc::client::Line;
use gangline_os::change_notice;
use gangline_store::Released;
use tracing::{info, warn};

use super::{Chat, decide::Handled};

impl Chat {
    /// Releases the cause of a message, if the owner says so.
    pub(super) async fn go_on(&self, line: &Line, who: &Principal, id: MessageId) -> Handled {
        // An agent gives no orders.
        if who.tier == Tier::Agent {
            return Handled::No;
        }
        if let Err(refusal) = self.deps.policy.may(who, Action::Operate, 0) {
            self.answer(line, &refusal.to_string()).await;
            return Handled::Yes;
        }
        // A word from history was said to another state of things.
        if line.from_history {
            return Handled::Yes;
        }
        let more = self.deps.turns_released;
        let text = match self.deps.store.release(id, more).await {
            Ok(Released::Done { root, messages, agents }) => {
                info!(%root, messages, by = who.account, "released");
                for agent in &agents {
                    change_notice::notify(&self.deps.paths.change_notice(agent.as_str()));
                }
                let what = if messages == 1 { "message waits" } else { "messages wait" };
                format!("{root} may take up to {more} more turns: {messages} held {what} again")
            }
            Ok(Released::NotHeld { root }) => format!("nothing of {root} is held"),
            Ok(Released::Ended { root, by }) => format!(
                "{root} was ended by {by}: send the \
                 request again"
            ),
            Ok(Released::Unknown) => format!("there is no message {id}"),
            Err(error) => {
                warn!(%error, "cannot release a cause");
                format!("{id} is still held, since the store cannot write ({error}): try again")
            }
        };
        self.answer(line, &text).await;
        Handled::Yes
    }

    /// A message was held: the line that tells of it may stand in the outbox of the agent that the
    /// root message went to.
    pub(super) async fn notify_teller(&self, root: MessageId) {
        let deps = &self.deps;
        deps.outbox.notify_one();
        if let Ok(Some(row)) = deps.store.message(root).await
            && row.agent != deps.agent
        {
            change_notice::notify(&deps.paths.change_notice(row.agent.as_str()));
        }
    }
}
