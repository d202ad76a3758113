//! `gangline skills`: the text by which a coding program learns to speak through Gangline, in the
//! place where that program looks for such texts (R0-56, R0-66).
//!
//! A file of ours ends with a line that names the version that wrote it and the hash of what stands
//! before; so one that somebody edited is told from an older one, and left alone. Start at
//! [`install`].

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use gangline_core::digest::sha256_hex;
use gangline_os::paths;
use serde::Serialize;

use crate::{cli::Global, failure::Failure, output};

#[cfg(test)]
mod tests;

const TEXT: &str = include_str!("../../data/skills/SKILL.md");
const CODEX: &str = include_str!("../../data/skills/codex.md");
/// The folder of the skill, which has its name.
const NAME: &str = "gangline-irc";
const FILE: &str = "SKILL.md";
/// How the last line of a file of ours begins.
const SIGN: &str = "<!-- gangline skill ";
/// No skill is larger.
const FILE_MAX: u64 = 1024 * 1024;

/// Every program that has a place of its own.
const ALL: [SkillProgram; 5] = [
    SkillProgram::Claude,
    SkillProgram::Codex,
    SkillProgram::Copilot,
    SkillProgram::Opencode,
    SkillProgram::Acp,
];

/// What stands where the skill belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// Just what would be written.
    Current,
    /// Ours, as we wrote it, by another version.
    Older,
    /// Ours, and somebody has changed it.
    Edited,
    /// Not ours.
    Foreign,
}

impl Found {
    fn word(self) -> &'static str {
        match self {
            Self::Nothing => "not installed",
            Self::Current => "current",
            Self::Older => "of another version",
            Self::Edited => "edited by hand",
            Self::Foreign => "not ours",
        }
    }
}

/// One place of `skills list --json`.
#[derive(Serialize)]
struct Listed {
    program: &'static str,
    state: &'static str,
    path: PathBuf,
}

/// Install the skill that teaches coding programs to use `gangline channel`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Skills,
}

#[derive(Debug, Subcommand)]
enum Skills {
    /// Write the skill to a program's skills folder, or update it
    Install(SkillsInstall),
    /// Show where it is installed, and whether it is current
    #[command(alias = "status")]
    List,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SkillsInstall {
    /// The program to install it for
    pub(crate) program: SkillProgram,
    /// A folder of skills instead of the program's usual one, such as a project's .claude/skills
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Remove it instead
    #[arg(long)]
    pub(crate) remove: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also replace or remove files that were edited or that Gangline did not write
    #[arg(long)]
    pub(crate) force: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Skills::Install(args) => install(&args),
        Skills::List => list(global),
    }
}

fn list(global: &Global) -> Result<u8, Failure> {
    if global.json {
        let one = |program: SkillProgram| -> Result<Listed, Failure> {
            let path = place(program, None)?;
            let state = look(&path, &text(program))?.word();
            Ok(Listed { program: program.word(), state, path })
        };
        let all: Vec<Listed> = ALL.into_iter().map(one).collect::<Result<_, _>>()?;
        return output::json(&all).map(|()| 0);
    }
    for program in ALL {
        let path = place(program, None)?;
        let found = look(&path, &text(program))?;
        let line = format!("{:<9} {:<19} {}\n", program.word(), found.word(), path.display());
        output::print(&line)?;
    }
    Ok(0)
}

/// Writes, updates or removes; what is not ours, or no longer, is left alone and makes the exit
/// code 1.
fn install(args: &SkillsInstall) -> Result<u8, Failure> {
    let one = [args.program];
    let programs: &[SkillProgram] = if args.program == SkillProgram::All { &ALL } else { &one };
    let mut code = 0;
    let mut seen = Vec::new();
    for program in programs {
        let path = place(*program, args.dir.as_deref())?;
        if seen.contains(&path) {
            continue;
        }
        let text = text(*program);
        let found = look(&path, &text)?;
        let done = if args.remove {
            remove(args, &path, found)
        } else {
            write(args, &path, (found, &text))
        };
        let (line, left) = done.map_err(|error| {
            Failure::environment(error).doing(format!("cannot change {}", path.display()))
        })?;
        if left {
            code = 1;
        }
        output::print(&format!("{line} {}\n", path.display()))?;
        seen.push(path);
    }
    Ok(code)
}

type Done = io::Result<(&'static str, bool)>;

fn write(args: &SkillsInstall, path: &Path, (found, text): (Found, &str)) -> Done {
    let line = match found {
        Found::Current => return Ok(("kept, it is current:", false)),
        Found::Edited if !args.force => {
            return Ok(("not changed, since it was edited (--force replaces it):", true));
        }
        Found::Foreign if !args.force => {
            let text = "not changed, since Gangline did not write it (--force replaces it):";
            return Ok((text, true));
        }
        Found::Nothing => ("wrote", "would write"),
        Found::Older => ("updated", "would update"),
        Found::Edited | Found::Foreign => ("replaced", "would replace"),
    };
    if args.dry_run {
        return Ok((line.1, false));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // A name that nobody else has: what lies there may be somebody's, or a link to it.
    let mut fresh = tempfile::Builder::new()
        .prefix(".skill-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    fresh.write_all(text.as_bytes())?;
    fresh.persist(path)?;
    Ok((line.0, false))
}

fn remove(args: &SkillsInstall, path: &Path, found: Found) -> Done {
    match found {
        Found::Nothing => return Ok(("nothing is at", false)),
        Found::Edited | Found::Foreign if !args.force => {
            return Ok((
                "not removed, since it is not as Gangline wrote it (--force removes it):",
                true,
            ));
        }
        Found::Current | Found::Older | Found::Edited | Found::Foreign => {}
    }
    if args.dry_run {
        return Ok(("would remove", false));
    }
    fs::remove_file(path)?;
    // Other files of somebody's may lie there.
    if let Some(folder) = path.parent() {
        let _ = fs::remove_dir(folder);
    }
    Ok(("removed", false))
}

fn look(path: &Path, text: &str) -> Result<Found, Failure> {
    match gangline_os::fsio::read_text_capped(path, FILE_MAX) {
        Ok(there) => Ok(judge(&there, text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => {
            Err(Failure::environment(error).doing(format!("cannot read {}", path.display())))
        }
    }
}

fn judge(there: &str, text: &str) -> Found {
    if there == text {
        return Found::Current;
    }
    let Some(at) = there.rfind(SIGN) else { return Found::Foreign };
    let (body, sign) = there.split_at(at);
    let hash = sign.trim_end().strip_suffix(" -->").and_then(|sign| sign.rsplit(' ').next());
    if hash == Some(hash_of(body).as_str()) { Found::Older } else { Found::Edited }
}

/// Returns the whole file for a program.
fn text(program: SkillProgram) -> String {
    let more = if program == SkillProgram::Codex { CODEX } else { "" };
    signed(&TEXT.replace("{more}\n", more), env!("CARGO_PKG_VERSION"))
}

fn signed(body: &str, version: &str) -> String {
    format!("{body}{SIGN}{version} {} -->\n", hash_of(body))
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

fn hash_of(body: &str) -> String {
    sha256_hex(body.as_bytes(), 12)
}

/// Returns where the program looks for the skill.
fn place(program: SkillProgram, given: Option<&Path>) -> Result<PathBuf, Failure> {
    let skills = match given {
        Some(folder) => paths::absolute(folder),
        None => skills_of(program)?,
    };
    Ok(skills.join(NAME).join(FILE))
}

fn skills_of(program: SkillProgram) -> Result<PathBuf, Failure> {
    let set =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = set("HOME").ok_or_else(|| Failure::user("HOME is not set: give --dir FOLDER"))?;
    Ok(match program {
        SkillProgram::Claude => {
            set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")).join("skills")
        }
        SkillProgram::Codex => {
            set("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("skills")
        }
        SkillProgram::Copilot => home.join(".copilot/skills"),
        SkillProgram::Opencode => {
            let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            config.join("opencode/skills")
        }
        // Read by several programs, opencode and Gangline's own loop among them.
        SkillProgram::Acp | SkillProgram::All => home.join(".agents/skills"),
    })
}
