//! What a request is for, by its method, path and headers.
//!
//! Clients put the paths of the OpenAI and Gemini wires behind a base of their own, so those are
//! known by their ends.

use axum::http::{Method, header, request::Parts};

use super::{Form, Vendor};

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint<'a> {
    /// Whether there is anybody.
    Alive,
    /// An answer on the Messages wire.
    Messages,
    /// The size of a request of the Messages wire.
    CountMessages,
    /// An answer on the Chat Completions wire.
    Chat,
    /// An answer on the Responses wire.
    Responses,
    /// The Responses wire over a WebSocket, which is not spoken here.
    Socket,
    /// An answer on the Gemini wire.
    Generate {
        /// The model, which is in the path.
        model: &'a str,
        /// The form of the answer.
        form: Form,
    },
    /// The size of a request of the Gemini wire.
    CountContents {
        /// The model.
        model: &'a str,
    },
    /// The list of models.
    Models,
    /// One model.
    Model(&'a str),
    /// A path that is known, by a method that it does not have.
    WrongMethod,
    /// Nothing of ours.
    Unknown,
}

/// A request's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// Whose form refusals have.
    pub(crate) vendor: Vendor,
    /// What is called.
    pub(crate) endpoint: Endpoint<'a>,
}

impl<'a> Route<'a> {
    pub(crate) fn of(parts: &'a Parts) -> Self {
        let path = parts.uri.path().trim_end_matches('/');
        let post = |endpoint| match parts.method {
            Method::POST => endpoint,
            _ => Endpoint::WrongMethod,
        };
        let get = |endpoint| match parts.method {
            Method::GET | Method::HEAD => endpoint,
            _ => Endpoint::WrongMethod,
        };
        let to = |vendor, endpoint| Self { vendor, endpoint };
        if let Some(endpoint) = gemini(path, parts.uri.query()) {
            return to(Vendor::Gemini, post(endpoint));
        }
        match path {
            "" => to(Vendor::Anthropic, get(Endpoint::Alive)),
            "/v1/messages" => to(Vendor::Anthropic, post(Endpoint::Messages)),
            "/v1/messages/count_tokens" => to(Vendor::Anthropic, post(Endpoint::CountMessages)),
            _ if path.ends_with("/chat/completions") => to(Vendor::OpenAi, post(Endpoint::Chat)),
            _ if path.ends_with("/responses") && wants_a_socket(parts) => {
                to(Vendor::OpenAi, Endpoint::Socket)
            }
            _ if path.ends_with("/responses") => to(Vendor::OpenAi, post(Endpoint::Responses)),
            _ => to(guess(parts), models(path).map_or(Endpoint::Unknown, get)),
        }
    }
}

/// Reads `…/models/MODEL:CALL`.
fn gemini<'a>(path: &'a str, query: Option<&str>) -> Option<Endpoint<'a>> {
    let (before, call) = path.rsplit_once(':')?;
    let (base, model) = before.rsplit_once('/')?;
    let events = || query.unwrap_or("").split('&').any(|pair| pair == "alt=sse");
    match call {
        _ if !base.ends_with("/models") => None,
        "generateContent" => Some(Endpoint::Generate { model, form: Form::Whole }),
        "streamGenerateContent" => {
            let form = if events() { Form::Events } else { Form::List };
            Some(Endpoint::Generate { model, form })
        }
        "countTokens" => Some(Endpoint::CountContents { model }),
        // Elsewhere a model's name may have a colon.
        _ => path.starts_with("/v1beta").then_some(Endpoint::Unknown),
    }
}

fn models(path: &str) -> Option<Endpoint<'_>> {
    if path.ends_with("/models") {
        return Some(Endpoint::Models);
    }
    let (_, id) = path.split_once("/models/")?;
    Some(Endpoint::Model(id))
}

fn wants_a_socket(parts: &Parts) -> bool {
    let upgrade = parts.headers.get(header::UPGRADE);
    upgrade.is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Tells the vendor of a path that several have, or none: by the path's version, else by how the
/// client says who it is.
fn guess(parts: &Parts) -> Vendor {
    let path = parts.uri.path();
    let has = |name: &str| parts.headers.contains_key(name);
    let key_in_query = || {
        let query = parts.uri.query().unwrap_or("");
        query.split('&').any(|pair| pair.starts_with("key="))
    };
    if path.contains("/openai") {
        return Vendor::OpenAi;
    }
    if path.starts_with("/v1beta") || path.starts_with("/v1alpha") {
        return Vendor::Gemini;
    }
    if has("anthropic-version") || has("x-api-key") {
        return Vendor::Anthropic;
    }
    if has("x-goog-api-key") || key_in_query() {
        return Vendor::Gemini;
    }
    match has("authorization") || has("api-key") {
        true => Vendor::OpenAi,
        false => Vendor::Anthropic,
    }
}
