//! One agent of the configuration: its backend, folder, login, MCP servers and hooks.

use gangline_agent::folder::Standing;
use gangline_config::{AgentConfig, Hooks, McpPlaceConfig, McpServerConfig, Permissions, PromptBy};
use gangline_os::paths::Paths;
use gangline_runtime::folder::Without;

use super::{
    hub::Hub,
    login, program, reading,
    report::{About, Check, Group},
    status::{self, DaemonStatus},
    subject::{Subject, locate},
    supervisor,
};
use crate::{
    configuration::{self, Loaded, driven::Ordered},
    failure::Failure,
    folders, store,
    versions::Version,
};

/// An agent, and what its backend is.
pub(super) struct AgentCheck<'a> {
    pub(super) agent: &'a AgentConfig,
    /// None without a backend of its name.
    pub(super) subject: Result<Subject, Failure>,
}

impl<'a> AgentCheck<'a> {
    pub(super) fn of(agent: &'a AgentConfig, loaded: &Loaded, ordered: &Ordered) -> Self {
        let wanted = ordered.get(&agent.nick).map(String::as_str);
        let driven = loaded.driven(agent, wanted).and_then(|driven| {
            match wanted {
                Some(_) => driven.can_run()?,
                None => {
                    driven.available()?;
                    driven.has_sound_fields()?;
                }
            }
            Ok(driven)
        });
        let subject = match (driven, wanted) {
            (Err(failure), Some(name)) => Err(failure
                .doing(format!("`{name}` was ordered by --runtime"))
                .hint(back(agent, loaded))),
            (driven, _) => driven.map(Subject::of_agent),
        };
        Self { agent, subject }
    }

    /// Returns all that can be said of it.
    pub(super) fn group(
        &self,
        loaded: &Loaded,
        (paths, hub): (&Paths, &Hub),
        (version, told): (Option<&Version>, Option<&DaemonStatus<'_>>),
    ) -> Group {
        let agent = self.agent;
        let mut checks: Vec<Check> =
            status::check(&agent.nick, told, (paths, hub)).into_iter().collect();
        let unasked = told.and_then(|told| told.note.unasked.as_deref());
        let mut title = format!("Agent {}", agent.nick);
        match &self.subject {
            Err(failure) => checks.push(Check::failed("backend", failure)),
            Ok(subject) => {
                let found = &subject.found;
                title = format!("{title}: {}", found.name);
                checks.push(backend(subject, agent, loaded));
                checks.push(program::check(subject, version, hub));
                checks.extend(login::check(subject, hub));
            }
        }
        if let Ok(subject) = &self.subject {
            checks.extend(supervisor::check(loaded, subject));
        }
        checks.extend(self.permissions(unasked));
        checks.push(directory(agent));
        checks.extend(self.folder(paths));
        if let Ok(subject) = &self.subject {
            checks.push(reading::check(subject, agent));
            checks.extend(servers(subject, agent, hub));
            let unread = loaded.has_servers(agent).err();
            checks.extend(unread.map(|failure| Check::failed("MCP servers", &failure)));
            checks.extend(hooks(subject, agent.hooks.as_ref().or(loaded.config.hooks.as_ref())));
        }
        Group { about: About::Agent, name: Some(agent.nick.to_string()), title, checks }
    }
}

impl AgentCheck<'_> {
    /// Says what its folder brings along that is not loaded. Nothing of it is run.
    fn folder(&self, paths: &Paths) -> Option<Check> {
        const NAME: &str = "trust";
        let driven = self.subject.as_ref().ok()?.driven.as_ref()?;
        let folder = folders::folder(paths, driven);
        let (look, text) = folders::told((&folder, self.agent), &store::folder_trust(paths))?;
        Some(match (folder.brings.without, look.standing()) {
            (Without::NoSwitch, _) => Check::fail(NAME, text),
            (_, Standing::Changed) => Check::warn(NAME, text),
            (_, Standing::Nothing | Standing::LeftOut | Standing::Allowed) => {
                Check::note(NAME, text)
            }
        })
    }

    /// Says who decides what its tools may do, where that is not what people expect (C5).
    fn permissions(&self, unasked: Option<&str>) -> Option<Check> {
        const NAME: &str = "permissions";
        let mode = self.agent.permissions;
        let found = self.subject.as_ref().ok().map(|subject| &subject.found);
        if let Some(found) = found.filter(|found| found.is_in_terminal()) {
            let who = match configuration::prompt_by(self.agent, found) {
                PromptBy::Owners => "its owner",
                PromptBy::Members => "every member of its rooms",
            };
            let text = format!("no approvals in a terminal: {who} can run anything in its shell");
            return Some(Check::note(NAME, text));
        }
        match (mode, unasked) {
            (Permissions::Bypass, _) => Some(Check::warn(NAME, "BYPASS: every tool runs unasked")),
            (Permissions::Ask | Permissions::Allowlist, Some(ran)) => Some(
                Check::warn(NAME, format!("`{mode}` has no effect: the program ran {ran} unasked"))
                    .remedy("make the program ask in its own settings: see docs/backends.md"),
            ),
            (Permissions::Ask | Permissions::Allowlist, None) => None,
        }
    }
}

fn backend(subject: &Subject, agent: &AgentConfig, loaded: &Loaded) -> Check {
    let (found, adapter) = (&subject.found, subject.found.entry.name);
    let text = match found.name == adapter {
        true => format!("{adapter} ({})", found.source),
        false => format!("{} ({}), driven as {adapter}", found.name, found.source),
    };
    let instead_of = subject.driven.as_ref().and_then(|driven| driven.instead_of.as_ref());
    let Some(instead_of) = instead_of else { return Check::ok("backend", text) };
    let text = format!("{text}, ordered by --runtime instead of {}", instead_of.name);
    let text = match instead_of.left_out.as_slice() {
        [] => text,
        keys => format!("{text}; these keys have no effect now: {}", keys.join(", ")),
    };
    Check::note("backend", text).remedy(back(agent, loaded))
}

/// How the configured backend is taken again.
fn back(agent: &AgentConfig, loaded: &Loaded) -> String {
    let (nick, name) = (&agent.nick, loaded.backend_name(agent));
    format!("`gangline restart {nick} --runtime {name}` goes back to the configured one")
}

fn directory(agent: &AgentConfig) -> Check {
    const NAME: &str = "directory";
    let shown = agent.directory.display();
    if !agent.directory.exists() {
        return Check::fail(NAME, format!("{shown} is not there"))
            .remedy(format!("`mkdir -p {shown}`, or write another `directory`"));
    }
    match std::fs::read_dir(&agent.directory) {
        Ok(_) => Check::ok(NAME, shown.to_string()),
        Err(error) => Check::fail(NAME, format!("{shown} cannot be used: {error}"))
            .remedy("write another `directory`"),
    }
}

fn servers(subject: &Subject, agent: &AgentConfig, hub: &Hub) -> Vec<Check> {
    let can = configuration::can(agent, &subject.found).unwrap_or_default();
    let each = agent.mcp_servers.iter().map(|(key, server)| {
        let name = format!("mcp {key}");
        let takes = match server.place {
            McpPlaceConfig::Program { .. } => can.mcp_stdio,
            McpPlaceConfig::Address { .. } => can.mcp_http,
        };
        match takes {
            true => server_check(name, server, subject, hub),
            false => Check::warn(name, "its backend takes no servers of this kind").remedy(
                "remove it from this agent, or configure the other kind (`command` or \
                     `url`)",
            ),
        }
    });
    each.collect()
}

fn server_check(name: String, server: &McpServerConfig, subject: &Subject, hub: &Hub) -> Check {
    let server = match server.resolved(|name| std::env::var(name).ok()) {
        Ok(server) => server,
        Err(error) => {
            let remedy = "its entry names this variable: set it where the hub is started";
            return match hub.runs {
                true => Check::warn(name, format!("{error} here; the hub may have it")),
                false => Check::fail(name, error.to_string()),
            }
            .remedy(remedy);
        }
    };
    match server.place {
        McpPlaceConfig::Address { .. } => Check::note(name, "over HTTP; not checked"),
        McpPlaceConfig::Program { command, env, .. } => {
            let path = env.get("PATH").or_else(|| subject.env.get("PATH"));
            match locate(&command, path.map_or("", String::as_str), &subject.folder).file() {
                Ok(file) => Check::ok(name, file.display().to_string()),
                Err(why) => Check::fail(name, why).remedy(
                    "install it, or correct `command` of the server; the agent starts without it",
                ),
            }
        }
    }
}

fn hooks(subject: &Subject, hooks: Option<&Hooks>) -> Option<Check> {
    const NAME: &str = "hooks";
    let command = hooks?.command.first()?;
    Some(match subject.locate(command).file() {
        Ok(file) => Check::ok(NAME, file.display().to_string()),
        Err(why) => {
            Check::fail(NAME, why).remedy("correct `hooks.command`; turns do not wait for it")
        }
    })
}
