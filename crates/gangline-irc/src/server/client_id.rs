//! The number of a connection.

/// The low bits that say in which slot the connection is kept.
const SLOT_BITS: u32 = 20;

/// A connection, never used twice; that of a later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ClientId(pub(super) u64);

impl ClientId {
    pub(super) fn new(number: u64, slot: usize) -> Self {
        Self((number << SLOT_BITS) | slot as u64)
    }

    pub(super) fn slot(self) -> usize {
        (self.0 & ((1 << SLOT_BITS) - 1)) as usize
    }
}
