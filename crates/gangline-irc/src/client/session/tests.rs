//! Tests of the rules of a link: what the server says and what is commanded go in, what is sent
//! and told comes out, time is a number. Each is a story of a [`Story`].

use std::time::Duration;

use gangline_core::message::Tier;
use gangline_os::{clock, secret::Secret};

use super::{Output, Retry, Session, register::MaySendPassword};
use crate::{
    client::{
        Address, Line, LineKind, LinkCommand, LinkConfig, LinkEvent, OtherNick, Others, QUEUE_MAX,
        Say, TypingState,
    },
    wire::Message,
};

mod confirm;
mod history;
mod lines;
mod members;
mod multiline;
mod names;
mod properties;
mod registration;
mod replay;

const ALL_CAPS: &str = "message-tags server-time echo-message labeled-response batch account-tag \
                        draft/chathistory";

fn config() -> LinkConfig {
    let nick = "ada".parse().expect("a nick");
    LinkConfig::new("127.0.0.1:6667", nick, clock::system())
}

fn say(key: &str, target: &str, text: &str) -> LinkCommand {
    LinkCommand::Say(Say {
        key: key.to_owned(),
        target: target.parse().expect("a target"),
        text: text.to_owned(),
        further: Vec::new(),
        connection: None,
        kind: LineKind::Privmsg,
        reply_to: None,
    })
}

/// One link and its time. Every step returns what came out of it, one text each: a line as it
/// is sent, an event in `<…>`, a hang-up in `[…]`.
struct Story {
    session: Session,
    now: Duration,
}

impl Story {
    fn new(config: LinkConfig) -> Self {
        Self { session: Session::new(config), now: Duration::from_secs(1000) }
    }

    fn connect(&mut self) -> Vec<String> {
        self.session.connected(self.now, MaySendPassword::Yes);
        self.out()
    }

    /// The session is online, in `#den`, with these capabilities, and all pace left.
    fn online(config: LinkConfig, caps: &str) -> Self {
        let mut story = Self::new(config);
        story.connect();
        if !caps.is_empty() {
            story.server(&format!(":irc CAP * LS :{caps}"));
            story.server(&format!(":irc CAP * ACK :{caps}"));
        }
        story.server(":irc 001 ada :Welcome");
        story.server(":irc 376 ada :End");
        story.after(10);
        story
    }

    /// With all capabilities.
    fn rich() -> Self {
        Self::online(config(), ALL_CAPS)
    }

    /// With none.
    fn plain() -> Self {
        Self::online(config(), "")
    }

    fn server(&mut self, line: &str) -> Vec<String> {
        let message = Message::parse(line).expect("a line");
        self.session.received(self.now, message);
        self.out()
    }

    fn command(&mut self, command: LinkCommand) -> Vec<String> {
        self.session.commanded(self.now, command);
        self.out()
    }

    /// Time goes by in the steps that the session asks for.
    fn after(&mut self, seconds: u64) -> Vec<String> {
        let end = self.now + Duration::from_secs(seconds);
        let mut all = Vec::new();
        for _ in 0..10_000 {
            let next = self.session.deadline().filter(|at| *at <= end);
            self.now = next.unwrap_or(end).max(self.now);
            self.session.tick(self.now);
            all.extend(self.out());
            if next.is_none() {
                return all;
            }
        }
        panic!("the session wants to be woken for ever: {all:?}");
    }

    fn lost(&mut self) -> Vec<String> {
        self.session.disconnected();
        self.out()
    }

    fn out(&mut self) -> Vec<String> {
        self.session.take_output().into_iter().map(show).collect()
    }
}

fn show(output: Output) -> String {
    match output {
        Output::Line(line) => line.strip_suffix("\r\n").expect("a line end").to_owned(),
        Output::Event(event) => format!("<{}>", show_event(*event)),
        Output::Close { why, retry: Retry::Usual } => format!("[{why}]"),
        Output::Close { why, retry: Retry::Slow } => format!("[slow: {why}]"),
    }
}

fn show_event(event: LinkEvent) -> String {
    match event {
        LinkEvent::Up { nick, caps, network, own_server, first, connection: _ } => {
            let (own, first) =
                (if own_server { " own" } else { "" }, if first { " first" } else { "" });
            format!("up {nick} on {network}{own}{first} with {} caps", caps.len())
        }
        LinkEvent::Down { why, .. } => format!("down {why}"),
        LinkEvent::Joined { channel } => format!("joined {channel}"),
        LinkEvent::JoinFailed { channel, numeric, why } => {
            format!("join failed {channel} {numeric} {why}")
        }
        LinkEvent::Parted { channel, why } => format!("parted {channel} {why}"),
        LinkEvent::Kicked { channel, by, why } => format!("kicked {channel} {by} {why}"),
        LinkEvent::Members { channel, count } => {
            format!("members {channel} {}", count.map_or("?".to_owned(), |n| n.to_string()))
        }
        LinkEvent::Line(line) => format!("line {}", show_line(&line)),
        LinkEvent::HistoryPage { target, lines, cursor, more, request: _ } => {
            let lines: Vec<String> = lines.iter().map(show_line).collect();
            let more = if more { " more" } else { "" };
            format!("page {target} to {cursor}{more}: {}", lines.join(", "))
        }
        LinkEvent::CaughtUp { target, request: _ } => format!("caught up {target}"),
        LinkEvent::CatchUpFailed { target, why, request: _ } => format!("no page {target}: {why}"),
        LinkEvent::HistoryTargets { targets, more } => {
            let targets: Vec<String> =
                targets.iter().map(|(target, time)| format!("{target} {time}")).collect();
            let more = if more { " more" } else { "" };
            format!("targets{more} {}", targets.join(", "))
        }
        LinkEvent::HistoryTargetsFailed { why } => format!("no targets: {why}"),
        LinkEvent::Confirmed { key, msgid, .. } => format!("confirmed {key} {msgid:?}"),
        LinkEvent::Failed { key, why, numeric } => format!("failed {key} {numeric:?} {why}"),
        LinkEvent::Unconfirmed { key } => format!("unconfirmed {key}"),
        LinkEvent::NotSent { key } => format!("not-sent {key}"),
        LinkEvent::NickProblem { wanted, using, trouble: _, why } => {
            format!("nick problem {wanted} {using:?} {why}")
        }
        LinkEvent::NickChanged { nick, wanted } => {
            format!("nick {nick} {}", if wanted { "wanted" } else { "other" })
        }
        LinkEvent::Other(message) => format!("other {}", message.command),
    }
}

fn show_line(line: &Line) -> String {
    let way = if line.from_history { "history " } else { "" };
    format!("{way}{:?} {}→{} {}", line.kind, line.nick, line.target, line.text)
}
