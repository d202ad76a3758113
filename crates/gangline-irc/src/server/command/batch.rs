//! BATCH: a message of several lines, which the client sends as one (`draft/multiline`).

use gangline_core::name::fold;

use super::{
    super::{call::Call, state::State},
    privmsg,
};
use crate::{
    server::{caps::Caps, client::Client, client_id::ClientId, draft::Draft, store::LineKind},
    wire::{
        BODY_MAX, Message,
        multiline::{self, BYTES_MAX, Follows, LINES_MAX},
        tags,
    },
};

/// The longest name of a batch.
const REFERENCE_MAX: usize = 64;

/// Why a message is refused: code, words, text.
struct Wrong(&'static str, Vec<String>, &'static str);

fn invalid(text: &'static str) -> Wrong {
    Wrong("MULTILINE_INVALID", Vec::new(), text)
}

/// Begins a message, or ends it.
pub(super) fn run(state: &mut State, call: &mut Call) {
    let Some(word) = call.word(0).map(str::to_owned) else { return super::need_more(state, call) };
    match (word.strip_prefix('+'), word.strip_prefix('-')) {
        (Some(reference), _) => begin(state, call, reference),
        (_, Some(reference)) => end(state, call, reference),
        (None, None) => {
            refuse(state, call.id, Wrong("INVALID_REFTAG", vec![word], "No such batch"))
        }
    }
}

/// Takes a line that says it belongs to a batch; returns whether it does.
pub(super) fn takes(state: &mut State, call: &Call) -> bool {
    let Some(reference) = call.message.tag(tags::BATCH) else { return false };
    let is_line = matches!(&*call.message.command, "PRIVMSG" | "NOTICE");
    let Some(mut draft) = state.client_mut(call.id).and_then(|client| client.draft.take()) else {
        return false;
    };
    let belongs = is_line && draft.reference == reference;
    if belongs && !draft.refused {
        let room = state.client(call.id).map(|client| room(client, &draft)).unwrap_or_default();
        if let Err(wrong) = draft.take(&call.message, room) {
            draft.refused = true;
            refuse_labelled(state, call.id, draft.label.take(), wrong);
        }
    }
    if let Some(client) = state.client_mut(call.id) {
        client.draft = Some(draft);
    }
    belongs
}

/// Returns the bytes that a line of the message has, once its sender stands before it.
fn room(client: &Client, draft: &Draft) -> usize {
    let target = draft.start.at(2).unwrap_or("");
    BODY_MAX.saturating_sub(client.source().len() + target.len() + ": PRIVMSG  :\r\n".len())
}

fn begin(state: &mut State, call: &mut Call, reference: &str) {
    let id = call.id;
    let Some(client) = state.client_mut(id) else { return };
    let legal = !reference.is_empty() && reference.len() <= REFERENCE_MAX && client.draft.is_none();
    let known = client.caps.has(Caps::MULTILINE.with(Caps::BATCH))
        && call.message.at(1) == Some(multiline::MULTILINE);
    let mut wrong = None;
    if !legal {
        wrong = Some(Wrong("INVALID_REFTAG", vec![reference.to_owned()], "One batch at a time"));
    } else if !known {
        let kind = call.word(1).unwrap_or("*").to_owned();
        let text = "Only draft/multiline is supported, and only if you requested it";
        wrong = Some(Wrong("UNKNOWN_TYPE", vec![reference.to_owned(), kind], text));
    } else if call.word(2).is_none() {
        wrong = Some(invalid("A target is missing"));
    }
    let refused = wrong.is_some();
    if let Some(wrong) = wrong {
        refuse(state, id, wrong);
    }
    // The answer comes to the whole message.
    let label = if refused { None } else { state.take_label(id) };
    let Some(client) = state.client_mut(id).filter(|client| client.draft.is_none()) else { return };
    client.draft = Some(Draft {
        reference: reference.to_owned(),
        start: call.message.clone(),
        label,
        kind: None,
        lines: 0,
        bytes: 0,
        text: String::new(),
        refused,
    });
}

impl Draft {
    /// Takes one line.
    fn take(&mut self, line: &Message, room: usize) -> Result<(), Wrong> {
        let kind = if line.command == "NOTICE" { LineKind::Notice } else { LineKind::Privmsg };
        let (target, text) = (self.start.at(2).unwrap_or(""), line.at(1).unwrap_or(""));
        let given = line.at(0).unwrap_or("*");
        let follows = match line.tag(multiline::CONCAT) {
            Some(_) => Follows::On,
            None => Follows::Anew,
        };
        self.lines += 1;
        self.bytes += text.len() + usize::from(self.lines > 1 && follows == Follows::Anew);
        if fold(given) != fold(target) {
            let words = vec![target.to_owned(), given.to_owned()];
            return Err(Wrong("MULTILINE_INVALID_TARGET", words, "All lines need one target"));
        }
        if self.lines > LINES_MAX {
            let words = vec![LINES_MAX.to_string()];
            return Err(Wrong("MULTILINE_MAX_LINES", words, "The message has too many lines"));
        }
        if self.bytes > BYTES_MAX {
            let words = vec![BYTES_MAX.to_string()];
            return Err(Wrong("MULTILINE_MAX_BYTES", words, "The message is too long"));
        }
        if text.len() > room {
            return Err(invalid("A line is too long with your name before it"));
        }
        if follows == Follows::On && (text.is_empty() || self.lines == 1) {
            return Err(invalid("A concatenated line must not be blank or the first one"));
        }
        if self.kind.is_some_and(|known| known != kind) {
            return Err(invalid("PRIVMSG and NOTICE cannot be mixed"));
        }
        self.kind = Some(kind);
        multiline::push(&mut self.text, self.lines == 1, &privmsg::clean(text), follows);
        Ok(())
    }
}

fn end(state: &mut State, call: &mut Call, reference: &str) {
    let id = call.id;
    let mine = |draft: &mut Draft| draft.reference == reference;
    let Some(draft) = state.client_mut(id).and_then(|client| client.draft.take_if(mine)) else {
        let words = vec![reference.to_owned()];
        return refuse(state, id, Wrong("INVALID_REFTAG", words, "No such batch"));
    };
    if draft.refused {
        return;
    }
    let blank = multiline::lines(&draft.text).all(|(line, _)| line.is_empty());
    let (Some(kind), false) = (draft.kind, blank) else {
        let wrong = invalid("The message has only blank lines");
        return refuse_labelled(state, id, draft.label, wrong);
    };
    state.open_scope(id, draft.label.as_deref());
    call.message = Message {
        command: kind.as_str().to_owned(),
        params: vec![draft.start.at(2).unwrap_or("").to_owned()],
        ..draft.start
    };
    if !state.refuse_reader(call) {
        privmsg::say(state, call, kind, draft.text);
    }
}

fn refuse_labelled(state: &mut State, id: ClientId, label: Option<String>, wrong: Wrong) {
    state.open_scope(id, label.as_deref());
    refuse(state, id, wrong);
    state.close_scope(id);
}

fn refuse(state: &mut State, id: ClientId, Wrong(code, words, text): Wrong) {
    let all = ["BATCH", code].into_iter().chain(words.iter().map(String::as_str));
    state.fail(id, &all.collect::<Vec<_>>(), text);
}
