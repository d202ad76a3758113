//! An agent's events for programs outside: for a hook or a webhook.

use crate::{finding::Severity, words};

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
        /// A tool waits for a person's permission.
        AgentApproval = "agent_approval",
        /// A budget is spent, or nearly so.
        AgentBudget = "agent_budget",
        /// The provider's limit is reached.
        AgentRateLimited = "agent_rate_limited",
        /// A watchdog has found something that a person should look at.
        AgentStuck = "agent_stuck",
    }
}

impl WebhookEvent {
    /// Returns how grave it is (R1-39).
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::AgentQuestion | Self::AgentComplete => Severity::Info,
            Self::AgentSpiraling
            | Self::AgentTimeout
            | Self::AgentApproval
            | Self::AgentBudget
            | Self::AgentRateLimited
            | Self::AgentStuck => Severity::Warning,
            Self::AgentError => Severity::Error,
        }
    }

    /// Returns whether several of one agent that come quickly are one alert. What the agent asks and
    /// what it has finished are different things each time.
    #[must_use]
    pub fn is_joined(self) -> bool {
        match self {
            Self::AgentQuestion
            | Self::AgentApproval
            | Self::AgentTimeout
            | Self::AgentComplete => false,
            Self::AgentSpiraling
            | Self::AgentBudget
            | Self::AgentRateLimited
            | Self::AgentStuck
            | Self::AgentError => true,
        }
    }
}
