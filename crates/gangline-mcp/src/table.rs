//! The tools that send and read through an agent's daemon, and who gets which. The only place for a
//! tool's name, description and arguments.

use serde_json::{Value, json};

use crate::ToolSpec;

mod inbox;
mod manager;
mod person;
#[cfg(test)]
mod tests;

/// The name of the tool that says something.
pub const SEND: &str = "send";
/// The name of the tool that says that no reply is needed.
pub const NO_REPLY: &str = "no_reply";
/// The name of the tool that answers a question.
pub const ANSWER: &str = "answer";

/// The longest time that `recv` waits, in seconds (R2-20).
pub const WAIT_MAX: u64 = 180;
/// The most messages that `recv` returns at once (R2-20).
pub const RECV_MAX: u64 = 32;
/// How many lines `get_logs` returns if nobody says how many, and at most (R2-38).
pub const LOG_LINES: u32 = 50;
/// See [`LOG_LINES`].
pub const LOG_LINES_MAX: u32 = 500;

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Says something.
    Send,
    /// Records that a message needs no reply.
    NoReply,
    /// Takes messages from the inbox.
    Recv,
    /// Asks a question.
    Ask,
    /// Answers a question.
    Answer,
    /// Lists what is still open: questions and reminders.
    LooseEnds,
    /// Withdraws a question or a reminder.
    CancelLooseEnd,
    /// Makes a reminder.
    Remind,
    /// Tells who the agent is.
    WhoAmI,
    /// Reads what was said.
    Read,
    /// Lists who is somewhere.
    Who,
    /// Lists channels.
    Channels,
    /// Tells or sets a topic.
    Topic,
    /// Enters a channel.
    Join,
    /// Leaves a channel.
    Part,
    /// Shortens the context.
    Compact,
    /// Begins an empty context.
    Clear,
    /// Returns a folder's instructions.
    SetDirectory,
    /// Stops the agent from beginning new turns.
    Pause,
    /// Lets it continue.
    Resume,
    /// Ends its open turn and its escalation.
    Abort,
    /// Tells it something that nobody else sees.
    Whisper,
    /// Lists what waits for a human.
    Attention,
    /// Asks for another agent.
    RequestSpawn,
    /// Stops an agent.
    Kill,
    /// Starts an agent.
    Start,
    /// Stops and starts an agent.
    Restart,
    /// Restarts an agent whose configuration has changed.
    Update,
    /// Asks for another configuration.
    RequestApplyCommit,
    /// Shows what an agent did.
    GetLogs,
}

/// Who uses the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// The agent, in the session of its backend: a turn is open.
    Session,
    /// The same of an agent that runs the other ones.
    Manager,
    /// The agent, through a separate client.
    Agent,
    /// The person who runs the client: its inbox is the operator's.
    Person,
    /// A program of a person's, with a token for this one agent: it reads what is said in rooms, and speaks.
    /// See [`Opens`].
    Program,
}

/// What of a person's tool a token for one agent opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// All of it: it speaks, or tells nothing that was said.
    All,
    /// What was said in rooms, and what this program said itself. What is private between the agent and its
    /// owners is for the owner's token.
    Rooms,
    /// Nothing: it decides, gives orders, or looks at something else than the agent's rooms.
    Nothing,
}

impl User {
    /// Returns whether it is an agent in the session of its backend.
    fn is_in_a_session(self) -> bool {
        match self {
            Self::Session | Self::Manager => true,
            Self::Agent | Self::Person | Self::Program => false,
        }
    }

    /// Returns whether the tools act for a person, and not for the agent.
    fn is_a_persons(self) -> bool {
        match self {
            Self::Session | Self::Manager | Self::Agent => false,
            Self::Person | Self::Program => true,
        }
    }
}

const ALL: [Tool; 30] = [
    Tool::Send,
    Tool::NoReply,
    Tool::Recv,
    Tool::Ask,
    Tool::Answer,
    Tool::LooseEnds,
    Tool::CancelLooseEnd,
    Tool::Remind,
    Tool::WhoAmI,
    Tool::Read,
    Tool::Who,
    Tool::Channels,
    Tool::Topic,
    Tool::Join,
    Tool::Part,
    Tool::Compact,
    Tool::Clear,
    Tool::SetDirectory,
    Tool::Pause,
    Tool::Resume,
    Tool::Abort,
    Tool::Whisper,
    Tool::Attention,
    Tool::RequestSpawn,
    Tool::Kill,
    Tool::Start,
    Tool::Restart,
    Tool::Update,
    Tool::RequestApplyCommit,
    Tool::GetLogs,
];

/// Returns why a user is not offered a tool that the owner has, if that is so.
#[must_use]
pub fn withheld(name: &str, user: User) -> Option<String> {
    let tool = Tool::named(name)?;
    (user == User::Program && tool.is_for(User::Person) && !tool.is_for(user)).then(|| {
        format!(
            "`{name}` needs the owner's token, which is in the file `owner.token` of the state folder: with a \
             token of the scope mcp:NICK a program reads what is said in rooms and speaks, and no more"
        )
    })
}

/// Returns the tools that a user is offered.
#[must_use]
pub fn offered(user: User) -> Vec<ToolSpec> {
    ALL.into_iter().filter(|tool| tool.is_for(user)).map(|tool| tool.spec(user)).collect()
}

impl Tool {
    /// Returns the tool of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => SEND,
            Self::NoReply => NO_REPLY,
            Self::Recv => "recv",
            Self::Ask => "ask",
            Self::Answer => ANSWER,
            Self::LooseEnds => "get_loose_ends",
            Self::CancelLooseEnd => "cancel_loose_end",
            Self::Remind => "remind",
            Self::WhoAmI => "whoami",
            Self::Read => "read",
            Self::Who => "who",
            Self::Channels => "channels",
            Self::Topic => "topic",
            Self::Join => "join",
            Self::Part => "part",
            Self::Compact => "compact",
            Self::Clear => "clear",
            Self::SetDirectory => "set_directory",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Abort => "abort",
            Self::Whisper => "whisper",
            Self::Attention => "attention",
            Self::RequestSpawn => "request_spawn",
            Self::Kill => "kill",
            Self::Start => "start",
            Self::Restart => "restart",
            Self::Update => "update",
            Self::RequestApplyCommit => "request_apply_commit",
            Self::GetLogs => "get_logs",
        }
    }

    /// Returns what of this tool a token for one agent opens.
    #[must_use]
    pub fn opens(self) -> Opens {
        match self {
            Self::Send
            | Self::Ask
            | Self::Remind
            | Self::WhoAmI
            | Self::Who
            | Self::Channels
            | Self::Topic => Opens::All,
            Self::Recv | Self::LooseEnds | Self::Read | Self::Attention => Opens::Rooms,
            Self::Answer
            | Self::CancelLooseEnd
            | Self::Join
            | Self::Part
            | Self::Compact
            | Self::Clear
            | Self::SetDirectory
            | Self::Pause
            | Self::Resume
            | Self::Abort
            | Self::Whisper
            | Self::NoReply
            | Self::RequestSpawn
            | Self::Kill
            | Self::Start
            | Self::Restart
            | Self::Update
            | Self::RequestApplyCommit
            | Self::GetLogs => Opens::Nothing,
        }
    }

    fn is_for(self, user: User) -> bool {
        if user == User::Program {
            return self.opens() != Opens::Nothing;
        }
        match self {
            Self::Send
            | Self::Recv
            | Self::Ask
            | Self::Answer
            | Self::LooseEnds
            | Self::CancelLooseEnd
            | Self::Remind
            | Self::WhoAmI => true,
            // Only a turn answers by its last text.
            Self::NoReply => user.is_in_a_session(),
            // In a session the agent's shell has these.
            Self::Read
            | Self::Who
            | Self::Channels
            | Self::Topic
            | Self::Join
            | Self::Part
            | Self::Compact
            | Self::Clear
            | Self::SetDirectory => !user.is_in_a_session(),
            // The owner's words: no agent gives them, not even to itself.
            Self::Pause | Self::Resume | Self::Abort | Self::Whisper | Self::Attention => {
                user == User::Person
            }
            Self::RequestSpawn
            | Self::Kill
            | Self::Start
            | Self::Restart
            | Self::Update
            | Self::RequestApplyCommit
            | Self::GetLogs => user == User::Manager,
        }
    }

    fn spec(self, user: User) -> ToolSpec {
        let (description, input_schema) = match self {
            Self::Send => send(user),
            Self::NoReply => (
                "Records that the message needs no reply. Without this, your final text is sent \
                 as the answer.",
                object(&json!({"message": MESSAGE.json()}), &[]),
            ),
            Self::Recv => inbox::recv(user),
            Self::Ask => inbox::ask(user),
            Self::Answer => inbox::answer(user),
            Self::LooseEnds => inbox::loose_ends(user),
            Self::CancelLooseEnd => inbox::cancel_loose_end(user),
            Self::Remind => inbox::remind(user),
            Self::WhoAmI => inbox::whoami(),
            Self::Read => read(user),
            Self::Who => (
                "Lists who is in a channel, or says whether a nick is in use.",
                object(&json!({"target": PLACE.json()}), &["target"]),
            ),
            Self::Channels => ("Lists the channels that the agent is in.", object(&json!({}), &[])),
            Self::Topic => (
                "Shows the topic of a channel; with `text` sets a new one.",
                object(
                    &json!({
                        "channel": Text("the channel, such as #general").json(),
                        "text": Text("the new topic; leave it out to read the current one").json(),
                    }),
                    &["channel"],
                ),
            ),
            Self::Join => ("Lets the agent enter a channel.", one_channel()),
            Self::Part => ("Lets the agent leave a channel.", one_channel()),
            Self::Compact => {
                ("Shortens the agent's context, once no turn is open.", object(&json!({}), &[]))
            }
            Self::Clear => (
                "Begins an empty context of the agent, once no turn is open.",
                object(&json!({}), &[]),
            ),
            Self::SetDirectory => (
                set_directory(user),
                object(&json!({"path": Text("the folder's absolute path").json()}), &["path"]),
            ),
            Self::Pause => person::pause(),
            Self::Resume => person::resume(),
            Self::Abort => person::abort(),
            Self::Whisper => person::whisper(),
            Self::Attention => person::attention(user),
            Self::RequestSpawn => manager::request_spawn(),
            Self::RequestApplyCommit => manager::request_apply_commit(),
            Self::Kill => manager::kill(),
            Self::Start => manager::start(),
            Self::Restart => manager::restart(),
            Self::Update => manager::update(),
            Self::GetLogs => manager::get_logs(),
        };
        let output_schema = self.returns(user);
        ToolSpec { name: self.name(), description, input_schema, output_schema }
    }

    /// Returns the schema of the object that it returns; `None` for a line of text.
    fn returns(self, user: User) -> Option<Value> {
        match self {
            Self::Recv => Some(inbox::received()),
            Self::Ask => Some(inbox::asked(user)),
            Self::Answer => Some(inbox::answered()),
            Self::LooseEnds => Some(inbox::open(user)),
            Self::Remind => Some(inbox::reminded()),
            Self::WhoAmI => Some(inbox::me(user)),
            Self::Kill | Self::Start | Self::Restart | Self::Update => Some(manager::ordered()),
            Self::RequestSpawn | Self::RequestApplyCommit => Some(manager::requested()),
            Self::GetLogs => Some(manager::logs()),
            Self::Attention => Some(person::waiting()),
            Self::Send
            | Self::NoReply
            | Self::CancelLooseEnd
            | Self::Read
            | Self::Who
            | Self::Channels
            | Self::Topic
            | Self::Join
            | Self::Part
            | Self::Compact
            | Self::Clear
            | Self::SetDirectory
            | Self::Pause
            | Self::Resume
            | Self::Abort
            | Self::Whisper => None,
        }
    }
}

/// An argument that is a text.
struct Text(&'static str);

impl Text {
    fn json(&self) -> Value {
        json!({"type": "string", "description": self.0})
    }
}

const PLACE: Text = Text("#channel or nick");
const RECIPIENT: Text = Text("#channel, a nick, or `operator`: the owners' inbox");
const MESSAGE: Text = Text("message id such as m42");

fn object(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// What `send` does for an agent in its session.
const SPEAK: &str = "Says something now: to a channel (#name), to one nick, to another agent, or to \
                     `operator`. Your final text is sent to the asker by itself, so use this only to \
                     speak elsewhere, or before you are done. Give in_reply_to (such as m42) when it \
                     answers that message.";

fn send(user: User) -> (&'static str, Value) {
    let to = match user {
        User::Session | User::Manager | User::Agent => RECIPIENT.json(),
        User::Person | User::Program => PLACE.json(),
    };
    let body = Text("what to say; `text` is understood too").json();
    let mut properties = json!({"to": to, "body": body});
    if !user.is_a_persons() {
        properties["in_reply_to"] = MESSAGE.json();
    }
    let description = match user {
        User::Session | User::Manager => SPEAK,
        User::Agent => {
            "Says something as the agent: to a channel (#name), to one nick, to another agent, or to \
             `operator`. Give in_reply_to (such as m42) when it answers that message."
        }
        User::Person | User::Program => {
            "Says something on IRC in the name of the person who runs this program, not as the \
             agent: to a channel (#name) or to one nick. To ask the agent, use `ask`, or write @nick \
             in its channel; `read` shows the answer later."
        }
    };
    (description, object(&properties, &["to", "body"]))
}

fn one_channel() -> Value {
    object(&json!({"channel": Text("the channel, such as #general").json()}), &["channel"])
}

fn read(user: User) -> (&'static str, Value) {
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 500,
        "description": "how many lines at most; 50 if left out"});
    let description = match user {
        User::Session | User::Manager | User::Agent => {
            "Reads what was said since the last read, oldest first, and counts it as read."
        }
        User::Person => {
            "Reads the last lines of a channel that the agent is in, or those that it exchanged \
             with a nick; with the agent's own nick, what it exchanged with you. Nothing counts \
             as read by the agent."
        }
        User::Program => {
            "Reads the last lines of a channel that the agent is in. Nothing counts as read by the \
             agent."
        }
    };
    let from = match user {
        User::Program => Text("the channel, such as #general").json(),
        User::Session | User::Manager | User::Agent | User::Person => PLACE.json(),
    };
    (description, object(&json!({"from": from, "limit": limit}), &["from"]))
}

fn set_directory(user: User) -> &'static str {
    match user.is_a_persons() {
        true => "Confirms that a folder is there. The agent's own folder stays.",
        false => "Returns the instructions (CLAUDE.md) of a folder. The agent's own folder stays.",
    }
}
