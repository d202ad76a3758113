//! From the open socket to `Up`: capabilities, SASL PLAIN, NICK and USER, end of the greeting.
//!
//! NICK and USER go out together with `CAP LS`, so a server without capabilities lets us in as it
//! always did. The end of the greeting is the message of the day's end, or the PONG to a PING sent
//! after 001 (for servers without a message of the day), or two seconds.

use std::time::Duration;

use gangline_core::name::Nick;

use super::{Phase, Retry, Session};
use crate::{
    client::{LinkEvent, NickTrouble, Timing},
    wire::{Message, caps, caps::CapSet, multiline, numeric, sasl},
};

/// The token of the PING that ends the greeting.
pub(super) const UP_TOKEN: &str = "gangline-up";
/// How long after 001 a server may stay silent.
const GREETING: Duration = Duration::from_secs(2);
/// What is asked for when it is offered.
const WANTED: [&str; 10] = [
    caps::MESSAGE_TAGS,
    caps::SERVER_TIME,
    caps::ECHO_MESSAGE,
    caps::LABELED_RESPONSE,
    caps::BATCH,
    caps::ACCOUNT_TAG,
    caps::CHATHISTORY,
    multiline::MULTILINE,
    "standard-replies",
    "cap-notify",
];

/// Whether this connection is one that a password may be sent over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum MaySendPassword {
    /// Loopback.
    Yes,
    /// Others could read it.
    No,
}

/// How far registration is.
#[derive(Debug)]
pub(super) struct Registration {
    started: Duration,
    step: Step,
    /// `CAP REQ` lines without an answer.
    asked: usize,
    nick_tries: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Until `CAP END`.
    Negotiating,
    /// Until 903.
    Authenticating,
    /// Until 001.
    Waiting,
    /// 001 came at this time.
    Welcomed(Duration),
}

/// Returns the nick that is tried after so many others: one longer than the wanted one, then two
/// that are no longer than it, for servers where it is as long as a nick may be.
fn neighbour(wanted: &str, tries: usize) -> Option<String> {
    let keep = match tries {
        0 => wanted.len(),
        1 => wanted.len().checked_sub(1)?,
        2 => wanted.len().checked_sub(2)?,
        _ => return None,
    };
    let kept = wanted.get(..keep)?;
    Some(format!("{kept}{}", "_".repeat(tries.max(1))))
}

impl Registration {
    pub(super) fn deadline(&self, timing: &Timing) -> Duration {
        match self.step {
            Step::Welcomed(at) => at + GREETING,
            Step::Negotiating | Step::Authenticating | Step::Waiting => {
                self.started + timing.register_within
            }
        }
    }
}

impl Session {
    pub(super) fn begin_registration(&mut self, now: Duration) {
        let step = Step::Negotiating;
        self.phase =
            Phase::Registering(Registration { started: now, step, asked: 0, nick_tries: 0 });
        let nick = self.wanted_nick().to_string();
        self.send(&Message::new("CAP").param("LS").param(caps::VERSION));
        self.send(&Message::new("NICK").param(nick));
        let user = Message::new("USER").param(self.config.username.clone()).param("0").param("*");
        self.send(&user.trailing(self.config.realname.clone()));
    }

    pub(super) fn tick_registration(&mut self, now: Duration) {
        let Phase::Registering(registration) = &self.phase else { return };
        if now < registration.deadline(&self.config.timing) {
            return;
        }
        match registration.step {
            Step::Welcomed(_) => self.registration_seen_to_end(now),
            Step::Negotiating | Step::Authenticating | Step::Waiting => {
                self.close("the server did not let us in in time", Retry::Usual);
            }
        }
    }

    pub(super) fn capability_reply(&mut self, message: &Message) {
        let Some(reply) = caps::reply(message) else { return };
        match reply.verb.as_str() {
            "LS" => {
                self.offered.add(reply.list);
                if !reply.more {
                    self.ask_for_capabilities();
                }
            }
            "NEW" => {
                self.offered.add(reply.list);
                self.ask_for_new(&CapSet::parse(reply.list));
            }
            "DEL" => {
                CapSet::parse(reply.list).names().for_each(|name| self.caps.remove(name));
                self.echoes_may_be_gone();
            }
            "ACK" => {
                self.caps.acknowledge(reply.list);
                self.capabilities_answered();
            }
            "NAK" => self.capabilities_refused(reply.list),
            _ => {}
        }
    }

    fn ask_for_capabilities(&mut self) {
        let sasl = self.may_authenticate();
        let Phase::Registering(registration) = &mut self.phase else { return };
        if registration.step != Step::Negotiating || registration.asked > 0 {
            return;
        }
        let mut list: Vec<&str> =
            WANTED.into_iter().filter(|name| self.offered.has(name)).collect();
        if sasl {
            list.push(caps::SASL);
        }
        registration.asked = 1;
        if list.is_empty() {
            self.capabilities_answered();
        } else {
            self.send(&Message::new("CAP").param("REQ").trailing(list.join(" ")));
        }
    }

    /// Capabilities that a module or a linked server brings later. For a login we come anew.
    fn ask_for_new(&mut self, new: &CapSet) {
        if self.is_online() && !self.logged_in && self.may_authenticate() {
            return self.close("the server offers logins now", Retry::Usual);
        }
        let list: Vec<&str> = WANTED.into_iter().filter(|name| new.has(name)).collect();
        if self.is_online() && !list.is_empty() {
            self.send(&Message::new("CAP").param("REQ").trailing(list.join(" ")));
        }
    }

    /// A refused list is asked for again one by one: servers refuse it whole.
    fn capabilities_refused(&mut self, list: &str) {
        let names: Vec<&str> = list.split(' ').filter(|name| WANTED.contains(name)).collect();
        let sasl = list.split(' ').any(|name| name == caps::SASL);
        if let Phase::Registering(registration) = &mut self.phase
            && names.len() > 1
        {
            registration.asked += names.len() + usize::from(sasl);
            let singly = names.into_iter().chain(sasl.then_some(caps::SASL));
            for name in singly {
                self.send(&Message::new("CAP").param("REQ").trailing(name));
            }
        }
        self.capabilities_answered();
    }

    fn capabilities_answered(&mut self) {
        let has_sasl = self.caps.has(caps::SASL);
        let Phase::Registering(registration) = &mut self.phase else { return };
        registration.asked = registration.asked.saturating_sub(1);
        if registration.asked > 0 || registration.step != Step::Negotiating {
            return;
        }
        if has_sasl {
            registration.step = Step::Authenticating;
            self.send(&Message::new("AUTHENTICATE").param("PLAIN"));
        } else {
            self.end_negotiation();
        }
    }

    fn end_negotiation(&mut self) {
        if let Phase::Registering(registration) = &mut self.phase {
            registration.step = Step::Waiting;
        }
        self.send(&Message::new("CAP").param("END"));
    }

    fn may_authenticate(&self) -> bool {
        let plain = match self.offered.value(caps::SASL) {
            Some(mechanisms) => mechanisms.split(',').any(|m| m.eq_ignore_ascii_case("PLAIN")),
            None => self.offered.has(caps::SASL),
        };
        plain && self.config.sasl.is_some() && self.password == MaySendPassword::Yes
    }

    pub(super) fn authenticate(&mut self, message: &Message) {
        let Phase::Registering(registration) = &self.phase else { return };
        if registration.step != Step::Authenticating || message.at(0) != Some("+") {
            return;
        }
        let Some((account, password)) = &self.config.sasl else { return };
        for chunk in sasl::plain(account, password.expose()) {
            self.send(&Message::new("AUTHENTICATE").param(chunk));
        }
    }

    /// 900 … 908. A refused password is final for this connection, and the next one is late.
    pub(super) fn sasl_reply(&mut self, number: u16, message: &Message) {
        let Phase::Registering(registration) = &self.phase else { return };
        if registration.step != Step::Authenticating {
            return;
        }
        match number {
            numeric::RPL_SASLSUCCESS | numeric::ERR_SASLALREADY => {
                self.logged_in = true;
                self.end_negotiation();
            }
            numeric::ERR_NICKLOCKED
            | numeric::ERR_SASLFAIL
            | numeric::ERR_SASLTOOLONG
            | numeric::ERR_SASLABORTED => {
                let words = message.params.last().cloned().unwrap_or_default();
                let why = format!("the server refused the account's password: {words}");
                self.nick_problem(NickTrouble::Login, None, why.clone());
                self.close(why, Retry::Slow);
            }
            _ => {}
        }
    }

    /// A nick was refused before 001. The next of those that may be tried instead is asked for, told,
    /// not hidden. Without a list of them it is a neighbour of one that somebody has; one that the
    /// server will never take (too long for it, or reserved) is given up.
    pub(super) fn nick_refused_at_registration(&mut self, number: u16, words: &str) {
        let Phase::Registering(registration) = &mut self.phase else { return };
        let tries = registration.nick_tries;
        registration.nick_tries += 1;
        let listed = !self.config.instead.is_empty();
        if tries == 0 && number == numeric::ERR_ERRONEUSNICKNAME && !listed {
            self.nick_problem(NickTrouble::NotAllowed, None, words.to_owned());
            return self
                .close(format!("the server does not accept the nick: {words}"), Retry::Slow);
        }
        let other = match listed {
            true => self.config.instead.get(tries).map(Nick::to_string),
            false => neighbour(self.wanted_nick().as_str(), tries),
        };
        let Some(other) = other else {
            self.nick_problem(NickTrouble::Taken, None, words.to_owned());
            return self.close(format!("no nick is free: {words}"), Retry::Slow);
        };
        self.nick_problem(NickTrouble::Taken, Some(other.clone()), words.to_owned());
        self.send(&Message::new("NICK").param(other));
    }

    pub(super) fn welcomed(&mut self, now: Duration, message: &Message) {
        let Phase::Registering(registration) = &mut self.phase else { return };
        if let Step::Welcomed(_) = registration.step {
            return;
        }
        let authenticated = self.caps.has(caps::SASL);
        let greeted_early = registration.step != Step::Waiting;
        registration.step = Step::Welcomed(now);
        self.server.name = message.source.clone().unwrap_or_default();
        let nick = message.at(0).unwrap_or_default().to_owned();
        self.nick.now_is(&nick);
        if self.config.sasl.is_some() && (!authenticated || greeted_early) {
            let why = "not logged in: the server offers no SASL PLAIN, or is not on loopback";
            self.nick_problem(NickTrouble::Login, Some(nick), why.to_owned());
        }
        self.send(&Message::new("PING").trailing(UP_TOKEN));
    }

    /// The greeting is over: the server has accepted us.
    pub(super) fn registration_seen_to_end(&mut self, now: Duration) {
        let Phase::Registering(registration) = &self.phase else { return };
        let Step::Welcomed(_) = registration.step else { return };
        self.phase = Phase::Online;
        if self.server.own {
            self.sending.is_at_home(now);
        }
        let nick = self.nick.current().to_owned();
        let network = self.server.network.clone().unwrap_or_else(|| self.server.name.clone());
        if let Some(mode) = self.server.bot_mode.clone().filter(|_| self.config.bot) {
            self.enqueue(Message::new("MODE").param(nick.clone()).param(format!("+{mode}")));
        }
        self.tell(LinkEvent::Up {
            nick,
            caps: self.caps.names().map(str::to_owned).collect(),
            network,
            own_server: self.server.own,
            first: !self.was_up,
            connection: self.connection,
        });
        self.was_up = true;
        self.nick_at_start(now);
        self.join_wanted_rooms(now);
    }
}
