//! The real programs in the place of Ada's backend, or of her supervisor's, with the stand-in for a model.

use std::fs;

use gangline_testkit::programs;

use super::{Rig, servers::standin};

/// The key of the model.
pub(super) const KEY: &str = "sk-ant-standin-0123456789abcdef";

/// A backend, as it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Real {
    Claude,
    Codex,
    OpenCode,
    Native,
}

impl Real {
    /// Returns the name of its backend.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Native => "native",
        }
    }

    /// Returns what its model calls to run a command, and the name of the argument.
    pub(crate) fn shell(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude | Self::Native => ("Bash", "command"),
            Self::Codex => ("exec_command", "cmd"),
            Self::OpenCode => ("bash", "command"),
        }
    }

    /// Returns the keys of an agent or a supervisor with this backend, whose model is at the address.
    pub(super) fn keys(self, address: &str) -> Vec<(&'static str, String)> {
        let (program, base, model) = match self {
            Self::Claude => (Some(programs::claude()), "", None),
            Self::Codex => (Some(programs::codex()), "/v1", Some("gpt-5.5")),
            Self::OpenCode => (Some(programs::opencode()), "/v1", Some("lab/first")),
            Self::Native => (None, "", Some("standin")),
        };
        let mut keys = vec![
            ("agent", self.name().to_owned()),
            ("base_url", format!("http://{address}{base}")),
        ];
        keys.extend(program.map(|it| ("command", format!("[\"{}\"]", it.display()))));
        keys.extend(model.map(|it| ("model", it.to_owned())));
        keys
    }
}

impl Rig {
    /// Ada has this backend and a model that follows the script; `more` is YAML of the top level, `each` of
    /// hers.
    pub(crate) fn real(real: Real, script: &str, (more, each): (&str, &str)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (address, model) = standin(script, &folder.path().join("requests"));
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        let keys = real.keys(&address.to_string());
        let keys: String = keys.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        let env = format!("env: {}\n", env(&home.display().to_string()));
        let mut rig = Self::new(folder, (more, &format!("{keys}{env}{each}")), Some(model));
        rig.model_address = Some(format!("http://{address}"));
        rig
    }
}

/// Returns the variables of a program: a home without a login, and no way out.
fn env(home: &str) -> String {
    let nowhere = "http://127.0.0.1:9";
    format!(
        "{{HOME: {home}, HTTPS_PROXY: \"{nowhere}\", HTTP_PROXY: \"{nowhere}\", NO_PROXY: \
         \"127.0.0.1\"}}"
    )
}
