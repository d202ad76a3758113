//! Progress of an open turn as rooms see it: the typing indicator, the running tool, and the text
//! between tools.

use gangline_core::{Redacted, Target, Tier, TurnId, name::fold, pulse::Beat, split};
use gangline_irc::client::TypingState;
use gangline_store::{Entry, LineKind, MessageRow, Send as StoreSend};

use super::AgentLoop;
use crate::texts;

/// The most lines of one turn that are relayed between tools.
const TALK_MAX: u32 = 50;

/// What the agent says between its tools.
#[derive(Debug, Default)]
pub(super) struct Talk {
    on: bool,
    /// What was said last, and no tool was called since.
    text: Option<String>,
    /// So much of it was told in this turn.
    told: u32,
}

impl Talk {
    pub(super) fn text(&mut self, text: &str) {
        if self.on && !text.trim().is_empty() {
            self.text = Some(text.to_owned());
        }
    }

    /// What was said last is the answer.
    pub(super) fn turn_ends(&mut self) {
        *self = Self { on: self.on, ..Self::default() };
    }
}

impl AgentLoop {
    /// Says whether the rooms hear what the agent says between its tools.
    pub(crate) fn talks(mut self, on: bool) -> Self {
        self.talk.on = on;
        self
    }

    /// Shows what is due of the turn's signs of life.
    pub(super) fn beat(&mut self) {
        for beat in self.pulse.due(self.now()) {
            match beat {
                Beat::Typing => {
                    for target in self.places().iter().filter_map(|row| row.target.parse().ok()) {
                        self.typing(target, TypingState::Active);
                    }
                }
                Beat::Progress { after, number } => self.progress(after, number),
            }
        }
    }

    fn progress(&mut self, after: std::time::Duration, number: u32) {
        let Some(turn) = self.core.view().turn else { return };
        let tool = self.tool();
        let mut says = Vec::new();
        for (index, row) in self.places().into_iter().enumerate() {
            if row.principal.tier == Tier::Agent {
                continue;
            }
            // What runs concerns the place for which the turn began.
            let tool = tool.as_ref().filter(|_| index == 0);
            let text = texts::progress(after, tool, row.id);
            // The tool's line is masked, and nothing more of what runs is hidden.
            let text = self.me.redactor.sourced(&text);
            says.push(self.aside(row, format!("p-{turn}-{number}-{index}"), vec![text.into()]));
        }
        for say in says {
            self.journal.push(Entry::Send(Box::new(say)));
        }
    }

    /// A tool is called: what was said before it is no answer, and may be told.
    pub(super) fn talk_now(&mut self, turn: TurnId) {
        let Some(text) = self.talk.text.take() else { return };
        if self.talk.told >= TALK_MAX {
            return;
        }
        let Some(row) = self.places().into_iter().next() else { return };
        if row.principal.tier == Tier::Agent {
            return;
        }
        let lines = split::redacted_lines(&self.me.redactor.redact(&text), |left| {
            format!("… (+{left} lines)")
        });
        let say = self.aside(row, format!("q-{turn}-{}", self.talk.told), lines.lines);
        self.talk.told += 1;
        self.journal.push(Entry::Send(Box::new(say)));
    }

    /// Returns a message of the open turn for each place that it was asked in, the first first.
    fn places(&self) -> Vec<&MessageRow> {
        let messages = self.core.view().messages;
        let rows = messages.iter().filter_map(|id| self.rows.get(id)).map(|waiting| &waiting.row);
        let mut places: Vec<&MessageRow> = Vec::new();
        for row in rows.filter(|row| row.target.parse::<Target>().is_ok()) {
            if places.iter().all(|known| fold(&known.target) != fold(&row.target)) {
                places.push(row);
            }
        }
        places
    }

    /// Returns notices for a place, which wake nobody and answer nothing.
    fn aside(&self, row: &MessageRow, key: String, lines: Vec<split::Line<Redacted>>) -> StoreSend {
        StoreSend {
            agent: self.me.agent.clone(),
            turn: None,
            idem_key: key.into(),
            target: row.target.clone(),
            lines,
            kind: LineKind::Notice,
            in_reply_to: Some(row.id),
            deliver: None,
        }
    }
}

#[cfg(test)]
mod tests;
