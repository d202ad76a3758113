//! A request's fields: taken out of a JSON object one by one, each checked as it is taken.

use std::{path::PathBuf, str::FromStr};

use gangline_core::{
    id::MessageId,
    name::{ChannelName, NameError, Target},
};
use serde_json::{Map, Value};

use super::error::RequestError;

const TEXT: &str = "a string";

/// The fields that have not been taken yet. Those that nobody takes are ignored.
#[derive(Debug)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    /// Returns whether no field is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a field; `null` counts as absent.
    pub(super) fn take(&mut self, field: &str) -> Option<Value> {
        self.0.remove(field).filter(|value| !value.is_null())
    }

    /// Takes a text that may be absent.
    pub(super) fn text(&mut self, field: &'static str) -> Result<Option<String>, RequestError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(RequestError::Field { field, wanted: TEXT }),
        }
    }

    /// Takes a text that must be there, under the first of the names that is, and not blank.
    pub(super) fn needed(&mut self, fields: &[&'static str]) -> Result<String, RequestError> {
        for field in fields {
            if let Some(text) = self.text(field)?.filter(|text| !text.trim().is_empty()) {
                return Ok(text);
            }
        }
        Err(RequestError::Missing(fields.first().copied().unwrap_or_default()))
    }

    /// Takes a channel or a nick; `DM:nick` is culture's name for what was said privately.
    pub(super) fn target(&mut self, fields: &[&'static str]) -> Result<Target, RequestError> {
        let text = self.needed(fields)?;
        parsed(text.strip_prefix("DM:").unwrap_or(&text))
    }

    /// Takes a channel.
    pub(super) fn channel(&mut self) -> Result<ChannelName, RequestError> {
        let text = self.needed(&["channel"])?;
        if !text.starts_with('#') {
            return Err(RequestError::NotAChannel);
        }
        parsed(&text)
    }

    /// Takes a message's id that may be absent.
    pub(super) fn message(
        &mut self,
        field: &'static str,
    ) -> Result<Option<MessageId>, RequestError> {
        let Some(text) = self.text(field)?.filter(|text| !text.is_empty()) else { return Ok(None) };
        let wanted = "a message's id such as m42";
        text.parse().map(Some).map_err(|_| RequestError::Field { field, wanted })
    }

    /// Takes a path.
    pub(super) fn path(&mut self) -> Result<PathBuf, RequestError> {
        self.needed(&["path"]).map(PathBuf::from)
    }

    /// Takes an object; absent = an empty one.
    pub(super) fn object(&mut self, field: &'static str) -> Result<Value, RequestError> {
        match self.take(field) {
            None => Ok(Value::Object(Map::new())),
            Some(value) if value.is_object() => Ok(value),
            Some(_) => Err(RequestError::Field { field, wanted: "an object" }),
        }
    }

    /// Takes yes or no; absent is neither.
    pub(super) fn flag(&mut self, field: &'static str) -> Result<Option<bool>, RequestError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(RequestError::Field { field, wanted: "true or false" }),
        }
    }

    /// Takes a whole number from 1 on; what is over `max` is taken as `max`.
    pub(super) fn count(
        &mut self,
        field: &'static str,
        absent: u32,
        max: u32,
    ) -> Result<u32, RequestError> {
        let Some(value) = self.take(field) else { return Ok(absent) };
        let count = value.as_u64().filter(|count| *count > 0);
        let count = count.ok_or(RequestError::Field { field, wanted: "a whole number above 0" })?;
        Ok(u32::try_from(count).unwrap_or(max).min(max))
    }

    /// Takes the `limit` of `irc_read` as culture's daemons do: one below 1 asks for nothing, and
    /// digits in a text are a number.
    pub(super) fn limit(&mut self, absent: u32, max: u32) -> Result<u32, RequestError> {
        let Some(value) = self.take("limit") else { return Ok(absent) };
        let limit = match &value {
            Value::String(text) => text.trim().parse().ok(),
            // A number beyond i64 is above every limit.
            other => other.as_i64().or_else(|| other.as_u64().map(|_| i64::MAX)),
        };
        let limit =
            limit.ok_or(RequestError::Field { field: "limit", wanted: "a whole number" })?;
        Ok(u32::try_from(limit.clamp(0, i64::from(max))).unwrap_or(max))
    }

    /// Takes a number of seconds above 0; parts of a second count as a whole one.
    pub(super) fn seconds(
        &mut self,
        field: &'static str,
        absent: u32,
        max: u32,
    ) -> Result<u32, RequestError> {
        let Some(value) = self.take(field) else { return Ok(absent) };
        let wanted = "a number of seconds above 0";
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0);
        let seconds = seconds.ok_or(RequestError::Field { field, wanted })?;
        // Between 1 and `max` by then: nothing is cut off.
        Ok(seconds.ceil().min(f64::from(max)) as u32)
    }
}

fn parsed<T: FromStr<Err = NameError>>(text: &str) -> Result<T, RequestError> {
    text.parse().map_err(RequestError::Name)
}
