//! The agent's channels: joins and parts, by its own decision or the server's, and queries about
//! them.

use std::time::Duration;

use gangline_core::name::{ChannelName, Target};
use gangline_irc::client::LinkCommand;
use gangline_os::clock;
use tracing::warn;

use super::{
    Chat,
    inquiries::{Answer, Inquiry, Question, Unanswered},
};
use crate::rooms::RoomsCommand;

impl Chat {
    /// Takes a question of the agent's.
    pub(super) async fn asked(&mut self, inquiry: Inquiry) {
        let joined = |channel| self.deps.joined.borrow().contains(channel);
        match &inquiry.question {
            Question::Join(channel) if joined(channel) => {
                self.want(channel);
                return answered(inquiry, Ok(Answer::Done));
            }
            Question::Join(channel) => {
                if !self.deps.wanted.borrow().contains(channel) {
                    let now = clock::rfc3339(self.deps.clock.now());
                    self.cursors.begin_anew(&Target::Channel(channel.clone()), &now);
                }
                self.want(channel);
            }
            Question::Part(channel) => {
                let channel = channel.clone();
                self.want_no_more(&channel);
                if !self.up || !joined(&channel) {
                    let leave = RoomsCommand::Leave { channel: channel.clone() };
                    let _ = self.deps.rooms.send(leave).await;
                    self.command(LinkCommand::Part { channel, why: String::new() });
                    return answered(inquiry, Ok(Answer::Done));
                }
            }
            Question::Who(_)
            | Question::Accounts(_)
            | Question::Names(_)
            | Question::Topic(_)
            | Question::SetTopic(..) => {
                if !self.up {
                    return answered(inquiry, Err(Unanswered::Down));
                }
            }
        }
        let commands = self.inquiries.ask(self.deps.clock.monotonic(), inquiry);
        self.command_all(commands);
    }

    /// Returns how long it is until an answer is late.
    pub(super) fn answer_due(&self) -> Option<Duration> {
        let now = self.deps.clock.monotonic();
        self.inquiries.deadline().map(|due| due.saturating_sub(now))
    }

    pub(super) fn give_up_answers(&mut self) {
        let (late, commands) = self.inquiries.tick(self.deps.clock.monotonic());
        self.command_all(commands);
        for channel in late {
            self.own_join_failed(channel);
        }
    }

    /// What does not fit is not asked; then nothing is answered, and that is told in time.
    pub(super) fn command_all(&self, commands: Vec<LinkCommand>) {
        for command in commands {
            if !self.command(command) {
                warn!("the link is busy: a query was not sent");
            }
        }
    }

    /// Records how many members the channel has now.
    pub(super) fn counted(&self, channel: ChannelName, count: Option<u32>) {
        self.deps.members.send_modify(|members| match count {
            Some(count) => {
                members.insert(channel, count);
            }
            None => {
                members.remove(&channel);
            }
        });
    }

    /// The agent is in the channel.
    pub(super) async fn entered(&mut self, channel: ChannelName) {
        self.counted(channel.clone(), None);
        // Some servers tell of a room's history before one is in it: what was said after that answer
        // is missing.
        self.cursors.left(&Target::Channel(channel.clone()));
        self.catch_up(Target::Channel(channel.clone()));
        let _ = self.deps.rooms.send(RoomsCommand::Enter { channel: channel.clone() }).await;
        self.deps.joined.send_modify(|joined| {
            joined.insert(channel.clone());
        });
        self.deps.kept_out.send_if_modified(|kept_out| kept_out.remove(&channel));
        self.room_is_open(&channel).await;
        self.inquiries.joined(&channel);
    }

    /// The agent is no longer in the channel. What was heard there stays readable, unless it left
    /// by its own decision (R1-21).
    pub(super) async fn left(&mut self, channel: ChannelName) {
        self.counted(channel.clone(), None);
        self.cursors.left(&Target::Channel(channel.clone()));
        self.deps.joined.send_modify(|joined| {
            joined.remove(&channel);
        });
        let wanted = self.deps.wanted.borrow().contains(&channel);
        if wanted {
            self.is_kept_out(&channel);
        } else {
            let _ = self.deps.rooms.send(RoomsCommand::Leave { channel: channel.clone() }).await;
        }
        self.inquiries.parted(&channel);
    }

    fn is_kept_out(&self, channel: &ChannelName) {
        self.deps.kept_out.send_if_modified(|kept_out| kept_out.insert(channel.clone()));
    }

    pub(super) fn join_failed(&mut self, channel: ChannelName, why: &str) {
        self.is_kept_out(&channel);
        if self.inquiries.join_failed(&channel, why) {
            self.own_join_failed(channel);
        }
    }

    /// The agent was told that it cannot join; the link stops trying, unless the configuration
    /// wants the agent there.
    fn own_join_failed(&mut self, channel: ChannelName) {
        if !self.deps.home.contains(&channel) && self.deps.alerts.as_ref() != Some(&channel) {
            self.want_no_more(&channel);
            self.command(LinkCommand::Part { channel, why: String::new() });
        }
    }

    fn want(&self, channel: &ChannelName) {
        self.deps.wanted.send_if_modified(|wanted| wanted.insert(channel.clone()));
    }

    fn want_no_more(&self, channel: &ChannelName) {
        self.deps.wanted.send_if_modified(|wanted| wanted.remove(channel));
    }
}

fn answered(inquiry: Inquiry, answer: Result<Answer, Unanswered>) {
    // Whoever asked may be gone.
    let _ = inquiry.reply.send(answer);
}

#[cfg(test)]
mod tests {
    //! Rooms that a join fails for.

    use gangline_core::name::ChannelName;
    use tokio::sync::oneshot;

    use super::*;
    use crate::chat::{inquiries::Question, tests::Rig};

    /// A room that the agent asked for itself is given up; one that the configuration wants it in, and
    /// the alert channel, are tried again.
    #[tokio::test]
    async fn a_join_that_fails_gives_up_only_what_the_agent_chose() {
        let mut rig = Rig::open(true).await;
        let [home, alerts, chosen] =
            ["#home", "#alerts", "#chosen"].map(|name| name.parse::<ChannelName>().unwrap());
        rig.chat.deps.home = std::iter::once(home.clone()).collect();
        rig.chat.deps.alerts = Some(alerts.clone());
        for (channel, given_up) in [(home, false), (alerts, false), (chosen, true)] {
            let (reply, _answer) = oneshot::channel();
            let question = Question::Join(channel.clone());
            rig.chat.asked(Inquiry { question, reply }).await;
            // As after the death of the hub: nobody answers in time.
            rig.clock.forward(std::time::Duration::from_secs(60));
            rig.chat.give_up_answers();
            let commands: Vec<_> = std::iter::from_fn(|| rig.link.try_recv().ok()).collect();
            let parts = commands.iter().any(|it| matches!(it, LinkCommand::Part { .. }));
            assert_eq!(parts, given_up, "{channel}: {commands:?}");
        }
    }
}
