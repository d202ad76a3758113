//! What must hold for any bytes of a model's API and of an MCP server. For the fuzz targets of the
//! repository and for tests; no part of a build without the feature `fuzzing`.
//!
//! The first byte of an input says how the rest is cut into pieces.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "all of this is a test")]

#[cfg(test)]
mod tests;

use crate::client::{
    accumulate::{Accumulator, Step},
    sse::Decoder,
};

pub use crate::mcp::fuzzing::{mcp_http, mcp_stdio};

/// So much of one event is read, in bytes.
const EVENT_MAX: usize = 2048;
/// The most tokens that are believed.
const TOKENS_MAX: u64 = 1_000_000_000;

/// A response of a model's API, as a stream of events: the pieces change nothing, and no number is
/// beyond belief.
pub fn sse(bytes: &[u8]) {
    let Some((cut, stream)) = bytes.split_first() else { return };
    let whole = read([stream]);
    let pieces = read(stream.chunks(usize::from(*cut) + 1));
    assert_eq!(whole, pieces, "it depends on the pieces");
    for step in &whole {
        if let Ok(Step::End(response)) = step {
            let usage = &response.usage;
            let counts = [
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_creation_input_tokens,
                usage.cache_read_input_tokens,
            ];
            assert!(counts.iter().all(|count| *count <= TOKENS_MAX), "{usage:?}");
        }
    }
}

/// Returns what a response comes to: its blocks, and its end or its fault.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<Step, String>> {
    let (mut decoder, mut blocks) = (Decoder::new(EVENT_MAX), Accumulator::default());
    let mut steps = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next() {
            let step = match event {
                Err(error) => Err(error.to_string()),
                Ok(event) => {
                    let Some(data) = event.data else { continue };
                    match blocks.feed(&event.name, &data) {
                        Ok(None) => continue,
                        Ok(Some(step)) => Ok(step),
                        Err(error) => Err(error.to_string()),
                    }
                }
            };
            let is_last = !matches!(step, Ok(Step::Block(_)));
            steps.push(step);
            if is_last {
                return steps;
            }
        }
    }
    steps.push(blocks.end_of_stream().map_err(|error| error.to_string()));
    steps
}
