//! The socket of an agent's daemon: JSON Lines, requests one way, frames the other (R0-38 … R0-55).
//!
//! Pure: bytes to values and back, no I/O. Requests that culture's clients send are read as they
//! are, and what they look for in a response is there (`docs/ipc.md`). Start at
//! [`Request::decode`] for the daemon's side, at [`Frame::decode`] for a client's.

pub use self::{
    data::{
        AskData, ChannelsData, ChatLine, HeldData, HelloData, ModelData, NoData, ReadData,
        SetDirectoryData, SubscribeData, ToolData, TopicData, WakeData, WhoData, WhoUser,
    },
    error::{EncodeError, FrameError, RequestError, no_such_channel, not_joined},
    frame::{Frame, Response, Whisper},
    id::RequestId,
    request::{Command, Form, IfAbsent, Lines, ModelChoice, Refused, Request, Token},
};

mod data;
mod error;
mod frame;
mod id;
mod object;
mod request;

/// The version that `hello` tells; raised when a frame changes in a way that a reader of the one
/// before would misread.
pub const VERSION: u32 = 1;
/// The longest request, in bytes without its line end. Responses to culture's commands keep to it
/// too: culture's clients read lines of at most this length.
pub const LINE_MAX: usize = 65_536;
/// The longest frame that our client reads, in bytes without its line end.
pub const FRAME_MAX: usize = 4 * 1024 * 1024;
/// The longest request id, in bytes.
pub const ID_MAX: usize = 128;
/// The longest token, in bytes.
pub const TOKEN_MAX: usize = 512;
/// The connections that a daemon serves at once.
pub const CONNECTIONS_MAX: usize = 256;
/// The requests of one connection that are under way at once.
pub const IN_FLIGHT_MAX: usize = 8;
/// The seconds in which a line that has begun must be complete.
pub const LINE_SECONDS: u64 = 10;
/// The messages that `irc_read` gives when no `limit` is asked for (R1-19).
pub const READ_LIMIT: u32 = 50;
/// The largest `limit` of `irc_read`; a higher one is taken as this.
pub const READ_LIMIT_MAX: u32 = 500;
/// The seconds that `irc_ask` waits when no `timeout` is asked for (R1-20).
pub const ASK_SECONDS: u32 = 300;
/// The longest `timeout` of `irc_ask`, in seconds; a higher one is taken as this.
pub const ASK_SECONDS_MAX: u32 = 86_400;
