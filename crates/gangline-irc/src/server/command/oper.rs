//! OPER: the owner's password makes a session an operator of the server.

use gangline_core::Tier;

use crate::server::{call::Call, login::Proof, outgoing::Outgoing, state::State};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let (Some(name), Some(password)) = (call.word(0), call.word(1)) else {
        return super::need_more(state, call);
    };
    let id = call.id;
    match state.check(id, name, password) {
        Ok(principal) if principal.tier == Tier::Owner => rise(state, call),
        Ok(_) => {
            let text = "Only the owner becomes an operator of the server";
            state.numeric(id, n::ERR_NOOPERHOST, &[], text);
        }
        Err(proof) => {
            let text = match proof {
                Proof::TooSoon { .. } | Proof::Agents(_) | Proof::Unknown => {
                    proof.refusal().unwrap_or_default()
                }
                Proof::Right | Proof::Wrong => {
                    "Password incorrect: /oper takes the owner's account and token".to_owned()
                }
            };
            state.numeric(id, n::ERR_PASSWDMISMATCH, &[], &text);
        }
    }
}

fn rise(state: &mut State, call: &Call) {
    let id = call.id;
    let Some(client) = state.client_mut(id) else { return };
    let was = std::mem::replace(&mut client.oper, true);
    let (nick, source) = (client.name().to_owned(), client.source());
    state.numeric(id, n::RPL_YOUREOPER, &[], "You are now an operator of this server");
    if !was {
        state.tell(id, Outgoing::new(&source, "MODE", &[&nick, "+o"], None));
    }
}
