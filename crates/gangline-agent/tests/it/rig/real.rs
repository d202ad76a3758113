//! The real programs in the place of Ada's backend, or of her supervisor's, with the stand-in for a model.

use std::{fs, path::Path};

use gangline_testkit::programs;
use tempfile::TempDir;

use super::{
    BOB, Rig,
    backend::{ASKED, JUDGED},
    servers::standin,
};

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

    /// Returns what the name of its model contains.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "gpt-5.5",
            Self::OpenCode => "first",
            Self::Native => "standin",
        }
    }

    /// Returns YAML of an agent or a supervisor with this backend, whose model is at the address.
    fn yaml(self, address: &str) -> String {
        let (program, base, model) = match self {
            Self::Claude => (Some(programs::claude()), "", None),
            Self::Codex => (Some(programs::codex()), "/v1", Some("gpt-5.5")),
            Self::OpenCode => (Some(programs::opencode()), "/v1", Some("lab/first")),
            Self::Native => (None, "", Some("standin")),
        };
        let mut yaml = format!("agent: {}\nbase_url: http://{address}{base}\n", self.name());
        if let Some(program) = program {
            yaml.push_str(&format!("command: [\"{}\"]\n", program.display()));
        }
        if let Some(model) = model {
            yaml.push_str(&format!("model: {model}\n"));
        }
        yaml
    }
}

impl Rig {
    /// Ada has this backend and a model that follows the script; `more` is YAML of the top level, `each` of
    /// hers.
    pub(crate) fn real(real: Real, script: &str, (more, each): (&str, &str)) -> Self {
        Self::served(script, |address, home| {
            (more.to_owned(), format!("{}env: {}\n{each}", real.yaml(address), env(home)))
        })
    }

    /// As [`Self::real`], with a supervisor that has that backend and a model of its own, which follows the
    /// second script. `keys` are more of the supervisor's.
    pub(crate) fn watched(
        (real, script): (Real, &str),
        (by, judge): (Real, &str),
        (keys, each): (&str, &str),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (judged_at, judge) = standin(judge, &folder.path().join(JUDGED));
        let mut rig = Self::served_in(folder, script, |address, home| {
            let env = env(home);
            let supervisor = format!("{}env: {env}\n{keys}\n", by.yaml(&judged_at.to_string()));
            let supervisor = supervisor.trim_end().replace('\n', "\n  ");
            let more = format!("supervisor:\n  {supervisor}");
            (more, format!("{}env: {env}\n{each}", real.yaml(address)))
        });
        rig.judge = Some(judge);
        rig
    }

    /// As [`Self::real`], with Bob beside Ada; the same model is behind both.
    pub(crate) fn pair((ada, bob): (Real, Real), script: &str, (more, each): (&str, &str)) -> Self {
        let mut second = String::new();
        let mut rig = Self::served(script, |address, home| {
            let keys = |real: Real| format!("{}env: {}\n{each}", real.yaml(address), env(home));
            second = keys(bob);
            (more.to_owned(), keys(ada))
        });
        rig.configure(BOB, &second);
        rig
    }

    /// Serves a model that follows the script; its address and a home without a login make YAML of the top
    /// level and of Ada.
    fn served(script: &str, yaml: impl FnOnce(&str, &Path) -> (String, String)) -> Self {
        Self::served_in(tempfile::tempdir().unwrap(), script, yaml)
    }

    fn served_in(
        folder: TempDir,
        script: &str,
        yaml: impl FnOnce(&str, &Path) -> (String, String),
    ) -> Self {
        let (address, model) = standin(script, &folder.path().join(ASKED));
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        let (more, keys) = yaml(&address.to_string(), &home);
        let mut rig = Self::new(folder, (&more, &keys), Some(model));
        rig.model_address = Some(format!("http://{address}"));
        rig
    }
}

/// Returns the variables of a program: a home without a login, and no way out.
fn env(home: &Path) -> String {
    let (home, nowhere) = (home.display(), "http://127.0.0.1:9");
    format!(
        "{{HOME: {home}, HTTPS_PROXY: \"{nowhere}\", HTTP_PROXY: \"{nowhere}\", NO_PROXY: \
         \"127.0.0.1\"}}"
    )
}
