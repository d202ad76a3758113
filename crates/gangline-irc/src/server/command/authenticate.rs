//! AUTHENTICATE: SASL PLAIN.

use super::{super::state::State, Call};
use crate::{
    server::{
        client::ClientId,
        outgoing::Outgoing,
        registration::{MAX_FAILURES, Proof},
    },
    wire::{
        numeric as n,
        sasl::{self, Answer, SaslError},
    },
};

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(word) = call.word(0) else { return super::need_more(state, call) };
    let id = call.id;
    let Some(client) = state.client_mut(id) else { return };
    if client.account().is_some() {
        return state.numeric(id, n::ERR_SASLALREADY, &[], "You are already logged in");
    }
    let Some(answer) = &mut client.sasl else { return begin(state, id, word) };
    match answer.push(word) {
        Ok(None) => {}
        Ok(Some(bytes)) => {
            client.sasl = None;
            verify(state, id, &bytes);
        }
        Err(error) => {
            client.sasl = None;
            refuse(state, id, &error);
        }
    }
}

fn begin(state: &mut State, id: ClientId, mechanism: &str) {
    if mechanism == "*" {
        return refuse(state, id, &SaslError::Aborted);
    }
    if !mechanism.eq_ignore_ascii_case("PLAIN") {
        state.numeric(id, n::RPL_SASLMECHS, &["PLAIN"], "are the mechanisms offered");
        return state.numeric(id, n::ERR_SASLFAIL, &[], "SASL authentication failed");
    }
    if let Some(client) = state.client_mut(id) {
        client.sasl = Some(Answer::default());
    }
    state.tell(id, Outgoing::new("-", "AUTHENTICATE", &["+"], None).unsourced());
}

fn refuse(state: &mut State, id: ClientId, error: &SaslError) {
    let (number, text) = match error {
        SaslError::TooLong => (n::ERR_SASLTOOLONG, "SASL message too long"),
        SaslError::Aborted => (n::ERR_SASLABORTED, "SASL authentication aborted"),
        SaslError::Malformed => (n::ERR_SASLFAIL, "SASL authentication failed"),
    };
    state.numeric(id, number, &[], text);
}

fn verify(state: &mut State, id: ClientId, bytes: &[u8]) {
    let Ok((account, password)) = sasl::read_plain(bytes) else {
        return refuse(state, id, &SaslError::Malformed);
    };
    let proof = state.prove(id, &account, &password);
    tell(state, id, &proof);
}

/// Ends an exchange.
fn tell(state: &mut State, id: ClientId, proof: &Proof) {
    let Some(refusal) = proof.refusal() else {
        return state.numeric(id, n::RPL_SASLSUCCESS, &[], "SASL authentication successful");
    };
    state.numeric(id, n::ERR_SASLFAIL, &[], &format!("SASL authentication failed: {refusal}"));
    if state.client(id).is_some_and(|client| client.failures >= MAX_FAILURES) {
        state.doom(id, "Too many wrong credentials");
    }
}
