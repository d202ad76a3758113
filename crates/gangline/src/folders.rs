//! What agents' folders bring along, for commands that run no daemon: looked at and told, never changed.

use std::path::PathBuf;

use gangline_agent::folder::{Folder, Look};
use gangline_config::{AgentConfig, FolderTrust};
use gangline_core::AgentName;
use gangline_os::paths::Paths;
use gangline_store::FolderTrustRow;

use crate::{
    configuration::{
        Loaded,
        driven::{Driven, Ordered},
    },
    failure::Failure,
    output, store,
};

/// Returns an agent's folder, with the backend that drives it.
pub(crate) fn of(paths: &Paths, loaded: &Loaded, agent: &AgentName) -> Result<Folder, Failure> {
    let ordered = store::ordered(paths);
    let runtime = ordered.get(agent).map(String::as_str);
    Ok(folder(paths, &loaded.driven(loaded.agent(agent)?, runtime)?))
}

/// Returns the folder of an agent that this backend drives.
pub(crate) fn folder(paths: &Paths, driven: &Driven) -> Folder {
    let Driven { agent, found, .. } = driven;
    let acp = || found.takes_acp_command().then(|| agent.acp_command.clone());
    let command = agent.command.clone().map(|words| found.completed(words)).or_else(acp);
    let configured = agent.env.get("HOME").or_else(|| found.env.get("HOME")).map(PathBuf::from);
    let home = configured.or_else(|| std::env::var_os("HOME").map(PathBuf::from));
    let screen = agent.extra.get("screen").or_else(|| found.extra.get("screen"));
    let program = (found, command.as_deref(), screen);
    Folder::new(paths, (&agent.nick, agent.directory.clone()), program, home)
}

/// Returns what is seen in a folder, with the newest word of these; `None` if nobody has to know.
pub(crate) fn told(
    (folder, agent): (&Folder, &AgentConfig),
    rows: &[FolderTrustRow],
) -> Option<(Look, String)> {
    let path = folder.path.display().to_string();
    let row = rows.iter().find(|row| row.agent == folder.agent && row.folder == path).cloned();
    let look = folder.look_with(row);
    // The configuration's word is recorded at the agent's first start.
    let by_configuration = agent.trust == FolderTrust::Project && look.row.is_none();
    if by_configuration && look.scan.unread.is_empty() {
        return None;
    }
    let text = look.told(folder)?;
    Some((look, text))
}

/// Tells of these agents' folders, one note each.
pub(crate) fn tell<'a>(
    paths: &Paths,
    (loaded, ordered): (&Loaded, &Ordered),
    agents: impl Iterator<Item = &'a AgentConfig>,
) {
    let rows = store::folder_trust(paths);
    for agent in agents {
        let runtime = ordered.get(&agent.nick).map(String::as_str);
        let Ok(driven) = loaded.driven(agent, runtime) else { continue };
        if let Some((_, text)) = told((&folder(paths, &driven), agent), &rows) {
            output::note(&format!("note: {}: {text}", agent.nick));
        }
    }
}
