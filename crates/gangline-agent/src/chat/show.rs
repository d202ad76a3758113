//! `show 5` and `more`: a whole approval, page by page.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use gangline_core::{
    ApprovalNumber, Principal, QuestionNumber, Target, Tier, TurnId,
    approval::{ApprovalState, Audience, page, view::Extent},
    redact,
    split::LINE_BYTES,
};
use gangline_irc::client::Line;
use gangline_store::{Announce, ApprovalRow, LineKind, MessageRow, Send as StoreSend, StoreError};
use tracing::warn;

use super::{
    Chat,
    answer::{addressed, key_of, place_of, question},
    decide::Handled,
};
use crate::{
    card::{self, Reader},
    place,
    texts::approvals,
};

/// The number of lines per page in private.
const PAGE: usize = 40;
/// The number of lines in a room, where there are no further pages.
const ROOM_PAGE: usize = 20;
/// The maximum number of people whose next page is remembered.
const READERS_MAX: usize = 256;
/// Before the first line in a room stands who is meant.
const NAME_ROOM: usize = 64;

/// How far somebody has read.
#[derive(Debug, Clone)]
pub(super) struct Page {
    number: ApprovalNumber,
    next: usize,
    /// Where all before it was shown, of which turn's approval and of which view: a file that would
    /// be written over may change between two pages. `None` of the first page.
    before: Option<(String, TurnId, u64)>,
}

impl Chat {
    /// Shows all of an approval: in private from its beginning, in a room its beginning.
    pub(super) async fn show(
        &mut self,
        line: &Line,
        who: &Principal,
        number: ApprovalNumber,
    ) -> Handled {
        self.show_page(line, who, Page { number, next: 0, before: None }).await
    }

    /// Shows the next page of what was shown.
    pub(super) async fn more(&mut self, line: &Line, who: &Principal) -> Handled {
        match self.pages.get(&who.account).cloned() {
            Some(page) => self.show_page(line, who, page).await,
            None => {
                let mine = Some(&self.deps.agent);
                let open = self.deps.store.approvals(mine, true).await.unwrap_or_default();
                let open: Vec<ApprovalNumber> = open.iter().map(|row| row.number).collect();
                self.answer(line, &approvals::no_page(&open)).await;
                Handled::Yes
            }
        }
    }

    async fn show_page(&mut self, line: &Line, who: &Principal, page: Page) -> Handled {
        let number = page.number;
        let (row, asked) = match self.approval_of(number).await {
            Ok(Some(found)) => found,
            Ok(None) => {
                if let Some(handled) = self.show_change(line, who, number).await {
                    return handled;
                }
                let text = self.not_mine(who, number).await;
                self.answer(line, &text).await;
                return Handled::Yes;
            }
            Err(error) => {
                warn!(%error, "cannot read an approval");
                return Handled::NotNow;
            }
        };
        if let Some(refusal) = self.may_not_see(line, who, (&row, asked.as_ref())).await {
            self.answer(line, &refusal).await;
            return Handled::Yes;
        }
        let Ok(offer) = self
            .deps
            .store
            .offer(number)
            .await
            .inspect_err(|error| warn!(%error, "cannot read what an approval offers"))
        else {
            return Handled::NotNow;
        };
        let offer = offer.map(|offer| offer.describe());
        let lines = self.lines_of(&row, asked.as_ref(), offer.as_deref());
        let in_room = matches!(line.target, Target::Channel(_));
        let size = if in_room { ROOM_PAGE } else { PAGE };
        let (mut shown, next) = part(&lines, (page.next, size));
        let left = lines.len() - next;
        let here = (place::key(&line.target, who), row.turn, hash(&lines));
        let all_here = page.before.is_none_or(|before| before == here);
        self.pages.remove(&who.account);
        if left > 0 && in_room {
            let agent = &self.deps.agent;
            shown.push(format!(
                "… {left} more lines: say `show {number}` to me in private (`/msg {agent} show \
                 {number}`), or run `gangline approvals {number}`"
            ));
        } else if left > 0 {
            if self.pages.len() >= READERS_MAX {
                self.pages.clear();
            }
            // A page that was shown elsewhere is missing here, whatever follows.
            let before = if all_here { here } else { (String::new(), row.turn, 0) };
            let page = Page { number, next, before: Some(before) };
            self.pages.insert(who.account.clone(), page);
            shown.push(format!("… {left} more lines: say `more`"));
        } else if all_here && row.state == ApprovalState::Open {
            let extent = if hides(&row) { Extent::Cut } else { Extent::Whole };
            return self.show_whole(line, (number, here.0), (&shown, extent)).await;
        }
        self.answer_shown(line, &shown).await;
        Handled::Yes
    }

    /// Returns what to say of an approval that is not one of this agent.
    async fn not_mine(&self, who: &Principal, number: ApprovalNumber) -> String {
        let other = match who.tier {
            Tier::Owner => self.deps.store.approval(number).await.ok().flatten(),
            Tier::Member | Tier::Agent | Tier::Stranger => None,
        };
        match other {
            Some(row) => approvals::of_another(&row, None),
            None => self.no_approval(number).await,
        }
    }

    /// Returns what to say where no approval has this number: a question of this agent may have it.
    pub(super) async fn no_approval(&self, number: ApprovalNumber) -> String {
        let question = self.deps.store.question(QuestionNumber(number.0)).await;
        match question.ok().flatten() {
            Some(row) if row.agent == self.deps.agent => approvals::is_question(number),
            Some(_) | None => approvals::unknown(number),
        }
    }

    /// Returns an approval as lines for the wire.
    fn lines_of(
        &self,
        row: &ApprovalRow,
        asked: Option<&MessageRow>,
        offer: Option<&str>,
    ) -> Vec<String> {
        let title = format!("approval {}: {}", row.number, approvals::standing(row));
        let reader = Reader { bounds: &self.deps.bounds, masks: &self.deps.redactor };
        let told = (title.as_str(), offer);
        let card = card::lines(told, row, asked, reader);
        page::wire(&card, LINE_BYTES - NAME_ROOM)
    }

    /// Shows the last lines of an open approval of which all was shown here: it is announced here, and
    /// unless something of it is hidden whole, so that a bare word may decide it.
    async fn show_whole(
        &self,
        line: &Line,
        (number, place): (ApprovalNumber, String),
        (lines, extent): (&[String], Extent),
    ) -> Handled {
        let deps = &self.deps;
        let texts = addressed(line, lines);
        let send = StoreSend {
            agent: deps.agent.clone(),
            turn: None,
            idem_key: format!("{}show-{number}-{}", place::ANNOUNCES, key_of(line)).into(),
            target: place_of(line),
            lines: texts.iter().map(|text| deps.redactor.sourced(text).into()).collect(),
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        let announce = Announce { send, place, extent, question: question(line) };
        match deps.store.announce(number, announce).await {
            // It was closed a moment ago: nothing is announced any more.
            Ok(said) if said.outbox.is_empty() => self.answer_shown(line, lines).await,
            Ok(_) => deps.outbox.notify_one(),
            Err(error) => {
                warn!(%error, "cannot show an approval");
                return Handled::NotNow;
            }
        }
        Handled::Yes
    }

    async fn approval_of(
        &self,
        number: ApprovalNumber,
    ) -> Result<Option<(ApprovalRow, Option<MessageRow>)>, StoreError> {
        let store = &self.deps.store;
        let row = store.approval(number).await?.filter(|row| row.agent == self.deps.agent);
        let Some(row) = row else { return Ok(None) };
        let asked = match row.message {
            Some(message) => store.message(message).await?,
            None => None,
        };
        Ok(Some((row, asked)))
    }

    /// Returns why it is not shown here. What was asked in private is no room's, and what was asked
    /// elsewhere is its asker's and the owners' alone.
    async fn may_not_see(
        &self,
        line: &Line,
        who: &Principal,
        (row, asked): (&ApprovalRow, Option<&MessageRow>),
    ) -> Option<String> {
        match (row.audience, &line.target) {
            (Audience::Everybody, _) => {}
            (Audience::Owners, Target::Channel(_)) => {
                return Some(approvals::owners_only(row.number, &self.deps.agent));
            }
            (Audience::Owners, Target::Nick(_)) if who.tier == Tier::Owner => return None,
            (Audience::Owners, Target::Nick(_)) => {
                return Some(format!("approval {} is shown to owners alone", row.number));
            }
        }
        let here = place::key(&line.target, who);
        let places = self.deps.store.approval_places(row.number).await.unwrap_or_default();
        if places.iter().any(|it| it.place == here) {
            return None;
        }
        let theirs = who.tier == Tier::Owner || asked.is_some_and(|it| it.principal == *who);
        match &line.target {
            Target::Nick(_) if theirs => None,
            Target::Nick(_) => Some(format!(
                "approval {} was not asked here; its asker and owners may see it",
                row.number
            )),
            Target::Channel(_) => Some(approvals::not_here(row.number, &self.deps.agent)),
        }
    }
}

/// Returns whether a bare word may not decide it, whatever was shown: something in it is hidden, or it
/// does not parse.
fn hides(row: &ApprovalRow) -> bool {
    row.audience == Audience::Owners || redact::hides(row.detail.as_str())
}

fn hash(lines: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    lines.hash(&mut hasher);
    hasher.finish()
}

/// Returns a page of the lines, and where the next one begins. An approval that was asked anew
/// meanwhile may have fewer lines: then it begins again.
fn part(lines: &[String], (from, size): (usize, usize)) -> (Vec<String>, usize) {
    let from = if from < lines.len() { from } else { 0 };
    let shown: Vec<String> = lines.iter().skip(from).take(size).cloned().collect();
    let next = from + shown.len();
    (shown, next)
}

#[cfg(test)]
mod tests;
