//! How an agent is watched: the settings of its supervisor, read at the rim.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use gangline_core::watch::{Limits, prompt};
use gangline_os::secret::Secret;
use gangline_runtime::{Capabilities, Runtime, registry::Found};

/// How an agent is watched.
#[derive(Default)]
pub struct Watching {
    /// How closely.
    pub limits: Limits,
    /// By whom.
    pub by: Watcher,
}

/// Who watches.
#[derive(Default)]
pub enum Watcher {
    /// Nobody.
    Off,
    /// Rules, which ask no model.
    #[default]
    Rules,
    /// Rules, since the model that was asked for cannot be used.
    Unusable {
        /// The backend's name.
        agent: String,
        /// Why not.
        why: String,
    },
    /// Rules and a model.
    Model(Box<Judge>),
}

/// The model that watches: a session of a backend, of its own (R0-33, R0-34).
pub struct Judge {
    /// The backend.
    pub backend: Found,
    /// Makes an adapter for it.
    pub make_runtime: Arc<dyn Fn() -> Box<dyn Runtime> + Send + Sync>,
    /// The environment of its program, before the daemon adds its own variables.
    pub env: BTreeMap<String, String>,
    /// Its program with arguments, if another than the backend's usual one.
    pub command: Option<Vec<String>>,
    /// The folder of its login, if not the user's.
    pub account_dir: Option<PathBuf>,
    /// Where its model is served.
    pub base_url: Option<String>,
    /// The key for that model.
    pub api_key: Option<Secret>,
    /// Its model; `None` = the backend's own.
    pub model: Option<String>,
    /// How much it thinks.
    pub thinking: String,
    /// What it is told to do; `None` = [`prompt::DEFAULT`].
    pub prompt: Option<String>,
}

impl Judge {
    /// Returns what it is told to do.
    pub(crate) fn prompt(&self) -> &str {
        self.prompt.as_deref().unwrap_or(prompt::DEFAULT)
    }

    /// Returns why a backend that can do this is of no use as a supervisor (R0-66).
    #[must_use]
    pub fn unfit(can: Capabilities) -> Option<&'static str> {
        match () {
            () if can.bare => Some("it takes commands, not prose"),
            () if !can.structured => Some("what its model says cannot be told from its screen"),
            () => None,
        }
    }
}
