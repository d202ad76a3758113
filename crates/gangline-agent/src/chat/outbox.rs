//! The outbox's way out: rows go to the link, and the server's confirmations into the rows.

use std::collections::{HashMap, HashSet};

use gangline_core::{
    Origin, SendKey,
    name::{ChannelName, Nick, Target, fold},
};
use gangline_irc::{client::LinkCommand, wire::numeric};
use gangline_store::{
    LineKind, OutboxId, OutboxRow, PAGE_MAX, Said, Send as StoreSend, SentAs, StoreError,
};
use tracing::{debug, warn};

use super::Chat;
use crate::bus::LINK_QUEUE;

mod sending;

use sending::{Sending, how, key, may_be_whole, named};

#[cfg(test)]
mod tests;

/// The most lines and messages in transit at once; the rest stays in the outbox.
const WINDOW: usize = LINK_QUEUE / 2;

/// Whether a line may already be in the room from an earlier attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Perhaps,
    No,
}

/// What was given to the link and not answered yet, by key.
#[derive(Default)]
pub(super) struct InFlight {
    rows: HashMap<String, (Sending, Before)>,
    /// Confirmed by the server, and the store could not take it yet.
    unrecorded: HashMap<String, (Sending, Said)>,
    /// Were given to the link, and surely never were said.
    unsaid: HashSet<String>,
}

impl InFlight {
    /// A new connection: nothing is in transit. Confirmed lines stay confirmed.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    fn holds(&self, key: &str) -> bool {
        self.rows.contains_key(key) || self.unrecorded.contains_key(key)
    }

    pub(super) fn unconfirmed(&mut self, key: &str) {
        self.rows.remove(key);
    }

    /// The line was not said this time. If it was not before either, saying it again doubles
    /// nothing.
    pub(super) fn not_sent(&mut self, key: &str) {
        if let Some((_, Before::No)) = self.rows.remove(key) {
            self.unsaid.insert(key.to_owned());
        }
    }

    /// Returns whether the line may already be in the room.
    fn before(&self, row: &OutboxRow) -> Before {
        match row.attempts > 0 && !self.unsaid.contains(&key(row)) {
            true => Before::Perhaps,
            false => Before::No,
        }
    }
}

impl Chat {
    /// Gives waiting rows to the link, in order, as far as the window goes.
    pub(super) async fn send_waiting(&mut self) {
        if !self.up || self.in_flight.rows.len() >= WINDOW {
            return;
        }
        // What the link has no room for must not be passed by what follows.
        let room = (WINDOW - self.in_flight.rows.len()).min(self.deps.link.capacity());
        let mut doubtful = HashSet::new();
        let may_go = |row: &OutboxRow| {
            if self.in_flight.holds(&key(row)) {
                return false;
            }
            let place = fold(&row.target);
            if self.is_doubtful(row) {
                doubtful.insert(place);
                return false;
            }
            // Behind one that is doubtful: a room keeps its order.
            !doubtful.contains(&place)
                && !self.addressees.holds(row.id)
                // A channel of ours that is still being joined: its turn comes with `Joined`.
                && !self.waits_for_its_room(row)
                && !self.waits_for_its_form(row)
        };
        let due = match self.waiting(room, may_go).await {
            Ok(due) => due,
            Err(error) => return warn!(%error, "cannot read the outbox"),
        };
        let due = self.for_those_who_are_there(due).await;
        let due = match self.together(due).await {
            Ok(due) => due,
            Err(error) => return warn!(%error, "cannot read the outbox"),
        };
        if due.is_empty() {
            return;
        }
        for form in [SentAs::Lines, SentAs::Whole] {
            let of_form = due.iter().filter(|(sending, _)| sending.sent_as() == form);
            let ids: Vec<OutboxId> = of_form.flat_map(|(sending, _)| sending.ids()).collect();
            if ids.is_empty() {
                continue;
            }
            if let Err(error) = self.deps.store.mark_sent(&ids, form).await {
                return warn!(%error, "cannot mark lines as sent");
            }
        }
        if !self.deps.own {
            let rows = due.iter().map(|(sending, _)| sending.first());
            for row in rows.filter(|row| self.in_flight.before(row) == Before::Perhaps) {
                if let Err(error) = self.deps.store.may_be_doubled(row.id).await {
                    warn!(%error, "cannot record that a line may be doubled");
                }
            }
        }
        gangline_os::failpoint::hit("chat.before_say");
        for (sending, target) in due {
            self.say(sending, target);
        }
        gangline_os::failpoint::hit("chat.after_say");
    }

    /// Returns the first rows that are picked, at most `most`, in order. Looks through the whole of
    /// the outbox for them: lines for a room that cannot be joined must not hold up others.
    async fn waiting(
        &self,
        most: usize,
        mut pick: impl FnMut(&OutboxRow) -> bool,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let (store, agent) = (&self.deps.store, &self.deps.agent);
        let mut picked = Vec::new();
        let mut after = OutboxId(0);
        loop {
            let rows = store.outbox_pending_after(agent, after, PAGE_MAX).await?;
            let last = rows.last().map(|row| row.id);
            let full = rows.len() >= PAGE_MAX as usize;
            let rows = rows.into_iter().map(|row| self.as_said_here(row));
            picked.extend(rows.filter(|row| pick(row)).take(most - picked.len()));
            match last {
                Some(last) if full && picked.len() < most => after = last,
                Some(_) | None => return Ok(picked),
            }
        }
    }

    /// A line that was said before to a server that is not ours may stand in the room already:
    /// its history is looked at first. Of a room that the agent has left it is not.
    fn is_doubtful(&self, row: &OutboxRow) -> bool {
        if self.deps.own || self.in_flight.before(row) == Before::No {
            return false;
        }
        let Ok(Target::Channel(channel)) = row.target.parse() else { return false };
        let wanted = self.deps.wanted.borrow().contains(&channel);
        wanted && !self.cursors.has_shown(&Target::Channel(channel))
    }

    /// On a server that is not ours no id is known again, and everything is said line by line.
    fn as_said_here(&self, row: OutboxRow) -> OutboxRow {
        match self.deps.own {
            true => row,
            false => OutboxRow { sent_as: None, ..row },
        }
    }

    /// Whether the row was said as part of one message, and this connection takes none. It waits:
    /// said otherwise it would be another message.
    fn waits_for_its_form(&self, row: &OutboxRow) -> bool {
        row.sent_as == Some(SentAs::Whole) && !self.takes_several
    }

    /// Puts the rows together that go out as one message: of their send all rows, also those that
    /// were not picked.
    async fn together(
        &self,
        due: Vec<(OutboxRow, Target)>,
    ) -> Result<Vec<(Sending, Target)>, StoreError> {
        let mut forms: HashMap<SendKey, SentAs> = HashMap::new();
        let mut sendings: Vec<(Sending, Target)> = Vec::with_capacity(due.len());
        for (row, target) in due {
            if !self.takes_several || !may_be_whole(&row) {
                sendings.push((row.into(), target));
                continue;
            }
            match forms.get(&row.idem_key) {
                Some(SentAs::Whole) => continue,
                Some(SentAs::Lines) => {
                    sendings.push((row.into(), target));
                    continue;
                }
                None => {}
            }
            let (store, agent) = (&self.deps.store, &self.deps.agent);
            let rows = store.outbox_by_idem(agent, row.idem_key.as_str()).await?;
            let form = how(&rows);
            forms.insert(row.idem_key.clone(), form);
            let whole = if form == SentAs::Whole { Sending::whole(rows) } else { None };
            sendings.push((whole.unwrap_or_else(|| row.into()), target));
        }
        Ok(sendings)
    }

    fn say(&mut self, sending: Sending, target: Target) {
        let say = sending.say(target, self.connection);
        let key = say.key.clone();
        let before = self.in_flight.before(sending.first());
        self.in_flight.unsaid.remove(&key);
        if self.command(LinkCommand::Say(say)) {
            self.in_flight.rows.insert(key, (sending, before));
        } else if before == Before::No {
            self.in_flight.unsaid.insert(key);
        }
    }

    pub(super) async fn confirmed(&mut self, key: &str, taken: Said) {
        let Some((sending, _)) = self.in_flight.rows.remove(key) else {
            return self.confirmed_from_history(key, taken).await;
        };
        gangline_os::failpoint::hit("chat.before_confirm");
        self.hand_own_to_rooms((sending.first(), sending.on_one_line()), &taken).await;
        if !self.settle_confirmed(&sending, &taken).await {
            self.in_flight.unrecorded.insert(key.to_owned(), (sending, taken));
        }
        if self.in_flight.rows.len() < WINDOW / 2 {
            self.deps.outbox.notify_one();
        }
    }

    /// Records a confirmation; returns whether the store took it.
    async fn settle_confirmed(&self, sending: &Sending, taken: &Said) -> bool {
        if let Err(error) = self.deps.store.confirm(&sending.ids(), taken.clone()).await {
            // After a crash the successor says it again, and our own server knows it.
            warn!(%error, "cannot record a confirmation");
            return false;
        }
        true
    }

    /// Records what could not be recorded when it was confirmed.
    pub(super) async fn record_confirmed(&mut self) {
        for (key, (sending, taken)) in std::mem::take(&mut self.in_flight.unrecorded) {
            if !self.settle_confirmed(&sending, &taken).await {
                self.in_flight.unrecorded.insert(key, (sending, taken));
            }
        }
    }

    /// History showed a line of ours whose confirmation we never got.
    async fn confirmed_from_history(&mut self, key: &str, taken: Said) {
        let Some((idem_key, part)) = key.rsplit_once('.') else { return };
        let rows = self.deps.store.outbox_by_idem(&self.deps.agent, idem_key).await;
        if let Some(sending) = named(part, rows.unwrap_or_default()) {
            self.hand_own_to_rooms((sending.first(), sending.on_one_line()), &taken).await;
            if !self.settle_confirmed(&sending, &taken).await {
                self.in_flight.unrecorded.insert(key.to_owned(), (sending, taken));
            }
        }
    }

    pub(super) async fn failed(&mut self, key: &str, why: &str, number: Option<u16>) {
        let Some((sending, before)) = self.in_flight.rows.remove(key) else { return };
        let row = sending.first();
        if self.deps.own && why.starts_with("STORE_FAILED") {
            // Not kept and not delivered: it stays in the outbox and is said again at the tick.
            return debug!(key, why, "the server's store cannot write");
        }
        debug!(key, why, number, "the server refused a line");
        if number.is_some() && self.waits_for_its_room(row) {
            if before == Before::No {
                self.in_flight.unsaid.insert(key.to_owned());
            }
            return;
        }
        if number == Some(numeric::ERR_NOSUCHNICK) && self.waits_for_its_addressee(row).await {
            if before == Before::No {
                self.in_flight.unsaid.insert(key.to_owned());
            }
            return;
        }
        self.give_up_all(&sending, why).await;
    }

    /// Whether the line is for a room of ours that we are not in, such as one that has thrown us
    /// out in the middle of an answer: its turn comes when we are back.
    fn waits_for_its_room(&self, row: &OutboxRow) -> bool {
        let Ok(Target::Channel(channel)) = row.target.parse() else { return false };
        let (joined, wanted) = (self.deps.joined.borrow(), self.deps.wanted.borrow());
        wanted.contains(&channel) && !joined.contains(&channel)
    }

    /// A room does not let us in: what waits for it cannot be said.
    pub(super) async fn give_up_room(&mut self, channel: &ChannelName, why: &str) {
        let mut after = OutboxId(0);
        loop {
            let (store, agent) = (&self.deps.store, &self.deps.agent);
            let rows = match store.outbox_pending_after(agent, after, PAGE_MAX).await {
                Ok(rows) => rows,
                Err(error) => return warn!(%error, "cannot read the outbox"),
            };
            let Some(last) = rows.last().map(|row| row.id) else { return };
            for row in rows {
                let row = self.as_said_here(row);
                let there = matches!(row.target.parse(), Ok(Target::Channel(to)) if to == *channel);
                if there && !self.in_flight.holds(&key(&row)) {
                    self.in_flight.unsaid.remove(&key(&row));
                    self.give_up(row, why).await;
                }
            }
            after = last;
        }
    }

    /// Returns who hears that the line could not be delivered, and the id of what that one said:
    /// who asked for the answer, or the person in whose turn it was said.
    async fn whom_to_notify(&self, row: &OutboxRow) -> Option<(Nick, Option<String>)> {
        let asked = match row.in_reply_to.or_else(|| row.cause_root.filter(|_| row.hops == 1)) {
            Some(message) => self.deps.store.message(message).await.ok().flatten(),
            None => None,
        };
        let question = asked.as_ref().and_then(|asked| asked.msgid.clone());
        if let Some(asker) = &row.tell {
            return Some((asker.parse().ok()?, question));
        }
        let asked = asked.filter(|asked| asked.agent == self.deps.agent)?;
        let here = matches!(asked.origin, Origin::Mention | Origin::Direct);
        if here { Some((asked.sender.parse().ok()?, question)) } else { None }
    }

    /// The line cannot be delivered: its asker gets a private notice, once per send.
    pub(super) async fn give_up(&self, row: OutboxRow, why: &str) {
        self.give_up_all(&row.into(), why).await;
    }

    /// The same of all that was said at once.
    async fn give_up_all(&self, sending: &Sending, why: &str) {
        let row = sending.first();
        let first = match self.deps.store.undeliverable(&sending.ids(), why).await {
            Ok(first) => first,
            Err(error) => return warn!(%error, "cannot record an undeliverable line"),
        };
        if !first || row.idem_key.is_of_undelivered() {
            return;
        }
        let Some((asker, question)) = self.whom_to_notify(row).await else { return };
        // Who is not there cannot be told.
        if asker.folded() == fold(&row.target) && self.addressees.is_waited_for(&row.target) {
            return;
        }
        let what = if row.in_reply_to.is_some() { "my answer" } else { "what I said" };
        let text = format!("{what} could not be delivered to {}: {why}", row.target);
        let told = StoreSend {
            agent: self.deps.agent.clone(),
            turn: None,
            idem_key: SendKey::of_undelivered(&row.idem_key),
            target: asker.to_string(),
            lines: vec![self.deps.redactor.redact(&text).into()],
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        if let Err(error) = self.deps.store.answer(told, question).await {
            warn!(%error, "cannot tell the asker");
        }
        self.deps.outbox.notify_one();
    }
}
