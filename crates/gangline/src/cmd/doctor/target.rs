//! A backend that can be tried by `--deep`.

use std::collections::BTreeMap;

use gangline_runtime::registry::{Found, dialect::Dialect};

/// A backend that can be tried.
#[derive(Debug)]
pub(super) struct Target {
    /// How it is called in what is shown.
    pub(super) name: String,
    /// What it is.
    pub(super) found: Found,
    /// How it has to be spoken to.
    pub(super) dialect: &'static Dialect,
    /// Its program and what stands before our own arguments; empty = it is a part of Gangline.
    pub(super) words: Vec<String>,
    /// What its program says; empty = nothing that looks like a version.
    pub(super) version: String,
    /// Fields by which it is told its model.
    pub(super) extra: BTreeMap<String, serde_json::Value>,
    /// What its agent's environment has besides.
    pub(super) env: BTreeMap<String, String>,
}
