//! What an owner has allowed of a folder of Claude Code, from Gangline's copy: settings, servers, and what
//! is loaded as a plugin (skills, agents, commands).
//!
//! Not even then does a repository say which calls run unasked, or where requests to the model go: that
//! is the configuration's alone.

use std::path::{Path, PathBuf};

use gangline_core::shown;
use gangline_os::fsio;
use serde_json::{Map, Value, json};

use super::{Brought, Copied, Kind, respelled};

/// The settings that are taken over; of `permissions` and `env` a part.
const KEYS: [&str; 10] = [
    "apiKeyHelper",
    "attribution",
    "awsAuthRefresh",
    "awsCredentialExport",
    "env",
    "gcpAuthRefresh",
    "hooks",
    "includeCoAuthoredBy",
    "permissions",
    "statusLine",
];
/// The rules of permission that are taken over: those that allow less.
const RULES: [&str; 2] = ["ask", "deny"];
/// Variables that are not taken over begin so: they move requests, keys or the program itself.
const PREFIXES: [&str; 11] = [
    "ANTHROPIC_",
    "AWS_",
    "CLAUDE",
    "CULTURE_",
    "DISABLE_",
    "DYLD_",
    "GANGLINE_",
    "LD_",
    "NODE_",
    "OTEL_",
    "SSL_",
];
/// Or have this in their name.
const PARTS: [&str; 3] = ["BASE_URL", "PROXY", "API_KEY"];
/// What no server of a repository is told: it is expanded where servers are configured.
const KEPT: [&str; 4] = ["ANTHROPIC_", "CLAUDE_CODE_OAUTH", "GANGLINE_", "CULTURE_"];
/// Folders of a plugin, in `.claude`.
const OF_PLUGIN: [&str; 5] = [
    ".claude/skills/",
    ".claude/agents/",
    ".claude/commands/",
    ".claude/workflows/",
    ".claude/output-styles/",
];

/// What is loaded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Project {
    pub(crate) settings: Map<String, Value>,
    pub(crate) servers: Map<String, Value>,
    /// Folders that are loaded as plugins.
    pub(crate) plugins: Vec<PathBuf>,
    /// What is left out even so, for people.
    pub(crate) left_out: Vec<String>,
}

impl Project {
    /// Reads the copy for a program that works in this folder.
    pub(crate) fn of(copied: &Copied, folder: &Path) -> Result<Self, String> {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let mut project = Self::default();
        for file in &copied.files {
            let Some(text) = file.text() else { continue };
            match file.kind {
                Kind::Settings => project.settings(file, &json_of(file, text)?),
                // The nearer one counts: files come from the working folder upwards.
                Kind::Servers => project.servers(file, &json_of(file, text)?),
                Kind::Schedule => project.left_out.push(format!("the prompts of {}", file.place())),
                Kind::Plugin
                | Kind::Hook
                | Kind::Skill
                | Kind::Agent
                | Kind::Command
                | Kind::Rules
                | Kind::Foreign
                | Kind::Script => {}
            }
        }
        project.respell(copied, &folder)?;
        project.plugins(copied)?;
        Ok(project)
    }

    fn settings(&mut self, file: &Brought, settings: &Value) {
        for (key, value) in settings.as_object().into_iter().flatten() {
            let taken = match key.as_str() {
                "permissions" => self.rules(file, value),
                "env" => self.env(file, value),
                key if KEYS.contains(&key) => value.clone(),
                _ => Value::Null,
            };
            if taken.is_null() {
                self.left_out.push(format!("`{key}` of {}", file.place()));
            } else {
                let entry = self.settings.entry(key.clone()).or_insert(Value::Null);
                *entry = joined(entry.take(), taken);
            }
        }
    }

    fn rules(&mut self, file: &Brought, permissions: &Value) -> Value {
        let (taken, left): (Map<_, _>, Map<_, _>) =
            pairs(permissions).partition(|(key, _)| RULES.contains(&key.as_str()));
        let left = left.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        self.leaves_out("permissions", &left, file);
        json!(taken)
    }

    fn env(&mut self, file: &Brought, env: &Value) -> Value {
        let moves = |name: &str| {
            let name = name.to_ascii_uppercase();
            PREFIXES.iter().any(|prefix| name.starts_with(prefix))
                || PARTS.iter().any(|part| name.contains(part))
        };
        let (left, taken): (Map<_, _>, Map<_, _>) = pairs(env).partition(|(key, _)| moves(key));
        let left = left.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        self.leaves_out("env", &left, file);
        json!(taken)
    }

    fn leaves_out(&mut self, key: &str, names: &[String], file: &Brought) {
        for name in names {
            self.left_out.push(format!("`{key}.{name}` of {}", file.place()));
        }
    }

    fn servers(&mut self, file: &Brought, servers: &Value) {
        for (key, server) in pairs(&servers["mcpServers"]) {
            let text = server.to_string();
            if KEPT.iter().any(|kept| text.contains(&format!("${{{kept}"))) {
                let why = "it asks for a key of the agent's environment";
                self.left_out.push(format!("server `{key}` of {}: {why}", file.place()));
            } else {
                self.servers.entry(key).or_insert(server);
            }
        }
    }

    /// Returns what is left out although it was allowed, for people.
    pub(crate) fn notice(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| {
            let all = shown::label(&self.left_out.join(", "));
            format!("of what was allowed of the folder this is left out all the same: {all}")
        })
    }

    /// Has the copies of the folder's scripts named in place of the scripts.
    fn respell(&mut self, copied: &Copied, folder: &Path) -> Result<(), String> {
        for file in copied.files.iter().filter(|file| file.kind == Kind::Script) {
            let copy = copied.of(file).display().to_string();
            let plain = |c: char| c.is_alphanumeric() || "_./@%+~-".contains(c);
            if !copy.chars().all(plain) {
                return Err(format!(
                    "the path of its copy has characters that a shell reads: {copy}"
                ));
            }
            let base = folder.ancestors().nth(file.level).unwrap_or(folder).display().to_string();
            let mut each = |text: &mut String| *text = respelled(text, &base, (&file.path, &copy));
            self.settings.values_mut().for_each(|value| texts(value, &mut each));
            self.servers.values_mut().for_each(|value| texts(value, &mut each));
        }
        Ok(())
    }

    fn plugins(&mut self, copied: &Copied) -> Result<(), String> {
        let of_plugin = |file: &&Brought| OF_PLUGIN.iter().any(|it| file.path.starts_with(it));
        let mut levels: Vec<usize> =
            copied.files.iter().filter(of_plugin).map(|file| file.level).collect();
        levels.dedup();
        for level in levels {
            let root = copied.level(level).join(".claude");
            let about = root.join(".claude-plugin");
            let name = match level {
                0 => "project".to_owned(),
                level => format!("project-{level}-up"),
            };
            let description = "what the project's .claude folder brings along";
            let text = json!({"name": name, "version": "1.0.0", "description": description});
            let written = fsio::private_dir(&about).and_then(|()| {
                fsio::write_private(&about.join("plugin.json"), text.to_string().as_bytes())
            });
            written.map_err(|error| error.to_string())?;
            self.plugins.push(root);
        }
        Ok(())
    }
}

/// What the program cannot read it would pass over in silence.
fn json_of(file: &Brought, text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{} is no JSON: {error}", file.place()))
}

fn pairs(of: &Value) -> impl Iterator<Item = (String, Value)> + use<'_> {
    let pairs = of.as_object().into_iter().flatten();
    pairs.map(|(key, value)| (key.clone(), value.clone()))
}

/// Lays one setting over another: what are lists or sections in both is joined.
pub(crate) fn joined(below: Value, above: Value) -> Value {
    match (below, above) {
        (Value::Object(mut below), Value::Object(above)) => {
            for (key, value) in above {
                let entry = below.entry(key).or_insert(Value::Null);
                *entry = joined(entry.take(), value);
            }
            Value::Object(below)
        }
        (Value::Array(mut below), Value::Array(above)) => {
            below.extend(above);
            Value::Array(below)
        }
        (_, above) => above,
    }
}

/// Does something with every text of a value.
fn texts(value: &mut Value, each: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|it| texts(it, each)),
        Value::Object(map) => map.values_mut().for_each(|it| texts(it, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests;
