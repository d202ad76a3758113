//! The notice to an asker: one line that says why the message was settled as it was.

use std::fmt;

use crate::{outcome::By, unreached::Unreached};

/// Why a message has its new state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The turn completed with neither text nor send.
    Silent,
    /// The runtime said that the turn failed; a short word for why.
    TurnFailed(String),
    /// The turn gave no sign of life.
    TimedOut,
    /// Somebody ended the turn.
    Interrupted(By),
    /// The runtime or the daemon was gone before the turn's end.
    TurnLost,
    /// The backend takes nothing for now.
    RateLimited,
    /// The backend waits for a login (R2-43).
    NeedsLogin,
    /// The daemon stopped.
    Drained,
    /// It came from another place than the turn's text was meant for.
    Elsewhere,
    /// It was to be given in mid-turn, and the turn was over before.
    NotSteered,
    /// It was read and got no answer, for the first time.
    ReadOnly,
    /// It was read and got no answer once more.
    ReadTwice,
    /// The agent said by tool that no reply is needed.
    SaidByTool,
    /// The agent's final text was exactly `NO_REPLY`.
    SaidSo,
    /// It is itself an answer.
    OwesNone,
    /// There is a text, but this agent replies by tools only.
    NotRelayed,
}

impl Reason {
    /// Returns the reason's word, without its detail.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::TurnFailed(_) => "turn_failed",
            Self::TimedOut => "timed_out",
            Self::Interrupted(_) => "interrupted",
            Self::TurnLost => "turn_lost",
            Self::RateLimited => "rate_limited",
            Self::NeedsLogin => "needs_login",
            Self::Drained => "drained",
            Self::Elsewhere => "elsewhere",
            Self::NotSteered => "not_steered",
            Self::ReadOnly => "read_only",
            Self::ReadTwice => "read_twice",
            Self::SaidByTool => "said_by_tool",
            Self::SaidSo => "said_so",
            Self::OwesNone => "owes_none",
            Self::NotRelayed => "not_relayed",
        }
    }
}

/// Written as the records have it: `silent`, `turn_failed:api_error`, `interrupted:operator`.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            Self::TurnFailed(kind) => write!(f, ":{}", word(kind)),
            Self::Interrupted(by) => write!(f, ":{}", by.as_str()),
            Self::Silent
            | Self::TimedOut
            | Self::TurnLost
            | Self::RateLimited
            | Self::NeedsLogin
            | Self::Drained
            | Self::Elsewhere
            | Self::NotSteered
            | Self::ReadOnly
            | Self::ReadTwice
            | Self::SaidByTool
            | Self::SaidSo
            | Self::OwesNone
            | Self::NotRelayed => Ok(()),
        }
    }
}

/// One line for the asker, said once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AskerNotice {
    /// The message failed, and why.
    Failed(Reason),
    /// The answer stands, but the turn was lost after it.
    TurnLost,
    /// The message waits until somebody has logged the backend in.
    NeedsLogin,
    /// The message waits until the model takes requests again.
    RateLimited,
    /// The message was given up.
    DeadLetter {
        /// After so many attempts.
        attempts: i64,
    },
}

/// A runtime's word for a turn that made as many calls of the model as one may.
const STEP_LIMIT: &str = "step_limit";
/// The daemon's word for a turn whose request the relay refused, since a budget is spent.
pub const BUDGET_SPENT: &str = "budget_spent";

impl AskerNotice {
    /// Returns the kind's word: `failed`, `turn_lost`, `needs_login`, `rate_limited`,
    /// `dead_letter`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Failed(_) => "failed",
            Self::TurnLost => "turn_lost",
            Self::NeedsLogin => "needs_login",
            Self::RateLimited => "rate_limited",
            Self::DeadLetter { .. } => "dead_letter",
        }
    }

    /// Returns the line, without an address or a line break.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Failed(reason) => match reason {
                Reason::Silent => "no answer: the turn ended without any text".to_owned(),
                Reason::TurnFailed(kind) if kind == STEP_LIMIT => {
                    "no answer: the turn reached its limit of steps before it was done; ask for \
                     the rest, or for less at once"
                        .to_owned()
                }
                Reason::TurnFailed(kind) if kind == BUDGET_SPENT => {
                    "no answer: the budget for today is spent, so the turn was cut off; ask again \
                     once an owner has raised it, or tomorrow"
                        .to_owned()
                }
                Reason::TurnFailed(kind) => match kind.parse::<Unreached>() {
                    Ok(cause) => format!("no answer: {}; `gangline logs` says more", cause.told()),
                    Err(_) => format!("no answer: the turn failed ({})", word(kind)),
                },
                Reason::TimedOut => {
                    "no answer: the turn showed no activity and was stopped".to_owned()
                }
                Reason::Interrupted(By::Operator) => {
                    "no answer: a person stopped the turn".to_owned()
                }
                Reason::Interrupted(By::Supervisor) => {
                    "no answer: the supervisor stopped the turn".to_owned()
                }
                Reason::Interrupted(By::Drain) => {
                    "no answer: the agent was shut down during the turn".to_owned()
                }
                Reason::TurnLost
                | Reason::RateLimited
                | Reason::NeedsLogin
                | Reason::Drained
                | Reason::Elsewhere
                | Reason::NotSteered
                | Reason::ReadOnly
                | Reason::ReadTwice
                | Reason::SaidByTool
                | Reason::SaidSo
                | Reason::OwesNone
                | Reason::NotRelayed => format!("no answer: {reason}"),
            },
            Self::TurnLost => {
                "turn_lost: my turn ended early after that answer; ask again if something is missing"
                    .to_owned()
            }
            Self::NeedsLogin => {
                "not yet: my backend is not logged in; your message is stored, and I answer it once \
                 somebody has logged it in"
                    .to_owned()
            }
            Self::RateLimited => {
                "not yet: my model refuses requests for now (its rate limit); your message is \
                 stored, and I try again until it is taken"
                    .to_owned()
            }
            Self::DeadLetter { attempts } => {
                format!("no answer: given up after {attempts} attempts")
            }
        }
    }
}

/// Returns a runtime's word in a form that is safe on a line: it may be anything.
fn word(kind: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "_-. ".contains(c) { c } else { '?' };
    kind.chars().take(60).map(safe).collect()
}
