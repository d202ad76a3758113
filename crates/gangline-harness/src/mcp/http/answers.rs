//! Bytes of a server to messages that the library reads. Pure. Start at [`Answers`] and [`whole`].

use gangline_os::json;
use rmcp::model::ServerJsonRpcMessage;
use serde_json::Value;
use sse_stream::Sse;

use super::super::unread::{Unread, instead_of, readable, unreadable};
use crate::client::sse::{Decoder, Event};

/// Reads a stream of events.
#[derive(Debug)]
pub(super) struct Answers {
    decoder: Decoder,
    /// The request that the stream answers.
    asked: Option<Value>,
    /// Why something in it was no message.
    unread: Option<String>,
    /// What is still to be said at its end.
    last: Option<Sse>,
}

impl Answers {
    /// Prepares for a stream with events of at most `limit` bytes.
    pub(super) fn new(limit: usize, asked: Option<Value>) -> Self {
        Self { decoder: Decoder::new(limit), asked, unread: None, last: None }
    }

    /// Takes a chunk; what it completes is then had from [`next`](Self::next).
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.decoder.push(chunk);
    }

    /// Takes the end of the stream. A request whose answer was perhaps what could not be read gets an
    /// error; the library has taken the first answer, if there was one.
    pub(super) fn end(&mut self) {
        if let (Some(asked), Some(why)) = (self.asked.take(), self.unread.take()) {
            self.last = Some(message(unreadable(&asked, &why)));
        }
    }

    /// Returns the next event.
    pub(super) fn next(&mut self) -> Option<Sse> {
        match self.decoder.next() {
            Some(Ok(event)) => Some(self.event(event)),
            Some(Err(error)) => Some(self.instead(&error.begins, &error.to_string())),
            None => self.last.take(),
        }
    }

    fn event(&mut self, event: Event) -> Sse {
        let Event { name, data, id, retry } = event;
        let sse = Sse { event: Some(name).filter(|name| !name.is_empty()), data: None, id, retry };
        let is_message = matches!(sse.event.as_deref(), None | Some("message"));
        let data = match data.filter(|data| !data.trim().is_empty()) {
            Some(data) if is_message => self.read(data),
            other => other,
        };
        Sse { data, ..sse }
    }

    fn read(&mut self, data: String) -> Option<String> {
        match readable(data) {
            Ok(text) => Some(match &self.asked {
                Some(asked) => with_id(text, asked),
                None => text,
            }),
            Err(Unread { text, why }) => {
                if json::find_text(&text, &["method"]).is_none() {
                    let why = why.unwrap_or_else(|| "it has no id".to_owned());
                    if self.unread.is_none() {
                        tracing::warn!(%why, "an MCP server sent an event that is no message");
                    }
                    self.unread = Some(why);
                }
                None
            }
        }
    }

    /// Returns what stands in place of an event that is too long.
    fn instead(&self, begins: &str, why: &str) -> Sse {
        let text = instead_of(begins, why).or_else(|| {
            let is_told = json::find_text(begins, &["method"]).is_some();
            self.asked.as_ref().filter(|_| !is_told).map(|asked| unreadable(asked, why))
        });
        tracing::warn!(%why, "an MCP server sent what is too long");
        text.map(message).unwrap_or_default()
    }
}

fn message(text: String) -> Sse {
    Sse::default().data(text)
}

/// Reads a body that is the answer to a request; what cannot be read becomes an error.
///
/// # Errors
/// Never, as far as is known.
pub(super) fn whole(body: &[u8], asked: &Value) -> serde_json::Result<ServerJsonRpcMessage> {
    let text = match readable(String::from_utf8_lossy(body).into_owned()) {
        Ok(text) => with_id(text, asked),
        Err(Unread { why, .. }) => {
            unreadable(asked, &why.unwrap_or_else(|| "it is no message".to_owned()))
        }
    };
    serde_json::from_str(&text)
}

/// Reads a body that says why a request is refused; nothing if it is no error of the protocol.
pub(super) fn refusal(body: &[u8], asked: &Value) -> Option<ServerJsonRpcMessage> {
    let text = with_id(String::from_utf8_lossy(body).into_owned(), asked);
    let message = json::from_str(&text).ok()?;
    matches!(message, ServerJsonRpcMessage::Error(_)).then_some(message)
}

/// Returns a message; an error that names no request is one of the request that it answers.
fn with_id(text: String, asked: &Value) -> String {
    if json::find(&text, &["id"]).is_some() {
        return text;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(mut error))
            if error.contains_key("error") && error.get("id").is_none_or(Value::is_null) =>
        {
            error.insert("id".to_owned(), asked.clone());
            Value::Object(error).to_string()
        }
        Ok(_) | Err(_) => text,
    }
}
