//! The daemon's end of alerts on IRC: where no hub runs, or where agents post their own, an alert
//! becomes a notice of the agent's in the alert channel (C11). The outbox carries it.

use std::{pin::Pin, sync::Arc};

use gangline_alerts::{Plan, Posted, Room};
use gangline_core::{AgentName, forged, name::ChannelName, split};
use gangline_store::{DeliveryRow, LineKind, Send as StoreSend, Store};
use tokio::sync::{Notify, watch};

use crate::{chat::inquiries::Question, whereabouts::Whereabouts};

/// Marks an alert that an agent's daemon posts in place of the hub.
const UNDER_ANOTHER_NICK: &str = "(posted by this agent's daemon: the hub does not run)";

/// Posts as the agent.
pub(crate) struct AsAgent {
    pub(crate) agent: AgentName,
    pub(crate) store: Store,
    pub(crate) plan: watch::Receiver<Arc<Plan>>,
    pub(crate) whereabouts: Whereabouts,
    /// There are new lines to be said.
    pub(crate) outbox: Arc<Notify>,
}

impl Room for AsAgent {
    fn post(&self, row: &DeliveryRow) -> Pin<Box<dyn Future<Output = Posted> + Send>> {
        let plan = self.plan.borrow().clone();
        let (store, whereabouts) = (self.store.clone(), self.whereabouts.clone());
        let outbox = Arc::clone(&self.outbox);
        let Some(channel) = plan.channel.clone() else {
            return Box::pin(std::future::ready(Posted::Refused(
                "there is no alert channel".into(),
            )));
        };
        let send = self.send(row, &channel, plan.as_agent);
        Box::pin(async move {
            if !whereabouts.is_in(&channel)
                && let Err(why) = whereabouts.inquire(Question::Join(channel)).await
            {
                return Posted::Later(why);
            }
            match store.send(send).await {
                Ok(_) => {
                    outbox.notify_one();
                    Posted::Taken
                }
                Err(error) => Posted::Later(error.to_string()),
            }
        })
    }
}

impl AsAgent {
    fn send(&self, row: &DeliveryRow, channel: &ChannelName, as_agent: bool) -> StoreSend {
        // The seed's look is the bare text; else readers must know why `gangline` does not post it.
        let lines = split::redacted_lines(&row.text, |_| "…".to_owned()).lines;
        let mut lines: Vec<_> = lines.into_iter().map(forged::continued).collect();
        if !as_agent {
            lines.push(gangline_core::Redacted::constant(UNDER_ANOTHER_NICK).into());
        }
        StoreSend {
            agent: self.agent.clone(),
            turn: None,
            // The same delivery again is the same line.
            idem_key: format!("alert-{}", row.id).into(),
            target: channel.to_string(),
            lines,
            // A notice never wakes.
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        }
    }
}
