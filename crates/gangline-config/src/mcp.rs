//! MCP servers of an agent (R2-34): `mcp_servers` of an agent, and the files that other programs
//! keep them in.
//!
//! Neither holds a secret: a value may name environment variables as `${NAME}`, which are replaced
//! when the agent starts. Start at [`servers`]; [`parse_servers`] reads a separate file.

use std::collections::{BTreeMap, BTreeSet};

use gangline_core::{KnownSecret, redact::Redactor};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    ConfigError, MAX_CONFIG_BYTES, Warning,
    error::{Place, shown},
    node::{Key, Node, Value, load},
    reader::{Keys, Reader, Section},
    value::{self, is_blank, is_variable, names_a_secret},
};

#[cfg(test)]
mod tests;

/// The keys of one server.
const SERVER: Keys = Keys {
    known: &["command", "args", "env", "url", "headers", "allowed_tools", "allowedTools"],
    // Which of the two it is follows from the other keys.
    ignored: &["type"],
};
/// Keys of servers under which the daemon's own tools appear (C35).
const OWN: [&str; 2] = ["gangline", "hyperhive"];
/// What a file of another program may put around its servers.
const WRAPPED: &str = "mcpServers";
const KEY_MAX: usize = 64;

/// One MCP server that an agent's backend is offered (R2-34).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct McpServerConfig {
    /// Where it is.
    #[serde(flatten)]
    pub place: McpPlaceConfig,
    /// Its tools that run unasked: their own names, or the begin of names and a `*`. Absent = none.
    #[schemars(default)]
    pub allowed_tools: Vec<String>,
}

/// Where an MCP server is. Every text may name environment variables as `${NAME}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum McpPlaceConfig {
    /// A program that speaks over its standard streams.
    Program {
        /// The program.
        command: String,
        /// Its arguments; everybody on the machine can read them, so they are no place for a key.
        #[schemars(default)]
        args: Vec<String>,
        /// Variables added to its environment.
        #[schemars(default)]
        env: BTreeMap<String, String>,
    },
    /// An address of the streamable HTTP transport.
    Address {
        /// An http or https address.
        url: String,
        /// Headers of every request.
        #[schemars(default)]
        headers: BTreeMap<String, String>,
    },
}

/// A variable that a server's entry names is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable {0} is not set")]
pub struct NotSet(pub String);

impl McpServerConfig {
    /// Returns the names of the environment variables that its texts name.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<&str> {
        self.texts().flat_map(|(_, text)| references(text).flatten()).collect()
    }

    /// Returns the values of `${NAME}`, as `look` has them, of the texts that are secrets by their
    /// own name or by that of the variable: they must not be shown.
    pub fn secrets(&self, look: impl Fn(&str) -> Option<String>) -> Vec<KnownSecret> {
        let secret = |(name, text): (Option<&String>, &'_ str)| -> Vec<KnownSecret> {
            let all = name.is_some_and(|name| names_a_secret(name));
            let named = references(text).flatten();
            let named = named.filter(|variable| all || names_a_secret(variable));
            named.filter_map(|name| Some(KnownSecret::new(name, look(name)?))).collect()
        };
        self.texts().flat_map(secret).collect()
    }

    /// Returns the server with `${NAME}` replaced by what `look` has.
    ///
    /// # Errors
    /// The first variable that has no value.
    pub fn resolved(&self, look: impl Fn(&str) -> Option<String>) -> Result<Self, NotSet> {
        let text = |text: &String| resolve(text, &look);
        let list = |list: &Vec<String>| list.iter().map(text).collect::<Result<_, _>>();
        let map = |map: &BTreeMap<String, String>| -> Result<BTreeMap<_, _>, NotSet> {
            map.iter().map(|(name, value)| Ok((name.clone(), text(value)?))).collect()
        };
        let place = match &self.place {
            McpPlaceConfig::Program { command, args, env } => McpPlaceConfig::Program {
                command: text(command)?,
                args: list(args)?,
                env: map(env)?,
            },
            McpPlaceConfig::Address { url, headers } => {
                McpPlaceConfig::Address { url: text(url)?, headers: map(headers)? }
            }
        };
        Ok(Self { place, allowed_tools: self.allowed_tools.clone() })
    }

    /// Returns its texts, those of a mapping with their names.
    fn texts(&self) -> impl Iterator<Item = (Option<&String>, &str)> {
        let (plain, named): (Vec<&String>, _) = match &self.place {
            McpPlaceConfig::Program { command, args, env } => {
                (std::iter::once(command).chain(args).collect(), env)
            }
            McpPlaceConfig::Address { url, headers } => (vec![url], headers),
        };
        let plain = plain.into_iter().map(|text| (None, text.as_str()));
        plain.chain(named.iter().map(|(name, text)| (Some(name), text.as_str())))
    }
}

/// Returns the variables that a text names; an error for a `${` without a name and `}` behind it.
fn references(text: &str) -> impl Iterator<Item = Result<&str, ()>> {
    text.split("${").skip(1).map(|rest| {
        let name = rest.split_once('}').map(|(name, _)| name);
        name.filter(|name| is_variable(name)).ok_or(())
    })
}

fn resolve(text: &str, look: &impl Fn(&str) -> Option<String>) -> Result<String, NotSet> {
    let mut parts = text.split("${");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Without an end it is no reference; such texts are refused when they are read.
        let Some((name, rest)) = part.split_once('}') else {
            out.push_str("${");
            out.push_str(part);
            continue;
        };
        out.push_str(&look(name).ok_or_else(|| NotSet(name.to_owned()))?);
        out.push_str(rest);
    }
    Ok(out)
}

/// Reads a separate file of MCP servers: `{<key>: {command, args, env, allowedTools}}`, as JSON or
/// YAML, also below a key `mcpServers`. `source_name` is how messages call the file.
///
/// # Errors
/// Everything that is wrong with the text, in the order of its lines.
pub fn parse_servers(
    text: &str,
    source_name: &str,
) -> Result<(BTreeMap<String, McpServerConfig>, Vec<Warning>), ConfigError> {
    if text.len() > MAX_CONFIG_BYTES {
        return Err(ConfigError::too_large(source_name, text.len() as u64));
    }
    if is_blank(text) {
        return Ok((BTreeMap::new(), Vec::new()));
    }
    let root = load(text).map_err(|problem| ConfigError::new(source_name, vec![problem]))?;
    let mut reader = Reader::new(text, source_name);
    let servers = match root.value {
        Value::Map(mut entries) if entries.len() == 1 && entries[0].0.text == WRAPPED => {
            entries.pop().and_then(|(_, node)| servers(&mut reader, WRAPPED, node))
        }
        value => servers(&mut reader, "the file", Node { value, place: root.place }),
    };
    let Reader { problems, warnings, .. } = reader;
    match servers {
        Some(servers) if problems.is_empty() => Ok((servers, warnings)),
        _ => Err(ConfigError::new(source_name, problems)),
    }
}

/// Reads a mapping of servers.
pub(super) fn servers(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node,
) -> Option<BTreeMap<String, McpServerConfig>> {
    let section = reader.section(name, node)?;
    let mut servers = BTreeMap::new();
    for (key, node) in section.entries {
        let name = format!("mcp_servers.{}", shown(&key.text));
        let usable = usable(reader, &key);
        let Some(section) = reader.section(&name, node) else { continue };
        let server = server(reader, &name, section);
        if let (true, Some(server)) = (usable, server) {
            servers.insert(key.text, server);
        }
    }
    Some(servers)
}

/// Two underscores in a row would make a key another server's: a permission for `mcp__a__*` must
/// not reach the server `a__b`.
fn usable(reader: &mut Reader<'_>, key: &Key) -> bool {
    let text = &key.text;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if OWN.contains(&text.as_str()) {
        let message = format!("`{text}` is the key of the daemon's own tools");
        reader.fault_help(key.place, message, "give this server another key");
        return false;
    }
    let fits = (1..=KEY_MAX).contains(&text.len()) && text.chars().all(plain);
    if !fits || text.contains("__") || text.starts_with('_') || text.ends_with('_') {
        let message = format!(
            "`{}` is not a valid key for a server: write letters, digits, - and single _ within, at \
             most {KEY_MAX}",
            shown(text)
        );
        reader.fault(key.place, message);
        return false;
    }
    true
}

fn server(reader: &mut Reader<'_>, name: &str, mut section: Section) -> Option<McpServerConfig> {
    let at = section.place;
    let mut take = |key| section.take(key);
    let (command, args, env) = (take("command"), take("args"), take("env"));
    let (url, headers) = (take("url"), take("headers"));
    let ours = section.take("allowed_tools");
    let theirs = section.take("allowedTools");
    if let (Some(_), Some(node)) = (&ours, &theirs) {
        reader.fault(node.place, "`allowed_tools` appears twice, in two spellings");
    }
    let allowed_tools = ours.or(theirs).and_then(|node| tools(reader, node)).unwrap_or_default();
    reader.nothing_else(name, section, &SERVER);
    let odd = match (&command, &url) {
        (None, None) => {
            let message = format!("`{name}` has neither a `command` nor a `url`");
            let help = "write `command: PROGRAM` and `args: […]`, or `url: http://…`";
            reader.fault_help(at, message, help);
            return None;
        }
        (Some(_), Some(_)) => Some("a `command` and a `url`: it is one or the other"),
        (Some(_), None) => headers.as_ref().map(|_| "`headers`, which belong to a `url`"),
        (None, Some(_)) => {
            args.as_ref().or(env.as_ref()).map(|_| "`args` or `env`, which belong to a `command`")
        }
    };
    if let Some(odd) = odd {
        reader.fault(at, format!("`{name}` has {odd}"));
    }
    // All of it is read, so that every fault is told.
    let command = command.and_then(|node| text(reader, "command", &node));
    let args = args.and_then(|node| texts(reader, "args", node)).unwrap_or_default();
    let env = env.and_then(|node| named_texts(reader, "env", node)).unwrap_or_default();
    let url = url.and_then(|node| address(reader, &node));
    let headers = headers.and_then(|node| named_texts(reader, "headers", node)).unwrap_or_default();
    let program = command.map(|command| McpPlaceConfig::Program { command, args, env });
    let place = program.or_else(|| url.map(|url| McpPlaceConfig::Address { url, headers }))?;
    Some(McpServerConfig { place, allowed_tools })
}

fn tools(reader: &mut Reader<'_>, node: Node) -> Option<Vec<String>> {
    let items = reader.list("allowed_tools", node)?;
    let mut tools = Vec::new();
    for item in &items {
        let Some(tool) = reader.text("an item of `allowed_tools`", item) else { continue };
        if tool.starts_with("mcp__") {
            reader.fault_help(
                item.place,
                format!("`{}` is the name that the model uses", shown(&tool)),
                "write the tool's own name here, the part behind the server's key",
            );
        } else if tool.strip_suffix('*').unwrap_or(&tool).contains('*') {
            let message = format!("`{}` has a * that is not at its end", shown(&tool));
            reader.fault(item.place, message);
        } else {
            tools.push(tool);
        }
    }
    Some(tools)
}

fn text(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<String> {
    let text = reader.text(key, node)?;
    fit(reader, node.place, &text).then_some(text)
}

fn texts(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Vec<String>> {
    let items = reader.list(key, node)?;
    let key = format!("an item of `{key}`");
    let mut texts = Vec::new();
    for item in &items {
        match &item.value {
            // An argument may well be empty.
            Value::Text(text) if text.is_empty() => texts.push(String::new()),
            _ => texts.extend(text(reader, &key, item)),
        }
    }
    Some(texts)
}

fn address(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let url = text(reader, "url", node)?;
    let authority = url.split("://").nth(1).unwrap_or_default();
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        reader.secret_value_fault(
            node.place,
            "a login does not belong in `url`: secrets come from the environment",
            "write it under `headers`, as `Authorization: \"Bearer ${NAME}\"`",
        );
        return None;
    }
    // A reference may be the whole of it.
    if url.starts_with("${") { Some(url) } else { value::url(reader, "url", node) }
}

fn named_texts(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<BTreeMap<String, String>> {
    let section = reader.section(key, node)?;
    let mut map = BTreeMap::new();
    for (name, node) in section.entries {
        let shown = shown(&name.text);
        let named = match key {
            "env" => is_variable(&name.text),
            _ => is_header(&name.text),
        };
        let text = match &node.value {
            Value::Text(text) if !text.contains(['\0', '\r', '\n']) => text,
            Value::Text(_) => {
                let message = format!("`{key}.{shown}` holds a line break or a NUL character");
                reader.secret_fault(name.place, &message, "remove it");
                continue;
            }
            other => {
                let message = format!("`{key}.{shown}` must be text, not {}", other.kind());
                reader.secret_fault(name.place, &message, "put it in quotes");
                continue;
            }
        };
        if !named {
            let what = if key == "env" { "a variable's name" } else { "the name of a header" };
            reader.secret_fault(name.place, &format!("`{shown}` is not {what}"), "write another");
        } else if references(text).any(|it| it.is_err()) {
            reader.secret_fault(name.place, &format!("`{key}.{shown}` {NO_REFERENCE}"), AS);
        } else if !text.is_empty() && literal(text) && names_a_secret(&name.text)
            || looks_secret(text)
        {
            let message = format!(
                "the value of `{key}.{shown}` does not belong in this file: secrets come from the \
                 environment"
            );
            reader.secret_fault(name.place, &message, AS);
        } else {
            map.insert(name.text, text.clone());
        }
    }
    Some(map)
}

const NO_REFERENCE: &str = "has a `${` that names no variable";
const AS: &str = "name the variable that holds it, as \"${NAME}\"";

/// Returns whether a text may stand here; says why not.
fn fit(reader: &mut Reader<'_>, place: Place, text: &str) -> bool {
    if references(text).any(|it| it.is_err()) {
        reader.secret_value_fault(place, &format!("this {NO_REFERENCE}"), AS);
        return false;
    }
    if looks_secret(text) {
        let message = "a key does not belong in this file: secrets come from the environment";
        reader.secret_value_fault(place, message, AS);
        return false;
    }
    true
}

/// Returns whether a text names no variable.
fn literal(text: &str) -> bool {
    references(text).next().is_none()
}

fn looks_secret(text: &str) -> bool {
    Redactor::default().redact(text).as_str() != text
}

fn is_header(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(legal)
}
