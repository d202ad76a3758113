//! Room words: lines in the chat that are commands or near misses, not prompts. Start at
//! [`Chat::words`].

use gangline_core::{
    ApprovalNumber, MessageState, Principal, Target, Tier, TurnId,
    agent::ContextChange,
    approval::{self, Addressed, ApprovalState},
    cause,
    finding::FindingKind,
    model::ModelName,
    name::{ChannelName, fold},
    pause::PauseReason,
    room_words::{self, Asked, LATELY, Miss, Reading, Reply, RoomWord},
    trust::{self, Action},
};
use gangline_irc::client::Line;
use gangline_os::change_notice;
use gangline_store::{Cancel, FindingFilter, MessageFilter, MessageRow};
use tracing::{info, warn};

use super::{Chat, answer::place_of, bare::Decides, decide::Handled, findings::NO_TURN};
use crate::{
    bus::Incoming,
    model,
    texts::{self, approvals},
};

/// How many of the last messages are searched for the turn that ended last.
const LAST_MESSAGES: u32 = 32;

const NOT_YOUR_TURN: &str = "only an owner may end this turn, since others asked for part of it";

/// The agent's approvals, as far as a line that looks like a decision may be meant for them.
struct Lately {
    open: Vec<ApprovalNumber>,
    /// The outcome of the one that was closed last, within [`LATELY`].
    ended: Option<String>,
}

impl Lately {
    fn reply<'a>(&'a self, said: &'a str, to: &'a str) -> Reply<'a> {
        Reply { said, to, open: &self.open, ended: self.ended.as_deref() }
    }
}

impl Chat {
    /// Takes the line as a room word, a decision or a near miss, if it is one. `text` is without
    /// the mention.
    pub(super) async fn words(
        &mut self,
        line: &Line,
        who: &Principal,
        text: &str,
        addressed: Addressed,
    ) -> Handled {
        // Whatever a stranger says is answered as a prompt of theirs is: in private, once an hour.
        if who.tier == Tier::Stranger {
            return Handled::No;
        }
        if let Some(id) = cause::parse_go_on(text) {
            return self.go_on(line, who, id).await;
        }
        match self.finding_answered(line, who, text).await {
            Handled::No => {}
            done @ (Handled::Yes | Handled::NotNow) => return done,
        }
        match self.question_answered(line, who, text).await {
            Handled::No => {}
            done @ (Handled::Yes | Handled::NotNow) => return done,
        }
        match self.nothing_waits(line, who, text).await {
            Handled::No => {}
            done @ (Handled::Yes | Handled::NotNow) => return done,
        }
        match self.reminded(line, who, text).await {
            Handled::No => {}
            done @ (Handled::Yes | Handled::NotNow) => return done,
        }
        let reading = room_words::read(text, Asked::Not);
        let asked = match who.tier {
            Tier::Owner | Tier::Member => room_words::read(text, Asked::Lately),
            Tier::Agent | Tier::Stranger => reading.clone(),
        };
        let reading = if asked == reading {
            reading
        } else {
            match self.asked_lately().await {
                Some(Asked::Lately) => asked,
                Some(Asked::Not) => reading,
                None => return Handled::NotNow,
            }
        };
        match reading {
            Reading::Decision(word) => {
                match self.answered_by_a_word(line, who, (&word, text), addressed).await {
                    Handled::No => self.decision(line, who, (&word, text), addressed).await,
                    done @ (Handled::Yes | Handled::NotNow) => done,
                }
            }
            Reading::Word(word) => self.room_word(line, who, word).await,
            Reading::Miss(miss) => self.missed(line, who, (text, miss)).await,
            Reading::Prompt => self.answered(line, who, (text, addressed)).await,
        }
    }

    /// Takes a bare `yes` or `no` as the answer to a question, if no approval can be meant.
    async fn answered_by_a_word(
        &mut self,
        line: &Line,
        who: &Principal,
        (word, text): (&str, &str),
        addressed: Addressed,
    ) -> Handled {
        if approval::parse(word).is_none_or(|decision| decision.number.is_some()) {
            return Handled::No;
        }
        match self.asked_lately().await {
            Some(Asked::Lately) => self.bare_answer(line, who, (text, Decides::MayDecide)).await,
            Some(Asked::Not) => self.answered(line, who, (text, addressed)).await,
            None => Handled::NotNow,
        }
    }

    /// Takes a line without a number as an answer, if it counts as one.
    async fn answered(
        &mut self,
        line: &Line,
        who: &Principal,
        (text, addressed): (&str, Addressed),
    ) -> Handled {
        match line.target {
            Target::Channel(_) => self.mention_answers(line, who, (text, addressed)).await,
            Target::Nick(_) => self.bare_answer(line, who, (text, Decides::Nothing)).await,
        }
    }

    /// Returns whether an approval is open or was closed a short while ago; `None` if the store
    /// does not say.
    pub(super) async fn asked_lately(&self) -> Option<Asked> {
        let lately = self.lately().await?;
        let any = !lately.open.is_empty() || lately.ended.is_some();
        Some(if any { Asked::Lately } else { Asked::Not })
    }

    /// Returns what is open, and what became of the approval that was closed last; `None` if the
    /// store does not say.
    async fn lately(&self) -> Option<Lately> {
        let rows = self.deps.store.approvals(Some(&self.deps.agent), false).await;
        let rows = rows.inspect_err(|error| warn!(%error, "cannot read approvals")).ok()?;
        let now = self.deps.clock.now();
        // What rules decided, nobody was asked.
        let ended = rows.iter().filter(|row| !row.is_by_rules()).filter_map(|row| {
            let ago = now.since(row.closed_at?);
            (ago < LATELY).then_some((ago, row))
        });
        let ended = ended.min_by_key(|(ago, _)| *ago);
        let ended = ended.map(|(ago, row)| approvals::ended(row, ago));
        let open = rows.iter().filter(|row| row.state == ApprovalState::Open);
        Some(Lately { open: open.map(|row| row.number).collect(), ended })
    }

    /// Answers a line that may have been meant as a word. An agent's line is never one.
    async fn missed(&self, line: &Line, who: &Principal, (text, miss): (&str, Miss)) -> Handled {
        if who.tier == Tier::Agent || self.deps.policy.may(who, Action::Prompt, 0).is_err() {
            return Handled::No;
        }
        let Some(lately) = self.lately().await else { return Handled::NotNow };
        let to = match line.target {
            Target::Channel(_) => format!("@{} ", self.deps.agent.short()),
            Target::Nick(_) => String::new(),
        };
        self.answer_lines(line, &lately.reply(text, &to).missed(&miss)).await;
        Handled::Yes
    }

    /// A bare `yes` or `no` finds no open approval: it is a prompt if the agent's
    /// last turn answered this person in this place. Shortly after an approval it is no prompt: it
    /// may have been meant for that approval.
    pub(super) async fn nothing_to_decide(
        &self,
        line: &Line,
        who: &Principal,
        text: &str,
    ) -> Handled {
        if who.tier == Tier::Agent || self.deps.policy.may(who, Action::Prompt, 0).is_err() {
            return Handled::No;
        }
        let Some(lately) = self.lately().await else { return Handled::NotNow };
        if lately.ended.is_none() {
            match self.answered_last(line, who).await {
                Some(true) => return Handled::No,
                Some(false) => {}
                None => return Handled::NotNow,
            }
        }
        self.answer(line, &lately.reply(text, "").nothing_to_decide()).await;
        Handled::Yes
    }

    /// Returns whether the agent's last turn answered this person in this place. An open turn has
    /// answered nobody yet.
    async fn answered_last(&self, line: &Line, who: &Principal) -> Option<bool> {
        let filter =
            MessageFilter { agent: Some(self.deps.agent.clone()), ..MessageFilter::default() };
        let rows = self.deps.store.messages(filter, LAST_MESSAGES).await;
        let rows = rows.inspect_err(|error| warn!(%error, "cannot read messages")).ok()?;
        if rows.iter().any(|row| row.state == MessageState::InTurn) {
            return Some(false);
        }
        let place = fold(&place_of(line));
        let taken = rows.iter().filter(|row| row.turn.is_some());
        let last = taken.clone().filter_map(|row| row.turn).max();
        Some(taken.filter(|row| row.turn == last).any(|row| {
            row.state == MessageState::Answered
                && row.principal.account == who.account
                && fold(&row.target) == place
        }))
    }

    /// Carries out a room word if this person may use it, and says why if not.
    async fn room_word(&mut self, line: &Line, who: &Principal, word: RoomWord) -> Handled {
        let no_turn = self.deps.showing.borrow().view.turn.is_none();
        // An agent gives no orders and asks by its tools: "compact", or "more", may be its whole
        // answer to a question.
        if who.tier == Tier::Agent && !matches!(word, RoomWord::Status | RoomWord::Model) {
            return Handled::No;
        }
        if let Err(refusal) = self.deps.policy.may(who, right_for(&word), 0) {
            let asks = self.deps.policy.may(who, Action::Prompt, 0).is_ok();
            // The author of all that the turn works on may end it.
            let abort = word == RoomWord::Abort;
            let own = if abort { self.own_turn(who).await } else { None };
            if let Some(turn) = own {
                self.end_own(line, who, turn).await;
            } else if abort && asks {
                let text = if no_turn { NO_TURN } else { NOT_YOUR_TURN };
                self.answer(line, text).await;
            } else {
                self.answer(line, &refusal.to_string()).await;
            }
            return Handled::Yes;
        }
        match word {
            RoomWord::Help => {
                let lines = room_words::help(self.deps.agent.short());
                self.answer_lines(line, &lines).await;
            }
            RoomWord::Status => {
                let place = place_of(line);
                let text = self.status(&place).await + &self.waits_for_people(&place).await;
                self.answer(line, &text).await;
            }
            RoomWord::Model => {
                let text = self.model();
                self.answer(line, &text).await;
            }
            RoomWord::Queue => return self.queue(line, who).await,
            RoomWord::Cancel(message) => return self.cancel(line, who, message).await,
            RoomWord::Show(number) => return self.show(line, who, number).await,
            RoomWord::More => return self.more(line, who).await,
            RoomWord::StandDown => return self.stand_down(line, who).await,
            RoomWord::SetModel(model) => return self.choose(line, model).await,
            RoomWord::NewSession => {
                return self.change_context(line, who, ContextChange::Clear).await;
            }
            RoomWord::Compact => {
                return self.change_context(line, who, ContextChange::Compact).await;
            }
            RoomWord::Trust => {
                let text = self.untrusted().await;
                self.answer(line, &text).await;
            }
            RoomWord::Pause(ends) => self.pause(line, ends.as_deref()).await,
            RoomWord::Resume => self.resume(line).await,
            RoomWord::Abort if no_turn && !self.is_escalated() => {
                let text = self.aborts();
                self.answer(line, &text).await;
            }
            RoomWord::Abort => self.abort(line, who).await,
        }
        Handled::Yes
    }

    /// Returns what the agent's folder brings along and nobody has allowed. Who allows it must have seen
    /// all of it, which is more than a room can show.
    async fn untrusted(&self) -> String {
        let agent = &self.deps.agent;
        let filter = FindingFilter { agent: Some(agent.clone()), resolved: false };
        let rows = self.deps.store.findings(filter, LAST_MESSAGES).await.unwrap_or_default();
        let kind = Some(FindingKind::UntrustedFolder);
        match rows.iter().find(|row| row.kind.known() == kind) {
            Some(row) => row.cause.to_string(),
            None => format!(
                "nothing in my folder waits for an owner's word; `gangline trust show {agent}` shows what \
                 lies there"
            ),
        }
    }

    /// Returns the open turn, if every message of it is this person's.
    async fn own_turn(&self, who: &Principal) -> Option<TurnId> {
        if who.tier != Tier::Member {
            return None;
        }
        let view = self.deps.showing.borrow().view.clone();
        let mut authors = Vec::new();
        for message in view.messages {
            // Of one that is not known nobody is the author.
            authors.push(self.deps.store.message(message).await.ok()??.principal);
        }
        view.turn.filter(|_| trust::owns_turn(who, &authors))
    }

    /// In this room agents start nothing with the agent until a person mentions it again; what
    /// waits of them there is taken back.
    async fn stand_down(&mut self, line: &Line, who: &Principal) -> Handled {
        let Target::Channel(channel) = line.target.clone() else {
            self.answer(line, "say `stand down` in a room; it has no effect in private").await;
            return Handled::Yes;
        };
        if line.from_history {
            return Handled::Yes;
        }
        if let Err(error) = self.stood_down.add(&channel) {
            warn!(%error, "cannot write where the agent stands down");
            self.answer(line, &format!("I could not store it, so nothing has changed: {error}"))
                .await;
            return Handled::Yes;
        }
        let Some(rows) = self.pending().await else { return Handled::NotNow };
        let theirs = |row: &MessageRow| {
            row.principal.tier == Tier::Agent && fold(&row.target) == channel.folded()
        };
        for row in rows.iter().filter(|row| theirs(row)) {
            if let Ok(Cancel::Done) = self.deps.store.cancel(row.id, &who.account).await {
                self.notify_loop(Incoming::Cancelled { message: row.id }).await;
            }
        }
        info!(%channel, by = who.account, "stands down");
        let mut text =
            format!("I ignore agents in {channel} until a person mentions me here again");
        if self.deps.showing.borrow().view.turn.is_some() {
            text.push_str("; my open turn continues, `stop` ends it");
        }
        self.answer(line, &text).await;
        Handled::Yes
    }

    /// Returns which model the agent uses.
    fn model(&self) -> String {
        let used = self.deps.showing.borrow().note.model.clone();
        match used {
            Some(model) => format!("I use `{model}`; the owner changes it by `model NAME`"),
            None => "I use my backend's own model; the owner changes it by `model NAME`".to_owned(),
        }
    }

    /// Keeps the choice, then has the inbox look at it, as it does when another process chose.
    async fn choose(&self, line: &Line, model: Option<ModelName>) -> Handled {
        // A word from history was said to another state of things.
        if line.from_history {
            return Handled::Yes;
        }
        let deps = &self.deps;
        if model.is_some() && deps.can.fixed_model {
            self.answer(line, texts::FIXED_MODEL).await;
            return Handled::Yes;
        }
        let text = match model::choose(&deps.paths, &deps.agent, &deps.model_owner, model.as_ref())
        {
            Ok(()) => {
                change_notice::notify(&deps.paths.change_notice(deps.agent.as_str()));
                info!(?model, "a model was chosen");
                match model {
                    Some(model) => format!("from the next turn on I use `{model}`"),
                    None => "from the next turn on I use the model of the configuration".to_owned(),
                }
            }
            Err(error) => {
                warn!(%error, "cannot store the choice of a model");
                format!("the model is not changed: {error}")
            }
        };
        self.answer(line, &text).await;
        Handled::Yes
    }

    /// Returns what the agent does, in the words of every other surface (C28).
    /// In another place nothing is quoted of a private turn.
    pub(super) async fn status(&self, place: &str) -> String {
        let mut showing = self.deps.showing.borrow().clone();
        if let Some(task) = &mut showing.note.task
            && task.place.parse::<ChannelName>().is_err()
            && fold(&task.place) != fold(place)
        {
            task.text.clear();
            if let Some(tool) = &mut showing.tool {
                tool.what.clear();
            }
        }
        // The finding that waits says why, to those who may read it.
        for pause in &mut showing.note.pauses {
            pause.note = pause.note.take().filter(|_| pause.reason != PauseReason::Escalation);
        }
        let (agent, epoch) = (&self.deps.agent, self.deps.epoch);
        let around = showing.around(&self.deps.store, agent, self.deps.clock.now()).await;
        showing.status((agent, epoch), around).description
    }
}

/// Returns what somebody must be allowed to do to say the word.
fn right_for(word: &RoomWord) -> Action {
    match word {
        RoomWord::Help
        | RoomWord::Status
        | RoomWord::Queue
        | RoomWord::Cancel(_)
        | RoomWord::Show(_)
        | RoomWord::More
        | RoomWord::Model => Action::Prompt,
        RoomWord::Pause(_)
        | RoomWord::Resume
        | RoomWord::Abort
        | RoomWord::StandDown
        | RoomWord::SetModel(_)
        | RoomWord::NewSession
        | RoomWord::Compact
        | RoomWord::Trust => Action::Operate,
    }
}

#[cfg(test)]
mod tests;
