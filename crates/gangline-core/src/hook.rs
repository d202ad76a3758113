//! An agent's events for programs outside: for a hook or a webhook.

use crate::words;

words! {
    /// What happens to an agent that a hook can be run for (R3-10).
    HookEvent, "hook event" {
        /// Its backend takes prompts.
        SessionStart = "SessionStart",
        /// Its backend is gone.
        SessionStop = "SessionStop",
        /// A message was taken into a turn.
        OnMessage = "OnMessage",
        /// A turn failed, or the backend crashed.
        OnError = "OnError",
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
