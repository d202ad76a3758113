//! The git repository around a configuration: made if it does not exist, left alone if it is
//! somebody else's.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_os::process::{base_env, find_on_path};

use super::file;
use crate::versions::ask::{Said, ask};

/// How long git may take for one step.
const PATIENCE: Duration = Duration::from_secs(20);
const IGNORE: &str = ".gitignore";
/// A commit starts no hook, asks for no pass phrase and leaves no housekeeping behind.
const QUIETLY: [&str; 6] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "maintenance.auto=false",
];

/// The state of the repository afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Repository {
    /// Nobody asked for one.
    NotAsked,
    /// It was made, and the configuration is its first commit.
    Made,
    /// It was there, around this very folder; the change is committed.
    Committed,
    /// It was there, and nothing had changed.
    Unchanged,
    /// The folder lies in a repository of a larger folder, which is left alone.
    Inside(PathBuf),
    /// There is no git.
    NoGit,
    /// It could not be done; the text is fit to be shown.
    Failed(String),
}

/// git, and the folder it is asked about.
struct Git<'a> {
    program: PathBuf,
    folder: &'a Path,
    name: &'a str,
}

/// Returns whether there is a git to make one with.
pub(crate) fn has_git() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_on_path("git".as_ref(), &path).is_some()
}

/// Sees to it that the configuration is kept in a repository. Nothing that fails here matters
/// much, so it is told and no error.
pub(crate) async fn keep(config: &Path) -> Repository {
    let (Some(folder), Some(name)) = (config.parent(), config.file_name().and_then(|n| n.to_str()))
    else {
        return Repository::Failed("its name is not UTF-8".to_owned());
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = find_on_path("git".as_ref(), &path) else {
        return Repository::NoGit;
    };
    let git = Git { program, folder, name };
    git.keep().await.unwrap_or_else(Repository::Failed)
}

impl Git<'_> {
    async fn keep(&self) -> Result<Repository, String> {
        let top = self.top().await?;
        if let Some(top) = &top
            && !same(top, self.folder)
        {
            return Ok(Repository::Inside(top.clone()));
        }
        if top.is_none() {
            self.run(&["-c", "init.defaultBranch=main", "init", "-q"]).await?;
        }
        self.ignore().map_err(|error| format!("cannot write {IGNORE}: {error}"))?;
        self.run(&["add", "--", IGNORE, self.name]).await?;
        let same = ["diff", "--cached", "--quiet", "--", IGNORE, self.name];
        if top.is_some() && self.ask(&same).await?.well() {
            return Ok(Repository::Unchanged);
        }
        self.commit().await?;
        Ok(if top.is_some() { Repository::Committed } else { Repository::Made })
    }

    /// Returns the top folder of the repository that the configuration lies in.
    async fn top(&self) -> Result<Option<PathBuf>, String> {
        let said = self.ask(&["rev-parse", "--show-toplevel"]).await?;
        if said.well() {
            let top = said.out.first().filter(|line| !line.is_empty());
            return top.map(|line| Some(PathBuf::from(line))).ok_or_else(|| fault(&said));
        }
        if said.err.iter().any(|line| line.contains("not a git repository")) {
            return Ok(None);
        }
        Err(fault(&said))
    }

    /// Writes what git leaves out, unless somebody has said so already.
    fn ignore(&self) -> io::Result<()> {
        let text = format!(
            "# Git ignores everything here except the files named below: the rest may be state or \
             secrets.\n/*\n!/{IGNORE}\n!/{}\n",
            self.name
        );
        match file::write_new(&self.folder.join(IGNORE), &text) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            written => written,
        }
    }

    /// Commits these two files and nothing else.
    async fn commit(&self) -> Result<(), String> {
        let mut args = QUIETLY.to_vec();
        let known = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"];
        if !self.ask(&known).await?.well() {
            args.extend(["-c", "user.name=gangline", "-c", "user.email=gangline@localhost"]);
        }
        args.extend(["commit", "-q", "-m", "The fleet's configuration, by gangline init", "--"]);
        args.extend([IGNORE, self.name]);
        self.run(&args).await
    }

    async fn run(&self, args: &[&str]) -> Result<(), String> {
        let said = self.ask(args).await?;
        if said.well() { Ok(()) } else { Err(fault(&said)) }
    }

    async fn ask(&self, args: &[&str]) -> Result<Said, String> {
        let said = ask(&self.program, args, self.folder, environment(), PATIENCE).await;
        said.map_err(|error| error.to_string())
    }
}

/// Returns git's environment: what every child may have, who commits, and English.
fn environment() -> Vec<(OsString, OsString)> {
    const WHO: [&str; 4] =
        ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let mut env = base_env();
    env.retain(|(name, _)| name != "LC_ALL");
    let who = WHO.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    env.extend(who);
    env.push(("LC_ALL".into(), "C".into()));
    env.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
    env
}

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn fault(said: &Said) -> String {
    let line = Said::first(&said.err).or_else(|| Said::first(&said.out));
    let plain = |line: &str| line.chars().filter(|c| !c.is_control()).take(200).collect();
    match (line, said.exit) {
        (Some(line), _) => plain(line),
        (None, None) => "git did not finish in time".to_owned(),
        (None, Some(_)) => "git failed without a message".to_owned(),
    }
}
