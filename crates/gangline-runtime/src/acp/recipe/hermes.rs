//! Hermes Agent: errors of its provider come as words of the model.

use super::{Recipe, UNKNOWN};

pub(in super::super) static HERMES: Recipe = Recipe {
    name: "hermes",
    any: false,
    command: &["hermes-acp"],
    errors: &["HTTP 4", "HTTP 5", "API call failed after "],
    ..UNKNOWN
};
