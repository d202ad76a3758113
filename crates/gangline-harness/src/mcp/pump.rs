//! What a server's program writes, on its way to the library: the library passes over what it
//! cannot read, and the call that waits for it would wait until its time is over.
//!
//! Half a character becomes U+FFFD. An answer that cannot be read, or is too long, becomes an error
//! of the same id, and a request a refusal. Everything else goes through as it is.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use gangline_os::json;
use gangline_os::lines::{Line, LineReader};
use rmcp::model::ServerJsonRpcMessage;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::watched::Watched;

#[cfg(test)]
mod tests;

/// Passes lines on until one of both ends is closed. A line of which nothing can be made closes it:
/// whoever waits hears of that at once; `said` then has the reason.
pub(super) async fn pump<R, W>(from: R, mut to: W, limit: usize, said: Arc<Mutex<String>>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = LineReader::new(Watched::new(from, limit), limit);
    let mut passed_over = 0_u64;
    while let Ok(Some(line)) = lines.next().await {
        let line = match line {
            Line::Text(text) => readable(text, &mut passed_over),
            Line::Oversize { kept, bytes } => {
                let tail = lines.get_mut().tail();
                let why = format!("it has {bytes} bytes, and {limit} can be read");
                match instead_of(&kept, &why).or_else(|| instead_of_tail(&tail, &why)) {
                    Some(line) => line,
                    None => {
                        let text = format!("a message was too long: {why}");
                        *said.lock().unwrap_or_else(PoisonError::into_inner) = text;
                        break;
                    }
                }
            }
        };
        if write(&mut to, line).await.is_err() {
            break;
        }
    }
    if passed_over > 0 {
        tracing::warn!(passed_over, "an MCP server wrote lines that are no messages");
    }
}

async fn write<W: AsyncWrite + Unpin>(to: &mut W, mut line: String) -> io::Result<()> {
    line.push('\n');
    to.write_all(line.as_bytes()).await
}

/// Returns the line in a form that the library reads, if it is a message.
fn readable(text: String, passed_over: &mut u64) -> String {
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let read = |text: &str| serde_json::from_str::<ServerJsonRpcMessage>(text).map(drop);
    let Err(first) = read(&text) else { return text };
    let mended = json::without_halves(&text).map(|(text, _)| text);
    let text = match mended {
        Some(mended) if read(&mended).is_ok() => return mended,
        Some(mended) => mended,
        None => text,
    };
    // The library knows more forms of what is told than its types.
    let id = serde_json::from_str::<Value>(&text).ok().map(|it| it.get("id").cloned());
    if id == Some(None) {
        return text;
    }
    instead_of(&text, &first.to_string()).unwrap_or_else(|| {
        *passed_over += 1;
        if *passed_over == 1 {
            tracing::warn!("an MCP server wrote a line that is no message");
        }
        text
    })
}

/// Returns what stands in place of a message that cannot be read, if somebody waits for it.
fn instead_of(text: &str, why: &str) -> Option<String> {
    let id: Value = serde_json::from_str(json::find(text, &["id"])?).ok()?;
    Some(match json::find_text(text, &["method"]) {
        // The library refuses what it does not know.
        Some(_) => json!({"jsonrpc": "2.0", "id": id, "method": "gangline/unreadable"}).to_string(),
        None => unreadable(&id, why),
    })
}

/// The same by the end of a message: many servers write the id last. It counts if nothing but the
/// version stands behind it.
fn instead_of_tail(tail: &str, why: &str) -> Option<String> {
    let inner = tail.trim_end().strip_suffix('}')?;
    let (_, rest) = inner.rsplit_once("\"id\":")?;
    let (id, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let version: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    let id: Value = serde_json::from_str(id.trim()).ok()?;
    let whole = (id.is_number() || id.is_string())
        && (version.is_empty() || version == "\"jsonrpc\":\"2.0\"");
    whole.then(|| unreadable(&id, why))
}

fn unreadable(id: &Value, why: &str) -> String {
    let message = format!("the answer cannot be read: {why}");
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32_700, "message": message}}).to_string()
}
