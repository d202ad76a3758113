//! Private answers on a network that is not ours wait for the person who asked (`addressee`).

use gangline_core::name::{Nick, Target};
use gangline_irc::{
    client::{Line, LinkCommand},
    wire::Message,
};
use gangline_store::{LineKind, OutboxRow, StoreError};
use tracing::{debug, warn};

use super::{
    Chat,
    addressee::{Asked, Reach, has_waited},
};

/// Why a line is given up while others wait.
const TOO_MANY: &str = "the person is offline, and too many lines already wait for others who are";

#[cfg(test)]
mod tests;

impl Chat {
    /// Returns the lines that may go now, and to whom. The others wait for their people or cannot
    /// be said at all.
    pub(super) async fn for_those_who_are_there(
        &mut self,
        rows: Vec<OutboxRow>,
    ) -> Vec<(OutboxRow, Target)> {
        let mut due = Vec::new();
        for row in rows {
            let Ok(target) = row.target.parse::<Target>() else {
                self.give_up(row, "the target is neither a channel nor a nick").await;
                continue;
            };
            let asked = match self.who_asked(&row, &target).await {
                Ok(Some(asked)) => asked,
                Ok(None) => {
                    due.push((row, target));
                    continue;
                }
                Err(error) => {
                    // It is tried again at the tick; it must not go to somebody else.
                    warn!(%error, "cannot read who asked for a line");
                    continue;
                }
            };
            let now = self.deps.clock.monotonic();
            match self.addressees.reach(now, &row, asked) {
                Reach::Go(nick) => {
                    due.push((row, Target::Nick(nick)));
                    continue;
                }
                Reach::Wait(nicks) => self.ask_for(&nicks),
                Reach::Away => self.stays_away(row).await,
                Reach::GiveUp => self.give_up(row, TOO_MANY).await,
            }
            // Those behind it have their turn.
            self.deps.outbox.notify_one();
        }
        due
    }

    /// The person for whom the line is is not there. A notice is about what is now, and so does not
    /// wait.
    async fn stays_away(&mut self, row: OutboxRow) {
        if row.kind == LineKind::Notice {
            let (id, why) = (row.id, format!("{} is not there", row.target));
            self.give_up(row, &why).await;
            self.addressees.drop_line(id);
        }
    }

    /// The server says that nobody has the nick; returns whether the line waits for its person.
    pub(super) async fn waits_for_its_addressee(&mut self, row: &OutboxRow) -> bool {
        if row.kind == LineKind::Notice || has_waited(row, self.deps.clock.now()) {
            return false;
        }
        let Ok(target) = row.target.parse::<Target>() else { return false };
        let Ok(Some(asked)) = self.who_asked(row, &target).await else { return false };
        debug!(nick = %asked.nick, "a private answer waits until its recipient is online again");
        match self.addressees.is_away(self.deps.clock.monotonic(), row, asked) {
            Reach::Wait(_) | Reach::Away => true,
            Reach::Go(_) | Reach::GiveUp => false,
        }
    }

    /// Somebody spoke, and so is there.
    pub(super) fn spoke(&mut self, line: &Line) {
        let is_there = !self.deps.own && !line.from_history;
        if is_there && self.addressees.seen(&line.nick, line.account.as_deref()) {
            self.deps.outbox.notify_one();
        }
    }

    /// The server showed who is there.
    pub(super) fn showed(&mut self, message: &Message) {
        let now = self.deps.clock.monotonic();
        if !self.deps.own && self.addressees.heard(now, message) {
            self.deps.outbox.notify_one();
        }
    }

    /// Looks for those who are waited for, and gives up what has waited too long.
    pub(super) async fn look_for_addressees(&mut self) {
        for row in self.addressees.expired(self.deps.clock.now()) {
            let (id, why) = (row.id, format!("{} was not seen for 24 hours", row.target));
            self.give_up(row, &why).await;
            self.addressees.drop_line(id);
        }
        if self.up {
            let nicks = self.addressees.look(self.deps.clock.monotonic());
            self.ask_for(&nicks);
        }
    }

    fn ask_for(&self, nicks: &[Nick]) {
        for nick in nicks {
            // One that does not fit is asked for at a later look.
            self.command(LinkCommand::Raw(Message::new("WHOIS").param(nick.as_str())));
        }
    }

    /// Returns who asked for a private line, on a network that is not ours.
    async fn who_asked(
        &self,
        row: &OutboxRow,
        target: &Target,
    ) -> Result<Option<Asked>, StoreError> {
        let Target::Nick(nick) = target else { return Ok(None) };
        if self.deps.own {
            return Ok(None);
        }
        let who = self.deps.store.asked_by(row.id, &self.deps.network_id).await?;
        Ok(who.map(|who| Asked {
            nick: nick.clone(),
            account: (!who.account.starts_with('~')).then_some(who.account),
        }))
    }
}
