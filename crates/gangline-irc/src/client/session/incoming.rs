//! What others say: PRIVMSG and NOTICE → [`Line`].

use gangline_core::{
    message::Principal,
    name::{ChannelName, Nick, Target},
};

use super::Session;
use crate::{
    client::{Line, LineKind, LinkEvent},
    wire::{Message, caps, ctcp, tags, text},
};

/// How a line got here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Live,
    History,
}

impl Session {
    /// A live PRIVMSG or NOTICE. Our own are echoes, not lines.
    pub(super) fn said(&mut self, message: &Message) {
        if message.nick().is_some_and(|nick| self.nick.is_current(nick)) {
            self.echoed(message);
        } else if self.replay_takes(message) {
        } else if let Some(line) = self.line_of(message, From::Live) {
            self.tell(LinkEvent::Line(line));
        } else {
            self.pass_other(message.clone());
        }
    }

    /// Returns the line, unless it is a server's notice, or CTCP other than ACTION, which a
    /// program never answers.
    pub(super) fn line_of(&self, message: &Message, from: From) -> Option<Line> {
        let source = message.source.as_deref()?;
        if !source.contains('!') && source.contains('.') {
            return None;
        }
        let (kind, text) = kind_and_text(message)?;
        let tag = |key: &str| message.tag(key).filter(|v| !v.is_empty()).map(str::to_owned);
        let account = if self.caps.has(caps::ACCOUNT_TAG) { tag(tags::ACCOUNT) } else { None };
        Some(Line {
            kind,
            target: self.target_of(message.at(0)?, from)?,
            nick: message.nick()?.to_owned(),
            account: account.filter(|account| account != "*"),
            principal: self.stamped(message),
            msgid: tag(tags::MSGID),
            server_time: tag(tags::TIME),
            cursor: self.cursor_of(message),
            text: text::sanitize(text),
            gangline_id: tag(tags::GANGLINE_ID),
            from_history: from == From::History,
            reply_to: tag(tags::REPLY),
            bot: [tags::BOT, "draft/bot", "inspircd.org/bot"]
                .iter()
                .any(|key| message.tag(key).is_some()),
        })
    }

    /// A channel, also of a message to its operators (`@#channel`), or ourselves.
    fn target_of(&self, written: &str, from: From) -> Option<Target> {
        let name = written.trim_start_matches(['@', '+', '%', '&', '~', '!']);
        if let Ok(channel) = name.parse::<ChannelName>() {
            return Some(Target::Channel(channel));
        }
        let nick = written.parse::<Nick>().ok()?;
        let to_us = self.nick.is_own(written) || from == From::History;
        to_us.then_some(Target::Nick(nick))
    }

    fn stamped(&self, message: &Message) -> Option<Principal> {
        if !self.config.address.is_own() {
            return None;
        }
        Some(Principal {
            account: message.tag(tags::GANGLINE_PRINCIPAL)?.to_owned(),
            tier: message.tag(tags::GANGLINE_TIER)?.parse().ok()?,
        })
    }
}

fn kind_and_text(message: &Message) -> Option<(LineKind, &str)> {
    let text = message.at(1)?;
    match (message.command.as_str(), ctcp::split(text)) {
        ("PRIVMSG", None) => Some((LineKind::Privmsg, text)),
        ("PRIVMSG", Some(("ACTION", rest))) => Some((LineKind::Action, rest)),
        ("NOTICE", None) => Some((LineKind::Notice, text)),
        _ => None,
    }
}
