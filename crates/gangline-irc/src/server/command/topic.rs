//! TOPIC.

use std::sync::Arc;

use gangline_os::clock::UnixMicros;

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        client::Client,
        client_id::ClientId,
        events::{Doing, EventKind},
        flight::{Asker, Job},
        store::{HistoryError, Topic},
    },
    wire::{numeric as n, text},
};

const TOPIC_MAX: usize = 300;
/// Topics that are kept. Beyond them the oldest are forgotten of rooms that nobody is in and the
/// configuration does not name.
const TOPICS_MAX: usize = 10_000;

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
    if state.client(id).is_some_and(Client::is_guest) {
        let text = "Guests cannot set topics; log in to set one";
        return state.numeric(id, n::ERR_CHANOPRIVSNEEDED, &[name], text);
    }
    let name = channel.name.clone();
    let Some(by) = state.client(id).map(Client::source) else { return };
    let new = text::cut(&text::sanitize(new), TOPIC_MAX).to_owned();
    let topic = Topic { channel: name, text: new, by, at: state.now() };
    let asker = call.asker(state);
    state.flights.push(Job::Topic { asker, topic });
}

/// Shows a topic that is kept now, or says that it is not.
pub(in crate::server) fn finish(
    state: &mut State,
    asker: Asker,
    topic: Topic,
    kept: Result<(), HistoryError>,
) {
    state.open_scope(asker.id, asker.label.as_deref());
    match kept {
        Ok(()) => {
            let account = state.client(asker.id).and_then(Client::account).map(str::to_owned);
            let doing = Doing {
                kind: EventKind::Topic,
                source: &topic.by,
                account: account.as_deref(),
                words: &[topic.channel.as_str()],
                text: Some(&topic.text),
            };
            state.happens(&topic.channel, &doing);
            state.topics.insert(topic.channel.folded().to_owned(), topic);
            forget_oldest(state);
        }
        Err(error) => {
            tracing::error!(%error, "a topic was not kept");
            let words = ["TOPIC", "STORE_FAILED", topic.channel.as_str()];
            let text = format!("The topic could not be stored and was not changed: {}", error.why);
            state.fail(asker.id, &words, &text);
        }
    }
    state.close_scope(asker.id);
    state.landed(asker);
}

/// Forgets topics while there are too many.
fn forget_oldest(state: &mut State) {
    let extra = state.topics.len().saturating_sub(TOPICS_MAX);
    if extra == 0 {
        return;
    }
    let access = Arc::clone(&state.config.access.borrow());
    let is_idle =
        |key: &String| !state.channels.contains_key(key) && !access.rooms.contains_key(key);
    let idle = state.topics.iter().filter(|(key, _)| is_idle(key));
    let mut idle: Vec<(UnixMicros, String)> =
        idle.map(|(key, topic)| (topic.at, key.clone())).collect();
    idle.sort();
    for (_, key) in idle.into_iter().take(extra) {
        if let Some(topic) = state.topics.remove(&key) {
            state.flights.push(Job::ForgetTopic(topic.channel));
        }
    }
}

/// Returns the text of a channel's (folded) topic: the one that was set, or what the configuration's
/// rooms begin with. Other rooms begin without one.
pub(super) fn text<'a>(state: &'a State, channel: &str) -> &'a str {
    let set = state.topics.get(channel).map(|topic| topic.text.as_str());
    let first = || state.config.topic.as_deref().filter(|_| state.is_configured(channel));
    set.or_else(first).unwrap_or_default()
}

/// Shows a topic, or that none is set.
pub(super) fn show(state: &mut State, id: ClientId, name: &str) {
    let Some(channel) = state.channel(name) else { return };
    let (shown, since) = (channel.name.to_string(), channel.created_at);
    let folded = channel.name.folded();
    let text = text(state, folded).to_owned();
    let set = state.topics.get(folded).map(|topic| (topic.by.clone(), topic.at));
    if text.is_empty() {
        return state.numeric(id, n::RPL_NOTOPIC, &[&shown], "No topic is set");
    }
    let (by, at) = set.unwrap_or_else(|| (state.config.name.clone(), since));
    state.numeric(id, n::RPL_TOPIC, &[&shown], &text);
    state.numeric_words(id, n::RPL_TOPICWHOTIME, &[&shown, &by, &at.as_seconds().to_string()]);
}
