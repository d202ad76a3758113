//! The pure heart of Gangline: names, ids, the agent's state machine and the rules.
//!
//! Nothing here touches a socket, a file, a clock or the environment: ids and `now` are
//! arguments, and everything is synchronous. Start at [`agent::Agent`].

pub mod act;
pub mod agent;
pub mod alert;
pub mod answer;
pub mod approval;
pub mod attention;
pub mod block;
pub mod budget;
pub mod cause;
pub mod checkpoint;
pub mod digest;
pub mod effort;
pub mod finding;
pub mod forged;
pub mod hook;
pub mod id;
pub mod likeness;
mod lookalike;
pub mod mention;
pub mod message;
pub mod model;
pub mod name;
pub mod near;
pub mod outcome;
pub mod patience;
pub mod pause;
pub mod permission;
pub mod price;
pub mod privacy;
pub mod pulse;
pub mod question;
pub mod reading;
pub mod recovery;
pub mod redact;
pub mod reminder;
pub mod room_words;
pub mod rule;
pub mod send_key;
pub mod shown;
pub mod split;
pub mod time;
pub mod trust;
pub mod unreached;
pub mod usage;
pub mod wake;
pub mod watch;
pub mod watchdog;
pub mod whisper;
pub mod word;

pub use id::{ApprovalNumber, Epoch, FindingNumber, MessageId, QuestionNumber, TurnId};
pub use message::{MessageState, Origin, Principal, Tier};
pub use name::{AgentName, ChannelName, Nick, Target};
pub use redact::{KnownSecret, Redacted, Redactor};
pub use send_key::SendKey;
