//! TOPIC.

use gangline_core::ChannelName;

use super::{super::state::State, Call};
use crate::{
    server::{
        client::{Client, ClientId},
        flight::{Asker, Job},
        outgoing::Outgoing,
        store::{StoreError, Topic},
    },
    wire::{numeric as n, text},
};

const TOPIC_MAX: usize = 300;

pub(super) fn run(state: &mut State, call: &mut Call) {
    let id = call.id;
    let Some(name) = call.word(0) else { return super::need_more(state, call) };
    let Some(channel) = state.channel(name).filter(|channel| state.sees(id, channel)) else {
        return super::no_such_channel(state, id, name);
    };
    let Some(new) = call.message.at(1) else { return show(state, id, name) };
    if channel.member(id).is_none() {
        return super::not_on_channel(state, id, name);
    }
    if channel.modes.has('t') && !channel.is_op(id) {
        return super::need_op(state, id, name);
    }
    let name = channel.name.clone();
    let Some(by) = state.client(id).map(Client::source) else { return };
    let new = text::cut(&text::sanitize(new), TOPIC_MAX).to_owned();
    let topic = Topic { channel: name, text: new, by, at: state.now() };
    let asker = Some(call.asker(state));
    state.flights.push(Job::Topic { asker, topic });
}

/// Shows a topic that is kept now, or says that it is not.
pub(in crate::server) fn finish(
    state: &mut State,
    asker: Option<Asker>,
    topic: Topic,
    kept: Result<(), StoreError>,
) {
    let Some(asker) = asker else {
        if let Err(error) = kept {
            // It is made anew at the next start.
            tracing::error!(%error, "the first topic of a room was not kept");
        }
        return;
    };
    state.open_scope(asker.id, asker.label.as_deref());
    match kept {
        Ok(()) => {
            let account = state.client(asker.id).and_then(Client::account).map(str::to_owned);
            let words = [topic.channel.as_str()];
            let line = Outgoing::new(&topic.by, "TOPIC", &words, Some(&topic.text))
                .at(topic.at)
                .account(account.as_deref());
            let members = state.members(topic.channel.folded(), None);
            state.topics.insert(topic.channel.folded().to_owned(), topic);
            state.send_all(members, &line);
        }
        Err(error) => {
            tracing::error!(%error, "a topic was not kept");
            let words = ["TOPIC", "STORE_FAILED", topic.channel.as_str()];
            let text = format!("The topic was not kept and not changed: {}", error.why);
            state.fail(asker.id, &words, &text);
        }
    }
    state.close_scope(asker.id);
    state.landed(asker);
}

/// Gives a channel that never had a topic the one for new channels. It is kept for ever, so guests
/// cause none: they could open one room after the other.
pub(super) fn begin(state: &mut State, name: &ChannelName) {
    let Some(text) = state.config.topic.clone() else { return };
    if state.topics.contains_key(name.folded()) {
        return;
    }
    let topic =
        Topic { channel: name.clone(), text, by: state.config.name.clone(), at: state.now() };
    state.topics.insert(name.folded().to_owned(), topic.clone());
    state.flights.push(Job::Topic { asker: None, topic });
}

/// Shows a topic, or that there is none.
pub(super) fn show(state: &mut State, id: ClientId, name: &str) {
    let topic = state.topics.get(&gangline_core::name::fold(name)).cloned();
    let shown = state.channel(name).map_or_else(|| name.to_owned(), |c| c.name.to_string());
    match topic.filter(|topic| !topic.text.is_empty()) {
        Some(topic) => {
            let at = topic.at.as_seconds().to_string();
            state.numeric(id, n::RPL_TOPIC, &[&shown], &topic.text);
            state.numeric_words(id, n::RPL_TOPICWHOTIME, &[&shown, &topic.by, &at]);
        }
        None => state.numeric(id, n::RPL_NOTOPIC, &[&shown], "No topic is set"),
    }
}
