//! Answers to the agent's questions, said in the chat: `answer 12 2`, `answer 12 free text`.

use std::time::Duration;

use gangline_core::{
    Principal, QuestionNumber, Target, Tier,
    approval::Addressed,
    question::{
        self, AnswerRule, Asked, Facts, NotYours, QuestionState, Standing, Vote, Where,
        line::{self, AnswerLine},
        may_answer,
        sight::{self, Announced, Sight},
        text::{self, Announcement},
    },
    trust::{Action, OWNER},
};
use gangline_irc::client::Line;
use gangline_store::{AnswerError, NewAnswer, QuestionFilter, QuestionPlace, QuestionRow};
use tracing::{info, warn};

use super::{
    Chat,
    answer::key_of,
    bare::LOOKED,
    decide::{Handled, known_as},
};
use crate::place;

impl Chat {
    /// Takes the line as an answer to one of the agent's questions, if it is one. `text` is without
    /// the mention.
    pub(super) async fn question_answered(
        &mut self,
        line: &Line,
        who: &Principal,
        text: &str,
    ) -> Handled {
        // An agent answers by its tool.
        let Some(answer) = line::parse(text).filter(|_| who.tier != Tier::Agent) else {
            return Handled::No;
        };
        let row = match self.deps.store.question(answer.number).await {
            Ok(Some(row)) => row,
            Ok(None) => return self.no_such_question(line, who, &answer).await,
            Err(error) => {
                warn!(%error, "cannot read a question");
                return Handled::NotNow;
            }
        };
        let number = row.number;
        let Some(sight) = self.sight(line, who, &row).await else { return Handled::NotNow };
        let may = self.standing(line, who, &row).is_ok();
        if let Sight::Hidden(why) = sight
            && !may
        {
            return self.told(line, &format!("question {number} {why}")).await;
        }
        if row.agent != self.deps.agent {
            let agent = &row.agent;
            let said = format!("question {number} is {agent}'s: say `@{agent} answer {number} …`");
            return self.told(line, &said).await;
        }
        if answer.said.is_empty() {
            return self.show_question(line, &row, sight).await;
        }
        self.take_answer(line, who, (&row, answer.said)).await
    }

    /// Without an open question such a line is a prompt: "answer 3 mails". Those that this person may not
    /// see do not count.
    async fn no_such_question(
        &self,
        line: &Line,
        who: &Principal,
        answer: &AnswerLine<'_>,
    ) -> Handled {
        let asker = Some(self.deps.agent.clone());
        let mine = QuestionFilter { asker, ..QuestionFilter::default() };
        let open = match self.deps.store.questions(mine, 20).await {
            Ok(open) => open,
            Err(error) => {
                warn!(%error, "cannot read questions");
                return Handled::NotNow;
            }
        };
        let mut seen = Vec::new();
        for row in open.iter().rev() {
            match self.sight(line, who, row).await {
                Some(Sight::Shown | Sight::Aside) => seen.push(row.number.to_string()),
                Some(Sight::Hidden(_)) => {}
                None => return Handled::NotNow,
            }
        }
        if seen.is_empty() {
            return Handled::No;
        }
        let open = seen;
        let said = format!("there is no question {}; open: {}", answer.number, open.join(", "));
        self.answer(line, &said).await;
        Handled::Yes
    }

    pub(super) async fn take_answer(
        &mut self,
        line: &Line,
        who: &Principal,
        (row, said): (&QuestionRow, &str),
    ) -> Handled {
        let number = row.number;
        let standing = match self.standing(line, who, row) {
            Ok(standing) => standing,
            Err(refusal) => return self.told(line, &refusal.to_string()).await,
        };
        // An owner answers in a room what was asked in private: nothing of it is repeated there.
        let Some(sight) = self.sight(line, who, row).await else { return Handled::NotNow };
        let aside = sight == Sight::Aside;
        let answer = match question::resolve(&row.options, row.choose, said) {
            Ok(answer) => answer,
            Err(error) => return self.told(line, &format!("not answered: {error}")).await,
        };
        let new = NewAnswer {
            by: who.clone(),
            known_as: known_as(line, who),
            standing,
            text: self.deps.redactor.redact(&answer),
        };
        let shown = if aside { String::new() } else { format!(": {}", text::one_line(&answer)) };
        match self.deps.store.answer_question(number, new).await {
            Ok(closed) => {
                info!(%number, by = who.account, "a question is answered");
                self.deps.rescan.notify_one();
                self.deps.outbox.notify_one();
                let counted = closed.row.state == QuestionState::Open;
                // Where it was announced everybody is told who answered what.
                if !counted && self.question_place(line, who, number).await.is_some() {
                    return Handled::Yes;
                }
                let how = if counted { "is counted" } else { "is taken" };
                self.told(line, &format!("your answer to question {number} {how}{shown}")).await
            }
            // The same line taken in twice finds its own answer.
            Err(AnswerError::Closed(row)) if is_its_own(&row, &answer, line, who) => Handled::Yes,
            Err(AnswerError::Closed(row)) if aside => {
                self.told(line, &format!("question {number} is {} already", row.state)).await
            }
            Err(AnswerError::Closed(row)) => {
                let with = row.answer.as_ref().map(|it| text::one_line(it.as_str()));
                let by = row.answered_by.unwrap_or_default();
                let with = with.unwrap_or_default();
                let said = format!("question {number} is {} already: {with} ({by})", row.state);
                self.told(line, &said).await
            }
            Err(error @ AnswerError::Unknown(_)) => self.told(line, &error.to_string()).await,
            Err(AnswerError::Store(error)) => {
                warn!(%error, "cannot store an answer");
                Handled::NotNow
            }
        }
    }

    /// Returns what an answer of this person counts for, said in such a line.
    fn standing(
        &self,
        line: &Line,
        who: &Principal,
        row: &QuestionRow,
    ) -> Result<Standing, NotYours> {
        let place = match (&line.target, &row.asked) {
            // Who is waited for may answer in private too (R1-20).
            (Target::Nick(_), Asked::Room(room)) if self.is_waited_for(row) => Where::Room(room),
            (target, _) => where_said(target),
        };
        let (number, asker) = (row.number, &row.agent);
        let facts = Facts { number, asker, asked: &row.asked, rule: row.rule };
        may_answer(facts, who, place, &self.deps.policy)
    }

    /// Returns what this person is shown of a question where the line was said; `None` if the store does
    /// not say.
    async fn sight(&self, line: &Line, who: &Principal, row: &QuestionRow) -> Option<Sight> {
        let places = self.deps.store.question_places(row.number).await;
        let places = places.inspect_err(|error| warn!(%error, "cannot read places")).ok()?;
        let announced = if places.iter().any(|it| is_there(it, line, who)) {
            Announced::Here
        } else if places.iter().any(|it| !place::is_private(&it.target)) {
            Announced::InARoom
        } else {
            Announced::InPrivate
        };
        Some(sight::sight(announced, where_said(&line.target), who.tier))
    }

    /// Shows a question to somebody who may see it, in private if others read along here.
    async fn show_question(&self, line: &Line, row: &QuestionRow, sight: Sight) -> Handled {
        let votes = self.deps.store.votes(row.number).await;
        let votes = votes.inspect_err(|error| warn!(%error, "cannot read answers"));
        let votes = votes.unwrap_or_default();
        if sight != Sight::Aside {
            self.answer_lines(line, &self.shown((row, &votes), &line.target)).await;
            return Handled::Yes;
        }
        // The owners' conversation belongs to an account; elsewhere a nick is all there is.
        let to = if self.deps.own { OWNER.to_owned() } else { line.nick.clone() };
        if let Ok(private) = to.parse::<Target>() {
            let lines = self.shown((row, &votes), &private);
            self.notify(format!("qs-{}", key_of(line)), to, (&lines, None), None).await;
        }
        let number = row.number;
        self.told(line, &format!("I show you question {number} in private: it was not asked here"))
            .await
    }

    /// Returns whether a call is held open for the answer.
    pub(super) fn is_waited_for(&self, row: &QuestionRow) -> bool {
        row.agent == self.deps.agent && row.waits == Some(self.deps.epoch)
    }

    /// Takes a mention in a room as the answer to the question for which a call is held open there, the
    /// oldest first (R1-20).
    pub(super) async fn mention_answers(
        &mut self,
        line: &Line,
        who: &Principal,
        (text, addressed): (&str, Addressed),
    ) -> Handled {
        let Target::Channel(room) = &line.target else { return Handled::No };
        let is_agent = who.tier == Tier::Agent;
        let may = is_agent || self.deps.policy.may(who, Action::Answer, 0).is_ok();
        if !may || addressed == Addressed::Several || line.from_history || text.trim().is_empty() {
            return Handled::No;
        }
        let asker = Some(self.deps.agent.clone());
        let mine = QuestionFilter { asker, ..QuestionFilter::default() };
        let open = match self.deps.store.questions(mine, LOOKED).await {
            Ok(open) => open,
            Err(error) => {
                warn!(%error, "cannot read questions");
                return Handled::NotNow;
            }
        };
        // If an agent's answer does not count, its line is an ordinary message to this agent.
        let counts = |row: &QuestionRow| {
            !is_agent || matches!(row.rule, AnswerRule::First | AnswerRule::Any)
        };
        let here = |row: &&QuestionRow| {
            let is_here = matches!(&row.asked, Asked::Room(asked) if asked == room);
            is_here && self.is_waited_for(row) && counts(row)
        };
        match open.iter().rev().find(here) {
            Some(row) => self.take_answer(line, who, (row, text)).await,
            None => Handled::No,
        }
    }

    pub(super) async fn told(&self, line: &Line, text: &str) -> Handled {
        self.answer(line, text).await;
        Handled::Yes
    }

    /// Returns how a question was announced where the line was said.
    pub(super) async fn question_place(
        &self,
        line: &Line,
        who: &Principal,
        number: QuestionNumber,
    ) -> Option<QuestionPlace> {
        let places = self.deps.store.question_places(number).await;
        let places = places.inspect_err(|error| warn!(%error, "cannot read places")).ok()?;
        places.into_iter().find(|it| is_there(it, line, who))
    }

    /// Returns the question with all of its text, and with what agents have answered so far.
    fn shown(&self, (row, votes): (&QuestionRow, &[Vote]), target: &Target) -> Vec<String> {
        let to = match target {
            Target::Channel(_) => format!("@{} ", self.deps.agent.short()),
            Target::Nick(_) => String::new(),
        };
        let (number, rule) = (row.number, row.rule);
        if row.state != QuestionState::Open {
            let answer = row.answer.as_ref().map_or("", |answer| answer.as_str());
            let by = row.answered_by.as_deref().unwrap_or_default();
            return vec![text::closed(number, row.state, answer, by)];
        }
        let now = self.deps.clock.now();
        let announced = Announcement {
            question: Facts { number, asker: &row.agent, asked: &row.asked, rule },
            body: row.body.as_str(),
            choices: (&row.options, row.choose),
            to: &to,
            asked_in: None,
            expires_in: row.expires_at.map(|at| at.since(now).max(Duration::from_secs(1))),
        };
        announced.whole().into_iter().chain(question::so_far(votes)).collect()
    }
}

/// Returns whether a question was announced where the line was said.
fn is_there(announced: &QuestionPlace, line: &Line, who: &Principal) -> bool {
    match &line.target {
        Target::Channel(channel) => announced.place == channel.folded(),
        Target::Nick(_) => place::is_private_with(&announced.place, &who.account),
    }
}

fn where_said(target: &Target) -> Where<'_> {
    match target {
        Target::Channel(channel) => Where::Room(channel),
        Target::Nick(_) => Where::Private,
    }
}

fn is_its_own(row: &QuestionRow, answer: &str, line: &Line, who: &Principal) -> bool {
    let same = row.answer.as_ref().is_some_and(|it| it.as_str() == answer);
    line.from_history && same && row.answered_by.as_ref() == Some(&known_as(line, who))
}
