//! What is known about programs from outside, as data: their releases, where a login is kept, other
//! programs of the same name. Nothing here starts a program or reads a file.
//!
//! Only what was measured or is documented stands here. A new fact is one line.

use std::{ffi::OsStr, path::Path};

use super::{ENTRIES, Entry, dialect};
pub use crate::program::version::Version;

#[cfg(test)]
mod tests;

/// Releases before this one print results that belong to nobody; it tells which text a result
/// answers, and it was tried.
pub(crate) const CLAUDE_OLDEST: Version = Version(2, 1, 270);
/// The app-server changes between releases; this is the oldest that was tried.
pub(crate) const CODEX_OLDEST: Version = Version(0, 169, 0);

/// A program as it is known from outside.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The oldest release that can be driven; none = no such release is known.
    pub oldest: Option<Version>,
    /// Releases that somebody had trouble with.
    pub bad: &'static [Bad],
    /// How it is installed, as a command or a sentence's end; empty = not known.
    pub install: &'static str,
    /// How another program of the same name begins what it says of its version.
    pub namesake: Option<&'static str>,
    /// Where its login is.
    pub login: Login,
}

/// A release that somebody had trouble with.
#[derive(Debug, Clone, Copy)]
pub struct Bad {
    /// The release.
    pub version: Version,
    /// What happens with it, as the end of a sentence.
    pub why: &'static str,
    /// Whether only its screen is the trouble: it matters to who reads it from a terminal.
    pub on_screen: bool,
}

/// Where a program's login is, as far as that can be told without starting it.
#[derive(Debug, Clone, Copy)]
pub struct Login {
    /// Variables of its environment, one of which is enough. A shell's own do not reach an agent.
    pub variables: &'static [&'static str],
    /// The variable that names its folder, if there is one.
    pub folder_variable: Option<&'static str>,
    /// Its folder below the home folder; empty = not known.
    pub folder: &'static str,
    /// Files in its folder, one of which is a login.
    pub files: &'static [&'static str],
    /// Files in its folder that may name a key or a helper: with one of them it cannot be told.
    pub maybe: &'static [&'static str],
    /// What a human does to log in, as a command.
    pub how: &'static str,
    /// What he does behind it, as the end of a sentence.
    pub then: &'static str,
}

/// What a release is worth to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// The one that the tests drive.
    Tested,
    /// Old enough to be known, new enough to be driven; the newest that was tried is named.
    Older(Version),
    /// Newer than this one, the newest that was tried.
    Newer(Version),
    /// It cannot be driven; the oldest that can is named.
    TooOld(Version),
    /// Somebody had this trouble with it.
    Bad(&'static str),
    /// No release of the program was tried.
    Untried,
}

const NO_LOGIN: Login = Login {
    variables: &[],
    folder_variable: None,
    folder: "",
    files: &[],
    maybe: &[],
    how: "",
    then: "",
};

pub(super) const NOTHING: Known =
    Known { oldest: None, bad: &[], install: "", namesake: None, login: NO_LOGIN };

pub(super) const CLAUDE: Known = Known {
    oldest: Some(CLAUDE_OLDEST),
    bad: &[
        Bad {
            version: Version(2, 1, 83),
            why: "Gangline reads a blank screen from it",
            on_screen: true,
        },
        Bad {
            version: Version(2, 1, 197),
            why: "npm takes it by itself where Node is older than 22: name the version",
            on_screen: false,
        },
    ],
    install: "npm install -g @anthropic-ai/claude-code@2.1.330",
    login: Login {
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        files: &[".credentials.json"],
        maybe: &["settings.json"],
        how: "claude",
        then: ", then `/login`",
    },
    ..NOTHING
};

pub(super) const CODEX: Known = Known {
    oldest: Some(CODEX_OLDEST),
    install: "npm install -g @openai/codex@0.169.0",
    login: Login {
        folder_variable: Some("CODEX_HOME"),
        folder: ".codex",
        files: &["auth.json"],
        maybe: &["config.toml"],
        how: "codex login",
        ..NO_LOGIN
    },
    ..NOTHING
};

pub(super) const OPENCODE: Known = Known {
    install: "npm install -g opencode-ai@1.18.33",
    login: Login { how: "opencode auth login", ..NO_LOGIN },
    ..NOTHING
};

pub(super) const CLINE: Known = Known {
    install: "npm install -g cline@3.0.65",
    login: Login {
        variables: &["CLINE_API_KEY"],
        folder: ".cline/data/settings",
        // It names a provider, which wants a key in the environment besides.
        maybe: &["providers.json"],
        how: "cline auth",
        ..NO_LOGIN
    },
    ..NOTHING
};

pub(super) const COPILOT: Known = Known {
    install: "npm install -g @github/copilot@1.0.102",
    namesake: Some("copilot version"),
    login: Login { variables: &["COPILOT_GITHUB_TOKEN"], how: "copilot login", ..NO_LOGIN },
    ..NOTHING
};

pub(super) const GEMINI: Known = Known {
    install: "npm install -g @google/gemini-cli@0.61.0",
    login: Login {
        variables: &["GEMINI_API_KEY"],
        folder: ".gemini",
        // It names the kind of the login, not whether it was made.
        maybe: &["settings.json"],
        how: "gemini",
        ..NO_LOGIN
    },
    ..NOTHING
};

pub(super) const KIRO: Known = Known {
    // Since then it speaks the protocol.
    oldest: Some(Version(1, 25, 0)),
    login: Login { variables: &["KIRO_API_KEY"], how: "kiro-cli login", ..NO_LOGIN },
    ..NOTHING
};

pub(super) const GOOSE: Known = Known { namesake: Some("goose version"), ..NOTHING };

/// Programs that are no backend by themselves, and that somebody may name by `acp_command`.
const OTHERS: &[(&str, Known)] = &[(
    "codex-acp",
    Known {
        bad: &[Bad {
            version: Version(0, 16, 0),
            why: "it leaves processes behind and does not end with its input; a package of another \
                  name took its place",
            on_screen: false,
        }],
        install: "npm install -g @agentclientprotocol/codex-acp@2.6.0",
        ..NOTHING
    },
)];

impl Known {
    /// Judges a release of this program. `tested` is the one that the tests drive, `on_screen`
    /// whether it is read from a terminal, which wants no certain age.
    #[must_use]
    pub fn judge(&self, version: Version, tested: Option<Version>, on_screen: bool) -> Judged {
        let bad = self.bad.iter().find(|bad| bad.version == version);
        match (self.oldest.filter(|oldest| version < *oldest && !on_screen), bad, tested) {
            (_, Some(bad), _) if bad.on_screen == on_screen => Judged::Bad(bad.why),
            (Some(oldest), ..) => Judged::TooOld(oldest),
            (None, _, Some(tested)) if version == tested => Judged::Tested,
            (None, _, Some(tested)) if version > tested => Judged::Newer(tested),
            (None, _, Some(tested)) => Judged::Older(tested),
            (None, _, None) => Judged::Untried,
        }
    }
}

/// Returns the built-in backend that a program of this name belongs to.
#[must_use]
pub fn owner(program: &str) -> Option<&'static Entry> {
    let file = Path::new(program).file_name().and_then(OsStr::to_str)?;
    ENTRIES.iter().find(|entry| entry.program == Some(file))
}

/// Returns what is known of the program of this name that a backend drives: of one that runs any
/// program, by the name of the program's file.
#[must_use]
pub fn known(entry: &Entry, program: &str) -> Known {
    if !entry.runs_any() {
        return entry.known;
    }
    let file = Path::new(program).file_name().and_then(OsStr::to_str);
    let other = || OTHERS.iter().find(|(name, _)| Some(*name) == file).map(|(_, known)| *known);
    owner(program).map(|entry| entry.known).or_else(other).unwrap_or(NOTHING)
}

/// Returns the release of a backend's program that the tests drive.
#[must_use]
pub fn tested(entry: &Entry) -> Option<Version> {
    dialect::find(entry.name).and_then(|dialect| Version::in_line(dialect.tested))
}
