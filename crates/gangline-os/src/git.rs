//! A git repository, by the program `git`, in a way that nothing in it can start another program: its
//! hooks, filters, monitors, pagers and helpers are switched off, and it reaches no network.
//!
//! Start at [`Repository::around`]. What the files mean is nobody's business here.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use crate::process::{
    Child, Group, KillPolicy, Output, Spawn, SpawnError, Stdin, base_env, find_on_path, spawn,
};

pub use changed::ChangedFile;

mod changed;

#[cfg(test)]
mod tests;

/// How long git may take for one step.
const PATIENCE: Duration = Duration::from_secs(30);
/// For one that does not end in time.
const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::ZERO, kill_after: Duration::from_millis(500) };
/// The most that is read of an error.
const FAULT_MAX: u64 = 4096;
/// The most that is read of an answer which is a list or a number.
const ANSWER_MAX: u64 = 1024 * 1024;

/// What a repository's own settings may not decide.
const SETTINGS: [(&str, &str); 10] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.sshCommand", "false"),
    ("core.quotePath", "false"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("protocol.file.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
];

/// The whole name of an object, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectId(String);

impl ObjectId {
    /// Takes the whole name of an object; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        let whole = matches!(text.len(), 40 | 64) && text.bytes().all(hex);
        whole.then(|| Self(text.to_owned()))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its first twelve characters, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

/// Why git did not do it.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The file is in no repository.
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// There is no git on the `PATH`.
    #[error("there is no program `git` on the PATH")]
    NoGit,
    /// What was named is no commit.
    #[error("`{0}` is not a commit of the repository")]
    NotACommit(String),
    /// It could not be started or read.
    #[error("cannot run git")]
    Run(#[source] io::Error),
    /// It did not finish in time.
    #[error("git did not finish in time")]
    Late,
    /// It said more than is read.
    #[error("git said more than {0} bytes")]
    TooLong(u64),
    /// It failed, and said why.
    #[error("git {step} failed: {said}")]
    Failed {
        /// What it was to do.
        step: String,
        /// What it said.
        said: String,
    },
}

/// Who makes a commit, and why.
#[derive(Debug, Clone, Copy)]
pub struct Authorship<'a> {
    /// The author's name.
    pub author: &'a str,
    /// The message.
    pub message: &'a str,
}

/// A repository and the file in it that matters.
#[derive(Debug, Clone)]
pub struct Repository {
    program: PathBuf,
    root: PathBuf,
    file: PathBuf,
}

impl Repository {
    /// Finds the repository that this file lies in, which need not be there.
    ///
    /// # Errors
    /// [`GitError::NoRepository`], [`GitError::NoGit`].
    pub fn around(file: &Path) -> Result<Self, GitError> {
        let none = || GitError::NoRepository(file.to_owned());
        let folder = file.parent().ok_or_else(none)?;
        let folder = folder.canonicalize().map_err(|_| none())?;
        let root = folder.ancestors().find(|it| it.join(".git").exists()).ok_or_else(none)?;
        let file = folder.join(file.file_name().ok_or_else(none)?);
        let file = file.strip_prefix(root).map_err(|_| none())?.to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find_on_path("git".as_ref(), &path).ok_or(GitError::NoGit)?;
        Ok(Self { program, root: root.to_owned(), file })
    }

    /// Returns the top folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the commit that this names. A name that begins with `-` is none.
    ///
    /// # Errors
    /// [`GitError::NotACommit`], otherwise as every step.
    pub async fn commit(&self, name: &str) -> Result<ObjectId, GitError> {
        let none = || GitError::NotACommit(name.chars().take(200).collect());
        if name.is_empty() || name.starts_with('-') || name.chars().any(char::is_control) {
            return Err(none());
        }
        let wanted = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        match self.run(&args).await {
            Ok(said) => ObjectId::parse(said.trim()).ok_or_else(none),
            Err(GitError::Failed { .. }) => Err(none()),
            Err(other) => Err(other),
        }
    }

    /// Returns the commit that is checked out.
    ///
    /// # Errors
    /// As every step.
    pub async fn head(&self) -> Result<ObjectId, GitError> {
        self.commit("HEAD").await
    }

    /// Returns the file as a commit has it, at most `limit` bytes; `None` if it has none.
    ///
    /// # Errors
    /// [`GitError::TooLong`], otherwise as every step.
    pub async fn file_at(&self, id: &ObjectId, limit: u64) -> Result<Option<String>, GitError> {
        let name = format!("{}:{}", id.as_str(), self.file.display());
        let is_there = self.run(&["cat-file", "-e", &name]).await;
        if let Err(GitError::Failed { .. }) = is_there {
            return Ok(None);
        }
        let args = ["cat-file", "blob", &name].map(OsString::from);
        let bytes = self.bytes(&args, (None, limit)).await?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns the files that git keeps and that are changed and not committed.
    ///
    /// # Errors
    /// As every step.
    pub async fn uncommitted(&self) -> Result<Vec<String>, GitError> {
        let args =
            ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all"];
        let said = self.run(&args).await?;
        let names = said.split('\0').filter_map(|line| line.get(3..));
        Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Returns whether the second commit has the first one before it, or is the same.
    ///
    /// # Errors
    /// As every step.
    pub async fn follows(&self, before: &ObjectId, after: &ObjectId) -> Result<bool, GitError> {
        let args = ["merge-base", "--is-ancestor", before.as_str(), after.as_str()];
        match self.run(&args).await {
            Ok(_) => Ok(true),
            Err(GitError::Failed { said, .. }) if said.is_empty() => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Returns whether two commits have the same files.
    ///
    /// # Errors
    /// As every step.
    pub async fn is_same(&self, one: &ObjectId, other: &ObjectId) -> Result<bool, GitError> {
        Ok(self.tree(one).await? == self.tree(other).await?)
    }

    /// Returns the difference of two commits, at most `limit` bytes of it; the rest is counted.
    ///
    /// # Errors
    /// As every step.
    pub async fn diff(
        &self,
        before: &ObjectId,
        after: &ObjectId,
        limit: usize,
    ) -> Result<String, GitError> {
        let args = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--submodule=short",
            before.as_str(),
            after.as_str(),
            "--",
        ];
        let mut text = self.run(&args).await?;
        if text.len() > limit {
            let left = text.len() - limit;
            let at = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(at);
            text.push_str(&format!("\n… (+{left} bytes)\n"));
        }
        Ok(text)
    }

    /// Goes from the commit that is checked out to one that follows it: the files, then the branch.
    /// Repeated after it was cut off, it goes on. It refuses to lose what is not committed.
    ///
    /// # Errors
    /// As every step; the branch is as it was then.
    pub async fn forward(&self, from: &ObjectId, to: &ObjectId) -> Result<(), GitError> {
        let args = ["read-tree", "-m", "-u", "--no-recurse-submodules", from.as_str(), to.as_str()];
        self.run(&args).await?;
        let args = ["update-ref", "-m", "gangline", "HEAD", to.as_str(), from.as_str()];
        self.run(&args).await.map(drop)
    }

    /// Makes a commit after `parent` in which the file has this content. Nothing is checked out.
    ///
    /// # Errors
    /// As every step.
    pub async fn with_file(
        &self,
        parent: &ObjectId,
        content: &str,
        by: Authorship<'_>,
    ) -> Result<ObjectId, GitError> {
        let args = ["hash-object", "-w", "--no-filters", "--stdin"].map(OsString::from);
        let blob = self.bytes(&args, (Some(content.as_bytes()), ANSWER_MAX)).await?;
        let blob = String::from_utf8_lossy(&blob).trim().to_owned();
        // An index of its own: that of the work tree is left alone.
        let index = self.root.join(format!(".gangline-index-{}", std::process::id()));
        let made = self.tree_with(parent, &blob, &index).await;
        let _ = std::fs::remove_file(&index);
        self.commit_tree(&made?, parent, by).await
    }

    /// Makes a commit after `parent` that has the files of another one. Nothing is checked out.
    ///
    /// # Errors
    /// As every step.
    pub async fn with_files_of(
        &self,
        other: &ObjectId,
        parent: &ObjectId,
        by: Authorship<'_>,
    ) -> Result<ObjectId, GitError> {
        let tree = self.tree(other).await?;
        self.commit_tree(&tree, parent, by).await
    }

    /// Returns the first line of a commit's message.
    ///
    /// # Errors
    /// As every step.
    pub async fn subject(&self, id: &ObjectId) -> Result<String, GitError> {
        let said = self.run(&["cat-file", "commit", id.as_str()]).await?;
        let body = said.split_once("\n\n").map_or("", |(_, body)| body);
        Ok(body.lines().next().unwrap_or_default().to_owned())
    }

    async fn tree(&self, id: &ObjectId) -> Result<String, GitError> {
        let wanted = format!("{}^{{tree}}", id.as_str());
        let said = self.run(&["rev-parse", "--verify", "--end-of-options", &wanted]).await?;
        Ok(said.trim().to_owned())
    }

    async fn tree_with(
        &self,
        parent: &ObjectId,
        blob: &str,
        index: &Path,
    ) -> Result<String, GitError> {
        let step = async |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            let env = [("GIT_INDEX_FILE".into(), index.as_os_str().to_owned())];
            self.with(&args, (None, ANSWER_MAX), &env).await
        };
        step(&["read-tree", parent.as_str()]).await?;
        let entry = format!("100644,{blob},{}", self.file.display());
        step(&["update-index", "--add", "--cacheinfo", &entry]).await?;
        let tree = step(&["write-tree"]).await?;
        Ok(String::from_utf8_lossy(&tree).trim().to_owned())
    }

    async fn commit_tree(
        &self,
        tree: &str,
        parent: &ObjectId,
        by: Authorship<'_>,
    ) -> Result<ObjectId, GitError> {
        let args = ["commit-tree", "--no-gpg-sign", "-p", parent.as_str(), "-m", by.message, tree];
        let args = args.map(OsString::from);
        let env = [("GIT_AUTHOR_NAME".into(), by.author.into())];
        let said = self.with(&args, (None, ANSWER_MAX), &env).await?;
        let said = String::from_utf8_lossy(&said);
        ObjectId::parse(said.trim()).ok_or_else(|| GitError::NotACommit(said.trim().to_owned()))
    }

    async fn run(&self, args: &[&str]) -> Result<String, GitError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let said = self.bytes(&args, (None, ANSWER_MAX)).await?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    /// Runs git with this input, and returns at most so much of what it says.
    async fn bytes(
        &self,
        args: &[OsString],
        pipes: (Option<&[u8]>, u64),
    ) -> Result<Vec<u8>, GitError> {
        self.with(args, pipes, &[]).await
    }

    async fn with(
        &self,
        args: &[OsString],
        (input, limit): (Option<&[u8]>, u64),
        more: &[(OsString, OsString)],
    ) -> Result<Vec<u8>, GitError> {
        let filters = self.filters().await?;
        let settings = SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), *value));
        let settings: Vec<_> = settings.chain(filters).collect();
        let mut env = environment(&settings);
        env.extend(more.iter().cloned());
        let (code, said, fault) = self.ask(args, env, (input, limit)).await?;
        match code {
            Some(0) => Ok(said),
            Some(_) | None => Err(GitError::Failed {
                step: args.first().map_or_else(String::new, |it| it.display().to_string()),
                said: first_line(&fault),
            }),
        }
    }

    /// Returns settings that switch off every filter which the repository names: they are programs.
    async fn filters(&self) -> Result<Vec<(String, &'static str)>, GitError> {
        let args = ["config", "-z", "--name-only", "--get-regexp", "^filter\\."];
        let args = args.map(OsString::from);
        let env = environment(&SETTINGS.map(|(key, value)| (key.to_owned(), value)));
        // Code 1: there is none.
        let (_, said, _) = self.ask(&args, env, (None, ANSWER_MAX)).await?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let off = |key: &str| {
            let required = key.to_ascii_lowercase().ends_with(".required");
            (key.to_owned(), if required { "false" } else { "" })
        };
        Ok(said.split('\0').filter(|key| !key.is_empty()).map(off).collect())
    }

    async fn ask(
        &self,
        args: &[OsString],
        env: Vec<(OsString, OsString)>,
        (input, limit): (Option<&[u8]>, u64),
    ) -> Result<(Option<i32>, Vec<u8>, Vec<u8>), GitError> {
        let option = |name: &str, path: &Path| {
            let mut option = OsString::from(name);
            option.push(path);
            option
        };
        let mut all: Vec<OsString> = vec![
            "--no-pager".into(),
            option("--git-dir=", &self.root.join(".git")),
            option("--work-tree=", &self.root),
        ];
        all.extend(args.iter().cloned());
        let mut child = spawn(Spawn {
            program: self.program.clone(),
            args: all,
            cwd: self.root.clone(),
            env,
            stdin: if input.is_some() { Stdin::Piped } else { Stdin::Null },
            stdout: Output::Piped,
            stderr: Output::Piped,
            group: Group::New,
        })
        .map_err(|error: SpawnError| GitError::Run(io::Error::other(error)))?;
        let heard = timeout(PATIENCE, hear(&mut child, input, limit)).await;
        child.end(&KILL_POLICY).await;
        heard.map_err(|_| GitError::Late)?
    }
}

/// Gives a child its input, and returns its exit code and what it said.
async fn hear(
    child: &mut Child,
    input: Option<&[u8]>,
    limit: u64,
) -> Result<(Option<i32>, Vec<u8>, Vec<u8>), GitError> {
    let (out, err, pipe) = (child.take_stdout(), child.take_stderr(), child.take_stdin());
    let give = async {
        if let (Some(mut pipe), Some(input)) = (pipe, input) {
            // One that does not want it says so by its exit.
            let _ = pipe.write_all(input).await;
        }
    };
    let ((), said, fault) = tokio::join!(give, all(out, limit), all(err, FAULT_MAX));
    let (said, fault) = (said.map_err(GitError::Run)?, fault.map_err(GitError::Run)?);
    let exit = child.wait().await.map_err(GitError::Run)?;
    if said.len() as u64 > limit {
        return Err(GitError::TooLong(limit));
    }
    Ok((exit.code, said, fault))
}

/// Reads everything, keeps one byte more than `limit`, so that nobody waits for room.
async fn all(pipe: Option<impl AsyncRead + Unpin>, limit: u64) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(kept) };
    (&mut pipe).take(limit + 1).read_to_end(&mut kept).await?;
    tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    Ok(kept)
}

/// Returns git's environment: what every child may have, English, nobody's settings but the
/// repository's, and over them these.
fn environment(settings: &[(String, &str)]) -> Vec<(OsString, OsString)> {
    const FIXED: [(&str, &str); 10] = [
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_AUTHOR_NAME", "gangline"),
        ("GIT_AUTHOR_EMAIL", "gangline@localhost"),
        ("GIT_COMMITTER_NAME", "gangline"),
        ("GIT_COMMITTER_EMAIL", "gangline@localhost"),
    ];
    let mut env = base_env();
    env.retain(|(name, _)| name != "LC_ALL");
    env.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
    env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
    for (number, (key, value)) in settings.iter().enumerate() {
        env.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        env.push((format!("GIT_CONFIG_VALUE_{number}").into(), OsStr::new(value).to_owned()));
    }
    env
}

fn first_line(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}
