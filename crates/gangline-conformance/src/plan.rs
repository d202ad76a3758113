//! What a session of the suite is started with.

use std::path::PathBuf;

use gangline_os::{fsio, run_id::RUN_ID};

use super::{McpProbe, Subject, turn::Why};
use gangline_runtime::{McpPlace, Permissions, StartOptions, Thinking, registry::dialect};

/// What a session is started with.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Its name: names of its folders and words of its prompts.
    pub(super) tag: &'static str,
    pub(super) permissions: Permissions,
    /// Whether the shell runs unasked.
    pub(super) shell: Listed,
    /// Whether a prompt is given with the start.
    pub(super) initial: Initial,
    /// Whether fields are given that nobody knows.
    pub(super) fields: Fields,
    /// Which of the MCP servers are offered: one kind in a session, so that one tool is meant.
    pub(super) servers: Servers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Servers {
    Stdio,
    Http,
    None,
}

impl Servers {
    /// Returns the one that is given, if there is one of this kind.
    pub(super) fn of(self, subject: &Subject) -> Option<&McpProbe> {
        let mut probes = subject.mcp.iter();
        probes.find(|it| match &it.server.place {
            McpPlace::Stdio { .. } => self == Self::Stdio,
            McpPlace::Http { .. } => self == Self::Http,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Initial {
    Given,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    Known,
    Unknown,
}

/// Returns the installation that the suite's processes carry in their run id.
pub(super) fn installation(options: &StartOptions) -> String {
    let run_id = options.env.iter().find(|(name, _)| name == RUN_ID);
    let installation = run_id.and_then(|(_, run_id)| run_id.split('/').next());
    installation.unwrap_or("conformance").to_owned()
}

/// Returns a folder that is closed to every agent, as that of an installation is.
pub(super) fn closed(options: &StartOptions) -> PathBuf {
    options.workdir.join("closed")
}

/// Returns what the plan comes to, its folders made.
pub(super) fn options(subject: &Subject, plan: &Plan) -> Result<StartOptions, Why> {
    let given = &subject.options;
    let spoken = &subject.dialect;
    let below = |folder: &PathBuf| {
        let folder = folder.join(plan.tag);
        fsio::private_dir(&folder).map(|()| folder).map_err(|error| error.to_string())
    };
    let mut options = given.clone();
    options.workdir = below(&given.workdir)?;
    options.session_dir = below(&given.session_dir)?;
    options.tmp_dir = below(&given.tmp_dir)?;
    let run_id = format!("{}/{}/1", installation(given), plan.tag);
    let origin = subject.model.origin();
    for (name, value) in dialect::OFFLINE.iter().chain(spoken.env) {
        set(&mut options.env, name, value.replace("{origin}", &origin));
    }
    for (name, text) in spoken.files {
        of_user(&options, name, &text.replace("{origin}", &origin))?;
    }
    for (name, value) in spoken.extra {
        let value = serde_json::from_str(value).map_err(|error| error.to_string())?;
        options.extra.insert((*name).to_owned(), value);
    }
    let own = [
        (RUN_ID, run_id),
        ("GANGLINE_AGENT", plan.tag.to_owned()),
        ("CULTURE_NICK", format!("nick-{}", plan.tag)),
        ("GT_SESSION_ID", format!("gt-{}", plan.tag)),
    ];
    for (name, value) in own {
        set(&mut options.env, name, value);
    }
    options.base_url = spoken.base.map(|base| format!("{origin}{base}"));
    options.mode = spoken.mode;
    if let Some(command) = &mut options.command {
        command.extend(spoken.args.iter().map(|word| (*word).to_owned()));
    }
    options.model = Some(spoken.model.to_owned());
    options.permissions = plan.permissions;
    options.allowed_tools = match plan.shell {
        Listed::Yes => vec![spoken.listed.to_owned()],
        Listed::No => vec!["Read".to_owned()],
    };
    options.resume = None;
    options.bounds.closed.push(closed(given));
    let probes = plan.servers.of(subject).into_iter();
    options.mcp_servers = probes.map(|probe| probe.server.clone()).collect();
    if plan.fields == Fields::Unknown {
        options.extra.insert("no_such_field".to_owned(), serde_json::json!({ "a": [1, 2] }));
        options.thinking = Some(Thinking::Said("medium".to_owned()));
    }
    Ok(options)
}

/// Writes a file of the program's user, unless it is there: it may have been changed since.
fn of_user(options: &StartOptions, name: &str, text: &str) -> Result<(), Why> {
    let home = options.env.iter().find(|(name, _)| name == "HOME");
    let path = PathBuf::from(home.map(|(_, home)| home).ok_or("no HOME is given")?).join(name);
    if path.exists() {
        return Ok(());
    }
    let folder = path.parent().ok_or("it has no folder")?;
    fsio::private_dir(folder).map_err(|error| error.to_string())?;
    fsio::write_private(&path, text.as_bytes()).map_err(|error| error.to_string())
}

fn set(env: &mut Vec<(String, String)>, name: &str, value: String) {
    env.retain(|(known, _)| known != name);
    env.push((name.to_owned(), value));
}
