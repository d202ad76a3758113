//! AUTHENTICATE: SASL SCRAM-SHA-256 and PLAIN.

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        client::{Login, LoginStep},
        client_id::ClientId,
        login::{MAX_FAILURES, Proof},
        outgoing::Outgoing,
    },
    wire::{
        numeric as n,
        sasl::{self, SaslError},
        scram::{self, ScramError},
    },
};

/// The longest name that a mechanism of SASL may have.
const MECHANISM_MAX: usize = 20;

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(word) = call.word(0) else { return super::need_more(state, call) };
    let id = call.id;
    let Some(client) = state.client_mut(id) else { return };
    if client.account().is_some() {
        return state.numeric(id, n::ERR_SASLALREADY, &[], "You are already logged in");
    }
    let Some(login) = &mut client.sasl else { return begin(state, id, word) };
    if matches!(login.step, LoginStep::Rest) {
        return rest(state, id, word);
    }
    match login.answer.push(word) {
        Ok(None) => {}
        Ok(Some(bytes)) => {
            if let Some(login) = client.sasl.take() {
                proceed(state, id, login.step, &bytes);
            }
        }
        Err(error) => {
            // Its further chunks are no names of mechanisms.
            let more = error == SaslError::TooLong && word.len() >= sasl::CHUNK;
            let rest = || Login { answer: sasl::Answer::default(), step: LoginStep::Rest };
            client.sasl = more.then(rest);
            refuse(state, id, &error);
        }
    }
}

fn begin(state: &mut State, id: ClientId, mechanism: &str) {
    let step = match mechanism.to_ascii_uppercase().as_str() {
        "*" => return refuse(state, id, &SaslError::Aborted),
        "PLAIN" => LoginStep::Plain,
        scram::MECHANISM => LoginStep::ScramFirst,
        _ => {
            state.numeric(id, n::RPL_SASLMECHS, &[sasl::OFFERED], "are the mechanisms offered");
            return state.numeric(id, n::ERR_SASLFAIL, &[], "SASL authentication failed");
        }
    };
    next(state, id, step, "+".to_owned());
}

/// Passes over the chunks of a message that was refused as too long, up to its last one.
fn rest(state: &mut State, id: ClientId, word: &str) {
    if word.len() >= sasl::CHUNK {
        return;
    }
    let Some(client) = state.client_mut(id) else { return };
    client.sasl = None;
    // A client that has heard of the refusal may begin again without sending the rest.
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "-_".contains(c);
    if word == "*" || (word.len() <= MECHANISM_MAX && word.chars().all(is_name)) {
        begin(state, id, word);
    }
}

/// Waits for the client's next message, once it has this part of ours.
fn next(state: &mut State, id: ClientId, step: LoginStep, part: String) {
    if let Some(client) = state.client_mut(id) {
        client.sasl = Some(Login { answer: sasl::Answer::default(), step });
    }
    state.tell(id, Outgoing::authenticate(&part));
}

/// Waits for the client's next message, once it has this one of ours.
fn reply(state: &mut State, id: ClientId, step: LoginStep, message: &str) {
    let mut chunks = sasl::chunks(message.as_bytes());
    let last = chunks.pop().unwrap_or_else(|| "+".to_owned());
    for chunk in chunks {
        state.tell(id, Outgoing::authenticate(&chunk));
    }
    next(state, id, step, last);
}

fn refuse(state: &mut State, id: ClientId, error: &SaslError) {
    let (number, text) = match error {
        SaslError::TooLong => (n::ERR_SASLTOOLONG, "SASL message too long"),
        SaslError::Aborted => (n::ERR_SASLABORTED, "SASL authentication aborted"),
        SaslError::Malformed => (n::ERR_SASLFAIL, "SASL authentication failed"),
    };
    state.numeric(id, number, &[], text);
}

/// Takes a whole message of the client.
fn proceed(state: &mut State, id: ClientId, step: LoginStep, bytes: &[u8]) {
    match step {
        LoginStep::Plain => match sasl::read_plain(bytes) {
            Ok((account, password)) => {
                let proof = state.prove(id, &account, &password);
                tell(state, id, &proof);
            }
            Err(error) => refuse(state, id, &error),
        },
        LoginStep::ScramFirst => challenge(state, id, bytes),
        LoginStep::ScramProof { challenge, principal } => {
            // The pause may have begun after the challenge.
            if let Some(refused) = state.unlooked(id) {
                return tell(state, id, &refused);
            }
            match challenge.check(bytes) {
                Ok(message) => reply(state, id, LoginStep::ScramDone(principal), &message),
                Err(ScramError::Malformed) => refuse(state, id, &SaslError::Malformed),
                Err(ScramError::Wrong) => {
                    let proof = state.proved(id, None);
                    tell(state, id, &proof);
                }
            }
        }
        LoginStep::Rest => {}
        LoginStep::ScramDone(principal) => {
            let proof = state.proved(id, Some(principal));
            tell(state, id, &proof);
        }
    }
}

fn challenge(state: &mut State, id: ClientId, bytes: &[u8]) {
    let Ok(first) = scram::First::read(bytes) else {
        return refuse(state, id, &SaslError::Malformed);
    };
    if let Some(refused) = state.unlooked(id) {
        return tell(state, id, &refused);
    }
    let Some(client) = state.client_mut(id) else { return };
    let origin = client.origin;
    let Some((principal, keys)) = state.trust.scram(origin, first.account()) else {
        // Agents' accounts have none, and those that do not exist are no secret either.
        if let Some(client) = state.client_mut(id) {
            client.failures += 1;
        }
        let text = "SASL authentication failed: this account can only log in by PLAIN";
        return state.numeric(id, n::ERR_SASLFAIL, &[], text);
    };
    let nonce = gangline_os::secret::random_token();
    let challenge = Box::new(first.challenge(keys, nonce.expose()));
    let message = challenge.message().to_owned();
    reply(state, id, LoginStep::ScramProof { challenge, principal }, &message);
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
