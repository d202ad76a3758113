//! The intake: turns a line of IRC into a durable message, or into nothing.

use std::sync::Arc;

use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, Target, Tier,
    approval::Addressed,
    mention,
    name::Nick,
    trust::{Action, Refusal},
};
use gangline_irc::client::{Line, LineKind as WireKind};
use gangline_os::clock;
use gangline_store::{
    Accepted, CursorMove, LineKind, MessageFilter, MessageRow, NewMessage, OutboxRow, Said,
};
use tracing::{debug, warn};

use super::{
    Chat, ChatDeps,
    cursors::Written,
    decide::Handled,
    taken::{Taken, intake_key},
};
use crate::{
    bus::Incoming,
    rooms::{Became, By, RoomsCommand, Spoken},
};

/// The maximum number of lines that wait for the store and that no server will send again.
const KEPT_MAX: usize = 256;
/// The number of room words that are recognised when history brings them again.
const WORDS_MAX: usize = 1000;

impl Chat {
    /// Takes a live line.
    pub(super) async fn line(&mut self, line: Line) {
        let Some(conversation) = history_of(&line) else { return };
        if !self.kept.is_empty() {
            return self.keep(line);
        }
        let cursor = self.cursors.after(&conversation, &line);
        match self.take_in(&line, cursor).await {
            Taken::WithCursor(_) => self.cursors.pass(&conversation, &line, Written::Yes),
            Taken::Done(_) => self.cursors.pass(&conversation, &line, Written::No),
            // A successor that took it in again would take a `yes` for a prompt.
            Taken::Word => {
                self.cursors.pass(&conversation, &line, Written::Next);
                self.keep_cursors().await;
            }
            Taken::NotNow if self.history => return self.cursors.lost(&conversation),
            Taken::NotNow => return self.keep(line),
        }
        if let (Target::Nick(_), Some(time), false) =
            (&line.target, &line.server_time, line.from_history)
        {
            self.looked_past(&time.clone()).await;
        }
    }

    /// Keeps a line until the store takes it: the server will not give it again.
    fn keep(&mut self, line: Line) {
        if self.kept.len() < KEPT_MAX {
            self.kept.push_back(line);
        } else {
            warn!(nick = line.nick, "too many lines wait for the store: one is skipped");
        }
    }

    /// Takes the lines that wait for the store, in their order, as far as it takes them now.
    pub(super) async fn take_kept(&mut self) {
        while let Some(line) = self.kept.pop_front() {
            if let Taken::NotNow = self.take_in(&line, None).await {
                return self.kept.push_front(line);
            }
        }
    }

    /// Takes a line, live or from history; then the agent may read it.
    pub(super) async fn take_in(&mut self, line: &Line, cursor: Option<CursorMove>) -> Taken {
        if self.deps.closed.is_cancelled() {
            return Taken::NotNow;
        }
        match line.kind {
            WireKind::Privmsg | WireKind::Action => {}
            // A notice never wakes: it is what programs say to one another.
            WireKind::Notice => return Taken::Done(None),
        }
        let who = self.deps.principal(line).await;
        let tier = who.tier;
        if tier == Tier::Owner && !line.from_history {
            self.owners.heard(self.deps.clock.now());
        }
        let taken = self.take_as(line, who, cursor).await;
        match &taken {
            Taken::WithCursor(message) => {
                self.hand_to_rooms(line, Became::Message(*message), tier).await;
            }
            Taken::Done(message) => {
                let became = message.map_or(Became::Nothing, Became::Message);
                self.hand_to_rooms(line, became, tier).await;
            }
            Taken::Word => self.hand_to_rooms(line, Became::Nothing, tier).await,
            Taken::NotNow => {}
        }
        taken
    }

    async fn take_as(&mut self, line: &Line, who: Principal, cursor: Option<CursorMove>) -> Taken {
        let cause = self.deps.cause(line, &who).await;
        let Some(heard) = self.deps.hear(line, &cause) else { return Taken::Done(None) };
        // A page that the store cannot take to its end comes again.
        if line.from_history && self.words.contains(&intake_key(line)) {
            return Taken::Word;
        }
        match self.words(line, &who, &heard.text, heard.addressed).await {
            Handled::Yes => {
                self.remember_word(line);
                return Taken::Word;
            }
            Handled::NotNow => return Taken::NotNow,
            Handled::No => {}
        }
        let state = match self.deps.policy.may(&who, Action::Prompt, cause.hops) {
            Ok(()) => MessageState::Accepted,
            Err(Refusal::Stranger { .. }) => {
                self.warn_stranger(line, &who).await;
                return Taken::Done(None);
            }
            Err(refusal @ Refusal::Hops { .. }) => {
                debug!(%refusal, "held");
                MessageState::Held
            }
            Err(refusal @ Refusal::Tier { .. }) => {
                debug!(%refusal, "refused");
                self.say_refused(line, &who, &refusal).await;
                MessageState::Refused
            }
        };
        let state = match self.may_start_there(line, &who) {
            true => state,
            false => MessageState::Refused,
        };
        self.accept(line, (who, cause, heard), (state, cursor)).await
    }

    /// A live word of a place whose history is not all taken in stands in a page that is to come.
    fn remember_word(&mut self, line: &Line) {
        let is_to_come = history_of(line).is_some_and(|it| !self.cursors.is_live(&it));
        if line.from_history || !is_to_come {
            return;
        }
        if self.words.len() >= WORDS_MAX {
            self.words.pop_front();
        }
        self.words.push_back(intake_key(line));
    }

    /// Tells a person who is known, and may not prompt this agent.
    async fn say_refused(&mut self, line: &Line, who: &Principal, refusal: &Refusal) {
        let person = match who.tier {
            Tier::Owner | Tier::Member => !line.bot,
            Tier::Agent | Tier::Stranger => false,
        };
        if person && !line.from_history && self.may_notify(&line.nick) {
            self.answer(line, &refusal.to_string()).await;
        }
    }

    /// Returns whether the line may start a turn in its room: where the agent stands down, only a
    /// person's may, and it ends that.
    fn may_start_there(&mut self, line: &Line, who: &Principal) -> bool {
        let Target::Channel(channel) = &line.target else { return true };
        match who.tier {
            Tier::Owner | Tier::Member => {
                self.stood_down.lift(channel, self.said_at(line));
                true
            }
            Tier::Agent | Tier::Stranger => !self.stood_down.is(channel),
        }
    }

    async fn accept(
        &mut self,
        line: &Line,
        (who, cause, heard): (Principal, Cause, Heard),
        (state, cursor): (MessageState, Option<CursorMove>),
    ) -> Taken {
        let deps = &self.deps;
        let with_cursor = cursor.is_some();
        let by = who.clone();
        let too_far = (state == MessageState::Held).then_some(cause.root);
        let message = NewMessage {
            agent: deps.agent.clone(),
            network_id: deps.network_id.clone(),
            intake_key: Some(intake_key(line)),
            origin: heard.origin,
            principal: who,
            sender: line.nick.clone(),
            target: match &line.target {
                Target::Channel(channel) => channel.to_string(),
                Target::Nick(_) => line.nick.clone(),
            },
            body: deps.redactor.redact(&line.text),
            in_reply_to: cause.answers,
            cause_root: cause.root,
            hops: cause.hops,
            state,
            cursor,
            not_before: None,
            msgid: line.msgid.clone(),
        };
        let (agent_loop, rescan) = (deps.agent_loop.clone(), Arc::clone(&deps.rescan));
        let hand_over = move |row: Option<MessageRow>| {
            let row = row.map(|row| Incoming::Accepted(Box::new(row)));
            // A loop that has no room finds the row when it looks.
            if row.is_none_or(|row| agent_loop.try_send(row).is_err()) {
                rescan.notify_one();
            }
        };
        match deps.store.accept_and_notify(message, hand_over).await {
            Ok(Accepted { id, duplicate }) => {
                debug!(%id, duplicate, "accepted");
                if !duplicate && state == MessageState::Accepted {
                    self.watch(line, &by, id);
                }
                if let Some(root) = too_far {
                    self.notify_teller(root.unwrap_or(id)).await;
                }
                if with_cursor { Taken::WithCursor(id) } else { Taken::Done(Some(id)) }
            }
            Err(error) => {
                warn!(%error, "cannot accept a line; it is taken from history later");
                Taken::NotNow
            }
        }
    }

    /// Keeps a line that was taken in for the agent to read: what people and agents say, not what
    /// programs note.
    pub(super) async fn hand_to_rooms(&self, line: &Line, became: Became, tier: Tier) {
        let text = match line.kind {
            WireKind::Privmsg => line.text.clone(),
            WireKind::Action => format!("/me {}", line.text),
            WireKind::Notice => return,
        };
        let Some(place) = conversation(line) else { return };
        // A stranger's message is refused: the agent gets it by reading only.
        let became = if tier == Tier::Stranger { Became::Nothing } else { became };
        if let Target::Channel(channel) = &place
            && !self.deps.wanted.borrow().contains(channel)
        {
            return;
        }
        let told = line.server_time.as_deref().and_then(clock::parse_rfc3339);
        let line_is_old = line.from_history;
        let line = Spoken {
            nick: line.nick.clone(),
            text,
            at: told.unwrap_or_else(|| self.deps.clock.now()),
            msgid: line.msgid.clone(),
            cursor: line.cursor.clone(),
            became,
            tier,
            by: By::Others,
        };
        let told = match line_is_old && self.cursors.is_refilled(&place) {
            true => RoomsCommand::Known { place, line },
            false => RoomsCommand::Line { place, line },
        };
        // The rooms take from their queue whatever happens, so this is a short wait.
        let _ = self.deps.rooms.send(told).await;
    }

    /// Stores a line of the agent's own for readers, once the server has accepted it.
    pub(super) async fn hand_own_to_rooms(&self, (row, text): (&OutboxRow, String), taken: &Said) {
        let Ok(place) = row.target.parse::<Target>() else { return };
        let wanted = match &place {
            Target::Channel(channel) => self.deps.wanted.borrow().contains(channel),
            Target::Nick(_) => true,
        };
        // What others note is not kept either.
        if !wanted || row.kind == LineKind::Notice {
            return;
        }
        let told = taken.at.as_deref().and_then(clock::parse_rfc3339);
        let line = Spoken {
            nick: self.deps.agent.to_string(),
            text,
            at: told.unwrap_or_else(|| self.deps.clock.now()),
            msgid: taken.msgid.clone(),
            cursor: None,
            became: Became::Nothing,
            tier: Tier::Agent,
            by: By::Agent,
        };
        let _ = self.deps.rooms.send(RoomsCommand::Line { place, line }).await;
    }

    /// Tells a stranger why nothing happens, in private and once an hour.
    async fn warn_stranger(&mut self, line: &Line, who: &Principal) {
        let Ok(nick) = line.nick.parse::<Nick>() else { return };
        if line.from_history || line.bot || !self.may_notify_stranger(nick.as_str()) {
            return;
        }
        let text = format!(
            "I know nobody called {}: only members of this installation may prompt me. Log in, or \
             ask its owner",
            who.account
        );
        let key = format!("n-{}", uuid::Uuid::new_v4().simple());
        // Also one who spoke in a room: it is for who spoke, not for the nick.
        self.notify(key, nick.to_string(), (&[text], None), line.msgid.clone()).await;
    }
}

/// What a line means to this agent.
pub(super) struct Heard {
    origin: Origin,
    /// The text without the mention.
    text: String,
    addressed: Addressed,
}

/// Where a line comes from, if an agent of this installation said it.
#[derive(Default)]
pub(super) struct Cause {
    /// The message of ours that it answers.
    answers: Option<MessageId>,
    root: Option<MessageId>,
    hops: i64,
}

impl ChatDeps {
    fn hear(&self, line: &Line, cause: &Cause) -> Option<Heard> {
        let everybody: Vec<&AgentName> = self.everybody.iter().collect();
        let named = mention::addressed(&line.text, &everybody);
        let addressed = if named.len() > 1 { Addressed::Several } else { Addressed::One };
        let origin = match &line.target {
            Target::Nick(_) => Origin::Direct,
            Target::Channel(_) if named.contains(&&self.agent) || cause.answers.is_some() => {
                Origin::Mention
            }
            Target::Channel(_) => return None,
        };
        Some(Heard { origin, text: mention::strip(&line.text, &everybody), addressed })
    }

    /// Reads an agent's line's cause from the outbox that it came from.
    async fn cause(&self, line: &Line, who: &Principal) -> Cause {
        if who.tier != Tier::Agent {
            return Cause::default();
        }
        // A line whose cause is not known counts as the last that may be passed on.
        let far = Cause { hops: self.policy.max_hops, ..Cause::default() };
        // What a colleague's shell says over a connection of its own is in no outbox.
        if !self.own || who.account.starts_with('~') {
            return self.cause_elsewhere(who).await.unwrap_or(far);
        }
        let id = line.gangline_id.as_deref().and_then(|id| id.rsplit_once('.'));
        let (Some((idem_key, _)), Ok(sender)) = (id, who.account.parse()) else {
            return far;
        };
        let rows = self.store.outbox_by_idem(&sender, idem_key).await.unwrap_or_default();
        let Some(row) = rows.into_iter().next() else {
            return far;
        };
        let mut answers = None;
        if let Some(id) = row.in_reply_to
            && let Ok(Some(asked)) = self.store.message(id).await
            && asked.principal.account == self.agent.as_str()
            // Who answered a question did not ask for what follows from it.
            && asked.origin != Origin::Answer
        {
            answers = Some(id);
        }
        Cause { answers, root: row.cause_root, hops: row.hops }
    }

    /// Elsewhere, and of a colleague's shell, nothing tells which line this is: it counts as caused by
    /// the newest message that the colleague was given.
    async fn cause_elsewhere(&self, who: &Principal) -> Option<Cause> {
        let agent = who.account.trim_start_matches('~').parse().ok()?;
        let given = [MessageState::InTurn, MessageState::Answered, MessageState::NoReply];
        let filter =
            MessageFilter { agent: Some(agent), states: given.to_vec(), ..Default::default() };
        let newest = self.store.messages(filter, 1).await.ok()?.pop()?;
        let root = newest.cause_root.or(Some(newest.id));
        Some(Cause { answers: None, root, hops: newest.hops + 1 })
    }
}

/// Returns whose conversation the line belongs to: the channel, or the other person.
fn conversation(line: &Line) -> Option<Target> {
    match &line.target {
        Target::Channel(_) => Some(line.target.clone()),
        Target::Nick(_) => line.nick.parse().ok().map(Target::Nick),
    }
}

/// Returns in whose history the line stands. Our own server keeps what somebody says in private under the
/// account, whatever the nick, and tells of it by that name.
fn history_of(line: &Line) -> Option<Target> {
    let account = line.principal.as_ref().map(|who| &who.account);
    let logged_in =
        account.filter(|it| matches!(line.target, Target::Nick(_)) && !it.starts_with('~'));
    let known = logged_in.and_then(|account| account.parse().ok().map(Target::Nick));
    known.or_else(|| conversation(line))
}

#[cfg(test)]
pub(super) mod tests;
