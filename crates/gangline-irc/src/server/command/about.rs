//! ADMIN, INFO, STATS, LINKS: what there is to say about this server.

use gangline_os::clock::rfc3339;

use crate::server::{call::Call, state::State};
use crate::wire::numeric as n;

pub(super) fn admin(state: &mut State, call: &Call) {
    let (id, name) = (call.id, state.config.name.clone());
    state.numeric(id, n::RPL_ADMINME, &[&name], "Administrative info");
    state.numeric(id, n::RPL_ADMINLOC1, &[], "The chat server of Gangline on this machine");
    let text = "It is run by the user who started Gangline; their account here is `owner`";
    state.numeric(id, n::RPL_ADMINLOC2, &[], text);
    state.numeric(id, n::RPL_ADMINEMAIL, &[], "To write to them: /msg owner");
}

pub(super) fn info(state: &mut State, call: &Call) {
    let id = call.id;
    let (version, started) = (state.config.version.clone(), rfc3339(state.started_at));
    for line in [
        format!("{version}, Gangline's embedded chat server"),
        format!("Up since {started}"),
        "A line is stored before it is shown; CHATHISTORY and playback show what was missed".into(),
    ] {
        state.numeric(id, n::RPL_INFO, &[], &line);
    }
    state.numeric(id, n::RPL_ENDOFINFO, &[], "End of INFO");
}

/// Only `u` has an answer: for how long the server has been up.
pub(super) fn stats(state: &mut State, call: &Call) {
    let id = call.id;
    let letter: String = call.word(0).and_then(|word| word.chars().next()).unwrap_or('*').into();
    if letter == "u" {
        let up = (state.now().0 - state.started_at.0).max(0) / 1_000_000;
        let (days, hours, minutes, seconds) = (up / 86_400, up / 3_600 % 24, up / 60 % 60, up % 60);
        let text = format!("Server Up {days} days {hours}:{minutes:02}:{seconds:02}");
        state.numeric(id, n::RPL_STATSUPTIME, &[], &text);
    }
    state.numeric(id, n::RPL_ENDOFSTATS, &[&letter], "End of STATS report");
}

/// It is linked to no other server.
pub(super) fn links(state: &mut State, call: &Call) {
    state.numeric(call.id, n::RPL_ENDOFLINKS, &["*"], "End of LINKS: this server stands alone");
}
