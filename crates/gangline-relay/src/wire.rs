//! What a request is for: told by its method and its path. What a refusal looks like there.
//!
//! Servers differ in how they read a path. So it is compared as the most lenient of them would read it, and a
//! path that two servers may read differently is passed to none. Start at [`Asked::of`].

use hyper::Method;
use serde_json::{Value, json};

/// An interface to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Gemini's content generation.
    Gemini,
    /// Something else of the same API.
    Other,
}

/// What a request costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Nothing, whatever it says: a list of models, a count of tokens. It passes a spent budget.
    Free,
    /// Nothing by itself, as far as we know: it only looks. A spent budget refuses it.
    Look,
    /// A call: it is counted.
    Call,
}

/// What a request asks of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) wire: Wire,
    pub(crate) cost: Cost,
}

/// Endings of the paths at which tokens are counted and nothing is generated.
const COUNTS: [&str; 3] = ["/messages/count_tokens", "/responses/input_tokens", ":counttokens"];
/// What a path may not have once it is decoded: servers disagree about what follows.
const ODD: [char; 4] = ['%', '\\', '?', '#'];

impl Asked {
    /// Returns what is asked; `None` if servers may read the path differently.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        let path = plain(path)?;
        let wire = Wire::of(&path);
        let looks = [Method::GET, Method::HEAD].contains(method);
        let cost = match wire {
            Wire::Other if looks && is_of_models(&path) => Cost::Free,
            Wire::Other if COUNTS.iter().any(|end| path.ends_with(end)) => Cost::Free,
            Wire::Other if looks => Cost::Look,
            _ => Cost::Call,
        };
        Some(Self { wire, cost })
    }
}

/// Returns a path as the most lenient server reads it: decoded, in small letters, without parameters and
/// empty parts.
fn plain(path: &str) -> Option<String> {
    let decoded = decoded(path)?;
    if decoded.contains(ODD) || decoded.chars().any(|it| !it.is_ascii_graphic()) {
        return None;
    }
    let mut plain = String::new();
    for part in decoded.split('/') {
        match part.split(';').next().unwrap_or_default() {
            "" => {}
            "." | ".." => return None,
            part => {
                plain.push('/');
                plain.push_str(&part.to_ascii_lowercase());
            }
        }
    }
    Some(plain)
}

/// Decodes `%2F` and its like, once.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = path.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

/// Returns whether a path is the list of models, or one of the list.
fn is_of_models(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (last, before) = (parts.next().unwrap_or_default(), parts.next());
    last == "models" || (before == Some("models") && !last.contains(':'))
}

impl Wire {
    /// Returns the interface of a plain path.
    fn of(path: &str) -> Self {
        let call = path.rsplit_once(':').map(|(_, call)| call);
        if let Some("generatecontent" | "streamgeneratecontent") = call {
            return Self::Gemini;
        }
        match path {
            _ if path.ends_with("/messages") => Self::Anthropic,
            _ if path.ends_with("/chat/completions") => Self::Chat,
            _ if path.ends_with("/responses") => Self::Responses,
            _ => Self::Other,
        }
    }

    /// Returns the interface whose form a refusal has at a path that is not passed on.
    pub(crate) fn likely(path: &str) -> Self {
        plain(path).map_or(Self::Other, |path| Self::of(&path))
    }

    /// Returns the body of a refusal in the vendor's own form, so that the backend shows its text.
    pub(crate) fn refusal(self, path: &str, status: u16, text: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            413 => "request_too_large",
            424 | 502 => "api_error",
            _ => "invalid_request_error",
        };
        let gemini = self == Self::Gemini || path.contains(':') || path.contains("/v1beta/");
        match self {
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": kind, "message": text}})
            }
            _ if gemini => {
                let word = match status {
                    401 => "UNAUTHENTICATED",
                    403 => "PERMISSION_DENIED",
                    502 => "UNAVAILABLE",
                    _ => "FAILED_PRECONDITION",
                };
                json!({"error": {"code": status, "message": text, "status": word}})
            }
            Self::Chat | Self::Responses | Self::Other | Self::Gemini => {
                let code = if status == 400 { "budget_spent" } else { kind };
                json!({"error": {"message": text, "type": kind, "param": null, "code": code}})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! Paths and refusals.

    use super::*;

    #[test]
    fn a_path_tells_the_interface() {
        for (path, wire) in [
            ("/v1/messages", Wire::Anthropic),
            ("/v1/messages/", Wire::Anthropic),
            ("/V1/Messages", Wire::Anthropic),
            ("/v1/m%65ssages", Wire::Anthropic),
            ("/v1%2fmessages", Wire::Anthropic),
            ("//v1///messages", Wire::Anthropic),
            ("/v1/messages;a=b", Wire::Anthropic),
            ("/v1;x/messages;", Wire::Anthropic),
            ("/v1/messages/count_tokens", Wire::Other),
            ("/v1/messages/batches", Wire::Other),
            ("/v1/chat/completions", Wire::Chat),
            ("/v1/chat%2FCompletions", Wire::Chat),
            ("/openai/v1/responses", Wire::Responses),
            ("/v1beta/models/gemini-2.5-flash:generateContent", Wire::Gemini),
            ("/v1beta/models/gemini-2.5-flash%3AGENERATEcontent", Wire::Gemini),
            ("/v1beta/models/gemini-2.5-flash:streamGenerateContent", Wire::Gemini),
            ("/v1beta/models/gemini-2.5-flash:countTokens", Wire::Other),
            ("/v1/models", Wire::Other),
        ] {
            assert_eq!(Asked::of(&Method::POST, path).map(|it| it.wire), Some(wire), "{path}");
        }
    }

    /// A spent budget refuses all but what is free; what is a call is counted.
    #[test]
    fn what_a_request_costs_is_told_by_its_method_and_path() {
        let get = Method::GET;
        for (method, path, cost) in [
            (&get, "/v1/models", Cost::Free),
            (&get, "/v1/models/claude-x", Cost::Free),
            (&Method::HEAD, "/v1/models", Cost::Free),
            (&get, "/v1beta/models/gemini-x", Cost::Free),
            (&Method::POST, "/v1/messages/count_tokens", Cost::Free),
            (&Method::POST, "/v1/responses/input_tokens", Cost::Free),
            (&Method::POST, "/v1beta/models/g:countTokens", Cost::Free),
            (&get, "/v1/files/f/content", Cost::Look),
            (&get, "/v1/messages/batches/b/results", Cost::Look),
            (&get, "/", Cost::Look),
            (&get, "/v1/messages", Cost::Call),
            (&Method::POST, "/v1/models", Cost::Call),
            (&Method::PUT, "/v1/models/x", Cost::Call),
            (&Method::DELETE, "/v1/files/f", Cost::Call),
            (&Method::POST, "/v1/messages/batches", Cost::Call),
            (&Method::POST, "/v1/embeddings", Cost::Call),
            (&Method::POST, "/v1/completions", Cost::Call),
            (&Method::POST, "/v1/complete", Cost::Call),
            (&Method::POST, "/v1/images/generations", Cost::Call),
            (&Method::POST, "/v1/audio/speech", Cost::Call),
            (&Method::POST, "/v1/batches", Cost::Call),
            (&Method::POST, "/v1/fine_tuning/jobs", Cost::Call),
            (&Method::POST, "/v1/messages/count_tokens/x", Cost::Call),
            (&Method::POST, "/v1/count_tokens", Cost::Call),
            (&get, "/v1beta/models/g:generateContent", Cost::Call),
            (&get, "/v1beta/models/g:predict", Cost::Look),
            (&Method::POST, "/v1beta/models/g:batchGenerateContent", Cost::Call),
        ] {
            assert_eq!(Asked::of(method, path).map(|it| it.cost), Some(cost), "{method} {path}");
        }
    }

    #[test]
    fn a_path_that_servers_may_read_differently_is_passed_to_none() {
        for path in [
            "/v1/models/../messages",
            "/v1/models/%2e%2e/messages",
            "/v1/models/.%2E/messages",
            "/v1/./messages",
            "/v1/m%2565ssages",
            "/v1/messages%20",
            "/v1/messages%09",
            "/v1/messages%00/count_tokens",
            "/v1/messages%3f/count_tokens",
            "/v1/messages%23/count_tokens",
            "/v1\\messages",
            "/v1%5Cmessages",
            "/v1/%",
            "/v1/%6",
            "/v1/%zz",
            "/v1/%c3%a9",
            "/v1/%ff",
            "/v1/messages/..;/models",
        ] {
            assert_eq!(Asked::of(&Method::GET, path), None, "{path}");
        }
    }

    #[test]
    fn a_refusal_has_the_vendors_form() {
        let of = |path: &str| Wire::likely(path).refusal(path, 400, "spent");
        assert_eq!(of("/v1/messages")["error"]["message"], "spent");
        assert_eq!(of("/v1/messages")["type"], "error");
        assert_eq!(of("/v1/responses")["error"]["code"], "budget_spent");
        assert_eq!(of("/v1/responses")["error"]["type"], "invalid_request_error");
        assert_eq!(of("/v1beta/models/g:generateContent")["error"]["code"], 400);
        assert_eq!(of("/v1beta/models/g:countTokens")["error"]["status"], "FAILED_PRECONDITION");
    }
}
