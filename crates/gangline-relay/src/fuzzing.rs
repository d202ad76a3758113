//! What must hold for any response of a model's API. For the fuzz targets of the repository and for
//! tests; no part of a build without the feature `fuzzing`.

#[cfg(test)]
mod tests;

use gangline_core::{price::Tokens, usage::TOKENS_MAX};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

use crate::{count::Counting, wire::Wire};

/// What a response tells, so that it can be compared.
type Told = (String, Option<Tokens>, String);

/// The tokens of a response. The first byte says how the body is cut, the second which interface it
/// is of and whether it is a stream. The pieces change nothing, and no count is beyond belief.
pub fn usage(bytes: &[u8]) {
    let [cut, kind, body @ ..] = bytes else { return };
    let wire = match kind % 5 {
        0 => Wire::Anthropic,
        1 => Wire::Chat,
        2 => Wire::Responses,
        3 => Wire::Gemini,
        _ => Wire::Other,
    };
    let is_stream = kind % 2 == 0;
    let whole = read(wire, is_stream, [body]);
    // Of a body that is not JSON a part may be.
    if is_stream || serde_json::from_slice::<Value>(body).is_ok() {
        let pieces = read(wire, is_stream, body.chunks(usize::from(*cut) + 1));
        assert_eq!(whole, pieces, "it depends on the pieces");
    }
    if let Some(tokens) = whole.1 {
        let Tokens { input, output, cache_read, cache_write, cache_write_hour } = tokens;
        for count in [input, output, cache_read, cache_write, cache_write_hour] {
            assert!(count <= TOKENS_MAX, "{tokens:?}");
        }
    }
}

fn read<'a>(wire: Wire, is_stream: bool, pieces: impl IntoIterator<Item = &'a [u8]>) -> Told {
    let kind = if is_stream { "text/event-stream" } else { "application/json" };
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
    let mut counting = Counting::new(wire, &headers);
    for piece in pieces {
        counting.piece(piece);
    }
    counting.end();
    (counting.model, counting.tokens, format!("{:?}", counting.fault))
}
