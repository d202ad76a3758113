//! Instructions that lie in files, as other programs of this kind read them: `AGENTS.md`,
//! `CLAUDE.md`, and skills (R1-05).
//!
//! Read once, at the start; the system prompt is constant for a session. What a project says must
//! lie in the project: a link or an import that leads out of it is not followed. Only files of this
//! user, or of root, are read, and none that is closed to the agent's tools. Start at [`gather`].

mod files;
mod imports;
mod skills;

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use self::files::{Gathered, Origin, Whose, is_ours};

pub use self::skills::Skill;

/// Names of the files in each folder of a project, in the order in which they are read.
const NAMES: [&str; 4] = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];
/// Folders of skills below the home directory and each folder of a project.
const SKILL_FOLDERS: [&str; 2] = [".claude/skills", ".agents/skills"];

/// Where instructions are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The working folder; the project reaches from the root of its git checkout down to it. It is
    /// the project, if it is in none.
    pub cwd: PathBuf,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The folder of configurations.
    pub config: Option<PathBuf>,
    /// Files and folders that are never read, absolute and with links resolved: credentials and the
    /// installation's own. One that holds the whole project closes nothing in it.
    pub closed: Vec<PathBuf>,
}

impl Places {
    /// Returns the places for a program with this working folder and environment.
    pub fn of(cwd: &Path, env: &[(OsString, OsString)]) -> Self {
        let variable = |name: &str| {
            let found = env.iter().find(|(key, _)| key == OsStr::new(name));
            found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let home = variable("HOME");
        let below_home = || home.as_ref().map(|home| home.join(".config"));
        let config = variable("XDG_CONFIG_HOME").or_else(below_home);
        Self { cwd: cwd.to_owned(), home, config, closed: Vec::new() }
    }

    /// Returns the places without what is closed.
    #[must_use]
    pub fn closed_to(self, closed: Vec<PathBuf>) -> Self {
        Self { closed, ..self }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The files' text as a part of a system prompt; empty if there are none.
    pub text: String,
    /// The skills, by name.
    pub skills: Vec<Skill>,
    /// What was left out or cut, for people.
    pub notices: Vec<String>,
}

impl Instructions {
    /// Returns all of it as a part of a system prompt: the files' text, and the list of skills.
    pub fn prompt(&self) -> String {
        let list = self.skill_list();
        let between = if self.text.is_empty() || list.is_empty() { "" } else { "\n\n" };
        format!("{}{between}{list}", self.text)
    }

    fn skill_list(&self) -> String {
        if self.skills.is_empty() {
            return String::new();
        }
        let mut text =
            "# Skills\n\nInstructions for certain kinds of work. Before you do such work, \
             read them with the tool `Skill`.\n"
                .to_owned();
        for skill in &self.skills {
            // Writing to a string does not fail.
            let _ = write!(text, "\n- {}: {}", skill.name, skill.description);
        }
        text
    }
}

/// Reads the instructions of these places; blocks for as long as the files take.
pub fn gather(places: &Places) -> Instructions {
    let root = project_root(&places.cwd);
    let mut gathered = Gathered::default();
    let closed = &places.closed;
    let personal = Origin { whose: Whose::Person { home: places.home.as_deref() }, closed };
    let in_home = places.home.iter().map(|home| home.join(".claude/CLAUDE.md"));
    let in_config = places
        .config
        .iter()
        .flat_map(|config| [config.join("AGENTS.md"), config.join("gangline/AGENTS.md")]);
    in_home.chain(in_config).for_each(|file| gathered.read(&file, personal));
    let project = Origin { whose: Whose::Project { root: &root }, closed };
    let folders = folders(&root, &places.cwd);
    for folder in &folders {
        NAMES.iter().for_each(|name| gathered.read(&folder.join(name), project));
    }
    let mut found = skills::Found::default();
    let below = |folder: &Path| SKILL_FOLDERS.map(|name| folder.join(name));
    // A person's own skill counts more than a project's of the same name.
    for folder in places.home.iter().flat_map(|home| below(home)) {
        found.scan(&folder, personal);
    }
    for folder in folders.iter().flat_map(|folder| below(folder)) {
        found.scan(&folder, project);
    }
    let (skills, mut more) = found.done();
    let (text, mut notices) = gathered.done();
    notices.append(&mut more);
    Instructions { text, skills, notices }
}

/// Returns the root of the git checkout that a folder lies in, or the folder itself. A checkout that
/// another user has made above the folder is none: it would add that user's instructions.
fn project_root(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let ours = cwd.ancestors().skip(1).take_while(|folder| is_ours(folder));
    let root =
        std::iter::once(cwd.as_path()).chain(ours).find(|folder| is_ours(&folder.join(".git")));
    root.unwrap_or(&cwd).to_owned()
}

/// Returns the folders from the root down to the working folder.
fn folders(root: &Path, cwd: &Path) -> Vec<PathBuf> {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let mut folders: Vec<PathBuf> =
        cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_owned).collect();
    folders.reverse();
    folders
}
