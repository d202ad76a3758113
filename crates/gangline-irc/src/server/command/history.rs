//! HISTORY: what was said before, in the form of culture's server: RECENT, SEARCH and SINCE.
//!
//! It is a second form of what CHATHISTORY tells, for clients that know no other. Unlike there, a
//! channel that one may enter can be read from outside: those clients look without joining.

use gangline_core::{Target, Tier};

use super::{
    super::{call::Call, state::State},
    chathistory, join,
};
use crate::server::{
    flight::{Asker, Job},
    history_reply::{HistoryReply, LINES_MAX, SEARCH_PAGE, Then, What},
    store::{Bound, Conversation, HistoryError, HistoryQuery, Range, StoredLine},
};

/// The lines of SINCE when none are asked for.
const SINCE_LIMIT: usize = 100;
/// The cursor before everything.
const BEGIN: &str = "*";

/// Why a request cannot be answered: code, text.
type Wrong = (&'static str, &'static str);

pub(super) fn run(state: &mut State, call: &mut Call) {
    let verb = call.word(0).unwrap_or("").to_ascii_uppercase();
    if !matches!(verb.as_str(), "RECENT" | "SEARCH" | "SINCE") {
        let words = ["HISTORY", "UNKNOWN_COMMAND", if verb.is_empty() { "*" } else { &verb }];
        return state.fail(call.id, &words, "HISTORY takes RECENT, SEARCH or SINCE");
    }
    let (Some(target), Some(_)) = (call.word(1).map(str::to_owned), call.message.at(2)) else {
        return super::need_more(state, call);
    };
    match history_reply(state, call, (&verb, &target)) {
        Ok(wanted) => {
            let asker = call.asker(state);
            state.flights.push(Job::HistoryReply { asker, wanted: Box::new(wanted) });
        }
        Err((code, text)) => state.fail(call.id, &["HISTORY", code, &verb, &target], text),
    }
}

/// Takes a page of the store; asks for the next one or answers.
pub(in crate::server) fn finish(
    state: &mut State,
    asker: Asker,
    mut wanted: Box<HistoryReply>,
    found: Result<Vec<StoredLine>, HistoryError>,
) {
    let mut lines = match found {
        Ok(lines) => lines,
        Err(error) => {
            tracing::error!(%error, "history could not be read");
            let words = ["HISTORY", "MESSAGE_ERROR", &wanted.target];
            let out = state.fail_line(asker.id, &words, "Messages could not be retrieved");
            state.answer(asker.id, asker.label.as_deref(), &[out]);
            return state.landed(asker);
        }
    };
    if let What::Search(search) = &mut wanted.what {
        let oldest = lines.first().map(|line| line.msgid.clone());
        match (search.take(lines), oldest) {
            (Then::More, Some(oldest)) => {
                wanted.query.range = Range::Before(Bound::Msgid(oldest));
                return state.flights.push(Job::HistoryReply { asker, wanted });
            }
            (Then::More | Then::Done, _) => {
                lines = std::mem::take(&mut search.found);
                lines.reverse();
            }
        }
    }
    let answers = wanted.lines(&state.config.name, &lines);
    state.answer(asker.id, asker.label.as_deref(), &answers);
    state.landed(asker);
}

fn history_reply(
    state: &State,
    call: &Call,
    (verb, target): (&str, &str),
) -> Result<HistoryReply, Wrong> {
    let conversation = conversation(state, call, target)?;
    let word = call.message.at(2).unwrap_or_default();
    let query = |range, limit| HistoryQuery { conversation, range, limit };
    let (query, what) = match verb {
        "RECENT" => (query(Range::Latest, limit(word)?), What::Recent),
        "SEARCH" => {
            let what = What::search(word).ok_or(("INVALID_PARAMS", "Say what to look for"))?;
            (query(Range::Latest, SEARCH_PAGE), what)
        }
        _ => {
            let limit = call.word(3).map_or(Ok(SINCE_LIMIT), limit)?;
            let cursor = if word.is_empty() { BEGIN } else { word };
            let after = match cursor {
                BEGIN => Bound::At(gangline_os::clock::UnixMicros(0)),
                line => Bound::Msgid(line.to_owned()),
            };
            (query(Range::After(after), limit), What::Since { cursor: cursor.to_owned() })
        }
    };
    Ok(HistoryReply { target: target.to_owned(), query, what })
}

fn conversation(state: &State, call: &Call, target: &str) -> Result<Conversation, Wrong> {
    let unknown = ("INVALID_TARGET", "Messages could not be retrieved");
    let client = state.client(call.id).ok_or(unknown)?;
    match target.parse::<Target>().map_err(|_| unknown)? {
        Target::Channel(name) => {
            let inside = client.channels.contains(name.folded());
            let known = client.tier() != Tier::Stranger;
            let may = inside || known && join::may_enter(state, client, &name);
            may.then_some(Conversation::Channel(name)).ok_or(unknown)
        }
        Target::Nick(nick) => chathistory::with(state, client, &nick).ok_or(unknown),
    }
}

/// Reads how many lines are wanted; none are no error.
fn limit(word: &str) -> Result<usize, Wrong> {
    let wrong = ("INVALID_PARAMS", "The number of lines must be a whole number");
    word.parse::<usize>().map(|limit| limit.min(LINES_MAX)).map_err(|_| wrong)
}
