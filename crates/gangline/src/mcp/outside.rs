//! An agent's view of the chat, its inbox, and words of one's own, for any MCP client: `gangline mcp
//! --nick` over the standard streams, and the hub over HTTP.
//!
//! It owns nothing that lasts: each call dials the agent's daemon anew, so it outlives the daemon. Who
//! shows the agent's token is the agent, whose tools the daemon runs; anybody else is the person who
//! runs the program, or whose token it shows. A person reads what the daemon sees without moving how
//! far the agent has read, speaks by a connection to the chat server ([`person`]), and has the
//! operator's inbox ([`operator`]).

mod operator;
mod owners;
mod person;
mod record;
mod work;

use std::{ffi::OsString, sync::Arc};

use async_trait::async_trait;
use gangline_core::{AgentName, name::Target, privacy::Reader};
use gangline_mcp::table::{Tool, User, offered, withheld};
use gangline_os::{
    CancellationToken,
    paths::{Overrides, Paths},
    task,
};
use gangline_runtime::{ToolCall, ToolHost, ToolServer, ToolSpec};
use gangline_store::Store;
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell, oneshot};

use self::{
    operator::{Inbox, Site},
    person::Person,
    work::Work,
};
use super::join;
use crate::{
    caller::{Caller, NICK, TOKEN, given},
    channel::reach::{self, LegacyTmp, Reach},
    failure::Failure,
    names, place, store, who,
};

#[cfg(test)]
mod tests;

/// The error of a call whose outcome is unknown.
const BROKEN: &str = "the call broke off; its effect may have happened";
/// How many lines `read` gives when none are asked for, and at most.
const LINES: u64 = gangline_api::ipc::READ_LIMIT as u64;
const LINES_MAX: u64 = gangline_api::ipc::READ_LIMIT_MAX as u64;

/// Serves the standard streams until the client closes them.
pub(super) fn serve(place: Overrides, who: &who::Who) -> Result<(), Failure> {
    place::named_is_there(&place)?;
    let env = |name: &str| std::env::var_os(name);
    let nick = reach::named(&place, who)?;
    let outside = Outside::new(&env, place.clone(), &nick)?;
    if let Who::Person(_) = outside.work.who {
        // What a person asks is stored: a message to a mistyped nick would wait for ever.
        names::check_known(&place::of_existing(&place)?, &nick)?;
    }
    let cannot = |error| Failure::environment(error).doing("cannot serve the tools");
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(cannot)?;
    ours.set_nonblocking(true).map_err(cannot)?;
    let streams = task::thread("streams", move || {
        // A client that is gone has nothing to be told.
        if let Err(failure) = join(&theirs) {
            failure.report();
        }
    })
    .map_err(cannot)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .map_err(|error| Failure::environment(error).doing("cannot start the async runtime"))?
        .block_on(async {
            let ours = tokio::net::UnixStream::from_std(ours)?;
            ToolServer::serve_one(Arc::new(outside), ours).await
        })
        .map_err(cannot)?;
    // The last answers are on their way to the client.
    let _ = streams.join();
    Ok(())
}

/// Who speaks.
#[derive(Debug)]
enum Who {
    Agent,
    Person(Person),
}

/// The tools' host.
pub(crate) struct Outside {
    work: Arc<Work>,
    /// Which tools there are.
    user: User,
    /// One call after the other, in the order of asking: what is said keeps its order. Calls that
    /// wait do not hold it.
    turn: Mutex<()>,
    place: Overrides,
    /// Where the store is, and the store; opened when it is first needed.
    opened: OnceCell<(Paths, Store)>,
    inbox: Inbox,
}

impl Outside {
    fn new(
        env: &dyn Fn(&str) -> Option<OsString>,
        place: Overrides,
        nick: &AgentName,
    ) -> Result<Self, Failure> {
        let caller = Caller::find(env).or_by_descent();
        let nameless = NICK.into_iter().all(|name| given(env, name).is_none());
        // A token that comes without a nick is meant for the one that was typed.
        let named = |name: &str| match name == NICK[0] && nameless && given(env, TOKEN).is_some() {
            true => Some(nick.as_str().into()),
            false => env(name),
        };
        let no_such = || Failure::user(format!("cannot find the socket of the daemon of {nick}"));
        let reach = Reach::find(&named, Some(nick), LegacyTmp::No)?.ok_or_else(no_such)?;
        let who = match (caller, &reach.token) {
            (Caller::Person { user }, _) => {
                Who::Person(Person::new(user.as_deref(), place.clone()))
            }
            (Caller::Agent { name: None, .. }, Some(_)) => Who::Agent,
            (Caller::Agent { name: Some(name), .. }, _) if name == *nick => Who::Agent,
            (Caller::Agent { name: Some(name), .. }, _) => {
                let text = format!("this was started by the agent {name}, which is not {nick}");
                let hint = format!("an agent speaks for itself: gangline mcp --nick {name}");
                return Err(Failure::user(text).hint(hint));
            }
            (Caller::Agent { name: None, mark }, None) => {
                let text = format!("this was started by an agent ({mark}), not by {nick}");
                return Err(Failure::user(text));
            }
        };
        let user = match who {
            Who::Agent => User::Agent,
            Who::Person(_) => User::Person,
        };
        Ok(Self::with((Work { reach, who, reader: reader(user) }, user), place))
    }

    /// Returns the host for a person's client at the hub, who speaks under this name.
    pub(crate) fn at_hub(
        (place, paths): (Overrides, Paths),
        store: Store,
        (agent, name, user): (&AgentName, &str, User),
    ) -> Result<Self, Failure> {
        // Nobody's token: whoever comes over HTTP is not the agent.
        let env = |name: &str| std::env::var_os(name).filter(|_| name != TOKEN);
        let no_such = || Failure::user(format!("cannot find the socket of the daemon of {agent}"));
        let reach = Reach::find(&env, Some(agent), LegacyTmp::No)?.ok_or_else(no_such)?;
        let who = Who::Person(Person::new(Some(name), place.clone()));
        let outside = Self::with((Work { reach, who, reader: reader(user) }, user), place);
        Ok(Self { opened: OnceCell::new_with(Some((paths, store))), ..outside })
    }

    fn with((work, user): (Work, User), place: Overrides) -> Self {
        Self {
            work: Arc::new(work),
            user,
            turn: Mutex::new(()),
            place,
            opened: OnceCell::new(),
            inbox: Inbox::default(),
        }
    }

    /// Returns the installation's paths and store.
    async fn opened(&self) -> Result<&(Paths, Store), Failure> {
        let open = async || -> Result<(Paths, Store), Failure> {
            let paths = place::of_existing(&self.place)?;
            let store = store::existing(&paths).await?;
            Ok((paths, store))
        };
        self.opened.get_or_try_init(open).await
    }

    /// Does what a person asks, and records it before and after (R2-41).
    async fn of_person(
        &self,
        tool: Tool,
        call: ToolCall,
        taken_back: &CancellationToken,
    ) -> Option<Result<String, String>> {
        let opened = self.opened().await;
        let agent = &self.work.reach.nick;
        if let Ok(opened) = opened {
            record::before(opened, agent, &call).await;
        }
        let (id, name) = (call.id.clone(), call.name.clone());
        let site = |(paths, store)| Site { paths, store, agent, reader: self.work.reader };
        let outcome = match (needs(tool), opened) {
            (Needs::Inbox, Ok((paths, store))) => {
                self.inbox.call(site((paths, store)), (tool, &call), taken_back).await
            }
            (Needs::Owner, Ok((paths, store))) => {
                Some(owners::call((site((paths, store)), self.user), (tool, &call)).await)
            }
            (Needs::Inbox | Needs::Owner, Err(ref failure)) => Some(Err(sentences(failure))),
            (Needs::Daemon, _) => self.on_thread(call, taken_back).await,
        };
        if let Ok(opened) = self.opened().await {
            record::after(opened, agent, (id, name), outcome.as_ref()).await;
        }
        outcome
    }

    /// Runs a call that blocks.
    async fn on_thread(
        &self,
        call: ToolCall,
        taken_back: &CancellationToken,
    ) -> Option<Result<String, String>> {
        let (done, told) = oneshot::channel();
        let (work, stop) = (Arc::clone(&self.work), taken_back.clone());
        let begun = task::thread("tool call", move || {
            // Whoever asked may be gone.
            let _ = done.send(work.call(&call, &|| stop.is_cancelled()));
        });
        let outcome = match begun {
            Err(error) => Err(format!("the call cannot be made: {error}")),
            Ok(_) => told.await.unwrap_or_else(|_| Err(BROKEN.to_owned())),
        };
        // Nobody waits for why what was taken back was not done.
        Some(outcome).filter(|outcome| outcome.is_ok() || !taken_back.is_cancelled())
    }
}

#[async_trait]
impl ToolHost for Outside {
    fn tools(&self) -> Vec<ToolSpec> {
        offered(self.user)
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let never = CancellationToken::new();
        let taken_back = || Err("the call was cancelled".to_owned());
        self.call_unless(call, never).await.unwrap_or_else(taken_back)
    }

    async fn call_unless(
        &self,
        call: ToolCall,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>> {
        let Some(tool) = Tool::named(&call.name) else {
            return Some(Err(format!("there is no tool `{}` here", call.name)));
        };
        if let Some(why) = withheld(&call.name, self.user) {
            return Some(Err(why));
        }
        let _turn = if tool == Tool::Recv {
            None
        } else {
            Some(tokio::select! {
                biased;
                () = taken_back.cancelled() => return None,
                turn = self.turn.lock() => turn,
            })
        };
        match &self.work.who {
            Who::Agent => self.on_thread(call, &taken_back).await,
            Who::Person(_) => self.of_person(tool, call, &taken_back).await,
        }
    }
}

/// Returns who reads what a user of the tools is shown.
fn reader(user: User) -> Reader {
    match user {
        User::Session | User::Manager | User::Agent | User::Person => Reader::Owner,
        User::Program => Reader::Others,
    }
}

/// What carries out a person's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// The operator's inbox, which is in the store.
    Inbox,
    /// The store, and the daemon if there is one.
    Owner,
    /// The daemon, or the chat server.
    Daemon,
}

fn needs(tool: Tool) -> Needs {
    match tool {
        Tool::Recv
        | Tool::Ask
        | Tool::Answer
        | Tool::LooseEnds
        | Tool::CancelLooseEnd
        | Tool::Remind
        | Tool::WhoAmI => Needs::Inbox,
        Tool::Pause | Tool::Resume | Tool::Abort | Tool::Whisper | Tool::Attention => Needs::Owner,
        Tool::Send
        | Tool::NoReply
        | Tool::Read
        | Tool::Who
        | Tool::Channels
        | Tool::Topic
        | Tool::Join
        | Tool::Part
        | Tool::Compact
        | Tool::Clear
        | Tool::SetDirectory
        | Tool::RequestSpawn
        | Tool::Kill
        | Tool::Start
        | Tool::Restart
        | Tool::Update
        | Tool::RequestApplyCommit
        | Tool::GetLogs => Needs::Daemon,
    }
}

/// Returns what went wrong and what to do about it, for a model.
fn sentences(failure: &Failure) -> String {
    let mut text = failure.sentence();
    for hint in failure.remedies() {
        text.push_str(&format!("\nhint: {hint}"));
    }
    text
}

fn text_of<'a>(input: &'a Value, name: &str) -> Result<Option<&'a str>, String> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| format!("`{name}` must be a string")),
    }
}

fn needed<'a>(input: &'a Value, name: &str) -> Result<&'a str, String> {
    let text = text_of(input, name)?.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| format!("`{name}` is missing"))
}

fn place(input: &Value, name: &str) -> Result<Target, String> {
    needed(input, name)?.trim().parse().map_err(|error| format!("`{name}`: {error}"))
}

/// Returns what is to be said: `body`, or `text` as it was called before.
fn body(input: &Value) -> Result<&str, String> {
    match text_of(input, "body")?.filter(|text| !text.trim().is_empty()) {
        Some(body) => Ok(body),
        None => needed(input, "text").map_err(|_| "`body` is missing".to_owned()),
    }
}

/// Reads a whole number within bounds, also from a string of digits: models write both.
fn number(input: &Value, name: &str, least: u64, usual: Option<u64>) -> Result<u64, String> {
    let number = match (input.get(name), usual) {
        (None | Some(Value::Null), Some(usual)) => return Ok(usual),
        (None | Some(Value::Null), None) => return Err(format!("`{name}` is missing")),
        (Some(Value::String(digits)), _) => digits.trim().parse().ok(),
        (Some(value), _) => value.as_u64(),
    };
    let number = number.filter(|number| *number >= least);
    number.ok_or_else(|| format!("`{name}` must be a whole number from {least} on"))
}

fn lines(input: &Value) -> Result<u32, String> {
    let limit = match input.get("limit") {
        None | Some(Value::Null) => LINES,
        Some(limit) => limit
            .as_u64()
            .filter(|limit| *limit > 0)
            .ok_or("`limit` must be a whole number above 0")?,
    };
    Ok(u32::try_from(limit.min(LINES_MAX)).unwrap_or(u32::MAX))
}
