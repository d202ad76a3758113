//! Which files a call of a tool would use, and whether it may: names in its arguments become
//! resolved paths here, the rules are [`gangline_core::reading`]'s.
//!
//! Looks at links, and reads no file. A path counts as it stands and as it would be with `..` taken
//! away first, and with `~` for the home folder: programs differ, so the worst of them counts.

use std::path::{Component, Path, PathBuf};

use gangline_core::{
    permission::{Permissions, Permit, Policy},
    reading::{Access, Bounds, Extent},
};
use gangline_os::{
    fsio,
    names::{self, Found, Others},
};
use serde_json::Value;

use crate::{NamedFile, StartOptions};

/// Arguments that name one file or folder, by the names that programs give them.
const NAMED: [&str; 14] = [
    "file_path",
    "filePath",
    "filepath",
    "notebook_path",
    "absolute_path",
    "absolutePath",
    "dir_path",
    "dirPath",
    "directory",
    "folder",
    "file",
    "filename",
    "path",
    "uri",
];
/// Arguments that name several.
const LISTED: [&str; 4] = ["paths", "files", "file_paths", "filePaths"];
/// Tools that use the files that they name.
const FILE_TOOLS: [&str; 9] =
    ["Read", "Write", "Edit", "MultiEdit", "NotebookRead", "NotebookEdit", "LS", "Delete", "Move"];
/// The tool that runs commands.
const SHELL: &str = "Bash";
/// By what names such a tool may be told a folder.
const SHELL_FOLDERS: [&str; 4] = ["cwd", "workdir", "dir_path", "directory"];
/// What a model says of a call beside it, which no tool uses.
const REMARKS: [&str; 2] = ["description", "reason"];
/// Where people see what the tool does not use.
const IGNORED: &str = "ignored";
/// Where they see one of which that is not known.
const UNSURE: &str = "may_run_in";
/// What makes a pattern of a path.
const META: [char; 5] = ['*', '?', '[', '{', '!'];

/// Whether a program leaves out what is closed when it searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Searches {
    /// It was told to, and does.
    LeaveOut,
    /// It reads all that is there.
    ReadAll,
}

/// The rules of one session, with the folders that they are about.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    policy: Policy,
    bounds: Bounds,
    workdir: PathBuf,
    /// Where the program works, if that is another folder.
    cwd: Option<PathBuf>,
    home: Option<PathBuf>,
    searches: Searches,
}

impl Reading {
    /// Takes the agent's rules; its working folder and its temporary files are open to it.
    pub(crate) fn of(options: &StartOptions, searches: Searches) -> Self {
        let home = options.env.iter().rev().find(|(name, _)| name == "HOME");
        Self {
            policy: options.policy(),
            bounds: options.resolved_bounds(),
            workdir: options.workdir.clone(),
            cwd: None,
            home: home.map(|(_, home)| PathBuf::from(home)).filter(|home| home.is_absolute()),
            searches,
        }
    }

    /// Opens what else is the program's own.
    pub(crate) fn opens(&mut self, paths: &[PathBuf]) {
        self.bounds.open.extend(paths.iter().map(|path| fsio::resolved(path)));
    }

    /// Learns in which folder the program works by now.
    pub(crate) fn works_in(&mut self, folder: &str) {
        let folder = Path::new(folder);
        self.cwd = (folder.is_absolute() && folder != self.workdir).then(|| folder.to_owned());
    }

    /// Returns whether a call of this tool may be asked about because of its arguments; denied it may
    /// be in every mode.
    pub(crate) fn looks_at_arguments(&self, tool: &str) -> bool {
        self.policy.mode() == Permissions::Ask
            && (FILE_TOOLS.contains(&tool) || ["Glob", "Grep"].contains(&tool))
    }

    /// Returns the rules.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    #[cfg(test)]
    pub(crate) fn in_folder(folder: &str, mode: Permissions) -> Self {
        Self {
            policy: Policy::new(mode),
            bounds: Bounds { open: vec![folder.into()], closed: Vec::new() },
            workdir: folder.into(),
            cwd: None,
            home: None,
            searches: Searches::ReadAll,
        }
    }

    /// Returns what is to be done about a call, by the name under which rules know the tool.
    pub(crate) fn permit(&self, tool: &str, input: &Value) -> Permit {
        match tool {
            tool if FILE_TOOLS.contains(&tool) => {
                self.on_files(tool, &named(input, Extent::Alone), None)
            }
            "Grep" => self.on_files(tool, &named(input, self.extent()), self.whole_folder()),
            "Glob" => self.on_files(tool, &self.globbed(input), self.whole_folder()),
            _ => self.policy.permit(tool),
        }
    }

    /// As [`Reading::permit`], with the file or folder that the call may then use: no part of that
    /// path was a link when it was judged, and whoever opens it must see to it that none is one by
    /// then. `None` = the tool uses none of its own.
    pub(crate) fn permit_of_place(&self, tool: &str, input: &Value) -> (Permit, Option<PathBuf>) {
        let named = match tool {
            "Read" | "Write" | "Edit" => input["file_path"].as_str(),
            "Glob" | "Grep" => Some(input["path"].as_str().unwrap_or_default()),
            _ => None,
        };
        let Some(named) = named else { return (self.permit(tool, input), None) };
        // Resolved once: links that change from here on change nothing.
        let place = fsio::resolved(&self.workdir.join(named));
        let extent = match tool {
            "Glob" | "Grep" => self.extent(),
            _ => Extent::Alone,
        };
        let here = self.bounds.access(&place, extent).max(self.by_another_name(&place));
        let here = self.policy.on_file(tool, here);
        let permit = match (self.permit(tool, input), here) {
            (Permit::Deny(why), _) | (_, Permit::Deny(why)) => Permit::Deny(why),
            (Permit::Ask, _) | (_, Permit::Ask) => Permit::Ask,
            (Permit::Allow, Permit::Allow) => Permit::Allow,
        };
        (permit, Some(place))
    }

    /// As [`Reading::permit`] for a call that may have more paths than its arguments show: one that
    /// names no file at all is asked about.
    pub(crate) fn permit_of_unknown(
        &self,
        tool: &str,
        (input, places): (&Value, &[String]),
    ) -> Permit {
        let extent = if tool == "Grep" { self.extent() } else { Extent::Alone };
        let mut uses = named(input, extent);
        uses.extend(places.iter().map(|place| Use { path: place.into(), extent, surely: true }));
        match (tool, uses.is_empty()) {
            ("Read" | "Grep", true) => self.policy.on_file(tool, Access::Outside),
            ("Read" | "Grep" | "Edit" | "Delete" | "Move", _) => self.on_files(tool, &uses, None),
            _ => self.policy.permit(tool),
        }
    }

    /// Returns the files that a call names, and where each leads now; `more` are files that stand
    /// elsewhere than in its arguments. A tool that uses none of its own has none.
    pub(crate) fn files(&self, tool: &str, input: &Value, more: &[String]) -> Vec<NamedFile> {
        let uses = match tool {
            "Glob" => self.globbed(input),
            tool if FILE_TOOLS.contains(&tool) || tool == "Grep" => named(input, Extent::Alone),
            _ => return Vec::new(),
        };
        let named = uses.iter().map(|it| it.path.as_path());
        self.named_files(named.chain(more.iter().map(Path::new)))
    }

    /// As [`Reading::files`], of paths that are known.
    pub(crate) fn named_files<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> Vec<NamedFile> {
        let mut files: Vec<NamedFile> = Vec::new();
        for path in paths {
            let begins = [Some(&self.workdir), self.cwd.as_ref()];
            let mut given: Vec<PathBuf> =
                begins.into_iter().flatten().map(|folder| folder.join(path)).collect();
            if let (Some(home), Ok(rest)) = (&self.home, path.strip_prefix("~")) {
                given.push(home.join(rest));
            }
            given.dedup();
            let name = path.display().to_string();
            if !files.iter().any(|file| file.named == name) {
                files.push(NamedFile::of(&name, given, &self.workdir));
            }
        }
        files
    }

    /// Returns the arguments as people see them, of a program whose shell takes no folder: what it is
    /// told of one is said to be ignored.
    pub(crate) fn without_folder(&self, tool: &str, mut input: Value) -> Value {
        let Some(fields) = input.as_object_mut().filter(|_| tool == SHELL) else { return input };
        let mut ignored = serde_json::Map::new();
        for name in SHELL_FOLDERS {
            if let Some(folder) = fields.remove(name)
                && folder.as_str().map(Path::new) != Some(&self.workdir)
            {
                ignored.insert(name.to_owned(), folder);
            }
        }
        if !ignored.is_empty() {
            fields.insert(IGNORED.to_owned(), ignored.into());
        }
        input
    }

    /// As [`Reading::without_folder`], of any tool of which it is known what it uses: all else is said to be
    /// ignored.
    pub(crate) fn with_known(&self, tool: &str, input: Value, known: &[String]) -> Value {
        let Value::Object(fields) = input else { return input };
        let (mut used, ignored): (serde_json::Map<_, _>, serde_json::Map<_, _>) = fields
            .into_iter()
            .partition(|(name, _)| known.contains(name) || REMARKS.contains(&name.as_str()));
        let here = |(name, value): &(String, Value)| {
            let folder = tool == SHELL && SHELL_FOLDERS.contains(&name.as_str());
            folder && value.as_str().map(Path::new) == Some(&self.workdir)
        };
        let ignored: serde_json::Map<_, _> =
            ignored.into_iter().filter(|field| !here(field) && !field.1.is_null()).collect();
        if !ignored.is_empty() {
            used.insert(IGNORED.to_owned(), ignored.into());
        }
        Value::Object(used)
    }

    /// As [`Reading::without_folder`], of a program whose shell runs in the folder that `honoured` names.
    /// Of any other name nobody knows whether it counts.
    pub(crate) fn with_folder(&self, tool: &str, mut input: Value, honoured: &[&str]) -> Value {
        let Some(fields) = input.as_object_mut().filter(|_| tool == SHELL) else { return input };
        let mut unsure = serde_json::Map::new();
        let mut runs_in = None;
        for name in SHELL_FOLDERS {
            let Some(folder) = fields.remove(name) else { continue };
            let path = folder.as_str().map(|it| self.workdir.join(it));
            match path {
                Some(path) if path == self.workdir => {}
                Some(path) if honoured.contains(&name) && runs_in.is_none() => runs_in = Some(path),
                _ => {
                    unsure.insert(name.to_owned(), folder);
                }
            }
        }
        if let Some(path) = runs_in {
            fields.insert("cwd".to_owned(), path.display().to_string().into());
        }
        if !unsure.is_empty() {
            fields.insert(UNSURE.to_owned(), unsure.into());
        }
        input
    }

    /// Returns what is to be done about a call that uses these files.
    pub(crate) fn permit_of_paths(&self, tool: &str, paths: &[&str]) -> Permit {
        let used = |path: &&str| Use { path: path.into(), extent: Extent::Alone, surely: true };
        let uses: Vec<Use> = paths.iter().map(used).collect();
        self.on_files(tool, &uses, None)
    }

    fn on_files(&self, tool: &str, uses: &[Use], usual: Option<Use>) -> Permit {
        let usual = usual.filter(|_| uses.is_empty());
        let worst = uses.iter().chain(&usual).map(|it| self.access(it)).max();
        match worst {
            Some(access) => self.policy.on_file(tool, access),
            // It names nothing, so it will find nothing.
            None => self.policy.permit(tool),
        }
    }

    fn access(&self, it: &Use) -> Access {
        let begins = [Some(&self.workdir), self.cwd.as_ref()];
        let given: Vec<PathBuf> =
            begins.into_iter().flatten().map(|folder| folder.join(&it.path)).collect();
        let mut ways: Vec<PathBuf> = given
            .iter()
            .flat_map(|given| [fsio::resolved(given), fsio::resolved(&plain(given))])
            .collect();
        if let (Some(home), Ok(rest)) = (&self.home, it.path.strip_prefix("~")) {
            ways.push(fsio::resolved(&home.join(rest)));
        }
        // Its links lead elsewhere for another process.
        let in_proc =
            |path: &PathBuf| path.starts_with("/proc") || plain(path).starts_with("/proc");
        let known = it.surely && !given.iter().any(in_proc);
        let least = if known { Access::Inside } else { Access::Outside };
        let all = ways
            .iter()
            .map(|path| self.bounds.access(path, it.extent).max(self.by_another_name(path)));
        all.max().unwrap_or(Access::Outside).max(least)
    }

    /// Returns where a file lies by its other names (hard links): the least there is if it has none.
    fn by_another_name(&self, path: &Path) -> Access {
        let Ok(about) = std::fs::symlink_metadata(path) else { return Access::Inside };
        if !names::has_several(&about) {
            return Access::Inside;
        }
        let is_closed = |path: &Path| self.bounds.access(path, Extent::Alone) == Access::Closed;
        match Others::below(&self.bounds.closed, &is_closed).have(&about) {
            Found::Yes => Access::Closed,
            Found::Unknown => Access::Outside,
            Found::No => Access::Inside,
        }
    }

    /// Returns what a search without a path uses.
    fn whole_folder(&self) -> Option<Use> {
        Some(Use { path: PathBuf::new(), extent: self.extent(), surely: true })
    }

    fn extent(&self) -> Extent {
        match self.searches {
            Searches::LeaveOut => Extent::Alone,
            Searches::ReadAll => Extent::Below,
        }
    }

    /// Returns where a search by file names looks: below its path, and wherever the pattern leads.
    fn globbed(&self, input: &Value) -> Vec<Use> {
        let mut uses = named(input, self.extent());
        let pattern = input["pattern"].as_str().unwrap_or_default();
        let begins = pattern.find(META).unwrap_or(pattern.len());
        let (plain, rest) = pattern.split_at(begins);
        let folder = plain.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
        let base = uses.first().map(|it| it.path.clone()).unwrap_or_default();
        if let Some(folder) = folder {
            uses.push(Use { path: base.join(folder), extent: self.extent(), surely: true });
        }
        let leads_away = ["..", "{/", ",/", "~"].iter().any(|sign| rest.contains(sign));
        if leads_away {
            uses.push(Use { path: base, extent: self.extent(), surely: false });
        }
        uses
    }
}

/// A file that a call would use.
#[derive(Debug, Clone)]
struct Use {
    path: PathBuf,
    extent: Extent,
    /// This and no other.
    surely: bool,
}

fn named(input: &Value, extent: Extent) -> Vec<Use> {
    let listed = LISTED.iter().filter_map(|name| input[*name].as_array()).flatten();
    let listed: Vec<&Value> = listed.collect();
    // Some name one file as an object, with the lines that they want of it.
    let of_objects = [input].into_iter().chain(listed.iter().copied());
    let one = of_objects.flat_map(|it| NAMED.iter().filter_map(|name| it[*name].as_str()));
    let listed = listed.iter().filter_map(|it| it.as_str());
    let path = |text: &str| PathBuf::from(text.strip_prefix("file://").unwrap_or(text));
    one.chain(listed).map(|text| Use { path: path(text), extent, surely: true }).collect()
}

/// Returns the path with `.` and `..` taken away, whatever links there are.
fn plain(path: &Path) -> PathBuf {
    let mut done = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                done.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => done.push(part),
        }
    }
    done
}

#[cfg(test)]
mod tests;
