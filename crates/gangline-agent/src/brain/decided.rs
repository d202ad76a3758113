//! What a human decided about an approval: told to the state machine, and recorded once.

use gangline_api::event;
use gangline_broker::Decision as Decided;
use gangline_core::{
    ApprovalNumber, TurnId,
    agent::{ApprovalRequestId, Input},
    approval::Decision,
};

use super::Brain;
use crate::bus::Record;

impl Brain {
    /// A human decided. Until the store knows that we heard it, every look into it tells it anew;
    /// it is recorded once.
    pub(super) fn decided(
        &mut self,
        number: ApprovalNumber,
        (turn, request): (TurnId, String),
        decision: Decided,
        by: String,
    ) {
        self.keeper.push(Record::Delivered(number));
        let (decision, said) = match decision {
            Decided::Allow => (Decision::Allow, gangline_api::approval::Decision::Allow),
            Decided::Deny => (Decision::Deny, gangline_api::approval::Decision::Deny),
        };
        let again = self.core.view().turn == Some(turn) && !self.asks.contains_key(&request);
        if !again {
            self.record(Some(turn), event::ApprovalDecided { number, decision: said, by });
        }
        self.think(Input::Decision { turn, request: ApprovalRequestId(request), decision });
    }
}
