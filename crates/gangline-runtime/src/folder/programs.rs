//! What each program reads in its folder, as data: one entry a program.

use std::{fs, path::Path};

use serde_json::Value;

use super::{Brings, From, Item, Kind, Without};
#[cfg(test)]
mod tests;

/// A program that starts nothing of its folder, or of which nobody knows what it reads there.
pub const NOTHING: Brings =
    Brings { items: &[], without: Without::Adapter("it reads nothing there"), from: From::Folder };

/// Claude Code. Its settings are those of the working folder; the rest is read in every folder above too.
/// The prompts of `.claude/scheduled_tasks.json` it gives itself without a question, whatever settings it
/// may read; a variable switches its timers off. Seen with 2.1.332.
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
        Item::up(".claude/scheduled_tasks.json", Kind::Schedule),
    ],
    without: Without::Switch {
        args: &["--setting-sources", "user"],
        env: &[("CLAUDE_CODE_DISABLE_CRON", "1")],
    },
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
        Item::instructions("AGENTS.md"),
        Item::instructions("AGENTS.override.md"),
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
        // What a plugin's packages are, and where they come from.
        Item::up(".opencode/package.json", Kind::Plugin),
        Item::up(".opencode/.npmrc", Kind::Plugin),
        Item::instructions("AGENTS.md"),
        Item::instructions("CLAUDE.md"),
        Item::instructions("CONTEXT.md"),
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
        Item::up(".cline/agents", Kind::Agent),
        Item::instructions("AGENTS.md"),
        Item::instructions(".clinerules"),
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
        Item::up(".github/lsp.json", Kind::Servers),
        Item::up(".github/agents", Kind::Agent),
        Item::up(".claude/agents", Kind::Agent),
        Item::up(".claude/commands", Kind::Command),
        // A skill may say which calls run unasked.
        Item::up(".github/skills", Kind::Skill),
        Item::up(".claude/skills", Kind::Skill),
        Item::up(".agents/skills", Kind::Skill),
        Item::instructions(".github/copilot-instructions.md"),
        Item::instructions(".github/instructions"),
        Item::instructions("AGENTS.md"),
        Item::instructions("CLAUDE.md"),
        Item::instructions("GEMINI.md"),
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
        Item::up(".env", Kind::Settings),
        Item::up(".gemini/extensions", Kind::Plugin),
        Item::up(".gemini/policies", Kind::Rules),
        Item::up(".gemini/hooks", Kind::Hook),
        Item::up(".gemini/agents", Kind::Agent),
        Item::up(".gemini/commands", Kind::Command),
        Item::up(".gemini/skills", Kind::Skill),
        Item::instructions("GEMINI.md"),
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
        Item::up(".env", Kind::Settings),
        Item::up(".mcp.json", Kind::Servers),
        Item::up(".qwen/extensions", Kind::Plugin),
        Item::up(".qwen/hooks", Kind::Hook),
        Item::up(".qwen/agents", Kind::Agent),
        Item::up(".qwen/commands", Kind::Command),
        Item::up(".qwen/skills", Kind::Skill),
        Item::up(".qwen/output-styles", Kind::Agent),
        Item::instructions("AGENTS.md"),
        Item::instructions("QWEN.md"),
    ],
    without: Without::NoSwitch,
    from: From::Folder,
};

/// Returns what the program of a built-in backend reads in its folder; `words` start it, and `screen` is the
/// field of that name.
#[must_use]
pub fn of(backend: &str, words: &[String], screen: Option<&Value>) -> &'static Brings {
    match backend {
        "native" => &NOTHING,
        "tmux" => in_terminal(words, screen),
        "acp" => by_command(words),
        name => named(name).unwrap_or_else(|| by_command(words)),
    }
}

/// Returns what a program in a terminal reads: it is known by its command, or is like one that is.
#[must_use]
pub fn in_terminal(words: &[String], screen: Option<&Value>) -> &'static Brings {
    let like = screen.and_then(|screen| screen["like"].as_str());
    match (by_command(words), like.and_then(named)) {
        (brings, Some(like)) if brings.items.is_empty() => like,
        (brings, _) => brings,
    }
}

/// Every program of which something is known.
pub(super) static ALL: [&Brings; 8] =
    [&CLAUDE, &CODEX, &OPENCODE, &CLINE, &COPILOT, &GEMINI, &KIRO, &QWEN];

/// Returns whether some program reads a file of this path in its folder: what is written there starts
/// something, or changes who is asked, so that no rule may let it be written. The case of letters does not
/// count, as on some file systems.
#[must_use]
pub fn is_read(path: &Path) -> bool {
    let path = path.to_string_lossy().to_lowercase();
    let items = ALL.iter().flat_map(|brings| brings.items).filter(|it| it.kind != Kind::Foreign);
    items.map(|item| item.path).any(|item| {
        let mut parts = Path::new(&path).ancestors();
        parts.any(|part| part.ends_with(item) && part.components().count() > 0)
    })
}

/// Returns what the program of a command reads. One that is started by another program, such as `npx` or a
/// shell, or that is a link to a known one, cannot be told to leave anything out.
#[must_use]
pub fn by_command(words: &[String]) -> &'static Brings {
    let Some(program) = words.first() else { return &NOTHING };
    let file = program.rsplit('/').next().unwrap_or_default();
    if let Some(brings) = named(plain(file)) {
        return brings;
    }
    let real = fs::canonicalize(program).ok().map(|path| path.display().to_string());
    let names = words.iter().chain(&real).flat_map(|word| {
        word.split(|at: char| !(at.is_alphanumeric() || "-_.@".contains(at))).map(plain)
    });
    match names.filter_map(named).next() {
        None => &NOTHING,
        Some(brings) => without_switch(brings),
    }
}

/// Returns the same for a program that is not started by us.
pub(crate) fn without_switch(brings: &'static Brings) -> &'static Brings {
    match brings {
        brings if *brings == CLAUDE => &CLAUDE_ACP,
        brings if *brings == CODEX => &CODEX_ACP,
        brings => brings,
    }
}

/// Returns the name of a package or a program's file without its version and ending.
fn plain(name: &str) -> &str {
    let name = match name.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => &name[..=at],
        None => name,
    };
    let endings = [".exe", ".cmd", ".js", ".mjs", ".cjs"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Returns what a program of this name reads: that of its file, its package or its backend.
fn named(name: &str) -> Option<&'static Brings> {
    Some(match name {
        "claude" | "claude-code" => &CLAUDE,
        "codex" => &CODEX,
        "claude-agent-acp" | "claude-code-acp" => &CLAUDE_ACP,
        "codex-acp" => &CODEX_ACP,
        "opencode" | "opencode-ai" => &OPENCODE,
        "cline" => &CLINE,
        "copilot" => &COPILOT,
        "gemini" | "gemini-cli" => &GEMINI,
        "kiro" | "kiro-cli" | "kiro-cli-chat" => &KIRO,
        "qwen" | "qwen-code" => &QWEN,
        _ => return None,
    })
}
