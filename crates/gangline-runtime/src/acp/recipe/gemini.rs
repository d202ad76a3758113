//! Gemini CLI: variables name its provider; its login has to be chosen in the user's settings.

use super::{
    By, Counts, Given, Introduction, Meaning, Names, Recipe, Refused, Servers, Takes, Wanted,
    Withdrawn,
};
use crate::folder::programs;

pub(in super::super) static GEMINI: Recipe = Recipe {
    name: "gemini",
    any: false,
    command: &["gemini", "--acp"],
    login: "run `gemini` once as the agent's user and choose how to log in",
    counts: Counts::InTheQuota,
    errors: &[],
    remarks: &[],
    guards: &[],
    asking: &["default"],
    refused: Refused::ModelIsTold,
    withdrawn: Withdrawn::SpoilsTheSession,
    servers: Servers { stdio: true, http: true, by: By::Session },
    compact: None,
    lists: false,
    introduction: Introduction::FirstPrompt,
    names: Names::Plain,
    takes: Takes::BOTH,
    brings: &programs::GEMINI,
    words: &[("token count", Meaning::Overflow)],
    prepare,
};

fn prepare(wanted: &Wanted<'_>, given: &mut Given) -> Result<(), String> {
    if let Some(url) = &wanted.options.base_url {
        given.set("GOOGLE_GEMINI_BASE_URL", url);
    }
    if let Some(key) = wanted.key() {
        given.set("GEMINI_API_KEY", key);
    }
    if let Some(model) = wanted.plain_model() {
        given.set("GEMINI_MODEL", model);
    }
    Ok(())
}
