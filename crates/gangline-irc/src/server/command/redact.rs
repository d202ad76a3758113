//! REDACT: takes back a line that was said (`draft/message-redaction`).
//!
//! Who said it may do so, an operator of its channel, and the owner. The line is no longer in the
//! history; whoever has read it has read it.

use gangline_core::{Target, Tier};

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        caps::Caps,
        client::Client,
        client_id::ClientId,
        flight::{Asker, Job, Redaction},
        outgoing::Outgoing,
        store::{Conversation, HistoryError, Party, StoredLine},
    },
    wire::text,
};

const WHY_MAX: usize = 200;

pub(super) fn run(state: &mut State, call: &mut Call) {
    let id = call.id;
    let (Some(target), Some(msgid)) = (call.word(0), call.word(1)) else {
        return super::need_more(state, call);
    };
    let why = call.word(2).map(|why| text::cut(&text::sanitize(why), WHY_MAX).to_owned());
    let redaction = Redaction { target: target.to_owned(), msgid: msgid.to_owned(), why };
    let inside = match target.parse::<Target>() {
        Ok(Target::Channel(name)) => {
            state.channel(name.folded()).is_some_and(|channel| channel.member(id).is_some())
        }
        Ok(Target::Nick(_)) => true,
        Err(_) => false,
    };
    if !inside {
        let text = format!("You cannot delete messages from {target}");
        return state.fail(id, &["REDACT", "INVALID_TARGET", &redaction.target], &text);
    }
    let asker = call.asker(state);
    state.flights.push(Job::Line { asker, redaction });
}

/// Takes the line that is to be taken back, as the store has it.
pub(in crate::server) fn found(
    state: &mut State,
    asker: Asker,
    redaction: Redaction,
    found: Result<Option<StoredLine>, HistoryError>,
) {
    let outcome = match found {
        Err(error) => Err(failed(&redaction, &error)),
        Ok(line) => judge(state, asker.id, &redaction, line),
    };
    match outcome {
        Ok(line) => state.flights.push_next(Job::Redact { asker, redaction, line: line.into() }),
        Err((code, text)) => {
            refuse(state, &asker, &redaction, (code, &text));
            state.landed(asker);
        }
    }
}

type Refusal = (&'static str, String);

fn failed(redaction: &Redaction, error: &HistoryError) -> Refusal {
    tracing::error!(%error, msgid = redaction.msgid, "a line was not deleted");
    ("STORE_FAILED", format!("The message was not deleted: {}", error.why))
}

/// Returns the line if it is the target's and the client may take it back. A line that the client may
/// not know of is none.
fn judge(
    state: &State,
    id: ClientId,
    redaction: &Redaction,
    line: Option<StoredLine>,
) -> Result<StoredLine, Refusal> {
    let unknown = || ("UNKNOWN_MSGID", "This message does not exist or is too old".to_owned());
    let (Some(line), Some(client)) = (line, state.client(id)) else { return Err(unknown()) };
    let me = client.party();
    let (known, power) = match (&line.line.conversation, redaction.target.parse::<Target>()) {
        (Conversation::Channel(channel), Ok(Target::Channel(target))) => {
            let op = state.channel(channel.folded()).is_some_and(|channel| channel.is_op(id));
            (*channel == target, op || client.tier() == Tier::Owner)
        }
        (Conversation::Direct(one, other), Ok(Target::Nick(nick))) => {
            let with = if *one == me { other } else { one };
            let is_it =
                with.name() == nick.folded() || state.party_of(&nick).as_ref() == Some(with);
            ((*one == me || *other == me) && is_it, false)
        }
        (Conversation::Channel(_) | Conversation::Direct(..), _) => (false, false),
    };
    if !known || line.line.is_redacted() {
        return Err(unknown());
    }
    let proven = !matches!(me, Party::Stranger(_));
    if power || (proven && line.line.sender == me) {
        return Ok(line);
    }
    Err(("REDACT_FORBIDDEN", "You are not authorised to delete this message".to_owned()))
}

/// Shows that a line is taken back, once it is.
pub(in crate::server) fn finish(
    state: &mut State,
    asker: Asker,
    (redaction, line): (Redaction, Box<StoredLine>),
    kept: Result<(), HistoryError>,
) {
    if let Err(error) = kept {
        let (code, text) = failed(&redaction, &error);
        refuse(state, &asker, &redaction, (code, &text));
        return state.landed(asker);
    }
    state.open_scope(asker.id, asker.label.as_deref());
    let now = state.now();
    let source = state.client(asker.id).map(Client::source).unwrap_or_default();
    let account = state.client(asker.id).and_then(Client::account).map(str::to_owned);
    let shown = |target: &str| {
        let words = [target, &redaction.msgid];
        Outgoing::new(&source, "REDACT", &words, redaction.why.as_deref())
            .at(now)
            .account(account.as_deref())
    };
    match &line.line.conversation {
        Conversation::Channel(channel) => {
            let members = state.members(channel.folded(), None);
            state.send_capable(members, Caps::REDACTION, &shown(&redaction.target));
        }
        Conversation::Direct(one, other) => {
            let mut ids = state.receivers(one);
            ids.extend(state.receivers(other));
            ids.sort_unstable();
            ids.dedup();
            state.send_capable(ids, Caps::REDACTION, &shown(&redaction.target));
        }
    }
    state.close_scope(asker.id);
    state.landed(asker);
}

fn refuse(state: &mut State, asker: &Asker, redaction: &Redaction, (code, text): (&str, &str)) {
    state.open_scope(asker.id, asker.label.as_deref());
    let words = ["REDACT", code, &redaction.target, &redaction.msgid];
    state.fail(asker.id, &words, text);
    state.close_scope(asker.id);
}
