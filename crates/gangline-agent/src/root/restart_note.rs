//! The message that tells an agent of its daemon's start (R2-14, C48).

use gangline_config::RestartNote;
use gangline_core::agent::Needs;
use gangline_store::{EpochStart, Store};

use super::read;
use crate::{agent_loop::StartTold, settings::Settings, texts};

/// Stores the message, if there is to be one, and returns what tells of the start. A turn that was cut off
/// is a reason to start one. An agent's very first start is told only where every start wakes it: there
/// is nothing to go on with.
pub(super) async fn leave(
    settings: &Settings,
    store: &Store,
    (started, recovered): (&EpochStart, usize),
) -> StartTold {
    let agent = &settings.agent;
    let first = started.epoch.0 <= 1;
    // A program that takes commands would take it for one.
    let bare = read::can(settings).bare;
    let needs = match agent.restart_note() {
        RestartNote::Off => None,
        RestartNote::Wake => Some(Needs::AnyTurn),
        RestartNote::Inbox if first => None,
        RestartNote::Inbox if recovered > 0 => Some(Needs::AnyTurn),
        RestartNote::Inbox => Some(Needs::OtherMessage),
    };
    let needs = needs.filter(|_| !bare);
    let resumes = started.session.is_some();
    let text = needs.map(|_| {
        let notes = read::notes(settings).display().to_string();
        let directory = agent.directory.display().to_string();
        read::redactor(settings).redact(&texts::restarted((&notes, &directory), resumes))
    });
    if let Err(error) = store.note_restart(&agent.nick, started.epoch, text).await {
        // The line of the next prompt tells of it then.
        tracing::warn!(%error, "cannot store that the daemon has started");
        return StartTold::ByLine;
    }
    match needs {
        Some(needs) => StartTold::ByMessage { needs, resumes },
        None if agent.restart_note() == RestartNote::Off => StartTold::Never,
        None => StartTold::ByLine,
    }
}
