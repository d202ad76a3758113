//! The closed sets of words that `agents.yaml` knows, each with its spelling.

use gangline_core::words;
use schemars::JsonSchema;

words! {
    /// What people of another user of this machine may do on the embedded server without an
    /// account.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
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
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
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
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
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
    /// Who sees to it that the conversation fits the model's context (C13).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
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
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    Progress, "progress rule" {
        /// Now and then how long the turn takes and what runs.
        Quiet = "quiet",
        /// Also what it says between its tools.
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
    /// How a backend's program lives (C4, C29).
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
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
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    PromptBy, "who prompts" {
        /// Members and owners, and other agents within the limit of hops.
        Members = "members",
        /// Owners only; no agents either.
        Owners = "owners",
    }
}
