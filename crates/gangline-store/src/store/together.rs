//! Several writes in one commit, for an owner who has them all at hand.

use gangline_core::{AgentName, ApprovalNumber, Epoch, MessageId, TurnId};

use super::Store;
use crate::{
    error::StoreError,
    op::{self, Op},
    sqlite::{
        Work, Writer, agents, alerts, approvals, events, fault::Fault, findings, send, turn_orders,
        turns, whispers,
    },
    types::{
        AgentUpdate, Delivered, EndTurn, NewAlert, NewEvent, NewFinding, NewUsage, NewWhisper, Send,
    },
};

/// One of the writes of [`Store::together`].
#[derive(Debug, Clone)]
pub enum Entry {
    /// As [`Store::append`].
    Events(Vec<NewEvent>),
    /// As [`Store::add_usage`].
    Usage(NewUsage),
    /// As [`Store::alert`].
    Alert(Box<NewAlert>),
    /// As [`Store::alert`], unless a question is open that the agent asked in that turn, or in another attempt
    /// at that message.
    AlertUnlessAsked {
        /// The alert.
        alert: Box<NewAlert>,
        /// The turn that has ended.
        turn: TurnId,
        /// Its message.
        message: MessageId,
    },
    /// Records what a daemon says of itself.
    Agent(AgentName, Epoch, AgentUpdate),
    /// Records that the runtime has the decision.
    Delivered(ApprovalNumber),
    /// As [`Store::send`].
    Send(Box<Send>),
    /// As [`Store::raise_finding`].
    Finding(Box<NewFinding>),
    /// As [`Store::resolve_finding`].
    FindingResolved(AgentName, String),
    /// T3, as [`Store::end_turn`].
    End(EndTurn),
    /// As [`Store::whisper`]; one too many is not recorded.
    Whisper(Box<NewWhisper>),
    /// Orders about the agent's session, up to the one with this number, were carried out
    /// ([`Store::order_session`]).
    SessionDone(AgentName, i64),
    /// The backend was tried again, as the orders up to the one with this number wanted it
    /// ([`Store::standing_orders`]).
    Resumed(AgentName, i64),
    /// Records that whispers have reached the agent, once for each.
    WhispersDelivered(Delivered),
}

impl Store {
    /// Makes the writes in their order, in one commit with one sync. Returns what became of each, with the
    /// other agents that have something of it, such as a message: notify them. One that is refused by itself ([`StoreError::Fenced`], [`StoreError::TurnNotOpen`], a
    /// statement that fails) leaves the others as they are; a storage that cannot write fails all.
    ///
    /// # Errors
    /// [`StoreError::Busy`] or [`StoreError::Closed`]: none is written.
    pub async fn together(
        &self,
        entries: Vec<Entry>,
    ) -> Result<Vec<Result<Vec<AgentName>, StoreError>>, StoreError> {
        let write = |entry: Entry| -> (&'static Op, Work) {
            (entry.op(), Box::new(move |w: &mut Writer| entry.run(w)))
        };
        self.sqlite.write_together(entries.into_iter().map(write).collect()).await
    }
}

impl Entry {
    fn op(&self) -> &'static Op {
        match self {
            Self::Events(_) => &op::APPEND,
            Self::Usage(_) => &op::ADD_USAGE,
            Self::Alert(_) | Self::AlertUnlessAsked { .. } => &op::ALERT,
            Self::Agent(..) => &op::SET_AGENT,
            Self::Delivered(_) => &op::MARK_DELIVERED,
            Self::Finding(_) => &op::RAISE_FINDING,
            Self::FindingResolved(..) => &op::RESOLVE_FINDING,
            Self::SessionDone(..) | Self::Resumed(..) => &op::ORDER_TURN,
            Self::Send(_) => &op::SEND,
            Self::Whisper(_) => &op::WHISPER,
            Self::WhispersDelivered(_) => &op::WHISPERS_DELIVERED,
            Self::End(_) => &op::END_TURN,
        }
    }

    /// Returns the other agents that have something of it.
    fn run(&self, w: &mut Writer) -> Result<Vec<AgentName>, Fault> {
        match self {
            Self::Events(events) => events::append(w, events).map(drop)?,
            Self::Usage(usage) => agents::add_usage(w, usage)?,
            Self::Alert(alert) => alerts::raise(w, alert).map(drop)?,
            Self::AlertUnlessAsked { alert, turn, message } => {
                alerts::raise_unless_asked(w, alert, (*turn, *message))?;
            }
            Self::Agent(agent, epoch, update) => agents::update(w, agent, *epoch, update)?,
            Self::Delivered(number) => approvals::mark_delivered(w, *number)?,
            Self::Finding(new) => findings::raise(w, new).map(drop)?,
            Self::FindingResolved(agent, key) => findings::resolve(w, agent, key).map(drop)?,
            Self::Resumed(agent, upto) => turn_orders::resumed(w, agent, *upto)?,
            Self::SessionDone(agent, upto) => turn_orders::session_done(w, agent, *upto)?,
            Self::Send(new) => {
                let delivered = send::send(w, new, None)?.delivered.and(new.deliver.as_ref());
                return Ok(delivered.into_iter().map(|message| message.agent.clone()).collect());
            }
            Self::Whisper(new) => whispers::say(w, new).map(drop)?,
            Self::WhispersDelivered(told) => whispers::deliver(w, told)?,
            Self::End(end) => return Ok(turns::end(w, end)?.notify),
        }
        Ok(Vec::new())
    }
}
