//! The closed sets of words that `agents.yaml` knows, each with its spelling.

use gangline_core::words;
use schemars::JsonSchema;

words! {
    /// What other users of this machine may do on the embedded server without an account.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Guests, "guest rule" {
        /// They are refused.
        No = "no",
        /// They may join rooms and read.
        Read = "read",
        /// They may talk too; agents do not obey them.
        Talk = "talk",
    }
}

words! {
    /// Who posts an answer on IRC (C12).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    ReplyMode, "reply mode" {
        /// The final text is posted unless the agent itself sent an answer.
        RelayIfSilent = "relay_if_silent",
        /// The final text is always posted.
        Relay = "relay",
        /// Only what the agent sends with a tool is posted.
        Tools = "tools",
    }
}

words! {
    /// Where an agent runs.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Profile, "profile" {
        /// Beside other agents, in its `directory`.
        Host = "host",
        /// Alone in a container, as hyperhive's agents do: in `/state`, with a socket at
        /// `/run/hive/mcp.sock` at which everybody speaks for it.
        Container = "container",
    }
}

words! {
    /// What becomes of the message that tells an agent of its daemon's start (R2-14).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    RestartNote, "restart rule" {
        /// It waits in the inbox and is taken with the next message.
        Inbox = "inbox",
        /// It starts a turn.
        Wake = "wake",
        /// There is none.
        Off = "off",
    }
}

words! {
    /// What happens to a mention while the agent works (C3).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    MentionWhenBusy, "busy rule" {
        /// It waits for the next turn.
        Queue = "queue",
        /// The agent can read it with a tool; it is not delivered at once.
        Buffer = "buffer",
        /// It is added to the running turn, if the backend can do that.
        Steer = "steer",
    }
}

words! {
    /// How a backend is restarted after a crash (C7).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    OnCrash, "crash rule" {
        /// With its session, if it has one.
        Resume = "resume",
        /// With an empty context.
        Fresh = "fresh",
    }
}

words! {
    /// What an escalation does to the agent (C1).
    #[derive(Default, JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    OnEscalation, "escalation rule" {
        /// It begins no new turn until a person says `resume` or `abort`; the open turn continues.
        #[default]
        Hold = "hold",
        /// People are told; the agent works on.
        Notify = "notify",
    }
}

words! {
    /// What an agent is for (R2-35 … R2-39).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Role, "role" {
        /// It works.
        Agent = "agent",
        /// It also runs the other agents, within what the owners allow.
        Manager = "manager",
    }
}

words! {
    /// What is loaded of what an agent's folder brings along for its program.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    FolderTrust, "rule of trust" {
        /// Nothing, until an owner says `gangline trust allow`.
        None = "none",
        /// What lies there at the agent's first start; a later change waits for an owner.
        Project = "project",
    }
}

words! {
    /// Who makes the conversation fit the model's context (C13).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Compaction, "compaction rule" {
        /// The daemon, if the backend reports how full the context is: at the watermark the agent
        /// writes its notes, then its context is shortened.
        Harness = "harness",
        /// The backend, by its own rules.
        Backend = "backend",
        /// Nobody, until somebody says `compact` or `new session`.
        Off = "off",
    }
}

words! {
    /// What the room reads during an agent's turn.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Progress, "progress rule" {
        /// From time to time, how long the turn has taken and what runs.
        Quiet = "quiet",
        /// Also the agent's text between its tools.
        Talk = "talk",
    }
}

words! {
    /// The key under which backends know the daemon's own tools (C35).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    ServerKey, "server key" {
        /// `mcp__gangline__send`.
        Gangline = "gangline",
        /// `mcp__hyperhive__send`: the older name.
        Hyperhive = "hyperhive",
    }
}

words! {
    /// How a backend's program runs (C4, C29).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Process, "process model" {
        /// One for the whole session.
        Resident = "resident",
        /// One for each turn, if the backend can do that.
        PerTurn = "per_turn",
        /// One in a terminal multiplexer, if the backend can do that.
        Tmux = "tmux",
    }
}

words! {
    /// How much other agents' answers to an agent's questions may decide (R1-52).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    AgentAnswers, "weight of agents' answers" {
        /// The first agent that answers decides, also in a room.
        First = "first",
        /// Most of the agents that were asked must give the same answer.
        Vote = "vote",
        /// All agents that were asked must give the same answer.
        Consensus = "consensus",
        /// Agents' answers are only recorded; an owner decides.
        Never = "never",
    }
}

words! {
    /// Which people may prompt an agent.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    PromptBy, "who prompts" {
        /// Members and owners, and other agents within the limit of hops.
        Members = "members",
        /// Owners only; no agents either.
        Owners = "owners",
    }
}
