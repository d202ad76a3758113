//! Questions: asked, answered, withdrawn, expired, listed.

use gangline_core::{AgentName, MessageId, Principal, QuestionNumber, question::Vote};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::{AnswerError, StoreError},
    op,
    sqlite::{Writer, asked, question_places, questions},
    types::{
        AskedBy, NewAnswer, NewQuestion, QuestionAsked, QuestionClosed, QuestionFilter,
        QuestionPlace, QuestionRow, Waited,
    },
};

impl Store {
    /// Asks a question. `bring` makes the messages and lines that go with it, once the number is
    /// known; they are in the same commit. The same request again is the same question.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; [`StoreError::Invalid`] when the agent has too many open ones
    /// ([`gangline_core::question::OPEN_MAX`]); otherwise as every write.
    pub async fn ask(
        &self,
        new: NewQuestion,
        bring: impl FnOnce(QuestionNumber) -> AskedBy + Send + 'static,
    ) -> Result<QuestionAsked, StoreError> {
        let work = move |w: &mut Writer| questions::ask(w, &new, None, bring);
        self.sqlite.write(&op::ASK, work).await
    }

    /// Answers an open question. The answer, and the message that brings it to the asker, are one
    /// commit. Who may answer is decided before: [`gangline_core::question::may_answer`].
    ///
    /// # Errors
    /// See [`AnswerError`]; nothing is stored then.
    pub async fn answer_question(
        &self,
        number: QuestionNumber,
        answer: NewAnswer,
    ) -> Result<QuestionClosed, AnswerError> {
        let work = move |w: &mut Writer| questions::answer(w, number, &answer);
        self.sqlite.write(&op::ANSWER, work).await?
    }

    /// Withdraws an open question. Its asker gets a message that says so, unless it withdraws the
    /// question itself.
    ///
    /// # Errors
    /// See [`AnswerError`]; nothing is stored then.
    pub async fn cancel_question(
        &self,
        number: QuestionNumber,
        by: Principal,
    ) -> Result<QuestionClosed, AnswerError> {
        let work = move |w: &mut Writer| questions::cancel(w, number, &by);
        self.sqlite.write(&op::CANCEL_QUESTION, work).await?
    }

    /// Closes the agent's questions whose time is over at `now`, 100 at most, oldest first. One that
    /// pauses its asker does so in the same commit.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn expire_questions(
        &self,
        agent: &AgentName,
        now: UnixMicros,
    ) -> Result<Vec<QuestionClosed>, StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| questions::expire(w, &agent, now);
        self.sqlite.write(&op::EXPIRE_QUESTIONS, work).await
    }

    /// Ends the wait of calls that were held open. The answer of one that did not get it becomes a
    /// message to the agent; returns these messages.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] unless the writer's epoch is the agent's; otherwise as every write.
    pub async fn stop_waiting(
        &self,
        agent: &AgentName,
        which: Waited,
    ) -> Result<Vec<MessageId>, StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| questions::stop_waiting(w, &agent, &which);
        self.sqlite.write(&op::STOP_WAITING, work).await
    }

    /// Returns one question.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn question(
        &self,
        number: QuestionNumber,
    ) -> Result<Option<QuestionRow>, StoreError> {
        self.sqlite.read("read a question", move |c| questions::one(c, number)).await
    }

    /// Returns the question that a message asks or brings the answer to.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn question_of(&self, message: MessageId) -> Result<Option<QuestionRow>, StoreError> {
        self.sqlite.read("read a question", move |c| questions::of_message(c, message)).await
    }

    /// Returns the questions to `agent` that its message is about, open or closed: the one that the message
    /// asks; or, if the message brings the answer to a question back, those that it was about (R1-51).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn questions_about(
        &self,
        agent: &AgentName,
        message: MessageId,
    ) -> Result<Vec<QuestionRow>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read questions", move |c| asked::about(c, &agent, message)).await
    }

    /// Returns where a question was announced to people.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn question_places(
        &self,
        number: QuestionNumber,
    ) -> Result<Vec<QuestionPlace>, StoreError> {
        self.sqlite.read("read places", move |c| question_places::list(c, number)).await
    }

    /// Returns questions, newest first, at most `limit` (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn questions(
        &self,
        filter: QuestionFilter,
        limit: u32,
    ) -> Result<Vec<QuestionRow>, StoreError> {
        self.sqlite.read("list questions", move |c| questions::list(c, &filter, limit)).await
    }

    /// Returns what agents have answered that were asked together, each agent's last answer.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn votes(&self, number: QuestionNumber) -> Result<Vec<Vote>, StoreError> {
        self.sqlite.read("read votes", move |c| questions::votes(c, number)).await
    }

    /// Returns when the first open question of the agent expires.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn next_expiry(&self, agent: &AgentName) -> Result<Option<UnixMicros>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read questions", move |c| questions::next_expiry(c, &agent)).await
    }
}
