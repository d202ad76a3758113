//! Refusals of lines: by numbers and by standard replies.

use gangline_core::name::fold;

use super::{Session, sending::UnderWay};
use crate::{
    client::LinkEvent,
    wire::{Message, numeric},
};

impl Session {
    /// Takes an error number that refuses a line under way; false if it does not.
    pub(super) fn line_refused(&mut self, number: u16, message: &Message) -> bool {
        let line = match self.label_of(message) {
            Some(label) => self.sending.take(|line| line.id == label),
            None => {
                let subject = message.at(1).map(fold);
                let about_target = refuses_a_target(number);
                let about_any =
                    refuses_a_text(number) || matches!(message.at(1), Some("PRIVMSG" | "NOTICE"));
                self.sending.take(|line| {
                    about_any || (about_target && Some(&line.target) == subject.as_ref())
                })
            }
        };
        let Some(line) = line else { return false };
        let why = message.params.last().cloned().unwrap_or_default();
        self.tell(LinkEvent::Failed { key: line.key, why, numeric: Some(number) });
        true
    }

    /// Takes any other error number that names the target of a line under way: networks have many of
    /// their own, and an unknown one refuses all the same. Numbers about modes, topics and members may
    /// answer another request of ours about that name, and then refuse that one.
    pub(super) fn line_refused_by_name(&mut self, number: u16, message: &Message) -> bool {
        let labelled = self.label_of(message).is_some();
        let (400..=599, Some(subject), false) = (number, message.at(1).map(fold), labelled) else {
            return false;
        };
        let ours = |line: &UnderWay| line.target == subject;
        if may_be_about_another_request(number) && self.sending.take_request(&subject) {
            return false;
        }
        let Some(line) = self.sending.take(ours) else { return false };
        let why = message.params.last().cloned().unwrap_or_default();
        self.tell(LinkEvent::Failed { key: line.key, why, numeric: Some(number) });
        true
    }

    /// `FAIL <command> <code> …`.
    pub(super) fn standard_failure(&mut self, message: Message) {
        let words = message.params.last().map(String::as_str).unwrap_or_default();
        let why = format!("{}: {words}", message.at(1).unwrap_or_default());
        let label = self.label_of(&message);
        let command = message.at(0).unwrap_or_default();
        if command == "CHATHISTORY" {
            return self.history_refused(label.as_deref(), &why);
        }
        let speaks = matches!(command, "PRIVMSG" | "NOTICE");
        let line = match label {
            Some(label) => self.sending.take(|line| line.id == label),
            None if speaks => {
                let about = |line: &UnderWay| {
                    message.params.iter().skip(2).any(|context| fold(context) == line.target)
                };
                self.sending.take(about).or_else(|| self.sending.take(|_| true))
            }
            None => None,
        };
        match line {
            Some(line) => self.tell(LinkEvent::Failed { key: line.key, why, numeric: None }),
            None => self.pass_other(message),
        }
    }
}

/// Numbers that say that nothing can be said to their subject.
fn refuses_a_target(number: u16) -> bool {
    matches!(
        number,
        numeric::ERR_NOSUCHNICK
            | numeric::ERR_NOSUCHSERVER
            | numeric::ERR_NOSUCHCHANNEL
            | numeric::ERR_CANNOTSENDTOCHAN
            | numeric::ERR_TOOMANYTARGETS
            | 408
            | 413
            | 414
            | 415
            | numeric::ERR_NOTONCHANNEL
            | numeric::ERR_NEEDREGGEDNICK
            | 486
            | 489
            | 531
            | 716
            | numeric::ERR_WORDFILTERED
    )
}

/// Numbers that refuse a text without naming its target.
fn refuses_a_text(number: u16) -> bool {
    matches!(
        number,
        numeric::ERR_NORECIPIENT | numeric::ERR_NOTEXTTOSEND | numeric::ERR_INPUTTOOLONG
    )
}

/// Numbers that refuse a MODE, TOPIC, KICK, INVITE, PART, JOIN or a list of somebody.
fn may_be_about_another_request(number: u16) -> bool {
    matches!(
        number,
        401..=403 | 405 | 437 | 441..=443 | 461 | 467 | 470..=478 | 480..=482 | 489 | 501 | 502
    )
}
