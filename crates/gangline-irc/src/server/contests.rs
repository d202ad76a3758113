//! Two connections of one account want one nick. The one that has it keeps it if it is alive: it is
//! sent a PING, and the other one waits for what comes of that. Start at [`State::contest`].

use std::time::Duration;

use gangline_core::Nick;

use super::{
    client_id::ClientId, command, contest::Contest, flight::Asker, outgoing::Outgoing, state::State,
};
use crate::wire::numeric as n;

impl State {
    /// Has a client wait for a nick until it is known whether its holder is alive.
    pub(super) fn contest(
        &mut self,
        (newcomer, holder): (ClientId, ClientId),
        nick: Nick,
        asker: Option<Asker>,
    ) {
        if self.contests.iter().any(|it| it.newcomer == newcomer && it.nick == nick) {
            return;
        }
        self.contests.retain(|it| it.newcomer != newcomer);
        let due = self.config.clock.monotonic() + self.config.limits.answer_within;
        let ping = Outgoing::new("-", "PING", &[], Some(&self.config.name)).unsourced();
        self.send_all([holder], &ping);
        self.contests.push(Contest { nick, holder, newcomer, asker, due });
    }

    /// Something was heard from a client: who waits for its nick does not get it.
    pub(super) fn is_alive(&mut self, holder: ClientId) {
        while let Some(at) = self.contests.iter().position(|it| it.holder == holder) {
            let contest = self.contests.swap_remove(at);
            self.decide(contest, Outcome::Alive);
        }
    }

    /// A client is gone: who waits for its nick need not wait any longer, and it waits for none.
    pub(super) fn contender_left(&mut self, id: ClientId) {
        self.contests.retain(|it| it.newcomer != id);
        for contest in self.contests.iter_mut().filter(|it| it.holder == id) {
            contest.due = Duration::ZERO;
        }
    }

    /// Returns how long the next holder may still take to answer.
    pub(super) fn contest_in(&self) -> Option<Duration> {
        let due = self.contests.iter().map(|it| it.due).min()?;
        Some(due.saturating_sub(self.config.clock.monotonic()))
    }

    /// Closes holders that have not answered in time; those who waited get their nicks.
    pub(super) fn end_contests(&mut self) {
        let now = self.config.clock.monotonic();
        while let Some(at) = self.contests.iter().position(|it| it.due <= now) {
            let contest = self.contests.swap_remove(at);
            self.decide(contest, Outcome::Dead);
        }
    }

    fn decide(&mut self, contest: Contest, outcome: Outcome) {
        let Contest { nick, holder, newcomer, asker, .. } = contest;
        let has_it = self.by_nick(nick.as_str()).is_some_and(|client| client.id == holder);
        match outcome {
            Outcome::Alive if has_it => {
                if let Some(asker) = &asker {
                    self.open_scope(newcomer, asker.label.as_deref());
                }
                self.refuse_twin(newcomer, &nick);
                self.close_scope(newcomer);
                asker.into_iter().for_each(|asker| self.landed(asker));
                return;
            }
            Outcome::Dead if has_it => {
                let within = self.config.limits.answer_within.as_secs_f32();
                let why = format!(
                    "Replaced by a new connection: this one did not answer a PING within {within} s"
                );
                self.close(holder, &why);
            }
            Outcome::Alive | Outcome::Dead => {}
        }
        match asker {
            Some(asker) => command::nick_again(self, asker, nick),
            None => self.try_register(newcomer),
        }
    }

    /// Says why a session does not get the nick of another session of its account, and what to do.
    fn refuse_twin(&mut self, id: ClientId, nick: &Nick) {
        let Some(client) = self.client_mut(id) else { return };
        let account = client.account().unwrap_or_default().to_owned();
        if !client.is_ready() {
            client.nick = None;
        }
        let in_use = "Nickname is already in use by another client of your account";
        self.numeric(id, n::ERR_NICKNAMEINUSE, &[nick.as_str()], in_use);
        let text = format!(
            "{nick} is in use by another client of your account `{account}`, and that client is \
             alive. Choose another nick, such as {nick}_: you are `{account}` under any nick, and \
             private messages reach all your clients"
        );
        self.tell_notice(id, &text);
    }
}

/// What has come of a PING.
enum Outcome {
    Alive,
    Dead,
}
