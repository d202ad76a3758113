//! PRIVMSG and NOTICE: kept first, then shown.

use std::sync::Arc;

use gangline_core::{Target, Tier};

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        caps::Caps,
        client_id::ClientId,
        flight::{Draft, Flight, Job, Refusal},
        outgoing,
        store::{Conversation, FindLine, LineKind, NewLine, Party},
    },
    wire::{BODY_MAX, multiline, numeric as n, tags},
};

/// The longest `+gangline/id`, in bytes.
const KEY_MAX: usize = 200;

/// Why a line is not taken.
enum Refused {
    /// By the rules, whoever asks again.
    Rule(u16, &'static str),
    /// As things are now; they may have been otherwise when the line was first sent.
    Now(u16, &'static str),
}

pub(super) fn run(state: &mut State, call: &mut Call) {
    let kind = if call.message.command == "NOTICE" { LineKind::Notice } else { LineKind::Privmsg };
    let id = call.id;
    if call.word(0).is_none() {
        let text = format!("No recipient given ({})", kind.as_str());
        return refuse(state, id, kind, (n::ERR_NORECIPIENT, &[], &text));
    }
    let text = call.word(1).map(clean).filter(|text| !text.is_empty());
    let Some(text) = text else {
        return refuse(state, id, kind, (n::ERR_NOTEXTTOSEND, &[], "No text to send"));
    };
    say(state, call, kind, text);
}

/// Says a text, which may have several lines, to the target of the request.
pub(super) fn say(state: &mut State, call: &mut Call, kind: LineKind, text: String) {
    let id = call.id;
    let target = call.word(0).unwrap_or("").to_owned();
    if let Some((conversation, question)) = must_look(state, call, &target) {
        return fly(state, call, kind, (conversation, text), Way::Look(question));
    }
    match destination(state, id, &target) {
        Ok(conversation) => fly(state, call, kind, (conversation, text), Way::Straight),
        Err(Refused::Rule(number, why)) => refuse(state, id, kind, (number, &[&target], why)),
        Err(Refused::Now(number, why)) => {
            refuse_unless_kept(state, call, kind, (number, &target, why));
        }
    }
}

/// Answers a refused line; a NOTICE only to a client that matches answers to requests, since
/// programs must not answer notices with lines.
fn refuse(state: &mut State, id: ClientId, kind: LineKind, what: (u16, &[&str], &str)) {
    let (number, words, text) = what;
    let labels = state.client(id).is_some_and(|client| client.caps.has(Caps::LABEL));
    if kind == LineKind::Privmsg || labels {
        state.numeric(id, number, words, text);
    }
}

/// A sender that repeats a line after a crash must hear that it was kept, even if its target has
/// gone meanwhile.
fn refuse_unless_kept(
    state: &mut State,
    call: &mut Call,
    kind: LineKind,
    what: (u16, &str, &'static str),
) {
    let (number, target, text) = what;
    let sender = state.client(call.id).map(super::super::client::Client::party);
    let (Some(key), Some(sender)) = (call.message.tag(tags::GANGLINE_ID), sender) else {
        return refuse(state, call.id, kind, (number, &[target], text));
    };
    let folded = gangline_core::name::fold(target);
    let query = FindLine { sender, key: key.to_owned(), target: folded };
    let command = call.message.command.clone();
    let refusal = Refusal { command, number, target: target.to_owned(), text };
    let asker = call.asker(state);
    state.flights.push(Job::Find { asker, refusal, query });
}

/// Returns where a line goes, if its sender may send it there.
fn destination(state: &State, id: ClientId, target: &str) -> Result<Conversation, Refused> {
    let client = state.client(id).ok_or(Refused::Rule(n::ERR_NOSUCHNICK, "No such nick"))?;
    if target.contains(',') {
        return Err(Refused::Rule(n::ERR_TOOMANYTARGETS, "Send each line to one target"));
    }
    match target.parse::<Target>() {
        Ok(Target::Channel(name)) => {
            let channel = state.channel(name.folded());
            let channel = channel.ok_or(Refused::Now(n::ERR_NOSUCHCHANNEL, "No such channel"))?;
            if let Some(why) = state.muted(client, channel) {
                return Err(Refused::Now(n::ERR_CANNOTSENDTOCHAN, why));
            }
            Ok(Conversation::Channel(name))
        }
        Ok(Target::Nick(nick)) => {
            let nobody = Refused::Now(n::ERR_NOSUCHNICK, "No such nick");
            let party = state.party_of(&nick).ok_or(nobody)?;
            Ok(Conversation::Direct(client.party(), party))
        }
        Err(_) => Err(Refused::Rule(n::ERR_NOSUCHNICK, "No such nick or channel")),
    }
}

/// Returns the conversation and the question of a private line that the store must be asked
/// about: an answer belongs to the conversation of its question, whoever has the nick by now; and
/// an agent may speak to somebody it has talked to, who is not here.
fn must_look(state: &State, call: &Call, target: &str) -> Option<(Conversation, Option<String>)> {
    let Ok(Target::Nick(nick)) = target.parse::<Target>() else { return None };
    let client = state.client(call.id)?;
    let question = call.message.tag(tags::REPLY).filter(|msgid| !msgid.is_empty());
    let absent = || client.tier() == Tier::Agent && state.party_of(&nick).is_none();
    let member = Party::Member(nick.folded().to_owned());
    let with_member = Conversation::Direct(client.party(), member);
    (question.is_some() || absent()).then(|| (with_member, question.map(str::to_owned)))
}

/// How a line goes to the store.
enum Way {
    /// Its conversation is known.
    Straight,
    /// The store is asked first whose it is; this is the id of the line that it answers.
    Look(Option<String>),
}

/// Sends the line to the store.
fn fly(state: &mut State, call: &mut Call, kind: LineKind, what: (Conversation, String), way: Way) {
    let id = call.id;
    let (at, heard) = (state.now(), state.config.clock.monotonic());
    let Some(client) = state.client_mut(id) else { return };
    client.spoke_at = heard;
    let key = call.message.tag(tags::GANGLINE_ID).filter(|key| !key.is_empty());
    let line = NewLine {
        conversation: what.0,
        sender: client.party(),
        key: key.map(str::to_owned),
        at,
        kind,
        source: client.source(),
        account: client.account().map(str::to_owned),
        principal: client.principal(),
        bot: client.bot,
        target: call.word(0).unwrap_or("").to_owned(),
        text: what.1,
        tags: outgoing::client_only(&call.message.tags),
    };
    let longest = multiline::lines(&line.text).map(|(text, _)| text.len()).max().unwrap_or(0);
    let body = line.source.len() + line.target.len() + longest + kind.as_str().len() + 7;
    if body > BODY_MAX {
        // Cut it would be another text than its sender wrote.
        let text = "The line is too long with your name before it; nothing was sent";
        return refuse(state, id, kind, (n::ERR_INPUTTOOLONG, &[&line.target], text));
    }
    if line.key.as_ref().is_some_and(|key| key.len() > KEY_MAX) {
        let words = [kind.as_str(), "INVALID_ID", &line.target];
        return state.fail(id, &words, "The tag +gangline/id is too long");
    }
    let asker = call.asker(state);
    state.flights.push(match way {
        Way::Straight => Job::Append(Flight { asker, line: Arc::new(line) }),
        Way::Look(question) => Job::Draft(Box::new(Draft { asker, line, question })),
    });
}

/// Returns the text with control characters made harmless: formatting, CTCP's 0x01 and tabs
/// stay, the rest (escape sequences above all) becomes `?`.
pub(super) fn clean(text: &str) -> String {
    const KEPT: &str = "\u{1}\u{2}\u{3}\u{4}\t\u{f}\u{11}\u{16}\u{1d}\u{1e}\u{1f}";
    let one = |c: char| if c.is_control() && !KEPT.contains(c) { '?' } else { c };
    text.chars().map(one).collect()
}
