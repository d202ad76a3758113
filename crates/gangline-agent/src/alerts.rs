//! Alerts as the daemon raises them (R1-39): a row in the store, with its record in the same commit.

use std::{path::PathBuf, sync::Arc};

use gangline_core::hook::WebhookEvent;
use gangline_os::change_notice;
use gangline_store::NewAlert;
use tokio::sync::Notify;

pub(crate) mod posting;

use crate::identity::Identity;

/// Wakes those who send alerts, once one is committed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raised {
    /// This daemon's sender.
    pub(crate) own: Arc<Notify>,
    /// The socket of notices of the hub's.
    pub(crate) hub: PathBuf,
}

impl Raised {
    pub(crate) fn tell(&self) {
        self.own.notify_one();
        change_notice::notify(&self.hub);
    }
}

/// Returns an alert that nobody needs to answer, masked.
pub(crate) fn alert(me: &Identity, event: WebhookEvent, text: &str) -> NewAlert {
    NewAlert::new(me.agent.clone(), event, me.redactor.redact(text))
}
