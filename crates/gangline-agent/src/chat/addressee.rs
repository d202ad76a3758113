//! The addressee of a private answer on a foreign network: whether they are online, and whether it
//! is still the same person. Pure; the chat task sends the queries and the lines.
//!
//! A person with an account is known by that: before each answer the server is asked (`WHOIS`)
//! whose the nick is now. Anybody else is known by the nick. An answer whose person is not there
//! waits until the server shows that nick or account again. Start at [`Addressees::reach`].

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use gangline_core::name::{Nick, fold};
use gangline_irc::wire::{Message, numeric, tags};
use gangline_os::clock::UnixMicros;
use gangline_store::{OutboxId, OutboxRow};

#[cfg(test)]
mod tests;

/// A private answer waits this long for its person.
pub(super) const WAITS_FOR: Duration = Duration::from_secs(24 * 3600);
/// At most this many lines wait for people; one more is given up.
const WAITING_MAX: usize = 1000;
/// What the server said of a nick counts for this long.
const FRESH: Duration = Duration::from_secs(5);
/// The server has this long to answer; then it is asked again at the next look.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// How often a person who is waited for is looked for, beside what the server shows anyway.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// At most this many people are looked for at once: the pace of the network is for other lines.
const LOOKS_MAX: usize = 4;

/// Who asked for a private line: the account if that was known, and the nick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) nick: Nick,
    pub(super) account: Option<String>,
}

/// What becomes of a line now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// It goes to this nick.
    Go(Nick),
    /// It waits; the server is asked about these nicks.
    Wait(Vec<Nick>),
    /// It waits: the person is not there.
    Away,
    /// Too many wait already.
    GiveUp,
}

/// Who has a nick, by the server's last word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Holder {
    Nobody,
    /// Somebody, logged in to this account.
    Somebody(Option<String>),
}

/// What is known of a nick.
#[derive(Debug, Default)]
struct Known {
    /// When the server was asked, until it answers.
    asked: Option<Duration>,
    /// When it was asked last.
    looked: Option<Duration>,
    /// What it says, until it says that this is all.
    says: Option<Holder>,
    /// What it said.
    told: Option<(Duration, Holder)>,
}

/// A line and its person.
#[derive(Debug)]
struct Waiting {
    row: OutboxRow,
    asked: Asked,
}

/// All that is known of the people for whom there are lines.
#[derive(Debug, Default)]
pub(super) struct Addressees {
    waiting: BTreeMap<OutboxId, Waiting>,
    nicks: HashMap<String, Known>,
    /// Under which nick an account that is waited for was seen.
    seen_as: HashMap<String, Nick>,
}

impl Addressees {
    /// A new connection: what was known is not known any more, and every line is tried again.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether the line waits for its person.
    pub(super) fn holds(&self, row: OutboxId) -> bool {
        self.waiting.contains_key(&row)
    }

    /// Returns whether lines wait for the person with this nick.
    pub(super) fn is_waited_for(&self, nick: &str) -> bool {
        self.waiting.values().any(|waiting| waiting.asked.nick.folded() == fold(nick))
    }

    /// Says what becomes of a private line of which it is known who asked for it.
    pub(super) fn reach(&mut self, now: Duration, row: &OutboxRow, asked: Asked) -> Reach {
        let Some(account) = &asked.account else {
            let known = self.nicks.get(asked.nick.folded());
            let is_gone = |known: &Known| matches!(known.told, Some((_, Holder::Nobody)));
            return match known.is_some_and(is_gone) {
                true => self.wait(row, asked, Reach::Away),
                false => Reach::Go(asked.nick),
            };
        };
        let other = self.seen_as.get(&fold(account)).filter(|nick| **nick != asked.nick).cloned();
        let nicks: Vec<Nick> = std::iter::once(asked.nick.clone()).chain(other).collect();
        let is_theirs = |nick: &&Nick| match self.holder(now, nick) {
            Some(Holder::Somebody(Some(held))) => fold(held) == fold(account),
            Some(Holder::Somebody(None) | Holder::Nobody) | None => false,
        };
        if let Some(nick) = nicks.iter().find(is_theirs) {
            return Reach::Go(nick.clone());
        }
        if nicks.iter().all(|nick| self.holder(now, nick).is_some()) {
            return self.wait(row, asked, Reach::Away);
        }
        let unknown = nicks.into_iter().filter(|nick| self.must_ask(now, nick)).collect();
        self.wait(row, asked, Reach::Wait(unknown))
    }

    /// The server says that nobody has the nick of a line that was sent.
    pub(super) fn is_away(&mut self, now: Duration, row: &OutboxRow, asked: Asked) -> Reach {
        let known = self.nicks.entry(asked.nick.folded().to_owned()).or_default();
        known.told = Some((now, Holder::Nobody));
        known.looked = Some(now);
        // It may have gone to the nick under which the account was seen.
        if let Some(account) = &asked.account {
            self.seen_as.remove(&fold(account));
        }
        self.wait(row, asked, Reach::Away)
    }

    /// Takes a live line of the server; returns whether lines that waited may go now.
    pub(super) fn heard(&mut self, now: Duration, message: &Message) -> bool {
        let at = |index: usize| message.at(index).unwrap_or_default();
        match message.numeric() {
            Some(numeric::RPL_WHOISUSER) => self.says(at(1), Holder::Somebody(None)),
            Some(numeric::RPL_WHOISACCOUNT) => {
                self.says(at(1), Holder::Somebody(Some(at(2).to_owned())));
            }
            Some(numeric::ERR_NOSUCHNICK) => self.says(at(1), Holder::Nobody),
            Some(numeric::RPL_ENDOFWHOIS) => return self.has_said(now, at(1)),
            Some(_) => {}
            None => return self.happened(message),
        }
        false
    }

    fn happened(&mut self, message: &Message) -> bool {
        let Some(nick) = message.nick() else { return false };
        let account = message.tag(tags::ACCOUNT);
        match message.command.as_str() {
            "JOIN" => self.seen(nick, account),
            "NICK" => {
                self.forget(nick);
                self.seen(message.at(0).unwrap_or_default(), account)
            }
            "QUIT" => {
                self.forget(nick);
                false
            }
            _ => false,
        }
    }

    /// Somebody with this nick is there; returns whether lines that waited may go now.
    pub(super) fn seen(&mut self, nick: &str, account: Option<&str>) -> bool {
        let account = account.map(fold);
        let has = |waiting: &Waiting| waiting.asked.account.as_deref().map(fold) == account;
        if let (Some(account), Ok(nick)) = (&account, nick.parse())
            && self.waiting.values().any(has)
        {
            self.seen_as.insert(account.clone(), nick);
        }
        self.forget(nick);
        self.release(|asked| {
            asked.nick.folded() == fold(nick)
                || (account.is_some() && asked.account.as_deref().map(fold) == account)
        })
    }

    /// Returns whom to look for now.
    pub(super) fn look(&mut self, now: Duration) -> Vec<Nick> {
        let waited_for: HashSet<&str> =
            self.waiting.values().map(|waiting| waiting.asked.nick.folded()).collect();
        let is_fresh = |known: &Known| known.looked.is_some_and(|at| now < at + LOOK_EVERY);
        self.nicks.retain(|nick, known| waited_for.contains(&**nick) || is_fresh(known));
        let ago = |known: Option<&Known>| known.and_then(|known| known.looked);
        let mut due: Vec<Nick> = Vec::new();
        for waiting in self.waiting.values() {
            let nick = &waiting.asked.nick;
            let looked = ago(self.nicks.get(nick.folded()));
            if looked.is_none_or(|at| now >= at + LOOK_EVERY) && !due.contains(nick) {
                due.push(nick.clone());
            }
        }
        due.sort_by_key(|nick| ago(self.nicks.get(nick.folded())));
        due.truncate(LOOKS_MAX);
        due.iter().for_each(|nick| self.ask(now, nick));
        due
    }

    /// Returns the lines that have waited long enough.
    pub(super) fn expired(&self, now: UnixMicros) -> Vec<OutboxRow> {
        let rows = self.waiting.values().map(|waiting| &waiting.row);
        rows.filter(|row| has_waited(row, now)).cloned().collect()
    }

    /// The line waits no more.
    pub(super) fn drop_line(&mut self, row: OutboxId) {
        self.waiting.remove(&row);
        if self.waiting.is_empty() {
            self.seen_as.clear();
        }
    }

    fn wait(&mut self, row: &OutboxRow, asked: Asked, reach: Reach) -> Reach {
        if self.waiting.len() >= WAITING_MAX {
            return Reach::GiveUp;
        }
        self.waiting.insert(row.id, Waiting { row: row.clone(), asked });
        reach
    }

    fn holder(&self, now: Duration, nick: &Nick) -> Option<&Holder> {
        let (at, holder) = self.nicks.get(nick.folded())?.told.as_ref()?;
        (now < *at + FRESH).then_some(holder)
    }

    /// Returns whether the server must be asked about the nick, and notes that it is.
    fn must_ask(&mut self, now: Duration, nick: &Nick) -> bool {
        let asked = self.nicks.get(nick.folded()).and_then(|known| known.asked);
        let waits = asked.is_some_and(|at| now < at + ANSWER_WITHIN);
        let must = !waits && self.holder(now, nick).is_none();
        if must {
            self.ask(now, nick);
        }
        must
    }

    fn ask(&mut self, now: Duration, nick: &Nick) {
        let known = self.nicks.entry(nick.folded().to_owned()).or_default();
        (known.asked, known.looked, known.says) = (Some(now), Some(now), None);
    }

    fn says(&mut self, nick: &str, holder: Holder) {
        if let Some(known) = self.nicks.get_mut(&fold(nick)).filter(|known| known.asked.is_some()) {
            known.says = Some(holder);
        }
    }

    fn has_said(&mut self, now: Duration, nick: &str) -> bool {
        let nick = fold(nick);
        let Some(known) = self.nicks.get_mut(&nick).filter(|known| known.asked.is_some()) else {
            return false;
        };
        known.asked = None;
        known.told = Some((now, known.says.take().unwrap_or(Holder::Nobody)));
        let theirs: Vec<String> = self.accounts_seen_as(&nick);
        self.release(|asked| {
            let account = asked.account.as_deref().map(fold);
            asked.nick.folded() == nick || account.is_some_and(|account| theirs.contains(&account))
        })
    }

    fn accounts_seen_as(&self, nick: &str) -> Vec<String> {
        let seen = self.seen_as.iter().filter(|(_, seen)| seen.folded() == nick);
        seen.map(|(account, _)| account.clone()).collect()
    }

    /// What was known of a nick is not known any more.
    fn forget(&mut self, nick: &str) {
        if let Some(known) = self.nicks.get_mut(&fold(nick)) {
            known.told = None;
        }
    }

    fn release(&mut self, is_it: impl Fn(&Asked) -> bool) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|_, waiting| !is_it(&waiting.asked));
        self.waiting.len() < before
    }
}

/// Returns whether the line is as old as a line that waits may be.
pub(super) fn has_waited(row: &OutboxRow, now: UnixMicros) -> bool {
    let age = now.0.saturating_sub(row.created_at.0);
    u64::try_from(age).is_ok_and(|age| Duration::from_micros(age) >= WAITS_FOR)
}
