//! The prompt's text: the seeds' exact first line, then what the agent should know. What comes
//! from chat stays within its line and cannot look like a frame of ours (C33).

use crate::{name::ChannelName, recovery::SentLine};

/// Where a message was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// In a channel: `[IRC @mention in #channel] <sender> message`.
    Channel(&'a ChannelName),
    /// In private: `[IRC DM] <sender> text`.
    Direct,
    /// Not on IRC (command line, HTTP, reminder): the text as it is, on as many lines as it has.
    Plain,
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

/// Beginnings of our frames, in capitals and without blanks.
const HEADS: &[&str] = &["IRC@", "IRCDM", "IRCCHANNEL", "SUPERVISOR", "GANGLINE"];

/// Returns the prompt: the frame's line, the unread hint, and from the second attempt on its
/// number and what was sent already.
#[must_use]
pub fn prompt_text(frame: &Frame<'_>) -> String {
    let (sender, body) = (sender(frame.sender), escape(frame.body));
    let mut text = match frame.place {
        Place::Channel(channel) => format!("[IRC @mention in {channel}] <{sender}> {body}"),
        Place::Direct => format!("[IRC DM] <{sender}> {body}"),
        Place::Plain => {
            let lines: Vec<String> = frame.body.lines().map(escape).collect();
            lines.join("\n")
        }
    };
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

/// Returns the text on one line: line breaks written as `\n`, other control characters left out, a
/// tab as a space, and a backslash before what looks like the beginning of a frame.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\r' if text[at + 1..].starts_with('\n') => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push_str("\\n"),
            '\t' => out.push(' '),
            '[' if is_head(&text[at + 1..]) => out.push_str("\\["),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Returns whether the text behind a bracket begins like a frame, blanks, case and characters that
/// show nothing aside.
fn is_head(text: &str) -> bool {
    let shown = |c: &char| c.is_ascii_graphic();
    let start: String = text
        .chars()
        .filter(|c| !c.is_ascii() || shown(c))
        .filter(|c| !c.is_whitespace() && !hidden(*c))
        .take(10)
        .flat_map(char::to_uppercase)
        .collect();
    HEADS.iter().any(|head| start.starts_with(head))
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Returns a name that stays within its angle brackets.
fn sender(name: &str) -> String {
    let safe = |c: char| !c.is_control() && !c.is_whitespace() && c != '<' && c != '>';
    name.chars().take(64).map(|c| if safe(c) { c } else { '_' }).collect()
}
