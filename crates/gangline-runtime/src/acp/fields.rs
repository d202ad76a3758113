//! Fields of the configuration that are this adapter's own: `tools` and `model_env`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::recipe::Given;
use crate::StartOptions;

/// How a program is offered the daemon's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tools {
    /// By HTTP where it takes that, else over stdio.
    #[default]
    AsItCan,
    /// By HTTP only.
    Http,
    /// Over stdio only.
    Stdio,
    /// Not at all: for a program that falls over them.
    None,
}

/// The variables by which a program is told where its model is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ModelEnv {
    /// The one for the address.
    pub(super) base_url: Option<String>,
    /// The one for the key.
    pub(super) key: Option<String>,
    /// The one for the model's name.
    pub(super) model: Option<String>,
}

impl ModelEnv {
    /// Tells the program where its model is, by these variables. The agent's own `env` wins.
    pub(super) fn give(&self, options: &StartOptions, given: &mut Given) {
        let key = options.api_key.as_ref().map(|key| key.expose());
        for (name, value) in [
            (&self.base_url, options.base_url.as_deref()),
            (&self.key, key),
            (&self.model, options.model.as_deref()),
        ] {
            if let (Some(name), Some(value)) = (name, value) {
                given.default(name, value);
            }
        }
    }
}

/// The adapter's own fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Fields {
    pub(super) tools: Tools,
    pub(super) model_env: ModelEnv,
}

impl Fields {
    /// Reads them out of what the configuration passes through.
    ///
    /// # Errors
    /// One line that names the field and what it may be.
    pub(super) fn of(extra: &BTreeMap<String, Value>) -> Result<Self, String> {
        let tools = match extra.get("tools") {
            None => Tools::AsItCan,
            Some(value) => match value.as_str() {
                Some("http") => Tools::Http,
                Some("stdio") => Tools::Stdio,
                Some("none") => Tools::None,
                _ => return Err(format!("`tools` must be http, stdio or none, not {value}")),
            },
        };
        let model_env = match extra.get("model_env") {
            None => ModelEnv::default(),
            Some(value) => ModelEnv::deserialize(value).map_err(|error| {
                format!(
                    "`model_env` names variables, such as `model_env: {{base_url: OPENAI_BASE_URL, \
                     key: OPENAI_API_KEY}}`: {error}"
                )
            })?,
        };
        let named = [&model_env.base_url, &model_env.key, &model_env.model];
        if named.into_iter().flatten().all(|name| is_variable(name)) {
            return Ok(Self { tools, model_env });
        }
        // Not quoted: somebody may have written the secret itself.
        Err("`model_env` must name environment variables, such as OPENAI_API_KEY; the values do \
             not belong here"
            .to_owned())
    }
}

fn is_variable(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests;
