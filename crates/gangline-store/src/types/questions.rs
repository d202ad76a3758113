//! Questions that agents ask, from being asked to their answer.

use gangline_core::{
    AgentName, Epoch, MessageId, Principal, QuestionNumber, TurnId,
    approval::view::Extent,
    question::{AnswerRule, Asked, Choose, OnTimeout, QuestionState, Standing},
    redact::Redacted,
};
use gangline_os::clock::UnixMicros;

use super::{NewAlert, NewMessage, Send};

/// A question to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewQuestion {
    /// Who asks.
    pub agent: AgentName,
    /// The turn that asks.
    pub turn: Option<TurnId>,
    /// Makes a repetition the same question; unique per agent.
    pub request: String,
    /// Who is asked.
    pub asked: Asked,
    /// Whose answer counts.
    pub rule: AnswerRule,
    /// What is asked.
    pub body: Redacted,
    /// What to choose from.
    pub options: Vec<Redacted>,
    /// How many may be chosen.
    pub choose: Choose,
    /// What happens when nobody answers in time.
    pub on_timeout: OnTimeout,
    /// When it expires.
    pub expires_at: Option<UnixMicros>,
    /// The message that it is asked for.
    pub in_reply_to: Option<MessageId>,
    /// Where the asker goes on once it has the answer: a channel, a nick, or nothing.
    pub reply_target: String,
    /// The epoch of the daemon in which a call is held open until the answer; `None`: the answer is a
    /// message.
    pub waits: Option<Epoch>,
}

/// What asking has to bring about, in the same commit: made once the number is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AskedBy {
    /// The rows for the agents that are asked.
    pub deliver: Vec<NewMessage>,
    /// The lines for people, and the place that each is in.
    pub announce: Vec<QuestionPlaced>,
    /// The alert for people.
    pub alert: Option<NewAlert>,
}

/// An announcement of a question to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionPlaced {
    /// The channel, or the account of a private conversation.
    pub place: String,
    /// Whether the lines show all of the question.
    pub extent: Extent,
    /// The lines.
    pub send: Send,
    /// The server's id of the line that it answers, if that is known.
    pub question: Option<String>,
}

/// A place in which a question was announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionPlace {
    /// The channel, or the account of a private conversation.
    pub place: String,
    /// The channel or nick that the lines went to.
    pub target: String,
    /// Whether the lines show all of the question.
    pub extent: Extent,
    /// When the last line was said, by the server's clock.
    pub told_at: Option<String>,
    /// When that was heard, by ours; `None` before that.
    pub heard_at: Option<UnixMicros>,
}

/// What [`crate::Store::ask`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionAsked {
    /// The question's number.
    pub number: QuestionNumber,
    /// Whether it had been asked before; then nothing changed.
    pub repeated: bool,
    /// The agents that have a new message.
    pub notify: Vec<AgentName>,
}

/// One row of the questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// The number.
    pub number: QuestionNumber,
    /// Who asks.
    pub agent: AgentName,
    /// The turn that asked.
    pub turn: Option<TurnId>,
    /// Who is asked.
    pub asked: Asked,
    /// Whose answer counts.
    pub rule: AnswerRule,
    /// What is asked.
    pub body: Redacted,
    /// What to choose from.
    pub options: Vec<String>,
    /// How many may be chosen.
    pub choose: Choose,
    /// What happens when nobody answers in time.
    pub on_timeout: OnTimeout,
    /// Where it stands.
    pub state: QuestionState,
    /// The answer that stands.
    pub answer: Option<Redacted>,
    /// Who gave it.
    pub answered_by: Option<String>,
    /// The message that it is asked for.
    pub in_reply_to: Option<MessageId>,
    /// Where the asker goes on.
    pub reply_target: String,
    /// The epoch of the daemon in which a call is held open until the answer.
    pub waits: Option<Epoch>,
    /// When it was asked.
    pub asked_at: UnixMicros,
    /// When it expires.
    pub expires_at: Option<UnixMicros>,
    /// When the answer came, or the question was closed without one.
    pub answered_at: Option<UnixMicros>,
}

/// Calls that are held open no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// The one of this request.
    Request {
        /// Its key, as in [`NewQuestion::request`].
        request: String,
        /// What it got.
        got: Got,
    },
    /// Those of daemons before this epoch: they got nothing.
    Before(Epoch),
}

/// What a call got that was held open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// The answer, or that there is none.
    Answer,
    /// Nothing: its caller is gone.
    Nothing,
}

/// Which questions to list; every part narrows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionFilter {
    /// Only this agent's.
    pub asker: Option<AgentName>,
    /// Only those that this agent is asked.
    pub asked: Option<AgentName>,
    /// Also those that are closed.
    pub closed: bool,
    /// Only older ones than this.
    pub before: Option<QuestionNumber>,
}

/// An answer to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAnswer {
    /// Who gives it.
    pub by: Principal,
    /// How the asker knows who gave it: a nick or an account.
    pub known_as: String,
    /// What it counts for, by [`gangline_core::question::may_answer`].
    pub standing: Standing,
    /// The answer.
    pub text: Redacted,
}

/// What [`crate::Store::answer_question`] and [`crate::Store::cancel_question`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionClosed {
    /// The question as it is now. It is still open if more answers are waited for.
    pub row: QuestionRow,
    /// The message that brings the answer to the asker: notify it.
    pub message: Option<MessageId>,
}
