//! The chat task's own answers, without the model: notices, which start no turn.

use gangline_core::{MessageId, Redacted, Target};
use gangline_irc::client::Line;
use gangline_store::{LineKind, Send as StoreSend};
use tracing::warn;

use super::Chat;

/// Returns where a line is answered: its channel, or the person who said it in private.
pub(super) fn place_of(line: &Line) -> String {
    match &line.target {
        Target::Channel(channel) => channel.to_string(),
        Target::Nick(_) => line.nick.clone(),
    }
}

/// Returns a key that the same line has however often it is taken in.
pub(super) fn key_of(line: &Line) -> String {
    let letters = |id: &String| id.chars().filter(char::is_ascii_alphanumeric).take(48).collect();
    let key = line.msgid.as_ref().map(letters);
    key.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string())
}

/// Returns the line whose conversation the answer belongs to: what is said to a private line.
pub(super) fn question(line: &Line) -> Option<String> {
    match line.target {
        Target::Channel(_) => None,
        Target::Nick(_) => line.msgid.clone(),
    }
}

/// Returns the texts as they answer a line: in a channel the first one names who is meant.
pub(super) fn addressed(line: &Line, texts: &[String]) -> Vec<String> {
    let mut texts = texts.to_vec();
    if let (Target::Channel(_), Some(first)) = (&line.target, texts.first_mut()) {
        *first = format!("{}: {first}", line.nick);
    }
    texts
}

impl Chat {
    /// Answers a line where it was said, once however often it is taken in.
    pub(super) async fn answer(&self, line: &Line, text: &str) {
        self.answer_lines(line, &[text.to_owned()]).await;
    }

    /// The same in several lines; in a channel the first one names who is meant.
    pub(super) async fn answer_lines(&self, line: &Line, texts: &[String]) {
        let texts = addressed(line, texts);
        self.notify(format!("r-{}", key_of(line)), place_of(line), (&texts, None), question(line))
            .await;
    }

    /// The same of lines that somebody decides by: nothing more of them is hidden than what was when
    /// they were stored.
    pub(super) async fn answer_shown(&self, line: &Line, texts: &[String]) {
        let texts = addressed(line, texts);
        let lines = texts.iter().map(|text| self.deps.redactor.sourced(text)).collect();
        let key = format!("r-{}", key_of(line));
        self.notify_masked((key, place_of(line)), (lines, None), question(line)).await;
    }

    /// Says notices somewhere, once for the key. `question` is the server's id of the line that
    /// they answer privately; without one it is that of the message that they answer.
    pub(super) async fn notify(
        &self,
        key: String,
        target: String,
        (texts, in_reply_to): (&[String], Option<MessageId>),
        question: Option<String>,
    ) {
        let lines = texts.iter().map(|text| self.deps.redactor.redact(text)).collect();
        self.notify_masked((key, target), (lines, in_reply_to), question).await;
    }

    /// As [`Self::notify`], of lines that are masked.
    pub(super) async fn notify_masked(
        &self,
        (key, target): (String, String),
        (lines, in_reply_to): (Vec<Redacted>, Option<MessageId>),
        question: Option<String>,
    ) {
        let send = StoreSend {
            agent: self.deps.agent.clone(),
            turn: None,
            idem_key: key.into(),
            target,
            lines: lines.into_iter().map(Into::into).collect(),
            // A notice never wakes: what the harness says by itself starts no talk among agents.
            kind: LineKind::Notice,
            in_reply_to,
            deliver: None,
        };
        if let Err(error) = self.deps.store.answer(send, question).await {
            warn!(%error, "cannot tell somebody");
        }
        self.deps.outbox.notify_one();
    }
}
