//! What goes into the store and what comes out: plain data, without a type of the engine.

mod agents;
mod approvals;
mod causes;
mod events;
mod messages;
mod orders;
mod outbox;
mod rules;
mod trace;
mod turns;

pub use agents::{
    AccountRow, AgentRow, AgentUpdate, EpochStart, Health, LeftSession, NewUsage, SessionRow,
    UsageSum, Whose,
};
pub use approvals::{
    Announce, ApprovalPlace, ApprovalRow, ApprovalState, Decided, Decision, OpenApproval,
    OpenedApproval, Ruling, WithdrawApproval,
};
pub use causes::{CauseEnded, CauseRow, Held, Released};
pub use events::{Cursor, CursorError, Event, EventPage, EventQuery, NewEvent};
pub use messages::{Accepted, Cancel, CursorMove, MessageFilter, MessageRow, NewMessage, TakenIn};
pub use orders::{Desired, Order, Restart, RestartWhen};
pub use outbox::{LineKind, OutboxId, OutboxRow, OutboxState, Said, Send, SendReceipt, SentAs};
pub use rules::{Always, RULES_MAX, RuleRow, Stored};
pub(crate) use rules::{by_rules, is_by_rules};
pub use trace::Trace;
pub use turns::{EndTurn, Ended, How, OpenTurn, Settle, Take, Taken, TurnMessage, TurnRow};

/// Makes a closed enum whose database form is a word.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Returns the word used in the database and on every wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Returns the value that the word stands for.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;
