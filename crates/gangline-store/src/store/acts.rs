//! Acts: what a call in a turn does is done once over all attempts at its message.
//!
//! A caller asks [`Store::done_before`] first, and does what the call says only if that is `None`, by
//! one of the methods here: they record the act in the commit of what it makes. No attempt that died can
//! act any more, so nothing comes in between.

use gangline_core::{AgentName, ApprovalNumber, QuestionNumber, TurnId};

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, acts, changes, letters, orders, questions, reminders, send},
    types::{
        ActAgain, ActRow, AskedBy, ChangeRequested, ChangeTold, Desired, NewAct, NewChange,
        NewLetter, NewQuestion, NewReminder, Order, QuestionAsked, ReminderRow, RestartWhen, Send,
        SendReceipt,
    },
};

impl Store {
    /// Returns what the call is answered with: the act of an earlier attempt at a message of its turn,
    /// which is this call's from then on. `None`: nobody has done it, or this call itself has. The same
    /// call again gets the same act.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn done_before(&self, act: NewAct) -> Result<Option<ActRow>, StoreError> {
        let looked = act.clone();
        let found = self.sqlite.read("read acts", move |c: &_| acts::done_before(c, &looked));
        if found.await?.is_none() {
            return Ok(None);
        }
        self.sqlite.write(&op::REPEAT_ACT, move |w: &mut Writer| acts::repeat(w, &act)).await
    }

    /// Returns the calls of a turn that were answered with what earlier attempts had done, in order.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn acts_again(
        &self,
        agent: &AgentName,
        turn: TurnId,
    ) -> Result<Vec<ActAgain>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read acts", move |c: &_| acts::again_in(c, &agent, turn)).await
    }

    /// As [`Store::send`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::send`].
    pub async fn send_once(
        &self,
        send: Send,
        act: Option<NewAct>,
    ) -> Result<SendReceipt, StoreError> {
        let work = move |w: &mut Writer| send::send_once(w, &send, act.as_ref());
        self.sqlite.write(&op::SEND, work).await
    }

    /// As [`Store::send_letter`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::send_letter`].
    pub async fn send_letter_once(
        &self,
        new: NewLetter,
        act: Option<NewAct>,
    ) -> Result<i64, StoreError> {
        let work = move |w: &mut Writer| letters::send(w, &new, act.as_ref());
        self.sqlite.write(&op::SEND_LETTER, work).await
    }

    /// As [`Store::ask`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::ask`].
    pub async fn ask_once(
        &self,
        new: NewQuestion,
        act: Option<NewAct>,
        bring: impl FnOnce(QuestionNumber) -> AskedBy + std::marker::Send + 'static,
    ) -> Result<QuestionAsked, StoreError> {
        let work = move |w: &mut Writer| questions::ask(w, &new, act.as_ref(), bring);
        self.sqlite.write(&op::ASK, work).await
    }

    /// As [`Store::remind`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::remind`].
    pub async fn remind_once(
        &self,
        new: NewReminder,
        act: Option<NewAct>,
    ) -> Result<ReminderRow, StoreError> {
        let work = move |w: &mut Writer| reminders::make(w, &new, act.as_ref());
        self.sqlite.write(&op::REMIND, work).await
    }

    /// As [`Store::order`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::order`].
    pub async fn order_once(
        &self,
        agent: &AgentName,
        desired: Desired,
        by: &str,
        act: Option<NewAct>,
    ) -> Result<Order, StoreError> {
        let (agent, by) = (agent.clone(), by.to_owned());
        let work = move |w: &mut Writer| {
            let order = orders::desire(w, &agent, desired, &by)?;
            acts::record_order(w, act.as_ref(), &order)?;
            Ok(order)
        };
        self.sqlite.write(&op::ORDER, work).await
    }

    /// As [`Store::order_restart`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::order_restart`].
    pub async fn order_restart_once(
        &self,
        agent: &AgentName,
        when: RestartWhen,
        by: &str,
        act: Option<NewAct>,
    ) -> Result<Order, StoreError> {
        let (agent, by) = (agent.clone(), by.to_owned());
        let work = move |w: &mut Writer| {
            let order = orders::restart(w, &agent, when, &by)?;
            acts::record_order(w, act.as_ref(), &order)?;
            Ok(order)
        };
        self.sqlite.write(&op::ORDER, work).await
    }

    /// As [`Store::request_change`], of a call that may be made again.
    ///
    /// # Errors
    /// As [`Store::request_change`].
    pub async fn request_change_once(
        &self,
        new: NewChange,
        act: Option<NewAct>,
        bring: impl FnOnce(ApprovalNumber) -> ChangeTold + std::marker::Send + 'static,
    ) -> Result<ChangeRequested, StoreError> {
        let work = move |w: &mut Writer| changes::request(w, &new, act.as_ref(), bring);
        self.sqlite.write(&op::REQUEST_CHANGE, work).await
    }
}
