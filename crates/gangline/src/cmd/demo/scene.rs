//! What the demo is made of: a small workspace, a configuration, and what is said about it.

use std::{fs, path::Path};

use gangline_hub::hub::Listening;
use gangline_os::paths::Paths;

use super::ports::Ports;
use crate::{failure::Failure, invite};

/// Returns how this program is called: by its name if that finds it, else by its path.
pub(in crate::cmd) fn invocation() -> String {
    const NAME: &str = "gangline";
    let Ok(exe) = std::env::current_exe() else { return NAME.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|p| p.is_file());
    if found.is_some_and(|found| found.canonicalize().ok() == exe.canonicalize().ok()) {
        return NAME.to_owned();
    }
    let here = std::env::current_dir().ok();
    let near = here.and_then(|here| exe.strip_prefix(here).map(std::path::Path::to_owned).ok());
    near.map_or_else(|| exe.display().to_string(), |near| format!("./{}", near.display()))
}

#[cfg(test)]
mod tests;

/// The demo's agent.
pub(super) const GUIDE: &str = "demo-guide";

const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# The guide's workspace\n\nFiles for the demo's agent to look at. Change them as you like: \
         they are made again only when this folder is gone.\n",
    ),
    ("route.txt", "Willow 0\nRainy Pass 213\nRuby 390\nNome 998\n"),
    ("team/dogs.csv", "name,place\nTogo,lead\nFox,swing\nScotty,wheel\n"),
];

/// Makes the folder and its files, unless it is there.
pub(super) fn make_workspace(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    let failed = |error| {
        Failure::environment(error).doing(format!("cannot make the workspace {}", folder.display()))
    };
    for (name, text) in FILES {
        let file = folder.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&file, text).map_err(failed)?;
    }
    Ok(())
}

/// Returns the text of the demo's `agents.yaml`.
pub(super) fn configuration(workspace: &Path, ports: Ports) -> Result<String, Failure> {
    let Some(directory) = workspace.to_str() else {
        return Err(Failure::user(format!("{} is not UTF-8", workspace.display()))
            .hint("give a folder with a plain name by --state DIR"));
    };
    // What JSON quotes, YAML reads.
    let directory = serde_json::to_string(directory).map_err(Failure::environment)?;
    let Ports { irc, standin } = ports;
    Ok(format!(
        "# Written by `gangline demo` at every start.\n\
         server:\n  name: demo\n  host: 127.0.0.1\n  port: {irc}\n\
         agents:\n  - nick: {GUIDE}\n    agent: native\n    directory: {directory}\n    \
         channels: [\"#general\"]\n    model: standin-guide\n    \
         base_url: http://127.0.0.1:{standin}\n    permissions: ask\n"
    ))
}

/// Returns what is said once IRC clients can join; `state` is the option by which other commands
/// find the demo.
pub(super) fn introduction(state: &str, paths: &Paths, listening: &Listening) -> String {
    let gangline = invocation();
    let join = invite::for_caller(&listening.irc, &listening.owner, Some("#general"));
    format!(
        "Gangline's demo: an IRC server, one agent, and a stand-in for its model.\n\
         NO MODEL IS ASKED: a small script answers by rules.\n\n{join}\n\
         Say in #general:\n  \
         @demo-guide hello                            what it can do\n  \
         @demo-guide say exactly the sled is ready    a prompt in, an answer out\n  \
         @demo-guide list files                       a tool that needs no permission\n  \
         @demo-guide run ls                           a tool that needs yours: it asks\n  \
         @demo-guide sleep 5                          five seconds of work\n  \
         @demo-guide post hi                          it speaks by its own tool\n  \
         @demo-guide ask shall I go on?               it asks; say `answer N 1`\n\n\
         To approve, say `@demo-guide yes N` as the owner, or in a second terminal:\n  \
         {gangline} approvals{state}\n  \
         {gangline} approve N{state}\n\
         To look around there:\n  \
         {gangline} ps{state}\n  \
         {gangline} trace m1{state}\n\n\
         State and logs are in {}\n",
        paths.state.display()
    )
}
