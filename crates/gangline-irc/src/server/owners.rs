//! The store does not work: owners who are online are told, no matter whose line it was.

use std::time::Duration;

use gangline_core::Tier;

use super::{
    client_id::ClientId,
    outgoing::{Mark, Outgoing},
    state::State,
    store::HistoryError,
};

/// Owners are told of a trouble that lasts so often.
const TOLD_EVERY: Duration = Duration::from_secs(600);

impl State {
    /// Lines could not be stored.
    pub(super) fn cannot_write(&mut self, error: &HistoryError) {
        self.trouble.writes = Some(error.why.clone());
        self.notify_owners_sometimes(&cannot_store(&error.why));
    }

    /// Something could not be read.
    pub(super) fn cannot_read(&mut self, error: &HistoryError) {
        if self.trouble.writes.is_none() {
            let text = format!("The chat server cannot read its stored messages: {}", error.why);
            self.notify_owners_sometimes(&text);
        }
    }

    /// What is kept is damaged, whether or not what is asked now meets the damage.
    pub(super) fn is_damaged(&mut self, error: &HistoryError) {
        tracing::error!(%error, "the history is damaged");
        let text = damaged(&error.why);
        self.trouble.damage = Some(error.why.clone());
        self.notify_owners(&text);
    }

    /// Lines were stored.
    pub(super) fn can_write(&mut self) {
        if self.trouble.writes.take().is_some() {
            self.trouble.told = None;
            tracing::info!("lines are stored again");
            self.notify_owners("The chat server can store messages again");
        }
    }

    /// Tells an owner who has just come what is wrong.
    pub(super) fn report_trouble(&mut self, id: ClientId) {
        let owner = self.client(id).is_some_and(|client| client.tier() == Tier::Owner);
        if let Some(why) = self.trouble.writes.as_deref().filter(|_| owner) {
            let text = cannot_store(why);
            self.tell_notice(id, &text);
        }
        if let Some(why) = self.trouble.damage.as_deref().filter(|_| owner) {
            let text = damaged(why);
            self.tell_notice(id, &text);
        }
    }

    fn notify_owners_sometimes(&mut self, text: &str) {
        let now = self.config.clock.monotonic();
        if self.trouble.told.is_some_and(|told| now.saturating_sub(told) < TOLD_EVERY) {
            return;
        }
        self.trouble.told = Some(now);
        self.notify_owners(text);
    }

    fn notify_owners(&mut self, text: &str) {
        let here = self.clients.values().filter(|client| client.is_ready());
        let owners = here.filter(|client| client.tier() == Tier::Owner);
        for id in owners.map(|client| client.id).collect::<Vec<_>>() {
            self.tell_notice(id, text);
        }
    }

    /// Says something to a client in the server's name.
    pub(super) fn tell_notice(&mut self, id: ClientId, text: &str) {
        let Some(client) = self.client(id) else { return };
        let nick = if client.is_ready() { client.name() } else { "*" }.to_owned();
        let now = self.now();
        let notice = Outgoing::new(&self.config.name, "NOTICE", &[&nick], Some(text)).at(now);
        self.send_marked(id, &notice, Mark::default());
    }
}

fn cannot_store(why: &str) -> String {
    format!("The chat server refuses all messages, because it cannot store them: {why}")
}

fn damaged(why: &str) -> String {
    format!("The chat server has checked its stored messages: {why}")
}
