//! HELP.

use super::{
    super::{reply, state::State},
    Call,
};

/// What is asked about if nothing is named.
const INDEX: &str = "index";

/// Shows what can be done here: the same text, whatever is asked about.
pub(super) fn run(state: &mut State, call: &Call) {
    let (id, subject) = (call.id, call.word(0).unwrap_or(INDEX).to_owned());
    let mut lines = state.config.help.clone().into_iter();
    let Some(first) = lines.next() else {
        return state.numeric(id, reply::ERR_HELPNOTFOUND, &[&subject], "There is no help here");
    };
    state.numeric(id, reply::RPL_HELPSTART, &[&subject], &first);
    for line in lines {
        state.numeric(id, reply::RPL_HELPTXT, &[&subject], &line);
    }
    state.numeric(id, reply::RPL_ENDOFHELP, &[&subject], "End of help");
}
