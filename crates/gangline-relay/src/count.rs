//! What a response tells of its tokens: pure. Start at [`Counting`].

use std::fmt;

use gangline_core::{budget::CallOutcome, price::Tokens, usage::TOKENS_MAX};
use gangline_os::json;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::{READ_MAX, sse::Events, wire::Wire};

/// Reads a response's body as it goes by.
#[derive(Debug)]
pub(crate) struct Counting {
    wire: Wire,
    form: Form,
    /// The model, once the response has told it.
    pub(crate) model: String,
    /// The tokens so far.
    pub(crate) tokens: Option<Tokens>,
    /// What the error comes to that the body holds, if it holds one.
    pub(crate) fault: Option<CallOutcome>,
    /// Something was told since the last piece.
    news: bool,
}

/// What the vendors say when a prompt is too long for the model.
const TOO_LONG: [&str; 5] = [
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "exceed context limit",
    "exceeds the maximum number of tokens",
];

#[derive(Debug)]
enum Form {
    Events(Events),
    /// The body so far, and how long it will be, if the headers say so.
    Whole(Vec<u8>, Option<usize>),
    /// Not to be read, or too long.
    Unread,
}

impl Counting {
    /// Prepares for a response with these headers.
    pub(crate) fn new(wire: Wire, headers: &HeaderMap) -> Self {
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        let encoded = headers.get(CONTENT_ENCODING).is_some_and(|how| how != "identity");
        let form = match wire {
            _ if encoded => Form::Unread,
            _ if kind.starts_with("text/event-stream") => Form::Events(Events::default()),
            _ => Form::Whole(Vec::new(), length),
        };
        Self { wire, form, model: String::new(), tokens: None, fault: None, news: false }
    }

    /// Reads a piece of the body, and returns whether it told something.
    pub(crate) fn piece(&mut self, piece: &[u8]) -> bool {
        let mut form = std::mem::replace(&mut self.form, Form::Unread);
        match &mut form {
            Form::Events(events) => {
                events.feed(piece, |data| self.told(data));
            }
            Form::Whole(body, length) if body.len() + piece.len() <= READ_MAX => {
                body.extend_from_slice(piece);
                // Who waits for the whole has it with this piece, and may ask anew at once.
                let last = piece.trim_ascii_end().last();
                if length.map_or(matches!(last, Some(b'}' | b']')), |length| body.len() >= length) {
                    self.whole(body);
                }
            }
            Form::Whole(..) | Form::Unread => form = Form::Unread,
        }
        self.form = form;
        std::mem::take(&mut self.news)
    }

    /// Reads what was left for the end of the body, and returns whether it told something.
    pub(crate) fn end(&mut self) -> bool {
        match std::mem::replace(&mut self.form, Form::Unread) {
            Form::Whole(body, _) => self.whole(&body),
            Form::Events(events) => self.told(&events.bare()),
            Form::Unread => {}
        }
        std::mem::take(&mut self.news)
    }

    fn whole(&mut self, body: &[u8]) {
        match body.first() {
            // Gemini's stream without events: one list.
            Some(b'[') => {
                let text = &*String::from_utf8_lossy(body);
                let all: Vec<Value> = json::from_str(text).unwrap_or_default();
                all.iter().map(Told::lenient).for_each(|told| self.take(told, text));
            }
            Some(_) => self.told(body),
            None => {}
        }
    }

    fn told(&mut self, data: &[u8]) {
        let text = &*String::from_utf8_lossy(data);
        let has = |word: &str| text.contains(word);
        // Most events are pieces of text. `usageMetadata` has the word too.
        if (has("\"usage") || has("\"error") || (self.model.is_empty() && has("\"model")))
            && let Some(told) = Told::read(text)
        {
            self.take(told, text);
        }
    }

    /// Takes what a text told.
    fn take(&mut self, told: Told, text: &str) {
        self.news = true;
        let Told { message, response, usage, usage_metadata, model, model_version, .. } = &told;
        if let Some(fault) = told.fault(text) {
            self.fault = Some(fault);
        }
        let inner = message.as_ref().or(response.as_ref());
        let inner_model = inner.and_then(|inner| inner.model.as_ref());
        for model in [model.as_ref(), model_version.as_ref(), inner_model].into_iter().flatten() {
            self.model.clone_from(model);
        }
        if let Some(usage) = usage.as_ref().or_else(|| inner?.usage.as_ref()) {
            let before = self.tokens.unwrap_or_default();
            self.tokens = Some(usage.tokens(self.wire, before).bounded());
        }
        if let Some(usage) = usage_metadata {
            self.tokens = Some(usage.tokens().bounded());
        }
    }
}

/// What any of the interfaces may tell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// A message of Anthropic's; OpenAI's errors have their sentence here.
    #[serde(deserialize_with = "inner")]
    message: Option<Inner>,
    response: Option<Inner>,
    usage: Option<Usage>,
    #[serde(rename = "usageMetadata")]
    usage_metadata: Option<GeminiUsage>,
    model: Option<String>,
    #[serde(rename = "modelVersion")]
    model_version: Option<String>,
    error: Option<Value>,
    code: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Inner {
    model: Option<String>,
    usage: Option<Usage>,
    error: Option<Value>,
}

impl Inner {
    fn lenient(told: &Value) -> Self {
        let error = told.get("error").filter(|it| !it.is_null()).cloned();
        let usage = told.get("usage").and_then(Usage::lenient);
        Self { model: part(told, "model"), usage, error }
    }
}

/// Reads one part of an object; `None` if it is not there, or of another type.
fn part<T: DeserializeOwned>(told: &Value, key: &str) -> Option<T> {
    T::deserialize(told.get(key)?).ok()
}

/// Reads an object; anything else is nothing.
fn inner<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Inner>, D::Error> {
    struct Object;
    impl<'de> Visitor<'de> for Object {
        type Value = Option<Inner>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object or a text")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<Inner>, A::Error> {
            Inner::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }

        fn visit_str<E>(self, _text: &str) -> Result<Option<Inner>, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Option<Inner>, E> {
            Ok(None)
        }
    }
    from.deserialize_any(Object)
}

impl Told {
    /// Reads a text. If a part of it is of another type than it has at any vendor's, the others count.
    fn read(text: &str) -> Option<Self> {
        let strict = json::from_str::<Self>(text).ok();
        strict.or_else(|| json::from_str::<Value>(text).ok().map(|value| Self::lenient(&value)))
    }

    fn lenient(told: &Value) -> Self {
        let text = |key: &str| part::<String>(told, key);
        let inner = |key: &str| told.get(key).filter(|it| it.is_object()).map(Inner::lenient);
        Self {
            kind: text("type"),
            message: inner("message"),
            response: inner("response"),
            usage: told.get("usage").and_then(Usage::lenient),
            usage_metadata: part(told, "usageMetadata"),
            model: text("model"),
            model_version: text("modelVersion"),
            error: told.get("error").filter(|it| !it.is_null()).cloned(),
            code: told.get("code").filter(|it| !it.is_null()).cloned(),
        }
    }

    /// Returns what the error comes to that this tells, if it tells one; `text` is the whole of it.
    fn fault(&self, text: &str) -> Option<CallOutcome> {
        let within = self.response.as_ref().and_then(|response| response.error.as_ref());
        let error = self.error.as_ref().or(within);
        if error.is_none() && !matches!(self.kind.as_deref(), Some("error" | "response.failed")) {
            return None;
        }
        if TOO_LONG.into_iter().any(|words| text.contains(words)) {
            return Some(CallOutcome::Overflow);
        }
        let of_error = ["type", "code", "status"].into_iter().filter_map(|key| error?.get(key));
        Some(of_error.chain(&self.code).find_map(named).unwrap_or(CallOutcome::Failed))
    }
}

/// Returns what an error's name or number comes to, if it says more than that something failed.
fn named(name: &Value) -> Option<CallOutcome> {
    match (name.as_str(), name.as_u64()) {
        (
            Some(
                "rate_limit_error"
                | "rate_limit_exceeded"
                | "too_many_requests"
                | "insufficient_quota"
                | "RESOURCE_EXHAUSTED",
            ),
            _,
        )
        | (_, Some(429)) => Some(CallOutcome::RateLimited),
        (
            Some(
                "authentication_error"
                | "permission_error"
                | "invalid_api_key"
                | "UNAUTHENTICATED"
                | "PERMISSION_DENIED",
            ),
            _,
        )
        | (_, Some(401 | 403)) => Some(CallOutcome::Unauthorized),
        _ => None,
    }
}

/// A number of tokens as an API tells it, whatever number that is: one that nobody can have used is the most
/// that is believed, and less than nothing is nothing.
#[derive(Debug, Default, Clone, Copy)]
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Count, E> {
                Ok(Count(number.min(TOKENS_MAX)))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Count, E> {
                self.visit_u64(u64::try_from(number).unwrap_or(0))
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Count, E> {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it saturates"
                )]
                self.visit_u64(number as u64)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Count, E> {
                let text = text.trim();
                match (text.parse::<u64>(), text.parse::<f64>()) {
                    (Ok(number), _) => self.visit_u64(number),
                    (Err(_), Ok(number)) => self.visit_f64(number),
                    (Err(_), Err(_)) => Ok(Count(0)),
                }
            }

            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(0))
            }
        }
        from.deserialize_any(Number)
    }
}

/// Anthropic's and OpenAI's numbers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<Count>,
    output_tokens: Option<Count>,
    cache_read_input_tokens: Option<Count>,
    cache_creation_input_tokens: Option<Count>,
    cache_creation: Option<CacheCreation>,
    input_tokens_details: Option<Details>,
    prompt_tokens: Option<Count>,
    completion_tokens: Option<Count>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<Count>,
    cache_write_tokens: Option<Count>,
}

impl Usage {
    fn lenient(told: &Value) -> Option<Self> {
        let count = |key: &str| part::<Count>(told, key);
        told.is_object().then(|| Self {
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            cache_read_input_tokens: count("cache_read_input_tokens"),
            cache_creation_input_tokens: count("cache_creation_input_tokens"),
            cache_creation: part(told, "cache_creation"),
            input_tokens_details: part(told, "input_tokens_details"),
            prompt_tokens: count("prompt_tokens"),
            completion_tokens: count("completion_tokens"),
            prompt_tokens_details: part(told, "prompt_tokens_details"),
        })
    }

    /// Returns the tokens; what is not told is as it was.
    fn tokens(&self, wire: Wire, before: Tokens) -> Tokens {
        let of = |count: Option<Count>| count.map(|count| count.0);
        if wire == Wire::Anthropic {
            let hour = self.cache_creation.as_ref().map(|of| of.ephemeral_1h_input_tokens.0);
            let hour = hour.unwrap_or(before.cache_write_hour);
            let written = before.cache_write.saturating_add(before.cache_write_hour);
            let written = of(self.cache_creation_input_tokens).unwrap_or(written);
            return Tokens {
                input: of(self.input_tokens).unwrap_or(before.input),
                output: of(self.output_tokens).unwrap_or(before.output),
                cache_read: of(self.cache_read_input_tokens).unwrap_or(before.cache_read),
                cache_write: written.saturating_sub(hour),
                cache_write_hour: hour.min(written),
            };
        }
        let details = self.input_tokens_details.as_ref().or(self.prompt_tokens_details.as_ref());
        let cached = details.and_then(|it| of(it.cached_tokens)).unwrap_or(0);
        let written = details.and_then(|it| of(it.cache_write_tokens)).unwrap_or(0);
        let input = of(self.input_tokens.or(self.prompt_tokens)).unwrap_or(0);
        Tokens {
            input: input.saturating_sub(cached).saturating_sub(written),
            output: of(self.output_tokens.or(self.completion_tokens)).unwrap_or(0),
            cache_read: cached,
            cache_write: written,
            cache_write_hour: 0,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: Count,
    tool_use_prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    cached_content_token_count: Count,
}

impl GeminiUsage {
    fn tokens(&self) -> Tokens {
        let read = self.prompt_token_count.0.saturating_add(self.tool_use_prompt_token_count.0);
        Tokens {
            input: read.saturating_sub(self.cached_content_token_count.0),
            output: self.candidates_token_count.0.saturating_add(self.thoughts_token_count.0),
            cache_read: self.cached_content_token_count.0,
            ..Tokens::default()
        }
    }
}

#[cfg(test)]
mod tests;
