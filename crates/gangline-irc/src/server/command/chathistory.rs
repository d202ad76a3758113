//! CHATHISTORY: what was said before, of channels one is in and of one's own conversations; of channels
//! also what happened, for those who asked for it.

use gangline_core::{ChannelName, Nick, Target};

use crate::server::{call::Call, state::State};
use crate::server::{
    client::Client,
    flight::Job,
    store::{Bound, Conversation, HistoryQuery, Party, Range, TargetsQuery},
    timestamp,
};

/// The most lines of one answer (005 `CHATHISTORY`).
const LIMIT: usize = 100;

/// Why a request cannot be answered: code, the word it is about, text.
struct Wrong(&'static str, String, &'static str);

fn invalid(word: &str) -> Wrong {
    Wrong("INVALID_PARAMS", word.to_owned(), "Invalid parameters")
}

pub(super) fn run(state: &mut State, call: &mut Call) {
    let verb = call.word(0).unwrap_or("").to_ascii_uppercase();
    let asked = match verb.as_str() {
        "TARGETS" => targets(state, call).map(|query| (String::new(), Asked::Targets(query))),
        "LATEST" | "BEFORE" | "AFTER" | "AROUND" | "BETWEEN" => lines(state, call, &verb)
            .map(|query| (call.word(1).unwrap_or("*").to_owned(), Asked::Lines(query))),
        _ => Err(Wrong("UNKNOWN_COMMAND", verb.clone(), "Unknown subcommand")),
    };
    match asked {
        Ok((target, asked)) => {
            let (asker, events) = (call.asker(state), state.wants_events(call.id));
            state.flights.push(match asked {
                Asked::Lines(query) if events => Job::Playback { asker, target, query },
                Asked::Lines(query) => Job::History { asker, target, query },
                Asked::Targets(query) => Job::Targets { asker, query },
            });
        }
        Err(Wrong(code, word, text)) => {
            let verb = if verb.is_empty() { "*" } else { &verb };
            let words = ["CHATHISTORY", code, verb, &word];
            let about = if word == verb || word.is_empty() { 3 } else { 4 };
            state.fail(call.id, &words[..about], text);
        }
    }
}

enum Asked {
    Lines(HistoryQuery),
    Targets(TargetsQuery),
}

fn targets(state: &State, call: &Call) -> Result<TargetsQuery, Wrong> {
    let at = |index: usize| match bound(call, index)? {
        Bound::At(at) => Ok(at),
        Bound::Msgid(_) | Bound::Event { .. } => {
            let word = call.word(index).unwrap_or("");
            Err(Wrong("INVALID_MSGREFTYPE", word.to_owned(), "Use timestamp="))
        }
    };
    let (one, other) = (at(1)?, at(2)?);
    let limit = limit(call, 3)?;
    let client = state.client(call.id).ok_or_else(|| invalid(""))?;
    let names = client.channels.iter().filter_map(|name| state.channels.get(name));
    let channels: Vec<ChannelName> = names.map(|channel| channel.name.clone()).collect();
    let (after, before) = (one.min(other), one.max(other));
    Ok(TargetsQuery { party: own_party(client), channels, after, before, limit })
}

/// Returns the party whose conversations a client may read; a stranger has none, since anybody
/// could bear its nick.
fn own_party(client: &Client) -> Option<Party> {
    match client.party() {
        Party::Stranger(_) => None,
        party @ (Party::Account(_) | Party::Member(_)) => Some(party),
    }
}

fn lines(state: &State, call: &Call, verb: &str) -> Result<HistoryQuery, Wrong> {
    let conversation = conversation(state, call)?;
    let (range, limit_at) = match verb {
        "LATEST" if call.word(2) == Some("*") => (Range::Latest, 3),
        "LATEST" => (Range::LatestAfter(bound(call, 2)?), 3),
        "BEFORE" => (Range::Before(bound(call, 2)?), 3),
        "AFTER" => (Range::After(bound(call, 2)?), 3),
        "AROUND" => (Range::Around(bound(call, 2)?), 3),
        _ => (Range::Between(bound(call, 2)?, bound(call, 3)?), 4),
    };
    Ok(HistoryQuery { conversation, range, limit: limit(call, limit_at)? })
}

fn conversation(state: &State, call: &Call) -> Result<Conversation, Wrong> {
    let word = call.word(1).ok_or_else(|| invalid("*"))?;
    let unknown = || Wrong("INVALID_TARGET", word.to_owned(), "Messages could not be retrieved");
    let client = state.client(call.id).ok_or_else(unknown)?;
    match word.parse::<Target>().map_err(|_| unknown())? {
        Target::Channel(name) => {
            if client.channels.contains(name.folded()) {
                Ok(Conversation::Channel(name))
            } else {
                Err(unknown())
            }
        }
        Target::Nick(nick) => with(state, client, &nick).ok_or_else(unknown),
    }
}

/// Returns a client's conversation with a nick.
pub(super) fn with(state: &State, client: &Client, nick: &Nick) -> Option<Conversation> {
    let me = own_party(client)?;
    // Somebody without an account who has left can only have been one of our own uid.
    let gone = || Party::Member(nick.folded().to_owned());
    Some(Conversation::Direct(me, state.party_of(nick).unwrap_or_else(gone)))
}

fn bound(call: &Call, index: usize) -> Result<Bound, Wrong> {
    let word = call.word(index).ok_or_else(|| invalid("*"))?;
    match word.split_once('=') {
        Some(("msgid", id)) if !id.is_empty() => Ok(Bound::of(id)),
        Some(("timestamp", time)) => {
            timestamp::parse(time).map(Bound::At).ok_or_else(|| invalid(word))
        }
        _ => Err(Wrong("INVALID_MSGREFTYPE", word.to_owned(), "Use msgid= or timestamp=")),
    }
}

fn limit(call: &Call, index: usize) -> Result<usize, Wrong> {
    let word = call.word(index).ok_or_else(|| invalid("*"))?;
    match word.parse::<usize>() {
        Ok(limit) if limit > 0 => Ok(limit.min(LIMIT)),
        _ => Err(invalid(word)),
    }
}
