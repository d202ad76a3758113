//! Our nick: the wanted one, the one we have, and how the first is got back.

use std::time::Duration;

use gangline_core::name::{Nick, fold};

use super::{Phase, Session};
use crate::{
    client::{LinkEvent, NickTrouble, OtherNick},
    wire::Message,
};

/// The wanted nick and the one that the server gave.
#[derive(Debug)]
pub(super) struct OwnNick {
    wanted: Nick,
    current: String,
    told: Option<String>,
    ask_at: Option<Duration>,
}

impl OwnNick {
    pub(super) fn new(wanted: Nick) -> Self {
        Self { wanted, current: String::new(), told: None, ask_at: None }
    }

    pub(super) fn wanted(&self) -> &Nick {
        &self.wanted
    }

    pub(super) fn current(&self) -> &str {
        &self.current
    }

    pub(super) fn now_is(&mut self, nick: &str) {
        nick.clone_into(&mut self.current);
    }

    pub(super) fn forget(&mut self) {
        self.current.clear();
        self.told = None;
        self.ask_at = None;
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.ask_at
    }

    fn is_ours(&self) -> bool {
        fold(&self.current) == self.wanted.folded()
    }

    /// Whether the name is ours: the one we have or the one that is wanted.
    pub(super) fn is_own(&self, nick: &str) -> bool {
        let folded = fold(nick);
        folded == fold(&self.current) || folded == self.wanted.folded()
    }

    /// Whether the name is the one that we have.
    pub(super) fn is_current(&self, nick: &str) -> bool {
        !self.current.is_empty() && fold(nick) == fold(&self.current)
    }
}

impl Session {
    /// Tells of a nick or account that could not be had; once for each substitute.
    pub(super) fn nick_problem(
        &mut self,
        trouble: NickTrouble,
        using: Option<String>,
        why: String,
    ) {
        self.nick.told = using.clone();
        let wanted = self.nick.wanted.clone();
        self.tell(LinkEvent::NickProblem { wanted, using, trouble, why });
    }

    /// Whether lines may be sent under the nick that we have.
    pub(super) fn may_speak(&self) -> bool {
        match self.config.other_nick {
            OtherNick::Speak => self.is_online(),
            OtherNick::Hold => self.is_online() && self.nick.is_ours(),
        }
    }

    /// At `Up`: the server may have given us another nick than any we asked for.
    pub(super) fn nick_at_start(&mut self, now: Duration) {
        if self.nick.is_ours() {
            return;
        }
        let current = self.nick.current.clone();
        if self.nick.told.as_ref() != Some(&current) {
            let why = "the server gave us another nick".to_owned();
            self.nick_problem(NickTrouble::Changed, Some(current), why);
        }
        self.nick.ask_at = Some(now + self.config.timing.regain_every);
    }

    /// A number that refuses a nick. After registration it only answers our own repeated request.
    pub(super) fn nick_refused(&mut self, number: u16, message: &Message) {
        let words = message.params.last().cloned().unwrap_or_default();
        match self.phase {
            Phase::Registering(_) => self.nick_refused_at_registration(number, &words),
            Phase::Online | Phase::Offline | Phase::Closing => {}
        }
    }

    pub(super) fn nick_changed(&mut self, now: Duration, message: Message) {
        let (Some(from), Some(to)) = (message.nick(), message.at(0)) else { return };
        if self.nick.is_current(from) {
            let to = to.to_owned();
            self.nick.now_is(&to);
            let wanted = self.nick.is_ours();
            self.nick.ask_at = (!wanted).then_some(now + self.config.timing.regain_every);
            self.tell(LinkEvent::NickChanged { nick: to.clone(), wanted });
            if !wanted {
                let why = "our nick was changed by the server".to_owned();
                self.nick_problem(NickTrouble::Changed, Some(to), why);
            }
            return;
        }
        if fold(from) == self.nick.wanted.folded() {
            self.ask_for_wanted_nick(now);
        }
        self.pass_other(message);
    }

    pub(super) fn want_nick(&mut self, now: Duration, nick: Nick) {
        self.nick.wanted = nick;
        self.ask_for_wanted_nick(now);
    }

    pub(super) fn tick_nick(&mut self, now: Duration) {
        if self.nick.ask_at.is_some_and(|at| at <= now) {
            self.ask_for_wanted_nick(now);
        }
    }

    pub(super) fn ask_for_wanted_nick(&mut self, now: Duration) {
        self.nick.ask_at = None;
        if !self.is_online() || self.nick.is_ours() {
            return;
        }
        let wanted = self.nick.wanted.to_string();
        self.send(&Message::new("NICK").param(wanted));
        self.nick.ask_at = Some(now + self.config.timing.regain_every);
    }
}
