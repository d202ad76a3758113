//! Surroundings that are another's: a test is run once more, as a child, with variables in its
//! environment that no backend may see.

use std::{env, process::Command};

/// Says that the surroundings are there.
const PLANTED: &str = "GANGLINE_TEST_PLANTED";
/// What stands in the environment of a daemon that somebody's agent, or another room's, has started.
const FOREIGN: [(&str, &str); 11] = [
    ("ANTHROPIC_API_KEY", "sk-ant-of-another"),
    ("OPENAI_API_KEY", "sk-of-another"),
    ("GEMINI_API_KEY", "gemini-of-another"),
    ("CLAUDECODE", "another's"),
    ("CLAUDE_CODE_SESSION_ID", "session-of-another"),
    ("CODEX_HOME", "/home/of/another/.codex"),
    ("GT_ROLE", "another/mayor"),
    ("GANGLINE_AGENT", "oak-another"),
    ("CULTURE_NICK", "oak-another"),
    ("BASH_ENV", "/home/of/another/bashrc"),
    ("NODE_OPTIONS", "--title=of-another"),
];

/// The proof that the test runs in them.
pub(crate) struct Surroundings;

impl Surroundings {
    /// Sees that what is planted is there: else nothing would be shown by its absence elsewhere.
    pub(crate) fn check(&self) {
        for (name, value) in FOREIGN {
            assert_eq!(env::var(name).as_deref(), Ok(value), "{name}");
        }
    }
}

/// Returns the surroundings if this process has them. Else it runs the test in a process that has,
/// and returns nothing; the test fails as that one does.
#[allow(clippy::disallowed_methods, reason = "the test itself, once more; it ends by itself")]
pub(crate) fn surroundings(test: &str) -> Option<Surroundings> {
    if env::var_os(PLANTED).is_some() {
        return Some(Surroundings);
    }
    let name = format!("conformance::real::{test}");
    let status = Command::new(env::current_exe().unwrap())
        .args([&name, "--exact", "--nocapture"])
        .envs(FOREIGN)
        .env(PLANTED, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{name}: {status}");
    None
}
