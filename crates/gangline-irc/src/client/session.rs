//! The rules of one link without any socket: what comes from the server, what is commanded and
//! how late it is go in; lines to send, events and the request to hang up come out.
//!
//! Every function takes `now`, the monotonic time. Parts: `register` (capabilities, SASL, nick
//! until the server has accepted us), `nick`, `rooms` (channels), `sending` (queue, pace and
//! confirmation of lines), `history`, `replay` (history that is shown to who joins), `incoming`,
//! `multiline` (several lines that are one message), `members` (how many are in our channels).

use std::time::Duration;

use gangline_core::name::Nick;

use super::{LinkCommand, LinkConfig, LinkEvent, Others};
use crate::wire::{Message, caps, caps::CapSet, numeric};

mod history;
mod incoming;
mod members;
mod multiline;
mod nick;
mod refusals;
pub(super) mod register;
mod replay;
mod rooms;
mod sending;

/// What the session wants done, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    /// Send this line, CR LF included.
    Line(String),
    /// Tell the caller.
    Event(Box<LinkEvent>),
    /// Hang up.
    Close {
        /// Why, for `Down`.
        why: String,
        /// When to come back.
        retry: Retry,
    },
}

/// When to connect again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// By the usual backoff.
    Usual,
    /// After the longest wait: what was refused will not be granted in a second.
    Slow,
}

/// Where the connection stands.
#[derive(Debug)]
enum Phase {
    /// There is no connection.
    Offline,
    /// The server has not accepted us yet.
    Registering(register::Registration),
    /// The server has accepted us.
    Online,
    /// We have asked to hang up; nothing more is read.
    Closing,
}

/// What the server said of itself.
#[derive(Debug, Default)]
struct ServerFacts {
    name: String,
    network: Option<String>,
    own: bool,
    bot_mode: Option<String>,
    history_by_time_only: bool,
    /// Which of a client's tags are taken off its lines: `*,-allowed` or `denied,denied`.
    denied_tags: String,
    /// Whether channels can be made to show their last lines to who joins (mode +H).
    shows_history: bool,
}

/// Whether the other side is alive.
#[derive(Debug, Default)]
struct Pulse {
    heard: Duration,
    asked: Option<Duration>,
}

/// The state of one link through all its connections.
pub(super) struct Session {
    config: LinkConfig,
    phase: Phase,
    offered: CapSet,
    caps: CapSet,
    server: ServerFacts,
    pulse: Pulse,
    nick: nick::OwnNick,
    rooms: rooms::Rooms,
    members: members::Members,
    sending: sending::Sending,
    history: history::History,
    replays: replay::Replays,
    multiline: multiline::Multiline,
    /// Whether this connection is one that a password may be sent over.
    password: register::MaySendPassword,
    /// Whether the server has taken our password.
    logged_in: bool,
    /// What the server said when it called us banned.
    banned: Option<String>,
    was_up: bool,
    /// The number of this connection, or of the last one.
    connection: u64,
    out: Vec<Output>,
}

impl Session {
    pub(super) fn new(config: LinkConfig) -> Self {
        Self {
            phase: Phase::Offline,
            offered: CapSet::default(),
            caps: CapSet::default(),
            server: ServerFacts::default(),
            pulse: Pulse::default(),
            nick: nick::OwnNick::new(config.nick.clone()),
            rooms: rooms::Rooms::new(&config.channels),
            members: members::Members::default(),
            sending: sending::Sending::new(config.pace),
            history: history::History::default(),
            replays: replay::Replays::default(),
            multiline: multiline::Multiline::default(),
            password: register::MaySendPassword::No,
            logged_in: false,
            banned: None,
            was_up: false,
            connection: 0,
            out: Vec::new(),
            config,
        }
    }

    /// Returns what is to be done since the last call.
    pub(super) fn take_output(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.out)
    }

    /// Whether there is room for a command.
    pub(super) fn takes_commands(&self) -> bool {
        self.sending.has_room()
    }

    /// Whether the server has accepted us.
    pub(super) fn is_online(&self) -> bool {
        matches!(self.phase, Phase::Online)
    }

    /// The socket is open.
    pub(super) fn connected(&mut self, now: Duration, password: register::MaySendPassword) {
        self.connection += 1;
        self.offered = CapSet::default();
        self.caps = CapSet::default();
        self.server = ServerFacts::default();
        self.pulse = Pulse { heard: now, asked: None };
        self.sending.begin(self.config.pace, now);
        self.history = history::History::default();
        self.replays = replay::Replays::default();
        self.multiline = multiline::Multiline::default();
        self.banned = None;
        self.password = password;
        self.logged_in = false;
        self.begin_registration(now);
    }

    /// The socket is closed, or never was open. Tells which lines are unconfirmed.
    pub(super) fn disconnected(&mut self) {
        self.phase = Phase::Offline;
        self.nick.forget();
        self.rooms.forget();
        self.members = members::Members::default();
        self.history = history::History::default();
        self.replays = replay::Replays::default();
        let (under_way, waiting) = self.sending.abandon();
        under_way.into_iter().for_each(|key| self.tell(LinkEvent::Unconfirmed { key }));
        waiting.into_iter().for_each(|key| self.tell(LinkEvent::NotSent { key }));
    }

    /// Something was heard of the server, or could not be heard for our own fault.
    pub(super) fn heard(&mut self, now: Duration) {
        self.pulse = Pulse { heard: now, asked: None };
    }

    /// Takes a line of the server.
    pub(super) fn received(&mut self, now: Duration, message: Message) {
        self.heard(now);
        match &self.phase {
            Phase::Offline | Phase::Closing => return,
            Phase::Registering(_) | Phase::Online => {}
        }
        let Some(message) = self.multiline(message) else { return self.pump(now) };
        match message.command.as_str() {
            "PING" => {
                let token = message.params.last().cloned().unwrap_or_default();
                self.send(&Message::new("PONG").trailing(token));
            }
            "PONG" => self.pong(now, &message),
            "ERROR" => self.server_error(&message),
            "CAP" => self.capability_reply(&message),
            "AUTHENTICATE" => self.authenticate(&message),
            "BATCH" => self.batch_mark(now, &message),
            _ if self.history_takes(&message) => {}
            "PRIVMSG" | "NOTICE" => self.said(&message),
            _ => self.happened(now, message),
        }
        self.pump(now);
    }

    /// Takes a live line of the server that nobody has said.
    fn happened(&mut self, now: Duration, message: Message) {
        self.count_members(&message);
        match message.command.as_str() {
            "NICK" => self.nick_changed(now, message),
            "JOIN" | "PART" | "KICK" => self.room_changed(now, message),
            "INVITE" => self.invited(now, message),
            "QUIT" => self.quit_seen(now, message),
            "FAIL" => self.standard_failure(message),
            "ACK" => self.acknowledged(&message),
            _ => self.reply(now, message),
        }
    }

    /// Takes a command.
    pub(super) fn commanded(&mut self, now: Duration, command: LinkCommand) {
        match command {
            // Whoever has it said again there has given it anew.
            LinkCommand::Say(say) if say.connection.is_some_and(|it| it != self.connection) => {}
            LinkCommand::Say(say) => self.say(say),
            LinkCommand::Typing { target, state } => self.typing(now, &target, state),
            LinkCommand::Join(channel) => self.want_room(now, channel),
            LinkCommand::Part { channel, why } => self.leave_room(&channel, &why),
            LinkCommand::Nick(nick) => self.want_nick(now, nick),
            LinkCommand::Raw(message) => self.enqueue(message),
            LinkCommand::CatchUp { target, after, request } => {
                self.catch_up(now, (target, request), after);
            }
            LinkCommand::Latest { target, lines, request } => {
                self.latest(now, (target, request), lines);
            }
            LinkCommand::FindTargets { after } => self.find_targets(now, &after),
            LinkCommand::Quit { reason } => self.quit(&reason),
        }
        self.pump(now);
    }

    /// Does what is due. Call it at [`Session::deadline`]; more often does no harm.
    pub(super) fn tick(&mut self, now: Duration) {
        match self.phase {
            Phase::Offline | Phase::Closing => return,
            Phase::Registering(_) => self.tick_registration(now),
            Phase::Online => {
                self.tick_nick(now);
                self.tick_rooms(now);
                self.tick_sending(now);
                self.tick_history(now);
            }
        }
        self.tick_pulse(now);
        self.pump(now);
    }

    /// When [`Session::tick`] is due next.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let parts = match &self.phase {
            Phase::Offline | Phase::Closing => return None,
            Phase::Registering(registration) => {
                vec![Some(registration.deadline(&self.config.timing))]
            }
            Phase::Online => vec![
                self.nick.deadline(),
                self.rooms.deadline(),
                self.sending.deadline(
                    &self.config.timing,
                    self.may_speak(),
                    self.pulse.asked.is_some(),
                ),
                self.history.deadline(),
            ],
        };
        parts.into_iter().flatten().chain([self.pulse_deadline()]).min()
    }

    /// Says goodbye. The link hangs up when the server does.
    pub(super) fn quit(&mut self, reason: &str) {
        if !matches!(self.phase, Phase::Offline | Phase::Closing) {
            let reason = crate::wire::text::sanitize(reason);
            self.send(&Message::new("QUIT").trailing(reason));
        }
        self.phase = Phase::Closing;
    }

    fn wanted_nick(&self) -> &Nick {
        self.nick.wanted()
    }

    /// Sends at once: for lines that the pace does not hold back.
    fn send(&mut self, message: &Message) {
        match message.to_line() {
            Ok(line) => self.out.push(Output::Line(line)),
            Err(error) => tracing::warn!(%error, command = %message.command, "line not sent"),
        }
    }

    fn tell(&mut self, event: LinkEvent) {
        self.out.push(Output::Event(Box::new(event)));
    }

    fn close(&mut self, why: impl Into<String>, retry: Retry) {
        self.phase = Phase::Closing;
        self.out.push(Output::Close { why: why.into(), retry });
    }

    fn pass_other(&mut self, message: Message) {
        match self.config.others {
            Others::Pass => self.tell(LinkEvent::Other(message)),
            Others::Drop => {}
        }
    }

    fn server_error(&mut self, message: &Message) {
        let why = message.params.last().cloned().unwrap_or_default();
        if why.to_ascii_lowercase().contains("flood") {
            self.config.pace = self.config.pace.halved();
            tracing::warn!(why, pace = ?self.config.pace, "thrown out for flooding; slower now");
        }
        let (why, retry) = self.hung_up(format!("the server closed the connection: {why}"));
        self.close(why, retry);
    }

    /// Returns why the connection has ended, and when to come back: the server may have said that
    /// we are banned.
    pub(super) fn hung_up(&mut self, why: String) -> (String, Retry) {
        match self.banned.take() {
            Some(banned) => (format!("banned: {banned}: {why}"), Retry::Slow),
            None => (why, Retry::Usual),
        }
    }

    fn quit_seen(&mut self, now: Duration, message: Message) {
        let wanted = self.wanted_nick().folded();
        if message.nick().is_some_and(|nick| gangline_core::name::fold(nick) == wanted) {
            self.ask_for_wanted_nick(now);
        }
        self.pass_other(message);
    }

    fn pong(&mut self, now: Duration, message: &Message) {
        let Some(token) = message.params.last().cloned() else { return };
        if token == register::UP_TOKEN {
            self.registration_seen_to_end(now);
        } else if !self.replay_ponged(now, &token) {
            self.line_ponged(&token);
        }
    }

    /// Numerics and everything else without a function of its own.
    fn reply(&mut self, now: Duration, message: Message) {
        let Some(number) = message.numeric() else { return self.pass_other(message) };
        match number {
            numeric::RPL_WELCOME => self.welcomed(now, &message),
            numeric::RPL_ISUPPORT => self.learn(&message),
            numeric::RPL_ENDOFMOTD | numeric::ERR_NOMOTD => self.registration_seen_to_end(now),
            // The reason comes with the ERROR that follows, if one does.
            numeric::ERR_YOUREBANNEDCREEP => {
                self.banned = Some(message.params.last().cloned().unwrap_or_default());
            }
            numeric::ERR_PASSWDMISMATCH if matches!(self.phase, Phase::Registering(_)) => {
                let why = message.params.last().cloned().unwrap_or_default();
                self.close(format!("the server wants a password: {why}"), Retry::Slow);
            }
            900..=908 => self.sasl_reply(number, &message),
            numeric::ERR_ERRONEUSNICKNAME
            | numeric::ERR_NICKNAMEINUSE
            | numeric::ERR_NICKCOLLISION
            | numeric::ERR_UNAVAILRESOURCE
                if !self.is_about_a_room(&message) =>
            {
                self.nick_refused(number, &message);
            }
            400..=599 | 716 | numeric::ERR_WORDFILTERED => self.refused(now, number, message),
            _ => self.pass_other(message),
        }
    }

    /// An error number: it refuses a line under way, or a JOIN, or something of the caller's.
    fn refused(&mut self, now: Duration, number: u16, message: Message) {
        let taken = self.history_numeric(&message)
            || self.line_refused(number, &message)
            || self.room_refused(now, number, &message)
            || self.line_refused_by_name(number, &message);
        if !taken {
            self.pass_other(message);
        }
    }

    fn learn(&mut self, message: &Message) {
        for word in message.params.iter().skip(1) {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            self.members.learn(key, value);
            match key {
                "NETWORK" => self.server.network = Some(value.to_owned()),
                "GANGLINE" => self.server.own = true,
                "BOT" if value.len() == 1 => self.server.bot_mode = Some(value.to_owned()),
                "CLIENTTAGDENY" => value.clone_into(&mut self.server.denied_tags),
                // Lists, parameters, parameters when set, none.
                "CHANMODES" => {
                    let when_set = value.split(',').nth(2);
                    self.server.shows_history = when_set.is_some_and(|modes| modes.contains('H'));
                }
                "MSGREFTYPES" => {
                    self.server.history_by_time_only = !value.split(',').any(|t| t == "msgid");
                }
                _ => {}
            }
        }
    }

    /// Whether a tag of ours gets through.
    fn may_tag(&self, tag: &str) -> bool {
        self.has_tags() && !denies(&self.server.denied_tags, tag)
    }

    fn has_tags(&self) -> bool {
        self.caps.has(caps::MESSAGE_TAGS)
    }

    fn pulse_deadline(&self) -> Duration {
        match self.pulse.asked {
            Some(asked) => asked + self.config.timing.ping_timeout,
            None => self.pulse.heard + self.config.timing.ping_every,
        }
    }

    fn tick_pulse(&mut self, now: Duration) {
        if now < self.pulse_deadline() || matches!(self.phase, Phase::Closing) {
            return;
        }
        if self.pulse.asked.is_some() {
            self.close("the server does not answer a PING", Retry::Usual);
        } else {
            self.pulse.asked = Some(now);
            self.send(&Message::new("PING").trailing("gangline-pulse"));
        }
    }
}

/// Whether a value of `CLIENTTAGDENY` denies the tag.
fn denies(value: &str, tag: &str) -> bool {
    let tag = tag.trim_start_matches('+');
    let mut denied = false;
    for word in value.split(',') {
        match word.strip_prefix('-') {
            Some(allowed) if allowed == tag => return false,
            Some(_) => {}
            None => denied |= word == "*" || word == tag,
        }
    }
    denied
}

#[cfg(test)]
mod tests;
