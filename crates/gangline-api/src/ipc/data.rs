//! The `data` of a response, one type for each command that tells something.
//!
//! What culture's clients read is under the names they look for; the rest is added beside it.
//! `status` gives [`crate::status::AgentStatus`].

use std::collections::BTreeMap;

use gangline_core::{id::MessageId, message::Tier, name::AgentName};
use serde::{Deserialize, Serialize};

/// Data of a command that has none: `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoData {}

/// Data of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloData {
    /// The daemon's [`super::VERSION`].
    pub version: u32,
    /// Whose daemon it is.
    pub agent: AgentName,
    /// The version of the program.
    pub gangline: String,
}

/// A line that somebody said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatLine {
    /// Who said it.
    pub nick: String,
    /// What was said.
    pub text: String,
    /// When, in seconds since 1970 (C36).
    pub timestamp: f64,
    /// `stranger` if nobody knows who said it: to be read with care. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
}

/// Data of `irc_read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadData {
    /// The lines, oldest first.
    pub messages: Vec<ChatLine>,
    /// How many unread lines are left behind these (C19); there are some too when the response
    /// would have been over [`super::LINE_MAX`].
    #[serde(default)]
    pub remaining: u64,
}

/// Data of `irc_ask`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskData {
    /// The answer; `null` when nobody answered in time (R1-20).
    pub answer: Option<ChatLine>,
}

/// Data of `irc_channels`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelsData {
    /// The channels that the agent is in.
    pub channels: Vec<String>,
    /// How many are in each of them (R1-22); a channel whose count is not known is absent.
    #[serde(default)]
    pub members: BTreeMap<String, u32>,
}

/// Data of `irc_who`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhoData {
    /// Who is there, in the server's order.
    pub users: Vec<WhoUser>,
}

/// One of those who are there (R1-23).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhoUser {
    /// The nick.
    pub nick: String,
    /// The flags of the server's `WHO` reply: `H` here or `G` away, `*` operator of the network,
    /// then the marks in the channel such as `@` and `+`.
    #[serde(default)]
    pub modes: String,
}

/// Data of `irc_topic`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicData {
    /// The topic as it is now; `null` = none is set. A daemon of culture's leaves the field out: the
    /// topic comes later.
    pub topic: Option<String>,
}

/// Data of `set_directory` (C14).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetDirectoryData {
    /// The folder: the confirmation that it is there and can be worked in.
    pub directory: String,
    /// The file that was read: `CLAUDE.md` in that folder; `null` = the folder has none.
    pub path: Option<String>,
    /// What it says; empty if there is none.
    pub text: String,
}

/// Data of `tool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolData {
    /// What the tool returned: a line for the model, or a JSON object as text.
    pub result: String,
}

/// Data of `model` (R2-04).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelData {
    /// The model that the next turn has; `null` = the backend's own, or the configuration's, whose
    /// name is told once it is used.
    pub model: Option<String>,
    /// The one that was chosen over the configuration's; `null` = none was.
    pub chosen: Option<String>,
}

/// Data of `resume` and `interrupt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldData {
    /// What holds the agent after it, and what helps; absent = nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

/// Data of `wake` (R2-31).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WakeData {
    /// The message that it became.
    pub message: MessageId,
    /// Whether it is one that this key made before.
    pub duplicate: bool,
}

/// Data of `subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeData {
    /// The cursor behind which events follow.
    pub cursor: String,
}
