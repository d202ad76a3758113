//! WHOWAS: who had a nick before.

use gangline_core::name::fold;
use gangline_os::clock::rfc3339;

use crate::server::{call::Call, past::Was, state::State};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(nick) = call.word(0).map(str::to_owned) else {
        return state.numeric(call.id, n::ERR_NONICKNAMEGIVEN, &[], "No nickname given");
    };
    let id = call.id;
    let most = call.word(1).and_then(|count| count.parse::<usize>().ok());
    let most = most.filter(|count| *count > 0).unwrap_or(usize::MAX);
    let name = state.config.name.clone();
    let found: Vec<Was> = state.past.of(&fold(&nick)).take(most).cloned().collect();
    if found.is_empty() {
        state.numeric(id, n::ERR_WASNOSUCHNICK, &[&nick], "There was no such nickname");
    }
    for Was { nick, user, host, realname, at } in found {
        state.numeric(id, n::RPL_WHOWASUSER, &[&nick, &user, &host, "*"], &realname);
        let text = format!("until {}", rfc3339(at));
        state.numeric(id, n::RPL_WHOISSERVER, &[&nick, &name], &text);
    }
    state.numeric(id, n::RPL_ENDOFWHOWAS, &[&nick], "End of WHOWAS");
}
