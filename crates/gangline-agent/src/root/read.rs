//! The settings, split for each part of the daemon. Pure.

use std::{path::PathBuf, sync::Arc, time::Duration};

use gangline_config::{AgentConfig, Compaction, MentionWhenBusy, OnCrash, Process, ReplyMode};
use gangline_core::{
    Epoch,
    agent::{self, AgentOptions, StartMode, Watermark, WhenBusy},
    answer::{self, Rules},
    redact::Redactor,
    trust::{self, Agents, People},
};
use gangline_irc::client::{Address, LinkConfig, Others};
use gangline_os::run_id::RunId;
use gangline_runtime::{Capabilities, Mode};

use crate::{
    identity::Identity, long_reminders, notes, own_secrets::OwnSecrets, settings::Settings, texts,
};

/// The unit of the reconnect wait (1, 2, 4 … 60 of it) on the installation's own server.
const OWN_BACKOFF_UNIT: Duration = Duration::from_millis(80);

/// Returns the network's name in keys: the installation for its own server, else the address.
pub(super) fn network_id(settings: &Settings, installation: &str) -> String {
    match &settings.irc.server {
        Address::Own(_) => installation.to_owned(),
        Address::Tcp(address) => address.clone(),
    }
}

pub(super) fn link_config(settings: &Settings, unasked: Option<&str>) -> LinkConfig {
    let mut config = LinkConfig::new(
        settings.irc.server.clone(),
        settings.agent.nick.nick(),
        settings.clock.clone(),
    );
    config.realname = texts::realname(&settings.backend.name, settings.agent.permissions, unasked);
    config.sasl.clone_from(&settings.irc.login);
    config.channels.clone_from(&settings.agent.channels);
    // Who reads an alert answers it where it is. The agent is ready without this room.
    let alerts = settings.alerts.channel.iter().filter(|it| !config.channels.contains(*it));
    config.channels.extend(alerts.cloned().collect::<Vec<_>>());
    // Answers to what the agent asks of the server.
    config.others = Others::Pass;
    if let Some(unit) = backoff_unit(&settings.irc.server) {
        config.timing.backoff_unit = unit;
    }
    config
}

/// The installation's own server is back soon after its hub: 0.08 … 5 s instead of 1 … 60 (C37).
fn backoff_unit(server: &Address) -> Option<Duration> {
    match server {
        Address::Own(_) => Some(OWN_BACKOFF_UNIT),
        Address::Tcp(_) => None,
    }
}

/// Returns what every process of this daemon carries.
pub(super) fn run_id(settings: &Settings, installation: &str, epoch: Epoch) -> RunId {
    RunId {
        installation: installation.to_owned(),
        agent: settings.agent.nick.to_string(),
        epoch: epoch.0,
    }
}

pub(super) fn redactor(settings: &Settings) -> Redactor {
    let mut own = OwnSecrets::of(&settings.paths.state);
    Redactor::named(settings.secrets.iter().cloned()).with_later(move || own.more())
}

/// Returns who the daemon works for.
pub(super) fn identity(settings: &Settings, epoch: Epoch) -> Identity {
    Identity {
        agent: settings.agent.nick.clone(),
        epoch,
        clock: settings.clock.clone(),
        redactor: Arc::new(redactor(settings)),
        everybody: settings.everybody.clone().into(),
    }
}

/// Returns the folder of the agent's long reminders (R2-28).
pub(super) fn reminders(settings: &Settings) -> PathBuf {
    long_reminders::folder(&settings.paths, &settings.agent.nick, settings.container.as_ref())
}

/// Returns the folder of the agent's notes (R2-12, C32).
pub(super) fn notes(settings: &Settings) -> PathBuf {
    settings.kept().join(notes::FOLDER)
}

/// The backend's own field that says whether it may shorten its context by itself (R2-07).
pub(super) const AUTO_COMPACT: &str = "auto_compact";

/// Returns what that field is; `None`: the backend's adapter knows best.
pub(super) fn auto_compact(config: &AgentConfig) -> Option<bool> {
    match config.compaction {
        Compaction::Harness => None,
        Compaction::Backend => Some(true),
        Compaction::Off => Some(false),
    }
}

/// Returns how full the context may become before something is done about it beforehand; `None`:
/// nothing is (R2-09, C13).
fn watermark(config: &AgentConfig, can: Capabilities) -> Option<Watermark> {
    let ours = match config.compaction {
        // What cannot shorten its context gets a new session with the checkpoint.
        Compaction::Harness => can.usage,
        Compaction::Backend | Compaction::Off => false,
    };
    let set = config.compact_watermark;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was checked")]
    let whole = |number: f64| number as u64;
    match ours && set > 0.0 {
        false => None,
        true if set <= 1.0 => Some(Watermark::Part { per_mille: whole((set * 1000.0).ceil()) }),
        true => Some(Watermark::Tokens(whole(set))),
    }
}

/// Returns when a large context is left behind.
fn cold_reset(config: &AgentConfig) -> Option<agent::ColdReset> {
    let ours = config.compaction == Compaction::Harness;
    let set = config.cold_reset.as_ref().filter(|_| ours)?;
    Some(agent::ColdReset { tokens: set.tokens, idle: Duration::from_secs(set.idle) })
}

/// Returns the settings of the answer rule.
pub(super) fn rules(agent: &AgentConfig) -> Rules {
    Rules {
        reply: match agent.reply {
            ReplyMode::RelayIfSilent => answer::ReplyMode::RelayIfSilent,
            ReplyMode::Relay => answer::ReplyMode::Relay,
            ReplyMode::Tools => answer::ReplyMode::Tools,
        },
        max_attempts: i64::from(agent.max_attempts),
    }
}

pub(super) fn agent_options(config: &AgentConfig, epoch: Epoch, can: Capabilities) -> AgentOptions {
    AgentOptions {
        epoch,
        rules: rules(config),
        start: StartMode::Eager,
        on_crash: match config.on_crash {
            OnCrash::Resume => agent::OnCrash::Resume,
            OnCrash::Fresh => agent::OnCrash::Fresh,
        },
        turn_output: turn_output(config.turn_timeout_seconds),
        watermark: watermark(config, can),
        cold_reset: cold_reset(config),
        compacts: config.compaction != Compaction::Off,
        first_words: config.initial_prompt.is_some(),
        when_busy: match config.mention_when_busy {
            MentionWhenBusy::Queue => WhenBusy::Queue,
            MentionWhenBusy::Buffer => WhenBusy::Buffer,
            MentionWhenBusy::Steer if can.steer => WhenBusy::Steer,
            MentionWhenBusy::Steer => WhenBusy::Queue,
        },
        ..AgentOptions::default()
    }
}

/// Longer than any daemon lives.
const NEVER: Duration = Duration::from_secs(100 * 366 * 86_400);

/// Returns the watchdog's time; 0 means no watchdog.
fn turn_output(seconds: f64) -> Duration {
    if seconds > 0.0 { Duration::try_from_secs_f64(seconds).unwrap_or(NEVER) } else { NEVER }
}

/// Returns what the backend can do, as the agent is configured.
pub(super) fn can(settings: &Settings) -> Capabilities {
    let backend = &settings.backend;
    let command = settings.command().or_else(|| backend.command.clone());
    let mut extra = backend.extra.clone();
    extra.extend(settings.agent.extra.clone());
    // A start tells what is wrong with the fields.
    (settings.make_runtime)().capabilities(command.as_deref(), &extra).unwrap_or_default()
}

/// Returns how the backend's program lives.
pub(super) fn mode(agent: &AgentConfig) -> Mode {
    match agent.process {
        Process::Resident => Mode::Resident,
        Process::PerTurn => Mode::PerTurn,
        Process::Tmux => Mode::Tmux,
    }
}

/// Returns who may do what to the agent.
pub(super) fn policy(settings: &Settings) -> trust::Policy {
    let usual = trust::Policy::default();
    match settings.owners_only.contains(&settings.agent.nick) {
        true => trust::Policy { prompt: People::Owners, agents: Agents::Never, ..usual },
        false => usual,
    }
}

#[cfg(test)]
mod tests {
    //! Who shortens a context, and when; how soon a lost connection is tried again.

    use gangline_config::Compaction;

    use super::*;

    /// C37, R1-47: only the installation's own server is asked more often than each second.
    #[test]
    fn the_wait_before_a_new_connection_is_shorter_to_the_own_server() {
        assert_eq!(backoff_unit(&Address::Own("/s/irc.sock".into())), Some(OWN_BACKOFF_UNIT));
        assert_eq!(60 * OWN_BACKOFF_UNIT, Duration::from_millis(4800));
        assert_eq!(backoff_unit(&Address::Tcp("irc.example.org:6667".into())), None);
        let link = LinkConfig::new(
            Address::Tcp("h:1".into()),
            "lab-ada".parse().unwrap(),
            gangline_os::clock::system(),
        );
        assert_eq!(link.timing.backoff_unit, Duration::from_secs(1));
    }

    /// R2-09, C13: the daemon only where a backend counts and can, by a part of the window or by a
    /// number; 0 is never.
    #[test]
    fn a_watermark_is_only_where_the_backend_counts_and_the_daemon_cares() {
        let can = Capabilities { usage: true, compact: true, ..Capabilities::default() };
        let config = |compaction, compact_watermark| AgentConfig {
            compaction,
            compact_watermark,
            ..AgentConfig::new("lab-ada".parse().unwrap(), "/w".into())
        };
        let part = |per_mille| Some(Watermark::Part { per_mille });
        let (ours, theirs) = (Compaction::Harness, Compaction::Backend);
        assert_eq!(watermark(&config(ours, 0.75), can), part(750));
        assert_eq!(watermark(&config(ours, 0.0001), can), part(1));
        assert_eq!(watermark(&config(ours, 1.0), can), part(1000));
        assert_eq!(watermark(&config(ours, 150_000.0), can), Some(Watermark::Tokens(150_000)));
        assert_eq!(watermark(&config(ours, 0.0), can), None);
        assert_eq!(watermark(&config(theirs, 0.75), can), None);
        assert_eq!(watermark(&config(Compaction::Off, 0.75), can), None);
        let blind = Capabilities { usage: false, ..can };
        assert_eq!(watermark(&config(ours, 0.75), blind), None);
        let cannot = Capabilities { compact: false, ..can };
        assert_eq!(watermark(&config(ours, 0.75), cannot), part(750), "it gets a new session");
        assert_eq!(auto_compact(&config(ours, 0.75)), None);
        assert_eq!(auto_compact(&config(theirs, 0.75)), Some(true));
        assert_eq!(auto_compact(&config(Compaction::Off, 0.75)), Some(false));
    }
}
