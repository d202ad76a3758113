//! The id of a request.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::{ID_MAX, error::RequestError};

const WANTED: &str = "a string of at most 128 bytes, or a number";

/// The id by which a client finds the response to its request (R0-54): any text of at most
/// [`ID_MAX`] bytes, or a number; culture's clients send a UUID. The response carries it as it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(Id);

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(Number),
}

impl RequestId {
    /// Takes a text as an id.
    ///
    /// # Errors
    /// [`RequestError::Field`] when it is over [`ID_MAX`] bytes.
    pub fn new(text: impl Into<String>) -> Result<Self, RequestError> {
        let text = text.into();
        if text.len() > ID_MAX {
            return Err(RequestError::Field { field: "id", wanted: WANTED });
        }
        Ok(Self(Id::Text(text)))
    }

    /// Returns the id if it is a text; a number is none.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Id::Text(text) => Some(text),
            Id::Number(_) => None,
        }
    }

    /// Takes the value of the field `id`.
    pub(super) fn read(value: Value) -> Result<Self, RequestError> {
        match value {
            Value::String(text) => Self::new(text),
            // As long as its digits were in the request, which has a limit of its own.
            Value::Number(number) => Ok(Self(Id::Number(number))),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(RequestError::Field { field: "id", wanted: WANTED })
            }
        }
    }
}
