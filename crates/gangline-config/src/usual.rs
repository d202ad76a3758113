//! What an agent has that its configuration does not say.

use gangline_core::{ChannelName, cause};

use super::{
    Compaction, DEFAULT_ALLOWED_TOOLS, MentionWhenBusy, OnCrash, Permissions, Process, Progress,
    ReplyMode,
};

pub(super) fn channels() -> Vec<ChannelName> {
    "#general".parse().into_iter().collect()
}

pub(super) fn acp_command() -> Vec<String> {
    vec!["opencode".into(), "acp".into()]
}

pub(super) fn turn_timeout() -> f64 {
    600.0
}

pub(super) fn permissions() -> Permissions {
    Permissions::Ask
}

pub(super) fn allowed_tools() -> Vec<String> {
    DEFAULT_ALLOWED_TOOLS.map(String::from).to_vec()
}

pub(super) fn reply() -> ReplyMode {
    ReplyMode::RelayIfSilent
}

pub(super) fn progress() -> Progress {
    Progress::Quiet
}

pub(super) fn busy() -> MentionWhenBusy {
    MentionWhenBusy::Queue
}

pub(super) fn on_crash() -> OnCrash {
    OnCrash::Resume
}

pub(super) fn compaction() -> Compaction {
    Compaction::Harness
}

pub(super) fn watermark() -> f64 {
    0.75
}

pub(super) fn max_attempts() -> u32 {
    5
}

pub(super) fn turns_per_cause() -> u32 {
    u32::try_from(cause::TURNS_PER_CAUSE).unwrap_or(u32::MAX)
}

pub(super) fn process() -> Process {
    Process::Resident
}

pub(super) fn pronouns() -> String {
    "she/her".into()
}

pub(super) fn enabled() -> bool {
    true
}
