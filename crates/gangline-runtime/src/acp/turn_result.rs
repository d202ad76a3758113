//! How a turn ended, from the answer to its prompt and what was seen before it.
//!
//! `end_turn` is not success: some programs end a prompt so whatever happened.

use super::{
    recipe::{Meaning, Recipe, WORDS},
    wire::{AUTH_REQUIRED, Refusal},
};
pub(super) use crate::program::one_line;
use crate::{FailureKind, TurnResult};

/// What was seen before the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// We asked for the end.
    pub(super) asked: bool,
    /// The model said something, or wanted a tool.
    pub(super) busy: bool,
    /// Words were the last that it did.
    pub(super) spoke: bool,
    /// An error of the program that came as a text, as its last.
    pub(super) error: Option<String>,
    /// What a human does to log in.
    pub(super) login: String,
}

/// Returns how the turn ended; `outcome` is the reason that the program gives, or its refusal.
pub(super) fn of(recipe: &Recipe, outcome: Result<&str, &Refusal>, signs: &Signs) -> TurnResult {
    let failed = |kind, why: &str| TurnResult::Failed { kind, why: why.to_owned() };
    let reason = match outcome {
        Err(_) if signs.asked => return TurnResult::Interrupted,
        Err(refusal) => return of_refusal(recipe, refusal, &signs.login),
        Ok("cancelled") if signs.asked => return TurnResult::Interrupted,
        Ok(reason) => reason,
    };
    if let Some(error) = &signs.error {
        return of_text(recipe, error, &signs.login);
    }
    match reason {
        "cancelled" => failed(FailureKind::Other, "the program ended the turn unasked"),
        "refusal" => failed(FailureKind::Request, "the model refuses to continue"),
        "max_turn_requests" => {
            failed(FailureKind::Other, "the program ended the turn after too many model calls")
        }
        // OpenCode calls it the turn's end when a question is withdrawn. What was said last stands:
        // the model may have been done before it heard of us.
        _ if signs.asked && !signs.spoke => TurnResult::Interrupted,
        _ if signs.busy => TurnResult::Completed,
        _ => failed(
            FailureKind::Other,
            "the program says that it is done, but said and did nothing; it hides why: look at \
             the provider",
        ),
    }
}

fn of_refusal(recipe: &Recipe, refusal: &Refusal, login: &str) -> TurnResult {
    let why = one_line(&refusal.words());
    let all = format!("{} {}", refusal.message, refusal.data);
    match refusal.code {
        AUTH_REQUIRED | 401 | 403 => TurnResult::NeedsLogin { hint: hint_in_turn(&why, login) },
        429 => TurnResult::RateLimited { retry_after: None },
        500..=599 => TurnResult::Failed { kind: FailureKind::Provider, why },
        400..=499 => match meaning(recipe, &all) {
            Some(meaning) => result_of(meaning, why, login),
            None => TurnResult::Failed { kind: FailureKind::Request, why },
        },
        _ => match meaning(recipe, &all) {
            Some(meaning) => result_of(meaning, why, login),
            // Its own trouble and its provider's look the same in most programs.
            None => TurnResult::Failed { kind: FailureKind::Provider, why },
        },
    }
}

/// Returns what an error that came as a text means.
fn of_text(recipe: &Recipe, text: &str, login: &str) -> TurnResult {
    let why = one_line(text);
    match meaning(recipe, text) {
        Some(meaning) => result_of(meaning, why, login),
        None => TurnResult::Failed { kind: FailureKind::Provider, why },
    }
}

fn meaning(recipe: &Recipe, text: &str) -> Option<Meaning> {
    let text = text.to_lowercase();
    let mut words = recipe.words.iter().chain(WORDS);
    words.find(|(word, _)| text.contains(word)).map(|(_, meaning)| *meaning)
}

fn result_of(meaning: Meaning, why: String, login: &str) -> TurnResult {
    let kind = match meaning {
        Meaning::Login => return TurnResult::NeedsLogin { hint: hint_in_turn(&why, login) },
        Meaning::Limit => return TurnResult::RateLimited { retry_after: None },
        Meaning::Overflow => FailureKind::ContextOverflow,
        Meaning::Request => FailureKind::Request,
        Meaning::Provider => FailureKind::Provider,
    };
    TurnResult::Failed { kind, why }
}

/// Returns what a human is told who has to log in.
pub(super) fn hint(why: &str, login: &str) -> String {
    let why = why.trim_end_matches(['.', ' ']);
    format!("{why}. To log in: {login}; or give the agent a valid key")
}

/// The same of a session that is open: nothing in it tells when somebody has logged in.
fn hint_in_turn(why: &str, login: &str) -> String {
    format!("{}; then `gangline resume NICK`", hint(why, login))
}

#[cfg(test)]
mod tests;
