//! What a commit changes, for whoever allows it: every file first; then what the configuration names of
//! them, since that is read or run; then every line. What cannot be shown whole cannot be asked for.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use gangline_config::{
    Config,
    named::{Folders, behind_links, named},
};
use gangline_core::shown;
use gangline_os::git::{ChangedFile, GitError, ObjectId, Repository};

/// The most of a difference that is shown, in bytes.
const DIFF_MAX: usize = 256 * 1024;
/// The most files that a commit may change.
const FILES_MAX: usize = 500;

/// A commit, as people see it.
pub(super) struct Proposed {
    /// Every file that differs, a line each.
    pub(super) files: Vec<String>,
    /// Those that a configuration names: `mcp.json (mcp_servers_file of oak-bob)`.
    pub(super) named: Vec<String>,
    /// The difference, with the named files first.
    pub(super) diff: Vec<String>,
}

/// The two sides of a change.
pub(super) struct Sides<'a> {
    pub(super) repository: &'a Repository,
    pub(super) commits: (&'a ObjectId, &'a ObjectId),
    pub(super) configs: (&'a Config, &'a Config),
    pub(super) config_file: &'a Path,
}

impl Sides<'_> {
    /// Compares them.
    ///
    /// # Errors
    /// Why nothing is asked for, and what to do.
    pub(super) async fn compared(&self) -> Result<Proposed, String> {
        let (before, after) = self.commits;
        let files = self.repository.changed(before, after).await;
        let files = files.map_err(|error| refused(&error))?;
        if files.len() > FILES_MAX {
            let count = files.len();
            return Err(format!(
                "no request made: the commit changes {count} files, and at most {FILES_MAX} can be shown \
                 to an owner: split it"
            ));
        }
        if let Some(file) = files.iter().find(|file| is_attributes(&file.path)) {
            return Err(format!(
                "no request made: {} tells git what to make of other files when it checks them out, so \
                 nobody can see here what they will hold: leave it out of the commit; an owner commits it",
                shown::label(&file.path)
            ));
        }
        let mut by = self.named_files().await?;
        through(&mut by, &files);
        let is_named = |file: &ChangedFile| by.contains_key(Path::new(&file.path));
        if let Some(file) = files.iter().find(|file| is_named(file) && file.lines.is_none()) {
            return Err(format!(
                "no request made: {} is named by the configuration and is no text, so nobody can see what \
                 it does: leave it out of the commit; an owner commits it",
                shown::label(&file.path)
            ));
        }
        let text = match self.repository.diff(before, after, usize::MAX).await {
            Ok(text) if text.len() <= DIFF_MAX => text,
            Ok(_) | Err(GitError::TooLong(_)) => {
                return Err(format!(
                    "no request made: the difference to what is in use is larger than {DIFF_MAX} bytes, \
                     which is the most that can be shown to an owner: leave large files out of the commit"
                ));
            }
            Err(error) => return Err(refused(&error)),
        };
        let line = |file: &ChangedFile| {
            let by = by.get(Path::new(&file.path)).map_or_else(String::new, |by| {
                format!(" (named by {})", by.iter().cloned().collect::<Vec<_>>().join(", "))
            });
            format!("{}{by}", described(file))
        };
        let named = files.iter().filter(|file| is_named(file));
        let told = |file: &ChangedFile| {
            let by: Vec<&str> = by[Path::new(&file.path)].iter().map(String::as_str).collect();
            format!("{} (named by {})", shown::label(&file.path), by.join(", "))
        };
        let paths: Vec<&str> = named.clone().map(|file| file.path.as_str()).collect();
        Ok(Proposed {
            named: named.map(told).collect(),
            diff: ordered(&text, &paths),
            files: files.iter().map(line).collect(),
        })
    }

    /// Returns the files of the repository that either configuration names, and where; behind links too.
    async fn named_files(&self) -> Result<BTreeMap<PathBuf, BTreeSet<String>>, String> {
        let folder = self.config_file.parent().unwrap_or(Path::new("/"));
        let root = self.repository.root();
        // The folder as it is written may lead to the repository over a link.
        let depth = folder.canonicalize().ok();
        let depth = depth.and_then(|it| Some(it.strip_prefix(root).ok()?.components().count()));
        let written = folder.ancestors().nth(depth.unwrap_or(0)).map(Path::to_owned);
        let roots: Vec<PathBuf> = written.into_iter().chain([root.to_owned()]).collect();
        let home = std::env::home_dir();
        let folders = Folders { roots: &roots, configuration: folder, home: home.as_deref() };
        let mut found: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        let (before, after) = (self.configs.0, self.configs.1);
        for (config, commit) in [(before, self.commits.0), (after, self.commits.1)] {
            let links = self.repository.links(commit).await.map_err(|error| refused(&error))?;
            let link = |path: &Path| links.get(path.to_str()?).map(PathBuf::from);
            for one in named(config, folders) {
                for path in behind_links(&one.path, &link) {
                    found.entry(path).or_default().insert(one.by.clone());
                }
            }
        }
        Ok(found)
    }
}

/// Names with each file what is named behind it: of a link or a submodule another file is read.
fn through(by: &mut BTreeMap<PathBuf, BTreeSet<String>>, files: &[ChangedFile]) {
    for file in files {
        let path = Path::new(&file.path);
        let behind = by.iter().filter(|(named, _)| named.starts_with(path));
        let names: BTreeSet<String> = behind.flat_map(|(_, names)| names).cloned().collect();
        if !names.is_empty() {
            by.insert(path.to_owned(), names);
        }
    }
}

/// Returns whether a file says how git checks other files out. Some file systems do not tell small letters from
/// others.
fn is_attributes(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".gitattributes"))
}

/// Returns a changed file on one line: `M extra.json, +3 −1 lines`.
fn described(file: &ChangedFile) -> String {
    let lines = match file.lines {
        Some((added, removed)) => format!("+{added} −{removed} lines"),
        None => "no text".to_owned(),
    };
    let mode = match &file.modes {
        Some((_, is)) if is == "120000" => ", a link",
        Some((_, is)) if is == "160000" => ", a submodule",
        Some((was, is)) if is == "100755" && was != is => ", can be run",
        Some(_) | None => "",
    };
    format!("{} {}, {lines}{mode}", file.status, shown::label(&file.path))
}

/// Returns the lines of a difference with these files first.
fn ordered(text: &str, first: &[&str]) -> Vec<String> {
    let mut sections: Vec<Vec<&str>> = Vec::new();
    // Not `lines`: a return before the break is part of the file.
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n').filter(|_| !text.is_empty()) {
        match sections.last_mut() {
            Some(section) if !line.starts_with("diff --git ") => section.push(line),
            Some(_) | None => sections.push(vec![line]),
        }
    }
    let is_first = |section: &Vec<&str>| {
        first.iter().any(|path| section[0] == format!("diff --git a/{path} b/{path}"))
    };
    let (named, others): (Vec<_>, Vec<_>) = sections.into_iter().partition(is_first);
    named.into_iter().chain(others).flatten().map(str::to_owned).collect()
}

/// What an owner does where there is no repository.
pub(super) const INIT: &str = "an owner runs `gangline init --git` once";

pub(super) fn refused(error: &GitError) -> String {
    match error {
        GitError::NoRepository(_) => {
            format!("no request made: {error}, and a change needs one: {INIT}")
        }
        GitError::NoGit
        | GitError::NotACommit(_)
        | GitError::Run(_)
        | GitError::Late
        | GitError::TooLong(_)
        | GitError::Failed { .. } => format!("no request made: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_files_of_a_difference_come_first() {
        let text = "diff --git a/a b/a\n+x\ndiff --git a/b b/b\n+diff --git a/c b/c\n";
        let text = text.replace("+x", "+x\r");
        let expect = ["diff --git a/b b/b", "+diff --git a/c b/c", "diff --git a/a b/a", "+x\r"];
        assert_eq!(ordered(&text, &["b", "c"]), expect);
        assert_eq!(ordered("", &["b"]), Vec::<String>::new());
    }

    #[test]
    fn a_changed_file_is_one_line() {
        let file = |lines, modes: Option<(&str, &str)>| ChangedFile {
            path: "a\nb".to_owned(),
            status: "M".to_owned(),
            lines,
            modes: modes.map(|(was, is)| (was.to_owned(), is.to_owned())),
        };
        for (lines, modes, expect) in [
            (Some((3, 1)), None, "M a<U+000A>b, +3 −1 lines"),
            (None, None, "M a<U+000A>b, no text"),
            (Some((1, 1)), Some(("100644", "120000")), "M a<U+000A>b, +1 −1 lines, a link"),
            (Some((0, 0)), Some(("100644", "100755")), "M a<U+000A>b, +0 −0 lines, can be run"),
            (Some((1, 0)), Some(("000000", "160000")), "M a<U+000A>b, +1 −0 lines, a submodule"),
        ] {
            assert_eq!(described(&file(lines, modes)), expect);
        }
    }

    /// A link or a submodule that changes is another file of the same name.
    #[test]
    fn what_leads_to_a_named_file_is_named() {
        let file = |path: &str| ChangedFile {
            path: path.to_owned(),
            status: "M".to_owned(),
            lines: Some((1, 1)),
            modes: None,
        };
        let named = |path: &str, by: &str| (PathBuf::from(path), BTreeSet::from([by.to_owned()]));
        let mut by = BTreeMap::from([named("sub/mcp.json", "a"), named("subs", "b")]);
        through(&mut by, &[file("sub"), file("su"), file("sub/other")]);
        let expect = [named("sub", "a"), named("sub/mcp.json", "a"), named("subs", "b")];
        assert_eq!(by, BTreeMap::from(expect));
        for (path, expect) in
            [(".gitattributes", true), ("a/.GitAttributes", true), ("x.gitattributes", false)]
        {
            assert_eq!(is_attributes(path), expect, "{path}");
        }
    }
}
