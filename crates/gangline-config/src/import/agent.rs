//! One agent of culture's, put in Gangline's words.

use std::path::{Component, Path, PathBuf};

use super::{
    super::{
        AgentConfig, Backend,
        agent::edits,
        declared::Declared,
        error::{Place, shown},
        nearest::nearest,
        node::{Key, Node, Value},
        reader::{Section, is_secret},
    },
    Shape,
    note::{Draft, line},
    piece::{channel, key, said, take, text},
};

/// What has no counterpart here, and why.
const NOT_TAKEN: &[(&str, &str)] = &[
    ("token_budget", "Gangline has no token budgets"),
    ("token_budget_warn_pct", "Gangline has no token budgets"),
    ("attention", "channels are not polled: an agent wakes when it is addressed"),
    ("attention_overrides", "channels are not polled: an agent wakes when it is addressed"),
    ("context_watch", "Gangline shortens the context automatically"),
    ("telemetry", "Gangline sends no traces and no metrics"),
];

/// The longest turn, in seconds, that the configuration takes.
const LONGEST_TURN: u32 = 604_800;

/// Where an agent stands.
pub(super) struct Context<'a> {
    /// The server's name.
    pub(super) server: &'a str,
    /// The kind of file.
    pub(super) shape: Shape,
    /// The folder of the file.
    pub(super) folder: &'a Path,
    /// Whether the whole server is archived.
    pub(super) archived: bool,
}

/// An agent in Gangline's words, and what the written file says beside it.
pub(super) struct Translated {
    pub(super) node: Node,
    pub(super) place: Place,
    pub(super) comments: Vec<String>,
    /// Whether it says itself what its tools may do; culture's files never do.
    pub(super) has_permissions: bool,
}

/// What a word for a backend means here.
pub(super) enum Word {
    /// A backend's own.
    Backend(&'static str),
    /// No backend; fit to be shown.
    Unknown(String),
    /// No text: the reader says so.
    NoText,
}

pub(super) fn backend_word(node: &Node) -> Word {
    let Value::Text(word) = &node.value else { return Word::NoText };
    match Backend::BUILT_IN.into_iter().find(|backend| backend == word) {
        Some(backend) => Word::Backend(backend),
        None => Word::Unknown(shown(word)),
    }
}

/// Returns the suffix of an item of a culture.yaml.
pub(super) fn suffix(node: &Node) -> Option<String> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|(key, _)| key.text == "suffix").and_then(|(_, node)| name(node))
}

fn name(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Keys that say which agent it is, whose and where: once one of them has said it, no other does.
const SPOKEN: [&str; 7] = ["nick", "suffix", "agent", "backend", "type", "directory", "workdir"];

/// Translates one agent. None when it has no nick, which is a fault, or a backend that does not
/// exist here, which is told.
pub(super) fn translate(
    draft: &mut Draft<'_>,
    node: Node,
    context: &Context<'_>,
) -> Option<Translated> {
    let mut section = draft.reader.section("an item of `agents`", node)?;
    let place = section.place;
    let (at, nick) = nick(draft, &mut section, context)?;
    // What is left out of this agent is said beside it, not at the top.
    let outer = std::mem::take(&mut draft.comments);
    let entries = entries(draft, section, (&at, &nick), context);
    let comments = std::mem::replace(&mut draft.comments, outer);
    let Some(entries) = entries else {
        draft.comments.extend(comments);
        return None;
    };
    let has_permissions = entries.iter().any(|(key, _)| key.text == "permissions");
    let node = Node { value: Value::Map(entries), place };
    Some(Translated { node, place: at.place, comments, has_permissions })
}

fn entries(
    draft: &mut Draft<'_>,
    mut section: Section,
    (at, nick): (&Key, &str),
    context: &Context<'_>,
) -> Option<Vec<(Key, Node)>> {
    let mut entries = vec![(key("nick", at.place), text(nick, at.place))];
    let backend = backend(draft, &mut section, nick, &mut entries)?;
    entries.extend(directory(draft, &mut section, nick, context));
    entries.extend(channels(draft, &mut section));
    if let Some((at, node)) = take(&mut section, "model") {
        entries.extend(model(draft, (at, node), backend, nick));
    }
    if let Some((at, node)) = take(&mut section, "turn_timeout_seconds") {
        let node = timeout(draft, node, nick);
        entries.push((at, node));
    }
    archive(draft, &mut section, nick, context, &mut entries);
    for (name, why) in NOT_TAKEN {
        if let Some((at, node)) = take(&mut section, name) {
            draft.dropped(at.place, &format!("{}: {}", shown(nick), said(name, &node)), why);
        }
    }
    rest(draft, section, nick, &mut entries);
    Some(entries)
}

/// Returns the whole nick and its place.
fn nick(
    draft: &mut Draft<'_>,
    section: &mut Section,
    context: &Context<'_>,
) -> Option<(Key, String)> {
    let wanted = if context.shape == Shape::Folder { "suffix" } else { "nick" };
    let Some((at, node)) = take(section, wanted) else {
        draft.reader.fault(section.place, format!("an agent here needs a `{wanted}`"));
        return None;
    };
    let at = Key { text: at.text, place: node.place };
    let Some(name) = name(&node) else {
        let message = format!("`{wanted}` must be text, not {}", node.value.kind());
        draft.reader.fault(node.place, message);
        return None;
    };
    let server = context.server;
    if context.shape == Shape::Folder {
        return Some((at, format!("{server}-{name}")));
    }
    if name.starts_with(&format!("{server}-")) {
        return Some((at, name));
    }
    let whole = format!("{server}-{name}");
    if context.shape == Shape::Legacy {
        let why = format!("`{}`, since every nick begins with the server's name", shown(&whole));
        draft.changed(at.place, &format!("nick `{}`", shown(&name)), &why);
    }
    Some((at, whole))
}

/// Reads the backend, which has three names: of age, of `culture.yaml` and of `mesh.yaml`.
fn backend(
    draft: &mut Draft<'_>,
    section: &mut Section,
    nick: &str,
    entries: &mut Vec<(Key, Node)>,
) -> Option<&'static str> {
    let named = ["agent", "backend", "type"].iter().find_map(|name| take(section, name));
    let Some((at, node)) = named else { return Some(Backend::SEEDS_DEFAULT) };
    match backend_word(&node) {
        Word::Backend(word) => {
            entries.push((key("agent", at.place), text(word, node.place)));
            Some(word)
        }
        Word::Unknown(unknown) => {
            let why = format!("the whole agent: there is no backend `{unknown}` here");
            draft.dropped(at.place, &shown(nick), &why);
            None
        }
        Word::NoText => {
            entries.push((key("agent", at.place), node));
            Some(Backend::SEEDS_DEFAULT)
        }
    }
}

/// Reads where the agent works; written from the root of the file system, since the written file
/// may lie in another folder.
fn directory(
    draft: &mut Draft<'_>,
    section: &mut Section,
    nick: &str,
    context: &Context<'_>,
) -> Option<(Key, Node)> {
    if context.shape == Shape::Folder {
        let place = section.place;
        let Some(folder) = context.folder.to_str() else {
            let message = "the folder of this file has a name that is not UTF-8";
            draft.reader.fault(place, message);
            return None;
        };
        return Some((key("directory", place), text(folder, place)));
    }
    let (at, node) = take(section, "directory").or_else(|| take(section, "workdir"))?;
    let at = key("directory", at.place);
    let Value::Text(written) = &node.value else { return Some((at, node)) };
    let path = Path::new(written);
    if path.is_absolute() || path.starts_with("~") {
        return Some((at, node));
    }
    let whole = plain(&context.folder.join(path));
    let Some(whole) = whole.to_str() else { return Some((at, node)) };
    let what = format!("{}: directory `{}`", shown(nick), shown(written));
    draft.changed(at.place, &what, &format!("{whole}, as seen from the file"));
    let place = node.place;
    Some((at, text(whole, place)))
}

/// Returns the path without components that say nothing.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn channels(draft: &mut Draft<'_>, section: &mut Section) -> Option<(Key, Node)> {
    // An empty `channels:` is most often a # without quotes: the reader knows what to say.
    let index = section.entries.iter().position(|(key, _)| key.text == "channels")?;
    let (at, node) = section.entries.remove(index);
    let place = node.place;
    match node.value {
        Value::List(items) => {
            let items = items.into_iter().map(|item| channel(draft, item)).collect();
            Some((at, Node { value: Value::List(items), place }))
        }
        value => Some((at, Node { value, place })),
    }
}

fn model(
    draft: &mut Draft<'_>,
    (at, node): (Key, Node),
    backend: &str,
    nick: &str,
) -> Option<(Key, Node)> {
    match &node.value {
        Value::Text(model)
            if Backend::PROVIDER_FIRST.contains(&backend) && !model.contains('/') =>
        {
            let what = format!("{}: model: {}", shown(nick), shown(model));
            let why = format!(
                "an `{backend}` agent's model needs its provider first, such as \
                 anthropic/claude-sonnet-4-6: the program's own default applies"
            );
            draft.dropped(at.place, &what, &why);
            None
        }
        _ => Some((at, node)),
    }
}

/// Returns the time of a turn within our bounds; culture too has fractions, and 0 for no limit.
fn timeout(draft: &mut Draft<'_>, node: Node, nick: &str) -> Node {
    let seconds = match node.value {
        // Beyond 2^53 it does not matter any more which number it is.
        Value::Integer(number) => number as f64,
        Value::Float(number) => number,
        _ => return node,
    };
    let (kept, why) = if seconds.is_nan() || seconds < 0.0 {
        (600, "not a valid time: the default applies")
    } else if seconds > f64::from(LONGEST_TURN) {
        (LONGEST_TURN, "the longest is 7 days")
    } else {
        return node;
    };
    let what = format!("{}: turn_timeout_seconds: {seconds}", shown(nick));
    draft.changed(node.place, &what, &format!("{kept}: {why}"));
    Node { value: Value::Integer(kept.into()), place: node.place }
}

fn archive(
    draft: &mut Draft<'_>,
    section: &mut Section,
    nick: &str,
    context: &Context<'_>,
    entries: &mut Vec<(Key, Node)>,
) {
    let archived = take(section, "archived");
    let when = take(section, "archived_at").and_then(|(_, node)| name(&node));
    let reason = take(section, "archived_reason").and_then(|(_, node)| name(&node));
    let own = archived.filter(|(_, node)| matches!(node.value, Value::Bool(true)));
    let place = match (&own, context.archived) {
        (Some((at, _)), _) => at.place,
        (None, true) => section.place,
        (None, false) => return,
    };
    let mut told = "archived".to_owned();
    if let Some(when) = when {
        told.push_str(&format!(" {}", shown(&when)));
    }
    if let Some(reason) = reason {
        told.push_str(&format!(": {}", shown(&reason)));
    }
    if own.is_some() {
        draft.changed(place, &format!("{}: archived", shown(nick)), "`enabled: false`");
    }
    draft.comments.push(line(&told));
    section.entries.retain(|(key, _)| key.text != "enabled");
    entries.push((key("enabled", place), Node { value: Value::Bool(false), place }));
}

/// What is left: Gangline's own keys, what belongs to the backend, and secrets.
fn rest(draft: &mut Draft<'_>, section: Section, nick: &str, entries: &mut Vec<(Key, Node)>) {
    let mut aside = Vec::new();
    let place = section.place;
    let keys = AgentConfig::KEYS.known;
    for (at, node) in section.entries {
        let known = keys.contains(&at.text.as_str());
        let empty = match &node.value {
            Value::Null => true,
            Value::Text(text) => text.trim().is_empty(),
            _ => false,
        };
        if empty {
            continue;
        }
        let what = format!("{}: `{}`", shown(nick), shown(&at.text));
        if SPOKEN.contains(&at.text.as_str()) {
            draft.dropped(at.place, &what, "another key sets it already");
            continue;
        }
        if known {
            entries.push((at, node));
            continue;
        }
        if is_secret(&at.text) {
            let why = "secrets come from the environment: name the variable by `api_key_env`";
            draft.dropped(at.place, &what, why);
            continue;
        }
        let node = without_secrets(draft, node, &what);
        if let Some(near) = nearest(&at.text, keys.iter().copied(), edits(&at.text)) {
            let why =
                format!("unknown, and similar to `{near}`: passed to the backend under `extra`");
            draft.changed(at.place, &what, &why);
            aside.push((at, node));
        } else {
            draft.taken(at.place, &what, "unknown to Gangline: passed to the backend unchanged");
            entries.push((at, node));
        }
    }
    put_aside(draft, aside, place, entries);
}

/// Puts what resembles our keys under `extra`, into one that is there already or a new one.
fn put_aside(
    draft: &mut Draft<'_>,
    aside: Vec<(Key, Node)>,
    place: Place,
    entries: &mut Vec<(Key, Node)>,
) {
    if aside.is_empty() {
        return;
    }
    match entries.iter_mut().find(|(key, _)| key.text == "extra") {
        None => {
            entries.push((key("extra", place), Node { value: Value::Map(aside), place }));
        }
        Some((_, Node { value: Value::Map(extra), .. })) => {
            for (at, node) in aside {
                if extra.iter().any(|(key, _)| key.text == at.text) {
                    let message = format!("`{}` appears here and under `extra:`", shown(&at.text));
                    draft.reader.fault(at.place, message);
                } else {
                    extra.push((at, node));
                }
            }
        }
        // No mapping: the reader says so.
        Some(_) => {}
    }
}

/// Takes texts out of a backend's field that are called like secrets, however deep they stand.
fn without_secrets(draft: &mut Draft<'_>, node: Node, what: &str) -> Node {
    let place = node.place;
    let value = match node.value {
        Value::List(items) => {
            Value::List(items.into_iter().map(|it| without_secrets(draft, it, what)).collect())
        }
        Value::Map(entries) => {
            let mut kept = Vec::new();
            for (at, node) in entries {
                if is_secret(&at.text) && matches!(node.value, Value::Text(_)) {
                    let inner = format!("{what}.`{}`", shown(&at.text));
                    let why = "secrets come from the environment";
                    draft.dropped(at.place, &inner, why);
                } else {
                    let node = without_secrets(draft, node, what);
                    kept.push((at, node));
                }
            }
            Value::Map(kept)
        }
        value => value,
    };
    Node { value, place }
}
