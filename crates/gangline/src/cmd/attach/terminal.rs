//! The terminal of an agent that lives in tmux, shown in this one.

use std::{io::IsTerminal as _, os::unix::process::CommandExt as _};

use gangline_core::AgentName;
use gangline_runtime::tmux::attach::{self, Hands, Terminal};

use super::Args;
use crate::{caller, cli::Global, failure::Failure, output, place};

/// Goes on as tmux if the agent has a terminal, and then returns only with a failure; without a
/// terminal of our own what it shows is written once. Returns `None` if the agent has none.
#[allow(clippy::disallowed_methods, reason = "no child: this process goes on as tmux")]
pub(super) fn show(
    global: &Global,
    args: &Args,
    agent: &AgentName,
) -> Result<Option<Failure>, Failure> {
    if args.write {
        caller::refuse("type into a terminal")?;
    }
    let paths = place::of_existing(&global.place())?;
    let sessions = paths.agent_dir(agent.as_str()).join("sessions");
    match attach::terminal(&sessions) {
        Terminal::Open => {}
        Terminal::None if args.write => {
            let none = Failure::user(format!("{} has no terminal to type into", agent));
            return Err(none.hint("only agents with `agent: tmux` have one, while they run"));
        }
        Terminal::Closed if args.write => {
            let closed = Failure::user(format!("the terminal of {} is closed", agent));
            let hint = format!(
                "`gangline status {0}` says why, `gangline start {0}` or `resume {0}` opens it again",
                agent
            );
            return Err(closed.hint(hint));
        }
        Terminal::Closed => {
            output::note(&format!(
                "the terminal of {0} is closed: what happens to it is shown instead; `gangline \
                 status {0}` says why",
                agent
            ));
            return Ok(None);
        }
        Terminal::None => return Ok(None),
    }
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let words = match (interactive, args.write) {
        (true, true) => attach::show(&sessions, Hands::On),
        (true, false) => attach::show(&sessions, Hands::Off),
        (false, _) => attach::print(&sessions),
    };
    let mut tmux = std::process::Command::new("tmux");
    // Inside of the user's own tmux it would refuse.
    tmux.args(words.args).current_dir(words.folder).env_remove("TMUX");
    Ok(Some(Failure::environment(tmux.exec()).doing("cannot start tmux")))
}
