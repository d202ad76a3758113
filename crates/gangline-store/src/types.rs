//! What goes into the store and what comes out: plain data, without a type of the engine.

mod acts;
mod agents;
mod alerts;
mod applied;
mod approvals;
mod budgets;
mod causes;
mod changes;
mod events;
mod findings;
mod folder_trust;
mod letters;
mod messages;
mod orders;
mod outbox;
mod pauses;
mod questions;
mod reminders;
mod rules;
mod tokens;
mod trace;
mod turn_orders;
mod turns;
mod wakes;
mod whispers;

pub use acts::{ActAgain, ActRow, NewAct};
pub use agents::{
    AccountRow, AgentRow, AgentUpdate, EpochStart, Health, LeftSession, NewUsage, SessionRow,
    Syncs, UsageSum, Whose,
};
pub use alerts::{AlertRow, DeliveryEnd, DeliveryRow, NewAlert, NewDelivery};
pub use applied::Applied;
pub use approvals::{
    AllowedBefore, Announce, ApprovalPlace, ApprovalRow, Decided, OpenApproval, OpenedApproval,
    Ruling, WithdrawApproval,
};
pub(crate) use approvals::{by_rules, is_by_rules};
pub use budgets::{
    FleetHold, NewRaise, NewRelayOpen, RelayOpenRow, RelayedCall, RelayedRow, SpentRow,
};
pub use causes::{CauseEnded, CauseRow, Held, Released};
pub use changes::{
    ChangeKind, ChangeRequested, ChangeRow, ChangeState, ChangeStep, ChangeTold, NewChange,
};
pub use events::{Cursor, CursorError, Event, EventPage, EventQuery, NewEvent};
pub use findings::{
    AlertWords, ChoiceDone, FindingAnswer, FindingAnswered, FindingFilter, FindingRow, NewFinding,
    Raised,
};
pub use folder_trust::{FolderTrustRow, NewFolderTrust, TrustWord};
pub use letters::{LetterFilter, LetterRow, LetterState, NewLetter};
pub use messages::{Accepted, Cancel, CursorMove, MessageFilter, MessageRow, NewMessage, TakenIn};
pub use orders::{Desired, Order, Restart, RestartWhen};
pub use outbox::{LineKind, OutboxId, OutboxRow, OutboxState, Said, Send, SendReceipt, SentAs};
pub use pauses::{Holds, NewPause, PauseRow};
pub use questions::{
    AskedBy, Got, NewAnswer, NewQuestion, QuestionAsked, QuestionClosed, QuestionFilter,
    QuestionPlace, QuestionPlaced, QuestionRow, Waited,
};
pub use reminders::{Firing, NewReminder, ReminderRow, ReminderState};
pub use rules::{Always, RULES_MAX, RuleRow, Stored};
pub use tokens::{NewToken, TokenRow, TokenScope};
pub use trace::{Made, Trace};
pub use turn_orders::{
    EndOrder, Guides, OpenTurnOrder, OrderedEnd, StandingOrders, TurnOrderKind, TurnOrderOutcome,
};
pub use turns::{EndTurn, Ended, OpenTurn, Settle, Take, Taken, TurnMessage, TurnRow};
pub use wakes::NewWake;
pub use whispers::{Delivered, NewWhisper, OfFinding, WhisperRow};
