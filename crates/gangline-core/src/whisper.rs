//! What an agent alone is told while it works: a whisper (R1-32, R1-33).

use crate::words;

words! {
    /// What a whisper asks of the agent (R1-32), as every wire has it.
    WhisperKind, "whisper type" {
        /// To turn back to its task.
        Correction = "CORRECTION",
        /// To think more before it goes on.
        ThinkDeeper = "THINK_DEEPER",
        /// The last warning before people are told.
        Escalation = "ESCALATION",
    }
}

words! {
    /// Who whispers.
    WhisperSource, "source of a whisper" {
        /// The model that watches the agent's turns.
        Supervisor = "supervisor",
        /// A detector, which asks no model.
        Rules = "rules",
        /// A person.
        Operator = "operator",
    }
}

words! {
    /// How a whisper reached the agent.
    WhisperRoad, "road of a whisper" {
        /// In the context that a hook of the backend adds.
        Hook = "hook",
        /// Put into the running turn.
        Steer = "steer",
        /// In front of the result of a tool of the daemon's.
        Tool = "tool",
        /// On the standard error stream of a command that the agent ran.
        Command = "command",
        /// By a frame on the daemon's socket.
        Socket = "socket",
        /// In front of a prompt.
        Prompt = "prompt",
    }
}
