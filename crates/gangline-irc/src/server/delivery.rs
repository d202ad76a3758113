//! After the store has answered: echoes, deliveries, histories, refusals.

use gangline_core::{Tier, name::fold};
use gangline_os::clock::rfc3339;

use super::{
    caps::Caps,
    client::Client,
    client_id::ClientId,
    command,
    flight::{Asker, Done, Draft, Flight, Job, Known, Refusal},
    outgoing::{Mark, Outgoing},
    remarks::Names,
    state::State,
    store::{
        Appended, Conversation, Entry, FindLine, HistoryError, LineKind, NewLine, Party,
        StoredLine, TargetRow,
    },
};
use crate::wire::{batch, numeric as n};

/// Whose conversation a private line belongs to.
enum Whose {
    /// This party's.
    Party(Party),
    /// That of whoever its target's nick reaches.
    ByNick,
    /// It no longer belongs to anybody.
    Nobody,
}

impl State {
    /// Takes an answer of the store, and then what its askers have asked meanwhile.
    pub(super) fn finish(&mut self, done: Done) {
        match done {
            Done::Appended(flights, Ok(kept)) => {
                self.can_write();
                for (flight, kept) in flights.into_iter().zip(kept) {
                    self.finish_line(&flight, kept);
                    self.landed(flight.asker);
                }
            }
            Done::Appended(flights, Err(error)) => {
                tracing::error!(%error, lines = flights.len(), "lines could not be stored");
                self.cannot_write(&error);
                for flight in flights {
                    self.refuse_unkept(&flight, &error);
                    self.landed(flight.asker);
                }
            }
            Done::Drafted(draft, known) => self.finish_draft(*draft, known),
            Done::History(asker, target, found) => {
                self.finish_history(&asker, &target, found);
                self.landed(asker);
            }
            Done::Playback(asker, target, found) => {
                self.finish_playback(&asker, &target, found);
                self.landed(asker);
            }
            Done::HistoryReply(asker, wanted, found) => {
                command::finish_history(self, asker, wanted, found)
            }
            Done::Missed(asker, place, found) => {
                self.finish_missed(asker.id, &place, found);
                self.landed(asker);
            }
            Done::Targets(asker, found) => {
                self.finish_targets(&asker, found);
                self.landed(asker);
            }
            Done::Found(asker, refusal, found) => {
                self.finish_refusal(&asker, &refusal, found);
                self.landed(asker);
            }
            Done::Topic(asker, topic, kept) => command::finish_topic(self, asker, topic, kept),
            Done::Room(asker, room, kept) => command::finish_modes(self, asker, *room, kept),
            Done::Marker(asker, target, marker, kept) => {
                command::finish_marker(self, (asker, target), marker, kept);
            }
            Done::Line(asker, redaction, found) => {
                command::found_to_redact(self, asker, redaction, found);
            }
            Done::Redacted(asker, redaction, line, kept) => {
                command::finish_redaction(self, asker, (redaction, line), kept);
            }
            Done::Kept(Ok(())) => {}
            Done::Kept(Err(error)) => {
                tracing::error!(%error, "a nick, a read position or a room's event was not stored")
            }
        }
    }

    fn finish_line(&mut self, flight: &Flight, kept: Appended) {
        let line = &flight.line;
        match kept {
            Appended::Stored { seq, msgid } => {
                self.newest = self.newest.max(seq);
                let out = Outgoing::kept(&msgid, line);
                self.deliver(flight.asker.id, (seq, &msgid, line), &out);
                self.echo(&flight.asker, &out);
                self.send_away(flight.asker.id, line);
                self.remark(flight.asker.id, line);
            }
            Appended::Duplicate(stored) => {
                let out = Outgoing::stored(&stored);
                self.echo(&flight.asker, &out);
            }
        }
    }

    /// Shows a new line to those it is for, its sender left out (unless it talks to itself). A
    /// private line goes to each session of its party under that session's own nick, and to the other
    /// sessions of its sender.
    fn deliver(
        &mut self,
        sender: ClientId,
        (seq, msgid, line): (i64, &str, &NewLine),
        out: &Outgoing,
    ) {
        let (one, other) = match &line.conversation {
            Conversation::Channel(channel) => {
                if let Some(channel) = self.channels.get_mut(channel.folded()) {
                    channel.newest = seq;
                }
                let ids = self.members(channel.folded(), Some(sender));
                return self.show_all(ids, seq, out);
            }
            Conversation::Direct(one, other) => (one, other),
        };
        let party = if *one == line.sender { other } else { one };
        let target = fold(&line.target);
        for id in self.receivers(party) {
            let Some(nick) = self.client(id).map(|client| client.name().to_owned()) else {
                continue;
            };
            if fold(&nick) == target {
                self.tell(id, out.clone());
            } else if id != sender {
                self.tell(id, Outgoing::kept_to(&nick, msgid, line));
            }
            self.shown_alone(id, seq);
        }
        if *party != line.sender {
            self.deliver_to_own_sessions(sender, (seq, msgid, line));
        }
    }

    /// Shows somebody's private line in the other sessions of their account: as what they said
    /// themselves, under the nick that they have there. Only clients that ask for their own lines can
    /// show one.
    fn deliver_to_own_sessions(
        &mut self,
        sender: ClientId,
        (seq, msgid, line): (i64, &str, &NewLine),
    ) {
        let (Party::Account(_), false) = (&line.sender, line.principal.tier == Tier::Agent) else {
            return;
        };
        for id in self.receivers(&line.sender) {
            let Some(client) = self.client(id).filter(|client| client.caps.has(Caps::ECHO)) else {
                continue;
            };
            if id == sender {
                continue;
            }
            let own = NewLine { source: client.source(), ..line.clone() };
            self.tell(id, Outgoing::kept(msgid, &own));
            self.shown_alone(id, seq);
        }
    }

    /// A private line was queued for a client.
    fn shown_alone(&mut self, id: ClientId, seq: i64) {
        let Some(client) = self.client_mut(id) else { return };
        let bytes = client.queue.pushed();
        if client.reading.shown_alone(bytes, seq) {
            self.somebody_reads();
        }
    }

    /// Takes what the store knows of a private line's conversation: then the line is kept, or
    /// refused.
    fn finish_draft(&mut self, draft: Draft, known: Result<Known, HistoryError>) {
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                tracing::error!(%error, "the conversation of a line could not be looked up");
                let flight = Flight { asker: draft.asker, line: draft.line.into() };
                self.refuse_unkept(&flight, &error);
                return self.landed(flight.asker);
            }
        };
        let Draft { asker, mut line, question } = draft;
        let party = match &known {
            Known::Question(question) => self.answered(&line, question),
            Known::Talked | Known::Nothing => Whose::ByNick,
        };
        let party = match (party, question, known) {
            (Whose::Party(party), _, _) => Some(party),
            (Whose::Nobody, _, _) => None,
            (Whose::ByNick, question, known) => {
                let party = line.target.parse().ok().and_then(|nick| self.party_of(&nick));
                let talked = || match known {
                    Known::Talked => Some(Party::Member(fold(&line.target))),
                    Known::Question(_) | Known::Nothing => None,
                };
                // An answer to a line that is lost must not go to whoever came after its asker.
                let stranger = matches!(party, Some(Party::Stranger(_))) && question.is_some();
                party.or_else(talked).filter(|_| !stranger)
            }
        };
        let Some(party) = party else { return self.refuse_draft(asker, line) };
        line.conversation = Conversation::Direct(line.sender.clone(), party);
        self.flights.push_next(Job::Append(Flight { asker, line: line.into() }));
    }

    /// Returns whose conversation an answer belongs to: that of the line that it names, if it
    /// goes to the nick which that line was said under or to.
    fn answered(&self, line: &NewLine, question: &StoredLine) -> Whose {
        let (asked, me) = (&question.line, &line.sender);
        let asker = fold(asked.source.split('!').next().unwrap_or(""));
        let (party, named) = match &asked.conversation {
            Conversation::Channel(_) => (&asked.sender, asker),
            Conversation::Direct(one, other) if asked.sender == *me => {
                (if one == me { other } else { one }, fold(&asked.target))
            }
            Conversation::Direct(one, other) if one == me || other == me => (&asked.sender, asker),
            Conversation::Direct(..) => return Whose::ByNick,
        };
        let target = fold(&line.target);
        if target != named && target != party.name() {
            return Whose::ByNick;
        }
        match party {
            Party::Account(_) | Party::Member(_) => Whose::Party(party.clone()),
            // Nothing proves a stranger but the connection that has asked.
            Party::Stranger(nick) => {
                let holder = self.by_nick(nick).filter(|holder| holder.party() == *party);
                let same = holder.is_some_and(|holder| holder.named_at <= asked.at);
                if same { Whose::Party(party.clone()) } else { Whose::Nobody }
            }
        }
    }

    fn refuse_draft(&mut self, asker: Asker, line: NewLine) {
        let command = line.kind.as_str().to_owned();
        let (number, target, text) = (n::ERR_NOSUCHNICK, line.target, "No such nick");
        let refusal = Refusal { command, number, target: target.clone(), text };
        // A sender that repeats a line after a crash must hear that it was kept.
        if let Some(key) = line.key {
            let query = FindLine { sender: line.sender, key, target: fold(&target) };
            return self.flights.push_next(Job::Find { asker, refusal, query });
        }
        self.finish_refusal(&asker, &refusal, Ok(None));
        self.landed(asker);
    }

    /// Gives a sender its line back; one that wants no echo but a label has an ACK.
    fn echo(&mut self, asker: &Asker, out: &Outgoing) {
        let Some(client) = self.client(asker.id) else { return };
        let label = asker.label.as_deref();
        if client.caps.has(Caps::ECHO) {
            self.send_marked(asker.id, out, Mark { label, batch: None });
        } else {
            self.answer(asker.id, label, &[]);
        }
    }

    fn send_away(&mut self, sender: ClientId, line: &NewLine) {
        if line.kind != LineKind::Privmsg || line.target.starts_with('#') {
            return;
        }
        let Conversation::Direct(one, other) = &line.conversation else { return };
        let party = if *one == line.sender { other } else { one };
        let target = self.by_nick(&line.target).filter(|target| target.party() == *party);
        let Some(target) = target else { return };
        if let Some(away) = target.away.clone() {
            self.numeric(sender, n::RPL_AWAY, &[&line.target], &away);
        }
    }

    /// Tells a person what there is to say about a line of theirs in a channel.
    fn remark(&mut self, sender: ClientId, line: &NewLine) {
        let Some(remarks) = self.config.remarks.clone() else { return };
        let Conversation::Channel(channel) = &line.conversation else { return };
        let program = line.bot || line.principal.tier == Tier::Agent;
        if program || line.kind != LineKind::Privmsg {
            return;
        }
        let accounts = self.accounts.borrow().clone();
        let inside = |client: &Client| client.channels.contains(channel.folded());
        let is_inside = |name: &str| self.by_nick(name).is_some_and(inside);
        let is_known = |name: &str| is_inside(name) || accounts.get(name).is_some();
        let names = Names { is_known: &is_known, is_inside: &is_inside };
        let Some(text) = remarks.about(&line.text, &names) else { return };
        let now = self.now();
        let Some(nick) = self.client(sender).map(|client| client.name().to_owned()) else { return };
        let notice = Outgoing::new(&self.config.name, "NOTICE", &[&nick], Some(&text)).at(now);
        self.tell(sender, notice);
    }

    fn refuse_unkept(&mut self, flight: &Flight, error: &HistoryError) {
        let asker = &flight.asker;
        let words = [flight.line.kind.as_str(), "STORE_FAILED", &flight.line.target];
        let text = format!("The line was not stored and not delivered: {}", error.why);
        let out = self.fail_line(asker.id, &words, &text);
        self.answer(asker.id, asker.label.as_deref(), &[out]);
    }

    fn finish_refusal(
        &mut self,
        asker: &Asker,
        refusal: &Refusal,
        found: Result<Option<StoredLine>, HistoryError>,
    ) {
        if let Ok(Some(stored)) = found {
            return self.echo(asker, &Outgoing::stored(&stored));
        }
        self.open_scope(asker.id, asker.label.as_deref());
        self.numeric(asker.id, refusal.number, &[&refusal.target], refusal.text);
        self.close_scope(asker.id);
        tracing::debug!(command = refusal.command, number = refusal.number, "line refused");
    }

    fn finish_history(
        &mut self,
        asker: &Asker,
        target: &str,
        found: Result<Vec<StoredLine>, HistoryError>,
    ) {
        match found {
            Ok(found) => {
                let lines: Vec<Outgoing> = found.iter().map(Outgoing::stored).collect();
                self.send_batch(asker, &[batch::CHATHISTORY, target], &lines);
                self.gave_history(asker.id, target, &found);
            }
            Err(error) => self.history_failed(asker, target, &error),
        }
    }

    fn finish_playback(
        &mut self,
        asker: &Asker,
        target: &str,
        found: Result<Vec<Entry>, HistoryError>,
    ) {
        let found = match found {
            Ok(found) => found,
            Err(error) => return self.history_failed(asker, target, &error),
        };
        let extended =
            self.client(asker.id).is_some_and(|client| client.caps.has(Caps::EXTENDED_JOIN));
        let shown = |entry: &Entry| match entry {
            Entry::Line(stored) => Outgoing::stored(stored),
            Entry::Event(event) => Outgoing::happened(event, extended),
        };
        let lines: Vec<Outgoing> = found.iter().map(shown).collect();
        self.send_batch(asker, &[batch::CHATHISTORY, target], &lines);
        let said = found.into_iter().filter_map(|entry| match entry {
            Entry::Line(stored) => Some(stored),
            Entry::Event(_) => None,
        });
        self.gave_history(asker.id, target, &said.collect::<Vec<_>>());
    }

    fn finish_targets(&mut self, asker: &Asker, found: Result<Vec<TargetRow>, HistoryError>) {
        let name = self.config.name.clone();
        let line = |row: &TargetRow| {
            let words = ["TARGETS", &row.name, &rfc3339(row.at)];
            Outgoing::new(&name, "CHATHISTORY", &words, None)
        };
        match found {
            Ok(rows) => {
                let lines: Vec<Outgoing> = rows.iter().map(line).collect();
                self.send_batch(asker, &[batch::CHATHISTORY_TARGETS], &lines);
            }
            Err(error) => self.history_failed(asker, "*", &error),
        }
    }

    fn history_failed(&mut self, asker: &Asker, target: &str, error: &HistoryError) {
        tracing::error!(%error, "history could not be read");
        self.cannot_read(error);
        let words = ["CHATHISTORY", "MESSAGE_ERROR", target];
        let out = self.fail_line(asker.id, &words, "Messages could not be retrieved");
        self.answer(asker.id, asker.label.as_deref(), &[out]);
    }

    /// Sends lines as one batch, which carries the label. A client without batches gets the lines.
    fn send_batch(&mut self, asker: &Asker, kind: &[&str], lines: &[Outgoing]) {
        let Some(client) = self.client(asker.id) else { return };
        let batched = client.caps.has(Caps::BATCH);
        let (name, reference) = (self.config.name.clone(), self.next_batch());
        if batched {
            let start = format!("+{reference}");
            let mut words = vec![start.as_str()];
            words.extend_from_slice(kind);
            let start = Outgoing::new(&name, "BATCH", &words, None);
            let mark = Mark { label: asker.label.as_deref(), batch: None };
            self.send_marked(asker.id, &start, mark);
        }
        for line in lines {
            self.send_marked(asker.id, line, Mark { label: None, batch: Some(&reference) });
        }
        if batched {
            let end = Outgoing::new(&name, "BATCH", &[&format!("-{reference}")], None);
            self.send_marked(asker.id, &end, Mark::default());
        }
    }
}
