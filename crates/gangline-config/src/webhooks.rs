//! `webhooks` and `alerts`: who is told when an agent needs somebody (R1-39 … R1-43, C11, C17).

use std::{collections::BTreeSet, fmt, path::PathBuf};

use gangline_core::{
    alert::{RETRIES_MAX, quiet::QuietHours},
    hook::WebhookEvent,
    name::ChannelName,
    words,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    declared::{self, plain, section},
    error::shown,
    node::Node,
    reader::Reader,
    schema,
    value::{self, path},
};

/// The most entries of `webhooks.targets`, and of `webhooks.allow_hosts`.
const LIST_MAX: usize = 16;
/// The words that are replaced in a template, such as `{{text}}`.
pub const TEMPLATE_WORDS: [&str; 5] = ["text", "agent", "event", "severity", "number"];
/// The longest template, in bytes.
const TEMPLATE_MAX: usize = 16 * 1024;
/// The help for an empty list of events.
const EVENTS_HELP: &str =
    "remove the key to get all events, or list some: [agent_error, agent_question]";
/// The names of the targets that are not in `webhooks.targets`.
const RESERVED: [&str; 2] = ["irc", "url"];

words! {
    /// What a target expects.
    TargetKind, "kind of target" {
        /// `{"content": "…"}`.
        Generic = "generic",
        /// Discord: the same, at most 2,000 characters, and nobody is pinged.
        Discord = "discord",
        /// Slack: `{"text": "…"}`.
        Slack = "slack",
        /// ntfy: the bare text; title and priority are headers.
        Ntfy = "ntfy",
        /// The target's own `template`.
        Template = "template",
    }
}

/// A webhook's address: who knows it may post there, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct HookUrl(String);

impl HookUrl {
    /// Takes an address that was checked to begin with `http://` or `https://` and a host.
    pub(crate) fn new(url: String) -> Self {
        Self(url)
    }

    /// Returns the address.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&masked_url(&self.0))
    }
}

/// Returns an address as it may be shown: only its scheme, host and port.
#[must_use]
pub fn masked_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "[masked]".to_owned() };
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/[masked]")
}

section! {
    /// `webhooks`: where alerts go (R1-40, R1-43).
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Webhooks() |reader, key, node| {
        /// An HTTP address that alerts are posted to; absent = none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub url: Option<HookUrl> = None => url(reader, key, &node).map(Some),
        /// The channel that alerts are posted in; `null` = none.
        #[schemars(with = "Option<String>")]
        pub irc_channel: Option<ChannelName> = "#alerts".parse().ok()
            => reader.parsed(key, &node).map(Some),
        /// The events that raise an alert.
        #[schemars(with = "Vec<schema::WebhookEvents>")]
        pub events: Vec<WebhookEvent> = WebhookEvent::ALL.to_vec() => reader.words(key, node),
        /// The body that `url` gets; absent = what its host expects, else `{"content": "…"}`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub template: Option<String> = None => template(reader, key, &node).map(Some),
        /// Further addresses that alerts are posted to, at most 16.
        pub targets: Vec<WebhookTarget> = Vec::new() => targets(reader, key, node),
        /// A file with the secret that requests are signed with; absent = they are not.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret_file: Option<PathBuf> = None => path(reader, key, &node).map(Some),
        /// How often a request that failed is tried again, 0 to 20.
        pub retries: u32 = 0 => reader.integer(key, &node, 0..=i128::from(RETRIES_MAX)),
        /// A part of the day, such as `22:00-7:00` by this machine's clock, in which only errors are
        /// posted; the rest is posted after it. The channel has everything at once. Absent = none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quiet_hours: Option<String> = None
            => reader.parsed::<QuietHours>(key, &node).map(|it| Some(it.to_string())),
        /// Hosts of this machine or a private network that may be posted to all the same, by the name
        /// or address that the URL has.
        pub allow_hosts: Vec<String> = Vec::new() => hosts(reader, key, node),
    }
}

section! {
    /// An entry of `webhooks.targets`: an address that alerts are posted to.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct WebhookTarget(name: String = String::new(), url: HookUrl = HookUrl::new(String::new()))
        |reader, key, node| {
        /// Its name, for messages.
        pub name: String = name => name(reader, key, &node),
        /// An HTTP address that alerts are posted to.
        pub url: HookUrl = url => url(reader, key, &node),
        /// What it expects: generic, discord, slack, ntfy or template; absent = by its host.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        pub kind: Option<TargetKind> = None => reader.word(key, &node).map(Some),
        /// The body of `kind: template`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub template: Option<String> = None => template(reader, key, &node).map(Some),
        /// A file with the secret that its requests are signed with; absent = `webhooks.secret_file`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret_file: Option<PathBuf> = None => path(reader, key, &node).map(Some),
        /// The events that it gets; absent = those of `webhooks.events`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Vec<schema::WebhookEvents>>")]
        pub events: Option<Vec<WebhookEvent>> = None => reader.words(key, node).map(Some),
    }
}

section! {
    /// `alerts`: how alerts look on IRC (C11).
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Alerts() |reader, key, node| {
        /// Whether each agent posts its own alerts under its own nick; `false` = `gangline` posts all.
        pub as_agent: bool = false => reader.boolean(key, &node),
    }
}

/// Reads `webhooks`.
pub(super) fn webhooks(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Webhooks> {
    let mut section = reader.section(key, node)?;
    let silent = section.take_null("irc_channel").is_some();
    let events = section.place_of("events");
    let mut webhooks: Webhooks = declared::read(reader, key, section)?;
    if silent {
        webhooks.irc_channel = None;
    }
    if webhooks.events.is_empty()
        && let Some(place) = events
    {
        let message = "`webhooks.events` is empty, so no alert is sent, except to targets with their own \
                       `events`";
        reader.warn(place, message, Some(EVENTS_HELP.to_owned()));
    }
    Some(webhooks)
}

/// Reads `alerts`.
pub(super) fn alerts(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Alerts> {
    plain(reader, key, node)
}

/// As [`value::url`], but the error does not show the address.
fn url(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<HookUrl> {
    let url = reader.text(key, node)?;
    if value::is_url(&url) {
        return Some(HookUrl::new(url));
    }
    reader.secret_value_fault(
        node.place,
        &format!("`{key}` must begin with http:// or https:// and a host"),
        "write the whole address, as the receiver gave it; it is a secret, so it is not shown here",
    );
    None
}

fn targets(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Vec<WebhookTarget>> {
    let place = node.place;
    let items = reader.list(key, node)?;
    if items.len() > LIST_MAX {
        reader.fault(place, format!("`{key}` has more than {LIST_MAX} entries"));
        return None;
    }
    let mut names = BTreeSet::new();
    let mut targets = Vec::new();
    for item in items {
        let at = item.place;
        let section = reader.section("webhooks.targets", item)?;
        for needed in ["name", "url"] {
            if section.place_of(needed).is_none() {
                reader.fault(at, format!("a target needs `{needed}`"));
            }
        }
        let events = section.place_of("events");
        let target: WebhookTarget = declared::read(reader, "webhooks.targets", section)?;
        if let (Some(place), Some([])) = (events, target.events.as_deref()) {
            let message =
                format!("`events` is empty, so the target `{}` gets no alert", target.name);
            reader.warn(place, message, Some(EVENTS_HELP.to_owned()));
        }
        if !target.name.is_empty() && !names.insert(target.name.clone()) {
            reader.fault(at, format!("two targets have the name `{}`", target.name));
        }
        let is_template = target.kind == Some(TargetKind::Template);
        if is_template && target.template.is_none() {
            reader.fault(at, "`kind: template` needs a `template`");
        }
        if target.template.is_some() && !is_template && target.kind.is_some() {
            reader.fault(at, "`template` is for `kind: template`");
        }
        targets.push(target);
    }
    Some(targets)
}

fn name(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<String> {
    let name = reader.text(key, node)?;
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if name.is_empty() || name.len() > 32 || !name.chars().all(legal) {
        reader.fault(node.place, "a target's name has 1 to 32 of a-z, 0-9, `-` and `_`");
        return None;
    }
    if RESERVED.contains(&name.as_str()) {
        reader.fault(node.place, format!("`{name}` is the name of a target already"));
        return None;
    }
    Some(name)
}

fn template(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<String> {
    let text = reader.text(key, node)?;
    if text.len() > TEMPLATE_MAX {
        reader.fault(node.place, format!("`{key}` is longer than {TEMPLATE_MAX} bytes"));
        return None;
    }
    let words = template_words(&text);
    if !words.contains(&"text") {
        let help = "such as {\"message\": \"{{text}}\", \"agent\": \"{{agent}}\"}";
        reader.fault_help(node.place, format!("`{key}` has no {{{{text}}}}"), help);
        return None;
    }
    // The receiver may have words of its own, so this is a warning only.
    for word in words.iter().filter(|word| !TEMPLATE_WORDS.contains(word)) {
        let message = format!(
            "`{key}` has the unknown word `{{{{{}}}}}`, which is sent unchanged",
            shown(word)
        );
        let known = TEMPLATE_WORDS.map(|word| format!("{{{{{word}}}}}")).join(", ");
        reader.warn(node.place, message, Some(format!("the known words are {known}")));
    }
    Some(text)
}

/// Returns the words in double braces, without spaces around them.
fn template_words(template: &str) -> Vec<&str> {
    let parts = template.split("{{").skip(1);
    parts.filter_map(|part| Some(part.split_once("}}")?.0.trim())).collect()
}

fn hosts(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Vec<String>> {
    let place = node.place;
    let hosts = reader.texts(key, node)?;
    let legal = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    if let Some(wrong) = hosts.iter().find(|it| it.is_empty() || !it.chars().all(legal)) {
        let wrong = shown(wrong);
        reader.fault(place, format!("`{key}`: `{wrong}` is not the name of a host"));
        return None;
    }
    if hosts.len() > LIST_MAX {
        reader.fault(place, format!("`{key}` has more than {LIST_MAX} entries"));
        return None;
    }
    Some(hosts)
}
