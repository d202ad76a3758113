//! What is asked of the agent's daemon and of the chat server. It blocks its thread.

use std::{path::PathBuf, time::Duration};

use gangline_core::{
    name::{ChannelName, Target},
    privacy::{Reader, Said},
};
use gangline_mcp::table::{Tool, WAIT_MAX};
use gangline_runtime::ToolCall;
use serde_json::Value;

use super::{Person, Who, body, lines, needed, number, place, sentences, text_of};
use crate::{
    channel::{
        ask::{self, Saying},
        client::RESPONSE,
        reach::Reach,
    },
    failure::Failure,
};

/// The owners' inbox, as a recipient.
const OPERATOR: &str = "operator";

/// What a program is told that wants to read along in private.
const ROOMS_ONLY: &str = "`from` must be a channel: what was said in private is for the owner's token, which \
                          is in the file `owner.token` of the state folder";

/// What a call needs.
pub(super) struct Work {
    pub(super) reach: Reach,
    pub(super) who: Who,
    pub(super) reader: Reader,
}

impl Work {
    /// Does it; `taken_back` says whether nobody wants it any more.
    pub(super) fn call(
        &self,
        call: &ToolCall,
        taken_back: &dyn Fn() -> bool,
    ) -> Result<String, String> {
        let (input, reach) = (&call.input, &self.reach);
        let told = match Tool::named(&call.name) {
            Some(Tool::Send) => self.send(call, taken_back)?,
            Some(Tool::Read) => {
                let (from, limit) = (place(input, "from")?, lines(input)?);
                if !self.reader.sees(Said::at(from.folded())) {
                    return Err(ROOMS_ONLY.to_owned());
                }
                match &self.who {
                    Who::Agent => ask::read(reach, from, limit),
                    Who::Person(person) => ask::peek(reach, self.meant(person, from), limit),
                }
            }
            Some(Tool::Who) => ask::who(reach, place(input, "target")?),
            Some(Tool::Channels) => ask::channels(reach),
            Some(Tool::Topic) => self.topic(input, taken_back)?,
            Some(Tool::Join) => ask::join_channel(reach, channel(input)?),
            Some(Tool::Part) => ask::part(reach, channel(input)?),
            Some(Tool::Compact) => ask::compact(reach),
            Some(Tool::Clear) => ask::clear(reach),
            Some(Tool::SetDirectory) => {
                ask::set_directory(reach, PathBuf::from(needed(input, "path")?))
            }
            Some(
                Tool::Recv
                | Tool::Ask
                | Tool::Answer
                | Tool::LooseEnds
                | Tool::CancelLooseEnd
                | Tool::Remind
                | Tool::WhoAmI,
            ) => return self.by_daemon(call),
            Some(
                Tool::NoReply
                | Tool::Pause
                | Tool::Resume
                | Tool::Abort
                | Tool::Whisper
                | Tool::Attention
                | Tool::RequestSpawn
                | Tool::Kill
                | Tool::Start
                | Tool::Restart
                | Tool::Update
                | Tool::RequestApplyCommit
                | Tool::GetLogs,
            )
            | None => {
                return Err(format!("there is no tool `{}` here", call.name));
            }
        };
        told.map_err(|failure| sentences(&failure))
    }

    fn send(
        &self,
        call: &ToolCall,
        taken_back: &dyn Fn() -> bool,
    ) -> Result<Result<String, Failure>, String> {
        let input = &call.input;
        let in_reply_to = text_of(input, "in_reply_to")?.filter(|id| !id.is_empty());
        match (&self.who, in_reply_to) {
            (Who::Person(_), Some(_)) => {
                Err("`in_reply_to` is for the agent: nothing was sent".to_owned())
            }
            (Who::Person(person), None) => {
                Ok(person.say(&place(input, "to")?, body(input)?, taken_back))
            }
            (Who::Agent, _) if is_operator(needed(input, "to")?) => Ok(Ok(self.by_daemon(call)?)),
            (Who::Agent, in_reply_to) => {
                let (to, text) = (place(input, "to")?, body(input)?.to_owned());
                let answers = in_reply_to.map(str::parse).transpose();
                let answers = answers.map_err(|error| format!("`in_reply_to`: {error}"))?;
                Ok(ask::say(&self.reach, Saying { to, text, answers }))
            }
        }
    }

    /// Lets the daemon run a tool of the agent's own.
    fn by_daemon(&self, call: &ToolCall) -> Result<String, String> {
        let waits = match Tool::named(&call.name) {
            Some(Tool::Recv) => number(&call.input, "wait_seconds", 0, Some(0))?.min(WAIT_MAX),
            _ => 0,
        };
        let patience = RESPONSE + Duration::from_secs(waits);
        let asked = (call.name.as_str(), &call.input, call.id.as_str());
        ask::tool(&self.reach, asked, patience).map_err(|failure| sentences(&failure))?
    }

    fn topic(
        &self,
        input: &Value,
        taken_back: &dyn Fn() -> bool,
    ) -> Result<Result<String, Failure>, String> {
        let channel = channel(input)?;
        Ok(match (text_of(input, "text")?, &self.who) {
            (Some(text), Who::Person(person)) => person.set_topic(&channel, text, taken_back),
            (text, Who::Agent | Who::Person(_)) => {
                ask::topic(&self.reach, channel, text.map(str::to_owned))
            }
        })
    }

    /// Returns the place whose lines a person means: by the agent's nick those that the two have
    /// exchanged, which the agent keeps under the person's.
    pub(super) fn meant(&self, person: &Person, from: Target) -> Target {
        match from {
            Target::Nick(nick) if nick.folded() == self.reach.nick.folded() => {
                person.nick().map_or(Target::Nick(nick), Target::Nick)
            }
            Target::Nick(_) | Target::Channel(_) => from,
        }
    }
}

fn channel(input: &Value) -> Result<ChannelName, String> {
    match place(input, "channel")? {
        Target::Channel(channel) => Ok(channel),
        Target::Nick(_) => Err("`channel`: a channel begins with #".to_owned()),
    }
}

fn is_operator(to: &str) -> bool {
    to.trim().trim_start_matches('@').eq_ignore_ascii_case(OPERATOR)
}
