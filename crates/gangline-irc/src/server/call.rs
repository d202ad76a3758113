//! One request of a client, as its command takes it.

use tokio::sync::OwnedSemaphorePermit;

use super::{client_id::ClientId, flight::Asker, state::State};
use crate::wire::Message;

/// One request.
pub(super) struct Call {
    pub(super) id: ClientId,
    pub(super) message: Message,
    /// Given back when the request is done; moved along if the store must answer first.
    pub(super) credit: Option<OwnedSemaphorePermit>,
}

impl Call {
    /// Returns a parameter that is there and not empty.
    pub(super) fn word(&self, index: usize) -> Option<&str> {
        self.message.at(index).filter(|word| !word.is_empty())
    }

    /// Returns the asker of a question to the store, with the label and the credit of this
    /// request.
    pub(super) fn asker(&mut self, state: &mut State) -> Asker {
        if let Some(client) = state.client_mut(self.id) {
            client.in_flight += 1;
        }
        Asker { id: self.id, label: state.take_label(self.id), credit: self.credit.take() }
    }
}
