//! Effects: the agent's requests to the shell, carried out in order.

use crate::{
    answer::Settlement,
    approval::Decision,
    effort::Effort,
    id::{MessageId, TurnId},
    outcome::Outcome,
    pause::{Held, PauseReason},
};

use super::{ApprovalRequestId, Generation};

/// How a runtime is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartWith {
    /// A new session.
    Fresh,
    /// A new session, as somebody asked for.
    Cleared,
    /// A new session in the place of one that is full or cold: its first prompt carries the checkpoint
    /// (C13).
    Renewed,
    /// The last session, if there is one.
    Resume,
}

/// Which deadline was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deadline {
    /// The runtime did not get ready.
    Start,
    /// The turn gave no sign of life.
    TurnOutput,
    /// The interrupt had no effect.
    InterruptGrace,
}

/// Something to log or to show; nothing hangs on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Nothing new is fed from now on, for this reason.
    Paused(PauseReason),
    /// Messages are fed again: no reason holds any more.
    Resumed,
    /// The breaker was closed half: one more death parks again.
    Unparked,
    /// Another model is used from now on.
    ModelChanges,
    /// The backend is started anew with another ground level of the effort.
    EffortChanges,
    /// There is no turn to interrupt.
    NothingToInterrupt,
    /// Something came for a turn that is not open, or an approval that does not wait; dropped.
    Late {
        /// The turn it was for.
        turn: TurnId,
    },
    /// The context is as full as the watermark: the agent is asked for its notes (R2-09).
    WatermarkPassed {
        /// The turn in which it is asked.
        turn: TurnId,
        /// How many tokens the context holds.
        tokens: u64,
    },
    /// The turn for the notes did not complete (R2-10).
    NotesFailed {
        /// That turn.
        turn: TurnId,
        /// How it ended.
        outcome: Outcome,
    },
    /// The context is large and nobody used it for a while: a new session begins instead of it.
    ColdReset {
        /// How many tokens the context holds.
        tokens: u64,
    },
    /// The context is above the watermark after every shortening: none is asked for any more.
    ShortenedInVain {
        /// How many tokens the context holds.
        tokens: u64,
    },
    /// Something came from a generation of the runtime that is over, or did not fit; dropped.
    LateGeneration {
        /// The generation it was from.
        generation: Generation,
    },
}

/// What the agent asks of the shell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Start the runtime; answered by `Ready` or `Exited` of this generation.
    StartRuntime {
        /// The generation that begins.
        generation: Generation,
        /// With which session.
        with: StartWith,
    },
    /// End the runtime, which does not react (kill policy). The agent counts it as gone at once.
    KillRuntime {
        /// The generation that ends.
        generation: Generation,
    },
    /// End the runtime to begin another generation. The agent counts it as gone at once.
    EndRuntime {
        /// The generation that ends.
        generation: Generation,
    },
    /// T1: record the turn and these messages as `in_turn`, woken. Answered by `Taken` or
    /// `TakeFailed`.
    Take {
        /// The new turn.
        turn: TurnId,
        /// Its messages; empty for a turn that the runtime started on its own.
        messages: Vec<MessageId>,
    },
    /// What the runtime does from now on is this turn; a `Take` for it went before.
    AdoptTurn {
        /// The turn.
        turn: TurnId,
        /// The generation that does it.
        generation: Generation,
    },
    /// Record these messages as `in_turn`, read. Answered by `JoinFailed` or not at all.
    Join {
        /// The open turn.
        turn: TurnId,
        /// The messages.
        messages: Vec<MessageId>,
    },
    /// Record these messages as `in_turn`, steered. Answered by `Joined` or `JoinFailed`.
    Steer {
        /// The open turn.
        turn: TurnId,
        /// The messages.
        messages: Vec<MessageId>,
    },
    /// Give these messages to the runtime in mid-turn. Answered by `Steered` once it has taken
    /// them up; what it never takes up goes back to the queue at the turn's end.
    SendSteer {
        /// The open turn.
        turn: TurnId,
        /// The messages.
        messages: Vec<MessageId>,
    },
    /// Give the turn's prompt to the runtime.
    SendPrompt {
        /// The turn.
        turn: TurnId,
    },
    /// Ask the runtime, in this turn, for the notes that the agent wants to keep (R2-09).
    AskNotes {
        /// The turn.
        turn: TurnId,
    },
    /// Give an empty session its first words, in this turn (R0-07).
    Prime {
        /// The turn.
        turn: TurnId,
    },
    /// Give the turn's prompt once more: it fits now (R2-08).
    PromptAgain {
        /// The turn.
        turn: TurnId,
    },
    /// Make the runtime's context shorter before the next prompt. What comes of it is told by
    /// `Compacted` or `NotCompacted`, or not at all.
    Compact {
        /// Which generation.
        generation: Generation,
    },
    /// Empty the runtime's context before the next prompt.
    Clear {
        /// Which generation.
        generation: Generation,
    },
    /// Tell the runtime the model that was chosen.
    SetModel {
        /// Which generation.
        generation: Generation,
    },
    /// Have the runtime think harder or as before (R1-11).
    SetEffort {
        /// Which generation.
        generation: Generation,
        /// How hard.
        effort: Effort,
    },
    /// Ask the runtime to end the turn early.
    SendInterrupt {
        /// The turn.
        turn: TurnId,
    },
    /// Record and announce an approval. Settled once, by `Decide`, `WithdrawApprovals` or
    /// `ApprovalTakenBack`.
    AskHuman {
        /// The turn that waits.
        turn: TurnId,
        /// The request.
        request: ApprovalRequestId,
    },
    /// Tell the runtime. Also denies requests that came too late, which were never asked.
    Decide {
        /// The turn that asked.
        turn: TurnId,
        /// The request.
        request: ApprovalRequestId,
        /// What was decided.
        decision: Decision,
    },
    /// The runtime withdrew it: everybody who was asked learns that there is nothing to decide.
    ApprovalTakenBack {
        /// The turn.
        turn: TurnId,
        /// The request.
        request: ApprovalRequestId,
    },
    /// The turn's open approvals are void; the runtime learns that they were withdrawn.
    WithdrawApprovals {
        /// The turn.
        turn: TurnId,
        /// The requests, at least one.
        requests: Vec<ApprovalRequestId>,
    },
    /// T3: `TurnEnded`, answers and the messages' new states in one commit. Messages that go back
    /// are forgotten here: the store's next scan gives them again.
    EndTurn {
        /// The turn.
        turn: TurnId,
        /// Its one outcome.
        outcome: Outcome,
        /// Each of its messages once.
        settle: Vec<Settlement>,
    },
    /// Give all waiting messages (again).
    Rescan,
    /// A deadline was missed; what follows from it stands beside this.
    MissedDeadline {
        /// Which one.
        deadline: Deadline,
        /// In which turn.
        turn: Option<TurnId>,
    },
    /// The breaker opened (`circuit_open`): nothing starts before a `Resume`.
    Parked {
        /// How many deaths it took.
        deaths: usize,
        /// The messages that were in the turn of each of them.
        suspects: Vec<MessageId>,
    },
    /// The backend has said that nothing passes before a named time: keep the pause over a restart.
    PauseBegun {
        /// Why and until when.
        held: Held,
    },
    /// The time of this pause is over: forget it.
    PauseOver {
        /// Which.
        held: Held,
    },
    /// Log or show it.
    Notice(Notice),
    /// Nothing is open and nothing will be: the last effect of all.
    Drained,
}
