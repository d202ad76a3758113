//! Records that are written alone, and their results for the agent loop.

use std::sync::Arc;

use gangline_core::{
    AgentName, ApprovalNumber, MessageId, MessageState, TurnId, approval::Decision,
    outcome::OutcomeWord,
};
use gangline_os::change_notice;
use gangline_store::{
    EndTurn, Entry, How, OpenApproval, Settle, StandingOrders, StoreError, Take, Taken,
};
use tracing::warn;

use super::{JournalDeps, Record, Single, Wrote};
use crate::bus::{Fatal, Ruled};

/// The results of records, for the agent loop.
#[derive(Debug)]
pub(crate) enum Reply {
    /// T1 is committed; these were not waiting any more.
    Taken { turn: TurnId, attempts: Vec<(MessageId, i64)>, gone: Vec<MessageId>, pending: u64 },
    /// T1 could not be committed and is undone.
    TakeFailed { turn: TurnId },
    /// These joined the turn that they are to be given to.
    Joined { turn: TurnId, messages: Vec<MessageId> },
    /// These could not join the turn that they were read in, or meant for.
    JoinFailed { turn: TurnId, messages: Vec<MessageId> },
    /// An approval has its number, and perhaps already its decision, with who decided.
    Opened { number: ApprovalNumber, turn: TurnId, request: String, decided: Option<Ruled> },
    /// It is on disk that the backend gets this decision: now it may.
    Delivered { number: ApprovalNumber },
    /// What holds the agent by the store, read after `words` orders about that had been written.
    Standing { orders: StandingOrders, words: u64 },
    /// Messages may wait that did not before.
    Rescan,
    /// The store cannot write.
    Degraded(String),
    /// The store writes again.
    Healthy,
    /// The store cannot be used any more.
    Fatal(Fatal),
}

/// Writes one record.
pub(super) async fn write(deps: Arc<JournalDeps>, single: Box<Single>) -> Result<Wrote, Fatal> {
    match *single {
        Single::Take { turn, messages, prompt_uuid } => {
            take(&deps, (turn, messages), prompt_uuid).await
        }
        Single::Undo(end) => undo(&deps, end).await,
        Single::Join { turn, messages, prompt_uuid, how } => {
            join(&deps, taking(&deps, (turn, how), messages, prompt_uuid)).await
        }
        Single::Approval(open) => approval(&deps, open).await,
        Single::Withdraw(withdraw) => {
            let written = deps.store.withdraw_approval((*withdraw).clone()).await.map(drop);
            let wrote = done(written, Single::Withdraw(withdraw));
            deps.outbox.notify_one();
            wrote
        }
        Single::Pause(pause) => {
            done(deps.store.begin_pause((*pause).clone()).await, Single::Pause(pause))
        }
        Single::Unpause { reason, until } => {
            let written = deps.store.end_pause(&deps.agent, reason, until).await;
            done(written, Single::Unpause { reason, until })
        }
        Single::LookAtPause { words } => Ok(look_at_pause(&deps, words).await),
    }
}

/// What became of a record of which the loop is told nothing. A turn that has ended already was
/// ended by an earlier try.
fn done(written: Result<(), StoreError>, single: Single) -> Result<Wrote, Fatal> {
    match written {
        Ok(()) | Err(StoreError::TurnNotOpen { .. }) => Ok(committed(Vec::new())),
        Err(error) => again(single, error),
    }
}

fn committed(replies: Vec<Reply>) -> Wrote {
    Wrote { committed: true, replies, again: None }
}

/// Puts the record back where waiting may help.
fn again(single: Single, error: StoreError) -> Result<Wrote, Fatal> {
    if !waiting_helps(&error) {
        return Err(fatal(error));
    }
    Ok(Wrote { again: Some((vec![Record::from(single)], error)), ..Wrote::default() })
}

fn taking(
    deps: &JournalDeps,
    (turn, how): (TurnId, How),
    messages: Vec<MessageId>,
    prompt_uuid: String,
) -> Take {
    let (agent, turns_per_cause) = (deps.agent.clone(), deps.turns_per_cause);
    Take { agent, turn, messages, prompt_uuid, how, turns_per_cause }
}

/// T1. A take that may or may not be written is undone, so that no message stays in a turn that
/// never was.
async fn take(
    deps: &JournalDeps,
    (turn, messages): (TurnId, Vec<MessageId>),
    prompt_uuid: String,
) -> Result<Wrote, Fatal> {
    let take = taking(deps, (turn, How::Woke), messages.clone(), prompt_uuid);
    match deps.store.take(take).await {
        Ok(taken) => {
            notify_teller(deps, taken.teller.as_ref());
            let Taken { attempts, gone, pending, .. } = taken;
            let reply = Reply::Taken { turn, attempts, gone, pending };
            Ok(committed(vec![reply]))
        }
        Err(error) => {
            let undo = EndTurn {
                agent: deps.agent.clone(),
                turn,
                outcome: OutcomeWord::Lost.into(),
                settle: messages.into_iter().map(back_in_the_queue).collect(),
                sends: Vec::new(),
                events: Vec::new(),
                withdraw_approvals: None,
            };
            again(Single::Undo(undo), error)
        }
    }
}

async fn undo(deps: &JournalDeps, end: EndTurn) -> Result<Wrote, Fatal> {
    let turn = end.turn;
    let written = deps.store.together(vec![Entry::End(end.clone())]).await;
    match written.and_then(|mut results| results.pop().unwrap_or(Ok(Vec::new()))) {
        // The take was not written.
        Ok(_) | Err(StoreError::TurnNotOpen { .. }) => {
            deps.outbox.notify_one();
            Ok(committed(vec![Reply::Rescan, Reply::TakeFailed { turn }]))
        }
        Err(error) => again(Single::Undo(end), error),
    }
}

/// Messages join the turn; what is not waiting any more stays where it is. Tried until the store
/// takes it: what was not known to be written would be in the turn all the same.
async fn join(deps: &JournalDeps, take: Take) -> Result<Wrote, Fatal> {
    let (turn, how) = (take.turn, take.how);
    let mut replies = Vec::new();
    let gone = match deps.store.take(take.clone()).await {
        Ok(taken) => {
            notify_teller(deps, taken.teller.as_ref());
            let joined: Vec<_> = taken.attempts.iter().map(|(id, _)| *id).collect();
            if how == How::Steered && !joined.is_empty() {
                replies.push(Reply::Joined { turn, messages: joined });
            }
            taken.gone
        }
        Err(StoreError::TurnNotOpen { .. }) => take.messages,
        Err(error) => {
            let Take { messages, prompt_uuid, .. } = take;
            return again(Single::Join { turn, messages, prompt_uuid, how }, error);
        }
    };
    if !gone.is_empty() {
        replies.extend([Reply::JoinFailed { turn, messages: gone }, Reply::Rescan]);
    }
    Ok(committed(replies))
}

async fn approval(deps: &JournalDeps, open: Box<OpenApproval>) -> Result<Wrote, Fatal> {
    let (turn, request) = (open.turn, open.request.clone());
    let opened = match deps.store.open_approval((*open).clone()).await {
        Ok(opened) => opened,
        Err(StoreError::TurnNotOpen { .. }) => {
            deps.outbox.notify_one();
            return Ok(committed(Vec::new()));
        }
        Err(error) => return again(Single::Approval(open), error),
    };
    deps.outbox.notify_one();
    let number = opened.number;
    let decided = match opened.decided {
        Some(decision) => Some(ruled(deps, number, decision).await),
        None => None,
    };
    Ok(committed(vec![Reply::Opened { number, turn, request, decided }]))
}

/// Returns who decided and why; nobody where the store does not tell.
async fn ruled(deps: &JournalDeps, number: ApprovalNumber, decision: Decision) -> Ruled {
    let row = deps.store.approval(number).await.ok().flatten();
    let ruled = row.as_ref().and_then(Ruled::of);
    ruled.unwrap_or_else(|| Ruled { decision, by: String::new(), reason: None })
}

async fn look_at_pause(deps: &JournalDeps, words: u64) -> Wrote {
    let replies = match deps.store.standing_orders(&deps.agent).await {
        Ok(Some(orders)) => vec![Reply::Standing { orders, words }],
        Ok(None) => Vec::new(),
        Err(error) => {
            warn!(%error, "cannot read whether the agent is paused");
            Vec::new()
        }
    };
    Wrote { replies, ..Wrote::default() }
}

/// A limit was reached, and the line that tells of it is in somebody's outbox.
fn notify_teller(deps: &JournalDeps, teller: Option<&AgentName>) {
    match teller {
        Some(agent) if *agent == deps.agent => deps.outbox.notify_one(),
        Some(agent) => change_notice::notify(&deps.paths.change_notice(agent.as_str())),
        None => {}
    }
}

fn back_in_the_queue(message: MessageId) -> Settle {
    Settle {
        message,
        state: MessageState::Accepted,
        reason: Some("the turn could not be recorded".to_owned()),
        answer: None,
        not_before: None,
        uncount_attempt: true,
    }
}

pub(super) fn fatal(error: StoreError) -> Fatal {
    match error {
        StoreError::Fenced { .. } => Fatal::Fenced(error.to_string()),
        StoreError::Corrupt { .. } => Fatal::Corrupt(error.to_string()),
        other => Fatal::TaskEnded(other.to_string()),
    }
}

/// Returns whether the same write may succeed later.
pub(crate) fn waiting_helps(error: &StoreError) -> bool {
    match error {
        StoreError::Busy { .. } | StoreError::Degraded { .. } => true,
        StoreError::Fenced { .. }
        | StoreError::TurnNotOpen { .. }
        | StoreError::UnknownMessage(_)
        | StoreError::Invalid(_)
        | StoreError::Corrupt { .. }
        | StoreError::Engine { .. }
        | StoreError::Closed => false,
    }
}
