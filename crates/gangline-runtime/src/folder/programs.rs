//! What each program reads in its folder, as data: one entry a program.

use std::{ffi::OsStr, path::Path};

use super::{Brings, From, Item, Kind, Without};
use crate::registry::{Found, known};

/// A program that starts nothing of its folder, or of which nobody knows what it reads there.
pub const NOTHING: Brings =
    Brings { items: &[], without: Without::Adapter("it reads nothing there"), from: From::Folder };

/// Claude Code. Its settings are those of the working folder; the rest is read in every folder above too.
pub static CLAUDE: Brings = CLAUDE_READS;

const CLAUDE_READS: Brings = Brings {
    items: &[
        Item::here(".claude/settings.json", Kind::Settings),
        Item::here(".claude/settings.local.json", Kind::Settings),
        Item::up(".mcp.json", Kind::Servers),
        Item::up(".claude/skills", Kind::Skill),
        Item::up(".claude/agents", Kind::Agent),
        Item::up(".claude/commands", Kind::Command),
        Item::up(".claude/workflows", Kind::Command),
        Item::up(".claude/output-styles", Kind::Agent),
    ],
    without: Without::Args(&["--setting-sources", "user"]),
    from: From::Copy,
};

/// Codex. A request with full access to files makes it trust the folder for good, unless its trust is
/// told with the request.
pub static CODEX: Brings = CODEX_READS;

const CODEX_READS: Brings = Brings {
    items: &[
        Item::up(".codex/config.toml", Kind::Settings),
        Item::up(".codex/hooks.json", Kind::Hook),
        Item::up(".codex/hooks", Kind::Hook),
        Item::up(".codex/rules", Kind::Rules),
        Item::up(".codex/agents", Kind::Agent),
        Item::up(".codex/plugins", Kind::Plugin),
    ],
    without: Without::Adapter("projects.FOLDER.trust_level = \"untrusted\""),
    from: From::Folder,
};

/// The bridges of Claude Code and Codex to the protocol: how they are kept from it was not tried.
pub static CLAUDE_ACP: Brings =
    Brings { without: Without::NoSwitch, from: From::Folder, ..CLAUDE_READS };

/// See [`CLAUDE_ACP`].
pub static CODEX_ACP: Brings = Brings { without: Without::NoSwitch, ..CODEX_READS };

/// OpenCode. `OPENCODE_DISABLE_PROJECT_CONFIG` leaves out what is loaded when a session begins; with the
/// first prompt its newer parts read the folder for all that, and run the plugins (seen with 1.18.33).
pub static OPENCODE: Brings = Brings {
    items: &[
        Item::up("opencode.json", Kind::Settings),
        Item::up("opencode.jsonc", Kind::Settings),
        Item::up(".opencode/opencode.json", Kind::Settings),
        Item::up(".opencode/opencode.jsonc", Kind::Settings),
        Item::up(".opencode/plugin", Kind::Plugin),
        Item::up(".opencode/plugins", Kind::Plugin),
        Item::up(".opencode/tool", Kind::Plugin),
        Item::up(".opencode/tools", Kind::Plugin),
        Item::up(".opencode/agent", Kind::Agent),
        Item::up(".opencode/agents", Kind::Agent),
        Item::up(".opencode/mode", Kind::Agent),
        Item::up(".opencode/modes", Kind::Agent),
        Item::up(".opencode/command", Kind::Command),
        Item::up(".opencode/commands", Kind::Command),
        Item::up(".opencode/skill", Kind::Skill),
        Item::up(".opencode/skills", Kind::Skill),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// Cline. It is built with a runtime that reads `bunfig.toml` and `.env` of its folder, and has no switch
/// against its own hooks and plugins there. Seen with 3.0.65.
pub static CLINE: Brings = Brings {
    items: &[
        Item::here("bunfig.toml", Kind::Settings),
        Item::here(".env", Kind::Settings),
        Item::here(".env.local", Kind::Settings),
        Item::here(".env.development", Kind::Settings),
        Item::here(".env.production", Kind::Settings),
        Item::up(".cline/hooks", Kind::Hook),
        Item::up(".cline/plugins", Kind::Plugin),
        Item::up(".cline/mcp.json", Kind::Servers),
        Item::up(".clinerules/hooks", Kind::Hook),
        Item::up(".agents/plugins", Kind::Plugin),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// GitHub Copilot CLI. Over the protocol it runs the hooks of `.github/hooks` though nobody has trusted the
/// folder; the folder's tool servers it leaves out by itself. Seen with 1.0.102.
pub static COPILOT: Brings = Brings {
    items: &[
        Item::up(".github/hooks", Kind::Hook),
        Item::up(".github/copilot/settings.json", Kind::Settings),
        Item::up(".github/copilot/settings.local.json", Kind::Settings),
        Item::up(".github/extensions", Kind::Plugin),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// Gemini CLI. What it loads of a folder follows its own list of trusted folders, which the user may have
/// switched off; in a folder that is not trusted it starts no tool server at all, the daemon's neither, so that
/// its variable `GEMINI_CLI_TRUST_WORKSPACE` is no switch for us. Seen with 0.61.0.
pub static GEMINI: Brings = Brings {
    items: &[
        Item::up(".gemini/settings.json", Kind::Settings),
        Item::up(".gemini/.env", Kind::Settings),
        Item::up(".gemini/extensions", Kind::Plugin),
        Item::up(".gemini/policies", Kind::Rules),
        Item::up(".gemini/hooks", Kind::Hook),
        Item::up(".gemini/agents", Kind::Agent),
        Item::up(".gemini/commands", Kind::Command),
        Item::up(".gemini/skills", Kind::Skill),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// Kiro, by its documentation.
pub static KIRO: Brings = Brings {
    items: &[
        Item::up(".kiro/settings", Kind::Settings),
        Item::up(".kiro/agents", Kind::Agent),
        Item::up(".kiro/hooks", Kind::Hook),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// Qwen Code. Its switches leave out the user's own settings too. Seen with 0.24.4.
pub static QWEN: Brings = Brings {
    items: &[
        Item::up(".qwen/settings.json", Kind::Settings),
        Item::up(".qwen/.env", Kind::Settings),
        Item::up(".qwen/extensions", Kind::Plugin),
        Item::up(".qwen/hooks", Kind::Hook),
        Item::up(".qwen/agents", Kind::Agent),
        Item::up(".qwen/commands", Kind::Command),
        Item::up(".qwen/skills", Kind::Skill),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// Returns what the program of a backend reads in its folder; `command` is the configured one.
#[must_use]
pub fn of(found: &Found, command: Option<&[String]>) -> &'static Brings {
    match found.entry.name {
        // In a terminal a program asks on its screen.
        "native" | "tmux" => &NOTHING,
        // Any program of the protocol: by the name of its file.
        "acp" => {
            let configured = command.and_then(|words| words.first()).map(String::as_str);
            by_program(configured.or_else(|| found.program()).unwrap_or_default())
        }
        name => named(name),
    }
}

/// Every program of which something is known.
static ALL: [&Brings; 8] = [&CLAUDE, &CODEX, &OPENCODE, &CLINE, &COPILOT, &GEMINI, &KIRO, &QWEN];

/// Returns whether some program reads a file of this path in its folder: what is written there starts
/// something, or changes who is asked, so that no rule may let it be written.
#[must_use]
pub fn is_read(path: &Path) -> bool {
    let items = ALL.iter().flat_map(|brings| brings.items);
    items.map(|item| item.path).any(|item| {
        path.ancestors().any(|part| part.ends_with(item) && part.components().count() > 0)
    })
}

/// Returns what a program reads, by its path or the name of its file.
#[must_use]
pub fn by_program(program: &str) -> &'static Brings {
    let file = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    match BRIDGES.iter().find(|(name, _)| *name == file) {
        Some((_, brings)) => brings,
        None => known::owner(program).map_or(&NOTHING, |entry| named(entry.name)),
    }
}

/// Programs of no backend of their own.
static BRIDGES: [(&str, &Brings); 3] = [
    ("claude-agent-acp", &CLAUDE_ACP),
    ("claude-code-acp", &CLAUDE_ACP),
    ("codex-acp", &CODEX_ACP),
];

fn named(name: &str) -> &'static Brings {
    match name {
        "claude" => &CLAUDE,
        "codex" => &CODEX,
        "opencode" => &OPENCODE,
        "cline" => &CLINE,
        "copilot" => &COPILOT,
        "gemini" => &GEMINI,
        "kiro" => &KIRO,
        "qwen" => &QWEN,
        _ => &NOTHING,
    }
}
