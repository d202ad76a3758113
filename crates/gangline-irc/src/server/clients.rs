//! All connections, found by their number in one step however many there are.

use std::{collections::BTreeSet, ops::Bound};

use super::client_id::ClientId;

/// The connections. Each has a slot; its number says which, and that of a later connection in the
/// same slot is another one.
pub(super) struct Clients<C> {
    slots: Vec<Option<(ClientId, Box<C>)>>,
    free: Vec<usize>,
    /// In the order of coming.
    order: BTreeSet<ClientId>,
    last: u64,
}

impl<C> Default for Clients<C> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), order: BTreeSet::new(), last: 0 }
    }
}

impl<C> Clients<C> {
    /// Returns the number of the next connection, to be inserted next.
    pub(super) fn next_id(&mut self) -> ClientId {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.last += 1;
        ClientId::new(self.last, slot)
    }

    pub(super) fn insert(&mut self, id: ClientId, client: C) {
        if let Some(slot) = self.slots.get_mut(id.slot()) {
            *slot = Some((id, Box::new(client)));
            self.order.insert(id);
        }
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&C> {
        let (of, client) = self.slots.get(id.slot())?.as_ref()?;
        (*of == id).then_some(client)
    }

    pub(super) fn get_mut(&mut self, id: ClientId) -> Option<&mut C> {
        let (of, client) = self.slots.get_mut(id.slot())?.as_mut()?;
        (*of == id).then_some(client)
    }

    pub(super) fn contains(&self, id: ClientId) -> bool {
        self.order.contains(&id)
    }

    pub(super) fn remove(&mut self, id: ClientId) -> Option<Box<C>> {
        if !self.order.remove(&id) {
            return None;
        }
        self.free.push(id.slot());
        self.slots.get_mut(id.slot())?.take().map(|(_, client)| client)
    }

    /// Takes all of them out.
    pub(super) fn take(&mut self) -> Vec<Box<C>> {
        self.order.clear();
        self.free.clear();
        self.slots.drain(..).flatten().map(|(_, client)| client).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns all of them, in the order of coming.
    pub(super) fn values(&self) -> impl Iterator<Item = &C> {
        self.order.iter().filter_map(|id| self.get(*id))
    }

    /// Returns those that came after this one, in that order.
    pub(super) fn behind(&self, id: ClientId) -> impl Iterator<Item = &C> {
        let rest = self.order.range((Bound::Excluded(id), Bound::Unbounded));
        rest.filter_map(|id| self.get(*id))
    }
}

#[cfg(test)]
mod tests;
