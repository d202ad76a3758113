//! Private lines that answer the agent's only question without its number.

use gangline_core::{
    Principal, Target, Tier,
    approval::{Announced, Moment},
    question::{
        is_asked,
        line::{Bare, Open, bare},
    },
};
use gangline_irc::client::Line;
use gangline_os::clock;
use gangline_store::{QuestionFilter, QuestionRow, StoreError};
use tracing::warn;

use super::{Chat, decide::Handled};
use crate::texts::questions;

/// How many open questions are looked through.
pub(super) const LOOKED: u32 = 200;

impl Chat {
    /// Takes a private line as the answer to the only question that is open to whoever says it, if it
    /// counts as one. `decides`: whether the line may also be meant for an approval.
    pub(super) async fn bare_answer(
        &mut self,
        line: &Line,
        who: &Principal,
        (text, decides): (&str, Decides),
    ) -> Handled {
        if matches!(line.target, Target::Channel(_)) || who.tier == Tier::Agent {
            return Handled::No;
        }
        let asked = match self.asked_of(who).await {
            Ok(asked) => asked,
            Err(error) => {
                warn!(%error, "cannot read questions");
                return Handled::NotNow;
            }
        };
        let mut open = Vec::new();
        for row in &asked {
            let announced = self.announced_here(line, who, row).await;
            open.push(Open { number: row.number, announced });
        }
        let said = self.moment(line);
        if decides == Decides::MayDecide {
            let is_read = |it: &&Open| it.is_read(said);
            return match open.iter().find(is_read) {
                Some(it) => self.told(line, &questions::or_approval(text, it.number)).await,
                None => Handled::No,
            };
        }
        match bare(text, &open, said) {
            Bare::Answers(number) => match asked.iter().find(|row| row.number == number) {
                Some(row) => self.take_answer(line, who, (row, text)).await,
                None => Handled::No,
            },
            Bare::Several => {
                self.told(line, &questions::several(text, &self.deps.agent, &asked)).await
            }
            Bare::Prompt => match asked.as_slice() {
                // Whoever is waited for answers in private too (R1-20).
                [row] if self.is_waited_for(row) && !line.from_history => {
                    self.take_answer(line, who, (row, text)).await
                }
                [] | [..] => Handled::No,
            },
        }
    }

    /// Returns the open questions of all agents that this person was asked, the oldest first.
    async fn asked_of(&self, who: &Principal) -> Result<Vec<QuestionRow>, StoreError> {
        let mut rows = self.deps.store.questions(QuestionFilter::default(), LOOKED).await?;
        rows.reverse();
        rows.retain(|row| is_asked(&row.asked, who, &self.deps.policy));
        Ok(rows)
    }

    async fn announced_here(
        &self,
        line: &Line,
        who: &Principal,
        row: &QuestionRow,
    ) -> Option<Announced> {
        // Another agent's stands in another conversation.
        if row.agent != self.deps.agent {
            return None;
        }
        let place = self.question_place(line, who, row.number).await?;
        let told = place.told_at.as_deref().and_then(clock::parse_rfc3339).map(|at| at.0);
        let at = Moment { told, heard: place.heard_at?.0 };
        Some(Announced { extent: place.extent, at })
    }
}

/// Whether a line may also be meant for an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decides {
    /// An approval is open, or was closed a short while ago.
    MayDecide,
    /// Nothing waits for a decision.
    Nothing,
}
