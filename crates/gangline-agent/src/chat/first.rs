//! A permission counts only where its announcement stands: somebody who says `yes 5` elsewhere may have
//! read another line with that number. They are shown the true one, and must say it again. A refusal
//! counts anywhere.

use gangline_api::approval::wanted_of_row;
use gangline_core::{
    ApprovalNumber, Principal, Target,
    approval::{
        Audience,
        view::{self, Around, Extent},
    },
    forged, split,
    trust::OWNER,
};
use gangline_irc::client::Line;
use gangline_store::{Announce, ApprovalRow, ChangeRow, LineKind, MessageRow, Send, StoreError};
use tracing::warn;

use super::{
    Chat,
    answer::{key_of, place_of, question},
    decide::{Handled, Word},
};
use crate::{
    place,
    texts::{approvals, changes},
};

/// Where the true announcement is shown.
struct Shown {
    target: String,
    place: String,
    /// The line that it answers there.
    question: Option<String>,
}

impl Chat {
    /// Returns whether an approval was shown where the line was said. Of one that is for owners alone, a
    /// room was told only that it waits.
    pub(super) async fn was_shown_here(
        &self,
        line: &Line,
        who: &Principal,
        number: ApprovalNumber,
    ) -> Result<bool, StoreError> {
        let row = self.deps.store.approval(number).await?;
        let withheld = row.is_some_and(|row| row.audience == Audience::Owners);
        if withheld && matches!(line.target, Target::Channel(_)) {
            return Ok(false);
        }
        let here = place::key(&line.target, who);
        let places = self.deps.store.approval_places(number).await?;
        Ok(places.iter().any(|it| it.place == here))
    }

    /// Shows an approval that was not announced where somebody allows it, and decides nothing. What was
    /// not asked in this room is shown in private.
    pub(super) async fn show_first(&self, line: &Line, who: &Principal, word: &Word) -> Handled {
        let number = word.number;
        let row = self.deps.store.approval(number).await;
        let asked = match &row {
            Ok(Some(ApprovalRow { message: Some(message), .. })) => {
                self.deps.store.message(*message).await
            }
            Ok(_) => Ok(None),
            Err(_) => Ok(None),
        };
        let (row, asked) = match (row, asked) {
            (Ok(Some(row)), Ok(asked)) => (row, asked),
            (Ok(None), _) => return self.told(line, &approvals::unknown(number)).await,
            (Err(error), _) | (_, Err(error)) => {
                warn!(%error, "cannot read an approval");
                return Handled::NotNow;
            }
        };
        let shown = self.aside_of(line, who);
        let told = approvals::not_shown(number, word.reach, &line.target);
        let said = self.announced_to(&row, asked.as_ref());
        let text = self.deps.redactor.sourced(&said.text);
        let extent = match row.audience {
            Audience::Everybody => said.extent_of(&text),
            Audience::Owners => Extent::Cut,
        };
        let send = Send {
            agent: self.deps.agent.clone(),
            turn: None,
            idem_key: format!("{}first-{number}-{}", place::ANNOUNCES, key_of(line)).into(),
            target: shown.target,
            lines: vec![text.into()],
            kind: LineKind::Notice,
            in_reply_to: None,
            deliver: None,
        };
        let announce = Announce { send, place: shown.place, extent, question: shown.question };
        self.answer(line, &told).await;
        if let Err(error) = self.deps.store.announce(number, announce).await {
            warn!(%error, "cannot show an approval");
            return Handled::NotNow;
        }
        self.deps.outbox.notify_one();
        Handled::Yes
    }

    /// The same of a change. That it was shown is remembered only as long as this daemon runs; after that
    /// it is shown once more.
    pub(super) async fn show_change_first(
        &mut self,
        line: &Line,
        who: &Principal,
        (row, word): (&ChangeRow, &Word),
    ) -> Handled {
        let shown = self.aside_of(line, who);
        let told = approvals::not_shown(row.number, word.reach, &line.target);
        self.answer(line, &told).await;
        let text = changes::asked(row, &shown.target);
        let lines = split::redacted_lines(&self.deps.redactor.sourced(&text), |left| {
            format!("… (+{left} lines)")
        });
        let lines = lines.lines.into_iter().map(forged::continued).map(|line| line.text).collect();
        let key = format!("ch-{}-first-{}", row.number, key_of(line));
        self.notify_masked((key, shown.target), (lines, None), shown.question).await;
        self.shown_changes.insert((row.number, shown.place));
        Handled::Yes
    }

    /// Returns whether a change was announced where the line was said.
    pub(super) fn change_was_shown_here(
        &self,
        line: &Line,
        who: &Principal,
        row: &ChangeRow,
    ) -> bool {
        let here = place::key(&line.target, who);
        let home = match row.reply_target.parse() {
            Ok(Target::Channel(room)) => room.folded().to_owned(),
            Ok(Target::Nick(nick)) => place::private(nick.as_str()),
            Err(_) => String::new(),
        };
        let is_owners = self.deps.own && here == place::private(OWNER);
        here == home || is_owners || self.shown_changes.contains(&(row.number, here))
    }

    /// Returns where somebody is shown what was not announced where they are: in private.
    fn aside_of(&self, line: &Line, who: &Principal) -> Shown {
        match line.target {
            Target::Nick(_) => Shown {
                target: place_of(line),
                place: place::key(&line.target, who),
                question: question(line),
            },
            // The owners' conversation belongs to an account; elsewhere a nick is all there is.
            Target::Channel(_) if self.deps.own => {
                Shown { target: OWNER.to_owned(), place: place::private(OWNER), question: None }
            }
            Target::Channel(_) => Shown {
                target: line.nick.clone(),
                place: place::private(&who.account),
                question: None,
            },
        }
    }

    fn announced_to(&self, row: &ApprovalRow, asked: Option<&MessageRow>) -> view::Announcement {
        let around = Around {
            agent: self.deps.agent.as_str(),
            asker: asked.map(|it| it.sender.as_str()),
            folder: row.folder.as_ref().map_or("", |folder| folder.as_str()),
            home: None,
        };
        let wanted = wanted_of_row(&row.tool, row.detail.as_str());
        let from = match asked.map(|it| it.target.as_str()) {
            Some(room) if room.starts_with('#') => format!("in {room}"),
            Some(target) if !target.is_empty() => "in private".to_owned(),
            Some(_) | None => "at the command line".to_owned(),
        };
        view::owners_notice(&wanted, around, (&row.number.to_string(), &from), None)
    }
}
