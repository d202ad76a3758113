//! Answers to the agent's questions, said in the chat: `answer 12 2`, `answer 12 free text`.

use gangline_core::{
    Principal, Target, Tier,
    question::{
        self, Choose, Facts, QuestionState, Where,
        line::{self, AnswerLine},
        may_answer, text,
    },
};
use gangline_irc::client::Line;
use gangline_store::{AnswerError, NewAnswer, QuestionFilter, QuestionRow};
use tracing::{info, warn};

use super::{
    Chat,
    decide::{Handled, known_as},
};

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
            Ok(None) => return self.no_such_question(line, &answer).await,
            Err(error) => {
                warn!(%error, "cannot read a question");
                return Handled::NotNow;
            }
        };
        if row.agent != self.deps.agent {
            let (number, agent) = (row.number, &row.agent);
            let said = format!("question {number} is {agent}'s: say `@{agent} answer {number} …`");
            self.answer(line, &said).await;
            return Handled::Yes;
        }
        if answer.said.is_empty() {
            self.answer_lines(line, &self.shown(&row, line)).await;
            return Handled::Yes;
        }
        self.take_answer(line, who, (&row, answer.said)).await
    }

    /// Without an open question such a line is a prompt: "answer 3 mails".
    async fn no_such_question(&self, line: &Line, answer: &AnswerLine<'_>) -> Handled {
        let asker = Some(self.deps.agent.clone());
        let mine = QuestionFilter { asker, ..QuestionFilter::default() };
        let open = match self.deps.store.questions(mine, 20).await {
            Ok(open) => open,
            Err(error) => {
                warn!(%error, "cannot read questions");
                return Handled::NotNow;
            }
        };
        if open.is_empty() {
            return Handled::No;
        }
        let open: Vec<String> = open.iter().rev().map(|row| row.number.to_string()).collect();
        let said = format!("there is no question {}; open: {}", answer.number, open.join(", "));
        self.answer(line, &said).await;
        Handled::Yes
    }

    async fn take_answer(
        &mut self,
        line: &Line,
        who: &Principal,
        (row, said): (&QuestionRow, &str),
    ) -> Handled {
        let number = row.number;
        let place = match &line.target {
            Target::Channel(channel) => Where::Room(channel),
            Target::Nick(_) => Where::Private,
        };
        let facts = Facts { number, asker: &row.agent, asked: &row.asked, rule: row.rule };
        let standing = match may_answer(facts, who, place, &self.deps.policy) {
            Ok(standing) => standing,
            Err(refusal) => return self.told(line, &refusal.to_string()).await,
        };
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
        let shown = text::one_line(&answer);
        match self.deps.store.answer_question(number, new).await {
            Ok(closed) => {
                info!(%number, by = who.account, "a question is answered");
                self.deps.rescan.notify_one();
                let counted = closed.row.state == QuestionState::Open;
                let how = if counted { "is counted" } else { "is taken" };
                self.told(line, &format!("your answer to question {number} {how}: {shown}")).await
            }
            // The same line taken in twice finds its own answer.
            Err(AnswerError::Closed(row)) if is_its_own(&row, &answer, line, who) => Handled::Yes,
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

    async fn told(&self, line: &Line, text: &str) -> Handled {
        self.answer(line, text).await;
        Handled::Yes
    }

    /// Returns the question as it was announced.
    fn shown(&self, row: &QuestionRow, line: &Line) -> Vec<String> {
        let to = match line.target {
            Target::Channel(_) => format!("@{} ", self.deps.agent.short()),
            Target::Nick(_) => String::new(),
        };
        let (number, rule) = (row.number, row.rule);
        let facts = Facts { number, asker: &row.agent, asked: &row.asked, rule };
        let choices: (&[String], Choose) = (&row.options, row.choose);
        text::announce(facts, row.body.as_str(), choices, &to)
    }
}

fn is_its_own(row: &QuestionRow, answer: &str, line: &Line, who: &Principal) -> bool {
    let same = row.answer.as_ref().is_some_and(|it| it.as_str() == answer);
    line.from_history && same && row.answered_by.as_ref() == Some(&known_as(line, who))
}
