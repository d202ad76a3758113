//! Questions to the chat server whose answers are several lines: who is there, what the topic is,
//! whether a JOIN went well. Pure but for the answers, which go straight to the asker.
//!
//! One question of a kind is asked at a time, since replies name their subject and nothing else;
//! one that is not answered in time is given up, and its late reply fits no other subject.

use std::{collections::VecDeque, time::Duration};

use gangline_api::ipc::WhoUser;
use gangline_core::name::{ChannelName, Target, fold};
use gangline_irc::{
    client::LinkCommand,
    wire::{Message, numeric},
};
use tokio::sync::oneshot;

#[cfg(test)]
mod tests;

/// How long the server may take to answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The most queries that wait or are open at once.
const QUESTIONS_MAX: usize = 64;
/// The maximum number of users or names of one answer that are kept.
const ROWS_MAX: usize = 5000;
/// What the server puts before a nick for its rank in the channel.
const RANKS: [char; 6] = ['~', '&', '@', '%', '+', '!'];

/// One user of an answer to `WHO #room %na`.
const RPL_WHOSPCRPL: u16 = 354;

/// What the server is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// Who is in the channel, or who has the nick, with flags.
    Who(Target),
    /// The accounts in a channel of our own server.
    Accounts(ChannelName),
    /// The nicks in a channel.
    Names(ChannelName),
    /// A channel's topic.
    Topic(ChannelName),
    /// Another topic for a channel.
    SetTopic(ChannelName, String),
    /// To be in the channel.
    Join(ChannelName),
    /// To be there no more.
    Part(ChannelName),
}

/// What the server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// To [`Question::Who`].
    Users(Vec<WhoUser>),
    /// To [`Question::Accounts`].
    Accounts(Vec<String>),
    /// To [`Question::Names`].
    Names(Vec<String>),
    /// To both questions about a topic: what it is now.
    Topic(Option<String>),
    /// It is done.
    Done,
}

/// Why there is no answer; for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// The server refused, in these words.
    #[error("{0}")]
    Refused(String),
    /// There is no connection.
    #[error("the daemon is not connected to the chat server")]
    Down,
    /// Nothing came within [`ANSWER_WITHIN`].
    #[error("the chat server did not answer within 10 s")]
    Late,
    /// Too much waits already.
    #[error("too many queries wait for the chat server; try again")]
    Busy,
}

/// Where an answer goes.
pub(crate) type Reply = oneshot::Sender<Result<Answer, Unanswered>>;

/// A question, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) question: Question,
    pub(crate) reply: Reply,
}

/// Questions of one kind exclude one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Who,
    Names,
    Topic,
    Room,
}

#[derive(Debug)]
struct Open {
    question: Question,
    reply: Reply,
    due: Duration,
    asked: bool,
    users: Vec<WhoUser>,
    names: Vec<String>,
}

/// All questions that are not answered.
#[derive(Debug, Default)]
pub(super) struct Inquiries {
    open: VecDeque<Open>,
}

impl Question {
    fn kind(&self) -> Kind {
        match self {
            Self::Who(_) | Self::Accounts(_) => Kind::Who,
            Self::Names(_) => Kind::Names,
            Self::Topic(_) | Self::SetTopic(..) => Kind::Topic,
            Self::Join(_) | Self::Part(_) => Kind::Room,
        }
    }

    fn subject(&self) -> &str {
        match self {
            Self::Who(target) => target.folded(),
            Self::Accounts(channel)
            | Self::Names(channel)
            | Self::Topic(channel)
            | Self::SetTopic(channel, _)
            | Self::Join(channel)
            | Self::Part(channel) => channel.folded(),
        }
    }

    fn verb(&self) -> &'static str {
        match self {
            Self::Who(_) | Self::Accounts(_) => "WHO",
            Self::Names(_) => "NAMES",
            Self::Topic(_) | Self::SetTopic(..) => "TOPIC",
            Self::Join(_) => "JOIN",
            Self::Part(_) => "PART",
        }
    }

    fn commands(&self) -> Vec<LinkCommand> {
        let line = |message: Message| LinkCommand::Raw(message);
        let about = |channel: &ChannelName| Message::new(self.verb()).param(channel.as_str());
        match self {
            Self::Who(target) => vec![line(Message::new("WHO").param(target.as_str()))],
            Self::Accounts(channel) => vec![line(about(channel).param("%na"))],
            Self::Names(channel) | Self::Topic(channel) => vec![line(about(channel))],
            // Not every server repeats a topic that is what it was: so it is asked for.
            Self::SetTopic(channel, topic) => {
                vec![line(about(channel).trailing(topic.clone())), line(about(channel))]
            }
            Self::Join(channel) => vec![LinkCommand::Join(channel.clone())],
            Self::Part(channel) => {
                vec![LinkCommand::Part { channel: channel.clone(), why: String::new() }]
            }
        }
    }
}

impl Inquiries {
    /// Takes a question; returns what is to be sent now.
    pub(super) fn ask(&mut self, now: Duration, inquiry: Inquiry) -> Vec<LinkCommand> {
        let Inquiry { question, reply } = inquiry;
        if self.open.len() >= QUESTIONS_MAX {
            let _ = reply.send(Err(Unanswered::Busy));
            return Vec::new();
        }
        let due = now + ANSWER_WITHIN;
        let (users, names) = (Vec::new(), Vec::new());
        self.open.push_back(Open { question, reply, due, asked: false, users, names });
        self.go_on()
    }

    /// Returns what is to be sent for questions whose turn has come.
    fn go_on(&mut self) -> Vec<LinkCommand> {
        // Nobody waits for these any more. One that was asked stays until its reply has passed.
        self.open.retain(|open| open.asked || !open.reply.is_closed());
        let mut commands = Vec::new();
        for at in 0..self.open.len() {
            let kind = self.open[at].question.kind();
            let under_way =
                self.open.iter().any(|other| other.asked && other.question.kind() == kind);
            let open = &mut self.open[at];
            if !open.asked && (kind == Kind::Room || !under_way) {
                open.asked = true;
                commands.extend(open.question.commands());
            }
        }
        commands
    }

    /// Takes a line of the server; returns what is to be sent now.
    pub(super) fn heard(&mut self, message: &Message) -> Vec<LinkCommand> {
        let Some(number) = message.numeric() else { return Vec::new() };
        let at = |index: usize| message.at(index).unwrap_or_default();
        match number {
            numeric::RPL_WHOREPLY => self.who_row(message),
            numeric::RPL_NAMREPLY => self.names_row(at(2), at(3)),
            RPL_WHOSPCRPL => self.account_row(at(2)),
            numeric::RPL_ENDOFWHO => self.answer(Kind::Who, at(1), |open| match open.question {
                Question::Accounts(_) => Answer::Accounts(std::mem::take(&mut open.names)),
                Question::Who(_)
                | Question::Names(_)
                | Question::Topic(_)
                | Question::SetTopic(..)
                | Question::Join(_)
                | Question::Part(_) => Answer::Users(std::mem::take(&mut open.users)),
            }),
            numeric::RPL_ENDOFNAMES => self
                .answer(Kind::Names, at(1), |open| Answer::Names(std::mem::take(&mut open.names))),
            numeric::RPL_TOPIC => {
                self.answer(Kind::Topic, at(1), |_| Answer::Topic(Some(at(2).to_owned())))
            }
            numeric::RPL_NOTOPIC => self.answer(Kind::Topic, at(1), |_| Answer::Topic(None)),
            263 | 400..=599 => self.refused(at(1), message.params.last().map_or("", |last| last)),
            _ => return Vec::new(),
        }
        self.go_on()
    }

    fn who_row(&mut self, message: &Message) {
        let at = |index: usize| message.at(index).unwrap_or_default();
        let user = WhoUser { nick: at(5).to_owned(), modes: at(6).to_owned() };
        let Some(open) = self.under_way(Kind::Who) else { return };
        let fits = match &open.question {
            Question::Who(Target::Nick(nick)) => fold(&user.nick) == nick.folded(),
            Question::Who(Target::Channel(channel)) => fold(at(1)) == channel.folded(),
            Question::Accounts(_)
            | Question::Names(_)
            | Question::Topic(_)
            | Question::SetTopic(..)
            | Question::Join(_)
            | Question::Part(_) => false,
        };
        if fits && open.users.len() < ROWS_MAX {
            open.users.push(user);
        }
    }

    /// A row that we asked for: the nick and the account, `0` for none.
    fn account_row(&mut self, account: &str) {
        let Some(open) = self.under_way(Kind::Who) else { return };
        let asked = matches!(open.question, Question::Accounts(_));
        if asked && account != "0" && open.names.len() < ROWS_MAX {
            open.names.push(account.to_owned());
        }
    }

    fn names_row(&mut self, channel: &str, names: &str) {
        let Some(open) = self.under_way(Kind::Names) else { return };
        if fold(channel) != open.question.subject() {
            return;
        }
        for name in names.split(' ').filter(|name| !name.is_empty()) {
            let nick = name.trim_start_matches(RANKS);
            let nick = nick.split_once('!').map_or(nick, |(nick, _)| nick);
            if open.names.len() < ROWS_MAX {
                open.names.push(nick.to_owned());
            }
        }
    }

    /// A number that refuses something: about a subject, or about a command by name.
    fn refused(&mut self, subject: &str, words: &str) {
        let about = |open: &Open| {
            open.asked
                && open.question.kind() != Kind::Room
                && (fold(subject) == open.question.subject()
                    || subject.eq_ignore_ascii_case(open.question.verb()))
        };
        if let Some(at) = self.open.iter().position(about) {
            self.close(at, Err(Unanswered::Refused(words.to_owned())));
        }
    }

    /// We are in the channel.
    pub(super) fn joined(&mut self, channel: &ChannelName) {
        self.room(&Question::Join(channel.clone()), Ok(Answer::Done));
    }

    /// We are no longer in the channel.
    pub(super) fn parted(&mut self, channel: &ChannelName) {
        self.room(&Question::Part(channel.clone()), Ok(Answer::Done));
    }

    /// The server refused a JOIN. Returns whether somebody had asked for it.
    pub(super) fn join_failed(&mut self, channel: &ChannelName, why: &str) -> bool {
        let refused = Err(Unanswered::Refused(why.to_owned()));
        self.room(&Question::Join(channel.clone()), refused)
    }

    /// The connection is gone. A JOIN that was asked for is made when it is back.
    pub(super) fn down(&mut self) {
        let mut at = 0;
        while let Some(open) = self.open.get(at) {
            match &open.question {
                Question::Join(_) => at += 1,
                Question::Part(_) => self.close(at, Ok(Answer::Done)),
                Question::Who(_)
                | Question::Accounts(_)
                | Question::Names(_)
                | Question::Topic(_)
                | Question::SetTopic(..) => self.close(at, Err(Unanswered::Down)),
            }
        }
    }

    /// Gives up what is late. Returns the channels whose JOIN was, and what is to be sent now.
    pub(super) fn tick(&mut self, now: Duration) -> (Vec<ChannelName>, Vec<LinkCommand>) {
        let mut late = Vec::new();
        while let Some(at) = self.open.iter().position(|open| open.due <= now) {
            if let Some(Question::Join(channel)) = self.open.get(at).map(|open| &open.question) {
                late.push(channel.clone());
            }
            self.close(at, Err(Unanswered::Late));
        }
        (late, self.go_on())
    }

    /// When [`Self::tick`] is due.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.open.iter().map(|open| open.due).min()
    }

    fn under_way(&mut self, kind: Kind) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.asked && open.question.kind() == kind)
    }

    fn answer(&mut self, kind: Kind, subject: &str, answer: impl FnOnce(&mut Open) -> Answer) {
        let fits = |open: &Open| {
            open.asked && open.question.kind() == kind && open.question.subject() == fold(subject)
        };
        if let Some(at) = self.open.iter().position(fits) {
            let answer = answer(&mut self.open[at]);
            self.close(at, Ok(answer));
        }
    }

    fn room(&mut self, question: &Question, answer: Result<Answer, Unanswered>) -> bool {
        let mut found = false;
        while let Some(at) = self.open.iter().position(|open| open.question == *question) {
            self.close(at, answer.clone());
            found = true;
        }
        found
    }

    fn close(&mut self, at: usize, answer: Result<Answer, Unanswered>) {
        if let Some(open) = self.open.remove(at) {
            // Whoever asked may be gone.
            let _ = open.reply.send(answer);
        }
    }
}
