//! The part of `cargo metadata` that the checks read. Start at [`Metadata::load`].

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell;

/// The workspace and every package it builds with.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    #[serde(default)]
    pub(crate) workspace_members: Vec<String>,
    #[serde(default)]
    pub(crate) target_directory: PathBuf,
    #[serde(default)]
    pub(crate) workspace_root: PathBuf,
}

/// One package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    #[serde(default)]
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a package's dependency tables.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Nothing for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Asks cargo. Needs `Cargo.lock` to be in step with the manifests.
    pub(crate) fn load() -> Result<Self> {
        let text = shell::read(shell::cargo().args(["metadata", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("cannot read the answer of cargo metadata")
    }

    /// The packages of this workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}
