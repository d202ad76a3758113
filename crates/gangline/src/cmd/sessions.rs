//! `gangline sessions`: the sessions of an agent, by the id that its shells and hooks know and by the
//! one of its backend (R3-04, R3-09).

use std::{collections::BTreeMap, sync::Arc};

use gangline_core::AgentName;
use gangline_os::{
    clock::{self, UnixMicros, rfc3339},
    paths::Paths,
};
use gangline_runtime::{
    Mode, NoPast, NoTools, Permissions, SessionFilter, SessionHandle, StartOptions, adapters,
};
use gangline_store::{SessionRow, Store};
use serde::Serialize;

use super::daemon;
use crate::{
    cli::Global,
    configuration::{self, driven::Driven},
    failure::Failure,
    names, output, place,
    show::{table::Cell, table::table, text},
    store,
    who::Who,
};

/// The maximum number of a backend's own sessions that are shown.
const LISTED: usize = 50;

/// What is told, and printed as JSON.
#[derive(Debug, Serialize)]
struct Output {
    agent: AgentName,
    sessions: Vec<Known>,
    /// Those that the backend keeps of the agent's folder and that are not above; absent unless they
    /// were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Vec<Other>>,
}

/// One session of the agent's.
#[derive(Debug, Serialize)]
struct Known {
    /// As `GT_SESSION_ID` has it.
    id: String,
    /// The name under which the sessions of its backend are kept.
    backend: String,
    /// The backend's id.
    session: String,
    began_at: String,
    used_at: String,
    /// The backend continues this one.
    current: bool,
}

/// A session that the backend keeps, and the agent never had.
#[derive(Debug, Serialize)]
struct Other {
    session: String,
    used_at: String,
}

/// List an agent's sessions by GT_SESSION_ID, each with its backend's own id
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    pub(crate) agent: Who,
    /// Also ask the backend for its sessions in the agent's folder; some programs are started for
    /// that
    #[arg(long)]
    pub(crate) all: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let Args { agent, all } = args;
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &agent)?;
    let paths = installation.paths;
    let store = store::existing(&paths).await?;
    store::known(&store, &paths, &agent).await?;
    let rows = store.sessions(&agent).await?;
    let listed = if all { Some(listed(&store, &paths, &agent).await?) } else { None };
    if global.json {
        output::json(&output(agent, &rows, listed.as_deref()))?;
    } else {
        output::print(&shown(&agent, &rows, listed.as_deref()))?;
    }
    Ok(0)
}

fn output(agent: AgentName, rows: &[SessionRow], listed: Option<&[SessionHandle]>) -> Output {
    let known = |row: &SessionRow| Known {
        id: row.known_as.clone(),
        backend: row.runtime.clone(),
        session: row.session.clone(),
        began_at: rfc3339(row.begun_at),
        used_at: rfc3339(row.used_at),
        current: row.kept,
    };
    let other = |(session, at): (String, UnixMicros)| Other { session, used_at: rfc3339(at) };
    let others = listed.map(|listed| others(rows, listed).into_iter().map(other).collect());
    Output { agent, sessions: rows.iter().map(known).collect(), others }
}

/// Returns what the backend lists and the agent never had.
fn others(rows: &[SessionRow], listed: &[SessionHandle]) -> Vec<(String, UnixMicros)> {
    let named = listed.iter().filter_map(|it| Some((it.session.clone()?.0, it.started_at)));
    named.filter(|(session, _)| rows.iter().all(|row| row.session != *session)).collect()
}

fn shown(agent: &AgentName, rows: &[SessionRow], listed: Option<&[SessionHandle]>) -> String {
    let now = clock::system().now();
    let ago = |at: UnixMicros| format!("{} ago", text::age(now.since(at)));
    let row = |row: &SessionRow| -> [Cell; 5] {
        [
            row.known_as.clone().into(),
            row.runtime.clone().into(),
            if row.session == row.known_as {
                "the same".into()
            } else {
                row.session.clone().into()
            },
            ago(row.used_at).into(),
            if row.kept { "current" } else { "" }.into(),
        ]
    };
    let mut out = match rows {
        [] => format!("{agent} has had no session yet\n"),
        _ => {
            let lines: Vec<_> = rows.iter().map(row).collect();
            table(["GT_SESSION_ID", "BACKEND", "ITS OWN ID", "USED", ""], &lines)
        }
    };
    if let Some(listed) = listed {
        let others = others(rows, listed);
        let count = others.len();
        out.push_str(&format!("\n{count} more in its folder, which {agent} never had"));
        out.push_str(if count == 0 { "\n" } else { ":\n" });
        for (session, at) in others {
            out.push_str(&format!("  {session}  {}\n", ago(at)));
        }
    }
    out
}

/// Asks the agent's backend which sessions it keeps of the agent's folder.
async fn listed(
    store: &Store,
    paths: &Paths,
    agent: &AgentName,
) -> Result<Vec<SessionHandle>, Failure> {
    let loaded = configuration::load(&paths.config_file)?;
    let orders = store.orders().await?;
    let order = orders.iter().find(|order| order.agent == *agent);
    let driven =
        loaded.driven(loaded.agent(agent)?, order.and_then(|order| order.runtime.as_deref()))?;
    let can = configuration::can(&driven.agent, &driven.found).unwrap_or_default();
    if !can.list_sessions {
        return Err(Failure::user(format!("the backend of {agent} does not list its sessions"))
            .hint(format!("`gangline sessions {agent}` shows those that {agent} has had")));
    }
    let runtime = adapters::maker(&driven.found).map_err(Failure::environment)?();
    let filter = SessionFilter { workdir: Some(driven.agent.directory.clone()), limit: LISTED };
    let listed = runtime.list_sessions(&options(paths, &driven), &filter).await;
    listed.map_err(|error| {
        Failure::environment(error).doing(format!("cannot list the sessions of {agent}"))
    })
}

fn options(paths: &Paths, driven: &Driven) -> StartOptions {
    let Driven { agent, found, .. } = driven;
    let folder = paths.agent_dir(agent.nick.as_str());
    let acp = found.takes_acp_command().then(|| agent.acp_command.clone());
    let command = agent.command.clone().map(|words| found.completed(words)).or(acp);
    let mut options = StartOptions {
        purpose: gangline_runtime::Purpose::Work,
        workdir: agent.directory.clone(),
        session_dir: folder.join("sessions"),
        tmp_dir: folder.join("tmp"),
        command,
        account_dir: agent.account_dir.clone(),
        env: daemon::child_env(agent, found).into_iter().collect(),
        mode: Mode::Resident,
        model: agent.model.clone(),
        thinking: None,
        system_prompt: String::new(),
        mcp_servers: Vec::new(),
        permissions: Permissions::Ask,
        allowed_tools: Vec::new(),
        bounds: gangline_core::reading::Bounds::default(),
        trusted: None,
        resume: None,
        past: Arc::new(NoPast),
        initial_prompt: None,
        tool_bridge: Vec::new(),
        base_url: agent.base_url.clone(),
        api_key: None,
        extra: BTreeMap::clone(&agent.extra),
        tools: Arc::new(NoTools),
    };
    found.apply(&mut options);
    options
}
