//! What stands in place of a message that the library could not read: it passes over such a message,
//! and the call that waits for it would wait until its time is over.
//!
//! Half a character becomes U+FFFD. An answer that cannot be read, or is too long, becomes an error
//! of the same id, and a request a refusal. Pure. Start at [`readable`].

use gangline_os::json;
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use serde_json::{Value, json};

/// A text that nobody waits for, and of which nothing can be made.
#[derive(Debug)]
pub(super) struct Unread {
    /// The text.
    pub(super) text: String,
    /// Why it is no message; nothing if it may be one that is told in a form that is not known here.
    pub(super) why: Option<String>,
}

/// Returns a text in a form that the library reads.
///
/// # Errors
/// It is no message. What is told without an id may be one for the library all the same, since it
/// knows more forms of it than its types.
pub(super) fn readable(text: String) -> Result<String, Unread> {
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let read = |text: &str| serde_json::from_str::<ServerJsonRpcMessage>(text).map(drop);
    let Err(first) = read(&text) else { return Ok(text) };
    let mended = json::without_halves(&text).map(|(text, _)| text);
    let text = match mended {
        Some(mended) if read(&mended).is_ok() => return Ok(mended),
        Some(mended) => mended,
        None => text,
    };
    let id = serde_json::from_str::<Value>(&text).ok().map(|it| it.get("id").cloned());
    if id == Some(None) {
        return Err(Unread { text, why: None });
    }
    let why = first.to_string();
    instead_of(&text, &why).ok_or(Unread { text, why: Some(why) })
}

/// Returns what stands in place of a message that cannot be read, if somebody waits for it.
pub(super) fn instead_of(text: &str, why: &str) -> Option<String> {
    let id = id(json::find(text, &["id"])?)?;
    Some(match json::find_text(text, &["method"]) {
        // The library refuses what it does not know.
        Some(_) => json!({"jsonrpc": "2.0", "id": id, "method": "gangline/unreadable"}).to_string(),
        None => unreadable(&id, why),
    })
}

/// The same by the end of a message: many servers write the id last. It counts if nothing but the
/// version stands behind it.
pub(super) fn instead_of_tail(tail: &str, why: &str) -> Option<String> {
    let inner = tail.trim_end().strip_suffix('}')?;
    let (_, rest) = inner.rsplit_once("\"id\":")?;
    let (id, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let version: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    let id = self::id(id.trim())?;
    let whole = version.is_empty() || version == "\"jsonrpc\":\"2.0\"";
    whole.then(|| unreadable(&id, why))
}

/// Returns an id as the library reads it; another one would be passed over with all that has it.
fn id(text: &str) -> Option<Value> {
    let id: RequestId = serde_json::from_str(text).ok()?;
    serde_json::to_value(id).ok()
}

/// Returns the error that is the answer to the request of this id.
pub(super) fn unreadable(id: &Value, why: &str) -> String {
    let message = format!("the answer cannot be read: {why}");
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32_700, "message": message}}).to_string()
}
