//! Orders of people about the agent's turn and session. The row comes first: an order that was
//! confirmed outlives the daemon. The agent loop is told afterwards, by the caller.

use std::time::Duration;

use gangline_core::{AgentName, TurnId, agent::ContextChange};
use gangline_os::clock::{self, SharedClock};
use gangline_store::{EndOrder, Guides, OrderedEnd, Store, StoreError, TurnOrderKind};
use tokio::sync::watch;

use crate::{showing::Showing, texts};

/// How long the order to end a turn waits for the record of the turn itself.
const RECORDED_WITHIN: Duration = Duration::from_secs(10);

/// Where orders are stored, and who gives one.
#[derive(Clone, Copy)]
pub(crate) struct Orders<'a> {
    pub(crate) store: &'a Store,
    pub(crate) clock: &'a SharedClock,
    pub(crate) agent: &'a AgentName,
    /// As others know that person.
    pub(crate) by: &'a str,
}

/// Why an order is not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotOrdered {
    /// The store cannot be written.
    #[error("I could not store it, so nothing has changed: {}", texts::whole(.0))]
    Store(#[from] StoreError),
    /// The turn is being recorded, which takes too long.
    #[error("the turn is only being recorded, so nothing has changed: try again")]
    NotRecorded,
}

impl Orders<'_> {
    /// Ends the turn that is shown as open, and an escalation. Returns the turn that ends by it.
    pub(crate) async fn abort(
        self,
        showing: &watch::Receiver<Showing>,
    ) -> Result<Option<TurnId>, NotOrdered> {
        let mut showing = showing.clone();
        let recorded = async {
            loop {
                let turn = showing.borrow_and_update().view.turn;
                match self.store_end(turn, Guides::Yes).await? {
                    OrderedEnd::Ends => return Ok(turn),
                    OrderedEnd::NoTurn => return Ok(None),
                    // It is shown before it is recorded.
                    OrderedEnd::NotYet => {}
                }
                if showing.changed().await.is_err() {
                    return Err(NotOrdered::NotRecorded);
                }
            }
        };
        let ended = clock::within(self.clock, RECORDED_WITHIN, recorded).await;
        ended.unwrap_or(Err(NotOrdered::NotRecorded))
    }

    /// Ends this turn, and no other. Returns whether it was open.
    pub(crate) async fn end(self, turn: TurnId) -> Result<bool, NotOrdered> {
        match self.store_end(Some(turn), Guides::No).await? {
            OrderedEnd::Ends => Ok(true),
            OrderedEnd::NoTurn => Ok(false),
            OrderedEnd::NotYet => Err(NotOrdered::NotRecorded),
        }
    }

    async fn store_end(
        self,
        turn: Option<TurnId>,
        guides: Guides,
    ) -> Result<OrderedEnd, StoreError> {
        let (agent, by) = (self.agent.clone(), self.by.to_owned());
        self.store.order_end(EndOrder { agent, turn, by, guides }).await
    }

    /// Has the context changed before the next turn. Returns the order's number.
    pub(crate) async fn change(self, change: ContextChange) -> Result<i64, NotOrdered> {
        let kind = match change {
            ContextChange::Compact => TurnOrderKind::Compact,
            ContextChange::Clear => TurnOrderKind::Clear,
        };
        Ok(self.store.order_session(self.agent, kind, self.by).await?)
    }
}
