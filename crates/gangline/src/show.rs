//! Text for people: tables, ages, lives of messages. Pure; colours are taken out by
//! [`output`](crate::output) unless a terminal shows them.

pub(crate) mod agents;
pub(crate) mod alerts;
pub(crate) mod approvals;
pub(crate) mod attention;
pub(crate) mod budget;
pub(crate) mod events;
pub(crate) mod fleet;
pub(crate) mod inbox;
pub(crate) mod live;
pub(crate) mod policy;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod token;
pub(crate) mod trace;
pub(crate) mod wire;
