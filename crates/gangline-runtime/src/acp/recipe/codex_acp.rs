//! Codex behind its bridge to the protocol: errors of its provider come as words of the model.

use super::{Meaning, Recipe, UNKNOWN};
use crate::folder::programs;

pub(in super::super) static CODEX_ACP: Recipe = Recipe {
    name: "codex-acp",
    any: false,
    command: &["codex-acp"],
    login: "run `codex login` as the agent's user",
    errors: &[
        "exceeded retry limit, last status:",
        "unexpected status ",
        "stream disconnected before",
    ],
    remarks: &["Warning: Model metadata for "],
    words: &[
        ("status: 401", Meaning::Login),
        ("status 401", Meaning::Login),
        ("status: 429", Meaning::Limit),
        ("status 429", Meaning::Limit),
        ("status 400", Meaning::Request),
        ("status 404", Meaning::Request),
    ],
    brings: &programs::CODEX_ACP,
    ..UNKNOWN
};
