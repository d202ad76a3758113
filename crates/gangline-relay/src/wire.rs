//! Whose interface a request is for: told by its path. What a refusal looks like there.

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
    /// Something else of the same API: it goes through, and has no tokens.
    Other,
}

impl Wire {
    /// Returns the interface of a path.
    pub(crate) fn of(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        let call = path.rsplit_once(':').map(|(_, call)| call);
        if let Some("generateContent" | "streamGenerateContent") = call {
            return Self::Gemini;
        }
        match path {
            _ if path.ends_with("/messages") => Self::Anthropic,
            _ if path.ends_with("/chat/completions") => Self::Chat,
            _ if path.ends_with("/responses") => Self::Responses,
            _ => Self::Other,
        }
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
            ("/v1/messages/count_tokens", Wire::Other),
            ("/v1/chat/completions", Wire::Chat),
            ("/openai/v1/responses", Wire::Responses),
            ("/v1beta/models/gemini-2.5-flash:generateContent", Wire::Gemini),
            ("/v1beta/models/gemini-2.5-flash:streamGenerateContent", Wire::Gemini),
            ("/v1beta/models/gemini-2.5-flash:countTokens", Wire::Other),
            ("/v1/models", Wire::Other),
        ] {
            assert_eq!(Wire::of(path), wire, "{path}");
        }
    }

    #[test]
    fn a_refusal_has_the_vendors_form() {
        let of = |path: &str| Wire::of(path).refusal(path, 400, "spent");
        assert_eq!(of("/v1/messages")["error"]["message"], "spent");
        assert_eq!(of("/v1/messages")["type"], "error");
        assert_eq!(of("/v1/responses")["error"]["code"], "budget_spent");
        assert_eq!(of("/v1/responses")["error"]["type"], "invalid_request_error");
        assert_eq!(of("/v1beta/models/g:generateContent")["error"]["code"], 400);
        assert_eq!(of("/v1beta/models/g:countTokens")["error"]["status"], "FAILED_PRECONDITION");
    }
}
