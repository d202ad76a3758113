//! What one client is told: numerics, standard replies, labelled answers.

use gangline_core::Nick;

use super::{
    caps::Caps,
    client::{Client, Scope},
    client_id::ClientId,
    outgoing::{Copies, Mark, Outgoing},
    state::State,
};
use crate::wire::{batch, numeric as n};

/// Numerics that only a server needs.
pub(super) const RPL_LUSERCLIENT: u16 = 251;
pub(super) const RPL_LUSEROP: u16 = 252;
pub(super) const RPL_LUSERUNKNOWN: u16 = 253;
pub(super) const RPL_LUSERCHANNELS: u16 = 254;
pub(super) const RPL_LUSERME: u16 = 255;
pub(super) const RPL_LOCALUSERS: u16 = 265;
pub(super) const RPL_GLOBALUSERS: u16 = 266;
pub(super) const RPL_USERHOST: u16 = 302;
pub(super) const RPL_WHOSPCRPL: u16 = 354;
pub(super) const ERR_HELPNOTFOUND: u16 = 524;
pub(super) const RPL_HELPSTART: u16 = 704;
pub(super) const RPL_HELPTXT: u16 = 705;
pub(super) const RPL_ENDOFHELP: u16 = 706;
pub(super) const RPL_MONONLINE: u16 = 730;
pub(super) const RPL_MONOFFLINE: u16 = 731;
pub(super) const RPL_MONLIST: u16 = 732;
pub(super) const RPL_ENDOFMONLIST: u16 = 733;

impl State {
    /// Sends a line to one client. While its request is being answered under a label, the line is
    /// kept for that answer. A client that does not read is closed after the current event.
    pub(super) fn tell(&mut self, id: ClientId, out: Outgoing) {
        let Some(client) = self.clients.get_mut(id) else { return };
        let mut mark = Mark::default();
        if let Some(scope) = &mut client.scope {
            mark.batch = scope.batch.as_deref();
            if mark.batch.is_none() {
                scope.answers.push(out);
                return;
            }
        }
        let line = out.render(client.caps, mark);
        self.push(id, line);
    }

    /// Sends a line with a label or batch of its own, past any collected answer.
    pub(super) fn send_marked(&mut self, id: ClientId, out: &Outgoing, mark: Mark<'_>) {
        let Some(client) = self.clients.get(id) else { return };
        let line = out.render(client.caps, mark);
        self.push(id, line);
    }

    /// Sends one line to many.
    pub(super) fn send_all(&mut self, ids: impl IntoIterator<Item = ClientId>, out: &Outgoing) {
        let mut copies = Copies::of(out);
        for id in ids {
            let Some(client) = self.clients.get_mut(id) else { continue };
            if client.scope.is_some() {
                self.tell(id, out.clone());
                continue;
            }
            if client.queue.push(copies.for_caps(client.caps)).is_err() {
                self.doom(id, "SendQ exceeded");
            }
        }
    }

    /// Shows a stored line to many: what each was shown is noted with it.
    pub(super) fn show_all(&mut self, ids: Vec<ClientId>, seq: i64, out: &Outgoing) {
        let mut copies = Copies::of(out);
        let mut followed = false;
        for id in ids {
            let Some(client) = self.clients.get_mut(id) else { continue };
            if client.scope.is_some() {
                // Its answer is being collected; the line goes with it.
                self.tell(id, out.clone());
            } else if client.queue.push(copies.for_caps(client.caps)).is_err() {
                self.doom(id, "SendQ exceeded");
            } else {
                let bytes = client.queue.pushed();
                followed |= client.reading.shown(bytes, seq);
            }
        }
        if followed {
            self.somebody_reads();
        }
    }

    /// Sends one line to those of many who have a capability.
    pub(super) fn send_capable(
        &mut self,
        ids: impl IntoIterator<Item = ClientId>,
        cap: Caps,
        out: &Outgoing,
    ) {
        let able = |id: &ClientId| self.client(*id).is_some_and(|client| client.caps.has(cap));
        let ids: Vec<ClientId> = ids.into_iter().filter(able).collect();
        self.send_all(ids, out);
    }

    fn push(&mut self, id: ClientId, line: bytes::Bytes) {
        let Some(client) = self.clients.get(id) else { return };
        if client.queue.push(line).is_err() {
            self.doom(id, "SendQ exceeded");
        }
    }

    /// Has a client closed when the current event is done.
    pub(super) fn doom(&mut self, id: ClientId, why: &str) {
        // Whoever is gone already went for another reason than what is noticed now.
        let leaving = self.client(id).and_then(|client| client.leaving.clone());
        let why = leaving.as_deref().unwrap_or(why);
        if self.doomed.iter().all(|(known, _)| *known != id) {
            self.doomed.push((id, why.to_owned()));
        }
    }

    /// Returns whether a client is about to be closed; nothing more of it is done.
    pub(super) fn is_doomed(&self, id: ClientId) -> bool {
        self.doomed.iter().any(|(doomed, _)| *doomed == id)
    }

    /// Sends a numeric: the client's nick, words, a text.
    pub(super) fn numeric(&mut self, id: ClientId, number: u16, words: &[&str], text: &str) {
        let out = self.numeric_line(id, number, words, Some(text));
        self.tell(id, out);
    }

    /// Sends a numeric without a text at its end.
    pub(super) fn numeric_words(&mut self, id: ClientId, number: u16, words: &[&str]) {
        let out = self.numeric_line(id, number, words, None);
        self.tell(id, out);
    }

    pub(super) fn numeric_line(
        &mut self,
        id: ClientId,
        number: u16,
        words: &[&str],
        text: Option<&str>,
    ) -> Outgoing {
        let now = self.now();
        let client = self.client(id);
        // A nick that is only wanted is not the client's yet.
        let nick = client.filter(|client| client.is_ready()).map_or("*", Client::name).to_owned();
        let mut all = vec![nick.as_str()];
        all.extend_from_slice(words);
        Outgoing::new(&self.config.name, &n::wire(number), &all, text).at(now)
    }

    /// Sends a standard reply, or 400 to a client that does not know them.
    pub(super) fn fail(&mut self, id: ClientId, words: &[&str], text: &str) {
        let out = self.fail_line(id, words, text);
        self.tell(id, out);
    }

    /// Returns the line that [`State::fail`] sends.
    pub(super) fn fail_line(&mut self, id: ClientId, words: &[&str], text: &str) -> Outgoing {
        let now = self.now();
        let Some(client) = self.client(id) else {
            return Outgoing::new(&self.config.name, "FAIL", words, Some(text));
        };
        let knows = [
            Caps::STANDARD_REPLIES,
            Caps::LABEL,
            Caps::CHATHISTORY,
            Caps::READ_MARKER,
            Caps::MULTILINE,
            Caps::REDACTION,
        ];
        if knows.iter().any(|cap| client.caps.has(*cap)) {
            return Outgoing::new(&self.config.name, "FAIL", words, Some(text)).at(now);
        }
        // Such a client knows numerics alone; this one names the command.
        let about = words.first().copied().unwrap_or("*").to_owned();
        self.numeric_line(id, n::ERR_UNKNOWNERROR, &[&about], Some(text))
    }

    /// Begins to collect the answers to a labelled request.
    pub(super) fn open_scope(&mut self, id: ClientId, label: Option<&str>) {
        let Some(client) = self.clients.get_mut(id) else { return };
        let label = label.filter(|label| client.caps.has(Caps::LABEL) && label.len() <= 64);
        client.scope =
            label.map(|label| Scope { label: label.to_owned(), answers: Vec::new(), batch: None });
    }

    /// Takes the label for an answer that comes later.
    pub(super) fn take_label(&mut self, id: ClientId) -> Option<String> {
        let scope = self.clients.get_mut(id)?.scope.take()?;
        for answer in &scope.answers {
            self.send_marked(id, answer, Mark::default());
        }
        Some(scope.label)
    }

    /// Sends the collected answers: none is an ACK, one carries the label, more are a batch.
    pub(super) fn close_scope(&mut self, id: ClientId) {
        let Some(scope) = self.clients.get_mut(id).and_then(|client| client.scope.take()) else {
            return;
        };
        match &scope.batch {
            Some(batch) => self.end_batch(id, batch),
            None => self.answer(id, Some(&scope.label), &scope.answers),
        }
    }

    /// Begins the batch that answers a labelled request.
    pub(super) fn open_batch(&mut self, id: ClientId, label: &str, batch: &str) {
        let reference = format!("+{batch}");
        let words = [&*reference, batch::LABELED];
        let start = Outgoing::new(&self.config.name, "BATCH", &words, None);
        self.send_marked(id, &start, Mark { label: Some(label), batch: None });
    }

    /// Ends a batch.
    pub(super) fn close_batch(&mut self, id: ClientId, batch: &str) {
        let end = Outgoing::new(&self.config.name, "BATCH", &[&format!("-{batch}")], None);
        self.send_marked(id, &end, Mark::default());
    }

    /// Sends the answers to one request.
    pub(super) fn answer(&mut self, id: ClientId, label: Option<&str>, answers: &[Outgoing]) {
        let name = self.config.name.clone();
        let mark = Mark { label, batch: None };
        match answers {
            [] if label.is_some() => {
                self.send_marked(id, &Outgoing::new(&name, "ACK", &[], None), mark);
            }
            [one] => self.send_marked(id, one, mark),
            many => {
                let batches = self.client(id).is_some_and(|client| client.caps.has(Caps::BATCH));
                let Some(label) = label.filter(|_| batches) else {
                    return many.iter().for_each(|one| self.send_marked(id, one, Mark::default()));
                };
                let batch = self.next_batch();
                self.open_batch(id, label, &batch);
                for one in many {
                    self.send_marked(id, one, Mark { label: None, batch: Some(&batch) });
                }
                self.close_batch(id, &batch);
            }
        }
    }

    /// Tells those who watch this nick that it came (`source`) or went.
    pub(super) fn notify_monitors(&mut self, nick: &Nick, source: Option<&str>) {
        let watching = self.watchers.get(nick.folded());
        let ids: Vec<ClientId> = watching.into_iter().flatten().copied().collect();
        for id in ids {
            match source {
                Some(source) => self.numeric(id, RPL_MONONLINE, &[], source),
                None => self.numeric(id, RPL_MONOFFLINE, &[], nick.as_str()),
            }
        }
    }
}
