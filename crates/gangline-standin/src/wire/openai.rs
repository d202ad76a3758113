//! What the two OpenAI wires share: reading fields with that vendor's words of refusal, its error
//! form, its list of models.

use serde_json::{Map, Value, json};

use super::{Form, Refusal, body::json_text, figures::CREATED};
use crate::reply::HttpError;

pub(super) fn missing<T>(path: &str) -> Result<T, Refusal> {
    Err(Refusal {
        message: format!("Missing required parameter: '{path}'."),
        param: Some(path.to_owned()),
        code: Some("missing_required_parameter"),
    })
}

/// Refuses a value of the wrong type; `wanted` has its article.
pub(super) fn wrong_type<T>(path: &str, wanted: &str, got: &Value) -> Result<T, Refusal> {
    let kind = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Err(Refusal {
        message: format!("Invalid type for '{path}': expected {wanted}, but got {kind} instead."),
        param: Some(path.to_owned()),
        code: Some("invalid_type"),
    })
}

/// Refuses a word that is none of `allowed`.
pub(super) fn wrong_word<T>(path: &str, got: &str, allowed: &[&str]) -> Result<T, Refusal> {
    let allowed: Vec<String> = allowed.iter().map(|word| format!("'{word}'")).collect();
    let allowed = match allowed.as_slice() {
        [one, other] => format!("{one} and {other}"),
        [before @ .., last] if !before.is_empty() => format!("{}, and {last}", before.join(", ")),
        one_or_none => one_or_none.concat(),
    };
    Err(Refusal {
        message: format!("Invalid value: '{got}'. Supported values are: {allowed}."),
        param: Some(path.to_owned()),
        code: Some("invalid_value"),
    })
}

/// Refuses a list that must not be empty.
pub(super) fn empty<T>(path: &str) -> Result<T, Refusal> {
    Err(Refusal {
        message: format!(
            "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an \
             empty array instead."
        ),
        param: Some(path.to_owned()),
        code: Some("empty_array"),
    })
}

/// Refuses for a reason that has no code.
pub(super) fn invalid<T>(
    message: impl Into<String>,
    param: impl Into<String>,
) -> Result<T, Refusal> {
    Err(Refusal { message: message.into(), param: Some(param.into()), code: None })
}

/// Returns the body as an object.
pub(super) fn object(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) | Err(_) => Err(Refusal::new(
            "We could not parse the JSON body of your request. The API expects a JSON object.",
        )),
    }
}

/// Returns the model of a request.
pub(super) fn model_of(fields: &Map<String, Value>) -> Result<String, Refusal> {
    match fields.get("model") {
        Some(Value::String(model)) if !model.is_empty() => Ok(model.clone()),
        None | Some(Value::Null | Value::String(_)) => {
            Err(Refusal::new("you must provide a model parameter"))
        }
        Some(other) => wrong_type("model", "a string", other),
    }
}

/// Returns the form of the answer that a request wants.
pub(super) fn form_of(fields: &Map<String, Value>) -> Result<Form, Refusal> {
    match fields.get("stream") {
        None | Some(Value::Null | Value::Bool(false)) => Ok(Form::Whole),
        Some(Value::Bool(true)) => Ok(Form::Events),
        Some(other) => wrong_type("stream", "a boolean", other),
    }
}

/// Returns a text that must be there.
pub(super) fn text_at<'a>(value: &'a Value, path: &str, name: &str) -> Result<&'a str, Refusal> {
    match value.get(name) {
        Some(Value::String(text)) => Ok(text),
        None => missing(&format!("{path}.{name}")),
        Some(other) => wrong_type(&format!("{path}.{name}"), "a string", other),
    }
}

/// Returns a list that may be absent.
pub(super) fn list_at<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
) -> Result<&'a [Value], Refusal> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => wrong_type(name, "an array of objects", other),
    }
}

/// Type, code and sentence of an error for which the script says nothing else.
fn usual(status: u16) -> (&'static str, Option<&'static str>, &'static str) {
    match status {
        401 => {
            ("invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided: ***.")
        }
        403 => (
            "invalid_request_error",
            Some("insufficient_permissions"),
            "You have insufficient permissions for this operation.",
        ),
        429 => (
            "requests",
            Some("rate_limit_exceeded"),
            "Rate limit reached for requests. Please try again later.",
        ),
        503 | 529 => (
            "service_unavailable_error",
            Some("server_is_overloaded"),
            "Our servers are currently overloaded. Please try again later.",
        ),
        500..=599 => (
            "server_error",
            Some("server_error"),
            "The server had an error while processing your request. Sorry about that!",
        ),
        _ => ("invalid_request_error", None, "the stand-in was told to refuse this"),
    }
}

/// Returns the error of a refusal, or of a stream.
pub(super) fn error_object(error: &HttpError) -> Value {
    let (kind, code, message) = usual(error.status);
    // A type that the script chose has no usual code but its own name, as `insufficient_quota` has.
    let code = match (&error.code, &error.kind) {
        (Some(code), _) => Some(code.as_str()),
        (None, Some(kind)) => Some(kind.as_str()),
        (None, None) => code,
    };
    json!({
        "message": if error.message.is_empty() { message } else { &error.message },
        "type": error.kind.as_deref().unwrap_or(kind),
        "param": error.param,
        "code": code,
    })
}

/// Returns the body of a refusal.
pub(super) fn error_body(error: &HttpError) -> String {
    json_text(json!({ "error": error_object(error) }))
}

/// Returns the list of models: the one that is none.
pub(super) fn models() -> Value {
    json!({ "object": "list", "data": [model("stand-in")] })
}

/// Returns one model.
pub(super) fn model(id: &str) -> Value {
    json!({ "id": id, "object": "model", "created": CREATED, "owned_by": "stand-in" })
}
