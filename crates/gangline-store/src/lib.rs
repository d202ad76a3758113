//! The durable store: messages, turns, outbox, events, approvals.
//!
//! A library over a database, not a process: each process opens [`Store`] for itself. A write
//! returns after its commit has been synced to disk; what that rests on is
//! `docs/design/0001-storage.md`. The crate knows neither IRC nor runtimes nor HTTP, nor what a
//! turn means. The engine is behind [`Store`]; no type of it is public. Callers send the
//! change notices; the store does not. Start at [`Store::open`].

mod error;
mod op;
mod opening;
mod sqlite;
mod store;
mod types;

pub use gangline_core::answer::How;

pub use error::{
    AnswerError, DecideError, FindingError, LetterError, OpenError, StoreError, WakeError, Written,
};
pub use op::FAILPOINTS;
pub use opening::{OpenOptions, Tuning};
pub use store::{Entry, Store};
pub use types::{
    Accepted, AccountRow, ActAgain, ActRow, AgentRow, AgentUpdate, Always, Announce, Applied,
    ApprovalPlace, ApprovalRow, AskedBy, Cancel, CauseEnded, CauseRow, ChangeKind, ChangeRequested,
    ChangeRow, ChangeState, ChangeStep, ChangeTold, Cursor, CursorError, CursorMove, Decided,
    Delivered, Desired, EndTurn, Ended, EpochStart, Event, EventPage, EventQuery, FindingFilter,
    FindingRow, Firing, FleetHold, FolderTrustRow, Got, Health, Held, Holds, LeftSession,
    LetterFilter, LetterRow, LetterState, LineKind, Made, MessageFilter, MessageRow, NewAct,
    NewAnswer, NewChange, NewEvent, NewFinding, NewFolderTrust, NewLetter, NewMessage, NewPause,
    NewQuestion, NewRaise, NewRelayOpen, NewReminder, NewToken, NewUsage, NewWake, NewWhisper,
    OfFinding, OpenApproval, OpenTurn, OpenedApproval, Order, OutboxId, OutboxRow, OutboxState,
    PauseRow, QuestionAsked, QuestionClosed, QuestionFilter, QuestionPlace, QuestionPlaced,
    QuestionRow, RULES_MAX, Raised, RelayOpenRow, RelayedCall, RelayedRow, Released, ReminderRow,
    ReminderState, Restart, RestartWhen, RuleRow, Ruling, Said, Send, SendReceipt, SentAs,
    SessionRow, Settle, SpentRow, Stored, Syncs, Take, Taken, TakenIn, TokenRow, TokenScope, Trace,
    TrustWord, TurnMessage, TurnRow, UsageSum, Waited, WhisperRow, Whose, WithdrawApproval,
};
pub use types::{AlertRow, AlertWords, DeliveryEnd, DeliveryRow, NewAlert, NewDelivery};
pub use types::{
    AllowedBefore, ChoiceDone, EndOrder, FindingAnswer, FindingAnswered, Guides, OpenTurnOrder,
    OrderedEnd, StandingOrders, TurnOrderKind, TurnOrderOutcome,
};

/// Stands in an approval's announcement for the number that the store gives. Its control characters
/// are in no text that was made visible ([`gangline_core::shown`]), so nothing quoted is replaced.
pub const NUMBER_PLACEHOLDER: &str = "\u{1a}number\u{1a}";

/// The most rows that a read returns at once.
pub const PAGE_MAX: u32 = 500;
