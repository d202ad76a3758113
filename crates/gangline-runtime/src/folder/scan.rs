//! What lies in a folder: found, read within bounds, hashed. It blocks its thread.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs::{self, Metadata},
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use gangline_core::digest::sha256_hex;
use gangline_os::fsio;
use serde_json::Value;

use super::{At, Brings, Kind, named};

/// The most files that are looked at.
pub(super) const FILES_MAX: usize = 400;
/// The most bytes of one file.
pub(super) const FILE_MAX: u64 = 1024 * 1024;
/// The most bytes of all of them.
pub(super) const TOTAL_MAX: usize = 8 * 1024 * 1024;
/// How deep a folder of skills or plugins is.
const DEPTH_MAX: usize = 8;
/// How many folders above the working folder are looked at.
pub(super) const LEVELS_MAX: usize = 40;
/// The list of packages of OpenCode's plugins, and what OpenCode adds to it.
const PACKAGES: &str = ".opencode/package.json";
const OWN_PACKAGE: &str = "@opencode-ai/plugin";
/// How many bytes a SHA-256 has.
const HASH: usize = 32;

/// One file that a folder brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// How many folders above the working folder it lies.
    pub level: usize,
    /// Its path below that folder.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Whether it may be run as a program.
    pub runs: bool,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Brought {
    /// Returns its path from the working folder.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}{}", "../".repeat(self.level), self.path)
    }

    /// Returns its content as text, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// What a folder brings along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The files, by their place.
    pub brought: Vec<Brought>,
    /// What was not read, and why: with one of these nothing can be allowed.
    pub unread: Vec<String>,
}

impl Scan {
    /// Returns whether nothing is brought along.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.brought.is_empty() && self.unread.is_empty()
    }

    /// Returns the SHA-256 of all of it, in hexadecimal: places, kinds, modes and contents.
    #[must_use]
    pub fn hash(&self) -> String {
        hash(&self.brought, &self.unread)
    }
}

pub(super) fn hash(brought: &[Brought], unread: &[String]) -> String {
    let mut all = Vec::new();
    let mut put = |bytes: &[u8]| {
        all.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
        all.extend_from_slice(bytes);
    };
    for file in brought {
        put(file.place().as_bytes());
        put(file.kind.as_str().as_bytes());
        put(if file.runs { b"x" } else { b"-" });
        put(&settled(file));
    }
    unread.iter().for_each(|text| put(text.as_bytes()));
    sha256_hex(&all, HASH)
}

/// Returns the content that counts. OpenCode writes its schema's address into settings that have none, and
/// its own package into the list of packages: that is no change of what the folder brings along.
fn settled(file: &Brought) -> Cow<'_, [u8]> {
    let written = ["opencode.json", PACKAGES].iter().any(|name| file.path.ends_with(name));
    match written.then(|| serde_json::from_slice::<Value>(&file.bytes)) {
        Some(Ok(Value::Object(mut settings))) => {
            settings.remove("$schema");
            let packages = settings.get_mut("dependencies").and_then(Value::as_object_mut);
            let none = packages.is_some_and(|packages| {
                packages.remove(OWN_PACKAGE);
                packages.is_empty()
            });
            if none {
                settings.remove("dependencies");
            }
            Value::Object(settings).to_string().into_bytes().into()
        }
        Some(_) | None => Cow::Borrowed(&file.bytes),
    }
}

/// Looks at what a working folder, and those above it, bring along for a program. `home` is the user's
/// home directory: what lies there, or above, is the user's own.
#[must_use]
pub fn scan(folder: &Path, home: Option<&Path>, brings: &Brings) -> Scan {
    let mut looking = Looking::default();
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let home = home.map(|home| fs::canonicalize(home).unwrap_or_else(|_| home.to_owned()));
    for (level, place) in folder.ancestors().take(LEVELS_MAX).enumerate() {
        if home.as_deref().is_some_and(|home| home.starts_with(place)) {
            break;
        }
        for item in brings.items {
            let path = Path::new(item.path);
            let is_read = match item.at {
                At::Folder => level == 0,
                At::Upwards => true,
                At::Foreign => is_foreign(&place.join(path)),
            };
            if is_read {
                looking.item((level, place), path, item.kind);
            }
        }
    }
    looking.named_files(&folder);
    looking.imported_files(&folder);
    Scan { brought: looking.found.into_values().collect(), unread: looking.unread }
}

/// Returns whether a file, or the folder that it is, belongs to another user: the file itself, what it
/// links to, or one in it.
fn is_foreign(path: &Path) -> bool {
    let foreign = |data: Metadata| !fsio::is_ours(&data);
    if fs::symlink_metadata(path).is_ok_and(foreign) || fs::metadata(path).is_ok_and(foreign) {
        return true;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten().take(FILES_MAX);
    entries.filter_map(|entry| entry.metadata().ok()).any(foreign)
}

/// What was found so far.
#[derive(Debug, Default)]
struct Looking {
    found: BTreeMap<(usize, String), Brought>,
    unread: Vec<String>,
    bytes: usize,
}

impl Looking {
    /// Reads a file, or all files of a folder.
    fn item(&mut self, base: (usize, &Path), path: &Path, kind: Kind) {
        let whole = base.1.join(path);
        match fs::metadata(&whole) {
            Ok(data) if data.is_dir() => self.folder(base, path, (kind, 0)),
            Ok(_) => self.file(base, path, kind),
            // A link to nothing is nothing yet.
            Err(_) => {}
        }
    }

    fn folder(&mut self, base: (usize, &Path), path: &Path, (kind, depth): (Kind, usize)) {
        let whole = base.1.join(path);
        if depth > DEPTH_MAX {
            return self.not_read(base, path, "it lies too deep");
        }
        // A program follows it, and it can be changed without a trace here.
        if depth > 0 && fs::symlink_metadata(&whole).is_ok_and(|data| data.is_symlink()) {
            return self.not_read(base, path, "it is a link to a folder");
        }
        let Ok(entries) = fs::read_dir(&whole) else {
            return self.not_read(base, path, "it cannot be read");
        };
        let mut names: Vec<PathBuf> =
            entries.flatten().map(|entry| path.join(entry.file_name())).collect();
        names.sort();
        for name in names {
            if self.is_full() {
                return;
            }
            match fs::metadata(base.1.join(&name)) {
                Ok(data) if data.is_dir() => self.folder(base, &name, (kind, depth + 1)),
                Ok(_) => self.file(base, &name, kind),
                Err(_) => {}
            }
        }
    }

    fn file(&mut self, base: (usize, &Path), path: &Path, kind: Kind) {
        let (level, folder) = base;
        let Some(name) = path.to_str() else {
            return self.not_read(base, path, "its name is no UTF-8");
        };
        if self.is_full() || self.found.contains_key(&(level, name.to_owned())) {
            return;
        }
        let whole = folder.join(path);
        let bytes = match fsio::read_foreign(&whole, FILE_MAX) {
            Ok(bytes) => bytes,
            Err(error) => return self.not_read(base, path, &error.to_string()),
        };
        let runs = fs::metadata(&whole).is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
        self.bytes = self.bytes.saturating_add(bytes.len());
        let brought = Brought { level, path: name.to_owned(), kind, runs, bytes };
        if name.ends_with(PACKAGES) && *settled(&brought) == *b"{}" {
            return;
        }
        self.found.insert((level, name.to_owned()), brought);
    }

    /// Says once that there is more than is looked at.
    fn is_full(&mut self) -> bool {
        let full = self.found.len() >= FILES_MAX || self.bytes > TOTAL_MAX;
        let said = "there is more than is looked at";
        if full && !self.unread.iter().any(|text| text == said) {
            self.unread.push(said.to_owned());
        }
        full
    }

    fn not_read(&mut self, (level, _): (usize, &Path), path: &Path, why: &str) {
        let place = format!("{}{}", "../".repeat(level), path.to_string_lossy());
        self.unread.push(format!("{place}: {why}"));
    }

    /// Adds the files that what was found names: settings start scripts of the folder.
    fn named_files(&mut self, folder: &Path) {
        let starts: Vec<(usize, String)> = self
            .found
            .values()
            .filter(|file| file.kind.starts())
            .map(|file| (file.level, what_starts(&file.bytes)))
            .collect();
        for (level, text) in starts {
            // What is started starts in the working folder, wherever the file lies that says so.
            for level in [0, level] {
                let Some(base) = folder.ancestors().nth(level) else { continue };
                for word in named::words(&text, &base.display().to_string()) {
                    let path = Path::new(word);
                    // A word without a dot or a slash is a program, or prose.
                    let is_path = word.contains(['/', '.']);
                    if is_path && base.join(path).is_file() {
                        self.file((level, base), path, Kind::Script);
                    }
                }
            }
        }
    }

    /// Adds what code imports by paths from its own file, and what that imports.
    fn imported_files(&mut self, folder: &Path) {
        let mut next: Vec<(usize, String)> = self.found.keys().cloned().collect();
        while let Some(key) = next.pop() {
            let Some(file) = self.found.get(&key).filter(|file| file.kind.is_code()) else {
                continue;
            };
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            let (level, name) = key;
            let Some(base) = folder.ancestors().nth(level) else { continue };
            let imported = named::imports(&text).into_iter().filter_map(|it| beside(&name, it));
            for path in imported.collect::<Vec<_>>() {
                let spelled = named::ENDINGS.iter().map(|ending| {
                    let mut name = path.clone().into_os_string();
                    name.push(ending);
                    PathBuf::from(name)
                });
                for path in spelled.filter(|path| base.join(path).is_file()).collect::<Vec<_>>() {
                    let known = self.found.len();
                    self.file((level, base), &path, Kind::Script);
                    if self.found.len() > known {
                        next.push((level, path.to_string_lossy().into_owned()));
                    }
                }
            }
        }
    }
}

/// Returns the path below the same folder that an import of this file means; `None` leads out of it.
fn beside(file: &str, import: &str) -> Option<PathBuf> {
    let mut path = PathBuf::from(file);
    path.pop();
    for part in Path::new(import).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            Component::Normal(name) => path.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Returns the text of settings in which files are looked for: rules of permission name files too, and
/// start none.
fn what_starts(bytes: &[u8]) -> String {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(mut settings)) => {
            settings.remove("permissions");
            Value::Object(settings).to_string()
        }
        Ok(_) | Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}
