//! The command line of `gangline channel`: S0's words and culture's (C20). No logic.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand};
use gangline_api::ipc::{IfAbsent, Lines, READ_LIMIT};
use gangline_core::{MessageId, question::OnTimeout};

use super::verb::{Escapes, Verb, Written};
use crate::{cli::number, who::Who};

#[cfg(test)]
mod tests;

/// The seconds that `ask` waits by default (C8).
pub(super) const ASK: u32 = 30;

#[derive(Debug, Args)]
pub(crate) struct ChannelArgs {
    /// Speak as this agent [default: $GANGLINE_NICK, else $CULTURE_NICK]
    #[arg(long, global = true, value_name = "NICK")]
    pub(super) agent: Option<Who>,
    /// Also look for a daemon's socket in /tmp, if only this user can open it
    #[arg(long, global = true)]
    pub(super) legacy_tmp: bool,
    #[command(subcommand)]
    pub(super) command: ChannelCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ChannelCommand {
    /// Send a message; `@nick` instead of a channel sends it privately
    #[command(visible_alias = "message")]
    Send(Say),
    /// Show the messages since the last read, oldest first
    Read(Read),
    /// Ask something and wait for the answer
    Ask(Ask),
    /// Join a channel
    Join {
        /// The channel; a missing # is added
        #[arg(value_name = "CHANNEL")]
        target: String,
    },
    /// Leave a channel
    Part {
        /// The channel; a missing # is added
        #[arg(value_name = "CHANNEL")]
        target: String,
    },
    /// List the channels that the agent is in
    #[command(visible_alias = "list")]
    Channels,
    /// List who is in a channel
    Who {
        /// The channel, with its #, or a nick
        target: String,
    },
    /// Show a channel's topic, or set it
    Topic {
        /// The channel; a missing # is added
        #[arg(value_name = "CHANNEL")]
        target: String,
        /// The new topic
        #[arg(num_args = 0..)]
        text: Vec<String>,
    },
    /// Shorten the context of the agent's backend
    Compact,
    /// Begin a new context in the agent's backend
    Clear,
    /// Confirm a folder, and print its CLAUDE.md
    #[command(visible_alias = "set_directory")]
    SetDirectory {
        /// The folder
        path: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct Say {
    /// The channel; a missing # is added
    #[arg(value_name = "CHANNEL")]
    target: String,
    /// The text; \n and \t in it are line breaks and tabs
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// More of the text, joined by spaces
    #[arg(hide = true)]
    more: Vec<String>,
    /// Make the channel if it does not exist
    #[arg(long)]
    create: bool,
    /// The message that this answers, such as m42; it then answers no other message
    #[arg(long, value_name = "MESSAGE")]
    reply_to: Option<MessageId>,
}

#[derive(Debug, Args)]
pub(super) struct Read {
    /// The channel; a missing # is added
    #[arg(value_name = "CHANNEL")]
    target: String,
    /// The maximum number of messages
    #[arg(value_name = "LIMIT", value_parser = number::within::<u32>(1, number::ANY))]
    count: Option<u32>,
    /// The same, as an option
    #[arg(short = 'n', long, conflicts_with = "count", default_value_t = READ_LIMIT,
          value_parser = number::within::<u32>(1, number::ANY))]
    limit: u32,
    /// Show the newest messages and skip older unread ones
    #[arg(long)]
    latest: bool,
    /// Show the newest messages, read or not; unread ones stay unread
    #[arg(long, conflicts_with = "latest")]
    peek: bool,
    /// Also show the agent's own lines
    #[arg(long)]
    own: bool,
}

#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The channel; a missing # is added
    #[arg(value_name = "CHANNEL")]
    target: String,
    /// The question
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// More of the question, joined by spaces
    #[arg(hide = true)]
    more: Vec<String>,
    /// How long to wait for the answer
    #[arg(long, value_name = "SECONDS", default_value_t = ASK,
          value_parser = number::within::<u32>(1, 86_400))]
    timeout: u32,
    /// What follows if nobody answers in time: none, pause (the agent begins no turn until `resume`), deny
    /// (the answer is `[denied]`), abort (the open turn ends)
    #[arg(long, value_name = "ACTION", default_value = "none", value_parser = action)]
    on_timeout: OnTimeout,
}

fn action(text: &str) -> Result<OnTimeout, &'static str> {
    text.parse().map_err(|_| "give none, pause, deny or abort")
}

/// Reads words among which there is no option; none if they are anything else than a plain call.
///
/// It says the same as the parser would. Agents call this program often, and making the parser is
/// a fifth of what a call costs.
pub(super) fn plain(words: &[OsString]) -> Option<Verb> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.filter(|words| !words.iter().any(|word| word.starts_with('-')))?;
    let (verb, words) = words.split_first()?;
    let owned = |text: &&str| (*text).to_owned();
    let loose = |text: &&str| Written::Loose(owned(text));
    Some(match (*verb, words) {
        ("send" | "message", [to, text @ ..]) if !text.is_empty() => Verb::Send {
            to: loose(to),
            text: text.join(" "),
            escapes: Escapes::Read,
            absent: IfAbsent::Refuse,
            in_reply_to: None,
        },
        ("ask", [to, text @ ..]) if !text.is_empty() => {
            let on_timeout = OnTimeout::None;
            Verb::Ask { to: loose(to), text: text.join(" "), timeout: ASK, on_timeout }
        }
        ("read", [from]) => {
            Verb::Read { from: loose(from), limit: READ_LIMIT, lines: Lines::Unread, own: false }
        }
        ("read", [from, limit]) => {
            let limit = limit.parse().ok().filter(|limit| *limit > 0)?;
            Verb::Read { from: loose(from), limit, lines: Lines::Unread, own: false }
        }
        ("join", [channel]) => Verb::Join(loose(channel)),
        ("part", [channel]) => Verb::Part(loose(channel)),
        ("channels" | "list", []) => Verb::Channels,
        ("who", [target]) => Verb::Who(owned(target)),
        ("topic", [channel, text @ ..]) => Verb::Topic {
            channel: loose(channel),
            text: (!text.is_empty()).then(|| text.join(" ")),
        },
        ("compact", []) => Verb::Compact,
        ("clear", []) => Verb::Clear,
        _ => return None,
    })
}

fn joined(text: String, more: Vec<String>) -> String {
    std::iter::once(text).chain(more).collect::<Vec<_>>().join(" ")
}

impl ChannelCommand {
    pub(super) fn verb(self) -> Verb {
        match self {
            Self::Send(Say { target, text, more, create, reply_to }) => Verb::Send {
                to: Written::Loose(target),
                text: joined(text, more),
                escapes: Escapes::Read,
                absent: if create { IfAbsent::Create } else { IfAbsent::Refuse },
                in_reply_to: reply_to,
            },
            Self::Read(Read { target, count, limit, latest, peek, own }) => {
                let lines = match (peek, latest) {
                    (true, _) => Lines::Peek,
                    (false, true) => Lines::Latest,
                    (false, false) => Lines::Unread,
                };
                let limit = count.unwrap_or(limit);
                Verb::Read { from: Written::Loose(target), limit, lines, own }
            }
            Self::Ask(Ask { target, text, more, timeout, on_timeout }) => {
                let (to, text) = (Written::Loose(target), joined(text, more));
                Verb::Ask { to, text, timeout, on_timeout }
            }
            Self::Join { target } => Verb::Join(Written::Loose(target)),
            Self::Part { target } => Verb::Part(Written::Loose(target)),
            Self::Channels => Verb::Channels,
            Self::Who { target } => Verb::Who(target),
            Self::Topic { target, text } => Verb::Topic {
                channel: Written::Loose(target),
                text: (!text.is_empty()).then(|| text.join(" ")),
            },
            Self::Compact => Verb::Compact,
            Self::Clear => Verb::Clear,
            Self::SetDirectory { path } => Verb::SetDirectory(path),
        }
    }
}
