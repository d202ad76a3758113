//! PASS: `account:password`, for clients without SASL; `owner:<token>` above all.

use crate::server::{call::Call, state::State};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(word) = call.word(0) else { return super::need_more(state, call) };
    let refusal = match word.split_once(':') {
        Some((account, password)) => state.prove(call.id, account, password).refusal(),
        // Who gives a password means to be somebody.
        None => Some("A password is ACCOUNT:PASSWORD here, as in owner:TOKEN".to_owned()),
    };
    if let Some(refusal) = refusal {
        state.numeric(call.id, n::ERR_PASSWDMISMATCH, &[], &refusal);
        state.doom(call.id, &refusal);
    }
}
