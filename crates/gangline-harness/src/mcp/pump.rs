//! What a server's program writes, on its way to the library, line by line: what it could not read
//! is replaced by what [`super::unread`] makes of it, and everything else goes through as it is.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use gangline_os::lines::{Line, LineReader};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::unread::{instead_of, instead_of_tail, readable};
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
            Line::Text(text) => pass(text, &mut passed_over),
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

/// Returns the line as it goes on; the library passes over what is no message.
fn pass(text: String, passed_over: &mut u64) -> String {
    readable(text).unwrap_or_else(|unread| {
        if let Some(why) = unread.why {
            *passed_over += 1;
            if *passed_over == 1 {
                tracing::warn!(%why, "an MCP server wrote a line that is no message");
            }
        }
        unread.text
    })
}
