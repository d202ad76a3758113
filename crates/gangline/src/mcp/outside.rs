//! `gangline mcp --nick`: an agent's view of the chat, and words of one's own, for any MCP client.
//!
//! It serves one client over its standard streams and owns nothing that lasts: each call dials the
//! agent's daemon anew, so it outlives the daemon. Who shows the agent's token is the agent; anybody
//! else is the person who runs the program. A person reads what the daemon sees without moving how
//! far the agent has read, and speaks by a connection to the chat server, since the daemon has the
//! agent's voice only ([`person`]).

mod person;

use std::{ffi::OsString, sync::Arc};

use async_trait::async_trait;
use gangline_core::{AgentName, name::Target};
use gangline_mcp::table::{Tool, User, offered};
use gangline_os::{CancellationToken, paths::Overrides, task};
use gangline_runtime::{ToolCall, ToolHost, ToolServer, ToolSpec};
use serde_json::Value;
use tokio::sync::{Mutex, oneshot};

use self::person::Person;
use super::join;
use crate::{
    caller::{Caller, NICK, TOKEN, given},
    channel::{
        ask::{self, Saying},
        reach::{self, LegacyTmp, Reach},
    },
    failure::Failure,
    place, who,
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
    let outside = Outside::new(&env, place, &nick)?;
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
struct Outside {
    work: Arc<Work>,
    /// One call after the other, in the order of asking: what is said keeps its order.
    turn: Mutex<()>,
}

/// What a call needs.
struct Work {
    reach: Reach,
    who: Who,
}

impl Outside {
    fn new(
        env: &dyn Fn(&str) -> Option<OsString>,
        place: Overrides,
        nick: &AgentName,
    ) -> Result<Self, Failure> {
        let caller = Caller::find(env);
        let nameless = NICK.into_iter().all(|name| given(env, name).is_none());
        // A token that comes without a nick is meant for the one that was typed.
        let named = |name: &str| match name == NICK[0] && nameless && given(env, TOKEN).is_some() {
            true => Some(nick.as_str().into()),
            false => env(name),
        };
        let no_such = || Failure::user(format!("cannot find the socket of the daemon of {nick}"));
        let reach = Reach::find(&named, Some(nick), LegacyTmp::No)?.ok_or_else(no_such)?;
        let who = match (caller, &reach.token) {
            (Caller::Person { user }, _) => Who::Person(Person::new(user.as_deref(), place)),
            (Caller::Agent { name: None, .. }, Some(_)) => Who::Agent,
            (Caller::Agent { name: Some(name), .. }, _) if name == *nick => Who::Agent,
            (Caller::Agent { name: Some(name), .. }, _) => {
                let text = format!("this was started by the agent {name}, which is not {nick}");
                let hint = format!("an agent speaks for itself: gangline mcp --nick {name}");
                return Err(Failure::user(text).hint(hint));
            }
            (Caller::Agent { name: None, mark }, None) => {
                let text = format!("this was started by an agent ({mark} is set), not by {nick}");
                return Err(Failure::user(text));
            }
        };
        Ok(Self { work: Arc::new(Work { reach, who }), turn: Mutex::new(()) })
    }
}

#[async_trait]
impl ToolHost for Outside {
    fn tools(&self) -> Vec<ToolSpec> {
        offered(match self.work.who {
            Who::Agent => User::Agent,
            Who::Person(_) => User::Person,
        })
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
        let _turn = tokio::select! {
            biased;
            () = taken_back.cancelled() => return None,
            turn = self.turn.lock() => turn,
        };
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

impl Work {
    /// Does it; `taken_back` says whether nobody wants it any more.
    fn call(&self, call: &ToolCall, taken_back: &dyn Fn() -> bool) -> Result<String, String> {
        let input = &call.input;
        let told = match Tool::named(&call.name) {
            Some(Tool::Send) => {
                let (to, text) = (place(input, "to")?, needed(input, "text")?);
                let in_reply_to = text_of(input, "in_reply_to")?.filter(|id| !id.is_empty());
                match (&self.who, in_reply_to) {
                    (Who::Person(_), Some(_)) => {
                        return Err("`in_reply_to` is for the agent: nothing was sent".to_owned());
                    }
                    (Who::Person(person), None) => person.say(&to, text, taken_back),
                    (Who::Agent, in_reply_to) => {
                        let answers = in_reply_to.map(str::parse).transpose();
                        let answers = answers.map_err(|error| format!("`in_reply_to`: {error}"))?;
                        ask::say(&self.reach, Saying { to, text: text.to_owned(), answers })
                    }
                }
            }
            Some(Tool::Read) => {
                let (from, limit) = (place(input, "from")?, lines(input)?);
                match &self.who {
                    Who::Agent => ask::read(&self.reach, from, limit),
                    Who::Person(person) => ask::peek(&self.reach, self.meant(person, from), limit),
                }
            }
            Some(Tool::Who) => ask::who(&self.reach, place(input, "target")?),
            Some(Tool::Channels) => ask::channels(&self.reach),
            Some(Tool::Topic) => self.topic(input, taken_back)?,
            Some(
                Tool::NoReply
                | Tool::Recv
                | Tool::Ask
                | Tool::Answer
                | Tool::LooseEnds
                | Tool::CancelLooseEnd
                | Tool::Remind
                | Tool::WhoAmI,
            )
            | None => {
                return Err(format!("there is no tool `{}` here", call.name));
            }
        };
        told.map_err(|failure| sentences(&failure))
    }

    fn topic(
        &self,
        input: &Value,
        taken_back: &dyn Fn() -> bool,
    ) -> Result<Result<String, Failure>, String> {
        let Target::Channel(channel) = place(input, "channel")? else {
            return Err("`channel`: a channel begins with #".to_owned());
        };
        Ok(match (text_of(input, "text")?, &self.who) {
            (Some(text), Who::Person(person)) => person.set_topic(&channel, text, taken_back),
            (text, Who::Agent | Who::Person(_)) => {
                ask::topic(&self.reach, channel, text.map(str::to_owned))
            }
        })
    }

    /// Returns the place whose lines a person means: by the agent's nick those that the two have
    /// exchanged, which the agent keeps under the person's.
    fn meant(&self, person: &Person, from: Target) -> Target {
        match from {
            Target::Nick(nick) if nick.folded() == self.reach.nick.folded() => {
                person.nick().map_or(Target::Nick(nick), Target::Nick)
            }
            Target::Nick(_) | Target::Channel(_) => from,
        }
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
