//! What is particular about each program, as data: nothing else in the adapter knows a name.
//!
//! One file a program in `recipes/`. A program without a recipe of its own runs by [`PLAIN`].

use std::{collections::BTreeMap, ffi::OsStr, path::Path};

use super::modes;
use crate::{
    McpServer, StartOptions,
    folder::{Brings, programs},
};

mod cline;
mod codex_acp;
mod copilot;
mod gemini;
mod hermes;
mod kiro;
mod opencode;
mod settings;

pub(super) use self::{
    cline::CLINE, codex_acp::CODEX_ACP, copilot::COPILOT, gemini::GEMINI, hermes::HERMES,
    kiro::KIRO, opencode::OPENCODE,
};

/// A program and its quirks.
pub(super) struct Recipe {
    /// The word in the configuration.
    pub(super) name: &'static str,
    /// It stands for any program.
    pub(super) any: bool,
    /// How it is started when the configuration does not say.
    pub(super) command: &'static [&'static str],
    /// What a human does to log in; told when the program names no way itself.
    pub(super) login: &'static str,
    /// What the token counts in the answer to a prompt mean.
    pub(super) counts: Counts,
    /// Beginnings of texts that are errors of the program, not words of the model.
    pub(super) errors: &'static [&'static str],
    /// Beginnings of texts that are remarks of the program, not words of the model.
    pub(super) remarks: &'static [&'static str],
    /// Choices of the session that must not be otherwise, or it asks nobody (C5).
    pub(super) guards: &'static [Guard],
    /// The modes of its sessions in which it asks, the best first, by their plain names (C5);
    /// empty: its modes have nothing to do with that.
    pub(super) asking: &'static [&'static str],
    /// What happens in the program when a call is refused.
    pub(super) refused: Refused,
    /// What happens in the program when a question is taken back.
    pub(super) withdrawn: Withdrawn,
    /// How it is offered tool servers.
    pub(super) servers: Servers,
    /// The command that shortens the context.
    pub(super) compact: Option<&'static str>,
    /// The program can list its sessions.
    pub(super) lists: bool,
    /// How it is told what stands before the conversation.
    pub(super) introduction: Introduction,
    /// How it names models of a provider whose address is given.
    pub(super) names: Names,
    /// What of its model it is told by the configuration.
    pub(super) takes: Takes,
    /// What it reads in its folder, and how that is left out; of any program, what is known of that.
    pub(super) brings: &'static Brings,
    /// Words of its error messages and what they mean, beyond those that all use.
    pub(super) words: &'static [(&'static str, Meaning)],
    /// Adds to its environment, arguments and files what the configuration says.
    pub(super) prepare: fn(&Wanted<'_>, &mut Given) -> Result<(), String>,
}

/// What the token counts in the answer to a prompt mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// It tells none.
    None,
    /// Those of this prompt.
    OfThePrompt,
    /// All since the process began.
    OfTheProcess,
    /// Those of this prompt, beside the answer instead of in it: `_meta.quota.token_count`.
    InTheQuota,
}

/// A choice of the session that must have this value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guard {
    /// Its id.
    pub(super) choice: &'static str,
    /// `None`: the truth value false.
    pub(super) must: Option<&'static str>,
}

/// What happens in the program when a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The model is told and goes on.
    ModelIsTold,
    /// The prompt ends, and the model never knows why: it is told by another prompt.
    PromptEnds,
}

/// What happens in the program when a question is taken back by an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Withdrawn {
    /// The session goes on.
    IsForgotten,
    /// The call stays in the session without a result, and the provider refuses every later prompt.
    SpoilsTheSession,
}

/// How a program is offered tool servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Servers {
    /// It takes servers over stdio.
    pub(super) stdio: bool,
    /// It takes servers over HTTP.
    pub(super) http: bool,
    /// Where they are written.
    pub(super) by: By,
}

/// Where tool servers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// In the request that opens the session.
    Session,
    /// In arguments or files, by the recipe.
    Recipe,
}

/// How a program is told what stands before the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Introduction {
    /// By the recipe.
    Recipe,
    /// In front of the first prompt of a session.
    FirstPrompt,
}

/// How a program names models of a provider whose address is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// With the provider in front.
    WithProvider,
    /// By themselves: there is one provider only.
    Plain,
}

/// What of its model a program is told by the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Takes {
    pub(super) base_url: bool,
    pub(super) key: bool,
}

impl Takes {
    pub(super) const NOTHING: Self = Self { base_url: false, key: false };
    pub(super) const KEY: Self = Self { base_url: false, key: true };
    pub(super) const BOTH: Self = Self { base_url: true, key: true };
}

/// What an error means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Login,
    Limit,
    Overflow,
    Request,
    Provider,
}

/// Tokens that a model's context holds where nobody says, and how many of them may be an answer.
const CONTEXT_WINDOW: u64 = 128_000;
const ANSWER: u64 = 8_000;

/// What a recipe reads.
pub(super) struct Wanted<'a> {
    pub(super) options: &'a StartOptions,
    /// All servers to offer, the daemon's among them.
    pub(super) servers: &'a [McpServer],
}

impl Wanted<'_> {
    /// Returns the key for the model as it is.
    pub(super) fn key(&self) -> Option<&str> {
        self.options.api_key.as_ref().map(|key| key.expose())
    }

    /// Returns how many tokens the model's context holds: `context_window` of the configuration,
    /// or what most models have at least. A program that knows none never shortens it.
    pub(super) fn context_window(&self) -> u64 {
        let told = self.options.extra.get("context_window").and_then(serde_json::Value::as_u64);
        told.unwrap_or(CONTEXT_WINDOW)
    }

    /// Returns the model as the program names it.
    pub(super) fn plain_model(&self) -> Option<&str> {
        let model = self.options.model.as_deref()?;
        Some(if self.options.base_url.is_some() { without_provider(model) } else { model })
    }
}

/// Returns the model's name without the provider in front of it (R0-65).
pub(super) fn without_provider(model: &str) -> &str {
    model.split_once('/').map_or(model, |(_, plain)| plain)
}

/// What a recipe gives to the program.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) env: BTreeMap<String, String>,
    pub(super) args: Vec<String>,
}

impl Given {
    /// Sets a variable unless the configuration has set it.
    pub(super) fn default(&mut self, name: &str, value: &str) {
        self.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.insert(name.to_owned(), value.into());
    }
}

/// The recipes of programs that may also be meant by a command alone.
const KNOWN: [&Recipe; 7] = [&OPENCODE, &CLINE, &COPILOT, &GEMINI, &KIRO, &CODEX_ACP, &HERMES];

impl Recipe {
    /// Returns the recipe for a command of the configuration: a program with a recipe of its own
    /// has its quirks however it was named there.
    pub(super) fn for_command(&'static self, command: Option<&[String]>) -> &'static Self {
        let usual = self.command.first().copied();
        let program = command.map_or(usual, |words| words.first().map(String::as_str));
        let name = program.and_then(|it| Path::new(it).file_name()).and_then(OsStr::to_str);
        let known = KNOWN.iter().find(|it| it.command.first().copied() == name);
        if self.any { known.copied().unwrap_or(self) } else { self }
    }

    /// Returns what the program reads in its folder: what is known of a program without a recipe is
    /// found by its name.
    pub(super) fn brings(&self, command: Option<&[String]>) -> &'static Brings {
        match command {
            Some(words) if self.any => programs::by_command(words),
            Some(_) | None => self.brings,
        }
    }
}

/// Any program of which nothing particular is known (R0-63).
pub(super) static PLAIN: Recipe = UNKNOWN;

/// What other recipes say where they have nothing of their own to say.
const UNKNOWN: Recipe = Recipe {
    name: "acp",
    any: true,
    // R0-63: what the configuration has where it says nothing.
    command: &["opencode", "acp"],
    login: "log in with the program's own command, as the agent's user",
    counts: Counts::OfThePrompt,
    errors: &[],
    remarks: &[],
    guards: &[],
    asking: modes::ASKING,
    refused: Refused::ModelIsTold,
    withdrawn: Withdrawn::IsForgotten,
    servers: Servers { stdio: true, http: true, by: By::Session },
    compact: None,
    lists: true,
    introduction: Introduction::FirstPrompt,
    names: Names::WithProvider,
    takes: Takes::NOTHING,
    brings: &programs::NOTHING,
    words: &[],
    prepare: |_, _| Ok(()),
};

/// What error messages of all programs mean, by words in them. The first that is found counts.
pub(super) const WORDS: &[(&str, Meaning)] = &[
    ("context length", Meaning::Overflow),
    ("context window", Meaning::Overflow),
    ("contextoverflow", Meaning::Overflow),
    ("prompt is too long", Meaning::Overflow),
    ("http 401", Meaning::Login),
    ("http 403", Meaning::Login),
    ("authentication", Meaning::Login),
    ("unauthorized", Meaning::Login),
    ("providerautherror", Meaning::Login),
    ("api key", Meaning::Login),
    ("not logged in", Meaning::Login),
    ("http 429", Meaning::Limit),
    ("rate limit", Meaning::Limit),
    ("rate_limit", Meaning::Limit),
    ("too many requests", Meaning::Limit),
    ("http 404", Meaning::Request),
    ("http 400", Meaning::Request),
    ("model not found", Meaning::Request),
    ("apierror", Meaning::Provider),
    ("http 5", Meaning::Provider),
    ("overloaded", Meaning::Provider),
    ("econnrefused", Meaning::Provider),
];
