//! The answer rule: what becomes of a turn's messages when it ends. A pure function of what the
//! turn did; start at [`settle`].
//!
//! A send is the answer to a message if it names it, or goes to its target or its asker after the
//! turn's last tool result that is not itself a send. A send that names one message of the turn
//! answers no other. If no send was the answer, the final text is relayed.

use std::collections::HashSet;

use crate::{
    id::MessageId,
    message::{MessageState, Origin},
    name::fold,
    outcome::{By, EndedBy, Outcome},
    time::WallMicros,
    words,
};

pub use asker_notice::{AskerNotice, BUDGET_SPENT, Reason};

mod asker_notice;

/// The exact final text by which an agent says that no reply is needed.
pub const NO_REPLY: &str = "NO_REPLY";

/// [`TurnMessage::joined`] of a steered message that the runtime has not taken up yet.
pub const NOT_YET: usize = usize::MAX;

/// Who replies (C12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReplyMode {
    /// The final text is relayed if no send was the answer.
    #[default]
    RelayIfSilent,
    /// The final text is always relayed, whatever was sent by tool.
    Relay,
    /// Only tools reply; text is never relayed.
    Tools,
}

words! {
    /// How a message came into a turn.
    How, "way into a turn" {
        /// It woke the agent: the turn's prompt.
        Woke = "woke",
        /// It was added while the turn ran.
        Steered = "steered",
        /// The agent read it by a tool.
        Read = "read",
    }
}

/// A message of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TurnMessage {
    /// Its id.
    pub id: MessageId,
    /// Who asked: a nick or label. A send to it may be the answer.
    pub asker: String,
    /// Where the answer goes: a channel, a nick, or empty (the answer is only recorded).
    pub target: String,
    /// Why it exists.
    pub origin: Origin,
    /// The number of this attempt, from 1.
    pub attempt: i64,
    /// Set if it is itself an answer: then it owes none.
    pub in_reply_to: Option<MessageId>,
    /// How it came into the turn.
    pub how: How,
    /// How many actions came before it; they cannot answer it. [`NOT_YET`]: it never reached the
    /// runtime.
    pub joined: usize,
}

impl TurnMessage {
    /// Returns whether somebody waits for an answer. An answer owes none; neither does what the agent
    /// asked for itself, or what a program told it.
    #[must_use]
    pub fn owes_answer(&self) -> bool {
        match self.origin {
            Origin::Mention | Origin::Direct | Origin::Cli | Origin::Http | Origin::Agent => {
                self.in_reply_to.is_none()
            }
            Origin::Answer | Origin::Reminder | Origin::Wake | Origin::System => false,
        }
    }
}

/// What kind of tool a result came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// One of our own that speaks on IRC or settles (`send`, `no_reply`).
    Send,
    /// A shell: it is a send if one was recorded since the tool result before it.
    Shell,
    /// Any other.
    Other,
}

/// One thing that a turn did, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnAction {
    /// A block of the assistant's text.
    Text(String),
    /// A tool came back. In a recovered turn a recorded call counts as its result.
    ToolResult(Tool),
    /// A send by tool was committed (T2).
    Sent {
        /// The channel or nick.
        to: String,
        /// The message it names.
        in_reply_to: Option<MessageId>,
    },
    /// The agent said by tool that no reply is needed.
    NoReply {
        /// To this message; `None` means each one of the turn.
        message: Option<MessageId>,
    },
}

/// All that the rule looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TurnLog {
    /// The turn's messages; may be none.
    pub messages: Vec<TurnMessage>,
    /// What it did.
    pub actions: Vec<TurnAction>,
    /// How it ended.
    pub outcome: Outcome,
}

/// An agent's settings that the rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Who replies.
    pub reply: ReplyMode,
    /// After this many attempts that count, a message is given up.
    pub max_attempts: i64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { reply: ReplyMode::default(), max_attempts: 5 }
    }
}

/// What becomes of one message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Settlement {
    /// Which message.
    pub message: MessageId,
    /// Its new state; `Accepted` means that it goes back to the queue.
    pub state: MessageState,
    /// Why, where the state alone does not say.
    pub reason: Option<Reason>,
    /// The answer to send to the message's target (if it has one) and to record. Not redacted.
    pub relay: Option<String>,
    /// The one line that its asker is told.
    pub tell: Option<AskerNotice>,
    /// It is not fed again before this time.
    pub not_before: Option<WallMicros>,
    /// Whether this attempt is one of the `max_attempts`.
    pub counts_attempt: bool,
}

impl Settlement {
    fn new(message: &TurnMessage, state: MessageState) -> Self {
        Self {
            message: message.id,
            state,
            reason: None,
            relay: None,
            tell: None,
            not_before: None,
            counts_attempt: true,
        }
    }

    /// Returns whether the message goes back to the queue and may be fed at once.
    pub(crate) fn returns_now(&self) -> bool {
        self.state == MessageState::Accepted && self.not_before.is_none()
    }

    fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    fn with_notice(mut self, tell: AskerNotice) -> Self {
        self.tell = Some(tell);
        self
    }
}

/// Returns what becomes of each message of the turn, in their order, each exactly once.
#[must_use]
pub fn settle(log: &TurnLog, rules: Rules) -> Vec<Settlement> {
    let mut settled: Vec<Settlement> = match &log.outcome {
        Outcome::Completed => completed(log, rules),
        Outcome::Failed(kind) => failed(log, &Reason::TurnFailed(kind.clone())),
        Outcome::TimedOut => failed(log, &Reason::TimedOut),
        Outcome::Interrupted(by @ (By::Operator | By::Supervisor)) => {
            failed(log, &Reason::Interrupted(*by))
        }
        Outcome::Interrupted(By::Drain) => {
            returned(log, rules, &Return::uncounted(Reason::Drained))
        }
        Outcome::Lost(EndedBy::Us) => returned(log, rules, &Return::uncounted(Reason::TurnLost)),
        Outcome::Lost(EndedBy::Itself) => returned(log, rules, &Return::counted(Reason::TurnLost)),
        Outcome::RateLimited(until) => {
            let back = Return::uncounted(Reason::RateLimited);
            let back = Return { not_before: Some(*until), ..back };
            not_yet(log, returned(log, rules, &back), &AskerNotice::RateLimited)
        }
        Outcome::NeedsLogin => {
            let back = Return::uncounted(Reason::NeedsLogin);
            not_yet(log, returned(log, rules, &back), &AskerNotice::NeedsLogin)
        }
    };
    for (message, settlement) in log.messages.iter().zip(&mut settled) {
        // What the runtime never had is not touched by what became of the turn.
        if message.joined == NOT_YET {
            *settlement = give_back(message, rules, &Return::uncounted(Reason::NotSteered));
        }
    }
    notify_once(log, &mut settled);
    settled
}

/// Who answered a message by tool.
enum ByTool {
    Send,
    NoReply,
    Nothing,
}

fn by_tool(log: &TurnLog, message: &TurnMessage) -> ByTool {
    let last_result = last_other_result(&log.actions);
    let mut found = ByTool::Nothing;
    for (at, action) in log.actions.iter().enumerate().skip(message.joined) {
        match action {
            TurnAction::Sent { to, in_reply_to } => {
                let named = in_reply_to.filter(|id| log.messages.iter().any(|m| m.id == *id));
                let late = last_result.is_none_or(|last| at > last);
                let is_answer = match named {
                    Some(id) => id == message.id,
                    None => late && reaches(message, to),
                };
                if is_answer {
                    return ByTool::Send;
                }
            }
            TurnAction::NoReply { message: to } => {
                if to.is_none_or(|id| id == message.id) {
                    found = ByTool::NoReply;
                }
            }
            TurnAction::Text(_) | TurnAction::ToolResult(_) => {}
        }
    }
    found
}

fn reaches(message: &TurnMessage, to: &str) -> bool {
    let to = fold(to);
    !to.is_empty() && (to == fold(&message.target) || to == fold(&message.asker))
}

/// Returns the place of the last tool result that is not itself a send.
fn last_other_result(actions: &[TurnAction]) -> Option<usize> {
    let mut last = None;
    let mut sent = false;
    for (at, action) in actions.iter().enumerate() {
        match action {
            TurnAction::ToolResult(tool) => {
                let is_send = match tool {
                    Tool::Send => true,
                    Tool::Shell => sent,
                    Tool::Other => false,
                };
                if !is_send {
                    last = Some(at);
                }
                sent = false;
            }
            TurnAction::Sent { .. } => sent = true,
            TurnAction::Text(_) | TurnAction::NoReply { .. } => {}
        }
    }
    last
}

/// The turn's last words: the last run of text blocks that says anything.
struct FinalText {
    text: String,
    /// The place of its last block.
    at: usize,
}

/// Returns whether anything of the text is left on a line: control characters are not.
fn says_something(text: &str) -> bool {
    text.chars().any(|c| !c.is_control() && !c.is_whitespace())
}

fn final_text(actions: &[TurnAction]) -> Option<FinalText> {
    let mut blocks: Vec<&str> = Vec::new();
    let mut at = 0;
    for (place, action) in actions.iter().enumerate().rev() {
        match action {
            TurnAction::Text(text) if says_something(text) => {
                at = at.max(place);
                blocks.push(text.trim());
            }
            TurnAction::Text(_) => {}
            TurnAction::ToolResult(_) | TurnAction::Sent { .. } | TurnAction::NoReply { .. } => {
                if !blocks.is_empty() {
                    break;
                }
            }
        }
    }
    blocks.reverse();
    (!blocks.is_empty()).then(|| FinalText { text: blocks.join("\n"), at })
}

fn completed(log: &TurnLog, rules: Rules) -> Vec<Settlement> {
    let text = final_text(&log.actions);
    let home = log.messages.iter().find(|message| message.how == How::Woke).map(place);
    let mut relayed = HashSet::new();
    log.messages
        .iter()
        .map(|message| {
            let words = text
                .as_ref()
                .filter(|text| text.at >= message.joined && home == Some(place(message)));
            let mut settlement = complete_one(log, rules, message, words);
            // One text goes to one place once.
            if settlement.relay.is_some() && !relayed.insert(place(message)) {
                settlement.relay = None;
            }
            settlement
        })
        .collect()
}

/// Where a message's answer goes; a message without a target is a place of its own.
fn place(message: &TurnMessage) -> (String, Option<MessageId>) {
    (fold(&message.target), message.target.is_empty().then_some(message.id))
}

fn complete_one(
    log: &TurnLog,
    rules: Rules,
    message: &TurnMessage,
    words: Option<&FinalText>,
) -> Settlement {
    let relay = |text: &FinalText| {
        let relay = Some(text.text.clone());
        Settlement { relay, ..Settlement::new(message, MessageState::Answered) }
    };
    let no_reply = |reason| Settlement::new(message, MessageState::NoReply).because(reason);
    let words = match words {
        Some(text) if text.text == NO_REPLY => {
            return match by_tool(log, message) {
                ByTool::Send => Settlement::new(message, MessageState::Answered),
                ByTool::NoReply => no_reply(Reason::SaidByTool),
                ByTool::Nothing => no_reply(Reason::SaidSo),
            };
        }
        other => other,
    };
    match (by_tool(log, message), rules.reply, words) {
        (ByTool::NoReply, _, _) => no_reply(Reason::SaidByTool),
        (ByTool::Send, ReplyMode::Relay, Some(text)) if message.in_reply_to.is_none() => {
            relay(text)
        }
        (ByTool::Send, _, _) => Settlement::new(message, MessageState::Answered),
        (ByTool::Nothing, _, _) if message.in_reply_to.is_some() => no_reply(Reason::OwesNone),
        (ByTool::Nothing, ReplyMode::Tools, Some(_)) => no_reply(Reason::NotRelayed),
        (ByTool::Nothing, _, Some(text)) => relay(text),
        (ByTool::Nothing, _, None) if !message.owes_answer() => no_reply(Reason::OwesNone),
        (ByTool::Nothing, _, None) => silent(log, rules, message),
    }
}

/// A message that got neither text nor send.
fn silent(log: &TurnLog, rules: Rules, message: &TurnMessage) -> Settlement {
    let home = log.messages.iter().find(|other| other.how == How::Woke).map(place);
    match message.how {
        How::Woke if home == Some(place(message)) => Settlement::new(message, MessageState::Failed)
            .because(Reason::Silent)
            .with_notice(AskerNotice::Failed(Reason::Silent)),
        How::Woke | How::Steered => give_back(message, rules, &Return::counted(Reason::Elsewhere)),
        How::Read if message.attempt > 1 => {
            Settlement::new(message, MessageState::NoReply).because(Reason::ReadTwice)
        }
        How::Read => give_back(message, rules, &Return::counted(Reason::ReadOnly)),
    }
}

fn failed(log: &TurnLog, reason: &Reason) -> Vec<Settlement> {
    let fail = |message| {
        let failed = Settlement::new(message, MessageState::Failed).because(reason.clone());
        if message.in_reply_to.is_some() {
            failed
        } else {
            failed.with_notice(AskerNotice::Failed(reason.clone()))
        }
    };
    log.messages.iter().map(fail).collect()
}

/// On what terms a message goes back to the queue.
struct Return {
    reason: Reason,
    counts: bool,
    not_before: Option<WallMicros>,
}

impl Return {
    fn counted(reason: Reason) -> Self {
        Self { reason, counts: true, not_before: None }
    }

    fn uncounted(reason: Reason) -> Self {
        Self { reason, counts: false, not_before: None }
    }
}

/// Settles a turn that did not come to its end: what was answered stays answered, the rest returns.
fn returned(log: &TurnLog, rules: Rules, back: &Return) -> Vec<Settlement> {
    let one = |message| match by_tool(log, message) {
        ByTool::Send => {
            let answered =
                Settlement::new(message, MessageState::Answered).because(back.reason.clone());
            let owes = message.in_reply_to.is_none();
            if owes { answered.with_notice(AskerNotice::TurnLost) } else { answered }
        }
        ByTool::NoReply => {
            Settlement::new(message, MessageState::NoReply).because(Reason::SaidByTool)
        }
        ByTool::Nothing => give_back(message, rules, back),
    };
    log.messages.iter().map(one).collect()
}

/// Settles a turn that the backend refused for now: what is owed an answer waits, and its asker hears
/// why.
fn not_yet(log: &TurnLog, settled: Vec<Settlement>, why: &AskerNotice) -> Vec<Settlement> {
    let tell = |(message, settled): (&TurnMessage, Settlement)| {
        let waits = settled.state == MessageState::Accepted && message.in_reply_to.is_none();
        if waits { settled.with_notice(why.clone()) } else { settled }
    };
    log.messages.iter().zip(settled).map(tell).collect()
}

fn give_back(message: &TurnMessage, rules: Rules, back: &Return) -> Settlement {
    if back.counts && message.attempt >= rules.max_attempts {
        let dead = Settlement::new(message, MessageState::DeadLetter).because(back.reason.clone());
        let tell = AskerNotice::DeadLetter { attempts: message.attempt };
        return if message.in_reply_to.is_some() { dead } else { dead.with_notice(tell) };
    }
    Settlement {
        not_before: back.not_before,
        counts_attempt: back.counts,
        ..Settlement::new(message, MessageState::Accepted).because(back.reason.clone())
    }
}

/// Keeps one line of a kind for each asker in each place.
fn notify_once(log: &TurnLog, settled: &mut [Settlement]) {
    let mut told = HashSet::new();
    for (message, settlement) in log.messages.iter().zip(settled) {
        if let Some(tell) = &settlement.tell
            && !told.insert((place(message), fold(&message.asker), tell.clone()))
        {
            settlement.tell = None;
        }
    }
}

#[cfg(test)]
mod tests;
