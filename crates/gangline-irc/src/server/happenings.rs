//! How what happens in rooms is shown, and stored with the lines that follow.

use std::sync::Arc;

use gangline_core::{ChannelName, Tier};

use super::{
    caps::Caps,
    client::Client,
    client_id::ClientId,
    events::{Doing, Event, NewEvent},
    outgoing::Outgoing,
    state::State,
};

impl State {
    /// Returns something that happens now.
    pub(super) fn event(&mut self, doing: &Doing<'_>) -> Event {
        Event {
            msgid: self.next_tags_id(),
            behind: self.newest,
            at: self.now(),
            kind: doing.kind,
            source: doing.source.to_owned(),
            account: doing.account.map(str::to_owned),
            words: doing.words.iter().map(|word| (*word).to_owned()).collect(),
            text: doing.text.map(str::to_owned),
        }
    }

    /// Has an event stored in the history of these rooms.
    pub(super) fn keep_event(
        &mut self,
        rooms: impl IntoIterator<Item = ChannelName>,
        event: Event,
    ) {
        let (event, now) = (Arc::new(event), self.config.clock.monotonic());
        for room in rooms {
            self.flights.note_event(NewEvent { room, event: Arc::clone(&event) }, now);
        }
    }

    /// Shows something that happens in a room now to everybody there, and has it stored.
    pub(super) fn happens(&mut self, room: &ChannelName, doing: &Doing<'_>) {
        let event = self.event(doing);
        let line = Outgoing::happened(&event, false);
        self.send_all(self.members(room.folded(), None), &line);
        self.keep_event([room.clone()], event);
    }

    /// Returns the names of a client's rooms.
    pub(super) fn rooms_of(&self, id: ClientId) -> Vec<ChannelName> {
        let names = self.client(id).into_iter().flat_map(|client| &client.channels);
        names.filter_map(|name| Some(self.channels.get(name)?.name.clone())).collect()
    }

    /// Returns whether a client gets events with the history. Programs that answer what they read
    /// never do.
    pub(super) fn wants_events(&self, id: ClientId) -> bool {
        let person = |client: &Client| !client.bot && client.tier() != Tier::Agent;
        self.client(id).is_some_and(|client| client.caps.has(Caps::EVENTS) && person(client))
    }
}
