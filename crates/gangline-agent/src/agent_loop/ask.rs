//! Approvals of the open turn: asked, announced, withdrawn, decided.

use std::collections::HashMap;

use gangline_api::{approval::wanted, event};
use gangline_core::{
    ApprovalNumber, MessageId, Redactor, Tier, TurnId,
    agent::{ApprovalRequestId, Input},
    alert::text::approval,
    approval::{
        Audience, Decision,
        view::{self, Announcement, Around, Extent, Wanted},
    },
    digest::sha256_hex,
    hook::WebhookEvent,
    rule::Offer,
};
use gangline_runtime::{Answer, ApprovalAsk, ApprovalReply};
use gangline_store::{
    AllowedBefore, Announce, Entry, LineKind, MessageRow, NUMBER_PLACEHOLDER, NewAlert,
    OpenApproval, Send as StoreSend, WithdrawApproval,
};

use super::AgentLoop;
use crate::{bus::Ruled, journal::Single, place, rules, shown_input, texts};

/// The most bytes that are stored of what the agent said before it asked.
const SAID_MAX: usize = 2000;

/// What waits for a human, by the backend's id of the request.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: HashMap<String, Ask>,
    /// What the agent said last in the open turn.
    said: String,
    /// Where the agent works.
    folder: String,
    home: Option<String>,
    /// Decisions that the backend may hear once it is on disk that it does.
    deciding: HashMap<ApprovalNumber, Deciding>,
    /// What people allowed in earlier attempts at messages that wait or are in the open turn.
    allowed: HashMap<MessageId, Vec<AllowedBefore>>,
}

/// A decision on its way to the backend.
#[derive(Debug)]
struct Deciding {
    turn: TurnId,
    request: String,
    decision: Decision,
}

#[derive(Debug)]
struct Ask {
    /// Its arguments are as people see them who decide.
    ask: ApprovalAsk,
    /// Who may be shown them.
    audience: Audience,
    /// What tells its arguments from others, also from those that differ in what is masked only.
    args_hash: String,
    /// The rules that `always` would make of it. Read before its arguments were masked.
    offer: Offer,
    number: Option<ApprovalNumber>,
    /// Why a human said no.
    reason: Option<String>,
}

impl Ask {
    fn of(ask: ApprovalAsk, folder: &str, redactor: &Redactor) -> Self {
        let offer = rules::offer(&ask, folder, redactor);
        let ask = ApprovalAsk { input: rules::with_links(ask.input, &ask.files), ..ask };
        let args_hash = args_hash(&ask);
        let shown = shown_input::shown(&ask.tool, &ask.input, redactor);
        let ask = ApprovalAsk { input: shown.input, ..ask };
        Self { ask, audience: shown.audience, offer, args_hash, number: None, reason: None }
    }

    /// Returns it in one line, for everybody.
    fn summary(&self, wanted: &Wanted) -> String {
        match self.audience {
            Audience::Everybody => view::summary(wanted),
            Audience::Owners => view::WITHHELD.to_owned(),
        }
    }

    /// Returns the line that announces it where this message was said.
    fn announcement(&self, wanted: &Wanted, around: Around<'_>, row: &MessageRow) -> Announcement {
        let by_owner = place::is_private(&row.target) && row.principal.tier == Tier::Owner;
        match self.audience {
            Audience::Owners if !by_owner => view::withheld(around, NUMBER_PLACEHOLDER),
            Audience::Owners => {
                let told = view::announcement(wanted, around, NUMBER_PLACEHOLDER);
                Announcement { extent: Extent::Cut, ..told }
            }
            Audience::Everybody => view::announcement(wanted, around, NUMBER_PLACEHOLDER),
        }
    }
}

impl Asks {
    /// The turn is over.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.said.clear();
        self.deciding.clear();
    }

    /// Notes what people allowed in earlier attempts.
    pub(super) fn allowed_before(&mut self, allowed: Vec<(MessageId, Vec<AllowedBefore>)>) {
        self.allowed.extend(allowed);
    }

    /// These messages are settled.
    pub(super) fn settled(&mut self, messages: &[MessageId]) {
        self.allowed.retain(|message, _| !messages.contains(message));
    }

    /// Returns when this call was allowed in an earlier attempt at the message, and by whom.
    fn before(&self, message: MessageId, asked: &Ask) -> Option<&AllowedBefore> {
        let mut before = self.allowed.get(&message).into_iter().flatten();
        before.find(|it| it.tool == asked.ask.tool && it.args_hash == asked.args_hash)
    }

    /// The agent said something.
    pub(super) fn said(&mut self, text: &str) {
        if !text.trim().is_empty() {
            text[..text.floor_char_boundary(SAID_MAX)].clone_into(&mut self.said);
        }
    }
}

impl AgentLoop {
    /// Says where the agent works, and what its home folder is.
    pub(crate) fn works_in(mut self, folder: String, home: Option<String>) -> Self {
        self.asks.folder = folder;
        self.asks.home = home;
        self
    }

    /// Takes what the backend asks.
    pub(super) fn asked(&mut self, ask: ApprovalAsk) {
        let ask = Ask::of(ask, &self.asks.folder, &self.me.redactor);
        self.asks.open.insert(ask.ask.request.clone(), ask);
    }

    pub(super) fn ask_human(&mut self, turn: TurnId, request: &ApprovalRequestId) {
        let Some(asked) = self.asks.open.get(&request.0) else { return };
        let Ask { ask, offer, args_hash, audience, .. } = asked;
        let message = self.core.view().messages.first().copied();
        let wanted = wanted(&ask.tool, &ask.input);
        let before = message.and_then(|message| self.asks.before(message, asked));
        let announce = self.asker().map(|row| {
            let around = Around {
                agent: self.me.agent.as_str(),
                asker: Some(&row.sender),
                folder: &self.asks.folder,
                home: self.asks.home.as_deref(),
            };
            let told = asked.announcement(&wanted, around, row);
            let mut send = self.say_there(row, turn, announce_key(turn, &request.0), "");
            let lines = texts::approvals::asked(told.text.clone(), before);
            send.lines = lines.iter().map(|line| self.me.redactor.sourced(line).into()).collect();
            let whole = send.lines.iter().all(|line| told.extent_of(&line.text) == Extent::Whole);
            let extent = if whole { Extent::Whole } else { Extent::Cut };
            Announce { send, place: place::of_row(row), extent, question: None }
        });
        // Nothing more of what was shown is hidden where it is stored.
        let (redact, sourced) = (
            |text: &str| self.me.redactor.redact(text),
            |text: &str| self.me.redactor.sourced(text),
        );
        let open = OpenApproval {
            agent: self.me.agent.clone(),
            turn,
            message,
            request: request.0.clone(),
            args_hash: args_hash.clone(),
            summary: sourced(&asked.summary(&wanted)),
            detail: sourced(&ask.input.to_string()),
            audience: *audience,
            folder: sourced(&self.asks.folder),
            said_before: redact(&self.asks.said),
            tool: ask.tool.clone(),
            offer: Some(offer.clone()),
            announce,
        };
        self.journal.push(Single::Approval(Box::new(open)));
    }

    /// An approval has its number.
    pub(super) fn opened(
        &mut self,
        number: ApprovalNumber,
        (turn, request): (TurnId, String),
        decided: Option<Ruled>,
    ) {
        if let Some(ask) = self.asks.open.get_mut(&request) {
            ask.number = Some(number);
            let tool = ask.ask.tool.clone();
            let summary = ask.summary(&wanted(&tool, &ask.ask.input));
            // What is asked in private is not for the alert channel.
            let what = match self.asker().is_some_and(|row| place::is_private(&row.target)) {
                true => format!("{tool}, in a private conversation"),
                false => format!("{tool}: {summary}"),
            };
            self.record(Some(turn), event::ApprovalAsked { number, tool, summary });
            // One that a rule or an earlier word decides waits for nobody.
            if decided.is_none() {
                let text = approval(&self.me.agent, number, &what);
                let text = self.me.redactor.sourced(&text);
                let agent = self.me.agent.clone();
                let alert = NewAlert::new(agent, WebhookEvent::AgentApproval, text);
                self.raise(alert.about(number.0));
            }
        }
        if let Some(ruled) = decided {
            self.decided(number, (turn, request), ruled);
        }
    }

    /// A human decided. The backend hears it once the store has that it does: what a backend may have
    /// done by a decision is never done by the same decision again. Until then every look into the store
    /// tells it anew; it is recorded once.
    pub(super) fn decided(
        &mut self,
        number: ApprovalNumber,
        (turn, request): (TurnId, String),
        Ruled { decision, by, reason }: Ruled,
    ) {
        if self.asks.deciding.contains_key(&number) {
            return;
        }
        let ask = self.asks.open.get_mut(&request);
        let again = ask.is_none() && self.core.view().turn == Some(turn);
        if let Some(ask) = ask {
            ask.reason = reason;
        }
        if !again {
            self.record(Some(turn), event::ApprovalDecided { number, decision, by });
        }
        self.asks.deciding.insert(number, Deciding { turn, request, decision });
        self.journal.push(Entry::Delivered(number));
    }

    /// It is on disk that the backend gets this decision.
    pub(super) fn may_deliver(&mut self, number: ApprovalNumber) {
        let Some(decided) = self.asks.deciding.remove(&number) else { return };
        let Deciding { turn, request, decision } = decided;
        self.think(Input::Decision { turn, request: ApprovalRequestId(request), decision });
    }

    /// Tells the backend what was decided.
    pub(super) fn notify_decision(&mut self, request: ApprovalRequestId, decision: Decision) {
        let reason = self.asks.open.get(&request.0).and_then(|ask| ask.reason.as_deref());
        let answer = match decision {
            Decision::Allow => Answer::Allow,
            Decision::Deny => Answer::Deny { reason: texts::denied(reason) },
        };
        self.reply(request, answer);
    }

    pub(super) fn reply(&mut self, request: ApprovalRequestId, answer: Answer) {
        self.asks.open.remove(&request.0);
        self.generations.decide(ApprovalReply { request: request.0, answer });
    }

    /// Whose message the turn works on, if it was said in a room or to the agent alone.
    pub(super) fn asker(&self) -> Option<&MessageRow> {
        let message = self.core.view().messages.first().copied()?;
        self.rows.get(&message).map(|waiting| &waiting.row).filter(|row| !row.target.is_empty())
    }

    pub(super) fn say_there(
        &self,
        row: &MessageRow,
        turn: TurnId,
        key: String,
        text: &str,
    ) -> StoreSend {
        StoreSend {
            agent: self.me.agent.clone(),
            turn: Some(turn),
            idem_key: key.into(),
            target: row.target.clone(),
            lines: vec![self.me.redactor.redact(text).into()],
            kind: LineKind::Privmsg,
            in_reply_to: None,
            deliver: None,
        }
    }

    /// The backend no longer waits for a decision: tells the humans who were asked.
    pub(super) fn taken_back(&mut self, turn: TurnId, request: &ApprovalRequestId) {
        let Some(Ask { ask, number, .. }) = self.asks.open.remove(&request.0) else { return };
        let key = format!("back-{}", announce_key(turn, &request.0));
        let gone = texts::approval_taken_back(NUMBER_PLACEHOLDER);
        let say = self.asker().map(|row| self.say_there(row, turn, key, &gone));
        let withdraw = WithdrawApproval {
            agent: self.me.agent.clone(),
            turn,
            request: request.0.clone(),
            why: self.me.redactor.redact(texts::TAKEN_BACK),
            say,
        };
        self.journal.push(Single::Withdraw(Box::new(withdraw)));
        let named = number.map_or_else(|| format!("for {}", ask.tool), |number| number.to_string());
        self.record_notice(Some(turn), "approval_withdrawn", texts::approval_taken_back(&named));
    }
}

/// Returns the outbox key of an approval's announcement.
fn announce_key(turn: TurnId, request: &str) -> String {
    format!("{}{turn}-{}", place::ANNOUNCES, short_hash(request.as_bytes()))
}

/// A decision about a call that was only presumed counts once.
fn args_hash(ask: &ApprovalAsk) -> String {
    if ask.presumed {
        return short_hash(ask.request.as_bytes());
    }
    short_hash(format!("{}\n{}", ask.tool, ask.input).as_bytes())
}

fn short_hash(bytes: &[u8]) -> String {
    sha256_hex(bytes, 12)
}

#[cfg(test)]
mod tests;
