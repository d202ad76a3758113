//! `gangline wake`: a program tells an agent something, which may start a turn (R2-30). The daemon takes
//! it by its socket; where no daemon answers, the row is written here.

use std::{io, io::Read as _, path::PathBuf};

use gangline_agent::container;
use gangline_api::ipc::{self, WakeData};
use gangline_core::{AgentName, Redactor, Tier, wake};
use gangline_os::change_notice;
use gangline_store::{NewWake, WakeError};

use super::prompt;
use crate::{
    caller::Caller,
    channel::{
        client::{AskError, Client, RESPONSE},
        reach::{self, LegacyTmp, Reach},
    },
    cli::Global,
    control,
    failure::Failure,
    output, place, show, store,
    who::Who,
};

/// Send an agent a message from a script or program; it may start a turn
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An agent takes 10 wakes a minute from each label. A wake is only text: it \
    decides no approval and answers no question. An agent's own shell can wake that agent only."
)]
pub(crate) struct Args {
    /// The agent's nick [default: the agent of this shell (GANGLINE_NICK), or of this container]
    #[arg(value_name = "NICK")]
    agent: Option<Who>,
    /// Who wakes it: a program's name such as `matrix` (letters, digits and . _ - / : +; at most 64)
    #[arg(long, value_name = "LABEL")]
    from: String,
    /// What to tell it, at most 64 KiB; `-` reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: String,
    /// A word for the event, such as `build-381`: a second call with the same word adds nothing
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let body = if args.body == "-" { from_stdin()? } else { args.body };
    let draft = wake::Draft::read(&args.from, &body, args.key.as_deref())
        .map_err(|refused| Failure::user(refused.to_string()))?;
    let env = |name: &str| std::env::var_os(name);
    let named = args.agent.as_ref().map(|who| reach::named(&global.place(), who)).transpose()?;
    let reach = Reach::find(&env, named.as_ref(), LegacyTmp::No)?;
    if let Some(reach) = &reach {
        may_wake(&Caller::here(), &reach.nick)?;
    }
    // Ours where none is given: the row is written once, whatever becomes of the connection.
    let key = draft.key.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let draft = wake::Draft { key: Some(key), ..draft };
    let woken = match (by_socket(global, reach.as_ref(), &draft)?, reach) {
        (Some(woken), _) => woken,
        (None, Some(reach)) => by_row(global, &reach.nick, draft).await?,
        (None, None) => return Err(nameless()),
    };
    if woken.duplicate {
        output::note(&format!("{} has this key already: nothing was added", woken.message));
    }
    match global.json {
        true => output::json(&woken)?,
        false => output::print(&format!("{}\n", woken.message))?,
    }
    Ok(0)
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    // One byte more than is allowed, so that it is refused and not cut.
    io::stdin()
        .take(wake::BODY_MAX as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::environment(error).doing("cannot read standard input"))?;
    Ok(text)
}

fn nameless() -> Failure {
    Failure::user("no agent is named").hint("give its nick: gangline wake NICK --from LABEL …")
}

/// Refuses an agent that wakes another one: they have messages for that.
fn may_wake(caller: &Caller, nick: &AgentName) -> Result<(), Failure> {
    match caller {
        Caller::Agent { name: Some(name), .. } if name != nick => {
            Err(Failure::user(format!("{name} cannot wake {nick}: an agent wakes itself only"))
                .hint(format!("`gangline channel send {nick} TEXT` sends it a message")))
        }
        Caller::Agent { .. } | Caller::Person { .. } => Ok(()),
    }
}

/// Asks the daemon; where no agent is named, the one of this container. `None` if nobody could be asked,
/// or it is not known whether it was done.
fn by_socket(
    global: &Global,
    reach: Option<&Reach>,
    draft: &wake::Draft,
) -> Result<Option<WakeData>, Failure> {
    let here = [PathBuf::from(container::SOCKET)];
    let sockets = reach.map_or(here.as_slice(), |reach| reach.sockets.as_slice());
    let Ok(mut client) = Client::dial(sockets) else { return Ok(None) };
    let token = match Caller::here() {
        Caller::Agent { .. } => reach.and_then(|reach| reach.token.clone()),
        Caller::Person { .. } => place::of_existing(&global.place())
            .ok()
            .and_then(|paths| control::owner_token(&paths).ok()),
    };
    let command = ipc::Command::Wake {
        from: draft.label.to_string(),
        body: draft.body.clone(),
        key: draft.key.clone(),
    };
    let response = match client.ask(command, token, RESPONSE) {
        Ok(response) => response,
        Err(
            error @ (AskError::Encode(_)
            | AskError::Lost(_)
            | AskError::Closed
            | AskError::Silent(_)
            | AskError::Frame(_)
            | AskError::TooLong),
        ) => {
            tracing::debug!(%error, "the daemon did not take the wake");
            return Ok(None);
        }
    };
    match (response.ok, response.data) {
        (true, Some(data)) => serde_json::from_value(data)
            .map(Some)
            .map_err(|error| Failure::environment(error).doing("cannot read the response")),
        _ => {
            let why = response.error.unwrap_or_default();
            Err(Failure::user(format!("not woken: {}", show::text::one_line(&why))))
        }
    }
}

/// Writes the row, and says so if no daemon runs that would see it.
async fn by_row(
    global: &Global,
    agent: &AgentName,
    draft: wake::Draft,
) -> Result<WakeData, Failure> {
    let paths = place::of_existing(&global.place())?;
    let store = store::for_message(&paths, agent).await?;
    store::known(&store, &paths, agent).await?;
    let tier = match Caller::here() {
        Caller::Agent { .. } => Tier::Agent,
        Caller::Person { .. } => Tier::Owner,
    };
    let wake::Draft { label, body, key } = draft;
    let body = Redactor::new([]).redact(&body);
    let new = NewWake { agent: agent.clone(), label, tier, body, key };
    let woken = store.wake(new).await.map_err(|error| match error {
        WakeError::TooMany { .. } | WakeError::Somebody { .. } => Failure::user(error.to_string()),
        WakeError::Store(error) => error.into(),
    })?;
    change_notice::notify(&paths.change_notice(agent.folded()));
    prompt::warn_if_down(&paths, agent, "the wake");
    Ok(WakeData { message: woken.id, duplicate: woken.duplicate })
}

#[cfg(test)]
mod tests;
