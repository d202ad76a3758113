//! The owner's word to daemons: by their sockets where they run, by the store's rows where not.

use std::{fmt, io, time::Duration};

use gangline_agent::attention;
use gangline_api::{
    ipc::{self, Response, Token},
    status::AgentStatus,
};
use gangline_core::{
    AgentName,
    pause::{Continue, PauseReason},
};
use gangline_hub::credentials;
use gangline_os::{
    change_notice,
    clock::{self, UnixMicros, local_minute, rfc3339},
    fsio,
    paths::Paths,
    task,
};
use gangline_store::{AgentRow, NewPause, Store};
use tokio::sync::oneshot;

use crate::{
    channel::{
        client::{Client, RESPONSE},
        reach::{LegacyTmp, Reach},
    },
    failure::Failure,
    fleet::{self, Fleet, Member},
    output, show,
};

/// How long a daemon may take to say what it does; after that its row is used.
const STATUS_PATIENCE: Duration = Duration::from_secs(1);
/// The token is one short line.
const TOKEN_MAX: u64 = 4096;

/// What a daemon can be told by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Until then, or until it is resumed.
    Pause {
        until: Option<UnixMicros>,
    },
    Resume,
    Interrupt,
    Compact,
    Clear,
}

impl Word {
    fn command(self) -> ipc::Command {
        match self {
            Self::Pause { until } => ipc::Command::Pause { ends: until.map(rfc3339) },
            Self::Resume => ipc::Command::Resume,
            Self::Interrupt => ipc::Command::Interrupt,
            Self::Compact => ipc::Command::Compact,
            Self::Clear => ipc::Command::Clear,
        }
    }
}

impl Word {
    /// Whether it is kept for a daemon that does not run.
    fn is_kept(self) -> bool {
        match self {
            Self::Pause { .. } | Self::Resume => true,
            Self::Interrupt | Self::Compact | Self::Clear => false,
        }
    }

    /// Returns the word that lets an agent continue; `None` for the others.
    pub(crate) fn continues(self) -> Option<Continue> {
        match self {
            Self::Resume => Some(Continue::Resume),
            Self::Interrupt => Some(Continue::Abort),
            Self::Pause { .. } | Self::Compact | Self::Clear => None,
        }
    }

    /// Returns the failure of a word to a daemon that does not run.
    fn nobody(self, name: &AgentName) -> Failure {
        Failure::user(format!("the daemon of {name} is not running: there is {}", self.missing()))
    }

    /// What it would be said to.
    fn missing(self) -> &'static str {
        match self {
            Self::Compact | Self::Clear => "no context to change",
            Self::Pause { .. } | Self::Resume | Self::Interrupt => "no turn to end",
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pause { .. } => "pause",
            Self::Resume => "resume",
            Self::Interrupt => "interrupt",
            Self::Compact => "compact",
            Self::Clear => "clear",
        })
    }
}

/// How a word was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The daemon has done it.
    ByDaemon,
    /// It stands in the agent's row, for a daemon that does not run.
    ByRow,
    /// It stands in the row, and a daemon runs that cannot be spoken to, for this reason.
    Unheard(String),
}

/// Tells one agent's daemon. What concerns only what runs is not kept for one that does not.
pub(crate) async fn tell(fleet: &Fleet, member: &Member, word: Word) -> Result<Taken, Failure> {
    let name = &member.name;
    if !member.runs() {
        return keep((&fleet.store, &fleet.paths), name, word).await;
    }
    match by_socket(&fleet.paths, name, word)? {
        Ok(response) => answered(name, response).map(|()| Taken::ByDaemon),
        Err(why) if !word.is_kept() => {
            Err(Failure::user(format!("the daemon of {name} does not answer on its socket"))
                .because(io::Error::other(why)))
        }
        Err(why) => {
            keep((&fleet.store, &fleet.paths), name, word).await?;
            Ok(Taken::Unheard(why))
        }
    }
}

/// Returns what is printed of an agent that the word does not release, for example if its budget is spent.
pub(crate) async fn still_held(
    store: &Store,
    name: &AgentName,
    word: Continue,
) -> Result<Option<String>, Failure> {
    Ok(attention::still_held(store, clock::system().now(), name, word).await?)
}

/// As [`still_held`], for any word of its owner.
pub(crate) async fn held_after(
    store: &Store,
    name: &AgentName,
    word: Word,
) -> Result<Option<String>, Failure> {
    match word.continues() {
        Some(word) => still_held(store, name, word).await,
        None => Ok(None),
    }
}

/// As [`tell`], without blocking the caller's thread; the inner error is a refusal.
pub(crate) async fn tell_aside(
    (store, paths): (&Store, &Paths),
    name: &AgentName,
    word: Word,
) -> Result<Result<Taken, Failure>, Failure> {
    let needs_daemon = matches!(word, Word::Compact | Word::Clear);
    if !needs_daemon && fleet::holder(paths, name)?.is_none() {
        return Ok(keep((store, paths), name, word).await);
    }
    let (paths, name) = (paths.clone(), name.clone());
    let (done, given) = oneshot::channel();
    task::thread("order", move || {
        // Whoever asked may be gone.
        let _ = done.send(order(&paths, &name, word));
    })
    .map_err(Failure::environment)?;
    let refused = given.await.map_err(Failure::environment)??;
    Ok(refused.map(|()| Taken::ByDaemon))
}

/// Tells one agent's daemon, which must run; the inner error is the daemon's refusal. Blocks its
/// thread.
fn order(paths: &Paths, name: &AgentName, word: Word) -> Result<Result<(), Failure>, Failure> {
    match by_socket(paths, name, word)? {
        Ok(response) => Ok(answered(name, response)),
        Err(why) => {
            Err(Failure::user(format!("the daemon of {name} does not answer on its socket: {why}"))
                .hint(format!("`gangline status {name}` shows whether it runs")))
        }
    }
}

/// Does what can be done in the database, for a daemon that is not there: what is kept for its start,
/// and the end of an escalation.
async fn keep(
    (store, paths): (&Store, &Paths),
    name: &AgentName,
    word: Word,
) -> Result<Taken, Failure> {
    match word {
        Word::Pause { until } => {
            let pause = NewPause::new(name.clone(), PauseReason::Operator, until);
            store.begin_pause(pause).await?;
        }
        Word::Resume => store.resume(name).await?,
        Word::Interrupt => {
            let row = store.agent(name).await?;
            if row.as_ref().and_then(AgentRow::escalated).is_none() {
                return Err(word.nobody(name));
            }
            store.end_pause(name, PauseReason::Escalation, None).await?;
        }
        Word::Compact | Word::Clear => return Err(word.nobody(name)),
    }
    change_notice::notify(&paths.change_notice(name.folded()));
    Ok(Taken::ByRow)
}

/// Asks over the daemon's socket; the inner error is that nobody could be asked.
fn by_socket(
    paths: &Paths,
    name: &AgentName,
    word: Word,
) -> Result<Result<Response, String>, Failure> {
    let env = |name: &str| std::env::var_os(name);
    let Some(reach) = Reach::find(&env, Some(name), LegacyTmp::No)? else {
        return Ok(Err("it has no socket".to_owned()));
    };
    let token = owner_token(paths)?;
    let mut client = match Client::dial(&reach.sockets) {
        Ok(client) => client,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let answer = client.ask(word.command(), Some(token), RESPONSE);
    answer.map(Ok).map_err(|error| {
        Failure::environment(error)
            .doing(format!("{name} was told to {word}, but did not confirm it"))
            .hint(format!("`gangline status {name}` shows whether it did"))
    })
}

/// Returns what a pause does, and until when.
pub(crate) fn paused(until: Option<UnixMicros>) -> String {
    let until = until.map_or_else(String::new, |until| {
        let (date, minute) = local_minute(until);
        format!(" until {date} {minute}")
    });
    format!("is paused{until}: new messages wait")
}

/// Asks a daemon what it does; `None` if it does not say so soon.
pub(crate) fn status(name: &AgentName) -> Option<AgentStatus> {
    let env = |name: &str| std::env::var_os(name);
    let reach = Reach::find(&env, Some(name), LegacyTmp::No).ok()??;
    let mut client = Client::dial(&reach.sockets).ok()?;
    let command = ipc::Command::Status { query: false };
    let response = client.ask(command, reach.token, STATUS_PATIENCE).ok()?;
    serde_json::from_value(response.data.filter(|_| response.ok)?).ok()
}

/// Returns the owner's token.
pub(crate) fn owner_token(paths: &Paths) -> Result<Token, Failure> {
    let file = credentials::owner_token_file(paths);
    let text = fsio::read_text_capped(&file, TOKEN_MAX)
        .map_err(|error| Failure::environment(error).doing("cannot read the owner's token"))?;
    Token::new(text.trim()).map_err(Failure::environment)
}

fn answered(name: &AgentName, response: Response) -> Result<(), Failure> {
    for warning in &response.warnings {
        output::note(&format!("warning: {}", show::text::one_line(warning)));
    }
    if response.ok {
        return Ok(());
    }
    let why = response.error.unwrap_or_default();
    Err(Failure::user(format!("{name}: {}", show::text::one_line(&why))))
}
