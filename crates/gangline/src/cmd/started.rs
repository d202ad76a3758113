//! The command line with which a hub starts a daemon, read without the machinery that reads all
//! others: that builds every command with its help, and a daemon would keep the memory for life.

use std::ffi::OsString;

use super::{Cli, Command, daemon};
use crate::cli::Global;

#[cfg(test)]
mod tests;

/// Reads `gangline daemon NICK` with each option at most once and written as a word of its own,
/// both folders among them. `None`: it is something else, which [`Cli`] has to read.
pub(crate) fn plain(arguments: impl Iterator<Item = OsString>) -> Option<Cli> {
    let mut words = arguments.skip(1);
    if words.next()? != "daemon" {
        return None;
    }
    let agent = words.next()?.to_str()?.parse().ok()?;
    let (mut irc, mut runtime, mut config, mut state) = (None, None, None, None);
    while let Some(option) = words.next() {
        let slot = match option.to_str()? {
            "--irc" => &mut irc,
            "--runtime" => &mut runtime,
            "--config" => &mut config,
            "--state" => &mut state,
            _ => return None,
        };
        let value = words.next()?.into_string().ok()?;
        if value.is_empty() || value.starts_with('-') || slot.replace(value).is_some() {
            return None;
        }
    }
    // Those that are not given may stand in the environment.
    let (config, state) = (Some(config?.into()), Some(state?.into()));
    let global = Global { state, config, json: false };
    Some(Cli { global, command: Command::Daemon(daemon::Args { agent, irc, runtime }) })
}
