//! The check before a send that somebody is there to receive it, so that no model believes it told
//! somebody when it did not.
//!
//! If the server does not answer, the line is sent; its result is reported as usual.

use std::{collections::HashSet, time::Duration};

use gangline_api::ipc;
use gangline_core::{
    MessageId, Origin,
    name::{ChannelName, Nick, Target, fold},
    trust::OWNER,
};
use gangline_store::{MessageFilter, PAGE_MAX};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use crate::{
    bus::Ending,
    chat::inquiries::{Answer, Inquiry, Question, Unanswered},
    speech::Speaker,
};

#[cfg(test)]
mod tests;

/// The server has answered within this, or the daemon is too busy to hear it.
const INQUIRY_WITHIN: Duration = Duration::from_secs(14);
/// How long a line or a question waits for the server to say who is there.
const NICK_WITHIN: Duration = Duration::from_secs(3);
/// A queue is full.
pub(crate) const BUSY: &str = "the daemon is busy; try again";

/// Where the agent is, and whom the server knows.
#[derive(Clone)]
pub(crate) struct Whereabouts {
    /// The channels that the agent is in.
    pub(crate) joined: watch::Receiver<HashSet<ChannelName>>,
    /// Those that it should be in.
    pub(crate) wanted: watch::Receiver<HashSet<ChannelName>>,
    /// Those of them that the server does not let it be in.
    pub(crate) kept_out: watch::Receiver<HashSet<ChannelName>>,
    /// Where the server is asked.
    pub(crate) inquiries: mpsc::Sender<Inquiry>,
}

/// Why nobody would hear; for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Nobody {
    #[error("{}", ipc::not_joined(.0))]
    NotJoined(ChannelName),
    #[error("nobody is called {0} here")]
    NoSuchNick(Nick),
}

impl Whereabouts {
    /// Asks the chat server.
    pub(crate) async fn inquire(&self, question: Question) -> Result<Answer, String> {
        let (reply, answer) = oneshot::channel();
        let inquiry = Inquiry { question, reply };
        self.inquiries.try_send(inquiry).map_err(|_| BUSY.to_owned())?;
        match timeout(INQUIRY_WITHIN, answer).await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(unanswered))) => Err(unanswered.to_string()),
            Ok(Err(_)) => Err(Ending.to_string()),
            Err(_) => Err(Unanswered::Late.to_string()),
        }
    }

    /// Returns whether the agent is in the channel, or will be when the link is up.
    pub(crate) fn is_in(&self, channel: &ChannelName) -> bool {
        let meant = self.wanted.borrow().contains(channel);
        self.joined.borrow().contains(channel)
            || (meant && !self.kept_out.borrow().contains(channel))
    }

    /// Returns whether the server says that an owner is in the channel; false if it does not say.
    pub(crate) async fn owner_is_in(&self, channel: &ChannelName) -> bool {
        let asked = self.inquire(Question::Accounts(channel.clone()));
        match timeout(NICK_WITHIN, asked).await {
            Ok(Ok(Answer::Accounts(accounts))) => accounts.iter().any(|it| fold(it) == OWNER),
            Ok(
                Ok(Answer::Users(_) | Answer::Names(_) | Answer::Topic(_) | Answer::Done) | Err(_),
            )
            | Err(_) => false,
        }
    }

    /// Refuses a channel that the agent is not in.
    pub(crate) fn must_be_in(&self, place: &Target) -> Result<(), Nobody> {
        match place {
            Target::Channel(channel) if !self.is_in(channel) => {
                Err(Nobody::NotJoined(channel.clone()))
            }
            Target::Channel(_) | Target::Nick(_) => Ok(()),
        }
    }

    /// Refuses a nick that nobody has. An answer goes to whoever asked, another agent hears by the
    /// store, and our own server keeps a line for somebody who has written to the agent and is
    /// away: these are not asked about.
    pub(crate) async fn must_be_somebody(
        &self,
        speaker: &Speaker,
        to: &Target,
        answers: Option<MessageId>,
    ) -> Result<(), Nobody> {
        let Target::Nick(nick) = to else { return Ok(()) };
        let agent = || nick.folded().parse().is_ok_and(|nick| speaker.agent == nick);
        if answers.is_some() || agent() || speaker.is_colleague(nick).await {
            return Ok(());
        }
        let asked = self.inquire(Question::Who(to.clone()));
        match timeout(NICK_WITHIN, asked).await {
            Ok(Ok(Answer::Users(users))) if users.is_empty() => {}
            Ok(Ok(
                Answer::Users(_)
                | Answer::Accounts(_)
                | Answer::Names(_)
                | Answer::Topic(_)
                | Answer::Done,
            )) => {
                return Ok(());
            }
            Ok(Err(_)) | Err(_) => return Ok(()),
        }
        match has_written(speaker, nick).await {
            true => Ok(()),
            false => Err(Nobody::NoSuchNick(nick.clone())),
        }
    }
}

/// Returns whether somebody of this nick is among those who wrote to the agent privately of late.
async fn has_written(speaker: &Speaker, nick: &Nick) -> bool {
    let filter = MessageFilter { agent: Some(speaker.agent.clone()), ..MessageFilter::default() };
    // A store that cannot be read refuses the line itself.
    let Ok(rows) = speaker.store.messages(filter, PAGE_MAX).await else { return true };
    rows.iter().any(|row| row.origin == Origin::Direct && fold(&row.sender) == nick.folded())
}
