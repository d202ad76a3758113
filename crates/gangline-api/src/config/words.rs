//! The closed sets of words that `agents.yaml` knows, each with its spelling.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A closed set of words: what the reader needs to take one from the file and to suggest the
/// nearest.
pub(super) trait Word: Copy + Sized + 'static {
    /// What the word is, for a message: "backend".
    const WHAT: &'static str;
    /// Every value.
    const ALL: &'static [Self];
    /// Returns the spelling.
    fn word(self) -> &'static str;
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal {
        $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the word as it is written in `agents.yaml`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }
        impl Word for $name {
            const WHAT: &'static str = $what;
            const ALL: &'static [Self] = Self::ALL;
            fn word(self) -> &'static str { self.as_str() }
        }
    };
}

words! {
    /// Who decides what an agent's tools may do (C5).
    Permissions, "permission mode" {
        /// Rules decide the easy ones, a human the rest.
        Ask = "ask",
        /// Only `allowed_tools` exist; they run unasked.
        Allowlist = "allowlist",
        /// Everything runs unasked; shown loudly in status and WHOIS.
        Bypass = "bypass",
    }
}

words! {
    /// What people of another user of this machine may do on the embedded server without an
    /// account.
    Guests, "guest rule" {
        /// They are not let in.
        No = "no",
        /// They join and read.
        Read = "read",
        /// They talk; agents do not obey them.
        Talk = "talk",
    }
}

words! {
    /// Who says an answer on IRC (C12).
    ReplyMode, "reply mode" {
        /// The final text is relayed when the agent itself sent no answer.
        RelayIfSilent = "relay_if_silent",
        /// The final text is always relayed.
        Relay = "relay",
        /// Only what the agent sends by tool is said.
        Tools = "tools",
    }
}

words! {
    /// What a mention does while the agent works (C3).
    MentionWhenBusy, "busy rule" {
        /// It waits for the next turn.
        Queue = "queue",
        /// It only becomes readable; the agent pulls it by itself.
        Buffer = "buffer",
        /// It is given into the running turn, where the backend can do that.
        Steer = "steer",
    }
}

words! {
    /// How a backend is started again after a crash (C7).
    OnCrash, "crash rule" {
        /// With its session, if it has one.
        Resume = "resume",
        /// With an empty context.
        Fresh = "fresh",
    }
}

words! {
    /// Who sees to it that the conversation fits the model's context (C13).
    Compaction, "compaction rule" {
        /// The daemon, where the backend says how full the context is: at the watermark the agent
        /// is asked for its notes, then the context is shortened.
        Harness = "harness",
        /// The backend, by its own rules.
        Backend = "backend",
        /// Nobody, until somebody says `compact` or `new session`.
        Off = "off",
    }
}

words! {
    /// What an agent says in the room in the middle of a turn.
    Progress, "progress rule" {
        /// Now and then how long the turn takes and what runs.
        Quiet = "quiet",
        /// Also what it says between its tools.
        Talk = "talk",
    }
}

words! {
    /// The key under which backends know the daemon's own tools (C35).
    ServerKey, "server key" {
        /// `mcp__gangline__send`.
        Gangline = "gangline",
        /// `mcp__hyperhive__send`: the older name.
        Hyperhive = "hyperhive",
    }
}

words! {
    /// How a backend's program lives (C4, C29).
    Process, "process model" {
        /// One for the whole session.
        Resident = "resident",
        /// One for each turn, where the backend can do that.
        PerTurn = "per_turn",
        /// One in a terminal multiplexer, where the backend can do that.
        Tmux = "tmux",
    }
}

words! {
    /// Which people prompt an agent.
    PromptBy, "who prompts" {
        /// Members and owners, and other agents within the limit of hops.
        Members = "members",
        /// Owners only; no agents either.
        Owners = "owners",
    }
}

words! {
    /// What may be told to a webhook and `#alerts` (R1-39).
    WebhookEvent, "webhook event" {
        /// The agent asks something and waits.
        AgentQuestion = "agent_question",
        /// The supervisor has given up whispering.
        AgentSpiraling = "agent_spiraling",
        /// A question was not answered in time.
        AgentTimeout = "agent_timeout",
        /// The backend crashed.
        AgentError = "agent_error",
        /// The agent's last queued message is settled.
        AgentComplete = "agent_complete",
    }
}

impl WebhookEvent {
    /// Returns how grave it is: `info`, `warning`, `error` (R1-39).
    #[must_use]
    pub fn severity(self) -> &'static str {
        match self {
            Self::AgentQuestion | Self::AgentComplete => "info",
            Self::AgentSpiraling | Self::AgentTimeout => "warning",
            Self::AgentError => "error",
        }
    }
}

/// What happens to an agent that a hook can be run for (R3-10).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum HookEvent {
    /// Its backend takes prompts.
    SessionStart,
    /// Its backend is gone.
    SessionStop,
    /// A message was taken into a turn.
    OnMessage,
    /// A turn failed, or the backend crashed.
    OnError,
}

impl HookEvent {
    /// Every value, in order.
    pub const ALL: &'static [Self] =
        &[Self::SessionStart, Self::SessionStop, Self::OnMessage, Self::OnError];

    /// Returns the word as it is written in `agents.yaml` and in payloads.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionStop => "SessionStop",
            Self::OnMessage => "OnMessage",
            Self::OnError => "OnError",
        }
    }
}

impl Word for HookEvent {
    const WHAT: &'static str = "hook event";
    const ALL: &'static [Self] = Self::ALL;
    fn word(self) -> &'static str {
        self.as_str()
    }
}
