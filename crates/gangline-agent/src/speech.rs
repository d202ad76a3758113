//! Sends (T2): the same way for a backend's tools and for the control socket.
//!
//! A send is committed before anybody hears that it worked, and only then told to the agent loop, so
//! that the answer rule knows of every line that may stand in a room.

use std::sync::Arc;

use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, SendKey, Target, Tier, TurnId,
    act::ActKind, forged, name::Nick, redact::Redactor,
};
use gangline_os::{change_notice, paths::Paths};
use gangline_store::{
    LineKind, NewAct, NewMessage, OutboxId, Send as StoreSend, Store, StoreError,
};
use tokio::sync::{Notify, mpsc, watch};

use crate::bus::{Ending, Incoming, taken};

/// A call that does something for others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doing<'a> {
    pub(crate) kind: ActKind,
    /// What it does: of equal arguments, one act is enough.
    pub(crate) arguments: &'a [&'a str],
    /// The key that makes a repetition in this turn the same call.
    pub(crate) request: &'a str,
    /// The message that it answers.
    pub(crate) in_reply_to: Option<MessageId>,
}

/// What the open turn is about, as far as those who speak in it need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnContext {
    pub(crate) turn: TurnId,
    pub(crate) messages: Vec<MessageId>,
    pub(crate) cause_root: Option<MessageId>,
    pub(crate) hops: i64,
}

/// What is to be said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saying<'a> {
    pub(crate) to: &'a Target,
    pub(crate) text: &'a str,
    /// The message that it answers, one of the turn's, or of this agent's if no turn is open.
    pub(crate) in_reply_to: Option<MessageId>,
    /// The same send for the same request: the same lines are already in the outbox.
    pub(crate) call: &'a str,
}

/// Why nothing was said; the texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSaid {
    #[error("`text` is empty: nothing was sent")]
    Empty,
    #[error("that is you: nothing was sent")]
    ToItself,
    #[error("not sent: only the owner of {0} prompts it")]
    OwnersOnly(AgentName),
    #[error("not sent")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ending(#[from] Ending),
}

/// How something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// It goes out.
    Sent,
    /// It is for an agent, and held: too many agents have passed the request on.
    Held,
    /// An attempt that died has said it, in this row and those behind it; nothing goes out.
    Before(OutboxId),
}

/// A sender that speaks as the agent.
#[derive(Clone)]
pub(crate) struct Speaker {
    pub(crate) agent: AgentName,
    pub(crate) store: Store,
    pub(crate) paths: Paths,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    pub(crate) outbox: Arc<Notify>,
    /// Counts what this daemon has committed, for those who read along.
    pub(crate) committed: watch::Sender<u64>,
    pub(crate) max_hops: i64,
    /// Agents that only owners prompt.
    pub(crate) owners_only: Arc<Vec<AgentName>>,
}

impl Speaker {
    /// Returns how an attempt that died has said this, if one has: it counts as said in this turn. Whoever
    /// says something asks first, also before it asks whether anybody would hear it.
    pub(crate) async fn said_before(
        &self,
        context: Option<&TurnContext>,
        saying: Saying<'_>,
    ) -> Result<Option<Said>, NotSaid> {
        let act = self.act_of(context, saying);
        let Some((act, before)) = act.as_ref().zip(self.done_before(act.as_ref()).await?) else {
            return Ok(None);
        };
        self.sent(act.turn, saying).await?;
        let said = match before.message {
            Some(message) => self.said(message).await?,
            None => Said::Sent,
        };
        Ok(Some(match said {
            Said::Held => Said::Held,
            Said::Sent | Said::Before(_) => Said::Before(OutboxId(before.number)),
        }))
    }

    fn act_of(&self, context: Option<&TurnContext>, saying: Saying<'_>) -> Option<NewAct> {
        let turn = context.map(|context| context.turn);
        let key = SendKey::of_call(turn, saying.call);
        let doing = Doing {
            kind: ActKind::Send,
            arguments: &[saying.to.folded(), saying.text],
            request: key.as_str(),
            in_reply_to: saying.in_reply_to,
        };
        self.act(context, doing)
    }

    /// Says it: returns once it is committed, and the agent loop knows of it if a turn says it. Dropped
    /// half-way it may have been committed; the same call again then finds the same lines.
    pub(crate) async fn say(
        &self,
        context: Option<&TurnContext>,
        saying: Saying<'_>,
    ) -> Result<Said, NotSaid> {
        if context.is_some() && self.agent_loop.is_closed() {
            // The turn is over, and what is stored now would be an answer that no rule has seen.
            return Err(Ending.into());
        }
        let more = more(context);
        let split = forged::spoken(&self.redactor.redact(saying.text), |left| {
            format!("… (+{left} lines: {more})")
        });
        if split.lines.is_empty() {
            return Err(NotSaid::Empty);
        }
        let colleague = self.colleague(saying.to).await?;
        if let Some(agent) = colleague.as_ref().filter(|agent| self.owners_only.contains(agent)) {
            return Err(NotSaid::OwnersOnly(agent.clone()));
        }
        let deliver = colleague.as_ref().map(|agent| self.row_for(agent, context, saying));
        let turn = context.map(|context| context.turn);
        let too_far = deliver.as_ref().is_some_and(|row| row.state == MessageState::Held);
        let send = StoreSend {
            agent: self.agent.clone(),
            turn,
            idem_key: SendKey::of_call(turn, saying.call),
            target: saying.to.to_string(),
            lines: split.lines,
            kind: if colleague.is_some() { LineKind::Notice } else { LineKind::Privmsg },
            in_reply_to: saying.in_reply_to,
            deliver,
        };
        let act = self.act_of(context, saying);
        let delivered = self.store.send_once(send, act).await?.delivered;
        self.committed.send_modify(|count| *count += 1);
        if let Some(turn) = turn {
            self.sent(turn, saying).await?;
        }
        self.outbox.notify_one();
        if let Some(agent) = colleague {
            change_notice::notify(&self.paths.change_notice(agent.as_str()));
        }
        match delivered {
            Some(row) if too_far => self.said(row.id).await,
            Some(_) | None => Ok(Said::Sent),
        }
    }

    /// Tells the agent loop of a line of its turn.
    async fn sent(&self, turn: TurnId, saying: Saying<'_>) -> Result<(), Ending> {
        let (to, in_reply_to) = (saying.to.to_string(), saying.in_reply_to);
        taken(&self.agent_loop, |heard| Incoming::Sent { turn, to, in_reply_to, heard }).await
    }

    /// Returns whether the row is held; the agent that tells people of it is notified.
    async fn said(&self, delivered: MessageId) -> Result<Said, NotSaid> {
        let row = self.store.message(delivered).await?;
        if row.is_none_or(|row| row.state != MessageState::Held) {
            return Ok(Said::Sent);
        }
        let cause = self.store.cause(delivered).await?;
        let root = match cause {
            Some(cause) => self.store.message(cause.root).await?,
            None => None,
        };
        if let Some(root) = root {
            change_notice::notify(&self.paths.change_notice(root.agent.as_str()));
        }
        Ok(Said::Held)
    }

    /// Returns the agent of this installation that has this nick.
    async fn colleague(&self, to: &Target) -> Result<Option<AgentName>, NotSaid> {
        let Target::Nick(nick) = to else { return Ok(None) };
        let Ok(agent) = nick.folded().parse::<AgentName>() else { return Ok(None) };
        if agent == self.agent {
            return Err(NotSaid::ToItself);
        }
        Ok(self.store.agent(&agent).await?.map(|row| row.agent))
    }

    /// Returns whether another agent of this installation has the nick. A store that cannot be
    /// read refuses what is said itself.
    pub(crate) async fn is_colleague(&self, nick: &Nick) -> bool {
        let agent = self.colleague(&Target::Nick(nick.clone())).await;
        agent.map_or(true, |agent| agent.is_some())
    }

    fn row_for(
        &self,
        agent: &AgentName,
        context: Option<&TurnContext>,
        saying: Saying<'_>,
    ) -> NewMessage {
        let hops = context.map_or(0, |context| context.hops) + 1;
        // An answer may go one hop further than a request; it owes none itself.
        let too_far = hops > self.max_hops + i64::from(saying.in_reply_to.is_some());
        let key = SendKey::of_call(context.map(|context| context.turn), saying.call);
        let root = context
            .and_then(|context| context.cause_root.or_else(|| context.messages.first().copied()));
        NewMessage {
            agent: agent.clone(),
            network_id: "local".to_owned(),
            intake_key: Some(format!("{}/{key}", self.agent)),
            origin: Origin::Agent,
            principal: Principal { account: self.agent.to_string(), tier: Tier::Agent },
            sender: self.agent.to_string(),
            target: self.agent.to_string(),
            body: self.redactor.redact(saying.text),
            in_reply_to: saying.in_reply_to,
            cause_root: root,
            hops,
            state: if too_far { MessageState::Held } else { MessageState::Accepted },
            cursor: None,
            not_before: None,
            msgid: None,
        }
    }
}

fn more(context: Option<&TurnContext>) -> String {
    context
        .and_then(|context| context.messages.first())
        .map_or_else(|| "gangline logs".to_owned(), |message| format!("gangline trace {message}"))
}

#[cfg(test)]
mod tests;
