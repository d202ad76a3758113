//! What is asked of a channel, as it was typed, and the request it makes.

use std::path::PathBuf;

use gangline_api::ipc::{Command, IfAbsent, Lines, READ_LIMIT_MAX};
use gangline_core::{
    MessageId,
    name::{ChannelName, NameError, Target},
    question::OnTimeout,
};

use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// How a target was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// A missing `#` is added; `@nick` is a person.
    Loose(String),
    /// As the older client has it: what has no `#` is a nick.
    Exact(String),
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verb {
    Send {
        to: Written,
        text: String,
        escapes: Escapes,
        absent: IfAbsent,
        in_reply_to: Option<MessageId>,
    },
    Read {
        from: Written,
        limit: u32,
        lines: Lines,
        own: bool,
    },
    Ask {
        to: Written,
        text: String,
        timeout: u32,
        on_timeout: OnTimeout,
    },
    Join(Written),
    Part(Written),
    Channels,
    Who(String),
    Topic {
        channel: Written,
        text: Option<String>,
    },
    Compact,
    Clear,
    SetDirectory(PathBuf),
}

/// Whether `\n`, `\t` and `\\` in a text stand for characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    Read,
    Kept,
}

impl Verb {
    /// Returns the request.
    pub(super) fn command(&self) -> Result<Command, Failure> {
        Ok(match self {
            Self::Send { to, text, escapes, absent, in_reply_to } => Command::Send {
                channel: to.target()?,
                message: said(text, *escapes)?,
                absent: *absent,
                in_reply_to: *in_reply_to,
            },
            Self::Read { from, limit, lines, own } => Command::Read {
                channel: from.target()?,
                limit: (*limit).min(READ_LIMIT_MAX),
                lines: *lines,
                own: *own,
            },
            Self::Ask { to, text, timeout, on_timeout } => Command::Ask {
                channel: to.target()?,
                message: not_blank(text, "question text cannot be empty", "ask")?,
                timeout: *timeout,
                on_timeout: *on_timeout,
            },
            Self::Join(channel) => Command::Join { channel: channel.channel()? },
            Self::Part(channel) => Command::Part { channel: channel.channel()? },
            Self::Channels => Command::Channels,
            Self::Who(target) => {
                let target = target.strip_prefix('@').unwrap_or(target);
                Command::Who { target: parsed(named(target)?.parse())? }
            }
            Self::Topic { channel, text } => {
                Command::Topic { channel: channel.channel()?, topic: text.clone() }
            }
            Self::Compact => Command::Compact,
            Self::Clear => Command::Clear,
            Self::SetDirectory(path) => Command::SetDirectory { path: path.clone() },
        })
    }

    /// Returns the name of the command as culture's clients know it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Send { .. } => "message",
            Self::Read { .. } => "read",
            Self::Ask { .. } => "ask",
            Self::Join(_) => "join",
            Self::Part(_) => "part",
            Self::Channels => "list",
            Self::Who(_) => "who",
            Self::Topic { .. } => "topic",
            Self::Compact => "compact",
            Self::Clear => "clear",
            Self::SetDirectory(_) => "set-directory",
        }
    }
}

impl Written {
    fn target(&self) -> Result<Target, Failure> {
        match self {
            Self::Exact(text) => parsed(named(text)?.parse()),
            Self::Loose(text) => match named(text)?.strip_prefix('@') {
                Some(nick) => parsed(nick.parse().map(Target::Nick)),
                None => self.channel().map(Target::Channel),
            },
        }
    }

    fn channel(&self) -> Result<ChannelName, Failure> {
        match self {
            Self::Exact(text) if !text.starts_with('#') => {
                Err(Failure::user("Channel name must start with '#'"))
            }
            Self::Exact(text) => parsed(text.parse()),
            Self::Loose(text) => {
                let text = named(text)?;
                let name = if text.starts_with('#') { text.to_owned() } else { format!("#{text}") };
                parsed(name.parse())
            }
        }
    }
}

fn named(text: &str) -> Result<&str, Failure> {
    match text.trim() {
        "" => Err(Failure::user("channel name cannot be empty")
            .hint("pass a channel name, e.g. gangline channel read #general")),
        text => Ok(text),
    }
}

fn parsed<T>(name: Result<T, NameError>) -> Result<T, Failure> {
    name.map_err(|error| Failure::user(error.to_string()))
}

fn not_blank(text: &str, why: &str, verb: &str) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::user(why)
            .hint(format!("pass the text, e.g. gangline channel {verb} #general \"hello\"")));
    }
    Ok(text.to_owned())
}

fn said(text: &str, escapes: Escapes) -> Result<String, Failure> {
    let text = not_blank(text, "message text cannot be empty", "message")?;
    match escapes {
        Escapes::Kept => Ok(text),
        Escapes::Read => {
            let text = unescaped(&text);
            let why = "message text has no non-empty line after escape interpretation";
            not_blank(&text, why, "message")
        }
    }
}

/// Returns the text with `\n`, `\t` and `\\` as the characters that they stand for. What else
/// follows a backslash stays as it is.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.as_str().chars().next();
        let meant = match (c, next) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some('\\')) => Some('\\'),
            _ => None,
        };
        if meant.is_some() {
            rest.next();
        }
        out.push(meant.unwrap_or(c));
    }
    out
}
