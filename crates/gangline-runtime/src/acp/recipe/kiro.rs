//! Kiro: logged in by its own command, or by a key; its models are its vendor's.

use super::{
    By, Counts, Given, Introduction, Names, Recipe, Refused, Servers, Takes, Wanted, Withdrawn,
};
use crate::folder::programs;

pub(in super::super) static KIRO: Recipe = Recipe {
    name: "kiro",
    any: false,
    command: &["kiro-cli", "acp"],
    login: "run `kiro-cli login` as the agent's user",
    counts: Counts::None,
    errors: &[],
    remarks: &[],
    guards: &[],
    asking: &[],
    refused: Refused::ModelIsTold,
    withdrawn: Withdrawn::IsForgotten,
    servers: Servers { stdio: true, http: false, by: By::Session },
    compact: None,
    lists: false,
    introduction: Introduction::FirstPrompt,
    names: Names::Plain,
    takes: Takes::KEY,
    brings: &programs::KIRO,
    words: &[],
    prepare,
};

fn prepare(wanted: &Wanted<'_>, given: &mut Given) -> Result<(), String> {
    if wanted.options.base_url.is_some() {
        return Err("kiro takes no address of a model: leave out `base_url`".to_owned());
    }
    if let Some(key) = wanted.key() {
        given.set("KIRO_API_KEY", key);
    }
    Ok(())
}
