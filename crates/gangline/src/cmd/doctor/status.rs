//! What keeps an agent from answering, as its daemon or the hub has said: it is parked, it waits for
//! a login, or its daemon is not started again.

use gangline_api::status::StatusNote;
use gangline_core::AgentName;
use gangline_hub::about::StandingWord;
use gangline_os::paths::Paths;
use gangline_store::AgentRow;

use super::{hub::Hub, report::Check};
use crate::{fleet, show::text::one_line};

const NAME: &str = "status";

/// What is known of an agent's daemon.
pub(super) struct DaemonStatus<'a> {
    pub(super) row: &'a AgentRow,
    pub(super) note: &'a StatusNote,
}

/// Returns what keeps the agent from answering, and what to do; none if nothing is known.
pub(super) fn check(
    nick: &AgentName,
    told: Option<&DaemonStatus<'_>>,
    (paths, hub): (&Paths, &Hub),
) -> Option<Check> {
    let kept = hub.standing(nick);
    if kept == Some(StandingWord::Stopped) {
        return None;
    }
    if kept == Some(StandingWord::GivenUp) {
        let why = fleet::cause::of(paths, nick, hub.pid());
        let why = why.unwrap_or_else(|| "its daemon ended".to_owned());
        let text = format!("failed, and is not started again: {}", one_line(&why));
        return Some(
            Check::fail(NAME, text).remedy(format!("fix that, then run `gangline start {nick}`")),
        );
    }
    let DaemonStatus { row, note } = told?;
    let runs = fleet::holder(paths, nick).is_ok_and(|holder| holder.is_some());
    if row.is_parked() {
        let why = note.parked.as_deref().unwrap_or("its backend died too often");
        let check = Check::fail(NAME, format!("parked: {}", one_line(why)))
            .remedy(format!("fix that, then `gangline resume {nick}`"));
        return Some(match &note.configured_runtime {
            Some(name) => check.remedy(format!(
                "or `gangline restart {nick} --runtime {name}` goes back to the configured backend"
            )),
            None => check,
        });
    }
    let hint = note.needs_login.as_deref().filter(|_| runs)?;
    Some(Check::fail(NAME, format!("needs a login: {}", one_line(hint))).remedy(format!(
        "log in, then run `gangline resume {nick}`; its messages are stored \
                 until then"
    )))
}
