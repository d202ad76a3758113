//! Where alerts go, as the configuration says it, with the secrets read.

use std::path::{Path, PathBuf};

use gangline_config::{Alerts, TargetKind, WebhookTarget, Webhooks, masked_url};
use gangline_core::{
    alert::{is_held_back, quiet::QuietHours},
    finding::Severity,
    hook::WebhookEvent,
    name::ChannelName,
    redact::Redactor,
    time::WallMicros,
};
use gangline_os::{clock::UnixMicros, fsio, secret::Secret};
use jiff::tz::TimeZone;

use crate::address::{is_allowed, is_private_by_name};

/// The name of the target that is the channel on IRC.
pub const IRC: &str = "irc";
/// The name of the target that is `webhooks.url`.
pub const URL: &str = "url";
/// The shortest word of an address that is masked in what a receiver answers.
const PART_LEAST: usize = 8;
/// The most that a file with a secret holds, in bytes.
const SECRET_MAX: u64 = 4096;

/// One address that alerts are posted to.
#[derive(Debug, Clone)]
pub struct Where {
    /// Its name.
    pub name: String,
    /// The address; a secret.
    pub url: Secret,
    /// What it expects.
    pub kind: TargetKind,
    /// The body of [`TargetKind::Template`].
    pub template: Option<String>,
    /// What its requests are signed with.
    pub secret: Option<Secret>,
    /// The events that it gets.
    pub events: Vec<WebhookEvent>,
}

impl Where {
    /// Returns its address as it may be shown: scheme and host.
    #[must_use]
    pub fn shown(&self) -> String {
        masked_url(self.url.expose())
    }
}

/// Where alerts go, and how.
#[derive(Clone, Default)]
pub struct Plan {
    /// The channel on IRC.
    pub channel: Option<ChannelName>,
    /// Whether each agent posts its own alerts there.
    pub as_agent: bool,
    /// The events that go there.
    pub events: Vec<WebhookEvent>,
    /// The addresses.
    pub targets: Vec<Where>,
    /// How often a request that failed is tried again.
    pub retries: u32,
    /// When only errors are posted.
    pub quiet: Option<QuietHours>,
    /// Hosts that may be posted to although they are not public, in lower case.
    pub allow_hosts: Vec<String>,
    /// Masks addresses and secrets in what is sent.
    pub redactor: Redactor,
    /// Masks them, and also parts of addresses, in what receivers answer. Text that is sent is not masked so
    /// strictly, since a part of an address may be an ordinary word.
    pub answers: Redactor,
    /// Configured addresses that cannot be posted to, since their secret cannot be read.
    pub broken: Vec<Broken>,
}

/// An address that cannot be posted to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the secret of the webhook {target} from {}: {why}", path.display())]
pub struct Broken {
    /// Its name.
    pub target: String,
    /// Its scheme and host.
    pub address: String,
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl Plan {
    /// Returns where alerts go. `folder` is what the paths in the configuration are relative to. A target
    /// whose secret cannot be read, or is empty, is in [`Self::broken`] instead.
    #[must_use]
    pub fn read(hooks: &Webhooks, alerts: &Alerts, folder: &Path) -> Self {
        let mut all = Vec::new();
        if let Some(url) = &hooks.url {
            let kind = hooks.template.as_ref().map(|_| TargetKind::Template);
            all.push(WebhookTarget {
                name: URL.to_owned(),
                url: url.clone(),
                kind,
                template: hooks.template.clone(),
                secret_file: None,
                events: None,
            });
        }
        all.extend(hooks.targets.iter().cloned());
        let (mut targets, mut broken) = (Vec::new(), Vec::new());
        for target in all {
            let url = target.url.expose();
            let file = target.secret_file.as_ref().or(hooks.secret_file.as_ref());
            let secret = match file.map(|file| folder.join(file)) {
                Some(path) => match secret(&path) {
                    Ok(secret) => Some(secret),
                    Err(error) => {
                        let (target, address) = (target.name, masked_url(url));
                        broken.push(Broken { target, address, path, why: error.to_string() });
                        continue;
                    }
                },
                None => None,
            };
            targets.push(Where {
                kind: target.kind.unwrap_or_else(|| by_host(url, target.template.is_some())),
                url: Secret::new(url),
                name: target.name,
                template: target.template,
                secret,
                events: target.events.unwrap_or_else(|| hooks.events.clone()),
            });
        }
        let known = targets.iter().flat_map(|it| [Some(&it.url), it.secret.as_ref()]).flatten();
        let known: Vec<String> = known.map(|it| it.expose().to_owned()).collect();
        let parts = targets.iter().flat_map(|it| parts(it.url.expose()));
        let answers = Redactor::new(known.iter().cloned().chain(parts));
        let redactor = Redactor::new(known);
        Self {
            channel: hooks.irc_channel.clone(),
            as_agent: alerts.as_agent,
            events: hooks.events.clone(),
            targets,
            retries: hooks.retries,
            quiet: hooks.quiet_hours.as_deref().and_then(|text| text.parse().ok()),
            allow_hosts: hooks.allow_hosts.iter().map(|it| it.to_ascii_lowercase()).collect(),
            redactor,
            answers,
            broken,
        }
    }

    /// Returns the end of the quiet hours that now hold back an alert at webhooks.
    #[must_use]
    pub fn quiet_until(&self, severity: Severity, now: UnixMicros) -> Option<UnixMicros> {
        let hours = self.quiet.filter(|_| is_held_back(severity))?;
        hours.end(WallMicros(now.0), &TimeZone::system()).map(|end| UnixMicros(end.0))
    }

    /// Returns a text for each target whose address is certain to fail. Looks up no names.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let doubt = |target: &Where| {
            let name = &target.name;
            let url = match reqwest::Url::parse(target.url.expose().trim()) {
                Ok(url) => url,
                Err(error) => {
                    return Some(format!(
                        "the address of the webhook {name} is not a URL: {error}"
                    ));
                }
            };
            let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let refused = is_private_by_name(bare) && !is_allowed(bare, &self.allow_hosts);
            refused.then(|| {
                format!(
                    "the webhook {name} leads to {bare}, on this machine or a private network: write \
                     `allow_hosts: [\"{bare}\"]` under `webhooks` to post there"
                )
            })
        };
        self.targets.iter().filter_map(doubt).collect()
    }

    /// Returns the address of that name.
    #[must_use]
    pub fn target(&self, name: &str) -> Option<&Where> {
        self.targets.iter().find(|target| target.name == name)
    }
}

/// Returns the parts of an address that may be secret: its path and query, and the long words in them.
fn parts(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let Some(path) = rest.find('/').map(|at| &rest[at..]) else { return Vec::new() };
    let words = path.split(['/', '?', '&', '=']).filter(|word| word.len() >= PART_LEAST);
    let whole = (path.len() > PART_LEAST).then_some(path);
    whole.into_iter().chain(words).map(str::to_owned).collect()
}

/// Returns what the host of an address expects.
fn by_host(url: &str, has_template: bool) -> TargetKind {
    if has_template {
        return TargetKind::Template;
    }
    let parsed = reqwest::Url::parse(url).ok();
    let host = parsed.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
    let is = |name: &str| host == name || host.ends_with(&format!(".{name}"));
    if is("discord.com") || is("discordapp.com") {
        TargetKind::Discord
    } else if is("hooks.slack.com") {
        TargetKind::Slack
    } else if is("ntfy.sh") {
        TargetKind::Ntfy
    } else {
        TargetKind::Generic
    }
}

fn secret(path: &Path) -> std::io::Result<Secret> {
    let text = fsio::read_foreign_text(path, SECRET_MAX)?;
    match text.trim() {
        "" => Err(std::io::Error::other("the file is empty")),
        text => Ok(Secret::new(text)),
    }
}

#[cfg(test)]
mod tests {
    //! What is masked.

    use super::*;

    /// An address that is refused without a look-up is reported when the file is checked.
    #[test]
    fn an_address_that_is_certain_to_be_refused_is_told() {
        let doubts = |webhooks: &str| {
            let text = format!("server: {{name: oak}}\nagents: []\nwebhooks: {{{webhooks}}}\n");
            let config = gangline_config::parse(&text, "agents.yaml").unwrap();
            Plan::read(&config.webhooks, &config.alerts, Path::new("/")).doubts()
        };
        let none: [&str; 0] = [];
        for fine in [
            "url: 'https://x.org/a'",
            "url: 'http://intern/a'",
            "url: 'http://127.0.0.1:8/a', allow_hosts: [127.0.0.1]",
            "url: 'http://LocalHost/a', allow_hosts: [LOCALHOST]",
            "url: 'http://[::1]/a', allow_hosts: ['[::1]']",
        ] {
            assert_eq!(doubts(fine), none, "{fine}");
        }
        for (address, host) in [
            ("http://127.0.0.1:8/s3cret", "127.0.0.1"),
            ("http://0x7f000001/s3cret", "127.0.0.1"),
            ("http://localhost/s3cret", "localhost"),
            ("http://a.localhost./s3cret", "a.localhost."),
            ("http://[::1]/s3cret", "::1"),
            ("https://10.0.0.7/s3cret", "10.0.0.7"),
        ] {
            let told = doubts(&format!("targets: [{{name: x, url: '{address}'}}]"));
            let expected = format!(
                "the webhook x leads to {host}, on this machine or a private network: write \
                 `allow_hosts: [\"{host}\"]` under `webhooks` to post there"
            );
            assert_eq!(told, [expected]);
        }
        let told = doubts("url: 'https://[x/s3cret'");
        assert_eq!(told, ["the address of the webhook url is not a URL: invalid IPv6 address"]);
    }

    /// A word of an address is masked in a receiver's answer, but not in an agent's own words.
    #[test]
    fn parts_of_an_address_are_masked_in_answers_alone() {
        let text = "server: {name: oak}\nagents: []\nwebhooks: {url: 'https://x.org/api/webhooks/12/s3cret-token'}\n";
        let config = gangline_config::parse(text, "agents.yaml").unwrap();
        let plan = Plan::read(&config.webhooks, &config.alerts, Path::new("/"));
        let said = "404 at /api/webhooks/12/s3cret-token: no s3cret-token";
        let masked = plan.answers.redact(said);
        assert!(!masked.as_str().contains("s3cret-token"), "{masked}");
        let task = "[COMPLETE] oak-ada finished task \"fix the webhooks\".";
        assert_eq!(plan.redactor.redact(task).as_str(), task);
        let whole = plan.redactor.redact("see https://x.org/api/webhooks/12/s3cret-token");
        assert!(!whole.as_str().contains("s3cret-token"), "{whole}");
    }
}
