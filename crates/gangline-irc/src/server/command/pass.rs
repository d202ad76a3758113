//! PASS: `account:password`, for clients without SASL; `owner:<token>` above all.

use super::{super::state::State, Call};
use crate::{
    server::registration::{MAX_FAILURES, Proof},
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(word) = call.word(0) else { return super::need_more(state, call) };
    let proof = match word.split_once(':') {
        Some((account, password)) => state.prove(call.id, account, password),
        // A password without an account is the habit of some clients; it proves nothing.
        None => return,
    };
    if let Proof::Wrong { failures } = proof {
        state.numeric(call.id, n::ERR_PASSWDMISMATCH, &[], "Password incorrect");
        if failures >= MAX_FAILURES {
            state.doom(call.id, "Too many wrong credentials");
        }
    }
}
