//! T3: the end of a turn in one commit: new states, relayed answers, and notices to askers.

use gangline_api::event;
use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, SendKey, Target, Tier, TurnId,
    answer::{AskerNotice, Settlement},
    forged,
    name::fold,
    outcome::Outcome,
    redact::Redactor,
    split,
};
use gangline_irc::client::TypingState;
use gangline_os::clock::UnixMicros;
use gangline_runtime::FailureKind;
use gangline_store::{EndTurn, Entry, LineKind, MessageRow, NewMessage, Send as StoreSend, Settle};

use super::{AgentLoop, show};
use crate::{
    identity::{Identity, new_event},
    texts,
};

impl AgentLoop {
    pub(super) fn end_turn(&mut self, turn: TurnId, outcome: &Outcome, settled: Vec<Settlement>) {
        let messages = messages_of(&settled);
        for waiting in settled.iter().filter_map(|one| self.rows.get(&one.message)) {
            if let Ok(target) = waiting.row.target.parse::<Target>() {
                self.typing(target, TypingState::Done);
            }
        }
        self.overflow_reported(turn, outcome);
        let reason = settled.iter().find_map(|one| one.reason.as_ref()).map(ToString::to_string);
        let ended = event::TurnEnded { turn, outcome: outcome.into(), reason, messages };
        let end = EndTurn {
            agent: self.me.agent.clone(),
            turn,
            outcome: outcome.into(),
            sends: self.sends(turn, &settled),
            events: new_event(&self.me, Some(turn), &ended.into()).into_iter().collect(),
            withdraw_approvals: Some(texts::turn_over(outcome).to_owned()),
            settle: settled.iter().map(|one| settle(one, &self.me.redactor)).collect(),
        };
        self.close_tools(turn);
        self.turn_reported(turn, outcome, &settled);
        for one in &settled {
            self.rows.remove(&one.message);
        }
        self.asks.settled(&messages_of(&settled));
        self.asks.clear();
        self.steers.clear();
        self.whispers_left();
        if self.notes.turn.take().is_some_and(|(notes, _)| notes == turn) {
            self.check_form(turn);
        }
        self.checkpoint.turn_ends();
        self.compacted();
        self.talk.turn_ends();
        self.ports.context.send_replace(None);
        self.shown.turns += 1;
        self.journal.push(Entry::End(end));
    }

    /// Says that the prompt did not fit, unless it was given again and then ended otherwise.
    fn overflow_reported(&mut self, turn: TurnId, outcome: &Outcome) {
        let overflow = FailureKind::ContextOverflow.as_str();
        if matches!(outcome, Outcome::Failed(kind) if kind == overflow) {
            let why = self.reports.failure.clone().unwrap_or_default();
            self.record_notice(Some(turn), overflow, why);
        }
    }

    /// What was called and has not come back never will: who reads along sees it end. The rules of
    /// the answer do not hear of it, since it says nothing.
    fn close_tools(&mut self, turn: TurnId) {
        for show::Tool { id, name, .. } in std::mem::take(&mut self.shown.tools) {
            let preview = texts::TOOL_CUT_OFF.to_owned();
            self.record(Some(turn), event::ToolResult { id, name, is_error: true, preview });
        }
    }

    fn sends(&self, turn: TurnId, settled: &[Settlement]) -> Vec<StoreSend> {
        let mut sends = Vec::new();
        for one in settled {
            let Some(waiting) = self.rows.get(&one.message) else { continue };
            sends.extend(sends_for(&self.me, turn, &waiting.row, one));
        }
        sends
    }
}

fn messages_of(settled: &[Settlement]) -> Vec<MessageId> {
    settled.iter().map(|one| one.message).collect()
}

/// Returns the lines that one settled message causes: its relayed answer, and what its asker is
/// told. A message from the command line has no place to send to: its row carries the answer.
pub(crate) fn sends_for(
    me: &Identity,
    turn: TurnId,
    row: &MessageRow,
    one: &Settlement,
) -> Vec<StoreSend> {
    let (agent, redactor) = (&me.agent, &me.redactor);
    let mut sends = Vec::new();
    if row.target.is_empty() {
        return sends;
    }
    let colleague = colleague(row, &me.everybody);
    if let Some(answer) = &one.relay {
        let lines = forged::spoken(&redactor.redact(answer), |left| {
            format!("… (+{left} lines: gangline trace {})", row.id)
        });
        sends.push(StoreSend {
            agent: agent.clone(),
            turn: Some(turn),
            idem_key: answer_key(row),
            target: row.target.clone(),
            lines: lines.lines,
            kind: if colleague.is_some() { LineKind::Notice } else { LineKind::Privmsg },
            in_reply_to: Some(row.id),
            deliver: colleague.map(|to| answer_row((agent, to), row, answer, redactor)),
        });
    }
    if let Some(tell) = &one.tell {
        let text = format!("{}: {} ({})", row.sender, tell.text(), row.id);
        sends.push(StoreSend {
            agent: agent.clone(),
            turn: Some(turn),
            idem_key: notice_key(row, tell),
            target: row.target.clone(),
            lines: split::redacted_lines(&redactor.redact(&text), |_| String::new()).lines,
            kind: LineKind::Notice,
            in_reply_to: Some(row.id),
            deliver: None,
        });
    }
    sends
}

/// One line for each attempt that came to nothing; of a rate limit, which may end many of them, one
/// for the message.
fn notice_key(row: &MessageRow, tell: &AskerNotice) -> SendKey {
    let message = format!("w-{}-{:x}", row.id, row.accepted_at.0);
    match tell {
        AskerNotice::RateLimited => format!("{message}-rate").into(),
        AskerNotice::Failed(_)
        | AskerNotice::TurnLost
        | AskerNotice::NeedsLogin
        | AskerNotice::DeadLetter { .. } => format!("{message}-{}", row.takes).into(),
    }
}

/// One answer per message: neither epoch nor attempt is part of its key. The time is, since ids
/// begin anew in a database that replaces a damaged one, and the room keeps keys for ever.
fn answer_key(row: &MessageRow) -> SendKey {
    format!("a-{}-{:x}", row.id, row.accepted_at.0).into()
}

/// Returns the agent of this installation that gets the reply to a message: the one that sent it; or, for an
/// answer or a reminder, the one in whose conversation it was requested.
fn colleague(row: &MessageRow, everybody: &[AgentName]) -> Option<AgentName> {
    match row.origin {
        Origin::Agent => row.principal.account.parse().ok(),
        Origin::Answer | Origin::Reminder => {
            let target = fold(&row.target);
            everybody.iter().find(|it| it.folded() == target).cloned()
        }
        Origin::Mention
        | Origin::Direct
        | Origin::Cli
        | Origin::Http
        | Origin::Wake
        | Origin::System => None,
    }
}

/// A reply to an agent of this installation is a row of its own: the row is the delivery (C15).
fn answer_row(
    (agent, to): (&AgentName, AgentName),
    row: &MessageRow,
    answer: &str,
    redactor: &Redactor,
) -> NewMessage {
    NewMessage {
        agent: to,
        network_id: "local".to_owned(),
        intake_key: Some(format!("{agent}/{}", answer_key(row))),
        origin: Origin::Agent,
        principal: Principal { account: agent.to_string(), tier: Tier::Agent },
        sender: agent.to_string(),
        target: agent.to_string(),
        body: redactor.redact(answer),
        in_reply_to: Some(row.id),
        cause_root: row.cause_root.or(Some(row.id)),
        hops: row.hops + 1,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

/// Returns the settlement as the store takes it.
pub(crate) fn settle(one: &Settlement, redactor: &Redactor) -> Settle {
    Settle {
        message: one.message,
        state: one.state,
        reason: one.reason.as_ref().map(ToString::to_string),
        answer: one.relay.as_ref().map(|text| redactor.redact(text)),
        not_before: one.not_before.map(|at| UnixMicros(at.0)),
        uncount_attempt: !one.counts_attempt,
    }
}
