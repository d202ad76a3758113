//! Several files put together: which says what first, and who contradicts whom.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;

use super::{
    super::{
        AgentConfig, Backend, Config, ConfigError, MAX_CONFIG_BYTES,
        error::{Place, Problem, shown},
        node::{Key, Node, Value, load},
        reader::Section,
        sections,
        value::is_blank,
    },
    Import, ImportError, Look, Note, Shape, Source, agent,
    note::{At, Draft, Fate, line},
    piece::key,
    top,
    write::{self, Document, Item},
    yaml,
};

/// The name of a server that has none, as culture has it.
const NAMELESS: &str = "culture";

/// A value that the backend gets may nest so deep: what it stands in comes on top.
const EXTRA_DEPTH: usize = 24;

/// One agent, ready to be written, and where it is from.
struct Taken {
    item: Item,
    at: At,
    folder: PathBuf,
}

/// A file's text as a tree.
struct Opened<'a> {
    source: &'a Source,
    draft: Draft<'a>,
    root: Section,
    shape: Shape,
}

/// Everything that was read so far.
pub(super) struct Gather<'a> {
    look: &'a dyn Fn(&Path) -> Look,
    server: String,
    sections: BTreeMap<String, (Json, At)>,
    agents: Vec<Taken>,
    /// Where in `agents` a nick is.
    known: BTreeMap<String, usize>,
    /// Whether an agent's permissions were not written anywhere.
    asking: bool,
    notes: Vec<Note>,
    comments: Vec<String>,
    faults: Vec<ConfigError>,
    read: Vec<PathBuf>,
}

impl<'a> Gather<'a> {
    pub(super) fn new(look: &'a dyn Fn(&Path) -> Look) -> Self {
        Self {
            look,
            server: NAMELESS.to_owned(),
            sections: BTreeMap::new(),
            agents: Vec::new(),
            known: BTreeMap::new(),
            asking: false,
            notes: Vec::new(),
            comments: Vec::new(),
            faults: Vec::new(),
            read: Vec::new(),
        }
    }

    /// Reads all files.
    pub(super) fn sources(&mut self, sources: &[Source]) {
        let mut opened: Vec<Opened<'_>> =
            sources.iter().filter_map(|source| self.open(source)).collect();
        self.name_server(&mut opened);
        for file in opened {
            self.file(file);
        }
    }

    fn open<'s>(&mut self, source: &'s Source) -> Option<Opened<'s>> {
        self.read.push(source.path.clone());
        let root = match tree(&source.text, &source.name) {
            Ok(root) => root,
            Err(error) => {
                self.faults.push(error);
                return None;
            }
        };
        let mut draft = Draft::new(&source.text, &source.name);
        let Some(root) = draft.reader.section("the file", root) else {
            self.faults.push(ConfigError::new(&source.name, draft.reader.problems));
            return None;
        };
        let shape = shape(&root, &source.path);
        Some(Opened { source, draft, root, shape })
    }

    /// Finds the one name that all files must agree on: the first that is written, else what all
    /// whole nicks begin with.
    fn name_server(&mut self, opened: &mut [Opened<'_>]) {
        let mut first: Option<(String, At)> = None;
        for file in &mut *opened {
            let Some((name, place)) = top::server_name(&file.root) else { continue };
            match &first {
                None => {
                    let at = At { file: line(file.draft.name()), line: place.line };
                    first = Some((name, at));
                }
                Some((known, at)) if *known != name => {
                    let message = format!(
                        "this server is `{}`, and that of {}:{} is `{}`: import them separately",
                        shown(&name),
                        at.file,
                        at.line,
                        shown(known)
                    );
                    file.draft.reader.fault(place, message);
                }
                Some(_) => {}
            }
        }
        self.server = match first {
            Some((name, _)) => name,
            None => {
                let name = from_nicks(opened).unwrap_or_else(|| NAMELESS.to_owned());
                let why = format!("none is written: `{}`", shown(&name));
                let what = "server.name".to_owned();
                self.notes.push(Note { fate: Fate::Changed, at: None, what, why });
                name
            }
        };
    }

    fn file(&mut self, file: Opened<'_>) {
        let Opened { source, mut draft, root, shape } = file;
        let sections = top::translate(&mut draft, root, shape);
        let server = self.server.clone();
        let context = agent::Context {
            server: &server,
            shape,
            folder: source.folder(),
            archived: sections.archived,
        };
        let items: Vec<_> = sections
            .agents
            .into_iter()
            .filter_map(|node| agent::translate(&mut draft, node, &context))
            .collect();
        let folders = folders(&mut draft, sections.manifest, source.folder());
        let derived = sections.derived;
        self.take(draft, (sections.entries, derived), items);
        for (folder, wanted) in folders {
            self.folder((&folder, &source.name), wanted, sections.archived);
        }
    }

    /// Has the reader of Gangline's own file read what was translated, and keeps what it read.
    fn take(
        &mut self,
        mut draft: Draft<'_>,
        (mut entries, derived): (Vec<(Key, Node)>, Option<&str>),
        items: Vec<agent::Translated>,
    ) {
        let place = Place { line: 1, column: 1 };
        let keys: Vec<Key> = entries.iter().map(|(key, _)| key.clone()).collect();
        let mut about: Vec<(Place, Vec<String>)> = Vec::new();
        let mut list = Vec::new();
        for item in items {
            self.asking |= !item.has_permissions;
            about.push((item.place, item.comments));
            list.push(item.node);
        }
        entries.push((key("agents", place), Node { value: Value::List(list), place }));
        let config = sections::top(&mut draft.reader, Node { value: Value::Map(entries), place });
        let config = config.unwrap_or_default();
        if draft.reader.problems.is_empty() {
            for (agent, (place, comments)) in config.agents.iter().zip(about) {
                self.agent(&mut draft, agent, place, comments);
            }
            self.keep(&mut draft, &config, keys, derived);
        }
        self.notes.append(&mut draft.take_notes());
        self.comments.append(&mut draft.comments);
        if !draft.reader.problems.is_empty() {
            self.faults.push(ConfigError::new(draft.name(), draft.reader.problems));
        }
    }

    /// Keeps the sections of a file; what an earlier file has said stands.
    fn keep(
        &mut self,
        draft: &mut Draft<'_>,
        config: &Config,
        keys: Vec<Key>,
        derived: Option<&str>,
    ) {
        let Ok(Json::Object(mut values)) = serde_json::to_value(config) else { return };
        for Key { text: name, place } in keys {
            let Some(mut value) = values.remove(&name) else { continue };
            if let (true, Json::Object(server)) = (name == "server", &mut value) {
                // All files agree on it, and some do not say it.
                server.remove("name");
            }
            match self.sections.get(&name) {
                None => {
                    if derived != Some(name.as_str()) {
                        draft.taken(place, &name, "unchanged, except for the keys listed here");
                    }
                    let at = At { file: line(draft.name()), line: place.line };
                    self.sections.insert(name, (value, at));
                }
                Some((known, _)) if *known == value => {}
                Some((_, at)) => {
                    let why = format!("{}:{} has another value and comes first", at.file, at.line);
                    draft.repeated(place, &name, &why);
                }
            }
        }
    }

    /// Keeps an agent, unless it is known from another file.
    fn agent(
        &mut self,
        draft: &mut Draft<'_>,
        agent: &AgentConfig,
        place: Place,
        comments: Vec<String>,
    ) {
        let too_deep = agent.extra.values().any(|value| yaml::depth(value) > EXTRA_DEPTH);
        if too_deep {
            let message = format!("a field of `{}` is nested too deeply to import", agent.nick);
            draft.reader.fault(place, message);
            return;
        }
        let folder = agent::plain(&agent.directory);
        let nick = agent.nick.as_str();
        match self.known.get(nick).and_then(|index| self.agents.get(*index)) {
            None => {
                let at = At { file: line(draft.name()), line: place.line };
                let backend = agent.agent.as_ref().map_or("the usual backend", Backend::as_str);
                let why = format!("{backend}, in {}", agent.directory.display());
                draft.taken(place, nick, &why);
                self.known.insert(nick.to_owned(), self.agents.len());
                self.agents.push(Taken { item: Item::new(agent, comments), at, folder });
            }
            Some(known) if known.folder == folder => {
                let why = format!("already imported from {}:{}", known.at.file, known.at.line);
                draft.repeated(place, nick, &why);
            }
            Some(known) => {
                let At { file, line } = &known.at;
                let message = format!(
                    "nick `{nick}` is taken already, for another directory: see {file}:{line}"
                );
                draft.reader.fault(place, message);
            }
        }
    }

    /// Reads the `culture.yaml` of a folder and takes the agents that are wanted of it.
    fn folder(&mut self, (folder, from): (&Path, &str), wanted: Vec<Wanted>, archived: bool) {
        let path = folder.join("culture.yaml");
        let text = match (self.look)(&path) {
            Look::Text(text) => text,
            Look::Absent => {
                let why = format!("there is no {}", path.display());
                return self.not_there(from, &wanted, &why);
            }
            Look::TooLarge(bytes) => {
                let error = ConfigError::too_large(&path.display().to_string(), bytes);
                return self.faults.push(error);
            }
            Look::Unreadable(why) => {
                let message = shown(&why);
                let problem = Problem { place: None, message, quoted: None, help: None };
                let error = ConfigError::new(&path.display().to_string(), vec![problem]);
                return self.faults.push(error);
            }
        };
        let source = Source::new(path, text);
        let Some(Opened { mut draft, root, .. }) = self.open(&source) else { return };
        let server = self.server.clone();
        let shape = Shape::Folder;
        let context = agent::Context { server: &server, shape, folder, archived };
        let sections = top::translate(&mut draft, root, shape);
        let (items, missing) = chosen(&mut draft, sections.agents, wanted, from);
        let items: Vec<_> = items
            .into_iter()
            .filter_map(|node| agent::translate(&mut draft, node, &context))
            .collect();
        self.take(draft, (Vec::new(), None), items);
        let why = format!("{} does not have it", source.name);
        self.not_there(from, &missing, &why);
    }

    /// Tells of agents that a manifest names in vain; culture passes over them as well.
    fn not_there(&mut self, from: &str, wanted: &[Wanted], why: &str) {
        for Wanted { suffix, line: number } in wanted {
            let at = Some(At { file: line(from), line: *number });
            let what = line(&format!("{}-{suffix}", self.server));
            let why = line(why);
            self.comments.push(format!("not imported: {what}: {why}"));
            self.notes.push(Note { fate: Fate::Dropped, at, what, why });
        }
    }

    /// Writes all of it down.
    pub(super) fn finish(self) -> Result<Import, ImportError> {
        if !self.faults.is_empty() {
            return Err(ImportError::Files(self.faults));
        }
        let names: Vec<String> =
            self.read.iter().map(|path| line(&path.display().to_string())).collect();
        if self.agents.is_empty() {
            return Err(ImportError::NoAgents(names.join(", ")));
        }
        let sections = self.sections.into_iter().map(|(name, (value, _))| (name, value)).collect();
        let document = Document {
            server: self.server,
            files: names,
            asking: self.asking,
            comments: self.comments,
            sections,
            items: self.agents.into_iter().map(|taken| taken.item).collect(),
        };
        let text = write::text(&document);
        let config = super::super::parse(&text, "agents.yaml").map_err(ImportError::Together)?;
        let mut notes = self.notes;
        if self.asking {
            let why = "`ask`: culture lets an agent do everything unasked (bypassPermissions); write \
                       `bypass` for an agent in a sandbox";
            let (what, why) = ("permissions".to_owned(), why.to_owned());
            notes.push(Note { fate: Fate::Changed, at: None, what, why });
        }
        Ok(Import { text, config, notes, read: self.read })
    }
}

/// An entry of a manifest.
struct Wanted {
    suffix: String,
    line: usize,
}

/// Puts a manifest in order of its folders, each to be read once.
fn folders(
    draft: &mut Draft<'_>,
    manifest: Vec<(Key, Node)>,
    base: &Path,
) -> Vec<(PathBuf, Vec<Wanted>)> {
    let mut folders: Vec<(PathBuf, Vec<Wanted>)> = Vec::new();
    let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (key, node) in manifest {
        let Some(written) = draft.reader.text(&key.text, &node) else { continue };
        let path = Path::new(&written);
        let mut folder = agent::plain(path);
        if path.is_relative() && !path.starts_with("~") {
            folder = agent::plain(&base.join(path));
            let what = format!("{}: directory `{}`", shown(&key.text), shown(&written));
            let why = format!("{}, as seen from the file", folder.display());
            draft.changed(node.place, &what, &why);
        }
        let wanted = Wanted { suffix: key.text, line: key.place.line };
        match known.get(&folder).and_then(|index| folders.get_mut(*index)) {
            Some((_, all)) => all.push(wanted),
            None => {
                known.insert(folder.clone(), folders.len());
                folders.push((folder, vec![wanted]));
            }
        }
    }
    folders
}

/// Returns the agents of a folder that the manifest names, and those that it names in vain; tells
/// of the others.
fn chosen(
    draft: &mut Draft<'_>,
    agents: Vec<Node>,
    wanted: Vec<Wanted>,
    from: &str,
) -> (Vec<Node>, Vec<Wanted>) {
    let mut missing: BTreeMap<String, usize> =
        wanted.into_iter().map(|Wanted { suffix, line }| (suffix, line)).collect();
    let mut chosen = Vec::new();
    for node in agents {
        let Some(suffix) = agent::suffix(&node) else {
            draft.reader.fault(node.place, "an agent here needs a `suffix`");
            continue;
        };
        if missing.remove(&suffix).is_some() {
            chosen.push(node);
        } else {
            draft.dropped(node.place, &suffix, &format!("{from} does not name it"));
        }
    }
    let missing = missing.into_iter().map(|(suffix, line)| Wanted { suffix, line });
    (chosen, missing.collect())
}

fn tree(text: &str, name: &str) -> Result<Node, ConfigError> {
    if text.len() > MAX_CONFIG_BYTES {
        return Err(ConfigError::too_large(name, text.len() as u64));
    }
    let one = |problem| ConfigError::new(name, vec![problem]);
    if is_blank(text) {
        return Err(one(sections::empty()));
    }
    load(text).map_err(one)
}

fn shape(root: &Section, path: &Path) -> Shape {
    let find = |name: &str| root.entries.iter().find(|(key, _)| key.text == name);
    let Some((_, agents)) = find("agents") else {
        return if find("suffix").is_some() { Shape::Folder } else { Shape::Manifest };
    };
    let Value::List(items) = &agents.value else { return Shape::Manifest };
    let any = |names: &[&str]| {
        items.iter().any(|item| match &item.value {
            Value::Map(entries) => {
                entries.iter().any(|(key, _)| names.contains(&key.text.as_str()))
            }
            _ => false,
        })
    };
    if any(&["suffix"]) {
        Shape::Folder
    } else if path.ends_with("mesh.yaml") || any(&["workdir", "type"]) {
        Shape::Mesh
    } else {
        Shape::Legacy
    }
}

/// Returns what all whole nicks of the older form begin with.
fn from_nicks(opened: &[Opened<'_>]) -> Option<String> {
    let mut names = opened.iter().filter(|file| file.shape == Shape::Legacy).flat_map(|file| {
        let agents = file.root.entries.iter().find(|(key, _)| key.text == "agents");
        let items = match agents.map(|(_, node)| &node.value) {
            Some(Value::List(items)) => items.as_slice(),
            _ => &[],
        };
        items.iter().filter_map(|item| {
            let Value::Map(entries) = &item.value else { return None };
            let (_, nick) = entries.iter().find(|(key, _)| key.text == "nick")?;
            let Value::Text(nick) = &nick.value else { return None };
            nick.split_once('-').map(|(server, _)| server.to_owned())
        })
    });
    let first = names.next()?;
    names.all(|name| name == first).then_some(first)
}
