//! Lines on their way out: one body, and tags as each receiver can read them.

use bytes::Bytes;
use gangline_core::Principal;
use gangline_os::clock::{UnixMicros, rfc3339};

use super::{
    caps::Caps,
    events::{Event, EventKind},
    store::{NewLine, StoredLine},
};
use crate::wire::{
    BODY_MAX,
    multiline::{self, Follows},
    tags,
    text::cut,
};

/// A line and everything that might be tagged to it.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    /// `:source COMMAND …` without its line end.
    body: String,
    time: Option<UnixMicros>,
    msgid: Option<String>,
    account: Option<String>,
    bot: bool,
    principal: Option<Principal>,
    client: Vec<(String, Option<String>)>,
    /// The lines of a message that has several; `body` is the first of them then.
    several: Option<Box<Several>>,
}

/// A message of several lines.
#[derive(Debug, Clone)]
struct Several {
    /// `:source BATCH +reference draft/multiline target`.
    start: String,
    lines: Vec<Piece>,
}

/// One line of such a message.
#[derive(Debug, Clone)]
struct Piece {
    /// `:source COMMAND …`.
    body: String,
    follows: Follows,
    /// Whether it has no text.
    blank: bool,
}

/// The name of the batch of a message, which is open nowhere beside it: it is sent in one piece.
const REFERENCE: &str = "ml";

/// What only one receiver's copy carries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark<'a> {
    pub(super) label: Option<&'a str>,
    pub(super) batch: Option<&'a str>,
}

/// Appends a word so that it can stand in the middle of a line, whatever it was.
fn push_word(line: &mut String, text: &str) {
    let text = cut(text, 128);
    if text.is_empty() || text.starts_with(':') {
        line.push('*');
    }
    push_without(line, text, |c| c.is_control() || c == ' ', '_');
}

/// Appends a text with another character in place of each bad one. Nearly every text has none, and
/// is appended as it is.
fn push_without(line: &mut String, text: &str, is_bad: impl Fn(char) -> bool, instead: char) {
    match text.contains(&is_bad) {
        false => line.push_str(text),
        true => line.extend(text.chars().map(|c| if is_bad(c) { instead } else { c })),
    }
}

impl Outgoing {
    /// Returns a line of `source`; `words` are made fit for the middle, `last` may be any text.
    pub(super) fn new(source: &str, command: &str, words: &[&str], last: Option<&str>) -> Self {
        let long = |words: &[&str]| words.iter().map(|word| word.len() + 2).sum::<usize>();
        let mut body = String::with_capacity(
            long(&[source, command]) + long(words) + long(&[last.unwrap_or("")]),
        );
        body.push(':');
        body.push_str(source);
        body.push(' ');
        body.push_str(command);
        for one in words {
            body.push(' ');
            push_word(&mut body, one);
        }
        if let Some(last) = last {
            body.push_str(" :");
            push_without(&mut body, last, |c| matches!(c, '\r' | '\n' | '\0'), ' ');
        }
        let fits = cut(&body, BODY_MAX - 2).len();
        body.truncate(fits);
        Self {
            body,
            time: None,
            msgid: None,
            account: None,
            bot: false,
            principal: None,
            client: Vec::new(),
            several: None,
        }
    }

    /// Returns one part of a message of SASL: base64, longer than other words may be.
    pub(super) fn authenticate(chunk: &str) -> Self {
        let mut line = Self::new("-", "AUTHENTICATE", &[], None).unsourced();
        line.body.push(' ');
        line.body.push_str(chunk);
        line
    }

    /// Returns a kept line.
    pub(super) fn kept(msgid: &str, line: &NewLine) -> Self {
        Self::kept_to(&line.target, msgid, line)
    }

    /// Returns a kept line as it goes to somebody who has another nick now.
    pub(super) fn kept_to(target: &str, msgid: &str, line: &NewLine) -> Self {
        Self::said(target, &line.text, msgid, line)
    }

    /// Returns a kept line with another text.
    pub(super) fn said(target: &str, text: &str, msgid: &str, line: &NewLine) -> Self {
        let words = [target];
        let one = |text: &str| Self::new(&line.source, line.kind.as_str(), &words, Some(text));
        let mut out = match multiline::is_several(text) {
            false => one(text),
            true => {
                let piece = |(text, follows): (&str, Follows)| Piece {
                    body: one(text).body,
                    follows,
                    blank: text.is_empty(),
                };
                let lines: Vec<Piece> = multiline::lines(text).map(piece).collect();
                let start = format!("+{REFERENCE}");
                let start = [start.as_str(), multiline::MULTILINE, target];
                let start = Self::new(&line.source, "BATCH", &start, None).body;
                let mut texts = multiline::lines(text).map(|(text, _)| text);
                let first = texts.find(|text| !text.is_empty()).unwrap_or("");
                Self { several: Some(Box::new(Several { start, lines })), ..one(first) }
            }
        };
        out = out
            .at(line.at)
            .account(line.account.as_deref())
            .stamped(line.principal.clone(), line.bot, line.tags.clone())
            .identified(msgid);
        out
    }

    pub(super) fn stored(stored: &StoredLine) -> Self {
        Self::kept(&stored.msgid, &stored.line)
    }

    /// Returns what happened; `extended` is what those with `extended-join` get.
    pub(super) fn happened(event: &Event, extended: bool) -> Self {
        let mut words: Vec<&str> = event.words.iter().map(String::as_str).collect();
        let mut text = event.text.as_deref();
        match event.kind {
            EventKind::Join if extended => words.push(event.account.as_deref().unwrap_or("*")),
            EventKind::Join => text = None,
            EventKind::Part
            | EventKind::Quit
            | EventKind::Kick
            | EventKind::Nick
            | EventKind::Topic
            | EventKind::Mode => {}
        }
        Self::new(&event.source, event.kind.as_str(), &words, text)
            .at(event.at)
            .account(event.account.as_deref())
            .identified(&event.msgid)
    }

    #[must_use]
    pub(super) fn at(mut self, time: UnixMicros) -> Self {
        self.time = Some(time);
        self
    }

    /// Returns the line without the time at which it was said: its text has it.
    #[must_use]
    pub(super) fn untimed(mut self) -> Self {
        self.time = None;
        self
    }

    /// Returns the line without its source (`ERROR`, `PING`, `AUTHENTICATE` have none).
    #[must_use]
    pub(super) fn unsourced(mut self) -> Self {
        if let Some((_, rest)) = self.body.split_once(' ') {
            self.body = rest.to_owned();
        }
        self
    }

    #[must_use]
    pub(super) fn account(mut self, account: Option<&str>) -> Self {
        self.account = account.map(str::to_owned);
        self
    }

    #[must_use]
    pub(super) fn identified(mut self, msgid: &str) -> Self {
        self.msgid = Some(msgid.to_owned());
        self
    }

    /// Returns the line with what the server says of its sender, and the sender's own tags.
    #[must_use]
    pub(super) fn stamped(
        mut self,
        principal: Principal,
        bot: bool,
        client: Vec<(String, Option<String>)>,
    ) -> Self {
        self.principal = Some(principal);
        self.bot = bot;
        self.client = client;
        self
    }

    /// Returns the line for a receiver with these capabilities.
    pub(super) fn render(&self, caps: Caps, mark: Mark<'_>) -> Bytes {
        // Exactly as much as a line without tags takes: most are such, and each keeps its room.
        let tags = if caps.only(Caps::FORM) == Caps::default() { 0 } else { 160 };
        let mut out = String::with_capacity(self.body.len() + "\r\n".len() + tags);
        match &self.several {
            None => self.write(&mut out, &self.body, caps, mark),
            Some(several) if caps.has(Caps::MULTILINE.with(Caps::BATCH)) => {
                self.write(&mut out, &several.start, caps, mark);
                for Piece { body, follows, .. } in &several.lines {
                    out.push_str("@batch=");
                    out.push_str(REFERENCE);
                    match follows {
                        Follows::Anew => {}
                        Follows::On => {
                            out.push(';');
                            out.push_str(multiline::CONCAT);
                        }
                    }
                    out.push(' ');
                    out.push_str(body);
                    out.push_str("\r\n");
                }
                let server = several.start.split(' ').next().unwrap_or("");
                out.push_str(&format!("{server} BATCH -{REFERENCE}\r\n"));
            }
            Some(several) => self.write_each(&mut out, several, caps, mark),
        }
        Bytes::from(out)
    }

    /// Writes the lines of a message for somebody who takes one at a time. The first carries what
    /// belongs to the message, the others who speaks.
    fn write_each(&self, out: &mut String, several: &Several, caps: Caps, mark: Mark<'_>) {
        let rest = Self { msgid: None, client: Vec::new(), several: None, ..self.clone() };
        for (at, line) in several.lines.iter().filter(|line| !line.blank).enumerate() {
            match at {
                0 => self.write(out, &line.body, caps, mark),
                _ => rest.write(out, &line.body, caps, Mark { label: None, batch: mark.batch }),
            }
        }
    }

    fn write(&self, out: &mut String, body: &str, caps: Caps, mark: Mark<'_>) {
        let mut line = String::new();
        if let Some(label) = mark.label.filter(|_| caps.has(Caps::LABEL)) {
            push(&mut line, tags::LABEL, Some(label));
        }
        if let Some(batch) = mark.batch.filter(|_| caps.has(Caps::BATCH)) {
            push(&mut line, tags::BATCH, Some(batch));
        }
        if let Some(time) = self.time.filter(|_| caps.has(Caps::TIME)) {
            push(&mut line, tags::TIME, Some(&rfc3339(time)));
        }
        if let Some(account) = self.account.as_deref().filter(|_| caps.has(Caps::ACCOUNT_TAG)) {
            push(&mut line, tags::ACCOUNT, Some(account));
        }
        if caps.has(Caps::TAGS) {
            self.push_tags(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        out.push_str(&line);
        out.push_str(body);
        out.push_str("\r\n");
    }

    fn push_tags(&self, line: &mut String) {
        if let Some(msgid) = &self.msgid {
            push(line, tags::MSGID, Some(msgid));
        }
        if self.bot {
            push(line, tags::BOT, None);
        }
        if let Some(principal) = &self.principal {
            push(line, tags::GANGLINE_PRINCIPAL, Some(&principal.account));
            push(line, tags::GANGLINE_TIER, Some(principal.tier.as_str()));
        }
        for (key, value) in &self.client {
            push(line, key, value.as_deref());
        }
    }
}

fn push(line: &mut String, key: &str, value: Option<&str>) {
    line.push(if line.is_empty() { '@' } else { ';' });
    line.push_str(key);
    if let Some(value) = value {
        line.push('=');
        line.push_str(&tags::escape(value));
    }
}

/// Copies of one line for many receivers, written once for each form.
pub(super) struct Copies<'a> {
    out: &'a Outgoing,
    made: Vec<(Caps, Bytes)>,
}

impl<'a> Copies<'a> {
    pub(super) fn of(out: &'a Outgoing) -> Self {
        Self { out, made: Vec::new() }
    }

    pub(super) fn for_caps(&mut self, caps: Caps) -> Bytes {
        let form = caps.only(Caps::FORM);
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == form) {
            return made.clone();
        }
        let made = self.out.render(form, Mark::default());
        self.made.push((form, made.clone()));
        made
    }
}

/// Returns the client-only tags of a message: what a server may relay. A client's own
/// `gangline/*`, `msgid`, `time`, `account` and the like are not among them.
pub(super) fn client_only(tags: &[(String, Option<String>)]) -> Vec<(String, Option<String>)> {
    let legal = |key: &str| {
        key.len() > 1
            && key.strip_prefix('+').is_some_and(|rest| {
                rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./".contains(&byte))
            })
    };
    let fit = |value: &Option<String>| value.as_deref().is_none_or(|v| !v.contains('\0'));
    tags.iter().filter(|(key, value)| legal(key) && fit(value)).cloned().collect()
}
