//! Answers of any length at the pace of their reader: a list is made line by line, as there is room
//! in its reader's queue.
//!
//! A list remembers where it is, not what it will say, so it takes no memory however long it is;
//! whoever comes or goes meanwhile may be in it or not. Start at [`State::show_rows`].

use super::{
    caps::Caps,
    client_id::ClientId,
    outgoing::{Mark, Outgoing},
    state::State,
};

/// Lines of a list that are made at once.
const AT_ONCE: usize = 64;
/// Bytes in a reader's queue from which on a list waits.
pub(super) const FILL: usize = 64 * 1024;
/// The number of bytes in a reader's queue below which sending continues.
pub(super) const LOW: usize = FILL / 2;
/// Bytes in a client's queue from which on its next request waits.
const HOLD: usize = 4 * FILL;

/// The lines of an answer, one after the other.
pub(super) trait Rows: Send {
    /// Returns the next line; `None` after the last.
    fn next(&mut self, state: &mut State, id: ClientId) -> Option<Outgoing>;
}

/// A list that is being sent.
pub(super) struct Paced {
    rows: Box<dyn Rows>,
    /// The batch that its lines belong to.
    batch: Option<String>,
    /// Whether the batch ends with it.
    last: bool,
}

impl State {
    /// Answers with a list: at once if it is short, else as its reader takes it. Requests that come
    /// behind it wait for its end.
    pub(super) fn show_rows(&mut self, id: ClientId, mut rows: Box<dyn Rows>) {
        let free = |state: &Self| {
            state.client(id).is_some_and(|it| it.paced.is_empty() && it.queue.queued() < FILL)
        };
        for _ in 0..AT_ONCE {
            if !free(self) {
                break;
            }
            match rows.next(self, id) {
                Some(line) => self.tell(id, line),
                None => return,
            }
        }
        self.begin_batch(id);
        let Some(client) = self.client_mut(id) else { return };
        let batch = client.scope.as_ref().and_then(|scope| scope.batch.clone());
        client.in_flight += 1;
        client.paced.push_back(Paced { rows, batch, last: false });
        self.fill(id);
    }

    /// Sends what has been collected under a label as the beginning of a batch. Without batches
    /// many lines cannot carry a label.
    fn begin_batch(&mut self, id: ClientId) {
        let Some(client) = self.clients.get_mut(id) else { return };
        let batches = client.caps.has(Caps::BATCH);
        let Some(scope) = client.scope.as_mut().filter(|scope| scope.batch.is_none()) else {
            return;
        };
        let (label, answers) = (scope.label.clone(), std::mem::take(&mut scope.answers));
        if !batches {
            client.scope = None;
            answers.iter().for_each(|line| self.send_marked(id, line, Mark::default()));
            return;
        }
        let batch = self.next_batch();
        self.open_batch(id, &label, &batch);
        let mark = Mark { label: None, batch: Some(&batch) };
        answers.iter().for_each(|line| self.send_marked(id, line, mark));
        if let Some(scope) = self.client_mut(id).and_then(|client| client.scope.as_mut()) {
            scope.batch = Some(batch);
        }
    }

    /// Ends the batch of a request, now or with the last of its lists.
    pub(super) fn end_batch(&mut self, id: ClientId, batch: &str) {
        let Some(client) = self.client_mut(id) else { return };
        match client.paced.back_mut().filter(|paced| paced.batch.as_deref() == Some(batch)) {
            Some(paced) => paced.last = true,
            None => self.close_batch(id, batch),
        }
    }

    /// Goes on with the lists of a client, and with its requests when they are at their end.
    pub(super) fn refill(&mut self, id: ClientId) {
        self.fill(id);
        if self.client(id).is_some_and(|client| client.paced.is_empty()) {
            self.work(id);
        }
    }

    /// Sends of the lists of a client what there is room for in its queue.
    fn fill(&mut self, id: ClientId) {
        while !self.is_doomed(id) {
            let Some(client) = self.client_mut(id) else { return };
            let Some(mut paced) = client.paced.pop_front() else { return };
            // Before anything is queued: what is written from now on calls us again.
            client.queue.call_when_low();
            let mark = Mark { label: None, batch: paced.batch.as_deref() };
            let ended = loop {
                if self.client(id).is_none_or(|client| client.queue.queued() >= FILL) {
                    break false;
                }
                match paced.rows.next(self, id) {
                    Some(line) => self.send_marked(id, &line, mark),
                    None => break true,
                }
            };
            if let Some(batch) = paced.batch.as_deref().filter(|_| ended && paced.last) {
                self.close_batch(id, batch);
            }
            let Some(client) = self.client_mut(id) else { return };
            if !ended {
                client.paced.push_front(paced);
                return;
            }
            client.in_flight = client.in_flight.saturating_sub(1);
        }
    }

    /// Returns whether a client must read before its next request is worked on.
    pub(super) fn must_read_first(&mut self, id: ClientId) -> bool {
        let Some(client) = self.client_mut(id) else { return false };
        if client.queue.queued() < HOLD {
            return false;
        }
        client.queue.call_when_low();
        client.queue.queued() >= LOW
    }
}
