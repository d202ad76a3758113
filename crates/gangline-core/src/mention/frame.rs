//! The prompt's text: the seeds' exact first line, then what the agent should know. What comes
//! from chat stays within its line and cannot look like a frame of ours (C33).

use crate::{
    lookalike::{folded, is_bracket, is_like},
    name::ChannelName,
    recovery::SentLine,
    shown,
};

/// Where a message was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// In a channel: `[IRC @mention in #channel] <sender> message`.
    Channel(&'a ChannelName),
    /// In private: `[IRC DM] <sender> text`.
    Direct,
    /// Not on IRC (command line, HTTP): the text as it is, on as many lines as it has.
    Plain,
    /// Told by a program outside: `[gangline] a program woke you, from: matrix`, then its text.
    Wake,
    /// Our own text, such as a question or its answer: what others said in it is escaped already.
    Ours,
}

/// All that a prompt says about one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it was said.
    pub place: Place<'a>,
    /// Who said it.
    pub sender: &'a str,
    /// What was said.
    pub body: &'a str,
    /// How many more messages wait in the inbox (R2-13).
    pub pending: u64,
    /// How many lines of the place the agent has not read.
    pub unread: usize,
    /// The number of this attempt, from 1.
    pub attempt: i64,
    /// How the last attempt was cut off, if that is known (R0-21).
    pub cut_off: Option<&'a str>,
    /// Lines that earlier attempts sent.
    pub already_sent: &'a [SentLine],
}

/// How many of the lines sent by earlier attempts are quoted.
const QUOTED_MAX: usize = 20;

/// Beginnings of our frames, as they look ([`folded`]): `IRC @`, `IRC DM` and so on.
const HEADS: &[&str] = &[
    "answer",
    "questlon",
    "remlnder",
    "lrc@",
    "lrcmentlon",
    "lrcamentlon",
    "lrcdm",
    "lrcchannel",
    "supervlsor",
    "gangllne",
];
/// As much of a text as is looked at for a head, in characters.
const HEAD_MAX: usize = 200;
/// The longest name, in characters.
const NAME_MAX: usize = 64;

/// Returns the prompt: the frame's line, the unread hint, and from the second attempt on its
/// number and what was sent already.
#[must_use]
pub fn prompt_text(frame: &Frame<'_>) -> String {
    let (sender, body) = (sender(frame.sender), escape(frame.body));
    let mut text = match frame.place {
        Place::Channel(channel) => format!("[IRC @mention in {channel}] <{sender}> {body}"),
        Place::Direct => format!("[IRC DM] <{sender}> {body}"),
        Place::Plain => lines(frame.body),
        Place::Wake => {
            format!("[gangline] a program woke you, from: {sender}\n{}", lines(frame.body))
        }
        Place::Ours => frame.body.to_owned(),
    };
    if frame.pending > 0 {
        let pending = frame.pending;
        text.push_str(&format!("\n({pending} more pending — drain via `recv`)"));
    }
    match frame.unread {
        0 => {}
        1 => text.push_str("\n[gangline] 1 unread line here"),
        unread => text.push_str(&format!("\n[gangline] {unread} unread lines here")),
    }
    if frame.attempt > 1 {
        let how = frame.cut_off.map(|how| format!(" ({})", escape(how))).unwrap_or_default();
        text.push_str(&format!(
            "\n[gangline] attempt {}: an earlier attempt at this message was cut off{how}; \
             what it did may have happened",
            frame.attempt
        ));
        quote(&mut text, frame.already_sent);
    }
    text
}

fn lines(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(escape).collect();
    lines.join("\n")
}

fn quote(text: &mut String, sent: &[SentLine]) {
    if sent.is_empty() {
        return;
    }
    text.push_str("\n[gangline] already sent, quoted; do not send it again:");
    let skipped = sent.len().saturating_sub(QUOTED_MAX);
    if skipped > 0 {
        text.push_str(&format!("\n> (… {skipped} earlier lines)"));
    }
    for line in &sent[skipped..] {
        text.push_str(&format!("\n> {}: {}", sender(&line.to), escape(&line.text)));
    }
}

/// Returns the text on one line: line breaks written as `\n`, a tab as a space, other control
/// characters left out, what turns or hides text written out ([`shown::talk`]), and a backslash
/// before what looks like the beginning of a frame or, where a line begins, like `<nick> `.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    let text = text.replace(['\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let text = shown::talk(&text);
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let forged =
            (is_bracket(c) && is_head(rest)) || (begins && is_like(c, '<') && is_name(rest));
        if forged {
            out.push('\\');
        }
        match c {
            '\r' if rest.starts_with('\n') => {}
            '\n' | '\r' => out.push_str("\\n"),
            '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
        begins = matches!(c, '\n' | '\r')
            || (begins && (c.is_whitespace() || shown::is_hidden(c) || c == '\u{2800}'));
    }
    out
}

/// Returns whether the text behind a bracket looks like the beginning of a frame, whatever shows
/// nothing aside.
fn is_head(text: &str) -> bool {
    let start: String = text.chars().take(HEAD_MAX).collect();
    let start: String = folded(&start).take(12).collect();
    HEADS.iter().any(|head| start.starts_with(head))
}

/// Returns whether the text behind an angle bracket is a name, the other bracket and a blank.
fn is_name(text: &str) -> bool {
    let mut rest = text.chars().filter(|c| !shown::is_hidden(*c) || c.is_whitespace());
    let mut name = String::new();
    for c in rest.by_ref().take(NAME_MAX + 1) {
        match c {
            '\n' | '\r' => return false,
            c if is_like(c, '>') => break,
            c => name.push(c),
        }
    }
    let word = name.trim();
    let is_word = !word.is_empty() && !word.contains(char::is_whitespace);
    is_word && rest.next().is_some_and(char::is_whitespace)
}

/// Returns a name that stays within its angle brackets, on its line.
fn sender(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars().take(NAME_MAX) {
        match c.is_whitespace() || is_like(c, '<') || is_like(c, '>') {
            true => out.push('_'),
            false => shown::push(&mut out, c),
        }
    }
    out
}
