//! Catching up by CHATHISTORY, one request at a time, and the batches its answers come in.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use gangline_core::name::{Target, fold};

use super::{Retry, Session};
use crate::{
    client::{Line, LinkEvent, PAGE_LINES, QUEUE_MAX, cursor::Cursor},
    wire::{
        Message,
        batch::{self, Mark},
        caps, tags,
    },
};

/// The most batches that are open at once; more are an attack on our memory.
const BATCHES_MAX: usize = 32;
/// The most lines kept of one batch. A server that sends more than we asked for loses nothing:
/// the cursor stays at the last kept line.
const LINES_MAX: usize = 1000;
/// A time after all lines.
const FAR: &str = "timestamp=9999-12-31T23:59:59.999Z";

/// What was asked for.
#[derive(Debug, Clone)]
enum Want {
    Page {
        of: Of,
        after: Option<Cursor>,
    },
    /// The newest lines.
    Latest {
        of: Of,
        lines: usize,
    },
    Targets {
        after: String,
    },
    /// What the server showed when we joined, which the PONG to a PING shows to be all.
    Shown {
        of: Of,
        after: Option<Cursor>,
    },
}

/// Whose history, and the caller's number for its request.
pub(super) type Of = (Target, u64);

#[derive(Debug)]
struct Asked {
    want: Want,
    number: u64,
    label: Option<String>,
    due: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    History,
    Targets,
    Other,
}

/// A batch that is not complete.
#[derive(Debug)]
struct Open {
    kind: Kind,
    /// The number of the request that it answers.
    answers: Option<u64>,
    label: Option<String>,
    parent: Option<String>,
    /// Whose history.
    subject: Option<String>,
    seen: usize,
    lines: Vec<Line>,
    own: Vec<(String, Option<String>)>,
    newest: Option<Cursor>,
    targets: Vec<(Target, String)>,
}

impl Open {
    fn is_shown_to_who_joins(&self) -> bool {
        let of_channel = self.subject.as_deref().is_some_and(|name| name.starts_with('#'));
        self.kind == Kind::History && of_channel
    }
}

/// Requests and open batches of one connection.
#[derive(Debug, Default)]
pub(super) struct History {
    asked: Option<Asked>,
    waiting: VecDeque<Want>,
    batches: HashMap<String, Open>,
    count: u64,
}

impl History {
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.asked.as_ref().map(|asked| asked.due)
    }

    /// Returns the history batch that a batch is or lies in.
    fn root_of(&self, reference: &str) -> Option<String> {
        let mut reference = reference;
        for _ in 0..4 {
            let open = self.batches.get(reference)?;
            match (open.kind, &open.parent) {
                (Kind::History | Kind::Targets, _) => return Some(reference.to_owned()),
                (Kind::Other, Some(parent)) => reference = parent,
                (Kind::Other, None) => return None,
            }
        }
        None
    }

    /// Returns the number of the running request if a batch of this kind answers it.
    fn answered_by(&self, kind: Kind, label: Option<&str>, subject: Option<&str>) -> Option<u64> {
        let asked = self.asked.as_ref()?;
        let fits = match (&asked.want, kind) {
            (Want::Page { of, .. } | Want::Latest { of, .. }, Kind::History) => {
                asked.label.is_some() || subject.is_some_and(|name| fold(name) == of.0.folded())
            }
            (Want::Targets { .. }, Kind::Targets) => true,
            _ => false,
        };
        (fits && asked.label.as_deref() == label).then_some(asked.number)
    }
}

impl Session {
    pub(super) fn catch_up(&mut self, now: Duration, of: Of, after: Option<Cursor>) {
        let want = match self.has_history() {
            true => Want::Page { of: of.clone(), after },
            false => Want::Shown { of: of.clone(), after },
        };
        let asked_for = self.has_history() || self.caps.has(caps::BATCH);
        self.want_lines(now, of, asked_for.then_some(want));
    }

    pub(super) fn latest(&mut self, now: Duration, of: Of, lines: usize) {
        let want = Want::Latest { of: of.clone(), lines };
        let asked_for = self.has_history();
        self.want_lines(now, of, asked_for.then_some(want));
    }

    /// Asks for lines of the target as soon as nothing else is asked for; `None` if this server has
    /// none to give.
    fn want_lines(&mut self, now: Duration, (target, request): Of, want: Option<Want>) {
        if !self.is_online() {
            let why = "the link is down".to_owned();
            return self.tell(LinkEvent::CatchUpFailed { target, request, why });
        }
        let Some(want) = want else {
            return self.tell(LinkEvent::CaughtUp { target, request });
        };
        if self.history.waiting.len() >= QUEUE_MAX {
            let why = "too many requests wait".to_owned();
            return self.tell(LinkEvent::CatchUpFailed { target, request, why });
        }
        self.history.waiting.push_back(want);
        self.ask_history(now);
    }

    pub(super) fn find_targets(&mut self, now: Duration, after: &str) {
        if !self.is_online() {
            let why = "the link is down".to_owned();
            return self.tell(LinkEvent::HistoryTargetsFailed { why });
        }
        if !self.has_history() {
            return self.tell(LinkEvent::HistoryTargets { targets: Vec::new(), more: false });
        }
        self.history.waiting.push_back(Want::Targets { after: after.to_owned() });
        self.ask_history(now);
    }

    pub(super) fn has_history(&self) -> bool {
        self.caps.has(caps::CHATHISTORY) && self.caps.has(caps::BATCH)
    }

    fn ask_history(&mut self, now: Duration) {
        if self.history.asked.is_some() {
            return;
        }
        let Some(want) = self.history.waiting.pop_front() else { return };
        self.history.count += 1;
        let number = self.history.count;
        let due = now + self.config.timing.history_within;
        let request = Message::new("CHATHISTORY");
        let mut request = match &want {
            Want::Shown { .. } => {
                let token = format!("gangline-h{number}");
                self.sending.put_first(Message::new("PING").trailing(token.clone()));
                self.history.asked = Some(Asked { want, number, label: Some(token), due });
                return;
            }
            Want::Page { of: (target, _), after: Some(cursor) } => request
                .param("AFTER")
                .param(target.as_str())
                .param(cursor.as_str())
                .param(PAGE_LINES.to_string()),
            Want::Page { of: (target, _), after: None } => newest(request, target, 1),
            Want::Latest { of: (target, _), lines } => newest(request, target, *lines),
            Want::Targets { after } => request
                .param("TARGETS")
                .param(format!("timestamp={after}"))
                .param(FAR)
                .param(PAGE_LINES.to_string()),
        };
        let mut label = None;
        if self.caps.has(caps::LABELED_RESPONSE) {
            let text = format!("gangline-h{number}");
            request = request.tagged(tags::LABEL, text.clone());
            label = Some(text);
        }
        self.sending.put_first(request);
        self.history.asked = Some(Asked { want, number, label, due });
    }

    /// The label of the request that the line answers: its own, or that of its batch.
    pub(super) fn label_of(&self, message: &Message) -> Option<String> {
        if let Some(label) = message.label() {
            return Some(label.to_owned());
        }
        let open = self.history.batches.get(batch::of(message)?)?;
        open.label.clone()
    }

    pub(super) fn batch_mark(&mut self, now: Duration, message: &Message) {
        match batch::mark(message) {
            Some(Mark::Start { reference, kind, params }) => {
                let kind = match kind {
                    batch::CHATHISTORY => Kind::History,
                    batch::CHATHISTORY_TARGETS | "chathistory-targets" => Kind::Targets,
                    _ => Kind::Other,
                };
                if self.history.batches.len() >= BATCHES_MAX {
                    return self.close("the server opened too many batches", Retry::Usual);
                }
                let label = self.label_of(message);
                let subject = params.first().map(String::as_str);
                let open = Open {
                    kind,
                    answers: self.history.answered_by(kind, label.as_deref(), subject),
                    label,
                    parent: batch::of(message).map(str::to_owned),
                    subject: subject.map(fold),
                    seen: 0,
                    lines: Vec::new(),
                    own: Vec::new(),
                    newest: None,
                    targets: Vec::new(),
                };
                self.history.batches.insert(reference.to_owned(), open);
            }
            Some(Mark::End { reference }) => {
                if let Some(open) = self.history.batches.remove(reference) {
                    self.batch_complete(now, open);
                }
            }
            None => {}
        }
    }

    /// Keeps a line that belongs to a batch of history; false if it belongs to none.
    pub(super) fn history_takes(&mut self, message: &Message) -> bool {
        let root = batch::of(message).and_then(|reference| self.history.root_of(reference));
        let Some(root) = root else { return false };
        let own = message.nick().is_some_and(|nick| self.nick.is_own(nick));
        let line = if own { None } else { self.line_of(message, super::incoming::From::History) };
        let cursor = self.cursor_of(message);
        let Some(open) = self.history.batches.get_mut(&root) else { return false };
        if open.seen >= LINES_MAX {
            return true;
        }
        if open.kind == Kind::Targets {
            if let (Some(target), Some(time)) = (message.at(1), message.at(2))
                && let Ok(target) = target.parse()
            {
                open.seen += 1;
                open.targets.push((target, time.to_owned()));
            }
            return true;
        }
        open.seen += 1;
        open.newest = cursor.or(open.newest.take());
        open.lines.extend(line);
        if let (true, Some(key)) = (own, message.tag(tags::GANGLINE_ID)) {
            open.own.push((key.to_owned(), message.tag(tags::MSGID).map(str::to_owned)));
        }
        true
    }

    /// Returns the place of a line, in the way in which this server can be asked for what follows.
    pub(super) fn cursor_of(&self, message: &Message) -> Option<Cursor> {
        let by_id = || Cursor::msgid(message.tag(tags::MSGID)?).ok();
        let by_time = || Cursor::timestamp(message.tag(tags::TIME)?).ok();
        match self.has_history() && !self.server.history_by_time_only {
            true => by_id().or_else(by_time),
            false => by_time(),
        }
    }

    fn batch_complete(&mut self, now: Duration, open: Open) {
        for (key, msgid) in open.own.clone() {
            self.seen_in_history(key, msgid);
        }
        let answers = self.history.asked.as_ref().map(|asked| asked.number) == open.answers;
        let asked = if answers { self.history.asked.take() } else { None };
        match asked.map(|asked| asked.want) {
            Some(Want::Page { of, after: Some(after) }) => self.page(of, &after, open),
            Some(Want::Page { of, after: None }) => {
                self.newest_page(of, Vec::new(), open.newest);
            }
            Some(Want::Latest { of, .. }) => self.newest_page(of, open.lines, open.newest),
            Some(Want::Targets { .. }) => {
                let more = open.targets.len() >= PAGE_LINES;
                self.tell(LinkEvent::HistoryTargets { targets: open.targets, more });
            }
            // Its answer is a PONG, never a batch.
            Some(Want::Shown { .. }) => {}
            None if open.is_shown_to_who_joins() && !self.has_history() => {
                self.replays.keep(open.subject, open.lines, open.newest);
            }
            // History that nobody asked for, such as a bouncer's playback.
            None => open.lines.into_iter().for_each(|line| self.tell(LinkEvent::Line(line))),
        }
        self.ask_history(now);
    }

    /// Tells of the newest lines all that there is to tell.
    fn newest_page(&mut self, (target, request): Of, lines: Vec<Line>, newest: Option<Cursor>) {
        if let Some(cursor) = newest {
            let target = target.clone();
            self.tell(LinkEvent::HistoryPage { target, lines, cursor, more: false, request });
        }
        self.tell(LinkEvent::CaughtUp { target, request });
    }

    fn page(&mut self, (target, request): Of, after: &Cursor, open: Open) {
        match open.newest {
            _ if open.seen == 0 => self.tell(LinkEvent::CaughtUp { target, request }),
            Some(cursor) if cursor == *after => self.tell(LinkEvent::CaughtUp { target, request }),
            Some(cursor) => self.tell(LinkEvent::HistoryPage {
                target,
                lines: open.lines,
                cursor,
                more: open.seen >= PAGE_LINES,
                request,
            }),
            None => {
                let why = "the server's history has neither ids nor times".to_owned();
                self.tell(LinkEvent::CatchUpFailed { target, request, why });
            }
        }
    }

    /// The running request was refused. A label of another request is not ours to take.
    pub(super) fn history_refused(&mut self, label: Option<&str>, why: &str) {
        if self.history.asked.as_ref().is_none_or(|asked| asked.label.as_deref() != label) {
            return;
        }
        self.fail_history(why);
    }

    fn fail_history(&mut self, why: &str) {
        let Some(asked) = self.history.asked.take() else { return };
        let why = why.to_owned();
        match asked.want {
            Want::Page { of: (target, request), .. }
            | Want::Latest { of: (target, request), .. }
            | Want::Shown { of: (target, request), .. } => {
                self.tell(LinkEvent::CatchUpFailed { target, request, why });
            }
            Want::Targets { .. } => self.tell(LinkEvent::HistoryTargetsFailed { why }),
        }
    }

    /// The server has shown all that it shows to who joins: answers every request that waits for
    /// that, since a JOIN that was seen before this PONG was shown its lines before it too.
    /// Returns false if the token is none of its.
    pub(super) fn shown_ponged(&mut self, now: Duration, token: &str) -> bool {
        let is_it = |asked: &Asked| {
            matches!(asked.want, Want::Shown { .. }) && asked.label.as_deref() == Some(token)
        };
        if !self.history.asked.as_ref().is_some_and(is_it) {
            return false;
        }
        if let Some(Asked { want: Want::Shown { of, after }, .. }) = self.history.asked.take() {
            self.shown(of, after.as_ref());
        }
        for want in std::mem::take(&mut self.history.waiting) {
            match want {
                Want::Shown { of, after } => self.shown(of, after.as_ref()),
                Want::Page { .. } | Want::Latest { .. } | Want::Targets { .. } => {
                    self.history.waiting.push_back(want);
                }
            }
        }
        self.ask_history(now);
        true
    }

    /// Takes an error number that refuses the running request; false if it does not.
    pub(super) fn history_numeric(&mut self, message: &Message) -> bool {
        let Some(asked) = &self.history.asked else { return false };
        let label = self.label_of(message);
        let labelled = label.is_some() && label == asked.label;
        if !labelled && message.at(1) != Some("CHATHISTORY") {
            return false;
        }
        let why = message.params.last().cloned().unwrap_or_default();
        self.fail_history(&why);
        true
    }

    pub(super) fn tick_history(&mut self, now: Duration) {
        if self.history.asked.as_ref().is_some_and(|asked| asked.due <= now) {
            self.fail_history("the server did not answer");
        }
        self.ask_history(now);
    }
}

/// Returns the request for the target's newest lines.
fn newest(request: Message, target: &Target, lines: usize) -> Message {
    request.param("LATEST").param(target.as_str()).param("*").param(lines.to_string())
}
