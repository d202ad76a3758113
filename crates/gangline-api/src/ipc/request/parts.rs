//! Reads those parts of requests that take more than a field.

use gangline_core::question::OnTimeout;

use super::{Command, Fields, Lines, ModelChoice, RequestError};

const MODEL: &str = "a model's name, one word, or absent with \"default\": true";

pub(super) fn lines(fields: &mut Fields) -> Result<Lines, RequestError> {
    let latest = fields.flag("latest")?.unwrap_or_default();
    Ok(match (fields.flag("peek")?.unwrap_or_default(), latest) {
        (true, _) => Lines::Peek,
        (false, true) => Lines::Latest,
        (false, false) => Lines::Unread,
    })
}

/// Reads `wake`. Without a field it is culture's word for `resume`.
pub(super) fn wake(fields: &mut Fields) -> Result<Command, RequestError> {
    if fields.is_empty() {
        return Ok(Command::Resume);
    }
    let [from, body] = [fields.needed(&["from"])?, fields.needed(&["body"])?];
    Ok(Command::Wake { from, body, key: fields.text("key")? })
}

/// Reads when a pause ends: `until` or `for`, not both.
pub(super) fn ends(fields: &mut Fields) -> Result<Option<String>, RequestError> {
    match (fields.text("until")?, fields.text("for")?) {
        (None, None) => Ok(None),
        (Some(until), None) => Ok(Some(format!("until {until}"))),
        (None, Some(length)) => Ok(Some(format!("for {length}"))),
        (Some(_), Some(_)) => {
            Err(RequestError::Field { field: "until", wanted: "left out beside `for`" })
        }
    }
}

pub(super) fn choice(fields: &mut Fields) -> Result<Option<ModelChoice>, RequestError> {
    let wrong = || RequestError::Field { field: "model", wanted: MODEL };
    let model = fields.text("model")?.filter(|model| !model.trim().is_empty());
    match (model, fields.flag("default")?.unwrap_or_default()) {
        (None, false) => Ok(None),
        (None, true) => Ok(Some(ModelChoice::Configured)),
        (Some(model), false) => {
            model.trim().parse().map(|model| Some(ModelChoice::To(model))).map_err(|_| wrong())
        }
        (Some(_), true) => Err(wrong()),
    }
}

/// Reads what follows if nobody answers in time (R1-53).
pub(super) fn on_timeout(fields: &mut Fields) -> Result<OnTimeout, RequestError> {
    let field = "timeout_action";
    let word = match fields.text(field)? {
        Some(word) => Some(word),
        None => fields.text("on_timeout")?,
    };
    let wanted = "none, pause, deny or abort";
    word.map_or(Ok(OnTimeout::None), |word| {
        word.parse().map_err(|_| RequestError::Field { field, wanted })
    })
}
