//! Orders about the session: remembered until they were carried out, over the death of the daemon.

use gangline_core::agent::{ContextChange, Input, StartWith};
use gangline_store::{Entry, OpenTurnOrder, TurnOrderKind};

use super::AgentLoop;

/// The orders that were not carried out yet, by the number of the newest of each kind.
#[derive(Debug, Default)]
pub(super) struct SessionOrders {
    clear: Option<i64>,
    compact: Option<i64>,
    /// The backend was told to shorten its context, and has not said what came of it.
    compacting: bool,
    /// What an earlier daemon did not come to.
    left: Vec<OpenTurnOrder>,
}

impl AgentLoop {
    /// Says what was ordered while an earlier daemon ran.
    pub(crate) fn ordered(mut self, orders: Vec<OpenTurnOrder>) -> Self {
        self.session_orders.left = orders;
        self
    }

    /// Takes what an earlier daemon did not come to. A new session has begun with this daemon.
    pub(super) fn ordered_before(&mut self) {
        for order in std::mem::take(&mut self.session_orders.left) {
            let change = match order.kind {
                TurnOrderKind::Clear => ContextChange::Clear,
                TurnOrderKind::Compact => ContextChange::Compact,
                TurnOrderKind::EndTurn | TurnOrderKind::Resume => continue,
            };
            self.change_ordered(change, order.id);
        }
    }

    /// A person wants the context changed; the order is on disk.
    pub(super) fn change_ordered(&mut self, change: ContextChange, order: i64) {
        match change {
            ContextChange::Clear => {
                self.session_orders.clear = self.session_orders.clear.max(Some(order));
                self.emptied();
                // A daemon that dies before it is done does not go on with it either.
                self.keep_session(None);
            }
            ContextChange::Compact => {
                self.session_orders.compact = self.session_orders.compact.max(Some(order));
            }
        }
        self.think(Input::Change(change));
    }

    /// The context is emptied: what the backend tells of its session from now on is the new one.
    pub(super) fn is_cleared(&mut self) {
        if self.session_orders.clear.is_some() {
            self.keep_session(None);
        }
        self.session_orders_done();
    }

    /// A backend starts. In a new session there is nothing to be emptied or made shorter.
    pub(super) fn session_starts(&mut self, with: StartWith) {
        self.session_orders.compacting = false;
        match with {
            StartWith::Cleared => self.is_cleared(),
            StartWith::Fresh | StartWith::Renewed => self.session_orders_done(),
            StartWith::Resume => {}
        }
    }

    /// Sends the backend the order to shorten its context.
    pub(super) fn compacts(&mut self) {
        self.session_orders.compacting = true;
    }

    /// The backend has said what came of it, or a turn has ended behind it.
    pub(super) fn compacted(&mut self) {
        // What is about to be emptied is still to be emptied.
        if std::mem::take(&mut self.session_orders.compacting)
            && self.session_orders.clear.is_none()
        {
            self.session_orders_done();
        }
    }

    fn session_orders_done(&mut self) {
        let orders = &mut self.session_orders;
        if let Some(newest) = orders.clear.take().max(orders.compact.take()) {
            self.journal.push(Entry::SessionDone(self.me.agent.clone(), newest));
        }
    }
}
