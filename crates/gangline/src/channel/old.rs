//! The command line of `irc_client`: words in fixed places, as older skills write them (R0-57).

use gangline_api::ipc::{ASK_SECONDS_MAX, IfAbsent, Lines, READ_LIMIT};
use gangline_core::question::OnTimeout;

use super::{
    args::ASK,
    verb::{Escapes, Verb, Written},
};
use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// What it says of itself.
pub(super) const USAGE: &str = "\
Usage: irc_client <subcommand> [args...]
  send <channel> <message>
  read <channel> [limit]
  ask <channel> [--timeout N] <question>
  join|part <channel>
  channels
  who <target>
  topic <channel> [text]
  compact|clear
The agent is $GANGLINE_NICK or $CULTURE_NICK. Each prints the response as JSON; whispers go to
standard error. `gangline channel --help` tells more.
";

/// Reads the words; none if only the usage is asked for.
pub(super) fn read(words: &[String]) -> Result<Option<Verb>, Failure> {
    let Some((verb, rest)) = words.split_first() else {
        return Err(usage("which subcommand?"));
    };
    let first = || rest.first().cloned().ok_or_else(|| usage("which channel?"));
    let target = || first().map(Written::Exact);
    let text = || rest.get(1..).unwrap_or_default().join(" ");
    Ok(Some(match verb.as_str() {
        "send" | "message" => Verb::Send {
            to: target()?,
            text: text(),
            escapes: Escapes::Kept,
            absent: IfAbsent::Send,
            in_reply_to: None,
        },
        "read" => {
            Verb::Read { from: target()?, limit: limit(rest)?, lines: Lines::Unread, own: false }
        }
        "ask" => {
            let target = target()?;
            let (timeout, text) = timeout(rest.get(1..).unwrap_or_default())?;
            Verb::Ask { to: target, text, timeout, on_timeout: OnTimeout::None }
        }
        "join" => Verb::Join(target()?),
        "part" => Verb::Part(target()?),
        "channels" | "list" => Verb::Channels,
        "who" => Verb::Who(first()?),
        "topic" => {
            let set = rest.len() > 1;
            Verb::Topic { channel: target()?, text: set.then(text) }
        }
        "compact" => Verb::Compact,
        "clear" => Verb::Clear,
        "set_directory" => Verb::SetDirectory(first()?.into()),
        "help" | "--help" | "-h" => return Ok(None),
        unknown => {
            return Err(usage(&format!(
                "unknown subcommand: {:?}",
                crate::show::text::cut(unknown, 80)
            )));
        }
    }))
}

fn usage(what: &str) -> Failure {
    Failure::user(what)
        .hint("subcommands: send, read, ask, join, part, channels, who, topic, compact, clear")
}

/// `read #c`, `read #c 5`, `read #c --limit 5`, `read #c -n 5`.
fn limit(rest: &[String]) -> Result<u32, Failure> {
    let word = match rest.get(1).map(String::as_str) {
        None => return Ok(READ_LIMIT),
        Some("--limit" | "-n") => rest.get(2).map_or("", String::as_str),
        Some(word) => word,
    };
    word.parse()
        .ok()
        .filter(|limit| *limit > 0)
        .ok_or_else(|| usage("the limit is a number above 0"))
}

/// Takes `--timeout N` out of the words of a question, wherever it stands.
fn timeout(words: &[String]) -> Result<(u32, String), Failure> {
    let mut words = words.to_vec();
    let Some(at) = words.iter().position(|word| word == "--timeout") else {
        return Ok((ASK, words.join(" ")));
    };
    let seconds = words.get(at + 1).and_then(|word| word.parse().ok()).filter(|n| *n > 0);
    let seconds: u32 =
        seconds.ok_or_else(|| usage("--timeout wants a number of seconds above 0"))?;
    words.drain(at..at + 2);
    Ok((seconds.min(ASK_SECONDS_MAX), words.join(" ")))
}
