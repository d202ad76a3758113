//! The open turn: its step, its messages, what it did, and the approvals it waits for.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use crate::{
    answer::{How, NOT_YET, Rules, Settlement, Tool, TurnAction, TurnLog, TurnMessage, settle},
    id::{MessageId, TurnId},
    outcome::{By, Outcome},
    time::Now,
};

use super::{ApprovalRequestId, Effect, Generation, Needs, Queued};

/// Text that a turn keeps for its final words, in bytes.
pub(super) const TEXT_MAX: usize = 256 * 1024;
/// So many messages that were read are waited for.
const EXPECTED_MAX: usize = 1024;
/// The mark where a longer text was cut.
pub(super) const CUT: &str = "\n… (the rest is too long to be kept)";

/// The step of a turn.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// T1 is being written.
    Taking(Taking),
    /// The prompt is sent, the runtime has not taken it yet.
    Prompting,
    /// The runtime works.
    Working,
    /// It was asked to stop; if it does, this is the outcome.
    Interrupting(Outcome),
}

/// What happened while T1 was being written.
#[derive(Debug, Clone)]
pub(super) struct Taking {
    /// An interrupt is wanted with this outcome.
    pub(super) wanted: Option<Outcome>,
    /// The runtime's part is over with this outcome.
    pub(super) ended: Option<Outcome>,
    pub(super) runtime_gone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenedBy {
    /// By us, for messages.
    Us,
    /// By us, for the agent's notes.
    Notes,
    /// By us, for the first words of an empty session.
    Priming,
    Runtime,
}

/// Whether the turn's prompt is given once more because it did not fit (R2-08).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    No,
    /// The runtime's part ended with that, and its context is being made shorter.
    Compacting,
    /// It was given again: the next end counts.
    Done,
}

/// How a turn is closed.
pub(super) struct Close {
    pub(super) outcome: Outcome,
    pub(super) runtime_gone: bool,
}

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) generation: Generation,
    pub(super) by: OpenedBy,
    pub(super) step: Step,
    pub(super) again: Again,
    /// Its time was over before the runtime had taken its prompt.
    pub(super) not_taken: bool,
    pub(super) pending: BTreeSet<ApprovalRequestId>,
    messages: Vec<TurnMessage>,
    /// What the queue knew of them beside that.
    known: Vec<Known>,
    actions: Vec<TurnAction>,
    text_bytes: usize,
    /// Messages that the agent has read and the queue does not hold yet.
    expected: BTreeSet<MessageId>,
    deadline: Option<Now>,
}

/// What a turn keeps of a message for the queue.
#[derive(Debug, Clone, Copy)]
struct Known {
    id: MessageId,
    cause: MessageId,
    needs: Needs,
}

impl Known {
    fn of(queued: &Queued) -> Self {
        Self { id: queued.id, cause: queued.cause, needs: queued.needs }
    }
}

impl Turn {
    pub(super) fn new(
        id: TurnId,
        generation: Generation,
        by: OpenedBy,
        messages: Vec<Queued>,
    ) -> Self {
        let taking = Taking { wanted: None, ended: None, runtime_gone: false };
        Self {
            id,
            generation,
            by,
            step: Step::Taking(taking),
            again: Again::No,
            not_taken: false,
            pending: BTreeSet::new(),
            known: messages.iter().map(Known::of).collect(),
            messages: messages.into_iter().map(|queued| entry(queued, How::Woke, 0)).collect(),
            actions: Vec::new(),
            text_bytes: 0,
            expected: BTreeSet::new(),
            deadline: None,
        }
    }

    pub(super) fn message_ids(&self) -> Vec<MessageId> {
        self.messages.iter().map(|message| message.id).collect()
    }

    /// Returns what its messages began with.
    pub(super) fn causes(&self) -> BTreeSet<MessageId> {
        let known = self.known.iter().filter(|known| self.holds(known.id));
        known.map(|known| known.cause).collect()
    }

    pub(super) fn holds(&self, id: MessageId) -> bool {
        self.messages.iter().any(|message| message.id == id)
    }

    /// Returns the step's deadline; the clock stops while an approval is open.
    pub(super) fn deadline(&self) -> Option<Now> {
        self.deadline.filter(|_| self.pending.is_empty())
    }

    /// Goes to a step whose time begins now.
    pub(super) fn go(&mut self, step: Step, deadline: Now) {
        self.step = step;
        self.deadline = Some(deadline);
    }

    /// Activity: the prompt was taken, and the watchdog restarts.
    pub(super) fn lives(&mut self, now: Now, watchdog: Duration) {
        match self.step {
            Step::Prompting | Step::Working => self.go(Step::Working, now.plus(watchdog)),
            Step::Taking(_) | Step::Interrupting(_) => {}
        }
    }

    pub(super) fn text(&mut self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        if !matches!(self.actions.last(), Some(TurnAction::Text(_))) {
            self.forget_texts();
        }
        if self.text_bytes >= TEXT_MAX {
            return;
        }
        let room = TEXT_MAX - self.text_bytes;
        self.text_bytes += text.len();
        let mut text = text;
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            text.push_str(CUT);
        }
        self.actions.push(TurnAction::Text(text));
    }

    /// Only the last words can be relayed; the places of earlier ones stay.
    fn forget_texts(&mut self) {
        for action in &mut self.actions {
            if let TurnAction::Text(text) = action {
                *text = String::new();
            }
        }
        self.text_bytes = 0;
    }

    pub(super) fn tool_result(&mut self, tool: Tool) {
        self.actions.push(TurnAction::ToolResult(tool));
    }

    pub(super) fn sent(&mut self, to: String, in_reply_to: Option<MessageId>) {
        self.actions.push(TurnAction::Sent { to, in_reply_to });
    }

    pub(super) fn no_reply(&mut self, message: Option<MessageId>) {
        self.actions.push(TurnAction::NoReply { message });
    }

    /// Returns whether the runtime may be asked about.
    pub(super) fn may_ask(&self) -> bool {
        match &self.step {
            Step::Taking(taking) => self.by == OpenedBy::Runtime && taking.ended.is_none(),
            Step::Prompting | Step::Working => true,
            Step::Interrupting(_) => false,
        }
    }

    /// Returns whether a message may still join.
    pub(super) fn may_join(&self) -> bool {
        match &self.step {
            Step::Working | Step::Prompting => true,
            Step::Taking(_) | Step::Interrupting(_) => false,
        }
    }

    /// Returns whether a message may be given to it: not while the agent writes its notes, nor while
    /// the runtime's part is over.
    pub(super) fn may_be_steered(&self) -> bool {
        self.by != OpenedBy::Notes && self.again != Again::Compacting && self.may_join()
    }

    /// Returns whether its prompt, which we have, may be given once more.
    pub(super) fn may_try_again(&self) -> bool {
        let prompted = matches!(self.step, Step::Prompting | Step::Working);
        prompted && self.by != OpenedBy::Runtime && self.again == Again::No
    }

    /// Returns whether its generation has ended before it was recorded.
    pub(super) fn has_no_runtime(&self) -> bool {
        matches!(&self.step, Step::Taking(taking) if taking.runtime_gone)
    }

    pub(super) fn join_read(&mut self, read: VecDeque<Queued>) {
        let joined = self.actions.len();
        self.known.extend(read.iter().map(Known::of));
        self.messages.extend(read.into_iter().map(|queued| entry(queued, How::Read, joined)));
    }

    pub(super) fn look_out_for<'a>(&mut self, ids: impl Iterator<Item = &'a MessageId>) {
        let room = EXPECTED_MAX.saturating_sub(self.expected.len());
        self.expected.extend(ids.take(room));
    }

    pub(super) fn looks_out_for(&self, id: MessageId) -> bool {
        self.expected.contains(&id)
    }

    pub(super) fn join_steered(&mut self, queued: Queued) {
        self.known.push(Known::of(&queued));
        self.messages.push(entry(queued, How::Steered, NOT_YET));
    }

    /// The runtime has these messages: only what it does from now on can answer them.
    pub(super) fn steered(&mut self, ids: &[MessageId]) {
        let now = self.actions.len();
        for message in &mut self.messages {
            if message.joined == NOT_YET && ids.contains(&message.id) {
                message.joined = now;
            }
        }
    }

    pub(super) fn leave(&mut self, ids: &[MessageId]) {
        self.messages.retain(|message| message.how == How::Woke || !ids.contains(&message.id));
    }

    /// Takes a decision; returns whether the approval waited for one. It restarts the watchdog.
    pub(super) fn decide(&mut self, request: &ApprovalRequestId, watchdog_until: Now) -> bool {
        let waited = self.pending.remove(request);
        if waited && self.deadline.is_some() {
            self.deadline = Some(watchdog_until);
        }
        waited
    }

    /// Begins to end the turn early. The first reason stays.
    pub(super) fn interrupt(&mut self, grace_until: Now, outcome: Outcome, out: &mut Vec<Effect>) {
        match &mut self.step {
            Step::Taking(taking) => {
                if taking.wanted.as_ref().is_none_or(|wanted| overrides(&outcome, wanted)) {
                    taking.wanted = Some(outcome);
                }
            }
            Step::Prompting | Step::Working => {
                self.withdraw(out);
                self.go(Step::Interrupting(outcome), grace_until);
                out.push(Effect::SendInterrupt { turn: self.id });
            }
            Step::Interrupting(wanted) => {
                if overrides(&outcome, wanted) {
                    *wanted = outcome;
                }
            }
        }
    }

    pub(super) fn withdraw(&mut self, out: &mut Vec<Effect>) {
        let requests: Vec<_> = std::mem::take(&mut self.pending).into_iter().collect();
        if !requests.is_empty() {
            out.push(Effect::WithdrawApprovals { turn: self.id, requests });
        }
    }

    /// Settles everything that the turn holds.
    pub(super) fn end(
        mut self,
        outcome: Outcome,
        rules: Rules,
        out: &mut Vec<Effect>,
    ) -> Vec<Settlement> {
        self.withdraw(out);
        settle(&TurnLog { messages: self.messages, actions: self.actions, outcome }, rules)
    }

    /// Takes back what was to be taken, for the queue.
    pub(super) fn into_queued(self) -> Vec<Queued> {
        let Self { messages, known, .. } = self;
        let known = |id| known.iter().find(|known| known.id == id).copied();
        messages.into_iter().filter_map(|it| Some(queued(known(it.id)?, it))).collect()
    }
}

/// Returns whether a turn that is about to end as `before` ends as `outcome` instead: what the daemon's end
/// would give back to the queue, a person has ended.
fn overrides(outcome: &Outcome, before: &Outcome) -> bool {
    matches!(before, Outcome::Interrupted(By::Drain))
        && matches!(outcome, Outcome::Interrupted(By::Operator))
}

fn entry(queued: Queued, how: How, joined: usize) -> TurnMessage {
    TurnMessage {
        id: queued.id,
        asker: queued.asker,
        target: queued.target,
        origin: queued.origin,
        attempt: queued.attempt + 1,
        in_reply_to: queued.in_reply_to,
        how,
        joined,
    }
}

fn queued(known: Known, message: TurnMessage) -> Queued {
    Queued {
        needs: known.needs,
        cause: known.cause,
        id: message.id,
        asker: message.asker,
        target: message.target,
        origin: message.origin,
        attempt: message.attempt - 1,
        in_reply_to: message.in_reply_to,
    }
}
