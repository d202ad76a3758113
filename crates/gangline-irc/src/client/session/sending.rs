//! Lines on their way out: the queue, the pace, and whether the server has taken each.
//!
//! With echo-message and message-tags a line is confirmed by its echo. Without them a PING goes
//! out right behind each line; servers answer in order, so an error in between is that line's.

use std::{collections::VecDeque, time::Duration};

use gangline_core::name::{ChannelName, Target, fold};

use super::{Phase, Session};
use crate::{
    client::{
        LineKind, LinkEvent, QUEUE_MAX, Say, Timing, TypingState,
        pace::{Bucket, Pace},
    },
    wire::{
        FormatError, Message, Side, batch, caps, ctcp,
        multiline::{CONCAT, Follows, MULTILINE},
        tags, text,
    },
};

/// The most unconfirmed lines at a foreign server: more might be taken for flooding.
const WINDOW: usize = 10;
/// The same for our own server.
const OWN_WINDOW: usize = 64;
/// Names of other requests that are remembered.
const ASKED_MAX: usize = 64;
/// The label of what is no line.
const NOTE_LABEL: &str = "gangline-note";

#[derive(Debug)]
enum Queued {
    Plain(Message),
    Say(Say),
}

/// How the line under way will be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    /// By its echo.
    Echo,
    /// By the PONG to the PING behind it.
    Pong,
    /// The echo is late: a PING asks whether the line was passed over.
    Probe,
}

/// A line that was sent and is not confirmed.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) key: String,
    pub(super) target: String,
    /// Its label, or the token of its PING.
    pub(super) id: String,
    /// Its place among all lines of the link, from 1.
    number: u64,
    awaits: Awaits,
    sent: Duration,
}

impl UnderWay {
    fn due(&self, timing: &Timing) -> Duration {
        self.sent
            + match self.awaits {
                Awaits::Echo => timing.confirm_within,
                Awaits::Pong | Awaits::Probe => timing.confirm_within * 4,
            }
    }

    /// Whether its time counts: nothing is failed by a server that may be gone. If it is, the link
    /// goes down and the line may be said again.
    fn is_judged(&self, silent: bool) -> bool {
        !silent || self.awaits == Awaits::Echo
    }
}

/// All lines that wait or are under way.
#[derive(Debug)]
pub(super) struct Sending {
    queue: VecDeque<Queued>,
    under_way: VecDeque<UnderWay>,
    bucket: Bucket,
    window: usize,
    count: u64,
    /// Names that other requests were sent about, which may be refused, and after how many lines.
    asked: VecDeque<(String, u64)>,
}

impl Sending {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            queue: VecDeque::new(),
            under_way: VecDeque::new(),
            bucket: Bucket::full(pace, Duration::ZERO),
            window: WINDOW,
            count: 0,
            asked: VecDeque::new(),
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.queue.len() + self.under_way.len() < QUEUE_MAX
    }

    pub(super) fn begin(&mut self, pace: Pace, now: Duration) {
        self.bucket = Bucket::full(pace, now);
        self.window = WINDOW;
    }

    /// The server turned out to be our own.
    pub(super) fn is_at_home(&mut self, now: Duration) {
        self.bucket = Bucket::full(Pace::OWN, now);
        self.window = OWN_WINDOW;
    }

    pub(super) fn put_first(&mut self, message: Message) {
        self.queue.push_front(Queued::Plain(message));
    }

    /// Whether a JOIN of the channel waits for its turn.
    pub(super) fn holds_join(&self, channel: &ChannelName) -> bool {
        let names = |message: &Message| {
            let list = message.at(0).unwrap_or_default();
            list.split(',').any(|name| fold(name) == channel.folded())
        };
        self.queue.iter().any(|queued| match queued {
            Queued::Plain(message) => message.command == "JOIN" && names(message),
            Queued::Say(_) => false,
        })
    }

    /// Forgets all lines. Returns the keys of those that were sent and are not confirmed, and of
    /// those that were not sent, oldest first.
    pub(super) fn abandon(&mut self) -> (Vec<String>, Vec<String>) {
        let waiting = self.queue.drain(..).filter_map(|queued| match queued {
            Queued::Say(say) => Some(say.key),
            Queued::Plain(_) => None,
        });
        (self.under_way.drain(..).map(|line| line.key).collect(), waiting.collect())
    }

    /// Forgets the lines that wait to be said there; returns their keys, oldest first.
    pub(super) fn take_back(&mut self, target: &str) -> Vec<String> {
        let mut taken = Vec::new();
        self.queue.retain(|queued| match queued {
            Queued::Say(say) if say.target.folded() == target => {
                taken.push(say.key.clone());
                false
            }
            Queued::Say(_) | Queued::Plain(_) => true,
        });
        taken
    }

    /// When something is due; `silent` while it is doubted that the server is there.
    pub(super) fn deadline(
        &self,
        timing: &Timing,
        may_speak: bool,
        silent: bool,
    ) -> Option<Duration> {
        let confirmation = self.under_way.iter().filter(|line| line.is_judged(silent));
        let confirmation = confirmation.map(|line| line.due(timing)).min();
        let next = self.next(may_speak).map(|_| self.bucket.ready_at());
        confirmation.into_iter().chain(next).min()
    }

    /// Which queued line may go next: lines that wait for our nick hold up no others.
    fn next(&self, may_speak: bool) -> Option<usize> {
        let index =
            self.queue.iter().position(|queued| may_speak || matches!(queued, Queued::Plain(_)))?;
        let held = matches!(self.queue[index], Queued::Say(_)) && self.is_full();
        if held { None } else { Some(index) }
    }

    fn is_full(&self) -> bool {
        self.under_way.len() >= self.window
    }

    fn knows(&self, key: &str) -> bool {
        let queued = |queued: &Queued| matches!(queued, Queued::Say(say) if say.key == key);
        self.queue.iter().any(queued) || self.under_way.iter().any(|line| line.key == key)
    }

    pub(super) fn take(&mut self, is_it: impl FnMut(&UnderWay) -> bool) -> Option<UnderWay> {
        let at = self.under_way.iter().position(is_it)?;
        let line = self.under_way.remove(at)?;
        // Servers answer in order: what was asked before this line is answered.
        self.asked.retain(|(_, after)| *after >= line.number);
        Some(line)
    }

    /// Notes whom a request is about that is no line, so that its refusal is not taken for a line's.
    fn note_request(&mut self, message: &Message) {
        let words = match message.command.as_str() {
            "PING" | "PONG" => 0,
            // INVITE NICK #ROOM, KICK #ROOM NICK
            "INVITE" | "KICK" => 2,
            _ => 1,
        };
        let names = message.params.iter().take(words).flat_map(|word| word.split(','));
        for name in names.filter(|name| !name.is_empty()) {
            self.asked.push_back((fold(name), self.count));
        }
        while self.asked.len() > ASKED_MAX {
            self.asked.pop_front();
        }
    }

    /// Returns whether a request about this name (folded) may have been refused; it was, then.
    pub(super) fn take_request(&mut self, name: &str) -> bool {
        let at = self.asked.iter().position(|(asked, _)| asked == name);
        at.and_then(|at| self.asked.remove(at)).is_some()
    }
}

impl Session {
    /// Queues a line that is not the caller's text.
    pub(super) fn enqueue(&mut self, message: Message) {
        match self.phase {
            Phase::Registering(_) | Phase::Online => {
                self.sending.queue.push_back(Queued::Plain(message));
            }
            Phase::Offline | Phase::Closing => {
                tracing::debug!(command = %message.command, "line dropped while the link is down");
            }
        }
    }

    pub(super) fn say(&mut self, say: Say) {
        if self.sending.knows(&say.key) {
            tracing::debug!(key = %say.key, "line is under way already");
            return;
        }
        match self.phase {
            Phase::Offline | Phase::Closing => {
                self.tell(LinkEvent::NotSent { key: say.key });
            }
            Phase::Registering(_) | Phase::Online => {
                self.sending.queue.push_back(Queued::Say(say));
            }
        }
    }

    /// Typing notes are dropped rather than queued: an old one is worth nothing.
    pub(super) fn typing(&mut self, now: Duration, target: &Target, state: TypingState) {
        let idle = self.sending.queue.is_empty();
        let carried = self.may_speak() && self.may_tag(tags::TYPING);
        if !carried || !idle || !self.sending.bucket.is_ample(now) {
            return;
        }
        let state = match state {
            TypingState::Active => "active",
            TypingState::Done => "done",
        };
        if self.sending.bucket.take(now) {
            let mut note = Message::new("TAGMSG").tagged(tags::TYPING, state);
            // A foreign server's refusal of it must not be taken for that of a line.
            if !self.server.own && self.caps.has(caps::LABELED_RESPONSE) {
                note = note.tagged(tags::LABEL, NOTE_LABEL);
            }
            self.send(&note.param(target.as_str()));
        }
    }

    /// Sends what the pace, the window and our nick allow.
    pub(super) fn pump(&mut self, now: Duration) {
        while self.is_online() {
            let Some(index) = self.sending.next(self.may_speak()) else { return };
            if !self.sending.bucket.take(now) {
                return;
            }
            match self.sending.queue.remove(index) {
                Some(Queued::Plain(message)) => {
                    self.sending.note_request(&message);
                    self.send(&message);
                }
                Some(Queued::Say(say)) => self.put_on_the_wire(now, say),
                None => return,
            }
        }
    }

    fn put_on_the_wire(&mut self, now: Duration, say: Say) {
        self.sending.count += 1;
        let id = format!("gangline-{}", self.sending.count);
        let echo = self.echoes_are_known();
        if !say.further.is_empty() && !self.takes_several() {
            return self.tell(LinkEvent::NotSent { key: say.key });
        }
        let lines = match self.written(&say, &id, echo) {
            Ok(lines) => lines,
            Err(error) => {
                let why = error.to_string();
                return self.tell(LinkEvent::Failed { key: say.key, why, numeric: None });
            }
        };
        for (at, line) in lines.iter().enumerate() {
            // The first one is paid for. What is one message goes out in one piece.
            if at > 0 {
                self.sending.bucket.overdraw();
            }
            self.send(line);
        }
        if !echo {
            self.sending.bucket.overdraw();
            self.send(&Message::new("PING").trailing(id.clone()));
        }
        self.sending.under_way.push_back(UnderWay {
            key: say.key,
            target: say.target.folded().to_owned(),
            id,
            number: self.sending.count,
            awaits: if echo { Awaits::Echo } else { Awaits::Pong },
            sent: now,
        });
    }

    /// Whether our own lines come back, and so that they can be told from one another.
    fn echoes_are_known(&self) -> bool {
        let named = self.caps.has(caps::LABELED_RESPONSE) || self.may_tag(tags::GANGLINE_ID);
        self.has_tags() && self.caps.has(caps::ECHO_MESSAGE) && named
    }

    /// Capabilities were taken away: an echo that has not come may not come any more, and the PONG
    /// to a PING must do.
    pub(super) fn echoes_may_be_gone(&mut self) {
        if self.echoes_are_known() {
            return;
        }
        let mut asked = Vec::new();
        for line in self.sending.under_way.iter_mut().filter(|line| line.awaits == Awaits::Echo) {
            line.awaits = Awaits::Pong;
            asked.push(line.id.clone());
        }
        for id in asked {
            self.send(&Message::new("PING").trailing(id));
        }
    }

    /// Whether the server takes several lines as one message.
    fn takes_several(&self) -> bool {
        self.caps.has(MULTILINE) && self.caps.has(caps::BATCH)
    }

    /// Returns the lines as they go out: the line, or the batch that is the message.
    fn written(&self, say: &Say, id: &str, echo: bool) -> Result<Vec<Message>, FormatError> {
        let tagged = |mut first: Message| {
            if echo && self.caps.has(caps::LABELED_RESPONSE) {
                first = first.tagged(tags::LABEL, id);
            }
            if self.has_tags() {
                first = first.tagged(tags::GANGLINE_ID, say.key.clone());
                if let Some(reply_to) = &say.reply_to {
                    first = first.tagged(tags::REPLY, reply_to.clone());
                }
            }
            first
        };
        let mut lines = Vec::with_capacity(say.further.len() + 3);
        if say.further.is_empty() {
            lines.push(tagged(line(say, &say.text)?));
        } else {
            lines.push(tagged(batch::start(id, MULTILINE).param(say.target.as_str())));
            lines.push(line(say, &say.text)?.tagged(tags::BATCH, id));
            for (follows, text) in &say.further {
                let line = line(say, text)?.tagged(tags::BATCH, id);
                lines.push(match follows {
                    Follows::Anew => line,
                    Follows::On => line.flagged(CONCAT),
                });
            }
            lines.push(batch::end(id));
        }
        for line in &lines {
            line.check_lengths(Side::Client)?;
            line.to_line()?;
        }
        Ok(lines)
    }

    /// A line of our own came back.
    pub(super) fn echoed(&mut self, message: &Message) {
        let label = self.label_of(message);
        let key = message.tag(tags::GANGLINE_ID);
        let line = self
            .sending
            .take(|line| Some(line.key.as_str()) == key || Some(&line.id) == label.as_ref());
        if let Some(line) = line {
            let msgid = message.tag(tags::MSGID).map(str::to_owned);
            let at = message.tag(tags::TIME).map(str::to_owned);
            self.tell(LinkEvent::Confirmed { key: line.key, msgid, at });
        }
    }

    /// History shows a line of our own: whatever became of its confirmation, it was taken.
    pub(super) fn seen_in_history(&mut self, key: String, msgid: Option<String>) {
        self.sending.take(|line| line.key == key);
        self.tell(LinkEvent::Confirmed { key, msgid, at: None });
    }

    /// `ACK`: the labelled line was taken and has no other response.
    pub(super) fn acknowledged(&mut self, message: &Message) {
        let Some(label) = message.label() else { return };
        if let Some(line) = self.sending.take(|line| line.id == label) {
            self.tell(LinkEvent::Confirmed { key: line.key, msgid: None, at: None });
        }
    }

    pub(super) fn line_ponged(&mut self, token: &str) {
        let asked = |line: &UnderWay| line.id == token && line.awaits != Awaits::Echo;
        let Some(line) = self.sending.take(asked) else { return };
        match line.awaits {
            Awaits::Pong | Awaits::Echo => {
                self.tell(LinkEvent::Confirmed { key: line.key, msgid: None, at: None });
            }
            Awaits::Probe => {
                let why = "the server passed over the line".to_owned();
                self.tell(LinkEvent::Failed { key: line.key, why, numeric: None });
            }
        }
    }

    /// Late confirmations: a missing echo is asked for once; a missing PONG is a failure.
    pub(super) fn tick_sending(&mut self, now: Duration) {
        let mut probes = Vec::new();
        for line in &mut self.sending.under_way {
            if line.awaits == Awaits::Echo && line.due(&self.config.timing) <= now {
                line.awaits = Awaits::Probe;
                probes.push(line.id.clone());
            }
        }
        for id in probes {
            self.send(&Message::new("PING").trailing(id));
        }
        let (timing, silent) = (self.config.timing, self.pulse.asked.is_some());
        let is_late = |line: &UnderWay| line.is_judged(silent) && line.due(&timing) <= now;
        while let Some(line) = self.sending.take(is_late) {
            let why = "the server did not confirm the line".to_owned();
            self.tell(LinkEvent::Failed { key: line.key, why, numeric: None });
        }
    }
}

/// Returns the line that says a text where and how the caller wants it.
fn line(say: &Say, text: &str) -> Result<Message, FormatError> {
    let text = text::sanitize(text);
    if text.trim().is_empty() {
        return Err(FormatError::Param { index: 1 });
    }
    let (command, text) = match say.kind {
        LineKind::Privmsg => ("PRIVMSG", text),
        LineKind::Notice => ("NOTICE", text),
        LineKind::Action => ("PRIVMSG", ctcp::action(&text)),
    };
    Ok(Message::new(command).param(say.target.as_str()).trailing(text))
}
