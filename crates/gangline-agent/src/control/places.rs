//! Commands about channels and people: `irc_read`, `irc_join`, `irc_part`, `irc_channels`,
//! `irc_who`, `irc_topic`.

use std::{collections::BTreeMap, time::Duration};

use gangline_api::ipc::{self, ChannelsData, LINE_MAX, ReadData, TopicData, WhoData};
use gangline_core::{
    forged,
    name::{ChannelName, Target},
};
use gangline_store::LineKind;
use tokio::sync::oneshot;

use super::requests::{Reply, Requests};
use crate::{
    bus::{Ending, Incoming, taken},
    chat::inquiries::{ANSWER_WITHIN, Answer, Question},
    rooms::{By, ReadPage, RoomsCommand, Wanted},
    tokens::Who,
};

/// Bytes in a response for everything but its rows.
const AROUND_ROWS: usize = 4096;

/// A read of own lines waits at most this long for those on their way to the chat server. A server
/// that is there takes milliseconds.
const OWN_WITHIN: Duration = Duration::from_secs(1);
/// How often it looks.
const OWN_EVERY: Duration = Duration::from_millis(10);
/// The most lines on their way that it looks at, oldest first.
const OWN_MAX: u32 = 200;

impl Requests {
    /// Reads what was said (C19). What the agent reads in a turn is part of that turn from then on:
    /// the agent loop knows it before the answer leaves.
    pub(super) async fn read(
        &self,
        who: Who,
        place: Target,
        wanted: Wanted,
    ) -> Result<Reply, String> {
        // A daemon of culture's has no lines of such a place, and that is no error.
        if let Err(elsewhere) = self.must_be_in(&place) {
            let nothing = ReadData { messages: Vec::new(), remaining: 0 };
            return Ok(Reply::new(&nothing)?.warning([elsewhere]));
        }
        if wanted.by == By::Agent {
            self.own_lines_are_said(&place).await;
        }
        let (reply, page) = oneshot::channel();
        let read = RoomsCommand::Read { place, wanted, reply };
        self.rooms.send(read).await.map_err(|_| Ending.to_string())?;
        let ReadPage { lines, messages, remaining, lost } =
            page.await.map_err(|_| Ending.to_string())?;
        if who == Who::Agent && !messages.is_empty() {
            let read = |heard| Incoming::Read { messages, rows: Vec::new(), heard };
            taken(&self.agent_loop, read).await.map_err(|ending| ending.to_string())?;
        } else if who == Who::Agent {
            // Somebody may watch whether it does; a loop with a full queue needs no such news.
            let _ = self.agent_loop.try_send(Incoming::Looked);
        }
        let skipped = (lost > 0).then(|| format!("{lost} older unread lines are no longer stored"));
        Ok(Reply::new(&ReadData { messages: lines, remaining })?.warning(skipped))
    }

    /// Waits until the chat server has the agent's own lines to a place, for [`OWN_WITHIN`] at
    /// most. Who has just spoken expects to read it, and only the server knows where it stands
    /// among the lines of others.
    async fn own_lines_are_said(&self, place: &Target) {
        let said = async {
            while self.has_unsaid(place).await {
                tokio::time::sleep(OWN_EVERY).await;
            }
        };
        // What takes longer is not there yet.
        let _ = tokio::time::timeout(OWN_WITHIN, said).await;
    }

    async fn has_unsaid(&self, place: &Target) -> bool {
        let rows = self.speaker.store.outbox_pending(&self.me.agent, OWN_MAX).await;
        let is_there = |target: &str| target.parse::<Target>().is_ok_and(|it| it == *place);
        // A store that cannot be read keeps nobody waiting.
        let rows = rows.unwrap_or_default();
        rows.iter().any(|row| row.kind != LineKind::Notice && is_there(&row.target))
    }

    pub(super) async fn join(&self, channel: ChannelName) -> Result<Reply, String> {
        self.inquire(Question::Join(channel)).await?;
        Reply::nothing()
    }

    pub(super) async fn part(&self, channel: ChannelName) -> Result<Reply, String> {
        if !self.is_in(&channel) {
            return Err(ipc::not_joined(&channel));
        }
        self.inquire(Question::Part(channel)).await?;
        Reply::nothing()
    }

    /// Lists where the agent is and how many are there (R1-22). Where that is not known the server
    /// is asked; what it does not tell in time is left out.
    pub(super) async fn channels(&self) -> Result<Reply, String> {
        let mut joined: Vec<ChannelName> =
            self.whereabouts.joined.borrow().iter().cloned().collect();
        joined.sort();
        let mut members = BTreeMap::new();
        let counting = async {
            for channel in &joined {
                let known = self.members.borrow().get(channel).copied();
                let count = match known {
                    Some(count) => Ok(count),
                    None => self.names(channel).await.map(|names| count(&names)),
                };
                members.extend(count.map(|count| (channel.to_string(), count)));
            }
        };
        let complete = tokio::time::timeout(ANSWER_WITHIN, counting).await.is_ok();
        let warning = (!complete).then(|| "some channels were not counted in time".to_owned());
        let channels = joined.iter().map(ToString::to_string).collect();
        Ok(Reply::new(&ChannelsData { channels, members })?.warning(warning))
    }

    pub(super) async fn who(&self, target: Target) -> Result<Reply, String> {
        let mut users = match self.inquire(Question::Who(target)).await? {
            Answer::Users(users) => users,
            Answer::Accounts(_) | Answer::Names(_) | Answer::Topic(_) | Answer::Done => Vec::new(),
        };
        let all = users.len();
        let mut room = LINE_MAX - AROUND_ROWS;
        let fits = users.iter().take_while(|user| {
            let bytes = serde_json::to_vec(user).map_or(room, |row| row.len() + 1);
            let fits = bytes <= room;
            room = room.saturating_sub(bytes);
            fits
        });
        users.truncate(fits.count());
        let left = all - users.len();
        let warning = (left > 0).then(|| format!("{left} more are not listed"));
        Ok(Reply::new(&WhoData { users })?.warning(warning))
    }

    pub(super) async fn topic(
        &self,
        channel: ChannelName,
        topic: Option<String>,
    ) -> Result<Reply, String> {
        let question = match topic {
            // One line, whatever was written: no second command gets out.
            Some(topic) => {
                let topic = self.speaker.redactor.redact(&topic).into_string();
                let topic = topic.replace(['\r', '\n', '\0'], " ");
                Question::SetTopic(channel, forged::marked(&topic).into_owned())
            }
            None => Question::Topic(channel),
        };
        let topic = match self.inquire(question).await? {
            Answer::Topic(topic) => topic,
            Answer::Users(_) | Answer::Accounts(_) | Answer::Names(_) | Answer::Done => None,
        };
        Reply::new(&TopicData { topic })
    }
}

fn count(names: &[String]) -> u32 {
    u32::try_from(names.len()).unwrap_or(u32::MAX)
}
