//! What the agent is told, and what was seen.

use std::time::Duration;

use crate::{finding::FindingKind, redact::Redacted, shown, whisper::WhisperKind};

use super::{
    Detection, changes::Undone, failures::Failing, minutes, quiet, quiet::Silence,
    repeats::Repeated,
};

pub(super) fn repeating(tool: &Redacted, input: &Redacted, found: Repeated) -> Detection {
    let (tool, times) = (shown::code(tool.as_str()), found.times);
    let text = format!(
        "You have called {tool} {times} times in the same way, with the same result each time. It will not \
         change: take another approach, or ask somebody."
    );
    let evidence = format!("{tool} {} × {times}, the same result", shown::code(input.as_str()));
    let detection = correction(FindingKind::RepeatedCall, (text, evidence), (found.key, found.nth));
    Detection { retries: times.saturating_sub(1), ..detection }
}

pub(super) fn failing(tool: &Redacted, error: &Redacted, found: Failing) -> Detection {
    let (tool, times) = (shown::code(tool.as_str()), found.times);
    let text = format!(
        "{tool} has failed {times} times with the same error. Do not try the same again: find the cause \
         first, take another approach, or ask somebody."
    );
    let evidence = format!("{tool} failed {times} times: {}", shown::code(error.as_str()));
    let retries = if found.same_call { times.saturating_sub(1) } else { 0 };
    let detection =
        correction(FindingKind::RepeatedError, (text, evidence), (found.key, found.nth));
    Detection { retries, ..detection }
}

pub(super) fn undoing(file: &Redacted, found: Undone) -> Detection {
    let (file, times) = (shown::code(file.as_str()), found.times);
    let text = format!(
        "You have undone your own edit of {file} {times} times: it goes back and forth. Decide what the \
         file has to hold before you change it again, or ask somebody."
    );
    let evidence = format!("{file}: the same edit undone {times} times");
    correction(FindingKind::UndoneEdits, (text, evidence), (found.key, found.nth))
}

pub(super) fn silent(silence: &Silence, call: Option<&Redacted>) -> (Redacted, Redacted) {
    let lasts = minutes(silence.lasts);
    let call = call.map(|tool| shown::code(tool.as_str()));
    let text = match &call {
        Some(tool) => format!(
            "{tool} has run for {lasts} minutes without a result. If it waits for an input that nobody gives, \
             stop it, and run it in the background."
        ),
        None => format!(
            "Your turn has shown nothing for {lasts} minutes. Say what you are doing, or take a smaller step."
        ),
    };
    let inside = call.map(|tool| format!(", inside {tool}")).unwrap_or_default();
    (Redacted::derived(text), Redacted::derived(format!("no output for {lasts} minutes{inside}")))
}

/// The seed's own words (R1-30).
pub(super) fn unread(unread: Duration) -> Detection {
    let unread = minutes(unread);
    let text = format!(
        "You haven't checked your channels in {unread} minutes. Consider doing an irc_read() to see if \
         there's relevant input (your tool for it may be called `recv`)."
    );
    let evidence =
        format!("no look at the inbox for {unread} minutes, while something waits there");
    let key = quiet::UNREAD_KEY.to_owned();
    advice(correction(FindingKind::UnreadInbox, (text, evidence), (key, 1)))
}

pub(super) fn context(percent: u8, key: &str) -> Detection {
    let text = format!(
        "Your context is {percent}% full. Finish the step that you are in, note what you still need, and \
         compact your context."
    );
    let evidence = format!("context {percent}% full");
    advice(correction(FindingKind::ContextFilling, (text, evidence), (key.to_owned(), 1)))
}

fn correction(kind: FindingKind, texts: (String, String), (key, nth): (String, u32)) -> Detection {
    Detection {
        kind,
        whisper: WhisperKind::Correction,
        // Made of texts that are masked.
        text: Redacted::derived(texts.0),
        evidence: Redacted::derived(texts.1),
        key,
        nth,
        counts: true,
        retries: 0,
    }
}

fn advice(detection: Detection) -> Detection {
    Detection { counts: false, ..detection }
}
