//! The skill that tells programs how to use Gangline: where it is written.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// Write it where a program looks for skills, or bring it up to date
    Install(SkillsInstall),
    /// Show where it is installed, and whether it is current
    #[command(alias = "status")]
    List,
}

#[derive(Debug, Args)]
pub(crate) struct SkillsInstall {
    /// For which program
    pub(crate) program: SkillProgram,
    /// A folder of skills instead of the program's usual one, such as a project's .claude/skills
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Remove it instead
    #[arg(long)]
    pub(crate) remove: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace or remove also what is not ours or was edited
    #[arg(long)]
    pub(crate) force: bool,
}

/// A program that reads skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SkillProgram {
    /// Claude Code: ~/.claude/skills
    Claude,
    /// Codex: ~/.codex/skills
    Codex,
    /// Copilot: ~/.copilot/skills
    Copilot,
    /// The place that many programs share: ~/.agents/skills
    Acp,
    /// opencode: ~/.config/opencode/skills
    Opencode,
    /// All of them
    All,
}

impl SkillProgram {
    /// Returns the word on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Acp => "acp",
            Self::Opencode => "opencode",
            Self::All => "all",
        }
    }
}
